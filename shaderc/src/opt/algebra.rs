//! Algebraic rewriting: applies the table `rules`, only ever at the root of a match.
//!
//! Needs: nothing.  Never: touches words but those of 32 bits, for which the rules are written.  Guarantees: no rule marked `Inexact` touches an exact instruction; what is built in place of an exact
//! one is exact.  Facts: hardware/compiler-ir.md 4.7; hardware/compiler-correctness.md 1.2 and 1.4.
use std::sync::LazyLock;

use smallvec::SmallVec;

use super::rules::{Pattern, RULES, Rounding, Rule};
use crate::ir::rewrite::rewrite;
use crate::ir::{Alu, Builder, Function, InstData, Op, Type, Value, ValueDef};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "algebra",
    what: "applies the algebraic rules",
    run,
};

/// Values of a rule's variables.
type Bindings = [Option<Value>; 8];

/// What makes an operand, as far as the roots of patterns ask: most rules are left out by it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    Word(u32),
    Bool(bool),
    Alu(Alu),
    Otherwise,
}

impl Made {
    fn of(function: &Function, value: Value) -> Made {
        match (function.def(value), function.ty(value)) {
            (ValueDef::Word(bits), Type::W32) => Made::Word(bits as u32),
            (ValueDef::Bool(value), _) => Made::Bool(value),
            (ValueDef::Result(inst, _), _) => match function.inst(inst).op {
                Op::Alu(alu) => Made::Alu(alu),
                _ => Made::Otherwise,
            },
            (ValueDef::Word(_) | ValueDef::Phi(_), _) => Made::Otherwise,
        }
    }

    fn may_match(self, pattern: &Pattern) -> bool {
        match pattern {
            Pattern::Any(_) => true,
            Pattern::Constant(_) => matches!(self, Made::Word(_)),
            Pattern::Word(bits) => self == Made::Word(*bits),
            Pattern::Bool(value) => self == Made::Bool(*value),
            Pattern::Op(alu, _) => self == Made::Alu(*alu),
            Pattern::Once(pattern) => self.may_match(pattern),
        }
    }
}

/// Whether a rule's operands may be these, in this order or, where the first two commute, in the other.
fn may_match(rule: &Rule, operands: &[Made]) -> bool {
    let Pattern::Op(alu, patterns) = &rule.find else {
        return false;
    };
    match (*patterns, operands) {
        ([a, b], [left, right]) => {
            left.may_match(a) && right.may_match(b)
                || alu.commutes() && right.may_match(a) && left.may_match(b)
        }
        // With other numbers of operands nothing commutes that rules are about.
        _ if alu.commutes() => true,
        _ => {
            let mut pairs = patterns.iter().zip(operands);
            pairs.all(|(pattern, made)| made.may_match(pattern))
        }
    }
}

/// How often values are read, by number; not of those that this pass made.
struct Reads(Vec<u32>);

impl Reads {
    fn count(function: &mut Function) -> Reads {
        let mut reads = vec![0; function.value_count()];
        function.map_uses(|value| {
            reads[value.index()] += 1;
            value
        });
        Reads(reads)
    }

    fn is_once(&self, value: Value) -> bool {
        self.0.get(value.index()) == Some(&1)
    }
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let reads = Reads::count(function);
    let changed = rewrite(function, |b, data| {
        let Op::Alu(alu) = data.op else { return None };
        let rules = rules_of(alu);
        if rules.is_empty() || !plain(b.function, data) {
            return None;
        }
        let operands = data.args.iter().map(|arg| Made::of(b.function, *arg));
        let operands: SmallVec<[Made; 4]> = operands.collect();
        let mut rules = rules.iter().filter(|rule| may_match(rule, &operands));
        rules.find_map(|rule| apply(b, &reads, rule, data))
    });
    Changed::from_bool(changed)
}

/// The rules for an operation, in the order of the table.
fn rules_of(alu: Alu) -> &'static [&'static Rule] {
    static BY_ROOT: LazyLock<Vec<Vec<&Rule>>> = LazyLock::new(|| {
        let of = |alu: &Alu| RULES.iter().filter(|rule| rule.root() == *alu).collect();
        Alu::ALL.iter().map(of).collect()
    });
    BY_ROOT.get(alu as usize).map_or(&[], Vec::as_slice)
}

/// Whether an instruction has booleans and words of 32 bits alone.
fn plain(function: &Function, data: &InstData) -> bool {
    let mut values = data.args.iter().chain(&data.results);
    values.all(|value| matches!(function.ty(*value), Type::Bool | Type::W32))
}

fn apply(b: &mut Builder<'_>, reads: &Reads, rule: &Rule, data: &InstData) -> Option<Vec<Value>> {
    if data.exact && rule.rounding == Rounding::Inexact {
        return None;
    }
    let Pattern::Op(_, patterns) = rule.find else {
        return None;
    };
    let alu = rule.root();
    for swap in [false, true] {
        let mut bindings = Bindings::default();
        let found = (!swap || alu.commutes())
            && match_operands(
                (b.function, reads),
                rule,
                patterns,
                &data.args,
                swap,
                &mut bindings,
            )
            && rule
                .holds(|variable| bindings[variable].and_then(|value| b.function.as_word(value)));
        if found {
            return Some(vec![build(b, &rule.give, &bindings)?]);
        }
    }
    None
}

fn match_operands(
    within: (&Function, &Reads),
    rule: &Rule,
    patterns: &[Pattern],
    args: &[Value],
    swap: bool,
    bindings: &mut Bindings,
) -> bool {
    let order = |number: usize| match (swap, number) {
        (true, 0) => 1,
        (true, 1) => 0,
        _ => number,
    };
    patterns.len() == args.len()
        && patterns.iter().enumerate().all(|(number, pattern)| {
            match_value(within, rule, pattern, args[order(number)], bindings)
        })
}

fn match_value(
    within: (&Function, &Reads),
    rule: &Rule,
    pattern: &Pattern,
    value: Value,
    bindings: &mut Bindings,
) -> bool {
    let (function, reads) = within;
    match pattern {
        Pattern::Once(pattern) => {
            reads.is_once(value) && match_value(within, rule, pattern, value, bindings)
        }
        Pattern::Word(bits) => function.as_word(value) == Some(*bits),
        Pattern::Bool(wanted) => function.as_bool(value) == Some(*wanted),
        Pattern::Any(variable) | Pattern::Constant(variable) => {
            let constant = matches!(pattern, Pattern::Constant(_));
            if constant && function.as_word(value).is_none() {
                return false;
            }
            let bound = bindings[*variable].get_or_insert(value);
            *bound == value
        }
        Pattern::Op(alu, patterns) => {
            let Some(data) = function.def_inst(value) else {
                return false;
            };
            let inexact = data.exact && rule.rounding == Rounding::Inexact;
            if data.op != Op::Alu(*alu) || inexact || !plain(function, data) {
                return false;
            }
            let before = *bindings;
            for swap in [false, true] {
                if swap && !alu.commutes() {
                    break;
                }
                if match_operands(within, rule, patterns, &data.args, swap, bindings) {
                    return true;
                }
                *bindings = before;
            }
            false
        }
    }
}

fn build(b: &mut Builder<'_>, pattern: &Pattern, bindings: &Bindings) -> Option<Value> {
    Some(match pattern {
        Pattern::Any(variable) | Pattern::Constant(variable) => bindings[*variable]?,
        Pattern::Word(bits) => b.word(*bits),
        Pattern::Bool(value) => b.function.bool(*value),
        Pattern::Op(alu, patterns) => {
            let mut args = vec![];
            for pattern in *patterns {
                args.push(build(b, pattern, bindings)?);
            }
            fold_or_build(b, *alu, &args)
        }
        Pattern::Once(pattern) => build(b, pattern, bindings)?,
    })
}

/// Constants are computed at once, so that no rule sees a constant expression.
fn fold_or_build(b: &mut Builder<'_>, alu: Alu, args: &[Value]) -> Value {
    let mut bits = [0; 4];
    for (bit, value) in bits.iter_mut().zip(args) {
        match b.function.as_bits(*value) {
            Some(constant) => *bit = constant,
            None => return b.alu(alu, args),
        }
    }
    let width = b.function.common_type(alu.operands(), args);
    match alu.result().ty().or(width) {
        Some(ty) => {
            let result = crate::interp::eval::eval(alu, width.unwrap_or(ty), bits);
            b.function.constant_of(ty, result)
        }
        None => b.alu(alu, args),
    }
}
