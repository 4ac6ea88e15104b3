//! Control flow inside a function: phis, terminators, the order of blocks.
//!
//! Needs: a frame with a block for every label.  Guarantees: a phi has a source for every predecessor that can be
//! reached.  Facts: hardware/compiler-isel.md 15.1; hardware/compiler-correctness.md 5.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::rc::Rc;

use rspirv::spirv::Op;

use super::error::{Feature, Invalid};
use super::functions::{SpvBlock, SpvFunction};
use super::module::Module;
use super::reader::{Instr, Result};
use super::translate::{PendingPhi, Translator};
use super::types::Type;
use crate::ir::{self, BlockId, Merge, Terminator, Value};

impl Translator<'_> {
    pub(super) fn phi(&mut self, instr: &Instr) -> Result<()> {
        let ty = self.result_type(instr)?;
        if matches!(&*ty, Type::Pointer { .. }) && !ty.is_value() {
            return Err(instr.unsupported(Feature::Use, "OpPhi of such pointers"));
        }
        if !ty.is_value() {
            return Err(instr.invalid(Invalid::TypeMismatch));
        }
        let block = self.builder.block;
        if !self.builder.function.block(block).insts.is_empty() {
            return Err(instr.invalid(Invalid::Misplaced));
        }
        let types = ty.flatten();
        let results: Rc<[Value]> = types
            .into_iter()
            .map(|ty| self.builder.function.new_phi(block, ty))
            .collect();
        self.define(instr, results.clone())?;
        self.frame(instr)?.phis.push(PendingPhi {
            instr: instr.clone(),
            block,
            results,
        });
        Ok(())
    }

    pub(super) fn fill_phis(&mut self) -> Result<()> {
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        let end = self.builder.block;
        for phi in std::mem::take(&mut frame.phis) {
            for pair in phi.instr.operands.chunks(2) {
                let &[value, label] = pair else {
                    return Err(phi.instr.invalid(Invalid::MissingOperand));
                };
                let frame = self.frame(&phi.instr)?;
                if !frame.starts.contains_key(&label) {
                    return Err(phi.instr.invalid(Invalid::Wanted(label, "a block")));
                }
                // No end: the block is unreachable, so it isn't a predecessor.
                let Some(from) = frame.ends.get(&label).copied() else {
                    continue;
                };
                // A pointer becomes a value where it comes from.
                self.builder.block = from;
                let source = self.composite(&phi.instr, value)?;
                if source.scalars.len() != phi.results.len() {
                    return Err(phi.instr.invalid(Invalid::TypeMismatch));
                }
                let values: HashMap<Value, Value> = phi
                    .results
                    .iter()
                    .copied()
                    .zip(source.scalars.iter().copied())
                    .collect();
                for made in &mut self.builder.function.block_mut(phi.block).phis {
                    if let Some(value) = values.get(&made.result) {
                        made.sources.push((from, *value));
                    }
                }
            }
        }
        self.builder.block = end;
        Ok(())
    }

    fn label(&mut self, instr: &Instr, index: usize) -> Result<BlockId> {
        let label = instr.word(index)?;
        let start = self.frame(instr)?.starts.get(&label).copied();
        start.ok_or_else(|| instr.invalid(Invalid::Wanted(label, "a block of this function")))
    }

    /// Gives the headers of loops their merges.
    pub(super) fn merges(&mut self, blocks: &[&SpvBlock]) -> Result<()> {
        for block in blocks {
            let Some(instr) = block.instrs.iter().find(|instr| instr.op == Op::LoopMerge) else {
                continue;
            };
            let merge = self.label(instr, 0)?;
            let label = instr.word(0)?;
            let frame = self.frame(instr)?;
            let header = frame.starts.get(&block.label).copied();
            // A merge that nothing leads to: the loop is left by returning, which ends the call's construct too.
            let merge = match (frame.ends.contains_key(&label), frame.continuation) {
                (true, Some(continuation)) => Merge::InCall {
                    merge,
                    returned: Some(continuation),
                },
                (true, None) => Merge::At(merge),
                (false, Some(continuation)) => Merge::At(continuation),
                (false, None) => Merge::Nowhere,
            };
            if let Some(header) = header {
                self.builder.function.block_mut(header).merge = Some(merge);
            }
        }
        Ok(())
    }

    pub(super) fn terminator(&mut self, instr: &Instr) -> Result<()> {
        let terminator = match instr.op {
            Op::Branch => Terminator::Jump(self.label(instr, 0)?),
            Op::BranchConditional => {
                let condition = self.scalar(instr, 0, ir::Type::Bool)?;
                let (then, otherwise) = (self.label(instr, 1)?, self.label(instr, 2)?);
                if then == otherwise {
                    Terminator::Jump(then)
                } else {
                    Terminator::Branch {
                        condition,
                        then,
                        otherwise,
                    }
                }
            }
            Op::Switch => self.switch(instr)?,
            Op::Return | Op::ReturnValue => self.return_from(instr)?,
            Op::Kill | Op::TerminateInvocation => self.kill(instr)?,
            _ => Terminator::Unreachable,
        };
        self.builder.terminate(terminator);
        Ok(())
    }

    fn switch(&mut self, instr: &Instr) -> Result<Terminator> {
        let selector = self.operand(instr, 0)?;
        let (Type::Int { .. }, &[selector]) = (&*selector.ty, &*selector.scalars) else {
            return Err(instr.invalid(Invalid::TypeMismatch));
        };
        // A literal has as many words as the selector.
        let ty = self.builder.function.ty(selector);
        let words = ty.bits().div_ceil(32) as usize;
        let default = self.label(instr, 1)?;
        let mut cases = vec![];
        let mut seen = HashSet::default();
        for index in (2..instr.operands.len()).step_by(words + 1) {
            let mut value = u64::from(instr.word(index)?);
            if words == 2 {
                value |= u64::from(instr.word(index + 1)?) << 32;
            }
            let value = value & ty.mask();
            let target = self.label(instr, index + words)?;
            if !seen.insert(value) {
                return Err(instr.invalid(Invalid::Literal(value as u32)));
            }
            if target != default {
                cases.push((value, target));
            }
        }
        Ok(match cases.is_empty() {
            true => Terminator::Jump(default),
            false => Terminator::Switch {
                selector,
                cases,
                default,
            },
        })
    }

    fn return_from(&mut self, instr: &Instr) -> Result<Terminator> {
        let scalars: Rc<[Value]> = match instr.op {
            Op::ReturnValue => {
                let value = self.operand(instr, 0)?;
                if value.ty != self.frame(instr)?.result {
                    return Err(instr.invalid(Invalid::TypeMismatch));
                }
                value.scalars
            }
            _ => {
                if *self.frame(instr)?.result != Type::Void {
                    return Err(instr.invalid(Invalid::TypeMismatch));
                }
                Rc::from([])
            }
        };
        let block = self.builder.block;
        let frame = self.frame(instr)?;
        frame.returns.push((block, scalars));
        Ok(match frame.continuation {
            Some(continuation) => Terminator::Jump(continuation),
            None => Terminator::Return,
        })
    }
}

/// Labels that a block's terminator names.
fn targets(block: &SpvBlock, wide: &HashSet<u32>) -> Vec<u32> {
    let Some(last) = block.instrs.last() else {
        return vec![];
    };
    let labels: Vec<usize> = match last.op {
        Op::Branch => vec![0],
        Op::BranchConditional => vec![1, 2],
        Op::Switch => {
            let words = match last.operands.first() {
                Some(selector) if wide.contains(selector) => 2,
                _ => 1,
            };
            let cases = (2 + words..last.operands.len()).step_by(words + 1);
            std::iter::once(1).chain(cases).collect()
        }
        _ => vec![],
    };
    labels
        .into_iter()
        .filter_map(|index| last.operands.get(index).copied())
        .collect()
}

/// The selectors of 64 bits, whose literals take two words.
fn wide_selectors(module: &Module, function: &SpvFunction) -> HashSet<u32> {
    let instrs = || function.blocks.iter().flat_map(|block| &block.instrs);
    let switches = instrs().filter(|instr| instr.op == Op::Switch);
    let selectors: HashSet<u32> = switches
        .filter_map(|instr| instr.operands.first().copied())
        .collect();
    if selectors.is_empty() {
        return selectors;
    }
    let is_wide = |ty: &Type| matches!(ty, Type::Int { bits: 64, .. });
    let results = instrs().filter(|instr| {
        let ty = instr.result_type().and_then(|ty| module.ty(instr, ty));
        ty.is_ok_and(|ty| is_wide(&ty))
    });
    let parameters = function.parameters.iter().filter(|(_, ty)| is_wide(ty));
    let mut wide: HashSet<u32> = results.filter_map(|instr| instr.result).collect();
    wide.extend(parameters.map(|(id, _)| *id));
    let constants = selectors.iter().filter(|id| {
        let constant = module.find_constant(**id);
        constant.is_some_and(|constant| is_wide(&constant.ty))
    });
    wide.extend(constants);
    wide.intersection(&selectors).copied().collect()
}

/// The blocks that can be reached, each after those that dominate it.
pub(super) fn reverse_postorder<'f>(
    module: &Module,
    function: &'f SpvFunction,
) -> Result<Vec<&'f SpvBlock>> {
    let wide = wide_selectors(module, function);
    let by_label: HashMap<u32, &SpvBlock> = function
        .blocks
        .iter()
        .map(|block| (block.label, block))
        .collect();
    let mut order = vec![];
    let mut seen = HashSet::default();
    let mut stack = vec![];
    if let Some(first) = function.blocks.first() {
        seen.insert(first.label);
        stack.push((first, targets(first, &wide)));
    }
    while let Some((block, open)) = stack.last_mut() {
        match open.pop() {
            Some(label) => {
                let Some(target) = by_label.get(&label).copied() else {
                    let last = block.instrs.last().unwrap_or(&function.instr);
                    return Err(last.invalid(Invalid::Wanted(label, "a block of this function")));
                };
                if seen.insert(label) {
                    stack.push((target, targets(target, &wide)));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    Ok(order)
}
