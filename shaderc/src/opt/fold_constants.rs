//! Constant folding: pure operations on constants, computed by the interpreter's function.
//!
//! Needs: nothing.  Guarantees: folding and running give the same, always.
use crate::interp::eval::eval;
use crate::ir::rewrite::rewrite;
use crate::ir::{Function, Op};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "fold_constants",
    what: "operations on constants become constants",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let changed = rewrite(function, |b, data| {
        let Op::Alu(alu) = data.op else { return None };
        let mut args = [0; 4];
        for (arg, value) in args.iter_mut().zip(&data.args) {
            *arg = b.function.as_bits(*value)?;
        }
        let ty = b.function.ty(data.results[0]);
        Some(vec![b.function.constant_of(ty, eval(alu, args))])
    });
    Changed::from_bool(changed)
}
