//! The controllers' types as serde sees them. They live there without serde; a field
//! added there fails to compile here until it is added too.

use serde::{Deserialize, Serialize};
use windlass_controllers::event::{
    Delivery, EcnCe, IdleRestart, LossTrigger, OneWay, PacketSent, PacketsAcked, PacketsLost, Place, ProbeReceived,
    Queueing, RttSample, SpuriousLoss,
};
use windlass_controllers::{Decision, Ecn, Event, EventKind, Path, Phase, Span, Time, TrainPlan};

/// `Option` of a mirrored type.
macro_rules! optional {
    ($name:ident, $type:ty, $def:literal) => {
        mod $name {
            use super::*;

            #[derive(Serialize, Deserialize)]
            struct Wrap(#[serde(with = $def)] $type);

            pub fn serialize<S: serde::Serializer>(value: &Option<$type>, serializer: S) -> Result<S::Ok, S::Error> {
                value.map(Wrap).serialize(serializer)
            }

            pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<$type>, D::Error> {
                Ok(Option::deserialize(deserializer)?.map(|Wrap(value)| value))
            }
        }
    };
}

optional!(some_time, Time, "TimeDef");
optional!(some_unsigned, u64, "super::super::number::unsigned");
optional!(some_signed, i64, "super::super::number::signed");
optional!(some_rtt, RttSample, "RttSampleDef");
optional!(some_one_way, OneWay, "OneWayDef");
optional!(some_place, Place, "PlaceDef");
optional!(some_queueing, Queueing, "QueueingDef");
optional!(some_delivery, Delivery, "DeliveryDef");
optional!(some_train, TrainPlan, "TrainPlanDef");

#[derive(Serialize, Deserialize)]
#[serde(remote = "Time")]
pub struct TimeDef(#[serde(with = "super::number::unsigned")] pub u64);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Span")]
pub struct SpanDef(#[serde(with = "super::number::unsigned")] pub u64);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Path")]
pub struct PathDef {
    #[serde(with = "TimeDef")]
    now: Time,
    mtu: u32,
    #[serde(with = "super::number::unsigned")]
    seed: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Event")]
pub struct EventDef {
    #[serde(with = "TimeDef")]
    now: Time,
    #[serde(with = "EventKindDef")]
    kind: EventKind,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "EventKind", rename_all = "snake_case")]
enum EventKindDef {
    PacketSent(#[serde(with = "PacketSentDef")] PacketSent),
    RttSampled(#[serde(with = "RttSampleDef")] RttSample),
    PacketsAcked(#[serde(with = "PacketsAckedDef")] PacketsAcked),
    EcnCe(#[serde(with = "EcnCeDef")] EcnCe),
    PacketsLost(#[serde(with = "PacketsLostDef")] PacketsLost),
    PersistentCongestion(#[serde(with = "PacketsLostDef")] PacketsLost),
    SpuriousLoss(#[serde(with = "SpuriousLossDef")] SpuriousLoss),
    MtuUpdated(u32),
    IdleRestart(#[serde(with = "IdleRestartDef")] IdleRestart),
    TimerExpired,
    ProbeReceived(#[serde(with = "ProbeReceivedDef")] ProbeReceived),
    Joined,
    Left,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PacketSent")]
struct PacketSentDef {
    #[serde(with = "super::number::unsigned")]
    bytes: u64,
    #[serde(with = "some_unsigned", default, skip_serializing_if = "Option::is_none")]
    pn: Option<u64>,
    #[serde(with = "super::number::unsigned")]
    in_flight: u64,
    app_limited: bool,
    #[serde(with = "some_place", default, skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "RttSample")]
struct RttSampleDef {
    #[serde(with = "SpanDef")]
    latest: Span,
    #[serde(with = "SpanDef")]
    smoothed: Span,
    #[serde(with = "SpanDef")]
    variation: Span,
    #[serde(with = "SpanDef")]
    min: Span,
    #[serde(with = "SpanDef")]
    ack_delay: Span,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PacketsAcked")]
struct PacketsAckedDef {
    #[serde(with = "super::number::unsigned")]
    bytes: u64,
    packets: u32,
    #[serde(with = "super::number::unsigned")]
    fresh_bytes: u64,
    #[serde(with = "TimeDef")]
    newest_sent_at: Time,
    #[serde(with = "some_unsigned", default, skip_serializing_if = "Option::is_none")]
    newest_pn: Option<u64>,
    #[serde(with = "some_unsigned", default, skip_serializing_if = "Option::is_none")]
    newest_in_flight: Option<u64>,
    #[serde(with = "super::number::unsigned")]
    in_flight_before: u64,
    #[serde(with = "super::number::unsigned")]
    in_flight: u64,
    #[serde(with = "super::number::unsigned")]
    delivered: u64,
    app_limited: bool,
    #[serde(with = "some_rtt", default, skip_serializing_if = "Option::is_none")]
    rtt: Option<RttSample>,
    #[serde(with = "some_one_way", default, skip_serializing_if = "Option::is_none")]
    one_way: Option<OneWay>,
    #[serde(with = "some_queueing", default, skip_serializing_if = "Option::is_none")]
    queueing: Option<Queueing>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    congestion_indication: Option<bool>,
    #[serde(with = "some_delivery", default, skip_serializing_if = "Option::is_none")]
    delivery: Option<Delivery>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Delivery")]
struct DeliveryDef {
    #[serde(with = "super::number::unsigned")]
    delivered: u64,
    #[serde(with = "TimeDef")]
    delivered_at: Time,
    #[serde(with = "TimeDef")]
    first_sent_at: Time,
    #[serde(with = "super::number::unsigned")]
    lost: u64,
    app_limited: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "OneWay")]
struct OneWayDef {
    #[serde(with = "super::number::signed")]
    forward: i64,
    #[serde(with = "super::number::signed")]
    backward: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Queueing")]
struct QueueingDef {
    #[serde(with = "SpanDef")]
    forward: Span,
    #[serde(with = "SpanDef")]
    backward: Span,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "EcnCe")]
struct EcnCeDef {
    packets: u32,
    #[serde(with = "TimeDef")]
    newest_sent_at: Time,
    #[serde(with = "some_unsigned", default, skip_serializing_if = "Option::is_none")]
    newest_pn: Option<u64>,
    #[serde(with = "super::number::unsigned")]
    in_flight: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LossTrigger", rename_all = "snake_case")]
enum LossTriggerDef {
    PacketThreshold,
    TimeThreshold,
    Unknown,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PacketsLost")]
struct PacketsLostDef {
    #[serde(with = "super::number::unsigned")]
    bytes: u64,
    packets: u32,
    #[serde(with = "TimeDef")]
    newest_sent_at: Time,
    #[serde(with = "some_unsigned", default, skip_serializing_if = "Option::is_none")]
    newest_pn: Option<u64>,
    #[serde(with = "super::number::unsigned")]
    in_flight_before: u64,
    #[serde(with = "super::number::unsigned")]
    in_flight: u64,
    #[serde(with = "LossTriggerDef")]
    trigger: LossTrigger,
    transmissions: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SpuriousLoss")]
struct SpuriousLossDef {
    #[serde(with = "TimeDef")]
    newest_sent_at: Time,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "IdleRestart")]
struct IdleRestartDef {
    #[serde(with = "SpanDef")]
    idle: Span,
    #[serde(with = "SpanDef")]
    pto: Span,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ProbeReceived")]
struct ProbeReceivedDef {
    train: u32,
    index: u32,
    ce: bool,
    #[serde(with = "some_signed", default, skip_serializing_if = "Option::is_none")]
    one_way: Option<i64>,
    #[serde(with = "TimeDef")]
    sent_at: Time,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Place")]
struct PlaceDef {
    train: u32,
    index: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Decision")]
pub struct DecisionDef {
    #[serde(with = "super::number::unsigned")]
    cwnd: u64,
    #[serde(with = "some_unsigned", default, skip_serializing_if = "Option::is_none")]
    ssthresh: Option<u64>,
    #[serde(with = "some_unsigned", default, skip_serializing_if = "Option::is_none")]
    pacing_rate: Option<u64>,
    #[serde(with = "some_time", default, skip_serializing_if = "Option::is_none")]
    wake_at: Option<Time>,
    #[serde(with = "EcnDef")]
    ecn: Ecn,
    dscp: u8,
    #[serde(with = "some_train", default, skip_serializing_if = "Option::is_none")]
    train: Option<TrainPlan>,
    #[serde(with = "PhaseDef")]
    phase: Phase,
    #[serde(with = "some_time", default, skip_serializing_if = "Option::is_none")]
    recovery_start: Option<Time>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Ecn", rename_all = "snake_case")]
enum EcnDef {
    Unspecified,
    NotEct,
    Ect0,
    Ect1,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Phase", rename_all = "snake_case")]
enum PhaseDef {
    SlowStart,
    CongestionAvoidance,
    Recovery,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "TrainPlan")]
struct TrainPlanDef {
    id: u32,
    packets: u32,
    bytes: u32,
    #[serde(with = "super::number::float")]
    min_rate: f64,
    #[serde(with = "super::number::float")]
    spread: f64,
    dscp: u8,
    carries_data: bool,
}
