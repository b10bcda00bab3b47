//! What MsQuic's own controllers do, as far as it tells.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use windlass::stacks::driver::journal::{Journal, lock};
use windlass::wire::Clock;
use windlass_msquic_endpoint::Statistics;

/// Writes the window of a controller that is not ours to a journal, and the smoothed RTT in
/// place of samples, which MsQuic does not tell. A window that shrank was congestion's doing:
/// BBR's at the end of its start is counted, too.
pub(crate) fn native(journal: &Arc<Mutex<Journal>>, clock: Clock) -> impl Fn(&Statistics) + Send + Sync + 'static {
    let journal = Arc::clone(journal);
    move |statistics| {
        let mut journal = lock(&journal);
        let window = u64::from(statistics.CongestionWindow);
        if !journal.over {
            let answered = window < journal.decision.cwnd;
            journal.meter.congestion_events += u64::from(answered);
            journal.meter.window(clock.now().0, window);
            let rtt = Duration::from_micros(statistics.SmoothedRTT);
            journal.meter.rtt.add(u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX));
        }
        journal.decision.cwnd = window;
    }
}
