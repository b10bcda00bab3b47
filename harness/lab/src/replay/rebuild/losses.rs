//! Losses declared together, and whether the latest of them turn out spurious.

use windlass_controllers::event::{LossTrigger, PacketsLost};
use windlass_controllers::{Span, Time};
use windlass_qlog_analysis::flight::Sent;

use windlass_adapter::rfc9002::RttEstimator;
use windlass_simulator::sim::LossRun;

/// The latest recovery period, and whether its losses may turn out spurious.
#[derive(Clone, Copy, Debug, Default)]
struct Period {
    /// Its start, ns: a packet sent later begins another one if it is lost (`RFC 9002 §7.3.2`).
    /// `None` before the first one.
    start: Option<u64>,
    /// Packets declared lost since and not acknowledged late; `None` if CE marks began the
    /// period.
    outstanding: Option<u32>,
    newest_sent_at: u64,
}

#[derive(Debug, Default)]
pub(super) struct Losses {
    batch: Option<PacketsLost>,
    persistent: bool,
    run: LossRun,
    period: Period,
    /// Packets of the latest period acknowledged after all, by the present frame.
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
        self.late += u32::from(self.period.start.is_some_and(|start| lost_at >= start));
    }

    /// CE marks came with a frame whose newest packet was sent at `newest`; `None` if it
    /// acknowledges nothing new.
    pub fn on_ce_marks(&mut self, now: Time, marks: u32, newest: Option<Time>) {
        let newest = newest.unwrap_or(now).0;
        if marks > 0 && self.period.start.is_none_or(|start| newest > start) {
            self.period = Period { start: Some(now.0), outstanding: None, newest_sent_at: newest };
        }
    }

    /// The losses of a frame begin a recovery period or belong to the present one.
    pub fn on_losses(&mut self, now: Time, lost: Option<&PacketsLost>, persistent: bool) {
        let Some(lost) = lost else { return };
        let newest = lost.newest_sent_at.0;
        if persistent {
            self.period = Period::default();
        } else if self.period.start.is_none_or(|start| newest > start) {
            self.period = Period { start: Some(now.0), outstanding: Some(lost.packets), newest_sent_at: newest };
        } else if let Some(outstanding) = &mut self.period.outstanding {
            *outstanding = outstanding.saturating_add(lost.packets);
            self.period.newest_sent_at = self.period.newest_sent_at.max(newest);
        }
    }

    /// `Some` with the time the newest of the latest losses was sent, ns, if all of them have been
    /// acknowledged after all.
    pub fn spurious(&mut self) -> Option<u64> {
        let late = std::mem::take(&mut self.late);
        let outstanding = self.period.outstanding.filter(|_| late > 0)?;
        let left = outstanding.saturating_sub(late);
        self.period.outstanding = (left > 0).then_some(left);
        (left == 0).then_some(self.period.newest_sent_at)
    }
}
