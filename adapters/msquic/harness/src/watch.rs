//! What MsQuic does, as far as it tells: windows of its own controllers, packets.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use windlass::stacks::driver::journal::{Journal, Output, lock};
use windlass::wire::Clock;
use windlass_adapter::SharedTrace;
use windlass_controllers::Time;
use windlass_msquic::packets::{Place, to};
use windlass_msquic_endpoint::Statistics;

/// Whether MsQuic was built to tell of its packets.
pub(crate) const PACKETS: bool = cfg!(feature = "packet-qlog");

static PLACES: Mutex<BTreeMap<SocketAddr, Place>> = Mutex::new(BTreeMap::new());

/// Has the packets of the next connection to `peer` written to `trace`, whose time began when
/// MsQuic's clock showed `origin`; `recorded` if a controller of ours writes to it besides.
pub(crate) fn packets(
    peer: SocketAddr,
    trace: SharedTrace<Output>,
    origin: Time,
    recorded: bool,
) -> Result<(), String> {
    static ASKED: OnceLock<Result<(), String>> = OnceLock::new();
    if !PACKETS {
        return Ok(());
    }
    let all = || PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    all().insert(peer, Place { trace, origin, lost: Arc::default(), named: true, recorded });
    let ask = || to(move |new| if new.client { all().remove(&new.peer.address) } else { None });
    ASKED.get_or_init(|| ask().map_err(|error| error.to_string())).clone()
}

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
