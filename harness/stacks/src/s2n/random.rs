//! Randomness of an endpoint that repeats.

use std::convert::Infallible;

use s2n_quic::provider::random::{Generator, Provider};

use windlass_network::Stream;

/// s2n-quic's random numbers from a stream of the run.
pub struct Random(pub Stream);

impl Generator for Random {
    fn public_random_fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }

    fn private_random_fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }
}

impl Provider for Random {
    type Generator = Self;
    type Error = Infallible;

    fn start(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}
