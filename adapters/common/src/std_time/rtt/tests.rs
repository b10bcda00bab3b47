use super::*;

fn number(pn: u64) -> Number {
    Number::from(Some(pn))
}

#[test]
fn the_first_sample_is_taken_whole() {
    let mut rtt = Sampler::default();
    rtt.note(Duration::from_millis(333), Duration::from_millis(333));
    let sample = rtt.sample(Time(50), Time(10), number(0)).unwrap();
    let expected = RttSample::new(Span(40), Span(40), Span(20), Span(40));
    assert_eq!(sample, expected);
}

#[test]
fn later_samples_are_folded_into_the_stacks_estimate() {
    let mut rtt = Sampler::default();
    rtt.sample(Time(50), Time(10), number(0));
    rtt.note(Duration::from_nanos(36), Duration::from_nanos(30));
    let sample = rtt.sample(Time(150), Time(70), number(1)).unwrap();
    assert_eq!((sample.latest, sample.smoothed, sample.min), (Span(80), Span((7 * 36 + 80) / 8), Span(30)));
    assert_eq!(sample.variation, Span((3 * 20 + 44) / 4));
    assert_eq!(rtt.pto(), Span(41) + rfc9002::GRANULARITY + rfc9002::DEFAULT_MAX_ACK_DELAY);
    rtt.max_ack_delay(Duration::from_millis(5));
    assert_eq!(rtt.pto(), Span(41) + rfc9002::GRANULARITY + Span::from_millis(5));
}

#[test]
fn a_frame_without_a_new_largest_packet_brings_no_sample() {
    let mut rtt = Sampler::default();
    assert!(rtt.sample(Time(50), Time(10), number(5)).is_some());
    assert!(rtt.sample(Time(60), Time(9), number(5)).is_none(), "a hole filled late");
    assert!(rtt.sample(Time(70), Time(10), number(6)).is_some(), "same burst, next packet");
    assert!(rtt.sample(Time(80), Time(30), number(0)).is_some(), "first of the next number space");
}
