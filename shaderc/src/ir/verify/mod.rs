//! Verifier: everything that a function must be, all violations at once.
//!
//! Needs: nothing; any function may be given.  Guarantees: a function without violations is safe to walk by every pass
//! and by the interpreter.  Never: changes anything.  Facts: hardware/compiler-ir.md 1.2 and 6.

mod lowered;
mod rule;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashSet as HashSet;
use std::sync::Arc;

use super::block::Terminator;
use super::cfg::{Cfg, inst_blocks};
use super::function::{Function, ValueDef};
use super::inst::{Held, Inst, Op};
use super::loops::Loops;
use super::{BlockId, Kind, Output, Sampling, Type, Value};

pub use self::lowered::{aligned, lowered};
pub use self::rule::{Rule, Violation};

/// Checks a function of any stage.
///
/// # Errors
/// All violations, in layout order.
pub fn verify(function: &Function) -> Result<(), Vec<Violation>> {
    let mut verifier = Verifier::new(function);
    verifier.check();
    verifier.finish()
}

struct Verifier<'f> {
    function: &'f Function,
    cfg: Arc<Cfg>,
    places: Vec<Option<BlockId>>,
    /// Place of each instruction in its block.
    numbers: Vec<usize>,
    violations: Vec<Violation>,
    /// Outputs that are stored.
    outputs: Vec<Output>,
    block: Option<BlockId>,
    at: At,
}

/// What of a block is looked at; written out only if it is wrong.
#[derive(Clone, Copy)]
enum At {
    Block,
    Phi(Value),
    Inst(Inst),
    Terminator(BlockId),
}

impl<'f> Verifier<'f> {
    fn new(function: &'f Function) -> Self {
        let targets_exist = function.layout.iter().all(|block| {
            let mut targets = function.block(*block).terminator.each_target();
            targets.all(|target| target.index() < function.block_count())
        });
        let cfg = if targets_exist {
            Cfg::shared(function)
        } else {
            Cfg::shared(&Function::new(""))
        };
        let mut numbers = vec![0; function.inst_count()];
        for block in &function.layout {
            for (number, inst) in function.block(*block).insts.iter().enumerate() {
                numbers[inst.index()] = number;
            }
        }
        Verifier {
            function,
            cfg,
            places: inst_blocks(function),
            numbers,
            violations: vec![],
            outputs: vec![],
            block: None,
            at: At::Block,
        }
    }

    fn finish(self) -> Result<(), Vec<Violation>> {
        if self.violations.is_empty() {
            Ok(())
        } else {
            Err(self.violations)
        }
    }

    fn report(&mut self, rule: Rule) {
        let function = self.function;
        let text = match self.at {
            At::Block => None,
            At::Phi(value) => Some(format!("{value} = phi")),
            At::Inst(inst) => Some(function.show_inst(inst)),
            At::Terminator(block) => {
                Some(function.show_terminator(&function.block(block).terminator))
            }
        };
        self.violations.push(Violation {
            block: self.block,
            text,
            rule,
        });
    }

    fn check(&mut self) {
        let function = self.function;
        if function.layout.is_empty() {
            self.report(Rule::NoBlocks);
            return;
        }
        self.check_edges();
        if !self.violations.is_empty() {
            // Without sound edges dominance means nothing.
            return;
        }
        self.check_order();
        let mut seen = vec![false; function.inst_count()];
        for block in &function.layout {
            self.block = Some(*block);
            self.check_phis(*block);
            for (number, inst) in function.block(*block).insts.iter().enumerate() {
                self.at = At::Inst(*inst);
                if std::mem::replace(&mut seen[inst.index()], true) {
                    self.report(Rule::InstTwice);
                }
                self.check_inst(*block, number, *inst);
            }
            let terminator = &function.block(*block).terminator;
            self.at = At::Terminator(*block);
            if let Some(value) = terminator.operand() {
                match terminator {
                    Terminator::Switch { .. } if !function.ty(value).is_word() => {
                        self.report(Rule::OperandType(value, Type::W32));
                    }
                    Terminator::Switch { .. } => {}
                    _ => self.check_operand(value, Some(Type::Bool)),
                }
                self.check_use(value, *block, usize::MAX);
            }
            self.at = At::Block;
        }
    }

    fn check_edges(&mut self) {
        let function = self.function;
        let mut placed = vec![false; function.block_count()];
        let mut seen = placed.clone();
        for block in &function.layout {
            placed[block.index()] = true;
        }
        for block in &function.layout {
            self.block = Some(*block);
            if std::mem::replace(&mut seen[block.index()], true) {
                self.report(Rule::BlockTwice);
            }
            let terminator = &function.block(*block).terminator;
            self.at = At::Terminator(*block);
            for target in terminator.each_target() {
                if placed.get(target.index()) != Some(&true) {
                    self.report(Rule::MissingTarget(target));
                }
            }
            match terminator {
                Terminator::Branch {
                    then, otherwise, ..
                } if then == otherwise => self.report(Rule::SameTarget),
                Terminator::Switch { cases, .. } => {
                    let values: HashSet<u64> = cases.iter().map(|(value, _)| *value).collect();
                    if values.len() != cases.len() {
                        self.report(Rule::SameTarget);
                    }
                }
                _ => {}
            }
            self.at = At::Block;
        }
    }

    fn check_order(&mut self) {
        let function = self.function;
        let mut number = vec![usize::MAX; function.block_count()];
        for (index, block) in function.layout.iter().enumerate() {
            number[block.index()] = index;
        }
        if let Some((from, to)) = self.cfg.irreducible_edge() {
            self.block = Some(from);
            self.report(Rule::Irreducible(to));
        }
        for block in &function.layout {
            self.block = Some(*block);
            if !self.cfg.reachable(*block) {
                self.report(Rule::Unreachable);
            }
            for target in function.block(*block).terminator.each_target() {
                if target == function.entry() {
                    self.report(Rule::EntryHasPredecessor(*block));
                }
                let up = number[target.index()] <= number[block.index()];
                if up && self.cfg.reachable(*block) && !self.cfg.dominates(target, *block) {
                    self.report(Rule::EdgeUp(target));
                }
            }
        }
        self.check_constructs(&number);
        self.block = None;
    }

    /// What stands between the blocks of a loop must belong to its construct.
    fn check_constructs(&mut self, number: &[usize]) {
        let function = self.function;
        let cfg = Arc::clone(&self.cfg);
        let loops = Loops::new(function, &cfg);
        // The last place of each loop, inner loops included.
        let mut last = vec![0; self.cfg.loops.len()];
        for own in (0..last.len()).rev() {
            let blocks = self.cfg.loop_own_blocks(own).iter();
            let end = blocks.map(|block| number[block.index()]).max();
            last[own] = last[own].max(end.unwrap_or(0));
            if let Some(parent) = self.cfg.loops[own].parent {
                last[parent] = last[parent].max(last[own]);
            }
        }
        let mut open: Vec<usize> = vec![];
        for (place, block) in function.layout.iter().enumerate() {
            while open.pop_if(|own| last[*own] < place).is_some() {}
            let natural = self.cfg.innermost_loop(*block);
            if let Some(own) = natural.filter(|own| self.cfg.loops[*own].header == *block) {
                open.push(own);
            }
            if let Some(own) = open.last()
                && !loops.get(*own).encloses(*block)
            {
                self.block = Some(*block);
                self.report(Rule::LoopNotContiguous(self.cfg.loops[*own].header));
            }
        }
    }

    fn check_phis(&mut self, block: BlockId) {
        let function = self.function;
        let phis = &function.block(block).phis;
        if phis.is_empty() {
            return;
        }
        let cfg = Arc::clone(&self.cfg);
        let predecessors = cfg.predecessors(block);
        let mut sorted = vec![];
        for phi in phis {
            self.at = At::Phi(phi.result);
            for (from, value) in &phi.sources {
                self.check_operand(*value, Some(function.ty(phi.result)));
                self.check_use(*value, *from, usize::MAX);
            }
            // Mostly they come in this order.
            let given = phi.sources.iter().map(|(from, _)| from);
            if !given.clone().eq(predecessors) {
                if sorted.is_empty() {
                    sorted = predecessors.to_vec();
                    sorted.sort();
                }
                self.match_sources(given.copied().collect(), &sorted);
            }
            if function.def(phi.result) != ValueDef::Phi(block) {
                self.report(Rule::NotPlaced(phi.result));
            }
        }
        self.at = At::Block;
    }

    /// Sources of a phi against the predecessors, which are sorted.
    fn match_sources(&mut self, mut given: Vec<BlockId>, predecessors: &[BlockId]) {
        given.sort();
        let mut missing = predecessors.iter().peekable();
        for from in given {
            while let Some(other) = missing.next_if(|other| **other < from) {
                self.report(Rule::PhiSourceMissing(*other));
            }
            if missing.next_if_eq(&&from).is_none() {
                self.report(Rule::PhiSourceExtra(from));
            }
        }
        for from in missing {
            self.report(Rule::PhiSourceMissing(*from));
        }
    }

    /// What a stage has and hands on.
    fn check_stage(&mut self, op: Op) {
        let stage = self.function.stage;
        if !op.stages().has(stage) {
            self.report(Rule::Stage(stage.name()));
        }
        let possible = match op {
            Op::LoadAttribute(attribute) => attribute.is_possible(),
            Op::LoadVarying(varying) => varying.is_possible(),
            Op::FragW(sampling) => sampling != Sampling::Flat,
            Op::LoadTile(tile) => tile.is_possible(),
            Op::StoreOutput(output) => output.is_possible(),
            _ => true,
        };
        if !possible {
            self.report(Rule::BadInterface);
        }
        if let Op::StoreOutput(output) = op {
            if self.outputs.iter().any(|other| other.is_same(output)) {
                self.report(Rule::OutputTwice);
            }
            self.outputs.push(output);
        }
    }

    fn check_inst(&mut self, block: BlockId, number: usize, inst: Inst) {
        let function = self.function;
        let data = function.inst(inst);
        self.check_stage(data.op);
        match data.op {
            Op::LoadVar(var) | Op::StoreVar(var) if var.index() >= function.vars().count() => {
                self.report(Rule::NoVariable);
                return;
            }
            Op::Resource(binding) if function.binding(binding).is_none() => {
                self.report(Rule::NoBinding(data.results[0]));
                return;
            }
            Op::Ballot(words) if words != function.lanes.mask_words() => {
                self.report(Rule::ResultCount(function.lanes.mask_words().into()));
                return;
            }
            _ => {}
        }
        if let Some(access) = data.op.access() {
            let small = matches!(access.elem, Type::W8 | Type::W16);
            let elements_ok = match data.op {
                Op::Atomic(..) => access.count == 1 && !small,
                _ => (1..=4).contains(&access.count),
            };
            let held_ok = small || access.held == Held::Own;
            let align_ok = [1, 2, 4, 8, 16].contains(&access.align);
            if !elements_ok || !held_ok || !align_ok || !access.elem.is_word() {
                self.report(Rule::BadAccess);
                return;
            }
        }
        let (args, results) = function.signature(data.op);
        if data.args.len() != args.len() {
            self.report(Rule::OperandCount(args.len()));
            return;
        }
        if data.results.len() != results.len() {
            self.report(Rule::ResultCount(results.len()));
            return;
        }
        let common = function.common_type(&args, &data.args);
        if let (Op::Alu(alu), Some(ty)) = (data.op, common)
            && args.iter().any(|kind| matches!(kind, Kind::I | Kind::F))
            && !alu.widths().has(ty)
        {
            self.report(Rule::Width(ty));
        }
        for (value, kind) in data.args.iter().zip(&args) {
            match kind.ty().or(common.filter(|_| kind.is_common())) {
                Some(ty) => self.check_operand(*value, Some(ty)),
                None if !function.ty(*value).is_word() => {
                    self.report(Rule::OperandType(*value, Type::W32));
                }
                None => {}
            }
            self.check_use(*value, block, number);
        }
        for (value, kind) in data.results.iter().zip(&results) {
            let ty = kind.ty().or(common).unwrap_or(Type::W32);
            if function.ty(*value) != ty {
                self.report(Rule::ResultType(*value, ty));
            }
        }
    }

    fn check_operand(&mut self, value: Value, ty: Option<Type>) {
        if let Some(ty) = ty
            && self.function.ty(value) != ty
        {
            self.report(Rule::OperandType(value, ty));
        }
    }

    /// Checks that a value is defined before instruction `number` of `block`.
    fn check_use(&mut self, value: Value, block: BlockId, number: usize) {
        let (def, before) = match self.function.def(value) {
            ValueDef::Word(_) | ValueDef::Bool(_) => {
                let element = self.function.as_resource(value);
                if element.is_some_and(|(binding, element)| {
                    let binding = self.function.binding(binding);
                    binding.is_none_or(|binding| element >= binding.count)
                }) {
                    self.report(Rule::NoBinding(value));
                }
                return;
            }
            ValueDef::Phi(def) => {
                let phis = &self.function.block(def).phis;
                let placed = phis.iter().any(|phi| phi.result == value);
                (placed.then_some(def), true)
            }
            ValueDef::Result(inst, _) => {
                let def = self.places[inst.index()];
                let before = def != Some(block) || self.numbers[inst.index()] < number;
                (def, before)
            }
        };
        match def {
            None => self.report(Rule::NotPlaced(value)),
            Some(def) => {
                let reachable = self.cfg.reachable(block);
                if reachable && (!before || !self.cfg.dominates(def, block)) {
                    self.report(Rule::NotDominated(value));
                }
            }
        }
    }
}
