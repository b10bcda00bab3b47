//! What adapters record is clean under the lint, at every level and in both profiles.

use windlass_adapter::qlog::Level;
use windlass_adapter::{Flow, QlogRecorder, SharedTrace};
use windlass_controllers::event::{EcnCe, LossTrigger, PacketSent, PacketsAcked, PacketsLost, RttSample};
use windlass_controllers::{Algorithm, Event, EventKind, Path, Span, Time};
use windlass_qlog::{Ack, Detail, Frame, Header, Packet, PacketType, Profile, RecoveryParameters, Trace};
use windlass_qlog_analysis::lint::lint;

const PATH: Path = Path::new(Time(5_000_000_000), 1200, 1);
const MS: u64 = 1_000_000;

/// A sender of 200 packets, 10 ms apart and acknowledged 40 ms later; every 50th is lost,
/// every 60th marked.
fn record(algorithm: &Algorithm, profile: Profile, detail: Detail, level: Level) -> Vec<u8> {
    let name = algorithm.to_string();
    let header = Header { title: &name, origin_ns: PATH.now.0, ..Header::default() };
    let trace = SharedTrace::from(Trace::new(Vec::new(), profile, detail, &header));
    trace.lock().recovery_parameters_set(PATH.now.0, &RecoveryParameters::rfc9002(&name, PATH.mtu));
    let mut flow = Flow::ungrouped(*algorithm, &PATH);
    flow.record(Box::new(QlogRecorder::new(trace.clone(), level, algorithm, &name, &PATH)));
    let mut delivered = 0;
    for tick in 0..204u64 {
        let now = PATH.now + Span(tick * 10 * MS);
        let in_flight = tick.min(4) * 1200;
        if tick >= 4 {
            let pn = tick - 4;
            let sent_at = PATH.now + Span(pn * 10 * MS);
            let kind = if pn % 50 == 49 {
                trace.lock().packet_lost(now.0, PacketType::OneRtt, pn, None);
                EventKind::PacketsLost(
                    PacketsLost::new(1200, 1, sent_at, in_flight - 1200)
                        .with_in_flight_before(in_flight)
                        .with_trigger(LossTrigger::TimeThreshold),
                )
            } else if pn % 60 == 59 {
                EventKind::EcnCe(EcnCe::new(1, sent_at, in_flight).with_newest_pn(Some(pn)))
            } else {
                let ranges = [(pn, pn)];
                let ack = Frame::Ack(Ack { ranges: &ranges, ..Ack::default() });
                trace.lock().packet_received(now.0, &Packet::one_rtt(pn, 40), &[ack]);
                delivered += 1200;
                let ms = Span::from_millis;
                let rtt = RttSample::new(ms(40), ms(40), ms(1), ms(40)).with_ack_delay(ms(0));
                EventKind::PacketsAcked(
                    PacketsAcked::new(1200, 1, sent_at, in_flight - 1200, delivered)
                        .with_newest_pn(Some(pn))
                        .with_newest_in_flight(Some(in_flight))
                        .with_in_flight_before(in_flight)
                        .with_rtt(Some(rtt)),
                )
            };
            flow.on_event(&Event::new(now, kind));
        }
        if tick < 200 {
            let frame = Frame::Stream { id: 0, offset: tick * 1160, length: 1160, fin: false };
            trace.lock().packet_sent(now.0, &Packet::one_rtt(tick, 1200), &[frame]);
            let sent = PacketSent::new(1200, in_flight + 1200).with_pn(Some(tick));
            flow.on_event(&Event::new(now, EventKind::PacketSent(sent)));
        }
    }
    drop(flow);
    trace.finish().unwrap().unwrap()
}

#[test]
fn recorded_flows_are_clean_and_repeat_to_the_byte() {
    for entry in Algorithm::ALL {
        let algorithm = (entry.default)();
        for profile in [Profile::Ietf, Profile::Qvis] {
            for detail in [Detail::Packets, Detail::Recovery { every_ns: 10 * MS }] {
                for level in [Level::Recovery, Level::Steps, Level::StepsOnly] {
                    let file = record(&algorithm, profile, detail, level);
                    let report = lint(&file[..], profile);
                    assert!(report.is_clean(), "{} {profile:?} {detail:?} {level:?}: {report}", entry.name);
                    assert_eq!(file, record(&algorithm, profile, detail, level));
                }
            }
        }
    }
}
