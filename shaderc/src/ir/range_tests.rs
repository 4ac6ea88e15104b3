//! What is known of a word holds in each run: of what it is computed from, and of what branches have tested.

use super::*;
use crate::interp::eval::eval;
use crate::ir::Builder;
use crate::ir::parse::parse;
use crate::ir::random_expression::expressions;
use proptest::prelude::*;

/// The bounds of the stores' offsets, in the order of the code.
fn bounds_of_offsets(text: &str) -> Vec<u32> {
    let function = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let cfg = Cfg::new(&function);
    let stores = function.placed_insts().filter_map(|(block, inst)| {
        let data = function.inst(inst);
        matches!(data.op, Op::Store(_)).then_some((block, data.args[1]))
    });
    let bound = |(block, offset)| Tested::at(&function, &cfg, block).upper_bound(&function, offset);
    stores.map(bound).collect()
}

#[test]
fn branches_bound_signed_words_and_their_sums() {
    let text = "
function main
workgroup 16 1 1
binding 0 0 storage written
b0:
  %x = load.buffer @0.0, 0
  %y = load.buffer @0.0, 4
  %negative = slt %x, 0
  %large = slt 7, %x
  %outside = bor %negative, %large
  branch %outside, b2, b1
b1:
  %row = ishl %x, 5
  store.buffer @0.0, %row, 1
  %wild = ishl %y, 5
  store.buffer @0.0, %wild, 1
  jump b2
b2:
  %next = iadd %y, 1
  %inside = ult %next, 8
  branch %inside, b3, b4
b3:
  %z = ishl %y, 2
  store.buffer @0.0, %z, 1
  %from = iadd %z, 4
  store.buffer @0.0, %from, 1
  %back = iadd %z, 0xffffffff
  store.buffer @0.0, %back, 1
  jump b4
b4:
  %atleast = sge %x, 0
  branch %atleast, b5, b6
b5:
  %far = iadd %x, 1
  store.buffer @0.0, %far, 1
  %half = ushr %x, 1
  store.buffer @0.0, %half, 1
  jump b6
b6:
  return
";
    let whole = u32::MAX;
    // x in 0..=7; nothing of y. y in -1..=6: its own offset may be negative, that behind it is not. x from 0 on: x + 1
    // may leave the signed words.
    assert_eq!(
        bounds_of_offsets(text),
        [7 * 32, whole, whole, 28, whole, whole, whole / 2]
    );
}

#[test]
fn sums_that_may_leave_their_word_are_not_bounded() {
    let text = "
function main
workgroup 16 1 1
binding 0 0 storage written
b0:
  %x = load.buffer @0.0, 0
  %y = load.buffer @0.0, 4
  %less = iadd %x, -4
  %large = slt 10, %less
  branch %large, b1, b2
b1:
  store.buffer @0.0, %less, 1
  store.buffer @0.0, %x, 1
  jump b2
b2:
  %sum = iadd %x, %y
  %nonnegative = sge %x, 0
  %positive = slt 0, %y
  %small = slt %sum, 100
  %both = band %nonnegative, %positive
  %all = band %both, %small
  branch %all, b3, b4
b3:
  store.buffer @0.0, %x, 1
  store.buffer @0.0, %sum, 1
  jump b4
b4:
  %four = uge %x, 4
  %few = ult %x, 20
  %from4 = band %four, %few
  branch %from4, b5, b6
b5:
  %less4 = iadd %x, -4
  store.buffer @0.0, %less4, 1
  %less5 = iadd %x, -5
  store.buffer @0.0, %less5, 1
  jump b6
b6:
  return
";
    let (whole, half) = (u32::MAX, u32::MAX / 2);
    // x - 4 is above 10, but x may be the least of all signed words. Neither x nor y is negative, but their sum may be. x is 4
    // to 19, and x - 5 may be negative.
    assert_eq!(
        bounds_of_offsets(text),
        [half, whole, half, whole, 15, whole]
    );
}

/// By each operation that leaves the low bits of a word: which of the word's bits are clear where what is left is less than 4.
#[test]
fn bits_are_clear_in_a_word_whose_low_part_is_small() {
    let clear = |low: &str| {
        let text = format!(
            "
function main
workgroup 16 1 1
binding 0 0 storage written
b0:
  %x = load.buffer @0.0, 0
  %low = {low}
  %small = ult %low, 4
  branch %small, b1, b2
b1:
  store.buffer @0.0, 0, %x
  jump b2
b2:
  return
"
        );
        let function = parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let stored = function.placed_insts().find_map(|(block, inst)| {
            let data = function.inst(inst);
            matches!(data.op, Op::Store(_)).then(|| (block, data.args[2]))
        });
        let (block, word) = stored.expect("there is a store");
        let tested = Tested::at(&function, &Cfg::new(&function), block);
        let bits = (0..32).filter(|bit| tested.is_clear(&function, word, 1 << bit));
        bits.collect::<Vec<u32>>()
    };
    assert_eq!(clear("iand %x, 15"), [2, 3]);
    assert_eq!(clear("umod %x, 16"), [2, 3]);
    // What is left of a division by another number is no low part.
    assert!(clear("umod %x, 12").is_empty());
}

/// A value with the bits that it has in one run.
type Known = (Value, u64);

const COMPARISONS: [Alu; 6] = [Alu::ULt, Alu::UGe, Alu::SLt, Alu::SGe, Alu::IEq, Alu::INe];

/// A path through branches that the run takes, behind random expressions.
struct Path<'f> {
    builder: Builder<'f>,
    /// Words of the random expressions.
    words: Vec<Known>,
    /// Words that have been compared, and what was computed of some of them.
    compared: Vec<Known>,
}

impl Path<'_> {
    /// Takes a number that is less than the limit out of a random one.
    fn below(choice: &mut u64, limit: usize) -> usize {
        let chosen = *choice % limit as u64;
        *choice /= limit as u64;
        chosen as usize
    }

    fn alu(&mut self, alu: Alu, args: &[Known]) -> Known {
        let values: Vec<Value> = args.iter().map(|(value, _)| *value).collect();
        let mut bits = [0; 4];
        for (bits, (_, own)) in bits.iter_mut().zip(args) {
            *bits = *own;
        }
        let result = self.builder.alu(alu, &values);
        let function = &self.builder.function;
        let width = function.def_inst(result).map(|data| function.width(data));
        (result, eval(alu, width.unwrap_or(Type::W32), bits))
    }

    fn constant(&mut self, word: u32) -> Known {
        (self.builder.word(word), word.into())
    }

    /// A word: often one of which something may be known.
    fn word(&self, choice: &mut u64) -> Known {
        match (Path::below(choice, 3), self.compared.as_slice()) {
            (0, _) | (_, []) => self.words[Path::below(choice, self.words.len())],
            (_, compared) => compared[Path::below(choice, compared.len())],
        }
    }

    /// Compares a word with a constant that is near it, or with another word.
    fn compare(&mut self, choice: &mut u64) -> Known {
        let word = self.word(choice);
        self.compared.push(word);
        let other = match Path::below(choice, 4) {
            0 => self.word(choice),
            _ => {
                let apart = Path::below(choice, 5) as u32;
                self.constant((word.1 as u32).wrapping_add(apart).wrapping_sub(2))
            }
        };
        let alu = COMPARISONS[Path::below(choice, COMPARISONS.len())];
        match Path::below(choice, 3) {
            0 => self.alu(alu, &[other, word]),
            _ => self.alu(alu, &[word, other]),
        }
    }

    /// A condition of one to three comparisons.
    fn condition(&mut self, choice: &mut u64) -> Known {
        let first = self.compare(choice);
        let form = Path::below(choice, 8);
        if form < 3 {
            return first;
        }
        let second = self.compare(choice);
        match form {
            3 => self.alu(Alu::BNot, &[first]),
            4 => self.alu(Alu::BAnd, &[first, second]),
            5 => self.alu(Alu::BOr, &[first, second]),
            // As flattened branches have either of two.
            6 => self.alu(Alu::Select, &[first, first, second]),
            _ => {
                let third = self.compare(choice);
                self.alu(Alu::Select, &[first, second, third])
            }
        }
    }

    /// Branches, and goes on where the run does, or where both ways meet.
    fn branch(&mut self, (condition, holds): Known, choice: &mut u64) {
        let function = &mut self.builder.function;
        let [then, otherwise, join] = [(); 3].map(|()| function.new_block());
        let form = Path::below(choice, 6);
        // Some branches lead to one place in any case.
        let otherwise = if form == 0 { then } else { otherwise };
        self.builder.terminate(Terminator::Branch {
            condition,
            then,
            otherwise,
        });
        self.builder.block = if holds != 0 { then } else { otherwise };
        if form == 1 {
            for side in [then, otherwise] {
                self.builder.block = side;
                self.builder.terminate(Terminator::Jump(join));
            }
            self.builder.block = join;
        }
    }

    /// Computes what offsets are made of: a sum, a product, low bits.
    fn compute(&mut self, choice: &mut u64) {
        let word = self.word(choice);
        let few = Path::below(choice, 9) as u32;
        let [few, many, by, factor] =
            [few.wrapping_sub(4), 1 + few, few / 2, few << 28].map(|number| self.constant(number));
        let sum = self.alu(Alu::IAdd, &[word, few]);
        let shifted = self.alu(Alu::IShl, &[sum, by]);
        let product = self.alu(Alu::IMul, &[word, by]);
        let behind = self.alu(Alu::IAdd, &[product, few]);
        let wide = self.alu(Alu::IMul, &[word, factor]);
        let masked = self.alu(Alu::IAnd, &[word, many]);
        let rest = self.alu(Alu::UMod, &[word, many]);
        self.compared
            .extend([sum, shifted, product, behind, wide, masked, rest]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn no_value_is_above_its_bound(made in expressions()) {
        for (value, bits) in &made.values {
            if made.function.ty(*value) != Type::W32 {
                continue;
            }
            let bound = upper_bound(&made.function, *value);
            prop_assert!(
                *bits <= bound.into(),
                "{value} is {bits:#x}, which is above its bound {bound:#x}\n{}",
                made.function
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if eitri_testdata::long() { 20_000 } else { 600 }))]

    /// Behind branches on comparisons, and of what is computed there.
    #[test]
    fn no_value_is_outside_of_what_branches_have_shown(
        made in expressions(), choices in prop::collection::vec(any::<u64>(), 1..6)
    ) {
        let mut function = made.function;
        let of_type = |wanted: &[Type]| -> Vec<Known> {
            let values = made.values.iter();
            values.filter(|(value, _)| wanted.contains(&function.ty(*value))).copied().collect()
        };
        let (words, narrow) = (of_type(&[Type::W32]), of_type(&[Type::W8, Type::W16]));
        let entry = function.entry();
        let builder = Builder::new(&mut function, entry);
        let mut path = Path { builder, words, compared: vec![] };
        for mut choice in choices {
            let condition = path.condition(&mut choice);
            path.branch(condition, &mut choice);
            path.compute(&mut choice);
        }
        let (block, words) = (path.builder.block, [path.words, path.compared, narrow].concat());
        let tested = Tested::at(&function, &Cfg::new(&function), block);
        for (value, bits) in words {
            let bound = tested.upper_bound(&function, value);
            prop_assert!(
                bits <= bound.into(),
                "{value} is {bits:#x}, which is above its bound {bound:#x} in {block}\n{function}"
            );
            let wrong = (0..32).find(|bit| {
                bits & 1 << bit != 0 && tested.is_clear(&function, value, 1 << bit)
            });
            prop_assert!(
                wrong.is_none(),
                "{value} is {bits:#x}, in which bit {wrong:?} is said to be clear in {block}\n{function}"
            );
        }
    }
}
