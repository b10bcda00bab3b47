//! Randomness that is part of a state: equal seeds, equal runs.

/// The SplitMix64 generator (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator seeded with `seed`; every value will do.
    #[must_use]
    pub const fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `[0, 1)`, a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the published generator for the seed 1234567.
    #[test]
    fn gives_the_published_sequence() {
        let mut rng = SplitMix64::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(expected.map(|_| rng.bits()), expected);
    }

    #[test]
    fn uniform_fills_the_unit_interval() {
        let mut rng = SplitMix64::new(0);
        let mut sum = 0.0;
        let (mut low, mut high) = (1.0f64, 0.0f64);
        for _ in 0..10_000 {
            let u = rng.uniform();
            sum += u;
            low = low.min(u);
            high = high.max(u);
        }
        assert!((0.0..0.001).contains(&low) && (0.999..1.0).contains(&high), "{low} to {high}");
        assert!((sum / 10_000.0 - 0.5).abs() < 0.01);
    }
}
