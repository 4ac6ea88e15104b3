//! Own words: what an invocation alone writes in shared memory, it need not load to know.
//!
//! Needs: no variables but those that `promote_variables` takes.  Guarantees: all stores stay, for others to read.
//! How: where each invocation of the workgroup stores to `x + constant` and has another `x`, it finds there what it has
//! stored last, whatever barriers lie between, unless a store that may go there stands on a way from its own store to the
//! load. All invocations pass the same barriers, and without a barrier between them two accesses of one word would be a data
//! race; so no other store counts. What is stored last is kept in variables. Sums and scans by trees load half as often. What
//! another lane of the warp knows so is read from its register (`other_lanes`), where that costs one instruction.
//! Facts: hardware/memory-model.md: an invocation sees its own stores in order.

mod flow;
mod other_lanes;
mod slots;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap as HashMap;

use self::flow::Flow;
use self::other_lanes::{Exchange, Spot};
use self::slots::{Slot, effect, slot_of, slot_of_first, slots};
use crate::ir::cfg::Cfg;
use crate::ir::layout::order_blocks;
use crate::ir::range::Tested;
use crate::ir::rewrite::Replaced;
use crate::ir::{Alu, BlockId, Builder, Function, Inst, LaneOp, Op, Type, Value, VarData};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "keep_own_words",
    what: "words of shared memory that one invocation alone writes are kept by it",
    run,
};

/// Loads that are done without.
struct Plan {
    /// Of words that the invocation has stored itself: the slot.
    own: HashMap<Inst, usize>,
    /// Of words that another lane has stored, by where it tells them.
    exchanges: BTreeMap<Spot, Vec<Exchange>>,
}

fn run(function: &mut Function, target: &Target) -> Changed {
    if function.shared_bytes == 0 {
        return Changed::No;
    }
    let mut slots = slots(function);
    if slots.is_empty() {
        return Changed::No;
    }
    let plan = plan(function, &slots, target);
    if plan.own.is_empty() && plan.exchanges.is_empty() {
        return Changed::No;
    }
    for slot in &mut slots {
        slot.vars = (0..slot.access.count)
            .map(|_| {
                function.new_var(VarData {
                    ty: Type::W32,
                    len: 1,
                    name: String::new(),
                })
            })
            .collect();
    }
    keep(function, &slots, &plan);
    Changed::Yes
}

fn plan(function: &mut Function, slots: &[Slot], target: &Target) -> Plan {
    let cfg = Cfg::of(function);
    let function = &*function;
    let flow = Flow::new(function, &cfg, slots);
    let mut own = HashMap::default();
    for block in &function.layout {
        for (inst, known) in flow.walk(*block) {
            let data = function.inst(inst);
            if !matches!(data.op, Op::Load(_)) {
                continue;
            }
            let slot = slot_of(function, slots, data).or_else(|| {
                let tested = || Tested::at(function, &cfg, *block);
                slot_of_first(function, slots, data, tested)
            });
            if let Some(slot) = slot.filter(|slot| known & 1 << slot != 0) {
                own.insert(inst, slot);
            }
        }
    }
    let mut exchanges = match target.has_scans() {
        true => BTreeMap::new(),
        false => other_lanes::exchanges(function, &cfg, slots, &flow),
    };
    for those in exchanges.values_mut() {
        those.retain(|exchange| !own.contains_key(&exchange.load));
    }
    exchanges.retain(|_, those| !those.is_empty());
    Plan { own, exchanges }
}

/// Keeps what is stored in variables, and replaces loads.
fn keep(function: &mut Function, slots: &[Slot], plan: &Plan) {
    let mut replaced = Replaced::default();
    let told = plan.exchanges.values().flatten();
    let told: Vec<Inst> = told.map(|exchange| exchange.load).collect();
    for block in function.layout.clone() {
        for inst in std::mem::take(&mut function.block_mut(block).insts) {
            if told.contains(&inst) {
                continue;
            }
            let data = function.inst(inst).clone();
            let mut b = Builder::new(function, block);
            b.position = data.position;
            let zero = b.word(0);
            if let Some(slot) = plan.own.get(&inst) {
                for (old, var) in data.results.iter().zip(&slots[*slot].vars) {
                    let kept = b.load_var(*var, zero);
                    replaced.insert(*old, kept);
                }
                continue;
            }
            b.function.block_mut(block).insts.push(inst);
            if effect(b.function, slots, &data).stores != 0
                && let Some(slot) = slot_of(b.function, slots, &data)
            {
                let slot = &slots[slot];
                let values = &data.args[slot.access.address_operands()..];
                for (var, value) in slot.vars.iter().zip(values) {
                    b.store_var(*var, zero, *value);
                }
            }
            if let Some(exchanges) = plan.exchanges.get(&Spot::Behind(inst)) {
                exchange(&mut b, slots, exchanges, &mut replaced);
            }
        }
    }
    let mut has_new = false;
    for (spot, exchanges) in &plan.exchanges {
        if let Spot::FirstWarp { from, to, index } = *spot {
            let block = only_first_warp(function, from, to, index);
            let mut b = Builder::new(function, block);
            b.position = b.function.block(from).position;
            exchange(&mut b, slots, exchanges, &mut replaced);
            has_new = true;
        }
    }
    replaced.everywhere(function);
    if has_new {
        order_blocks(function);
    }
}

/// Lanes tell one another what they have stored.
fn exchange(b: &mut Builder<'_>, slots: &[Slot], exchanges: &[Exchange], replaced: &mut Replaced) {
    let zero = b.word(0);
    for exchange in exchanges {
        let loaded = b.function.inst(exchange.load).results.clone();
        let flip = b.word(exchange.flip);
        for (old, var) in loaded.into_iter().zip(&slots[exchange.slot].vars) {
            let kept = b.load_var(*var, zero);
            let told = b.inst(Op::Lanes(LaneOp::ShuffleXor), &[kept, flip]);
            replaced.extend(told.first().map(|told| (old, *told)));
        }
    }
}

/// A new block on the way from one block to another, which the first warp alone comes to, all of it: the other invocations do
/// not pass the test that the block before ends with.
fn only_first_warp(function: &mut Function, from: BlockId, to: BlockId, index: Value) -> BlockId {
    let block = function.new_block();
    let test = function.block(from).terminator.clone();
    let position = function.block(from).position;
    for target in test.targets() {
        for phi in &mut function.block_mut(target).phis {
            let source = phi.sources.iter_mut().find(|(own, _)| *own == from);
            if let Some(source) = source {
                let value = source.1;
                if target == to {
                    source.0 = block;
                } else {
                    phi.sources.push((block, value));
                }
            }
        }
    }
    let lanes = function.lanes.count();
    let mut b = Builder::new(function, from);
    b.position = position;
    let is_first = b.alu_word(Alu::ULt, index, lanes);
    let mut first = test.clone();
    first.map_targets(|target| if target == to { block } else { target });
    if let Some(operand) = first.operand_mut() {
        *operand = is_first;
    }
    b.terminate(first);
    let mut b = Builder::new(function, block);
    b.position = position;
    b.terminate(test);
    block
}
