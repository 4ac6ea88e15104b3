//! Constant folding: pure operations on constants, computed by the interpreter's function; elements of bindings.
//!
//! Needs: nothing.  Guarantees: folding and running give the same, always; no word is converted to its own width.
use crate::interp::eval::eval;
use crate::ir::rewrite::rewrite_where;
use crate::ir::{Function, InstData, Kind, Op, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "fold_constants",
    what: "operations on constants become constants",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let changed = rewrite_where(function, is_foldable, |b, data| {
        if let Op::Resource(binding) = data.op {
            let element = b.function.as_word(data.args[0])?;
            return Some(vec![b.function.resource(binding, element)]);
        }
        let Op::Alu(alu) = data.op else { return None };
        if converts_nothing(b.function, data) {
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

/// Whether an instruction reads constants alone, or gives what it reads.
fn is_foldable(function: &Function, data: &InstData) -> bool {
    let mut args = data.args.iter();
    let constant = |arg: &Value| function.as_bits(*arg).is_some();
    match data.op {
        Op::Alu(_) => args.all(constant) || converts_nothing(function, data),
        Op::Resource(_) => args.all(constant),
        _ => false,
    }
}

/// Whether it converts a word to its own width.
fn converts_nothing(function: &Function, data: &InstData) -> bool {
    match data.op {
        Op::Alu(alu) if alu.operands() == [Kind::N] => {
            function.ty(data.args[0]) == function.ty(data.results[0])
        }
        _ => false,
    }
}
