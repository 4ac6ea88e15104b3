//! Derivatives said explicitly: where lanes of a quad may name different images, `non_uniform` parts them, and nobody is left to
//! compare coordinates with. So that is done before.
//!
//! Needs: uniformity.  Guarantees: what samples one of several images by derivatives is told them, but for queries, whose
//! derivatives can't be told.
//! Facts: hardware/compiler-lowering.md 3.8; hardware/graphics-compiler.md 3 (derivatives), 6 (gradients).
use super::cube_gradients::gradients;
use super::non_uniform::differing_resources;
use crate::ir::cfg::Cfg;
use crate::ir::uniformity::Uniformity;
use crate::ir::{
    Alu, BlockId, Builder, Function, ImageAction, ImageOp, Inst, LaneOp, Lod, Op, Value,
};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "explicit_derivatives",
    what: "samples of images that differ between lanes are told the derivatives",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let may_differ = function.bindings.iter().any(|binding| binding.non_uniform);
    let is_there = |function: &Function| {
        let mut insts = function.placed_insts();
        insts.any(|(_, inst)| by_derivatives(function, inst).is_some())
    };
    if !may_differ || !is_there(function) {
        return Changed::No;
    }
    let cfg = Cfg::of(function);
    let uniformity = Uniformity::new(function, &cfg);
    let differ = |value: Value, reader: Inst| !uniformity.is_uniform_in(value, reader);
    let mut changed = Changed::No;
    for block in function.layout.clone() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        for inst in insts {
            if let Some(op) = by_derivatives(function, inst)
                && !differing_resources(function, inst, differ).is_empty()
            {
                tell(function, block, inst, op);
                changed = Changed::Yes;
            }
            function.block_mut(block).insts.push(inst);
        }
    }
    changed
}

/// A sample whose derivatives can be told, and aren't.
fn by_derivatives(function: &Function, inst: Inst) -> Option<ImageOp> {
    let Op::Image(op) = function.inst(inst).op else {
        return None;
    };
    matches!(op.action, ImageAction::Sample(Lod::Implicit | Lod::Bias)).then_some(op)
}

/// Makes the derivatives operands. A bias makes them larger: the level is a logarithm.
fn tell(function: &mut Function, block: BlockId, inst: Inst, op: ImageOp) {
    let data = function.inst(inst).clone();
    let mut b = Builder::new(function, block);
    b.position = data.position;
    let first = op.resources();
    let count = op.shape.dim.coordinates();
    let before = op.before_level();
    let after = before + op.level_operands();
    let factor = match op.action {
        ImageAction::Sample(Lod::Bias) => Some(b.alu(Alu::FExp2, &[data.args[before]])),
        _ => None,
    };
    let coordinates = &data.args[first..first + count];
    let changes = [LaneOp::QuadSwapX, LaneOp::QuadSwapY].map(|swap| -> Vec<Value> {
        let change = |coordinate: &Value| {
            let other = b.lanes(swap, &[*coordinate]);
            // Whichever way round: the level goes by the length.
            b.exact = true;
            let difference = b.alu(Alu::FSub, &[other, *coordinate]);
            b.exact = data.exact;
            match factor {
                Some(factor) => b.alu(Alu::FMul, &[difference, factor]),
                None => difference,
            }
        };
        coordinates.iter().map(change).collect()
    });
    let mut args = data.args[..before].to_vec();
    args.extend(gradients(&mut b, op.shape.dim, coordinates, &changes));
    args.extend(&data.args[after..]);
    let told = function.inst_mut(inst);
    told.args = args.into();
    told.op = Op::Image(ImageOp {
        action: ImageAction::Sample(Lod::Gradients),
        ..op
    });
}
