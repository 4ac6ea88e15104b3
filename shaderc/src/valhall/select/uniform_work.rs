//! Uniform work: what is computed of push constants and of sizes of buffers alone is the same for a whole dispatch. It becomes
//! a uniform word that whoever records the dispatch works out once, in place of instructions in every warp.
//!
//! Needs: uniform words are numbered.  Guarantees: a word is what its instructions would make; there are as many steps at
//! most as a program may have. Only integers: floats would have to be rounded as this hardware does.
//! Facts: hardware/compiler-optimization.md 1.8 and 2 (14).

use eitri_program::{FauOp, FauOperand, MAX_FAU_STEPS};

use super::Selector;
use crate::ir::{self, Alu, Type, Value};
use crate::valhall::encode::fau_word;
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
        let mut left = MAX_FAU_STEPS;
        // What a value is made of stands before it.
        for (_, inst) in self.ir.placed_insts() {
            let data = self.ir.inst(inst);
            let (ir::Op::Alu(alu), &[result]) = (data.op, data.results.as_slice()) else {
                continue;
            };
            let Some(work) = self.work(alu, &data.args) else {
                continue;
            };
            let fits = work.steps.len() <= left && self.function.extra.fau.len() < most_words;
            if fits && self.ir.ty(result) == Type::W32 {
                left -= work.steps.len();
                let number = self.function.extra.work.len();
                self.function.extra.work.push(work);
                self.number_uniform(result, FauWord::Worked(number));
                self.done[result.index()] = true;
            }
        }
    }

    /// What an operation on known words comes to.
    fn work(&self, alu: Alu, args: &[Value]) -> Option<UniformWork> {
        let (op, swaps) = step(alu)?;
        let &[a, b] = args else {
            return None;
        };
        let then = |first: Value, second: Value| {
            let operand = self.step_operand(second)?;
            let mut work = self.beginning(first)?;
            work.steps.push((op, operand));
            Some(work)
        };
        let swapped = || swaps.then(|| then(b, a)).flatten();
        then(a, b).or_else(swapped)
    }

    /// What steps can begin with.
    fn beginning(&self, value: Value) -> Option<UniformWork> {
        match self.known_word(value)? {
            FauWord::Worked(number) => self.function.extra.work.get(number).cloned(),
            word => fau_word(word).takes_steps().then(|| UniformWork::of(word)),
        }
    }

    /// What a step can be done with.
    fn step_operand(&self, value: Value) -> Option<FauOperand> {
        match self.known_word(value)? {
            FauWord::Constant(bits) => Some(FauOperand::Constant(bits)),
            FauWord::PushConstant(offset) => Some(FauOperand::PushConstant(offset)),
            _ => None,
        }
    }

    /// The constant or the uniform word that a value is.
    fn known_word(&self, value: Value) -> Option<FauWord> {
        let constant = self.ir.as_word(value).map(FauWord::Constant);
        constant.or_else(|| Some(self.function.extra.fau[*self.uniforms.get(&value)?]))
    }
}
