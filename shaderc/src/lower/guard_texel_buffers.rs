//! Guards of texel buffers: their texels have addresses, which nothing compares with the size.
//!
//! Needs: nothing.  Guarantees: no access of a texel buffer leaves it; loads and atomics outside give 0.
//! Facts: hardware/compiler-lowering.md 8.5; hardware/compiler-correctness.md 3.
use super::guard_image_atomics::{guard, size_of};
use crate::ir::rewrite::rewrite;
use crate::ir::{Alu, Dim, Function, ImageAction, Op};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "guard_texel_buffers",
    what: "texel buffers are accessed only where there is a texel",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let clamped = clamp_loads(function);
    let guarded = guard(function, |image| {
        let changes = matches!(image.action, ImageAction::Atomic(_) | ImageAction::Write(_));
        changes && image.shape.dim == Dim::Buffer
    });
    match guarded {
        Changed::Yes => Changed::Yes,
        Changed::No => Changed::from_bool(clamped),
    }
}

/// Loads of texel buffers read some texel, and give 0 if it was another one. A texel buffer has at least one.
fn clamp_loads(function: &mut Function) -> bool {
    rewrite(function, |b, data| {
        let Op::Image(image) = data.op else {
            return None;
        };
        let is_load = image.action == ImageAction::Read && image.shape.dim == Dim::Buffer;
        if !is_load {
            return None;
        }
        let mut args = data.args.clone();
        let count = b.inst(Op::Image(size_of(image)), &args[..1])[0];
        let last = b.alu_word(Alu::IAdd, count, u32::MAX);
        let inside = b.alu(Alu::ULt, &[args[1], count]);
        args[1] = b.alu(Alu::UMin, &[args[1], last]);
        let texel = b.inst(data.op, &args);
        let zero = b.word(0);
        let words = texel.iter();
        Some(words.map(|word| b.select(inside, *word, zero)).collect())
    })
}
