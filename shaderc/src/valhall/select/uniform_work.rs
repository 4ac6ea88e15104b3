//! Uniform work: what is computed of push constants and of sizes of buffers alone is the same for a whole dispatch. It becomes
//! a uniform word that whoever records the dispatch works out once, in place of instructions in every warp.
//!
//! Needs: uniform words are numbered.  Guarantees: a word is what its instructions would make; there are as many steps at
//! most as a program may have. Only integers: floats would have to be rounded as this hardware does.
//! Facts: hardware/compiler-optimization.md 1.8 and 2 (14).

use eitri_program::{FauOp, FauOperand, MAX_FAU_STEPS};
use rustc_hash::FxHashMap as HashMap;

use super::Selector;
use crate::ir::{self, Alu, Type, Value};
use crate::valhall::mir::{FauWord, UniformWork};

/// The step that does an operation, and whether its operands may change places.
fn step(alu: Alu) -> Option<(FauOp, bool)> {
    #[rustfmt::skip]
    let step = match alu {
        Alu::IAdd => (FauOp::Add, true),
        Alu::ISub => (FauOp::Subtract, false),
        Alu::IMul => (FauOp::Multiply, true),
        Alu::IAnd => (FauOp::And, true),
        Alu::IOr  => (FauOp::Or, true),
        Alu::IXor => (FauOp::Xor, true),
        Alu::IShl => (FauOp::ShiftLeft, false),
        Alu::UShr => (FauOp::ShiftRight, false),
        Alu::SShr => (FauOp::ShiftRightSigned, false),
        Alu::UMin => (FauOp::Min, true),
        Alu::UMax => (FauOp::Max, true),
        Alu::SMin => (FauOp::MinSigned, true),
        Alu::SMax => (FauOp::MaxSigned, true),
        _ => return None,
    };
    Some(step)
}

impl Selector<'_> {
    /// Numbers what can be worked out, as far as there is room.
    pub(super) fn number_work(&mut self, most_words: usize) {
        if self.uniforms.is_empty() {
            return;
        }
        let mut known: HashMap<Value, UniformWork> = HashMap::default();
        let mut left = MAX_FAU_STEPS;
        // What a value is made of stands before it.
        for (_, inst) in self.ir.placed_insts() {
            let data = self.ir.inst(inst);
            let (ir::Op::Alu(alu), &[result]) = (data.op, data.results.as_slice()) else {
                continue;
            };
            let Some(work) = self.work(alu, &data.args, &known) else {
                continue;
            };
            let fits = work.steps.len() <= left && self.function.extra.fau.len() < most_words;
            if fits && self.ir.ty(result) == Type::W32 {
                left -= work.steps.len();
                let number = self.function.extra.work.len();
                self.function.extra.work.push(work.clone());
                self.number_uniform(result, FauWord::Worked(number));
                self.done[result.index()] = true;
                known.insert(result, work);
            }
        }
    }

    /// What an operation on known words comes to.
    fn work(
        &self,
        alu: Alu,
        args: &[Value],
        known: &HashMap<Value, UniformWork>,
    ) -> Option<UniformWork> {
        let (op, swaps) = step(alu)?;
        let &[a, b] = args else {
            return None;
        };
        let then = |first: Value, second: Value| {
            let operand = self.step_operand(second)?;
            let mut work = self.beginning(first, known)?;
            work.steps.push((op, operand));
            Some(work)
        };
        let swapped = || swaps.then(|| then(b, a)).flatten();
        then(a, b).or_else(swapped)
    }

    /// What steps can begin with.
    fn beginning(&self, value: Value, known: &HashMap<Value, UniformWork>) -> Option<UniformWork> {
        let word = match self.ir.as_word(value) {
            Some(bits) => FauWord::Constant(bits),
            None if known.contains_key(&value) => return known.get(&value).cloned(),
            None => self.function.extra.fau[*self.uniforms.get(&value)?],
        };
        let begins = matches!(
            word,
            FauWord::Constant(_)
                | FauWord::PushConstant(_)
                | FauWord::BufferBytes(_)
                | FauWord::TexelCount(_)
        );
        begins.then(|| UniformWork::of(word))
    }

    /// What a step can be done with.
    fn step_operand(&self, value: Value) -> Option<FauOperand> {
        if let Some(bits) = self.ir.as_word(value) {
            return Some(FauOperand::Constant(bits));
        }
        match self.function.extra.fau[*self.uniforms.get(&value)?] {
            FauWord::PushConstant(offset) => Some(FauOperand::PushConstant(offset)),
            _ => None,
        }
    }
}
