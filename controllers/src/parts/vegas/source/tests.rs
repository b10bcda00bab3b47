//! `spec: chan §1.3` (RTT of a round), `§3.6 E4, E5`, `§3.8`.

use super::*;
use crate::schemes::vegas::Params;

const MS: fn(u64) -> Span = Span::from_millis;

fn frame(ms: u64, counts: bool) -> Frame<'static> {
    Frame { now: Time(0), rtt: Some(MS(ms)), acked: None, counts }
}

fn round(memory: &mut RoundTripMemory) -> Option<(f64, f64)> {
    RoundTrip::round(&Params::default(), memory).map(|delays| (delays.base / 1e6, delays.rtt / 1e6))
}

#[test]
fn a_round_is_the_mean_of_its_samples_over_the_least_ever() {
    let mut memory = RoundTripMemory::default();
    assert_eq!(round(&mut memory), None);
    for ms in [100, 130, 160] {
        RoundTrip::on_event(&Params::default(), &mut memory, &frame(ms, true));
    }
    assert_eq!(round(&mut memory), Some((100.0, 130.0)));
    assert_eq!(round(&mut memory), None, "no samples left");
    RoundTrip::on_event(&Params::default(), &mut memory, &frame(200, true));
    assert_eq!(round(&mut memory), Some((100.0, 200.0)), "the base is never raised");
}

#[test]
fn a_sample_that_does_not_count_still_tells_of_the_path() {
    let mut memory = RoundTripMemory::default();
    RoundTrip::on_event(&Params::default(), &mut memory, &frame(120, true));
    RoundTrip::on_event(&Params::default(), &mut memory, &frame(90, false));
    assert_eq!(round(&mut memory), Some((90.0, 120.0)));
}

#[test]
fn dropped_samples_leave_the_base() {
    let mut memory = RoundTripMemory::default();
    RoundTrip::on_event(&Params::default(), &mut memory, &frame(100, true));
    <RoundTrip as Source<Params>>::clear(&mut memory);
    assert_eq!(round(&mut memory), None);
    RoundTrip::on_event(&Params::default(), &mut memory, &frame(150, true));
    assert_eq!(round(&mut memory), Some((100.0, 150.0)));
}
