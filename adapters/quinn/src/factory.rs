//! Making controllers for a transport configuration.

use crate::{Controller, PROVIDES, STACK};

windlass_adapter::factory!(STACK, PROVIDES, quinn_proto::congestion, Controller);

#[cfg(test)]
mod tests;
