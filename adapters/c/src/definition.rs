//! What a name or a configuration file stands for: the controller of each peer, with its groups.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_abi::signal;
use windlass_adapter::config::Config;
use windlass_adapter::{ChoiceError, Flow, FlowBuilder, Groups, NamedController, NewFlow, Peer, Stack};
use windlass_controllers::{Path, Signals, Time};

/// The key of a group that a stack names: the controller as a user types it, and the stack's bytes.
type Key = (Arc<str>, Box<[u8]>);

/// A `windlass_controller`.
#[derive(Debug)]
pub struct Definition {
    builder: FlowBuilder,
    groups: Groups<NamedController, Key>,
    /// `WINDLASS_SIGNAL_…` of the stack.
    signals: u32,
}

/// A path a flow starts on.
#[derive(Clone, Copy, Debug)]
pub struct NewPath<'a> {
    /// Time at which the flow starts.
    pub now: Time,
    /// Address and name of the peer.
    pub peer: Peer<'a>,
    /// Bytes of a full datagram, at least 1.
    pub mtu: u32,
    /// The key of the flow's group; `None` leaves it to the definition.
    pub group: Option<&'a [u8]>,
    /// The flow's seed; 0: one of the definition's.
    pub seed: u64,
}

/// Signals of every stack.
const ALWAYS: Signals =
    Signals::ACKS.and(Signals::LOSS).and(Signals::PERSISTENT_CONGESTION).and(Signals::RTT).and(Signals::GROUPS);

/// What a stack reports of deliveries, or the library works out of packets sent.
const DELIVERIES: Signals = Signals::WINDOW_AT_SEND.and(Signals::DELIVERY_RATE);

/// Bits with the signals of the contract they stand for, and their names in the header after `WINDLASS_SIGNAL_`.
const SIGNALS: [(u32, Signals, &str); 9] = [
    (signal::ECN, Signals::ECN, "ECN"),
    (signal::CE_COUNT, Signals::CE_COUNT, "CE_COUNT"),
    (signal::PACKET_NUMBERS, Signals::PACKET_NUMBERS, "PACKET_NUMBERS"),
    (signal::SPURIOUS_LOSS, Signals::SPURIOUS_LOSS, "SPURIOUS_LOSS"),
    (signal::SENT, DELIVERIES, "SENT"),
    (signal::DELIVERY, DELIVERIES, "DELIVERY"),
    (signal::PACING, Signals::PACING, "PACING"),
    (signal::TIMER, Signals::WAKE_UP, "TIMER"),
    (signal::ONE_WAY_DELAY, Signals::ONE_WAY_DELAY, "ONE_WAY_DELAY"),
];

/// What a stack with these bits reports; `None` if one of them stands for nothing.
#[must_use]
pub fn provides(bits: u32) -> Option<Signals> {
    let known = SIGNALS.iter().fold(0, |known, (bit, ..)| known | bit);
    let set = SIGNALS.iter().filter(|(bit, ..)| bits & bit != 0);
    (bits & !known == 0).then(|| set.fold(ALWAYS, |all, (_, signal, _)| all.and(*signal)))
}

/// The constants of the header a stack would have to set to report `missing`; `None` if it has none for some of them.
fn constants(missing: Signals) -> Option<String> {
    let of = |signal: Signals| missing.without(signal) != missing;
    let rows = SIGNALS.iter().filter(|(bit, signal, _)| of(*signal) && *bit != signal::DELIVERY);
    let rest = rows.clone().fold(missing, |rest, (_, signal, _)| rest.without(*signal));
    let name = |(bit, _, name): &(u32, Signals, &str)| match *bit {
        signal::SENT => format!("WINDLASS_SIGNAL_{name} or WINDLASS_SIGNAL_DELIVERY"),
        _ => format!("WINDLASS_SIGNAL_{name}"),
    };
    rest.is_empty().then(|| rows.map(name).collect::<Vec<_>>().join(", "))
}

/// Names of stacks, each kept once: recorders and errors outlive the call that brings one.
static STACKS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Distinct names of stacks that are kept; a further one is called "the stack".
const MAX_STACKS: usize = 64;

/// The stack called `name` that reports what `signals` stand for.
///
/// # Errors
/// A bit of `signals` stands for nothing.
pub fn stack(name: Option<&str>, signals: u32) -> Result<Stack, String> {
    let provides = provides(signals)
        .ok_or_else(|| format!("signals is {signals:#x}; expected WINDLASS_SIGNAL_ values of windlass.h"))?;
    let name = name.filter(|name| !name.is_empty()).unwrap_or("the stack");
    let mut stacks = STACKS.lock().unwrap_or_else(PoisonError::into_inner);
    let name = match stacks.get(name) {
        Some(name) => name,
        None if stacks.len() >= MAX_STACKS => "the stack",
        None => {
            let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
            stacks.insert(name);
            name
        }
    };
    Ok(Stack { name, provides })
}

/// `error` with the constants that stand for the signals it misses.
fn advised(error: ChoiceError) -> ChoiceError {
    let missing = error.missing();
    match constants(missing).filter(|constants| !constants.is_empty()) {
        None => error,
        Some(constants) => {
            error.advised(missing, format!("set {constants} in windlass_stack.signals and report what they say"))
        }
    }
}

impl Definition {
    fn new(builder: FlowBuilder, signals: u32) -> Self {
        Definition { builder, groups: Groups::default(), signals }
    }

    /// The catalogue's controller `text`: a name, or `name:parameter=value,…`.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal that the stack does not report.
    pub fn named(text: &str, stack_name: Option<&str>, signals: u32) -> Result<Self, String> {
        let stack = stack(stack_name, signals)?;
        FlowBuilder::named(text, &stack)
            .map(|builder| Definition::new(builder, signals))
            .map_err(|error| format!("controller {text:?}: {}", advised(error)))
    }

    /// The controllers that the file at `path` selects for each peer.
    ///
    /// # Errors
    /// The file cannot be read or has a mistake, a controller needs a signal that the stack does
    /// not report, or recordings cannot be written.
    pub fn read(path: &str, stack_name: Option<&str>, signals: u32) -> Result<Self, String> {
        let stack = stack(stack_name, signals)?;
        let builder = Config::read(path)
            .and_then(|config| {
                config.check_advised(stack.name, stack.provides, advised)?;
                FlowBuilder::from_config(&config, &stack)?.recorded_by(&config, &stack)
            })
            .map_err(|error| error.to_string())?;
        Ok(Definition::new(builder, signals))
    }

    /// `WINDLASS_SIGNAL_…` of the stack.
    #[must_use]
    pub fn signals(&self) -> u32 {
        self.signals
    }

    /// A flow on `new`, and its controller as a user types it.
    #[must_use]
    pub fn start(&self, new: &NewPath<'_>) -> (Flow, Arc<str>) {
        let choice = self.builder.choose(&new.peer);
        let seed = if new.seed == 0 { self.builder.next_seed() } else { new.seed };
        let path = self.builder.path(&choice.controller, &new.peer, Path::new(new.now, new.mtu, seed));
        let flow = NewFlow { peer: new.peer, controller: &choice.controller, text: &choice.text, path: &path };
        let recorder = self.builder.recorder(&flow);
        let started = match new.group {
            Some(key) => {
                let key = (Arc::clone(&choice.text), key.into());
                Flow::grouped_with(choice.controller, &path, &self.groups, key, recorder)
            }
            None => self.builder.join(&flow, recorder),
        };
        (started, choice.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_path(group: Option<&[u8]>) -> NewPath<'_> {
        NewPath { now: Time(5), peer: ([192, 0, 2, 7], 443).into(), mtu: 1200, group, seed: 3 }
    }

    #[test]
    fn errors_name_the_stack_and_what_was_expected() {
        let error = Definition::named("renno", Some("ngtcp2"), 0).unwrap_err();
        assert!(error.starts_with("controller \"renno\": unknown controller \"renno\""), "{error}");
        let error = Definition::named("nf-tcp", Some("ngtcp2"), 0).unwrap_err();
        assert!(error.contains("ngtcp2 does not report"), "{error}");
        assert!(!error.contains("WINDLASS_SIGNAL_"), "no signal of the header's is probe trains: {error}");
        let error = Definition::named("prague", None, 0).unwrap_err();
        assert!(error.contains("the stack does not report"), "{error}");
        let constants =
            "set WINDLASS_SIGNAL_ECN, WINDLASS_SIGNAL_CE_COUNT, WINDLASS_SIGNAL_PACING in windlass_stack.signals";
        assert!(error.contains(constants), "{error}");
        let error = Definition::named("reno", None, 1 << 20).unwrap_err();
        assert!(error.contains("0x100000") && error.contains("WINDLASS_SIGNAL_"), "{error}");
        let error = Definition::read("/nowhere/cc.toml", None, 0).unwrap_err();
        assert!(error.contains("/nowhere/cc.toml"), "{error}");
    }

    #[test]
    fn a_file_that_asks_for_too_much_names_the_constants_too() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("cc.toml");
        std::fs::write(&file, "controller = \"dctcp\"\n").unwrap();
        let error = Definition::read(file.to_str().unwrap(), None, 1).unwrap_err();
        assert!(error.contains("cc.toml:1:14: ") && error.contains("set WINDLASS_SIGNAL_CE_COUNT in"), "{error}");
    }

    /// What README says of signals: only these want deliveries.
    #[test]
    fn copa_needs_no_deliveries_and_bbr_does() {
        let refused = |name: &str| Definition::named(name, None, 64).err();
        assert_eq!(refused("copa"), None);
        for name in ["bbr", "fast:variant=ns2"] {
            let error = refused(name).unwrap();
            assert!(error.contains("WINDLASS_SIGNAL_SENT or WINDLASS_SIGNAL_DELIVERY"), "{error}");
        }
    }

    #[test]
    fn a_key_makes_a_group_of_each_controller() {
        let definition = Definition::named("tcp-p", None, 0).unwrap();
        let flows = [Some(&b"a"[..]), Some(b"a"), Some(b"b"), None].map(|key| definition.start(&new_path(key)).0);
        assert_eq!(definition.groups.len(), 2, "the last one is in the group of its peer's address");
        let key = (Arc::from("tcp-p"), Box::from(&b"a"[..]));
        assert_eq!(definition.groups.with(&key, |group| group.members().len()), Some(2));
        assert!(flows[3].is_grouped());
        drop(flows);
        assert!(definition.groups.is_empty());
    }

    #[test]
    fn a_file_chooses_by_peer() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("cc.toml");
        std::fs::write(&file, "controller = \"cubic\"\n[[rule]]\nto = \"192.0.2.0/24\"\ncontroller = \"reno\"")
            .unwrap();
        let definition = Definition::read(file.to_str().unwrap(), None, 0).unwrap();
        assert_eq!(&*definition.start(&new_path(None)).1, "reno");
        let other = NewPath { peer: ([198, 51, 100, 1], 443).into(), ..new_path(None) };
        assert_eq!(&*definition.start(&other).1, "cubic");
    }

    #[test]
    fn bits_that_stand_for_nothing_are_refused() {
        assert_eq!(provides(0), Some(ALWAYS));
        assert_eq!(provides(3), Some(ALWAYS.and(Signals::ECN).and(Signals::CE_COUNT)));
        assert_eq!(provides(1 << 9), None);
    }

    #[test]
    fn signals_have_the_headers_names() {
        let named = |signals| constants(signals).unwrap();
        assert_eq!(named(Signals::ECN | Signals::CE_COUNT), "WINDLASS_SIGNAL_ECN, WINDLASS_SIGNAL_CE_COUNT");
        let deliveries = "WINDLASS_SIGNAL_SENT or WINDLASS_SIGNAL_DELIVERY, WINDLASS_SIGNAL_PACING";
        assert_eq!(named(Signals::DELIVERY_RATE | Signals::PACING), deliveries);
        assert_eq!(constants(Signals::ECN | Signals::PROBE_TRAINS), None);
        let header = include_str!("../../abi/include/windlass.h");
        for (bit, _, name) in SIGNALS {
            assert!(header.contains(&format!("#define WINDLASS_SIGNAL_{name} {bit}u")), "{name}");
        }
        assert_eq!(header.matches("#define WINDLASS_SIGNAL_").count(), SIGNALS.len());
    }
}
