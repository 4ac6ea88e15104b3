//! Dead code: instructions, phis and branches that nothing needs (aggressive dead code elimination).
//!
//! Needs: nothing.  Guarantees: what is left has an effect or feeds one, in one run, however deep dead code nests: every
//! value is needed, and every branch decides about something that is. A branch that isn't needed becomes a jump to the
//! nearest block behind it that is. A convergent operation that is needed keeps all branches that decide who runs it.
//! Never: removes a loop. How often a loop goes round, and whether it ends, stays the program's affair: the facts warn that
//! Vulkan lets a compiler assume progress only loosely. So headers, latches, exits and merges of loops are always needed.
//! Facts: hardware/compiler-ir.md 4.2 and 4.4; hardware/compiler-correctness.md 5.5.
use crate::ir::cfg::{Cfg, inst_blocks};
use crate::ir::control_dependence::ControlDependence;
use crate::ir::layout::order_blocks;
use crate::ir::{BlockId, Function, Merge, Terminator, Value, ValueDef};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "dead_code",
    what: "instructions, phis and branches that nothing needs go",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::of(function);
    let needs = Needs::find(function, &cfg);
    let jumps = needs.jumps(function, &cfg);
    let swept = sweep(function, &needs.values);
    if jumps.is_empty() {
        return Changed::from_bool(swept);
    }
    for (block, jump) in jumps {
        function.block_mut(block).terminator = jump;
    }
    // Drops unreachable blocks and the phi sources that came from them.
    order_blocks(function);
    Changed::Yes
}

/// What of a function is needed.
struct Needs<'f> {
    function: &'f Function,
    cfg: &'f Cfg,
    /// By value.
    values: Vec<bool>,
    /// By block: whether something in it is needed, or a phi behind it that tells from where control came.
    blocks: Vec<bool>,
    /// By block: whether the branch at its end is needed.
    branches: Vec<bool>,
    /// None if no branch can be removed: if only loops have any.
    control: Option<ControlDependence>,
    /// By instruction: its block.
    places: Vec<Option<BlockId>>,
    /// By value that is a phi: its number among those of its block.
    phis: Vec<u32>,
    /// Needed values and blocks whose own needs are still to be followed.
    open: Vec<Value>,
    open_blocks: Vec<BlockId>,
}

impl<'f> Needs<'f> {
    fn find(function: &'f Function, cfg: &'f Cfg) -> Needs<'f> {
        let mut needs = Needs {
            function,
            cfg,
            values: vec![false; function.value_count()],
            blocks: vec![false; function.block_count()],
            branches: vec![false; function.block_count()],
            control: None,
            places: vec![],
            phis: number_phis(function),
            open: vec![],
            open_blocks: vec![],
        };
        let mut blocks = function.layout.iter();
        if blocks.any(|block| needs.is_removable(*block)) {
            needs.control = Some(ControlDependence::new(function, cfg));
            needs.places = inst_blocks(function);
        }
        needs.need_roots();
        loop {
            if let Some(value) = needs.open.pop() {
                needs.follow(value);
            } else if let Some(block) = needs.open_blocks.pop() {
                needs.follow_block(block);
            } else {
                return needs;
            }
        }
    }

    /// Whether a block ends in a branch that may go: one that neither leaves a loop nor goes round it.
    fn is_removable(&self, block: BlockId) -> bool {
        let terminator = &self.function.block(block).terminator;
        let stays = |target: BlockId| {
            let innermost = self.cfg.innermost_loop(block);
            innermost.is_none_or(|own| {
                self.cfg.in_loop(target, own) && self.cfg.loops[own].header != target
            })
        };
        terminator.operand().is_some() && terminator.each_target().all(stays)
    }

    fn need_roots(&mut self) {
        let function = self.function;
        for block in &function.layout {
            for inst in &function.block(*block).insts {
                let data = function.inst(*inst);
                if data.op.has_effect() {
                    self.need_all(&data.args);
                    self.need_block(*block);
                }
            }
            if !self.is_removable(*block) {
                self.need_branch(*block);
            }
        }
        for natural in &self.cfg.loops {
            self.need_block(natural.header);
            for latch in &natural.latches {
                self.need_block(*latch);
            }
            let merge = function.block(natural.header).merge;
            if let Some(merge) = merge.and_then(Merge::block)
                && self.cfg.reachable(merge)
            {
                self.need_block(merge);
            }
        }
    }

    fn need_block(&mut self, block: BlockId) {
        if self.control.is_some() && !std::mem::replace(&mut self.blocks[block.index()], true) {
            self.open_blocks.push(block);
        }
    }

    fn need_branch(&mut self, block: BlockId) {
        if let Some(condition) = self.function.block(block).terminator.operand()
            && !std::mem::replace(&mut self.branches[block.index()], true)
        {
            self.need(condition);
            self.need_block(block);
        }
    }

    /// Marks the branches that decide whether a block is run.
    fn follow_block(&mut self, block: BlockId) {
        let mut deciding = vec![];
        if let Some(control) = &mut self.control {
            control.take_branches(block, &mut deciding);
        }
        for branch in deciding {
            self.need_branch(branch);
        }
    }

    /// Marks a value, whose own needs are followed later.
    fn need(&mut self, value: Value) {
        if !std::mem::replace(&mut self.values[value.index()], true) {
            self.open.push(value);
        }
    }

    fn need_all(&mut self, values: &[Value]) {
        values.iter().for_each(|value| self.need(*value));
    }

    /// Marks the operands of a value and the block that computes it.
    fn follow(&mut self, value: Value) {
        match self.function.def(value) {
            ValueDef::Word(_) | ValueDef::Bool(_) => {}
            ValueDef::Result(inst, _) => {
                self.need_all(&self.function.inst(inst).args);
                if let Some(Some(block)) = self.places.get(inst.index()) {
                    self.need_block(*block);
                }
            }
            ValueDef::Phi(block) => {
                let phi = &self.function.block(block).phis[self.phis[value.index()] as usize];
                self.need_block(block);
                for (from, source) in &phi.sources {
                    self.need(*source);
                    self.need_block(*from);
                }
            }
        }
    }

    /// The terminators that replace branches which aren't needed.
    ///
    /// No block on a path from such a branch to its nearest needed post-dominator is needed: that block would depend on a
    /// branch on the path, that branch on an earlier one, and so on back to this branch, which would then be needed. So the
    /// jump skips no header, latch or exit of a loop. Nor does it merge paths that a needed phi tells apart: the
    /// predecessors of such a phi are needed blocks.
    fn jumps(&self, function: &Function, cfg: &Cfg) -> Vec<(BlockId, Terminator)> {
        let Some(control) = &self.control else {
            return vec![];
        };
        // By block: the nearest needed one behind it. From the end, so that post-dominators come first.
        let mut next: Vec<Option<BlockId>> = vec![None; function.block_count()];
        for block in cfg.rpo().iter().rev() {
            next[block.index()] = match control.post_dominator(*block) {
                Some(up) if !self.blocks[up.index()] => next[up.index()],
                up => up,
            };
        }
        let returns = |block: &BlockId| function.block(*block).terminator == Terminator::Return;
        let end = match function.layout.iter().any(returns) {
            true => Terminator::Return,
            false => Terminator::Unreachable,
        };
        let blocks = function.layout.iter().filter(|block| {
            let branches = function.block(**block).terminator.operand().is_some();
            branches && !self.branches[block.index()]
        });
        let jumps = blocks.map(|block| {
            let target = next[block.index()].map(Terminator::Jump);
            (*block, target.unwrap_or_else(|| end.clone()))
        });
        jumps.collect()
    }
}

/// By value that is a phi: its number among the phis of its block.
fn number_phis(function: &Function) -> Vec<u32> {
    let mut numbers = vec![0; function.value_count()];
    for block in &function.layout {
        for (number, phi) in function.block(*block).phis.iter().enumerate() {
            numbers[phi.result.index()] = number as u32;
        }
    }
    numbers
}

/// Drops instructions without effects and phis whose results aren't needed. Returns whether there were any.
fn sweep(function: &mut Function, needed: &[bool]) -> bool {
    let mut swept = false;
    for block in function.layout.clone() {
        let mut insts = std::mem::take(&mut function.block_mut(block).insts);
        let before = insts.len() + function.block(block).phis.len();
        insts.retain(|inst| {
            let data = function.inst(*inst);
            let read = data.results.iter().any(|value| needed[value.index()]);
            data.op.has_effect() || read
        });
        let data = function.block_mut(block);
        data.insts = insts;
        data.phis.retain(|phi| needed[phi.result.index()]);
        swept |= data.insts.len() + data.phis.len() != before;
    }
    swept
}
