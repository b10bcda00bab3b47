//! One configuration file for all adapters: which controller for which peer, with which
//! parameters, grouped how, recorded where. `docs/config.md` describes it.
//!
//! ```
//! use windlass_adapter::config::{Config, Peer};
//!
//! let text = r#"
//!     controller = "cubic"
//!     [[rule]]
//!     to = "192.0.2.0/24"
//!     controller = "tcp-k"
//!     parameters = { k = 8 }
//! "#;
//! let config = Config::parse("cc.toml", text)?;
//! assert_eq!(config.choose(&Peer::from(([192, 0, 2, 7], 443))).text, "tcp-k:k=8");
//! assert_eq!(config.choose(&Peer::from(([198, 51, 100, 7], 443))).text, "cubic");
//! # Ok::<(), windlass_adapter::config::ConfigError>(())
//! ```

use std::net::{IpAddr, SocketAddr};
use std::path;
use std::sync::Arc;
use std::time::Instant;

use windlass_controllers::{Path, Signals};

use crate::{ChoiceError, Flow, Groups, NamedController, Recorder, SavedPaths, require};

mod destination;
mod file;
mod problem;
mod recording;
#[cfg(unix)]
mod settings;

pub use crate::choice::Peer;
pub use problem::{ConfigError, Problem};
pub use recording::Recording;
#[cfg(unix)]
pub use settings::{Settings, SettingsFile};

use destination::{Destination, network};
use problem::Place;

/// A controller a file chose.
#[derive(Clone, PartialEq, Debug)]
pub struct Chosen {
    /// The controller with its parameters.
    pub algorithm: NamedController,
    /// The same as a user types it.
    pub text: String,
    place: Place,
}

#[derive(Debug)]
struct Rule {
    to: Vec<Destination>,
    place: Place,
    chosen: Chosen,
}

/// Flows whose peers share a prefix and whose controllers are the same are one group.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GroupKey {
    /// The peers' addresses, what is beyond the prefix set to zero.
    pub network: IpAddr,
    /// The controller as a user types it.
    pub controller: String,
}

/// What is observed of paths to peers of one prefix, by one stack, is kept together.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PathKey {
    /// The peers' addresses, what is beyond the prefix set to zero.
    pub network: IpAddr,
    /// The stack: others count time from another origin.
    pub stack: &'static str,
}

/// Where what flows observe is kept, and which peers have it together.
#[derive(Debug)]
struct Resume {
    paths: SavedPaths<PathKey>,
    /// Lengths of the IPv4 and IPv6 prefixes.
    prefixes: (u8, u8),
}

#[derive(Debug)]
struct Contents {
    name: String,
    otherwise: Chosen,
    rules: Vec<Rule>,
    /// Lengths of the IPv4 and IPv6 prefixes peers of one group share.
    group_prefixes: (u8, u8),
    recording: Option<Recording>,
    resume: Option<Resume>,
    groups: Groups<NamedController, GroupKey>,
    origin: Instant,
}

/// A configuration file. Clones share groups and recording.
#[derive(Clone, Debug)]
pub struct Config(Arc<Contents>);

impl Config {
    /// Reads a file. A relative directory for recordings is relative to the file's.
    ///
    /// # Errors
    /// The file cannot be read, or has a mistake.
    pub fn read(path: impl AsRef<path::Path>) -> Result<Config, ConfigError> {
        let path = path.as_ref();
        let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Self::parse_at(path, &text)
    }

    /// Reads `text`, which is the file at `path` or what a stack leaves of it for this crate.
    /// A relative directory for recordings is relative to the file's.
    ///
    /// # Errors
    /// The text has a mistake.
    pub fn parse_at(path: impl AsRef<path::Path>, text: &str) -> Result<Config, ConfigError> {
        let path = path.as_ref();
        file::read(&path.display().to_string(), path.parent(), text)
    }

    /// Reads the text of a file called `name`.
    ///
    /// # Errors
    /// The file has a mistake.
    pub fn parse(name: &str, text: &str) -> Result<Config, ConfigError> {
        file::read(name, None, text)
    }

    /// The controller for `peer`: that of the first rule that covers it, or the file's.
    #[must_use]
    pub fn choose(&self, peer: &Peer<'_>) -> &Chosen {
        let covers = |rule: &&Rule| rule.to.iter().any(|to| to.covers(peer));
        self.0.rules.iter().find(covers).map_or(&self.0.otherwise, |rule| &rule.chosen)
    }

    /// Checks that `stack`, which reports `provides`, can run every controller of the file.
    ///
    /// # Errors
    /// A controller needs another signal.
    pub fn check(&self, stack: &'static str, provides: Signals) -> Result<(), ConfigError> {
        self.check_advised(stack, provides, |error| error)
    }

    /// As [`Config::check`]. `advised` adds to an error what a program can do ([`ChoiceError::advised`]).
    ///
    /// # Errors
    /// A controller needs another signal.
    pub fn check_advised(
        &self,
        stack: &'static str,
        provides: Signals,
        advised: impl Fn(ChoiceError) -> ChoiceError,
    ) -> Result<(), ConfigError> {
        ConfigError::unless_empty(self.missing(stack, provides, &advised).collect())
    }

    /// As [`Config::check`] for a `stack` that reports addresses only: no rule may go by the peer's name either. `advised`
    /// adds to an error what a program can do ([`ChoiceError::advised`]).
    ///
    /// # Errors
    /// A controller needs another signal, or a rule goes by a name: all such mistakes, in the file's order.
    pub fn check_with_addresses(
        &self,
        stack: &'static str,
        provides: Signals,
        advised: impl Fn(ChoiceError) -> ChoiceError,
    ) -> Result<(), ConfigError> {
        let mut problems: Vec<Problem> = self.names(stack).chain(self.missing(stack, provides, &advised)).collect();
        problems.sort_by_key(|problem| (problem.line, problem.column));
        ConfigError::unless_empty(problems)
    }

    /// Controllers of the file that need a signal `stack` does not report.
    fn missing(
        &self,
        stack: &'static str,
        provides: Signals,
        advised: &dyn Fn(ChoiceError) -> ChoiceError,
    ) -> impl Iterator<Item = Problem> {
        let chosen = std::iter::once(&self.0.otherwise).chain(self.0.rules.iter().map(|rule| &rule.chosen));
        chosen.filter_map(move |chosen| {
            let error = require(&chosen.algorithm, &chosen.text, stack, provides).err()?;
            Some(self.problem(chosen.place, advised(error).to_string()))
        })
    }

    /// Rules that go by the peer's name.
    fn names(&self, stack: &str) -> impl Iterator<Item = Problem> {
        self.0.rules.iter().flat_map(move |rule| {
            rule.to.iter().filter_map(move |to| {
                let name = to.name()?;
                let message = format!(
                    "to is {name:?}; {stack} tells a congestion controller only the address of its peer; \
                     expected an address or a prefix, such as \"192.0.2.0/24\""
                );
                Some(self.problem(rule.place, message))
            })
        })
    }

    fn problem(&self, place: Place, message: String) -> Problem {
        Problem { file: self.0.name.clone(), line: place.line, column: place.column, message }
    }

    /// The group a flow of `controller` to `peer` belongs to.
    #[must_use]
    pub fn group_key(&self, controller: &NamedController, peer: IpAddr) -> GroupKey {
        let (v4, v6) = self.0.group_prefixes;
        GroupKey { network: network(peer, v4, v6), controller: controller.to_string() }
    }

    /// The groups of all flows this file governs, whatever the stack.
    #[must_use]
    pub fn groups(&self) -> &Groups<NamedController, GroupKey> {
        &self.0.groups
    }

    /// A flow of `controller` on `path` to `peer`, in its group if it needs one.
    #[must_use]
    pub fn join(
        &self,
        controller: &NamedController,
        path: &Path,
        peer: SocketAddr,
        recorder: Option<Box<dyn Recorder>>,
    ) -> Flow {
        if controller.needs().contains(Signals::GROUPS) {
            let key = self.group_key(controller, peer.ip().to_canonical());
            return Flow::grouped_with(*controller, path, self.groups(), key, recorder);
        }
        Flow::ungrouped_with(*controller, path, recorder)
    }

    /// The `[recording]` section; `None` if the file has none.
    #[must_use]
    pub fn recording(&self) -> Option<&Recording> {
        self.0.recording.as_ref()
    }

    /// What flows observed of their paths; `None` if the file has no `[resume]` section.
    #[must_use]
    pub fn saved_paths(&self) -> Option<&SavedPaths<PathKey>> {
        self.0.resume.as_ref().map(|resume| &resume.paths)
    }

    /// The key under which `stack` keeps what it observes of a path to `peer`.
    #[must_use]
    pub fn path_key(&self, stack: &'static str, peer: IpAddr) -> PathKey {
        let (v4, v6) = self.0.resume.as_ref().map_or((32, 128), |resume| resume.prefixes);
        PathKey { network: network(peer, v4, v6), stack }
    }

    /// When the file was read: the origin of time for stacks that report instants, since
    /// flows of one group need the same.
    #[must_use]
    pub fn origin(&self) -> Instant {
        self.0.origin
    }
}

#[cfg(test)]
mod tests;
