//! The two ends of a flow: s2n-quic's client, which sends, and its server.

use std::net::SocketAddr;
use std::time::Duration;

use s2n_quic::provider::congestion_controller::{Bbr, Cubic, Endpoint};
use s2n_quic::provider::event::Subscriber;
use s2n_quic::provider::io::testing::{Handle, Io};
use s2n_quic::provider::limits::Limits;
use s2n_quic::{Client, Server};
use windlass_adapter::Groups;
use windlass_controllers::Algorithm;
use windlass_s2n_quic::Qlog;

use super::clock::Clock;
use super::flow::Shared;
use super::native::Measured;
use super::random::Random;
use super::watch::{Listen, Watch};
use crate::net::Stream;
use crate::scenario::{Control, FlowSpec};
use crate::stacks::RunError;
use crate::stacks::driver::native::NoNative;
use crate::stacks::identity::Identity;

/// Bytes of IPv4 and UDP headers, which s2n-quic counts as part of a datagram's size.
const HEADERS: u16 = 28;

/// What controls a flow.
pub enum Choice {
    /// A controller of the catalogue.
    Ours(Box<windlass_s2n_quic::Endpoint>),
    /// s2n-quic's CUBIC.
    Cubic,
    /// s2n-quic's BBRv2.
    Bbr,
}

/// s2n-quic's own controllers: what a user types after `native:`.
pub const NATIVES: &[&str] = &["cubic", "bbr"];

impl Choice {
    /// What controls `spec`.
    ///
    /// # Errors
    /// s2n-quic has no such controller, or does not tell what it needs.
    pub fn of(spec: &FlowSpec) -> Result<Choice, RunError> {
        let flow = || spec.name.clone();
        match &spec.control {
            Control::Catalogue(_) => match windlass_s2n_quic::Endpoint::named(&spec.controller) {
                Ok(endpoint) => Ok(Choice::Ours(Box::new(endpoint))),
                Err(error) => Err(RunError::Controller { flow: flow(), error }),
            },
            Control::Native(name) => match name.as_str() {
                "cubic" => Ok(Choice::Cubic),
                "bbr" => Ok(Choice::Bbr),
                _ => {
                    let error = NoNative { stack: windlass_s2n_quic::STACK, name: name.clone(), known: NATIVES };
                    Err(RunError::NoNative { flow: flow(), error })
                }
            },
        }
    }
}

/// What the ends of all flows of a run share.
pub struct Setup<'a> {
    pub handle: &'a Handle,
    pub identity: &'a Identity,
    pub seed: u64,
    pub clock: Clock,
    pub groups: &'a Groups<Algorithm, String>,
}

type Error = Box<dyn std::error::Error>;

impl Setup<'_> {
    /// The end of `flow` that receives, and its address.
    ///
    /// # Errors
    /// s2n-quic's.
    pub fn receiver(&self, spec: &FlowSpec) -> Result<(Server, SocketAddr), Error> {
        let Identity { certificate, key } = self.identity;
        let server = Server::builder()
            .with_tls((&certificate[..], &key[..]))?
            .with_io(self.io(spec)?)?
            .with_random(self.random(spec, "receiver"))?
            .with_limits(limits(spec)?)?
            .start()?;
        let address = server.local_addr()?;
        Ok((server, address))
    }

    /// The end of `flow` that sends, and its address.
    ///
    /// # Errors
    /// s2n-quic's.
    pub fn sender(
        &self,
        spec: &FlowSpec,
        choice: Choice,
        flow: &Shared,
        log: Option<Qlog>,
    ) -> Result<(Client, SocketAddr), Error> {
        // A log that is never asked for costs nothing.
        let log = log.unwrap_or_else(|| Qlog::to(|_| None));
        let client = match choice {
            Choice::Ours(endpoint) => {
                let listen = flow.clone();
                let seed = Stream::new(self.seed, &format!("controller {}", spec.name)).integer();
                let mut endpoint = endpoint.seed(seed).record_with(move |_| Box::new(Listen(listen.clone())));
                if let Some(group) = spec.group.clone() {
                    endpoint = endpoint.group(self.groups, move |_| group.clone());
                }
                self.client(spec, endpoint.record_in(&log), (log, Watch(flow.clone())))
            }
            Choice::Cubic => self.native(spec, Cubic::default(), flow, log),
            Choice::Bbr => self.native(spec, Bbr::default(), flow, log),
        }?;
        let address = client.local_addr()?;
        Ok((client, address))
    }

    fn native<E: Endpoint>(&self, spec: &FlowSpec, inner: E, flow: &Shared, log: Qlog) -> Result<Client, Error> {
        let endpoint = Measured { inner, flow: flow.clone(), clock: self.clock };
        self.client(spec, endpoint, (log.controller(&spec.controller), Watch(flow.clone())))
    }

    fn client(&self, spec: &FlowSpec, endpoint: impl Endpoint, events: impl Subscriber) -> Result<Client, Error> {
        Ok(Client::builder()
            .with_tls(&self.identity.certificate[..])?
            .with_io(self.io(spec)?)?
            .with_congestion_controller(endpoint)?
            .with_event(events)?
            .with_random(self.random(spec, "sender"))?
            .with_limits(limits(spec)?)?
            .start()?)
    }

    /// A socket for datagrams of the flow's size, and larger ones if it may discover them.
    fn io(&self, spec: &FlowSpec) -> Result<Io, Error> {
        let size = |payload| u16::try_from(payload).unwrap_or(u16::MAX).saturating_add(HEADERS);
        let (first, largest) = (size(spec.packet_bytes), size(spec.discover_packet_bytes.unwrap_or(spec.packet_bytes)));
        let builder = self.handle.builder().with_max_mtu(largest).with_initial_mtu(first).with_base_mtu(first);
        Ok(builder.build()?)
    }

    fn random(&self, spec: &FlowSpec, part: &str) -> Random {
        Random(Stream::new(self.seed, &format!("s2n-quic {part} {}", spec.name)))
    }
}

/// Limits that never limit a flow; only to a peer that vanishes is a connection given up.
fn limits(spec: &FlowSpec) -> Result<Limits, Error> {
    const WINDOW: u64 = u32::MAX as u64;
    let idle = if spec.vanishes.is_some() { Duration::from_nanos(spec.idle_timeout.0) } else { Duration::ZERO };
    Ok(Limits::new()
        .with_data_window(WINDOW)?
        .with_unidirectional_data_window(WINDOW)?
        .with_max_send_buffer_size(u32::MAX)?
        .with_max_ack_delay(Duration::from_nanos(spec.ack.max_delay.0))?
        .with_max_idle_timeout(idle)?
        .with_max_handshake_duration(Duration::from_secs(3600))?)
}
