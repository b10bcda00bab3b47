//! The topologies with their traffic (`spec: cho §14.1–§14.3`).

use crate::Template;

/// Name of the bottleneck link.
pub(super) const BOTTLENECK: &str = "bottleneck";

/// N2 with nothing beside the transfers.
pub(super) fn n2() -> Template {
    n2_beside_on_off().without("traffic", "load")
}

/// N2 beside a source that goes on and off.
pub(super) fn n2_beside_on_off() -> Template {
    Template::new(include_str!("n2.toml")).without("web", "web")
}

/// N2 beside web sessions.
pub(super) fn n2_beside_web() -> Template {
    Template::new(include_str!("n2.toml")).without("traffic", "load")
}

/// TB-100 of chapters IV and V.
pub(super) fn tb_100() -> Template {
    Template::new(include_str!("tb-100.toml"))
}

/// TB-10 of chapter IV.
pub(super) fn tb_10() -> Template {
    with_rate(10.0)
}

/// TB-G: 440 Mbit/s of data (E-3).
pub(super) fn tb_g() -> Template {
    with_rate(467.35).set("link.bottleneck.buffer_packets", 600)
}

fn with_rate(mbps: f64) -> Template {
    // 25 ms, and 40 bytes twice at 1 Gbit/s and once at this rate.
    tb_100().set("link.bottleneck.rate_mbps", mbps).set("link.back.delay_ms", 25.00064 + 0.32 / mbps)
}

/// A test bed as chapter III has it: NewReno without timestamps.
pub(super) fn chapter_iii(bed: Template) -> Template {
    bed.set("packet_bytes", 1460).set("overhead_bytes", 78).set("flow.recovery", "tcp-newreno")
}

/// NS6 with two flows.
pub(super) fn ns6() -> Template {
    Template::new(include_str!("ns6.toml")).without("traffic", "load")
}

/// NS6 with one flow beside a constant load.
pub(super) fn ns6_beside_udp() -> Template {
    Template::new(include_str!("ns6.toml")).without("flow", "b")
}

/// The path of MOD-1.
pub(super) fn random_losses() -> Template {
    Template::new(include_str!("random-losses.toml"))
}
