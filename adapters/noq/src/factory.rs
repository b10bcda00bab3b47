//! Making controllers for a transport configuration.

use crate::{Controller, PROVIDES, STACK};

windlass_adapter::factory!(STACK, PROVIDES, noq_proto::congestion, Controller);

#[cfg(test)]
mod tests;
