//! Dynamically indexed variables: small ones to selects, others to scratch memory.
//!
//! Needs: `promote_variables` has run; no variables of other words than those of 32 bits.  Guarantees: after another run of that, no variable is left.
//! An element number out of range does something harmless.  Facts: hardware/compiler-ir.md 3.3 and 5.
use crate::ir::range::upper_bound;
use crate::ir::rewrite::rewrite;
use crate::ir::{Access, Alu, Builder, Function, Op, Space, Type, Value, Var};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "indirect_variables",
    what: "dynamically indexed variables become selects or scratch memory",
    run,
};

/// Most elements that are selected among: each costs an instruction and a register, but no access of memory.
const MAX_SELECTED: u32 = 16;

fn run(function: &mut Function, _: &Target) -> Changed {
    let mut indexed = vec![false; function.vars().count()];
    for (_, inst) in function.placed_insts() {
        let data = function.inst(inst);
        if let Op::LoadVar(var) | Op::StoreVar(var) = data.op {
            indexed[var.index()] |= function.as_word(data.args[0]).is_none();
        }
    }
    let mut scratch = vec![None; indexed.len()];
    let large: Vec<(Var, u32)> = function
        .vars()
        .filter(|(var, data)| indexed[var.index()] && data.len > MAX_SELECTED)
        .map(|(var, data)| (var, data.len))
        .collect();
    for (var, len) in large {
        scratch[var.index()] = Some(function.scratch_bytes);
        // Far too much is refused by the back end.
        let bytes = (4 * len).next_multiple_of(16);
        function.scratch_bytes = function.scratch_bytes.saturating_add(bytes);
    }
    let changed = rewrite(function, |b, data| {
        let (var, stored) = match data.op {
            Op::LoadVar(var) => (var, None),
            Op::StoreVar(var) => (var, Some(data.args[1])),
            _ => return None,
        };
        let element = data.args[0];
        match (scratch[var.index()], stored) {
            (Some(base), None) => Some(vec![load(b, var, base, element)]),
            (Some(base), Some(value)) => {
                store(b, var, base, element, value);
                Some(vec![])
            }
            (None, _) if b.function.as_word(element).is_some() => None,
            (None, None) => Some(vec![select(b, var, element)]),
            (None, Some(value)) => {
                replace(b, var, element, value);
                Some(vec![])
            }
        }
    });
    Changed::from_bool(changed)
}

/// Element `low` to `high` by halving: each half's result selected by whether the number is below the middle.
fn select(b: &mut Builder<'_>, var: Var, element: Value) -> Value {
    let len = b.function.var(var).len;
    let loads = (0..len).map(|number| {
        let number = b.word(number);
        b.load_var(var, number)
    });
    let mut level: Vec<(u32, Value)> = (0..).zip(loads.collect::<Vec<Value>>()).collect();
    while level.len() > 1 {
        let mut next = vec![];
        for pair in level.chunks(2) {
            match pair {
                [(first, low), (second, high)] => {
                    let below = b.alu_word(Alu::ULt, element, *second);
                    next.push((*first, b.select(below, *low, *high)));
                }
                rest => next.extend_from_slice(rest),
            }
        }
        level = next;
    }
    level[0].1
}

fn replace(b: &mut Builder<'_>, var: Var, element: Value, value: Value) {
    for number in 0..b.function.var(var).len {
        let here = b.alu_word(Alu::IEq, element, number);
        let number = b.word(number);
        let old = b.load_var(var, number);
        let new = b.select(here, value, old);
        b.store_var(var, number, new);
    }
}

/// The byte offset in scratch, kept inside the variable.
fn offset(b: &mut Builder<'_>, var: Var, base: u32, element: Value) -> Value {
    let last = b.function.var(var).len - 1;
    if let Some(number) = b.function.as_word(element) {
        return b.word(base.wrapping_add(4 * number.min(last)));
    }
    let number = match upper_bound(b.function, element) <= last {
        true => element,
        false => b.alu_word(Alu::UMin, element, last),
    };
    let bytes = b.alu_word(Alu::IShl, number, 2);
    match base {
        0 => bytes,
        base => b.alu_word(Alu::IAdd, bytes, base),
    }
}

fn load(b: &mut Builder<'_>, var: Var, base: u32, element: Value) -> Value {
    let offset = offset(b, var, base, element);
    let word = b.load(Access::words(Space::Scratch, 1), &[offset])[0];
    match b.function.var(var).ty {
        Type::Bool => b.alu_word(Alu::INe, word, 0),
        _ => word,
    }
}

fn store(b: &mut Builder<'_>, var: Var, base: u32, element: Value, value: Value) {
    let offset = offset(b, var, base, element);
    let word = match b.function.var(var).ty {
        Type::Bool => b.alu(Alu::B2I, &[value]),
        _ => value,
    };
    b.store(Access::words(Space::Scratch, 1), &[offset], &[word]);
}
