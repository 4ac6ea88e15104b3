//! Programs of a vertex shader: each stores a part of the outputs, and computes no more than it needs.
//!
//! Before v12 there is one for positions and one for varyings. From v12 on one is run for both, and a mask tells it each time
//! what to store: what only one group of outputs needs is computed where that group is stored.
//! Needs: the lowered form, outputs stored in one block, the last.  Guarantees: what a program stores is what the whole shader
//! would.
//! Facts: hardware/graphics-compiler.md 1.1.

use eitri_isa::Arch;
use eitri_program::EntryKind;

use rustc_hash::FxHashMap as HashMap;

use crate::ir::{
    Alu, Builder, Function, Inst, Merge, Op, Output, OutputGroup, SysVal, Terminator, Value,
};
use crate::lower::critical_edges;
use crate::opt::{dead_code, dead_flow};
use crate::pass::Runner;

/// A program that is to be made of a vertex shader.
pub(super) struct VertexProgram {
    pub(super) kind: EntryKind,
    pub(super) function: Function,
}

/// The programs of a vertex shader, in the order of their kinds.
pub(super) fn split(vertex: &Function, arch: Arch, runner: &mut Runner<'_>) -> Vec<VertexProgram> {
    let outputs: Vec<Output> = outputs(vertex).collect();
    let has_points = outputs.contains(&Output::PointSize);
    let has_varyings = outputs
        .iter()
        .any(|output| output.group() == Some(OutputGroup::Varyings));
    let (position, points) = match arch >= Arch::V12 {
        true => (EntryKind::Vertex, EntryKind::VertexWithPoints),
        false => (EntryKind::Position, EntryKind::PositionWithPoints),
    };
    let all = [
        (position, true),
        (points, has_points),
        (EntryKind::Varying, has_varyings && arch < Arch::V12),
    ];
    let kinds = all.into_iter().filter(|(_, is_there)| *is_there);
    kinds
        .map(|(kind, _)| VertexProgram {
            kind,
            function: only(vertex, kind, runner),
        })
        .collect()
}

/// What a function stores.
pub(super) fn outputs(function: &Function) -> impl Iterator<Item = Output> {
    let ops = function
        .placed_insts()
        .map(|(_, inst)| function.inst(inst).op);
    ops.filter_map(|op| match op {
        Op::StoreOutput(output) => Some(output),
        _ => None,
    })
}

/// Whether a program stores an output.
fn stores(kind: EntryKind, output: Output) -> bool {
    let is_varying = output.group() == Some(OutputGroup::Varyings);
    match kind {
        EntryKind::Varying => is_varying,
        EntryKind::Position => !is_varying && output != Output::PointSize,
        EntryKind::PositionWithPoints => !is_varying,
        EntryKind::Vertex => output != Output::PointSize,
        EntryKind::VertexWithPoints | EntryKind::Fragment => true,
    }
}

/// The shader with what one program stores.
fn only(vertex: &Function, kind: EntryKind, runner: &mut Runner<'_>) -> Function {
    let mut function = vertex.clone();
    for block in function.layout.clone() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let kept = insts
            .into_iter()
            .filter(|inst| match function.inst(*inst).op {
                Op::StoreOutput(output) => stores(kind, output),
                _ => true,
            });
        let kept = kept.collect();
        function.block_mut(block).insts = kept;
    }
    // Each shows what the other can remove.
    for pass in [dead_code::PASS, dead_flow::PASS, dead_code::PASS] {
        runner.run(&mut function, pass);
    }
    if matches!(kind, EntryKind::Vertex | EntryKind::VertexWithPoints) {
        store_what_is_asked_for(&mut function);
        runner.after("split_vertex", &function);
        runner.run(&mut function, critical_edges::PASS);
    }
    function
}

/// Puts each group of outputs behind its bit of the mask.
fn store_what_is_asked_for(function: &mut Function) {
    let group_of = |function: &Function, inst: Inst| match function.inst(inst).op {
        Op::StoreOutput(output) => output.group(),
        _ => None,
    };
    let mut placed = function.placed_insts();
    let storing = placed.find(|(_, inst)| group_of(function, *inst).is_some());
    drop(placed);
    let Some((block, _)) = storing else {
        return;
    };
    let insts = std::mem::take(&mut function.block_mut(block).insts);
    let (stores, mut before): (Vec<Inst>, Vec<Inst>) = insts
        .into_iter()
        .partition(|inst| group_of(function, *inst).is_some());
    let mut groups: Vec<(OutputGroup, Vec<Inst>)> = vec![];
    for group in OutputGroup::ALL {
        let own = stores.iter().copied();
        let own: Vec<Inst> = own
            .filter(|inst| group_of(function, *inst) == Some(group))
            .collect();
        if !own.is_empty() {
            groups.push((group, own));
        }
    }
    sink(function, &mut before, &mut groups);
    function.block_mut(block).insts = before;
    let mut builder = Builder::new(function, block);
    let mask = builder.sys_val(SysVal::OutputMask);
    let zero = builder.word(0);
    let asked: Vec<Value> = groups
        .iter()
        .map(|(group, _)| {
            let bit = builder.alu_word(Alu::IAnd, mask, group.bit());
            builder.alu(Alu::INe, &[bit, zero])
        })
        .collect();
    let end = function.block(block).terminator.clone();
    let merge = function.block_mut(block).merge.take();
    let place = function.layout.iter().position(|other| *other == block);
    let mut place = place.unwrap_or(function.layout.len());
    let mut last = block;
    for ((_, insts), condition) in groups.into_iter().zip(asked) {
        let [then, join] = [(); 2].map(|()| function.new_detached_block());
        function.block_mut(then).insts = insts;
        function.block_mut(then).terminator = Terminator::Jump(join);
        let branch = function.block_mut(last);
        branch.merge = Some(Merge::At(join));
        branch.terminator = Terminator::Branch {
            condition,
            then,
            otherwise: join,
        };
        for block in [then, join] {
            place += 1;
            function.layout.insert(place, block);
        }
        last = join;
    }
    let join = function.block_mut(last);
    (join.terminator, join.merge) = (end, merge);
}

/// Moves what only one group needs to it.
fn sink(function: &Function, before: &mut Vec<Inst>, groups: &mut [(OutputGroup, Vec<Inst>)]) {
    // By value: the group that alone reads it; none if several do, or something that stays.
    let mut readers: HashMap<Value, Option<OutputGroup>> = HashMap::default();
    let read = |readers: &mut HashMap<Value, Option<OutputGroup>>, inst, group| {
        for arg in &function.inst(inst).args {
            let known = readers.entry(*arg).or_insert(group);
            if *known != group {
                *known = None;
            }
        }
    };
    for (group, insts) in groups.iter() {
        for inst in insts {
            read(&mut readers, *inst, Some(*group));
        }
    }
    let mut moved: Vec<(OutputGroup, Inst)> = vec![];
    let mut stays: Vec<Inst> = vec![];
    for &inst in before.iter().rev() {
        let data = function.inst(inst);
        let mut readers_of = data.results.iter().filter_map(|result| readers.get(result));
        let first = readers_of.next().copied().flatten();
        let alone = readers_of.all(|reader| *reader == first);
        match first.filter(|_| alone && data.op.is_pure()) {
            Some(group) => {
                read(&mut readers, inst, Some(group));
                moved.push((group, inst));
            }
            None => {
                read(&mut readers, inst, None);
                stays.push(inst);
            }
        }
    }
    stays.reverse();
    *before = stays;
    for (group, insts) in groups {
        let own = moved.iter().rev().filter(|(of, _)| of == group);
        let mut all: Vec<Inst> = own.map(|(_, inst)| *inst).collect();
        all.append(insts);
        *insts = all;
    }
}
