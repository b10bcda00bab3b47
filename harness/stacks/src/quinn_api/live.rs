//! Flows over UDP sockets: ordinary endpoints of the asynchronous crate.

use std::sync::{Arc, Mutex};

use windlass_adapter::qlog::Level;
use windlass_adapter::{Groups, NamedController};
use windlass_controllers::Time;
use windlass_simulator::measure::Meter;
use windlass_simulator::scenario::{FlowSpec, Scenario};

use super::setup::{Setup, payload};
use super::{QuinnApi, Transport};
use crate::driver::sender_log::SenderLog;
use crate::sans_io::Context;
use crate::wire::{self, Ends, Program, Report};
use crate::{FlowLog, OpenLog, RunError};

/// Runs a scenario over UDP sockets. `log` says where the log of each flow goes, if anywhere.
/// `stop` is called now and then with the time reached, and returns whether to stop.
///
/// # Errors
/// The stack cannot run a flow, a flow failed, or it was stopped.
pub fn run_live<S: QuinnApi>(
    scenario: &Scenario,
    log: &mut OpenLog<'_>,
    stop: &dyn Fn(Time) -> bool,
) -> Result<Report, RunError> {
    let tls = S::tls().map_err(RunError::Tls)?;
    wire::run(scenario, log, stop, |clock| {
        let context = Context {
            scenario: &scenario.name,
            seed: scenario.seed,
            origin: clock.origin(),
            groups: Groups::default(),
            saved_paths: scenario.saved_paths(),
        };
        Ok(Live::<S> { context, tls })
    })
}

/// The stack as a program.
struct Live<'a, S: QuinnApi> {
    context: Context<'a>,
    tls: &'static S::Tls,
}

impl<S: QuinnApi> Program for Live<'_, S> {
    const NAME: &'static str = S::NAME;
    const KEYS: &'static [&'static str] = &["resume"];
    type Sender = S::LiveSender;
    type Receiver = S::LiveReceiver;

    fn ends(&self, spec: &FlowSpec, log: Option<FlowLog>) -> Result<Ends<Self::Sender, Self::Receiver>, RunError> {
        let setup = Setup::<S>::new(&self.context, false);
        let payload = payload::<S>(spec)?;
        let level = log.as_ref().map_or(Level::Recovery, |log| log.settings.level);
        let first = setup.first_decision(spec, payload)?;
        let trace = log.map(|log| setup.begin(log, spec, &first));
        // Without packets, which of them were lost is not for the sender log to say.
        let sender_log = Arc::new(Mutex::new(SenderLog::new(Meter::new(spec.packet_bytes), first, None)));
        let factory = setup.factory(spec, payload, Arc::clone(&sender_log), trace.clone(), level)?;
        let transport = Transport { segmentation: true, ..Transport::of(spec, payload) };
        let (sender, receiver) =
            S::live_ends(self.tls, &transport, factory).map_err(|error| wire::no_socket(&spec.name, error))?;
        Ok(Ends { sender, receiver, sender_log, trace })
    }

    fn groups(&self) -> &Groups<NamedController, String> {
        &self.context.groups
    }
}
