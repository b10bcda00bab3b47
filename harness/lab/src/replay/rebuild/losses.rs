//! Losses declared together, and whether the latest of them turn out spurious.

use windlass_controllers::event::{LossTrigger, PacketsLost};
use windlass_controllers::{Span, Time};
use windlass_qlog_analysis::flight::Sent;

use windlass_adapter::LossEpisode;
use windlass_adapter::rfc9002::RttEstimator;
use windlass_simulator::sim::LossRun;

#[derive(Debug, Default)]
pub(super) struct Losses {
    batch: Option<PacketsLost>,
    persistent: bool,
    run: LossRun,
    episode: LossEpisode,
    /// Packets of the latest episode acknowledged after all, by the present frame.
    late: u32,
}

impl Losses {
    /// A packet was declared lost.
    pub fn add(
        &mut self,
        number: u64,
        sent: &Sent<u64>,
        trigger: LossTrigger,
        rtt: &RttEstimator,
        max_ack_delay: Span,
    ) {
        let sent_at = u64::try_from(sent.time).unwrap_or(0);
        self.persistent |= self.run.extend(sent_at, number, rtt, max_ack_delay);
        let before = self.batch.map_or((0, 0, 0, 0), |lost: PacketsLost| {
            (lost.bytes, lost.packets, lost.newest_sent_at.0, lost.newest_pn.unwrap_or(0))
        });
        self.batch = Some(
            PacketsLost::new(
                before.0.saturating_add(u64::from(sent.bytes)),
                before.1.saturating_add(1),
                Time(before.2.max(sent_at)),
                0,
            )
            .with_newest_pn(Some(before.3.max(number)))
            .with_in_flight_before(0)
            .with_trigger(trigger),
        );
    }

    /// The losses declared together, with `in_flight` bytes left before anything of the
    /// same frame is taken out, and whether they are persistent congestion.
    pub fn take_declared(&mut self, in_flight: u64) -> (Option<PacketsLost>, bool) {
        let persistent = std::mem::take(&mut self.persistent);
        let lost = self.batch.take().map(|mut lost| {
            lost.in_flight = in_flight;
            lost.in_flight_before = in_flight.saturating_add(lost.bytes);
            lost
        });
        (lost, persistent)
    }

    /// A packet that was declared lost at `lost_at` is acknowledged.
    pub fn on_late_ack(&mut self, lost_at: u64) {
        self.late += u32::from(self.episode.includes(Time(lost_at)));
    }

    /// The losses of a frame.
    pub fn on_losses(&mut self, now: Time, lost: Option<&PacketsLost>, persistent: bool) {
        if persistent {
            self.episode = LossEpisode::default();
        } else if let Some(lost) = lost {
            self.episode.on_packets_lost(now, lost.newest_sent_at, lost.packets);
        }
    }

    /// When the newest of the latest losses was sent, if all of them have been acknowledged
    /// after all; to be asked before the frame's own losses are counted.
    pub fn spurious(&mut self) -> Option<Time> {
        self.episode.on_late_acks(std::mem::take(&mut self.late))
    }
}
