//! Least levels of samples by gradients, which have no operand for one: the level is worked out, and limited.
//!
//! Needs: gradients on the face, of cubes.  Guarantees: what samples by gradients has no least level. The level is a number then,
//! so such a sample is never anisotropic; the sampler's bias is added behind the limit.
//! Facts: hardware/compiler-passes.md (minimum LOD); hardware/graphics-texture.md 7.6 (LOD).
use super::guard_image_atomics::size_of;
use crate::ir::{
    Alu, BlockId, Builder, Function, ImageAction, ImageOp, Inst, InstData, Lod, Op, Value,
};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "least_levels",
    what: "samples by gradients that have a least level are told the level",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let mut changed = Changed::No;
    for block in function.layout.clone() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        for inst in insts {
            if let Op::Image(op) = function.inst(inst).op
                && op.action == ImageAction::Sample(Lod::Gradients)
                && op.min_lod
            {
                tell(function, block, inst, op);
                changed = Changed::Yes;
            }
            function.block_mut(block).insts.push(inst);
        }
    }
    changed
}

/// Makes the level an operand in place of the gradients and of the least level.
fn tell(function: &mut Function, block: BlockId, inst: Inst, op: ImageOp) {
    let data = function.inst(inst).clone();
    let (first, rest) = data.args.split_at(op.before_level());
    let (changes, rest) = rest.split_at(op.level_operands());
    let (least, offsets) = rest.split_at(1);
    let mut b = Builder::new(function, block);
    let level = level(&mut b, op, &data, changes);
    let limited = b.alu(Alu::FMax, &[level, least[0]]);
    let args = [first, &[limited], offsets].concat();
    let told = function.inst_mut(inst);
    told.args = args.into();
    told.op = Op::Image(ImageOp {
        action: ImageAction::Sample(Lod::Level),
        min_lod: false,
        ..op
    });
}

/// The logarithm of the longer one of the two changes, in texels of the first level.
fn level(b: &mut Builder<'_>, op: ImageOp, data: &InstData, changes: &[Value]) -> Value {
    b.position = data.position;
    let first_level = b.word(0);
    let sizes = b.inst(Op::Image(size_of(op)), &[data.args[0], first_level]);
    // Behind them the layers, which do not count.
    let axes = op.shape.dim.sizes();
    let texels = |size: &Value| b.alu(Alu::U2F, &[*size]);
    let sizes: Vec<Value> = sizes.iter().take(axes).map(texels).collect();
    let (x, y) = changes.split_at(axes);
    let [x, y] = [x, y].map(|change| squared_length(b, change, &sizes));
    let longer = b.alu(Alu::FMax, &[x, y]);
    let twice = b.alu(Alu::FLog2, &[longer]);
    b.alu_float(Alu::FMul, twice, 0.5)
}

/// The square of the length of a change, in texels.
fn squared_length(b: &mut Builder<'_>, change: &[Value], sizes: &[Value]) -> Value {
    let mut sum = b.float(0.0);
    for (part, size) in change.iter().zip(sizes) {
        let texels = b.alu(Alu::FMul, &[*part, *size]);
        let square = b.alu(Alu::FMul, &[texels, texels]);
        sum = b.alu(Alu::FAdd, &[sum, square]);
    }
    sum
}
