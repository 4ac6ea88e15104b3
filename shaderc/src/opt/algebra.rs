//! Algebraic rewriting: applies the table `rules`, only ever at the root of a match.
//!
//! Needs: nothing.  Never: touches words but those of 32 bits, for which the rules are written.  Guarantees: no rule marked `Inexact` touches an exact instruction; what is built in place of an exact
//! one is exact.  Facts: hardware/compiler-ir.md 4.7; hardware/compiler-correctness.md 1.2 and 1.4.
use std::sync::LazyLock;

use super::decided;
use super::rules::{Pattern, RULES, Rounding, Rule};
use super::whole_numbers;
use crate::ir::reads::count_reads;
use crate::ir::rewrite::rewrite_where;
use crate::ir::{Alu, Builder, Function, InstData, Op, Type, Value, ValueDef, Values};
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
}

/// Some of the rules for one operation: a bit each, by their numbers.
type Rules = u64;

/// Of one operand: the rules whose pattern there may match what makes it.
#[derive(Default)]
struct Operand {
    /// Those that ask for nothing.
    any: Rules,
    /// Those that ask for some constant word.
    constant: Rules,
    /// Those that ask for a certain constant: a few in a row.
    constants: Vec<(Made, Rules)>,
    /// By operation, as far as any is asked for: those that ask for its result.
    operations: Vec<Rules>,
}

impl Operand {
    fn add(&mut self, pattern: &Pattern, rule: Rules) {
        let made = match pattern {
            Pattern::Any(_) => return self.any |= rule,
            Pattern::Constant(_) => return self.constant |= rule,
            Pattern::Once(pattern) => return self.add(pattern, rule),
            Pattern::Word(bits) => Made::Word(*bits),
            Pattern::Bool(value) => Made::Bool(*value),
            Pattern::Op(alu, _) => Made::Alu(*alu),
        };
        if let Made::Alu(alu) = made {
            let number = alu as usize;
            if self.operations.len() <= number {
                self.operations.resize(number + 1, 0);
            }
            self.operations[number] |= rule;
            return;
        }
        let mut constants = self.constants.iter_mut();
        match constants.find(|(other, _)| *other == made) {
            Some((_, rules)) => *rules |= rule,
            None => self.constants.push((made, rule)),
        }
    }

    fn may_match(&self, made: Made) -> Rules {
        let certain = || {
            let known = self.constants.iter().find(|(other, _)| *other == made);
            known.map_or(0, |(_, rules)| *rules)
        };
        let found = match made {
            Made::Word(_) => self.constant | certain(),
            Made::Bool(_) => certain(),
            Made::Alu(alu) => self.operations.get(alu as usize).copied().unwrap_or(0),
            Made::Otherwise => 0,
        };
        self.any | found
    }
}

/// The rules for an operation.
#[derive(Default)]
struct Root {
    /// In the order of the table, by number.
    rules: Vec<&'static Rule>,
    /// Those that ask for one value as two operands.
    doubled: Rules,
    /// Whether the first two operands may change places.
    commutes: bool,
    operands: Vec<Operand>,
}

impl Root {
    fn of(alu: Alu) -> Root {
        let mut root = Root {
            commutes: alu.commutes(),
            ..Root::default()
        };
        for rule in RULES.iter().filter(|rule| rule.root() == alu) {
            let number = root.rules.len();
            root.rules.push(rule);
            if let Pattern::Op(_, patterns) = rule.find {
                root.operands.resize_with(patterns.len(), Operand::default);
                for (operand, pattern) in root.operands.iter_mut().zip(patterns) {
                    operand.add(pattern, 1 << number);
                }
                let variables = patterns.iter().filter_map(|pattern| match pattern {
                    Pattern::Any(variable) => Some(variable),
                    _ => None,
                });
                if has_double(variables) {
                    root.doubled |= 1 << number;
                }
            }
        }
        root
    }

    /// The rules that may match an instruction.
    fn may_match(&self, function: &Function, args: &[Value]) -> Rules {
        if self.rules.is_empty() {
            return 0;
        }
        let made = |arg: &Value| Made::of(function, *arg);
        let rules = match (self.operands.as_slice(), args) {
            ([a, b, rest @ ..], [left, right, others @ ..]) => {
                let (left, right) = (made(left), made(right));
                let mut rules = a.may_match(left) & b.may_match(right);
                if self.commutes {
                    rules |= a.may_match(right) & b.may_match(left);
                }
                let rest = rest.iter().zip(others);
                rest.fold(rules, |rules, (operand, arg)| {
                    rules & operand.may_match(made(arg))
                })
            }
            ([a], [arg]) => a.may_match(made(arg)),
            _ => 0,
        };
        match rules & self.doubled != 0 && !has_double(args.iter()) {
            true => rules & !self.doubled,
            false => rules,
        }
    }
}

/// Whether something comes twice.
fn has_double<T: PartialEq>(mut items: impl Iterator<Item = T> + Clone) -> bool {
    while let Some(item) = items.next() {
        if items.clone().any(|other| other == item) {
            return true;
        }
    }
    false
}

/// How often values are read, by number; not of those that this pass made.
struct Reads(Vec<u32>);

impl Reads {
    fn is_once(&self, value: Value) -> bool {
        self.0.get(value.index()) == Some(&1)
    }
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let reads = Reads(count_reads(function));
    let wanted = |function: &Function, data: &InstData| {
        let root = root_of(data);
        let may_match = root.is_some_and(|root| root.may_match(function, &data.args) != 0);
        may_match || whole_numbers::may_match(data.op) || decided::may_match(data.op)
    };
    let changed = rewrite_where(function, wanted, |b, data| {
        if !plain(b.function, data) {
            return None;
        }
        if let Some(value) = whole_numbers::simpler(b, data) {
            return Some(vec![value]);
        }
        if let Some(always) = decided::decided(b.function, data) {
            return Some(vec![b.function.bool(always)]);
        }
        let root = root_of(data)?;
        let mut left = root.may_match(b.function, &data.args);
        while left != 0 {
            let rule = root.rules[left.trailing_zeros() as usize];
            if let Some(values) = apply(b, &reads, rule, data) {
                return Some(values);
            }
            left &= left - 1;
        }
        None
    });
    Changed::from_bool(changed)
}

/// The rules for the operation of an instruction.
fn root_of(data: &InstData) -> Option<&'static Root> {
    static ROOTS: LazyLock<Vec<Root>> =
        LazyLock::new(|| Alu::ALL.iter().map(|alu| Root::of(*alu)).collect());
    match data.op {
        Op::Alu(alu) => ROOTS.get(alu as usize),
        _ => None,
    }
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
            let mut args = Values::new();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Access, Space};
    use crate::measure::Measure;
    use crate::opt::rules::tests::booleans;

    /// Words among which every condition of a rule finds its constants.
    #[rustfmt::skip]
    const WORDS: &[u32] = &[
        3, 4, 1, 2, 8, 16, 24, 28, 31, 0xff, 0xffff, 0xffff_ffff, 0xffff_0000, 0x4040_0000, 0x3f00_0000, 0xabcd_ffff,
    ];

    /// Builds what a rule finds.
    fn find(b: &mut Builder<'_>, pattern: &Pattern, values: &[Value; 8]) -> Value {
        match pattern {
            Pattern::Any(variable) | Pattern::Constant(variable) => values[*variable],
            Pattern::Word(bits) => b.word(*bits),
            Pattern::Bool(value) => b.function.bool(*value),
            Pattern::Op(alu, patterns) => {
                let args: Vec<Value> = patterns.iter().map(|part| find(b, part, values)).collect();
                b.alu(*alu, &args)
            }
            Pattern::Once(pattern) => find(b, pattern, values),
        }
    }

    #[test]
    fn every_rule_makes_the_measure_smaller() {
        let pairs = WORDS
            .iter()
            .flat_map(|k| WORDS.iter().map(move |l| [*k, *l]));
        for rule in RULES {
            let row = format!("{:?} => {:?}", rule.find, rule.give);
            let constants = pairs.clone().find(|pair| {
                rule.holds(|variable| variable.checked_sub(4).and_then(|at| pair.get(at)).copied())
            });
            let [k, l] = constants.unwrap_or_else(|| panic!("no constants for {row}"));
            let mut function = Function::new("main");
            function.shared_bytes = 64;
            let block = function.new_block();
            let mut b = Builder::new(&mut function, block);
            let mut bools = [false; 8];
            booleans(&rule.find, None, &mut bools);
            booleans(&rule.give, rule.root().result().ty(), &mut bools);
            let values = std::array::from_fn(|variable| match variable {
                4 => b.word(k),
                5 => b.word(l),
                6 => b.word(0xfff),
                _ => {
                    let place = b.word(4 * variable as u32);
                    let word = b.load(Access::words(Space::Shared, 1), &[place])[0];
                    match bools[variable] {
                        true => b.alu(Alu::FGe, &[word, word]),
                        false => word,
                    }
                }
            });
            let found = find(&mut b, &rule.find, &values);
            let stored = match b.function.ty(found) {
                Type::Bool => b.alu(Alu::B2F, &[found]),
                _ => found,
            };
            let place = b.word(0);
            b.store(Access::words(Space::Shared, 1), &[place], &[stored]);
            b.terminate(crate::ir::Terminator::Return);
            let (text, before) = (function.to_string(), Measure::of(&function));
            assert_eq!(
                run(&mut function, &Target::default()),
                Changed::Yes,
                "{row}\n{text}"
            );
            assert!(
                Measure::of(&function) < before,
                "{row}\n{text}became\n{function}"
            );
        }
    }

    #[test]
    fn the_rules_for_an_operation_have_a_bit_each() {
        for alu in Alu::ALL {
            let count = Root::of(*alu).rules.len();
            assert!(count <= Rules::BITS as usize, "{alu:?} has {count} rules");
        }
    }
}
