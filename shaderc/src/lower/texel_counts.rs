//! Numbers of texels: of a texel buffer that isn't known, chosen among those of all that it may be.
//!
//! Needs: nothing.  Guarantees: the size of a texel buffer is asked for only where it is known which one that is, so that it
//! can be a number of the dispatch. A machine that divides the length by the size of a texel would need a division.
use crate::ir::rewrite::rewrite;
use crate::ir::{Alu, Dim, Function, ImageAction, Op};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "texel_counts",
    what: "the size of a texel buffer is chosen among those of its array",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let changed = rewrite(function, |b, data| {
        let Op::Image(image) = data.op else {
            return None;
        };
        if image.action != ImageAction::Size || image.shape.dim != Dim::Buffer {
            return None;
        }
        let Op::Resource(binding) = b.function.def_inst(data.args[0])?.op else {
            return None;
        };
        let element = b.function.def_inst(data.args[0])?.args[0];
        let count = b.function.binding(binding)?.count;
        let first = b.function.resource(binding, 0);
        let mut size = b.inst(data.op, &[first])[0];
        for number in 1..count {
            let resource = b.function.resource(binding, number);
            let other = b.inst(data.op, &[resource])[0];
            let here = b.alu_word(Alu::IEq, element, number);
            size = b.select(here, other, size);
        }
        Some(vec![size])
    });
    Changed::from_bool(changed)
}
