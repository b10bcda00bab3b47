use super::*;
use std::mem::{offset_of, size_of};

const HEADER: &str = include_str!("../include/windlass_msquic.h");

/// The numbers in the header's lines `macro(arguments);`, which C checks.
fn stated(name: &str) -> Vec<(String, usize)> {
    let lines = HEADER.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(");"));
    lines
        .map(|line| {
            let (arguments, bytes) = line.rsplit_once(", ").expect("arguments");
            (arguments.to_owned(), bytes.parse().expect("a number"))
        })
        .collect()
}

macro_rules! sizes {
    ($($c:literal $rust:ty),+ $(,)?) => { vec![$(($c.to_owned(), size_of::<$rust>())),+] };
}

macro_rules! offsets {
    ($($c:literal $rust:ty: $($field:ident),+);+ $(;)?) => {
        vec![$($((format!("{}, {}", $c, stringify!($field)), offset_of!($rust, $field))),+),+]
    };
}

#[test]
fn sizes_are_those_of_the_header() {
    let sizes = sizes! {
        "path" Path, "packet" Packet, "rtt" Rtt, "sent" Sent, "acked" Acked, "ecn_ce" EcnCe, "lost" Lost,
        "spurious_loss" SpuriousLoss, "control" Control, "trace" Trace, "plugin" Plugin,
    };
    assert_eq!(stated("WINDLASS_SIZE"), sizes);
}

#[test]
fn offsets_are_those_of_the_header() {
    let offsets = offsets! {
        "path" Path: peer_address, mtu, peer_port, reports, in_flight, app_name, server_name, connection;
        "packet" Packet: sent_us, delivered_sent_us, bytes, flags;
        "rtt" Rtt: ack_delay_us;
        "sent" Sent: bytes, flags;
        "acked" Acked: rtt, one_way_us, bytes, flags, packet_count, packets;
        "ecn_ce" EcnCe: newest_sent_us, packets;
        "lost" Lost: bytes, flags, packets;
        "spurious_loss" SpuriousLoss: in_flight;
        "control" Control: cwnd, flags, phase;
        "trace" Trace: path, controller, rtt, bytes, ssthresh, kind, ack_delay_exponent;
        "plugin" Plugin: name, define, start, sent, refresh, tracing;
    };
    assert_eq!(stated("WINDLASS_AT"), offsets);
}

#[test]
fn numbers_are_those_of_the_header() {
    let defined = |name: &str| {
        let line = HEADER.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix(' '));
        let text = line.expect(name).split_whitespace().next().expect("a number").trim_end_matches('u');
        let number = text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u32::from_str_radix(hex, 16));
        number.expect("a number")
    };
    let known: [(&str, u32); 32] = [
        ("ABI", ABI),
        ("FIRST_ID", FIRST_ID.into()),
        ("ECN", reports::ECN.into()),
        ("ONE_WAY", reports::ONE_WAY.into()),
        ("PACKET_APP_LIMITED", packet::APP_LIMITED),
        ("PACKET_ECT", packet::ECT),
        ("PACKET_DELIVERY", packet::DELIVERY),
        ("SENT_APP_LIMITED", sent::APP_LIMITED),
        ("ACKED_RTT", acked::RTT),
        ("ACKED_ONE_WAY", acked::ONE_WAY),
        ("ACKED_APP_LIMITED", acked::APP_LIMITED),
        ("ACKED_IMPLICIT", acked::IMPLICIT),
        ("LOST_PERSISTENT", lost::PERSISTENT),
        ("SHARED", control::SHARED),
        ("EVERY_SENT", control::EVERY_SENT),
        ("ENDED", control::ENDED),
        ("PACKETS", reports::PACKETS.into()),
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
    ];
    for (name, number) in known {
        assert_eq!(defined(&format!("WINDLASS_MSQUIC_{name}")), number, "{name}");
    }
    assert_eq!(defined("WINDLASS_MSQUIC_DECIDED"), control::DECIDED);
}
