use super::*;
use core::mem::{offset_of, size_of};
extern crate std;
use std::format;
use std::vec::Vec;

const WINDLASS: (&str, &str) = (include_str!("../include/windlass.h"), "WINDLASS_");
const MSQUIC: (&str, &str) = (include_str!("../include/windlass_msquic.h"), "WINDLASS_MSQUIC_");

/// The numbers in the lines `macro(arguments);` of a header, which C checks.
fn stated(header: &'static str, name: &str) -> Vec<(&'static str, usize)> {
    let lines = header.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(");"));
    lines
        .map(|line| {
            let (arguments, bytes) = line.rsplit_once(", ").expect("arguments");
            (arguments, bytes.parse().expect("a number"))
        })
        .collect()
}

macro_rules! sizes {
    ($($c:literal $rust:ty),+ $(,)?) => { [$(($c, size_of::<$rust>())),+] };
}

macro_rules! offsets {
    ($($c:literal $rust:ty: $($field:ident),+);+ $(;)?) => {
        [$($((concat!($c, ", ", stringify!($field)), offset_of!($rust, $field))),+),+]
    };
}

#[test]
fn sizes_are_those_of_the_headers() {
    let sizes = sizes! {
        "stack" Stack, "path" Path, "packet" Packet, "rtt" Rtt, "sent" Sent, "acked" Acked, "lost" Lost,
        "decision" Decision, "send_rate_estimate" SendRate,
    };
    assert_eq!(stated(WINDLASS.0, "WINDLASS_SIZE"), sizes);
    let sizes = sizes! { "path" msquic::Path, "trace" msquic::Trace, "plugin" msquic::Plugin };
    assert_eq!(stated(MSQUIC.0, "WINDLASS_MSQUIC_SIZE"), sizes);
}

#[test]
fn offsets_are_those_of_the_headers() {
    let offsets = offsets! {
        "stack" Stack: signals;
        "path" Path: mtu, server_name, group, group_size, seed;
        "packet" Packet: bytes, count, delivered, in_flight;
        "rtt" Rtt: ack_delay_ns;
        "sent" Sent: bytes;
        "acked" Acked: one_way_ns, packets, flags;
        "lost" Lost: packets, flags;
        "decision" Decision: wake_ns, flags, dscp;
        "send_rate_estimate" SendRate: limited_by;
    };
    assert_eq!(stated(WINDLASS.0, "WINDLASS_AT"), offsets);
    let offsets = offsets! {
        "path" msquic::Path: connection, app_name, in_flight, initial_window_packets, reports;
        "trace" msquic::Trace: path, controller, rtt, cwnd, ssthresh, bytes, kind, ack_delay_exponent;
        "plugin" msquic::Plugin: name, define, start, on_sent, on_acked, refresh, tracing;
    };
    assert_eq!(stated(MSQUIC.0, "WINDLASS_MSQUIC_AT"), offsets);
}

fn defined((header, prefix): (&str, &str), name: &str) -> u32 {
    let name = format!("{prefix}{name}");
    let line = header.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(&*name)?.strip_prefix(' '));
    let text = line.expect(&name).split_whitespace().next().expect("a number").trim_end_matches('u');
    let number = text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u32::from_str_radix(hex, 16));
    number.expect("a number")
}

#[test]
fn numbers_are_those_of_windlass_h() {
    for (name, number) in [
        ("ABI", ABI),
        ("SIGNAL_ECN", signal::ECN),
        ("SIGNAL_CE_COUNT", signal::CE_COUNT),
        ("SIGNAL_PACKET_NUMBERS", signal::PACKET_NUMBERS),
        ("SIGNAL_SPURIOUS_LOSS", signal::SPURIOUS_LOSS),
        ("SIGNAL_SENT", signal::SENT),
        ("SIGNAL_DELIVERY", signal::DELIVERY),
        ("SIGNAL_PACING", signal::PACING),
        ("SIGNAL_TIMER", signal::TIMER),
        ("SIGNAL_ONE_WAY_DELAY", signal::ONE_WAY_DELAY),
        ("PACKET_DELIVERY", packet::DELIVERY),
        ("PACKET_APP_LIMITED", packet::APP_LIMITED),
        ("SENT_APP_LIMITED", sent::APP_LIMITED),
        ("ACKED_ONE_WAY", acked::ONE_WAY),
        ("ACKED_APP_LIMITED", acked::APP_LIMITED),
        ("LOST_PERSISTENT", lost::PERSISTENT),
        ("SHARED", decision::SHARED),
        ("DECIDED", decision::DECIDED),
        ("ENDED", decision::ENDED),
        ("SLOW_START", phase::SLOW_START.into()),
        ("CONGESTION_AVOIDANCE", phase::CONGESTION_AVOIDANCE.into()),
        ("RECOVERY", phase::RECOVERY.into()),
    ] {
        assert_eq!(defined(WINDLASS, name), number, "{name}");
    }
}

#[test]
fn numbers_are_those_of_windlass_msquic_h() {
    use msquic::{acked, decision, packet, packet_type, phase, reports, trace};
    for (name, number) in [
        ("ABI", msquic::ABI),
        ("FIRST_ID", msquic::FIRST_ID.into()),
        ("ECN", reports::ECN.into()),
        ("ONE_WAY", reports::ONE_WAY.into()),
        ("PACKETS", reports::PACKETS.into()),
        ("PACKET_ECT", packet::ECT),
        ("PACKET_DELIVERED", packet::DELIVERED),
        ("ACKED_IMPLICIT", acked::IMPLICIT),
        ("EVERY_SENT", decision::EVERY_SENT),
        ("TRACE_FRAMES", trace::FRAMES.into()),
        ("TRACE_SENT", trace::SENT.into()),
        ("TRACE_RECEIVED", trace::RECEIVED.into()),
        ("TRACE_LOST", trace::LOST.into()),
        ("TRACE_STATE", trace::STATE.into()),
        ("TRACE_ECN", trace::ECN.into()),
        ("TRACE_CLOSED", trace::CLOSED.into()),
        ("INITIAL", packet_type::INITIAL.into()),
        ("ZERO_RTT", packet_type::ZERO_RTT.into()),
        ("HANDSHAKE", packet_type::HANDSHAKE.into()),
        ("ONE_RTT", packet_type::ONE_RTT.into()),
        ("STARTUP", phase::STARTUP.into()),
        ("DRAIN", phase::DRAIN.into()),
        ("PROBE_BW", phase::PROBE_BW.into()),
        ("PROBE_RTT", phase::PROBE_RTT.into()),
    ] {
        assert_eq!(defined(MSQUIC, name), number, "{name}");
    }
}
