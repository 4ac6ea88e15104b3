//! Guards of image atomics: a texel has an address, which is none outside of the image.
//!
//! Needs: nothing.  Guarantees: an atomic on an image touches only a texel that is there, and gives 0 elsewhere. Other
//! accesses of images need nothing: the hardware compares their coordinates with the size.
//! Facts: hardware/compiler-lowering.md 8.3, 8.4; hardware/compiler-correctness.md 3.

use rustc_hash::FxHashMap as HashMap;

use super::switches::retarget;
use crate::ir::Alu;
use crate::ir::layout::order_blocks;
use crate::ir::{
    BlockId, Builder, Dim, Function, ImageAction, ImageOp, Inst, Memory, Op, Terminator, Value,
};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "guard_image_atomics",
    what: "atomics on images are done only where there is a texel",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    guard(function, |image| {
        matches!(image.action, ImageAction::Atomic(_)) && image.shape.dim != Dim::Buffer
    })
}

/// The query of the size of an operation's image.
pub(super) fn size_of(image: ImageOp) -> ImageOp {
    ImageOp {
        memory: Memory::Constant,
        ..ImageOp::new(ImageAction::Size, image.shape)
    }
}

/// Puts operations that `wanted` tells behind a comparison with the size of their image.
pub(super) fn guard(function: &mut Function, wanted: impl Fn(ImageOp) -> bool) -> Changed {
    let mut changed = Changed::No;
    // What an atomic gave, and what takes its place behind the guard.
    let mut replaced: HashMap<Value, Value> = HashMap::default();
    for block in function.layout.clone() {
        let mut at = block;
        while let Some((place, inst, image)) = next(function, at, &wanted) {
            changed = Changed::Yes;
            at = guard_one(function, at, place, (inst, image), &mut replaced);
        }
    }
    if changed == Changed::Yes {
        order_blocks(function);
        function.map_uses(|value| {
            let mut value = value;
            while let Some(next) = replaced.get(&value) {
                value = *next;
            }
            value
        });
        // The choices themselves read what was there before.
        let old: HashMap<Value, Value> = replaced.iter().map(|(old, new)| (*new, *old)).collect();
        for block in function.layout.clone() {
            for phi in &mut function.block_mut(block).phis {
                if let Some(old) = old.get(&phi.result) {
                    phi.sources[0].1 = *old;
                }
            }
        }
    }
    changed
}

/// The first instruction of a block that needs a guard.
fn next(
    function: &Function,
    block: BlockId,
    wanted: &impl Fn(ImageOp) -> bool,
) -> Option<(usize, Inst, ImageOp)> {
    let insts = function.block(block).insts.iter().enumerate();
    insts
        .filter_map(|(place, inst)| match function.inst(*inst).op {
            Op::Image(image) => Some((place, *inst, image)),
            _ => None,
        })
        .find(|(_, _, image)| wanted(*image))
}

/// Guards one instruction. Returns the block in which what follows it now stands.
fn guard_one(
    function: &mut Function,
    block: BlockId,
    place: usize,
    (inst, image): (Inst, ImageOp),
    replaced: &mut HashMap<Value, Value>,
) -> BlockId {
    let data = function.block(block);
    let before = data.insts[..place].to_vec();
    let after = data.insts[place + 1..].to_vec();
    let (terminator, position) = (data.terminator.clone(), data.position);
    let [inside, rest] = [(); 2].map(|()| function.new_block());
    for target in terminator.targets() {
        retarget(function, target, block, rest);
    }
    let data = function.block_mut(rest);
    (data.insts, data.terminator, data.position) = (after, terminator, position);
    function.block_mut(inside).insts = vec![inst];
    function.block_mut(inside).terminator = Terminator::Jump(rest);
    function.block_mut(block).insts = before;
    let data = function.inst(inst).clone();
    let mut b = Builder::new(function, block);
    b.position = data.position;
    let condition = is_inside(&mut b, image, &data.args);
    b.terminate(Terminator::Branch {
        condition,
        then: inside,
        otherwise: rest,
    });
    if let Some(&result) = data.results.first() {
        let zero = function.word(0);
        let choice = function.new_phi(rest, function.ty(result));
        if let Some(phi) = function.block_mut(rest).phis.last_mut() {
            phi.sources = vec![(inside, result), (block, zero)];
        }
        replaced.insert(result, choice);
    }
    rest
}

/// Whether all coordinates are less than the sizes.
fn is_inside(b: &mut Builder<'_>, image: ImageOp, args: &[Value]) -> Value {
    let query = size_of(image);
    let mut operands = vec![args[0]];
    if query.level_operands() == 1 {
        operands.push(b.word(0));
    }
    let mut sizes = b.inst(Op::Image(query), &operands);
    if image.shape.multisampled {
        let samples = ImageOp {
            action: ImageAction::Samples,
            ..query
        };
        sizes.extend(b.inst(Op::Image(samples), &args[..1]));
    }
    let pairs = args[1..].iter().zip(sizes);
    let each: Vec<Value> = pairs
        .map(|(at, size)| b.alu(Alu::ULt, &[*at, size]))
        .collect();
    let all = each.into_iter();
    all.reduce(|all, one| b.alu(Alu::BAnd, &[all, one]))
        .unwrap_or_else(|| b.function.bool(true))
}
