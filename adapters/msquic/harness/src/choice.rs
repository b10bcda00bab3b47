//! What controls a flow. MsQuic is given a number, one for all flows of ours, which are told
//! apart by whom they send to.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use windlass::scenario::{Control, FlowSpec};
use windlass::stacks::RunError;
use windlass::stacks::driver::native::{NoNative, Seen, Shadow};
use windlass_adapter::{Flow, Groups, Recorder, require};
use windlass_controllers::{Algorithm, ConfiguredController, Decision, Path, Time, View};
use windlass_msquic::{AT_MOST, Definition, NewFlow, STACK, register_as};

/// MsQuic's own controllers: what a user types after `native:`.
pub(crate) const NATIVES: &[&str] = &["cubic", "bbr"];

type Record = Box<dyn Fn(&NewFlow<'_, Algorithm>) -> Box<dyn Recorder> + Send>;

/// A flow of ours that is about to start.
pub(crate) struct Expected {
    pub(crate) algorithm: Algorithm,
    pub(crate) text: Arc<str>,
    /// What MsQuic's clock showed when the run began.
    pub(crate) origin: Time,
    pub(crate) seed: u64,
    /// Flows of one name and table see each other.
    pub(crate) group: Option<(Groups<Algorithm, String>, String)>,
    pub(crate) record: Record,
}

static EXPECTED: Mutex<BTreeMap<SocketAddr, Expected>> = Mutex::new(BTreeMap::new());

fn all() -> MutexGuard<'static, BTreeMap<SocketAddr, Expected>> {
    EXPECTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says what the flow to `peer` is to be.
pub(crate) fn expect(peer: SocketAddr, flow: Expected) {
    all().insert(peer, flow);
}

/// The number a flow gets in `QUIC_SETTINGS.CongestionControlAlgorithm`.
///
/// # Errors
/// MsQuic has no such controller, or never reports what it needs.
pub(crate) fn number(spec: &FlowSpec) -> Result<u16, RunError> {
    let flow = || spec.name.clone();
    match &spec.control {
        Control::Catalogue(algorithm) => {
            require(algorithm, &spec.controller, STACK, AT_MOST)
                .map_err(|error| RunError::Controller { flow: flow(), error })?;
            ours().map_err(|reason| RunError::Flow { flow: flow(), at_s: 0.0, reason })
        }
        Control::Native(name) => {
            let position = NATIVES.iter().position(|native| native == name);
            position.and_then(|position| u16::try_from(position).ok()).ok_or_else(|| RunError::NoNative {
                flow: flow(),
                error: NoNative { stack: STACK, name: name.clone(), known: NATIVES },
            })
        }
    }
}

/// The number of all flows of ours.
fn ours() -> Result<u16, String> {
    static NUMBER: OnceLock<Result<u16, String>> = OnceLock::new();
    NUMBER.get_or_init(|| register_as("harness", definition()).map_err(|error| error.to_string())).clone()
}

fn definition() -> Definition {
    // A flow nobody expects is a connection that migrated, which the harness' do not.
    let nobody = Algorithm::read("reno").expect("the catalogue has it");
    Definition::choosing(move |peer| {
        all().get(&peer.address).map_or((nobody, Arc::from("reno")), |flow| (flow.algorithm, Arc::clone(&flow.text)))
    })
    .since(|peer| all().get(&peer.address).map_or(Time::ZERO, |flow| flow.origin))
    .join_with(|new, _| {
        let Some(flow) = all().remove(&new.peer.address) else {
            return Flow::ungrouped(*new.controller, new.path);
        };
        let path = Path { seed: flow.seed, ..*new.path };
        let recorder = (flow.record)(&NewFlow { path: &path, ..*new });
        match flow.group {
            Some((groups, name)) => Flow::grouped_with(*new.controller, &path, &groups, name, Some(recorder)),
            None => Flow::ungrouped_with(*new.controller, &path, Some(recorder)),
        }
    })
}

/// What the flow's controller decides before it has heard of anything; MsQuic's own tell
/// their windows when they have them.
pub(crate) fn first_decision(spec: &FlowSpec, mtu: u32) -> Decision {
    let path = Path { now: Time::ZERO, mtu, seed: 0 };
    match spec.control.algorithm() {
        Some(algorithm) => algorithm.decide(&algorithm.start(&path), View::solo(&algorithm.group())),
        None => Shadow(Seen::new(0)).decide(&Shadow(Seen::new(0)).start(&path), View::solo(&())),
    }
}
