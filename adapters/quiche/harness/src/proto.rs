//! What the sender of a flow connects with.

use crate::choice::Choice;

/// A configuration, and what controls the connection that is made with it.
pub struct ClientConfig {
    /// quiche's configuration, without a controller yet.
    pub config: quiche::Config,
    /// The controller.
    pub choice: Choice,
}
