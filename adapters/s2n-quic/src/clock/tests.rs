use s2n_quic_core::time::{Clock as _, clock::NoopClock};

use super::*;

fn timestamp(micros: u64) -> Timestamp {
    NoopClock.get_time() + Duration::from_micros(micros - 1)
}

#[test]
fn times_count_from_the_origin_of_the_stacks_clock() {
    for micros in [1, 2, 3, 999, 1_000_000, 86_400_000_000 * 365 * 50] {
        let mut clock = Clock::of(timestamp(micros));
        assert_eq!(clock.latest(), Time::from_micros(micros));
        assert_eq!(clock.read(timestamp(micros + 7)), Time::from_micros(micros + 7));
        assert_eq!(clock.timestamp(Time::from_micros(micros)), timestamp(micros));
    }
}

#[test]
fn time_never_goes_back() {
    let mut clock = Clock::of(timestamp(1000));
    assert_eq!(clock.read(timestamp(2000)), Time::from_micros(2000));
    assert!(!clock.is_past(timestamp(1500)));
    assert_eq!(clock.read(timestamp(1500)), Time::from_micros(2000));
}

#[test]
fn a_time_between_two_timestamps_becomes_the_later() {
    let clock = Clock::of(timestamp(1000));
    assert_eq!(clock.timestamp(Time(5_000_001)), timestamp(5001));
    assert_eq!(clock.timestamp(Time(5_000_000)), timestamp(5000));
    assert_eq!(clock.timestamp(Time::ZERO), timestamp(1));
}

#[test]
fn differences_add_up_to_the_time_since_the_origin() {
    let mut clock = Clock::of(timestamp(1000));
    for micros in [1001, 999_999_999, 1 << 50] {
        assert_eq!(clock.read(timestamp(micros)), Time::from_micros(micros));
    }
}
