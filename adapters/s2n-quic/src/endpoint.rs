//! Making controllers for the connections of an endpoint.

use std::fmt;
use std::hash::Hash;
use std::net::{IpAddr, SocketAddr};

use s2n_quic::provider::congestion_controller::{self, PathInfo};
use s2n_quic::provider::event::events::SocketAddress;
#[cfg(feature = "config")]
use windlass_adapter::config::{Config, ConfigError};
use windlass_adapter::{
    Choice, ChoiceError, FlowBuilder, Groups, NamedController, NewFlow, Recorder, SavedPaths, Stack, assigns,
    with_parameter,
};
use windlass_controllers::ConfiguredController;
use windlass_controllers::param::Value;

use crate::path::PendingFlow;
#[cfg(feature = "qlog")]
use crate::qlog::{Qlog, Recorders};
use crate::{Controller, PROVIDES, STACK};

const THIS: Stack = Stack { name: STACK, provides: PROVIDES };

/// `choice`, with HyStart++ that compares each eight samples of the RTT, unless its text says which ones. s2n-quic's own CUBIC compares eight of
/// a round (hybrid slow start) and loses less than HyStart++ does that compares whole rounds.
fn with_defaults(mut choice: Choice<NamedController>) -> Choice<NamedController> {
    let mut hystart = false;
    choice.controller.describe(&mut |param| {
        hystart |= param.name == "slow_start" && param.value == Value::Word("hystart++");
    });
    if hystart
        && !assigns(&choice.text, "hystart_samples")
        && choice.controller.set("hystart_samples", "eights").is_ok()
    {
        choice.text = with_parameter(&choice.text, "hystart_samples", "eights").into();
    }
    choice
}

/// Makes a controller for every path of every connection of an endpoint: what
/// `with_congestion_controller` takes.
#[derive(Clone)]
pub struct Endpoint<C: ConfiguredController = NamedController> {
    builder: FlowBuilder<C>,
    #[cfg(feature = "qlog")]
    logs: Option<Recorders>,
}

impl Endpoint {
    /// An endpoint whose connections all use the catalogue's controller `text`: a name, or
    /// `name:parameter=value,…`. Where HyStart++ ends slow start, `hystart_samples` is `eights` unless the text has another.
    ///
    /// # Errors
    /// The text cannot be read, or the controller needs a signal s2n-quic does not report.
    pub fn named(text: &str) -> Result<Self, ChoiceError> {
        Ok(Self::of(FlowBuilder::named(text, &THIS)?.adjusted(with_defaults)))
    }

    /// An endpoint whose connections use what `config` says for their peers' addresses,
    /// with its groups. Where the file asks for recording, a [`Qlog`] made by
    /// [`Qlog::from_config`] does it, packets and all; see [`record_in`](Self::record_in).
    ///
    /// # Errors
    /// A controller of the file needs a signal s2n-quic does not report, or a rule goes by
    /// host names, which s2n-quic does not give a congestion controller.
    #[cfg(feature = "config")]
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        config.check_with_addresses(STACK, THIS.provides, |error| error)?;
        Ok(Self::of(FlowBuilder::from_config(config, &THIS)?.adjusted(with_defaults)))
    }
}

impl<C: ConfiguredController> Endpoint<C> {
    /// An endpoint whose connections all use `controller`: [`Static`](crate::Static) makes one of
    /// any controller.
    ///
    /// # Errors
    /// The controller needs a signal s2n-quic does not report.
    pub fn new(controller: C) -> Result<Self, ChoiceError> {
        Ok(Self::of(FlowBuilder::new(controller, &THIS)?))
    }

    fn of(builder: FlowBuilder<C>) -> Self {
        Endpoint {
            builder,
            #[cfg(feature = "qlog")]
            logs: None,
        }
    }

    /// Puts every flow into the group of the key that `key_of` gives for its peer. Weights
    /// and other shared state can be changed at any time with [`Groups::with`].
    ///
    /// Without this, the flows of a controller that needs groups form one group per peer's
    /// address without its port.
    #[must_use]
    pub fn group<K>(self, groups: &Groups<C, K>, key_of: impl Fn(SocketAddr) -> K + Send + Sync + 'static) -> Self
    where
        K: Hash + Eq + Send + Sync + 'static,
    {
        Endpoint { builder: self.builder.group(groups, key_of), ..self }
    }

    /// Gives every flow the recorder `make` returns for it. Together with the path the flow
    /// starts on, what it records is all a replay needs.
    #[must_use]
    pub fn record_with(self, make: impl Fn(&NewFlow<'_, C>) -> Box<dyn Recorder> + Send + Sync + 'static) -> Self {
        Endpoint { builder: self.builder.record_with(make), ..self }
    }

    /// Has flows resume what earlier ones observed of the path (RFC 9959), which is kept in `paths` under the key that
    /// `key_of` gives for the peer's address.
    #[must_use]
    pub fn resume<K>(self, paths: &SavedPaths<K>, key_of: impl Fn(SocketAddr) -> K + Send + Sync + 'static) -> Self
    where
        K: Hash + Eq + Clone + Send + Sync + 'static,
    {
        Endpoint { builder: self.builder.resume(paths, move |peer| key_of(peer.address)), ..self }
    }

    /// Records every flow in the log of its connection, beside its packets. `qlog` has to be
    /// the event subscriber of the endpoint that takes this as its congestion controller,
    /// and of no other; paths that connections move to later are not recorded.
    #[cfg(feature = "qlog")]
    #[must_use]
    pub fn record_in(mut self, qlog: &Qlog) -> Self {
        self.logs = Some(qlog.recorders());
        self
    }

    /// Sets the seed of controllers that need randomness; flows count up from it. The default
    /// differs from endpoint to endpoint.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Endpoint { builder: self.builder.seed(seed), ..self }
    }

    /// A controller for a path to `peer`, of datagrams of `mtu` bytes.
    pub fn make(&mut self, peer: SocketAddr, mtu: u16) -> Controller<C> {
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let pending = PendingFlow {
            choice: self.builder.choose(&peer.into()),
            peer,
            seed: self.builder.next_seed(),
            builder: self.builder.clone(),
            #[cfg(feature = "qlog")]
            log: self.logs.as_ref().and_then(Recorders::take),
        };
        Controller::new(pending, mtu)
    }
}

impl<C: ConfiguredController> congestion_controller::Endpoint for Endpoint<C> {
    type CongestionController = Controller<C>;

    fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> Controller<C> {
        self.make(address(&path.remote_address), path.max_datagram_size)
    }
}

/// An address as the standard library has it. A kind of address this version does not know
/// is none.
pub(crate) fn address(address: &SocketAddress<'_>) -> SocketAddr {
    match *address {
        SocketAddress::IpV4 { ip, port, .. } => (IpAddr::from(*ip), port).into(),
        SocketAddress::IpV6 { ip, port, .. } => (IpAddr::from(*ip), port).into(),
        _ => ([0, 0, 0, 0], 0).into(),
    }
}

impl<C: ConfiguredController> fmt::Debug for Endpoint<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("builder", &self.builder).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use s2n_quic::provider::congestion_controller::CongestionController as _;
    use windlass_controllers::{Algorithm, WindowController, schemes::reno};

    use super::*;
    use crate::Static;

    fn peer(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn names_what_s2n_quic_cannot_run_or_read() {
        windlass_adapter_testkit::ours::check_names("s2n-quic", PROVIDES, Endpoint::named);
    }

    #[test]
    fn every_controller_starts_with_its_own_window() {
        for entry in Algorithm::ALL.iter().filter(|entry| PROVIDES.contains((entry.default)().needs())) {
            let controller = Endpoint::named(entry.name).unwrap().make(peer("192.0.2.7:1"), 1200);
            assert!(controller.congestion_window() > 1200, "{}", entry.name);
            assert!(controller.with_flow(|_| ()).is_none());
        }
        let controller = Endpoint::new(Static::<WindowController<reno::Reno>>(reno::Params::default()))
            .unwrap()
            .make(peer("[::1]:1"), 1400);
        assert_eq!(controller.congestion_window(), 14_000);
    }

    #[test]
    fn rules_of_a_file_choose_by_address() {
        let text = "controller = \"reno:iw=20\"\n[[rule]]\nto = \"192.0.2.0/24\"\ncontroller = \"reno:iw=4\"";
        let mut endpoint = Endpoint::from_config(&Config::parse("cc.toml", text).unwrap()).unwrap();
        let mut window = |address| endpoint.make(peer(address), 1200).congestion_window() / 1200;
        assert_eq!(
            (window("192.0.2.7:443"), window("[::ffff:192.0.2.7]:443"), window("[2001:db8::1]:443")),
            (4, 4, 20)
        );
    }

    #[test]
    fn hystart_compares_eights_unless_its_text_says_otherwise() {
        let chosen = |endpoint: Endpoint| endpoint.builder.choose(&peer("192.0.2.7:1").into());
        for (asked, text) in [
            ("cubic", "cubic:hystart_samples=eights"),
            ("cubic:iw=20", "cubic:iw=20,hystart_samples=eights"),
            ("reno:slow_start=hystart++", "reno:slow_start=hystart++,hystart_samples=eights"),
            ("cubic:hystart_samples=round", "cubic:hystart_samples=round"),
            ("cubic:slow_start=search", "cubic:slow_start=search"),
            ("reno", "reno"),
            ("bbr", "bbr"),
        ] {
            let config = Config::parse("cc.toml", &format!("controller = \"{asked}\"")).unwrap();
            for endpoint in [Endpoint::named(asked).unwrap(), Endpoint::from_config(&config).unwrap()] {
                let choice = chosen(endpoint);
                assert_eq!(&*choice.text, text);
                assert_eq!(choice.controller, NamedController::read(text).unwrap());
            }
        }
    }

    #[test]
    fn a_file_with_what_s2n_quic_cannot_do_says_where() {
        let refused = |text| Endpoint::from_config(&Config::parse("cc.toml", text).unwrap()).unwrap_err().to_string();
        let error = refused("controller = \"nf-tcp\"");
        assert!(
            error.starts_with("cc.toml:1:14: nf-tcp needs") && error.contains("s2n-quic does not report"),
            "{error}"
        );
        let error = refused("controller = \"reno\"\n[[rule]]\nto = \"example.org\"\ncontroller = \"reno\"");
        assert!(error.starts_with("cc.toml:3:6: to is \"example.org\"; s2n-quic tells"), "{error}");
    }
}
