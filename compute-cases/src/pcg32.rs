//! The generator of inputs: PCG XSH-RR, 64 bits of state, 32 of output (shared/kernels/README.md, "The generator").

/// The generator after its seeding.
pub(crate) struct Pcg32 {
    state: u64,
}

const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
/// Of stream 54.
const INCREMENT: u64 = 54 << 1 | 1;

impl Pcg32 {
    pub(crate) fn new(seed: u64) -> Pcg32 {
        let mut generator = Pcg32 { state: 0 };
        generator.step();
        generator.state = generator.state.wrapping_add(seed);
        generator.step();
        generator
    }

    /// The next output.
    pub(crate) fn step(&mut self) -> u32 {
        let old = self.state;
        self.state = old.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        let mixed = (((old >> 18) ^ old) >> 27) as u32;
        mixed.rotate_right((old >> 59) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_are_those_of_the_format() {
        let mut generator = Pcg32::new(1);
        let first: Vec<u32> = (0..6).map(|_| generator.step()).collect();
        let wanted = [
            0x9b6b_dda9,
            0x0c31_fc48,
            0xce97_f8ef,
            0x822c_03d4,
            0x943e_8cf2,
            0x1b75_dde3,
        ];
        assert_eq!(first, wanted);
    }
}
