//! The factory of a stack's controllers, which differs from stack to stack by the traits
//! it and its controllers implement and by nothing else.

use std::sync::OnceLock;
use std::time::Instant;

use super::{Clock, Path};
use crate::FlowFactory;
use windlass_controllers::ConfiguredController;

/// The origin of time of a factory's flows: given, or when the first of them starts.
#[derive(Debug, Default)]
pub struct Origin(OnceLock<Instant>);

impl From<Instant> for Origin {
    fn from(origin: Instant) -> Origin {
        Origin(OnceLock::from(origin))
    }
}

impl Origin {
    /// A path of datagrams of `mtu` bytes that starts `now`, with a flow of `flows`.
    #[must_use]
    pub fn path<C: ConfiguredController>(&self, flows: &FlowFactory<C>, now: Instant, mtu: u16) -> Path<C> {
        let clock = Clock::new(*self.0.get_or_init(|| now), now);
        Path::new(flows.make(clock.latest(), u32::from(mtu)), clock, mtu)
    }
}

/// Defines `Factory` for the stack with this name that provides these signals. Its `make` returns the crate's `Controller`, made of a
/// [`Path`](crate::std_time::Path) by `Controller::new`, and which implements the
/// `ControllerFactory` of the stack's module `congestion`. `Factory::from_config` exists where the invoking crate has the feature `config`, which has to turn on that of
/// `windlass-adapter`.
#[macro_export]
macro_rules! factory {
    ($name:expr, $provides:expr, $congestion:path, $controller:ident) => {
        const STACK_OF_FACTORY: $crate::Stack = $crate::Stack { name: $name, provides: $provides };

        use $congestion as congestion;

        /// Makes a controller for every path of a transport configuration.
        ///
        /// The stack does not report to a factory whom a connection goes to. Connections that
        /// should form a group are built from one factory, or from several with the same
        /// [`group`](Factory::group).
        #[derive(Debug)]
        pub struct Factory<C: $crate::ConfiguredController = $crate::NamedController> {
            flows: $crate::FlowFactory<C>,
            origin: $crate::std_time::Origin,
        }

        impl Factory {
            /// A factory of the catalogue's controller `text`: a name, or
            /// `name:parameter=value,…`.
            ///
            /// # Errors
            /// The text cannot be read, or the controller needs a signal the stack does
            /// not report.
            pub fn named(text: &str) -> Result<Self, $crate::ChoiceError> {
                Ok(Self::of($crate::FlowFactory::named(text, &STACK_OF_FACTORY)?))
            }
        }

        #[cfg(feature = "config")]
        impl Factory {
            /// A factory of what `config` says for `peer`, with its groups and recordings.
            /// Make one for each peer; all share the groups of the file.
            ///
            /// # Errors
            /// A controller of the file needs a signal the stack does not report, or its
            /// recordings cannot be written.
            pub fn from_config<'a>(
                config: &$crate::config::Config,
                peer: impl Into<$crate::config::Peer<'a>>,
            ) -> Result<Self, $crate::config::ConfigError> {
                let flows = $crate::FlowFactory::from_config(config, &peer.into(), &STACK_OF_FACTORY)?;
                Ok(Self::of(flows).origin(config.origin()))
            }
        }

        impl<C: $crate::ConfiguredController> Factory<C> {
            /// A factory of `controller`: [`Static`](crate::Static) makes one of any controller.
            ///
            /// # Errors
            /// The controller needs a signal the stack does not report.
            pub fn new(controller: C) -> Result<Self, $crate::ChoiceError> {
                Ok(Self::of($crate::FlowFactory::new(controller, &STACK_OF_FACTORY)?))
            }

            fn of(flows: $crate::FlowFactory<C>) -> Self {
                Factory { flows, origin: Default::default() }
            }

            /// Puts every flow into the group of `key`: usually the peer's address without
            /// its port, with one factory per peer. Weights and other shared state can be
            /// changed at any time with [`Groups::with`](crate::Groups::with).
            ///
            /// Without this, the flows of a controller that needs groups form one group per
            /// factory.
            #[must_use]
            pub fn group<K>(self, groups: &$crate::Groups<C, K>, key: K) -> Self
            where
                K: ::core::hash::Hash + Eq + Clone + Send + Sync + 'static,
            {
                Factory { flows: self.flows.group(groups, key), ..self }
            }

            /// Gives every flow the recorder `make` returns for it. Together with the
            /// [`Path`]($crate::Path) the flow starts on, what it records is all a replay
            /// needs.
            #[must_use]
            pub fn record_with(
                self,
                make: impl Fn(&$crate::Path) -> Box<dyn $crate::Recorder> + Send + Sync + 'static,
            ) -> Self {
                Factory { flows: self.flows.record_with(make), ..self }
            }

            /// Has every flow resume what earlier ones observed of the path ([`SavedPaths`](crate::SavedPaths), RFC 9959),
            /// which is kept in `paths` under `key`: usually the peer's address without its port, with one factory per
            /// peer. Factories that share `paths` need the same [`origin`](Factory::origin).
            #[must_use]
            pub fn resume<K>(self, paths: &$crate::SavedPaths<K>, key: K) -> Self
            where
                K: ::core::hash::Hash + Eq + Clone + Send + Sync + 'static,
            {
                Factory { flows: self.flows.resume(paths, key), ..self }
            }

            /// Sets the origin of time. The default is the start of the first path;
            /// factories that share groups or logs need the same one.
            #[must_use]
            pub fn origin(self, origin: ::std::time::Instant) -> Self {
                Factory { origin: origin.into(), ..self }
            }

            /// Sets the seed of controllers that need randomness. The default differs from
            /// factory to factory.
            #[must_use]
            pub fn seed(self, seed: u64) -> Self {
                Factory { flows: self.flows.seed(seed), ..self }
            }

            /// The configured controller of every flow this factory makes.
            #[must_use]
            pub fn controller(&self) -> &C {
                self.flows.controller()
            }

            /// A controller for a path of datagrams of `mtu` bytes that starts `now`.
            #[must_use]
            pub fn make(&self, now: ::std::time::Instant, mtu: u16) -> $controller<C> {
                $controller::new(self.origin.path(&self.flows, now, mtu))
            }
        }

        impl<C: $crate::ConfiguredController> congestion::ControllerFactory for Factory<C> {
            fn build(
                self: ::std::sync::Arc<Self>,
                now: ::std::time::Instant,
                current_mtu: u16,
            ) -> Box<dyn congestion::Controller> {
                Box::new(self.make(now, current_mtu))
            }
        }
    };
}
