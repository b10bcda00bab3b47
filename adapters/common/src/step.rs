//! A recorded step of a flow, as data that survives a file bit for bit.
//!
//! JSON keeps integers exact only below 2^53 and knows no infinities, so larger integers
//! are strings and non-finite floats are the bits of the float as a string. Times and
//! spans are nanoseconds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use windlass_controllers::{Decision, Event, Path, Time};

use crate::GroupStep;

mod read;

pub use read::{Entry, ReadError, Steps};

/// How a recorded flow began: what a replay starts from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Start {
    /// The controller with its parameters, as a user types it.
    pub controller: String,
    /// The path the flow started on.
    pub path: Path,
    /// The decision before the first event.
    pub decision: Decision,
}

/// An event and the decision it led to.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The event the controller got.
    pub event: Event,
    /// The decision in effect after the event.
    pub decision: Decision,
    /// When in its group's life it happened; `None` for a flow outside any group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_step: Option<GroupStep>,
}

impl Step {
    /// Time of the step's event.
    #[must_use]
    pub fn now(&self) -> Time {
        self.event.now
    }
}

/// The fields of a decision as they are written in a log.
pub(crate) fn fields(decision: &Decision) -> BTreeMap<String, String> {
    match serde_json::to_value(decision) {
        Ok(serde_json::Value::Object(fields)) => {
            fields.into_iter().map(|(name, value)| (name, value.to_string())).collect()
        }
        _ => BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::option::of;
    use proptest::prelude::*;
    use windlass_controllers::event::{
        Delivery, EcnCe, IdleRestart, LossTrigger, OneWay, PacketSent, PacketsAcked, PacketsLost, Place, ProbeReceived,
        Queueing, RttSample, SpuriousLoss, WindowSet,
    };
    use windlass_controllers::{Ecn, EventKind, Phase, SavedPath, Span, TrainPlan};

    use super::*;

    fn integer() -> impl Strategy<Value = u64> + Clone {
        let edges = prop::sample::select(vec![0, 1, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, u64::MAX - 1, u64::MAX]);
        prop_oneof![edges, any::<u64>(), 0..10_000_000u64]
    }

    fn signed() -> impl Strategy<Value = i64> + Clone {
        let edges = prop::sample::select(vec![0, -1, i64::MIN, i64::MAX, 1 << 53, -(1 << 53), 1 - (1 << 53)]);
        prop_oneof![edges, any::<i64>(), -10_000_000..10_000_000i64]
    }

    fn float() -> impl Strategy<Value = f64> {
        let edges = prop::sample::select(vec![
            0.0,
            -0.0,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ]);
        prop_oneof![edges, any::<u64>().prop_map(f64::from_bits), 0.0..1e12]
    }

    fn time() -> impl Strategy<Value = Time> + Clone {
        integer().prop_map(Time)
    }

    fn span() -> impl Strategy<Value = Span> + Clone {
        integer().prop_map(Span)
    }

    fn rtt() -> impl Strategy<Value = RttSample> {
        (span(), span(), span(), span(), span()).prop_map(|(latest, smoothed, variation, min, ack_delay)| {
            RttSample::new(latest, smoothed, variation, min).with_ack_delay(ack_delay)
        })
    }

    fn delivery() -> impl Strategy<Value = Delivery> {
        (integer(), time(), time(), integer(), any::<bool>()).prop_map(
            |(delivered, delivered_at, first_sent_at, lost, app_limited)| {
                Delivery::new(delivered, delivered_at, first_sent_at).with_lost(lost).with_app_limited(app_limited)
            },
        )
    }

    fn acked() -> impl Strategy<Value = PacketsAcked> {
        let counts = (integer(), any::<u32>(), integer(), time(), of(integer()), of(integer()));
        let totals = (integer(), integer(), integer(), any::<bool>());
        let one_way = (signed(), signed()).prop_map(|(forward, backward)| OneWay::new(forward, backward));
        let queueing = (span(), span()).prop_map(|(forward, backward)| Queueing::new(forward, backward));
        let rare = (of(rtt()), of(one_way), of(queueing), of(any::<bool>()), of(delivery()));
        (counts, totals, rare).prop_map(
            |(
                (bytes, packets, fresh_bytes, newest_sent_at, newest_pn, newest_in_flight),
                (in_flight_before, in_flight, delivered, app_limited),
                (rtt, one_way, queueing, congestion_indication, delivery),
            )| {
                PacketsAcked::new(bytes, packets, newest_sent_at, in_flight, delivered)
                    .with_fresh_bytes(fresh_bytes)
                    .with_newest_pn(newest_pn)
                    .with_newest_in_flight(newest_in_flight)
                    .with_in_flight_before(in_flight_before)
                    .with_app_limited(app_limited)
                    .with_rtt(rtt)
                    .with_one_way(one_way)
                    .with_queueing(queueing)
                    .with_congestion_indication(congestion_indication)
                    .with_delivery(delivery)
            },
        )
    }

    fn lost() -> impl Strategy<Value = PacketsLost> {
        let trigger =
            prop::sample::select(vec![LossTrigger::PacketThreshold, LossTrigger::TimeThreshold, LossTrigger::Unknown]);
        (integer(), any::<u32>(), time(), of(integer()), integer(), integer(), trigger, any::<u32>()).prop_map(
            |(bytes, packets, newest_sent_at, newest_pn, in_flight_before, in_flight, trigger, transmissions)| {
                PacketsLost::new(bytes, packets, newest_sent_at, in_flight)
                    .with_newest_pn(newest_pn)
                    .with_in_flight_before(in_flight_before)
                    .with_trigger(trigger)
                    .with_transmissions(transmissions)
            },
        )
    }

    fn kind() -> impl Strategy<Value = EventKind> {
        let place = (any::<u32>(), any::<u32>()).prop_map(|(train, index)| Place::new(train, index));
        let sent = (integer(), of(integer()), integer(), any::<bool>(), of(place)).prop_map(
            |(bytes, pn, in_flight, app_limited, place)| {
                PacketSent::new(bytes, in_flight).with_pn(pn).with_app_limited(app_limited).with_place(place)
            },
        );
        let marked = (any::<u32>(), time(), of(integer()), integer()).prop_map(
            |(packets, newest_sent_at, newest_pn, in_flight)| {
                EcnCe::new(packets, newest_sent_at, in_flight).with_newest_pn(newest_pn)
            },
        );
        let probed = (any::<u32>(), any::<u32>(), any::<bool>(), of(signed()), time()).prop_map(
            |(train, index, ce, one_way, sent_at)| {
                ProbeReceived::new(train, index, sent_at).with_ce(ce).with_one_way(one_way)
            },
        );
        prop_oneof![
            sent.prop_map(EventKind::PacketSent),
            rtt().prop_map(EventKind::RttSampled),
            acked().prop_map(EventKind::PacketsAcked),
            marked.prop_map(EventKind::EcnCe),
            lost().prop_map(EventKind::PacketsLost),
            lost().prop_map(EventKind::PersistentCongestion),
            time().prop_map(|newest_sent_at| EventKind::SpuriousLoss(SpuriousLoss::new(newest_sent_at))),
            any::<u32>().prop_map(EventKind::MtuUpdated),
            (span(), span()).prop_map(|(idle, pto)| EventKind::IdleRestart(IdleRestart::new(idle, pto))),
            Just(EventKind::TimerExpired),
            probed.prop_map(EventKind::ProbeReceived),
            (integer(), of(integer()))
                .prop_map(|(cwnd, ssthresh)| { EventKind::WindowSet(WindowSet::new(cwnd).with_ssthresh(ssthresh)) }),
            Just(EventKind::Joined),
            Just(EventKind::Left),
        ]
    }

    fn decision() -> impl Strategy<Value = Decision> {
        let train = (any::<u32>(), any::<u32>(), any::<u32>(), float(), float(), any::<u8>(), any::<bool>()).prop_map(
            |(id, packets, bytes, min_rate, spread, dscp, carries_data)| {
                TrainPlan::new(id, packets, bytes, min_rate, spread).with_dscp(dscp).with_carries_data(carries_data)
            },
        );
        let ecn = prop::sample::select(vec![Ecn::Unspecified, Ecn::NotEct, Ecn::Ect0, Ecn::Ect1]);
        let phase = prop::sample::select(vec![Phase::SlowStart, Phase::CongestionAvoidance, Phase::Recovery]);
        (integer(), of(integer()), of(integer()), of(time()), ecn, any::<u8>(), of(train), phase, of(time())).prop_map(
            |(cwnd, ssthresh, pacing_rate, wake_at, ecn, dscp, train, phase, recovery_start)| {
                Decision::new(cwnd)
                    .with_ssthresh(ssthresh)
                    .with_pacing_rate(pacing_rate)
                    .with_wake_at(wake_at)
                    .with_ecn(ecn)
                    .with_dscp(dscp)
                    .with_train(train)
                    .with_phase(phase)
                    .with_recovery_start(recovery_start)
            },
        )
    }

    /// The bits of a decision's floats: `==` takes 0 and −0 for equal, and NaN for unequal to itself.
    fn bits(decision: &Decision) -> Option<(u64, u64)> {
        decision.train.map(|train| (train.min_rate.to_bits(), train.spread.to_bits()))
    }

    /// The decision without floats that differ from themselves.
    fn comparable(mut decision: Decision) -> Decision {
        if let Some(train) = &mut decision.train {
            (train.min_rate, train.spread) = (0.0, 0.0);
        }
        decision
    }

    proptest! {
        #[test]
        fn a_step_survives_json_bit_for_bit(
            now in time(),
            kind in kind(),
            decision in decision(),
            group_step in of((any::<u64>(), any::<u64>(), any::<u64>())),
        ) {
            let group_step = group_step.map(|(group, step, member)| GroupStep { group, step, member });
            let step = Step { event: Event::new(now, kind), decision, group_step };
            let text = serde_json::to_string(&step).unwrap();
            let read: Step = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read.event, step.event);
            prop_assert_eq!(read.group_step, step.group_step);
            prop_assert_eq!(bits(&read.decision), bits(&step.decision), "{}", text);
            prop_assert_eq!(comparable(read.decision), comparable(step.decision));
        }

        #[test]
        fn a_start_survives_json(now in time(), mtu in any::<u32>(), seed in integer(), decision in decision()) {
            let saved = (seed % 2 == 0).then(|| SavedPath::new(seed, Span(!seed)).with_max_jump(u64::MAX));
            let start = Start { controller: "reno:iw=4".to_owned(), path: Path::new(now, mtu, seed).with_saved(saved), decision };
            let read: Start = serde_json::from_str(&serde_json::to_string(&start).unwrap()).unwrap();
            prop_assert_eq!(read.path, start.path);
            prop_assert_eq!(read.controller, start.controller);
            prop_assert_eq!(comparable(read.decision), comparable(start.decision));
        }

        #[test]
        fn reading_damaged_text_never_panics(text in "\\PC{0,80}", cut in 0..400usize, kind in kind()) {
            let event = Event::new(Time(1), kind);
            let step = Step { event, decision: crate::qlog::tests::decision(), group_step: None };
            let mut file = format!("\u{1e}{{\"name\":\"windlass:stepped\",\"data\":{}", serde_json::to_string(&step).unwrap());
            let cut = (0..=cut.min(file.len())).rev().find(|&cut| file.is_char_boundary(cut)).unwrap_or(0);
            file.truncate(cut);
            file.push_str(&text);
            prop_assert!(Steps::new(file.as_bytes()).count() <= 1);
        }
    }

    #[test]
    fn a_step_reads_as_documented() {
        let kind = EventKind::EcnCe(EcnCe::new(2, Time(5), 2400));
        let step = Step {
            event: Event::new(Time(u64::MAX), kind),
            decision: crate::qlog::tests::decision(),
            group_step: Some(GroupStep { group: 0, step: 7, member: 1 }),
        };
        assert_eq!(
            serde_json::to_string(&step).unwrap(),
            concat!(
                r#"{"event":{"now":"18446744073709551615","kind":{"ecn_ce":{"packets":2,"newest_sent_at":5,"in_flight":2400}}},"#,
                r#""decision":{"cwnd":12000,"ecn":"unspecified","dscp":0,"phase":"slow_start"},"#,
                r#""group_step":{"group":0,"step":7,"member":1}}"#,
            )
        );
    }

    #[test]
    fn floats_that_are_no_numbers_keep_their_bits() {
        let train = TrainPlan::new(1, 2, 3, f64::NAN, f64::NEG_INFINITY);
        let decision = crate::qlog::tests::decision().with_train(Some(train));
        let step = Step { event: Event::new(Time(0), EventKind::TimerExpired), decision, group_step: None };
        let text = serde_json::to_string(&step).unwrap();
        assert!(text.contains(r#""min_rate":"0x7ff8000000000000","spread":"0xfff0000000000000""#), "{text}");
    }

    #[test]
    fn what_cannot_be_read_says_where_and_why() {
        let file = concat!(
            "\u{1e}{\"file_schema\":\"x\"}\n",
            "\u{1e}{\"time\":0,\"name\":\"quic:packet_sent\",\"data\":{}}\n",
            "\u{1e}{\"time\":0,\"name\":\"windlass:stepped\",\"data\":{\"event\":{\"now\":-1}}}\n",
        );
        let error = Steps::new(file.as_bytes()).next().unwrap().unwrap_err().to_string();
        let expected = "record 3 (line 3): windlass:stepped: invalid type: integer `-1`, expected an integer from 0";
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn steps_under_the_first_names_are_read() {
        let sent = r#"{"sent":{"bytes":1200,"in_flight":2400,"app_limited":false}}"#;
        let written = [
            (r#""tick""#, EventKind::TimerExpired),
            (r#"{"mtu":1452}"#, EventKind::MtuUpdated(1452)),
            (r#"{"idle":{"idle":7,"pto":3}}"#, EventKind::IdleRestart(IdleRestart::new(Span(7), Span(3)))),
            (
                r#"{"marked":{"packets":2,"newest_sent_at":5,"in_flight":2}}"#,
                EventKind::EcnCe(EcnCe::new(2, Time(5), 2)),
            ),
            (sent, EventKind::PacketSent(PacketSent::new(1200, 2400))),
        ];
        for (kind, expected) in written {
            let event: Event = serde_json::from_str(&format!(r#"{{"now":9,"what":{kind}}}"#)).unwrap();
            assert_eq!(event, Event::new(Time(9), expected));
        }
    }
}
