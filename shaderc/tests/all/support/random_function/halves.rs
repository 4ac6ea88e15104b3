//! Floats of 16 bits. They are small whole numbers without a sign, so that every operation is exact and gives the same bits
//! wherever it is done.

use super::{Generator, Random};
use eitri_shaderc::ir::{Alu, Type, Value, Var};

/// Above it not all whole numbers are there.
const MOST: u32 = 2048;
/// The largest that a variable may hold.
const IN_VARIABLE: u32 = 15;

/// What there is, each with the largest that it may be.
pub(super) struct Halves {
    /// Numbers of its own, so that what other operations a seed has does not depend on these.
    random: Random,
    pub(super) values: Vec<(Value, u32)>,
    variable: Var,
}

impl Halves {
    /// With a variable of 16 bits that holds 0.
    pub(super) fn new(seed: u64, variable: Var) -> Halves {
        Halves {
            random: Random(!seed),
            values: Vec::new(),
            variable,
        }
    }
}

impl Generator<'_> {
    /// Often something with halves.
    pub(super) fn halves(&mut self) {
        if self.halves.random.below(2) > 0 {
            return;
        }
        match self.halves.random.below(6) {
            0 => {
                let zero = self.b.word(0);
                let value = self.b.load_var(self.halves.variable, zero);
                self.halves.values.push((value, IN_VARIABLE));
            }
            1 => {
                let small = self.halves.values.iter().rev();
                let small = small.copied().find(|&(_, most)| most <= IN_VARIABLE);
                if let Some((value, _)) = small {
                    let zero = self.b.word(0);
                    self.b.store_var(self.halves.variable, zero, value);
                }
            }
            _ => self.compute_half(),
        }
    }

    fn compute_half(&mut self) {
        let alus = [Alu::FAdd, Alu::FMul, Alu::FFma, Alu::FMin, Alu::FMax];
        let alu = self.halves.random.pick(&alus);
        let [(a, most_a), (b, most_b), (c, most_c)] = [(); 3].map(|()| self.half());
        let (args, most) = match alu {
            Alu::FAdd => (vec![a, b], most_a + most_b),
            Alu::FMul => (vec![a, b], most_a * most_b),
            Alu::FFma => (vec![a, b, c], most_a * most_b + most_c),
            _ => (vec![a, b], most_a.max(most_b)),
        };
        if most <= MOST {
            let result = self.b.alu(alu, &args);
            self.halves.values.push((result, most));
        }
    }

    /// One that is there, or a new one.
    fn half(&mut self) -> (Value, u32) {
        let count = self.halves.values.len() as u32;
        // Results more often, which stand at the end.
        let number = self.halves.random.below(count + 1);
        let number = number.max(self.halves.random.below(count + 1));
        if let Some(&half) = self.halves.values.get(number as usize) {
            return half;
        }
        let count = self.words.len() as u32;
        let word = self.words[self.halves.random.below(count) as usize];
        let small = self.b.alu_word(Alu::IAnd, word, 7);
        let float = self.b.alu(Alu::U2F, &[small]);
        let half = self.b.alu(Alu::F2F16, &[float]);
        self.halves.values.push((half, 7));
        (half, 7)
    }

    /// A word in which the last ones are, two by two.
    pub(super) fn joined_halves(&mut self) -> Value {
        let values = self.halves.values.iter().rev().take(8);
        let values: Vec<Value> = values.map(|(value, _)| *value).collect();
        let mut all = self.b.word(0);
        for pair in values.chunks_exact(2) {
            let [low, high] = [0, 1].map(|place| self.b.alu(Alu::U2U32, &[pair[place]]));
            let high = self.b.alu_word(Alu::IShl, high, 16);
            let word = self.b.alu(Alu::IOr, &[low, high]);
            let rotated = self.b.alu_word(Alu::RotL, all, 3);
            all = self.b.alu(Alu::IXor, &[rotated, word]);
        }
        debug_assert_eq!(self.b.function.ty(all), Type::W32);
        all
    }
}
