//! `quiche-serve` and `quiche-fetch` over 127.0.0.1: our CUBIC beside quiche's own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const BYTES: usize = 50_000_000;
/// Transfers of each, of a new server every time: what else the machine does makes some of them
/// long, and where a process happens to lie makes all of a server's long.
const TURNS: usize = 60;

/// An example, which `cargo test` builds beside the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    assert!(path.is_file(), "{} is not built; cargo build --release --examples does", path.display());
    path
}

/// A server of one controller.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(controller: &str, root: &Path) -> Server {
        let [served, keys] = ["served", "keys"].map(|name| root.join(name));
        let mut child = Command::new(example("quiche-serve"))
            .args(["--cc", controller, "127.0.0.1:0"])
            .args([&served, &keys])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        // It goes on to print a line per connection.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        Server { child, address }
    }

    /// Time it takes to get the file.
    fn fetch(&self, root: &Path, expected: &[u8]) -> Duration {
        let start = Instant::now();
        let fetched = Command::new(example("quiche-fetch"))
            .arg(&self.address)
            .arg(root.join("keys/certificate.der"))
            .arg("file")
            .output()
            .unwrap();
        let wall = start.elapsed();
        assert!(fetched.status.success(), "{}", String::from_utf8_lossy(&fetched.stderr));
        assert!(fetched.stdout == expected, "what arrived is not the file");
        wall
    }

    /// Its CPU time so far, clock ticks (`proc_pid_stat(5)`).
    fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Times of the transfers with one controller.
#[derive(Default)]
struct Spent {
    walls: Vec<Duration>,
    ticks: u64,
}

impl Spent {
    fn turn(&mut self, controller: &str, root: &Path, expected: &[u8]) {
        let server = Server::start(controller, root);
        self.walls.push(server.fetch(root, expected));
        self.ticks += server.ticks();
    }

    /// The best and the median transfer, and all of them together, Mbit/s.
    fn rates(&mut self) -> [f64; 3] {
        self.walls.sort();
        let mean = self.walls.iter().sum::<Duration>() / TURNS as u32;
        [self.walls[0], self.walls[TURNS / 2], mean].map(|wall| BYTES as f64 * 8e-6 / wall.as_secs_f64())
    }
}

#[test]
#[ignore = "a measurement; ci/quiche measure"]
fn a_controller_of_ours_costs_no_throughput() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    std::fs::create_dir(root.join("served")).unwrap();
    let bytes: Vec<u8> = (0..BYTES as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(root.join("served/file"), &bytes).unwrap();
    let mut spent = [("windlass/cubic", Spent::default()), ("cubic", Spent::default())];
    for turn in 0..TURNS {
        // Either first as often as the other: what went before may matter.
        let [ours, native] = &mut spent;
        let order = if turn % 2 == 0 { [ours, native] } else { [native, ours] };
        order.into_iter().for_each(|(controller, spent)| spent.turn(controller, root, &bytes));
    }
    let [(_, ours), (_, native)] = &mut spent;
    println!("50 MB over 127.0.0.1, {TURNS} by turns, ours beside quiche's CUBIC:");
    for (what, (rate, other)) in ["best", "median", "all"].iter().zip(ours.rates().into_iter().zip(native.rates())) {
        println!("{what}, Mbit/s: {rate:.0} beside {other:.0}, {:.2}", rate / other);
    }
    let [ours, native] = [ours.ticks, native.ticks];
    println!("CPU of the server, ticks: {ours} beside {native}, {:.2}", ours as f64 / native as f64);
    // Clocks on a wall say more of the machine than of us; this holds on a busy one too.
    assert!(ours as f64 <= 1.15 * native as f64, "{ours} ticks of CPU with ours, {native} with quiche's own");
}
