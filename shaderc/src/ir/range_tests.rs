//! What is known of a word holds in each run: of what it is computed from, and of what branches have tested.

use super::*;
use crate::interp::eval::eval;
use crate::ir::parse::parse;
use crate::ir::Builder;
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
    let bound =
        |(block, offset)| Tested::at(&function, &cfg, block).upper_bound(&function, offset);
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

/// A value with the bits that it has in one run.
type Known = (Value, u64);

const COMPARISONS: [Alu; 6] = [
    Alu::ULt,
    Alu::UGe,
    Alu::SLt,
    Alu::SGe,
    Alu::IEq,
    Alu::INe,
];

/// A path through branches that the run takes, behind random expressions.
struct Path<'f> {
    builder: Builder<'f>,
    /// The words that may be compared.
    words: Vec<Known>,
}

impl Path<'_> {
    /// A number with few bits of a random one, which loses them.
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

    /// Compares a word with a constant that is near it, or with another word.
    fn compare(&mut self, choice: &mut u64) -> Known {
        let word = self.words[Path::below(choice, self.words.len())];
        let other = match Path::below(choice, 4) {
            0 => self.words[Path::below(choice, self.words.len())],
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

    /// A comparison, or two of them in one condition.
    fn condition(&mut self, choice: &mut u64) -> Known {
        let first = self.compare(choice);
        match Path::below(choice, 6) {
            0 => self.alu(Alu::BNot, &[first]),
            form @ 1..=3 => {
                let second = self.compare(choice);
                match form {
                    1 => self.alu(Alu::BAnd, &[first, second]),
                    2 => self.alu(Alu::BOr, &[first, second]),
                    // As flattened branches have it.
                    _ => self.alu(Alu::Select, &[first, first, second]),
                }
            }
            _ => first,
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

    /// Computes what offsets are made of: a sum, its low bits, a product.
    fn compute(&mut self, choice: &mut u64) {
        let word = self.words[Path::below(choice, self.words.len())];
        let few = (Path::below(choice, 9) as u32).wrapping_sub(4);
        let few = self.constant(few);
        let by = Path::below(choice, 5) as u32;
        let power = self.constant(1 << by);
        let low = self.constant((1 << by) - 1);
        let by = self.constant(by);
        let sum = self.alu(Alu::IAdd, &[word, few]);
        let shifted = self.alu(Alu::IShl, &[sum, by]);
        let product = self.alu(Alu::IMul, &[word, by]);
        let behind = self.alu(Alu::IAdd, &[product, few]);
        let masked = self.alu(Alu::IAnd, &[word, low]);
        let rest = self.alu(Alu::UMod, &[word, power]);
        self.words
            .extend([sum, shifted, product, behind, masked, rest]);
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
    #![proptest_config(ProptestConfig::with_cases(if eitri_testdata::long() { 20_000 } else { 500 }))]

    /// Behind branches on comparisons, and of what is computed there.
    #[test]
    fn no_value_is_outside_of_what_branches_have_shown(
        made in expressions(), choices in prop::collection::vec(any::<u64>(), 1..6)
    ) {
        let mut function = made.function;
        let mut words = made.values;
        words.retain(|(value, _)| function.ty(*value) == Type::W32);
        let entry = function.entry();
        let mut path = Path { builder: Builder::new(&mut function, entry), words };
        for mut choice in choices {
            path.compute(&mut choice);
            let condition = path.condition(&mut choice);
            path.branch(condition, &mut choice);
        }
        let (block, words) = (path.builder.block, path.words);
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
