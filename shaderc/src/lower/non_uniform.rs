//! Elements that differ between lanes: each is named by all lanes that want it together, one after the other.
//!
//! Needs: uniformity.  Guarantees: where a binding says that lanes may name different elements, an access names one that
//! all lanes there have in common: a loop takes the first lane's element, does it for those that want the same, and goes on
//! with the others. Accesses of one element that stand together share a loop.
//! Never: moves what lanes do together, or a barrier.  Facts: hardware/compiler-lowering.md 3.8.

use rustc_hash::FxHashMap as HashMap;
use std::ops::Range;

use super::switches::retarget;
use crate::ir::cfg::Cfg;
use crate::ir::layout::order_blocks;
use crate::ir::rewrite::Replaced;
use crate::ir::uniformity::Uniformity;
use crate::ir::{
    Alu, BindingId, BlockId, Builder, Function, ImageAction, Inst, LaneMask, LaneOp, Merge, Op,
    Space, Terminator, Type, Value,
};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "non_uniform",
    what: "accesses to elements that differ between lanes are done element by element",
    run,
};

fn run(function: &mut Function, target: &Target) -> Changed {
    if !function.bindings.iter().any(|binding| binding.non_uniform) {
        return Changed::No;
    }
    let cfg = Cfg::of(function);
    let uniformity = Uniformity::new(function, &cfg);
    let differ = |value: Value, reader: Inst| !uniformity.is_uniform_in(value, reader);
    let mut replaced = Replaced::default();
    let mut changed = false;
    for block in function.layout.clone() {
        let stretches = stretches(function, block, differ);
        // From the end, so that the numbers of what stands before stay.
        for (range, resources) in stretches.into_iter().rev() {
            loop_around(
                function,
                block,
                range,
                &resources,
                target.has_scans(),
                &mut replaced,
            );
            changed = true;
        }
    }
    if changed {
        replaced.everywhere(function);
        order_blocks(function);
    }
    Changed::from_bool(changed)
}

/// The resources of an access that lanes may name differently: images and their samplers, or a buffer.
pub(super) fn differing_resources(
    function: &Function,
    inst: Inst,
    differ: impl Fn(Value, Inst) -> bool,
) -> Vec<Value> {
    let data = function.inst(inst);
    let names = match data.op {
        Op::Load(access) | Op::Store(access) | Op::Atomic(_, access) => {
            access.space == Space::Buffer
        }
        // What is known of an image stands in its descriptor, which is data.
        Op::Image(image) => !matches!(
            image.action,
            ImageAction::Size | ImageAction::Levels | ImageAction::Samples
        ),
        _ => false,
    };
    let resources = data.args.iter().copied().filter(|arg| {
        let chosen = function.ty(*arg) == Type::Resource && element(function, *arg).is_some();
        names && chosen && differ(*arg, inst)
    });
    let mut resources: Vec<Value> = resources.collect();
    resources.dedup();
    resources
}

/// The binding and the number of an element that is computed.
fn element(function: &Function, resource: Value) -> Option<(BindingId, Value)> {
    let data = function.def_inst(resource)?;
    let Op::Resource(binding) = data.op else {
        return None;
    };
    let may_differ = function.binding(binding)?.non_uniform;
    may_differ.then(|| (binding, data.args[0]))
}

/// Instructions of a block that get a loop together, with the resources that they name.
fn stretches(
    function: &Function,
    block: BlockId,
    differ: impl Fn(Value, Inst) -> bool,
) -> Vec<(Range<usize>, Vec<Value>)> {
    let mut stretches: Vec<(Range<usize>, Vec<Value>)> = vec![];
    // Whether the last one may go on.
    let mut open = false;
    for (number, inst) in function.block(block).insts.iter().enumerate() {
        let data = function.inst(*inst);
        let effects = data.op.effects();
        // A resource is no value that a loop could leave behind.
        if effects.convergent || !effects.orders.is_empty() || matches!(data.op, Op::Resource(_)) {
            open = false;
        }
        let resources = differing_resources(function, *inst, &differ);
        if resources.is_empty() {
            continue;
        }
        match stretches.last_mut() {
            Some((range, same)) if open && *same == resources => range.end = number + 1,
            _ => stretches.push((number..number + 1, resources)),
        }
        open = true;
    }
    stretches
}

/// Puts a loop around a stretch of a block.
fn loop_around(
    function: &mut Function,
    block: BlockId,
    range: Range<usize>,
    resources: &[Value],
    has_scans: bool,
    replaced: &mut Replaced,
) {
    let [header, inside, latch, rest] = [(); 4].map(|()| function.new_block());
    let data = function.block_mut(block);
    let mut insts = std::mem::take(&mut data.insts);
    let after = insts.split_off(range.end);
    let stretch = insts.split_off(range.start);
    data.insts = insts;
    let terminator = std::mem::replace(&mut data.terminator, Terminator::Jump(header));
    let position = data.position;
    for target in terminator.targets() {
        retarget(function, target, block, rest);
    }
    let data = function.block_mut(rest);
    (data.insts, data.terminator, data.position) = (after, terminator, position);

    // The first lane's elements, and whether this lane wants the same.
    let mut b = Builder::new(function, header);
    b.position = position;
    let all = b.function.bool(true);
    let first = (!has_scans).then(|| LaneMask::active(&mut b).lowest(&mut b));
    let mut named: HashMap<Value, Value> = HashMap::default();
    let mut same = all;
    let mut together = vec![];
    for resource in resources {
        let Some((binding, own)) = element(b.function, *resource) else {
            continue;
        };
        let common = match first {
            Some(first) => b.lanes(LaneOp::Shuffle, &[own, first]),
            None => b.lanes(LaneOp::First, &[own]),
        };
        let equal = b.alu(Alu::IEq, &[own, common]);
        same = match same == all {
            true => equal,
            false => b.alu(Alu::BAnd, &[same, equal]),
        };
        together.push((*resource, binding, common));
    }
    b.terminate(Terminator::Branch {
        condition: same,
        then: inside,
        otherwise: latch,
    });
    b.function.block_mut(header).merge = Some(Merge::At(rest));

    // What is done, by instructions of its own: the old results are what comes out of the loop.
    b.block = inside;
    for (resource, binding, common) in together {
        let resource_now = b.inst(Op::Resource(binding), &[common])[0];
        named.insert(resource, resource_now);
    }
    let mut results = vec![];
    for inst in stretch {
        let data = b.function.inst(inst).clone();
        let args: Vec<Value> = data
            .args
            .iter()
            .map(|arg| named.get(arg).copied().unwrap_or(*arg))
            .collect();
        (b.position, b.exact) = (data.position, data.exact);
        let made = b.inst(data.op, &args);
        for (old, new) in data.results.into_iter().zip(made) {
            named.insert(old, new);
            results.push((old, new));
        }
    }
    b.terminate(Terminator::Jump(latch));

    let [yes, no] = [true, false].map(|bit| b.function.bool(bit));
    let done = choice(b.function, latch, (inside, yes), (header, no));
    for (old, new) in results {
        let nothing = b.function.constant_of(b.function.ty(old), 0);
        let result = choice(b.function, latch, (inside, new), (header, nothing));
        replaced.insert(old, result);
    }
    b.block = latch;
    b.terminate(Terminator::Branch {
        condition: done,
        then: rest,
        otherwise: header,
    });
}

/// A phi of two sources.
fn choice(
    function: &mut Function,
    block: BlockId,
    one: (BlockId, Value),
    other: (BlockId, Value),
) -> Value {
    let result = function.new_phi(block, function.ty(one.1));
    if let Some(phi) = function.block_mut(block).phis.last_mut() {
        phi.sources = vec![one, other];
    }
    result
}
