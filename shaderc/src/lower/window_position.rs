//! Window position: what a vertex shader stores becomes what the tiler reads.
//!
//! Needs: outputs stored in one block, behind all that is computed for them.  Guarantees: positions are window coordinates
//! and 1/w, sizes of points at least 1; what is interpolated without regard to perspective is multiplied by w. Once:
//! [`PositionSpace`] says whether it was done.
//! Facts: hardware/graphics-compiler.md 1.2, 2.4.
use crate::ir::{
    Alu, Axis, BlockId, Builder, Function, Inst, Op, Output, PositionSpace, Stage, Uniform, Value,
};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "window_position",
    what: "positions of vertices become window coordinates",
    run,
};

/// The largest 1/w.
const MOST_RECIPROCAL: f32 = 32768.0;
/// The least size of a point.
const LEAST_SIZE: f32 = 1.0;

fn run(function: &mut Function, _: &Target) -> Changed {
    let Stage::Vertex(mut vertex) = function.stage else {
        return Changed::No;
    };
    if vertex.position == PositionSpace::Window {
        return Changed::No;
    }
    vertex.position = PositionSpace::Window;
    function.stage = Stage::Vertex(vertex);
    if let Some(block) = storing_block(function) {
        transform(function, block, vertex.noperspective);
    }
    Changed::Yes
}

/// The block in which outputs are stored: that of the position, if it is.
fn storing_block(function: &Function) -> Option<BlockId> {
    let mut found = None;
    for (block, inst) in function.placed_insts() {
        match function.inst(inst).op {
            Op::StoreOutput(Output::Position) => return Some(block),
            Op::StoreOutput(_) => found = Some(block),
            _ => {}
        }
    }
    found
}

fn transform(function: &mut Function, block: BlockId, noperspective: u32) {
    let insts = std::mem::take(&mut function.block_mut(block).insts);
    let is_store = |inst: &Inst| matches!(function.inst(*inst).op, Op::StoreOutput(_));
    let first = insts.iter().position(is_store).unwrap_or(insts.len());
    let stores = insts[first..].to_vec();
    function.block_mut(block).insts = insts[..first].to_vec();
    let mut b = Builder::new(function, block);
    // 1/w as it is stored; then the factor of what has no perspective.
    let mut reciprocal = None;
    let position = stores.iter().find(|inst| {
        let op = b.function.inst(**inst).op;
        op == Op::StoreOutput(Output::Position)
    });
    if let Some(inst) = position {
        b.position = b.function.inst(*inst).position;
        let args = b.function.inst(*inst).args.clone();
        let r = clamped_reciprocal(&mut b, args[3]);
        for (axis, arg) in Axis::ALL.into_iter().zip(args) {
            let scale = b.uniform(Uniform::ViewportScale(axis));
            let offset = b.uniform(Uniform::ViewportOffset(axis));
            let divided = b.alu(Alu::FMul, &[arg, r]);
            let placed = b.alu(Alu::FFma, &[divided, scale, offset]);
            b.function.inst_mut(*inst).args[axis.index()] = placed;
        }
        b.function.inst_mut(*inst).args[3] = r;
        reciprocal = Some(r);
    }
    let mut factor: Option<Value> = None;
    for inst in &stores {
        b.position = b.function.inst(*inst).position;
        match b.function.inst(*inst).op {
            Op::StoreOutput(Output::PointSize) => {
                let size = b.function.inst(*inst).args[0];
                let size = b.alu_float(Alu::FMax, size, LEAST_SIZE);
                b.function.inst_mut(*inst).args[0] = size;
            }
            Op::StoreOutput(Output::Varying { location, .. }) if is_in(noperspective, location) => {
                // Without a position nothing is drawn.
                let Some(r) = reciprocal else { continue };
                let by = *factor.get_or_insert_with(|| b.alu(Alu::FRcp, &[r]));
                for number in 0..b.function.inst(*inst).args.len() {
                    let word = b.function.inst(*inst).args[number];
                    let word = b.alu(Alu::FMul, &[word, by]);
                    b.function.inst_mut(*inst).args[number] = word;
                }
            }
            _ => {}
        }
    }
    function.block_mut(block).insts.extend(stores);
}

/// Whether a mask has a location's bit; those behind all that sources may name have none.
fn is_in(mask: u32, location: u8) -> bool {
    let shifted = mask.checked_shr(location.into());
    shifted.is_some_and(|it| it & 1 != 0)
}

fn clamped_reciprocal(b: &mut Builder<'_>, w: Value) -> Value {
    let r = b.alu(Alu::FRcp, &[w]);
    let r = b.alu_float(Alu::FMax, r, -MOST_RECIPROCAL);
    b.alu_float(Alu::FMin, r, MOST_RECIPROCAL)
}
