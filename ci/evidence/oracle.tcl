# One TCP-Linux flow of ns-2 over a path that loses packets at random.
#
# ns ci/evidence/oracle.tcl ALGORITHM LOSS SEED SECONDS WARM_UP [NAME=VALUE…]
#
# Prints the packets acknowledged per second after WARM_UP seconds, and the mean of the window there
# (packets, looked at ten times a second). NAME=VALUE sets a parameter of the algorithm's module, sink.NAME=VALUE one of the
# receiver, linux.NAME=VALUE one of all modules.
lassign $argv algorithm loss seed seconds warmup
set parameters [lrange $argv 5 end]
Trace set show_tcphdr_ 0
global defaultRNG
$defaultRNG seed $seed

set sim [new Simulator]
foreach name {sender left right receiver} { set node($name) [$sim node] }
# 100 Mbit/s and 50 ms, with a queue that random losses keep empty.
$sim duplex-link $node(sender) $node(left) 10Gb 1ms DropTail
$sim duplex-link $node(left) $node(right) 100Mb 23ms DropTail
$sim duplex-link $node(right) $node(receiver) 10Gb 1ms DropTail
foreach {from to} {sender left left right right left right receiver receiver right left sender} {
  $sim queue-limit $node($from) $node($to) 4000
}
set losses [new ErrorModel]
$losses unit pkt
$losses set rate_ $loss
$losses ranvar [new RandomVariable/Uniform]
$losses drop-target [new Agent/Null]
$sim link-lossmodel $losses $node(left) $node(right)

set tcp [new Agent/TCP/Linux]
set sink [new Agent/TCPSink/Sack1]
# The modules take their round trips from time stamps.
$tcp set timestamps_ true
$sink set ts_echo_rfc1323_ true
$tcp set packetSize_ 1460
$tcp set window_ 100000
$sim attach-agent $node(sender) $tcp
$sim attach-agent $node(receiver) $sink
$sim connect $tcp $sink
$sim at 0 "$tcp select_ca $algorithm"
foreach parameter $parameters {
  lassign [split $parameter =] name value
  switch -glob $name {
    sink.* { $sink set [string range $name 5 end] $value }
    linux.* { $sim at 0 "$tcp set_ca_default_param linux [string range $name 6 end] $value" }
    default { $sim at 0 "$tcp set_ca_param $algorithm $name $value" }
  }
}
set source [new Application/FTP]
$source attach-agent $tcp
$sim at 0 "$source start"

set sum 0.0
set looks 0
proc look {} {
  global sim tcp sum looks seconds
  set sum [expr {$sum + [$tcp set cwnd_]}]
  incr looks
  $sim at [expr {[$sim now] + 0.1}] look
}
proc begin {} {
  global tcp before
  set before [$tcp set ack_]
  look
}
proc end {} {
  global tcp before seconds warmup sum looks
  puts [format "%.3f %.3f" [expr {([$tcp set ack_] - $before) / ($seconds - $warmup)}] [expr {$sum / $looks}]]
  exit 0
}
$sim at $warmup begin
$sim at $seconds end
$sim run
