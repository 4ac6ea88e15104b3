//! Constant folding: pure operations on constants, computed by the interpreter's function; elements of bindings.
//!
//! Needs: nothing.  Guarantees: folding and running give the same, always; no word is converted to its own width.
use crate::interp::eval::eval;
use crate::ir::rewrite::rewrite;
use crate::ir::{Function, Kind, Op};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "fold_constants",
    what: "operations on constants become constants",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let changed = rewrite(function, |b, data| {
        if let Op::Resource(binding) = data.op {
            let element = b.function.as_word(data.args[0])?;
            return Some(vec![b.function.resource(binding, element)]);
        }
        let Op::Alu(alu) = data.op else { return None };
        let between = alu.operands() == [Kind::N];
        if between && b.function.ty(data.args[0]) == b.function.ty(data.results[0]) {
            return Some(data.args.to_vec());
        }
        let mut args = [0; 4];
        for (arg, value) in args.iter_mut().zip(&data.args) {
            *arg = b.function.as_bits(*value)?;
        }
        let (ty, width) = (b.function.ty(data.results[0]), b.function.width(data));
        Some(vec![b.function.constant_of(ty, eval(alu, width, args))])
    });
    Changed::from_bool(changed)
}
