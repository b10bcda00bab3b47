//! Randomness: one stream per place that needs it, so that adding a flow or a link
//! changes no other's random numbers.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};

/// A stream of random numbers that depends on a run's seed and on a name, nothing else.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream called `name` of the run with `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Stream {
        let digest = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(name.as_bytes()).finalize();
        Stream(ChaCha8Rng::from_seed(digest.into()))
    }

    /// A uniformly distributed 64-bit integer.
    #[inline]
    pub fn integer(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Fills `bytes` with random ones.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    /// Leaves out `bytes` of a stream of which nothing was drawn, as many as [`fill`](Self::fill) takes for them in pieces of
    /// which each but the last is a multiple of four.
    pub fn skip(&mut self, bytes: u64) {
        self.0.set_word_pos(u128::from(bytes.div_ceil(4)));
    }

    /// A number uniform in `[0, 1)`.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability `p`; draws nothing if `p` is 0 or less.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        p > 0.0 && self.uniform() < p
    }

    /// An exponentially distributed number with that mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log(1.0 - self.uniform()) * mean
    }

    /// Poisson with mean `mean`, which takes so many steps.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        let mut count = 0;
        let mut at = self.exponential(1.0);
        while at < mean {
            count += 1;
            at += self.exponential(1.0);
        }
        count
    }

    /// Pareto with scale `scale` and shape `shape`: `scale / U^(1/shape)`
    /// (`spec: chan §8.5`).
    pub fn pareto(&mut self, scale: f64, shape: f64) -> f64 {
        scale / libm::pow(1.0 - self.uniform(), 1.0 / shape)
    }

    /// Pareto II with mean `mean` and shape `shape`: `mean·(shape − 1)·(U^(−1/shape) − 1)`
    /// (`spec: cho §14.3`).
    pub fn pareto_ii(&mut self, mean: f64, shape: f64) -> f64 {
        self.pareto(mean * (shape - 1.0), shape) - mean * (shape - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(draw: impl FnMut() -> f64) -> f64 {
        std::iter::repeat_with(draw).take(200_000).sum::<f64>() / 200_000.0
    }

    #[test]
    fn streams_depend_on_seed_and_name_only() {
        assert_eq!(Stream::new(1, "a").integer(), Stream::new(1, "a").integer());
        assert_ne!(Stream::new(1, "a").integer(), Stream::new(1, "b").integer());
        assert_ne!(Stream::new(1, "a").integer(), Stream::new(2, "a").integer());
    }

    #[test]
    fn distributions_have_their_means() {
        let mut stream = Stream::new(1, "means");
        assert!((mean(|| stream.uniform()) - 0.5).abs() < 0.003);
        assert!((mean(|| stream.exponential(3.0)) - 3.0).abs() < 0.03);
        // Mean of a Pareto: scale·shape/(shape − 1).
        assert!((mean(|| stream.pareto(2.0, 3.0)) - 3.0).abs() < 0.03);
        assert!((mean(|| stream.pareto_ii(2.0, 3.0)) - 2.0).abs() < 0.03);
        assert!((mean(|| f64::from(u8::from(stream.chance(0.2)))) - 0.2).abs() < 0.003);
        let mut square = 0.0;
        let poisson = mean(|| {
            let x = stream.poisson(7.5) as f64;
            square += x * x;
            x
        });
        // Mean and variance of a Poisson are one.
        assert!((poisson - 7.5).abs() < 0.03, "{poisson}");
        assert!((square / 200_000.0 - poisson * poisson - 7.5).abs() < 0.15);
    }
}
