//! Booleans: compares, their combinations, and selects.
//!
//! A boolean is a word, all ones or zero. Logic on booleans uses the compares' third source, which runs on a unit
//! four times as wide as the bitwise one.  Facts: hardware/compiler-isel.md 4.3, 4.7, hardware/valhall-isa.md 8.4, 9.5.

use super::Selector;
use crate::ir::{self, Alu, InstData};
use crate::valhall::mir::{Instr, Modifier, Op, Source};
use smallvec::smallvec;

/// Operands of a compare.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unsigned,
    Signed,
    Float,
}

/// How a compare takes in a third source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Combine {
    Or,
    And,
}

/// A comparison of the IR.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Compare {
    kind: Kind,
    condition: Modifier,
}

impl Compare {
    /// The comparison that an operation is.
    pub(super) fn of(alu: Alu) -> Option<Compare> {
        let (kind, condition) = match alu {
            // Resources are handles.
            Alu::IEq | Alu::REq => (Kind::Unsigned, Modifier::Eq),
            Alu::INe => (Kind::Unsigned, Modifier::Ne),
            Alu::SLt => (Kind::Signed, Modifier::Lt),
            Alu::SGe => (Kind::Signed, Modifier::Ge),
            Alu::ULt => (Kind::Unsigned, Modifier::Lt),
            Alu::UGe => (Kind::Unsigned, Modifier::Ge),
            Alu::FEq => (Kind::Float, Modifier::Eq),
            Alu::FNe => (Kind::Float, Modifier::Ne),
            Alu::FLt => (Kind::Float, Modifier::Lt),
            Alu::FGe => (Kind::Float, Modifier::Ge),
            _ => return None,
        };
        Some(Compare { kind, condition })
    }

    /// The opposite, where there is one: not for the ordering of floats, which NaN breaks.
    fn inverted(self) -> Option<Compare> {
        let condition = match (self.condition, self.kind) {
            (Modifier::Eq, _) => Modifier::Ne,
            (Modifier::Ne, _) => Modifier::Eq,
            (Modifier::Lt, Kind::Signed | Kind::Unsigned) => Modifier::Ge,
            (Modifier::Ge, Kind::Signed | Kind::Unsigned) => Modifier::Lt,
            _ => return None,
        };
        Some(Compare { condition, ..self })
    }

    fn op(self, combine: Combine) -> Op {
        match (self.kind, combine) {
            (Kind::Unsigned, Combine::Or) => Op::ICmpOrU,
            (Kind::Unsigned, Combine::And) => Op::ICmpAndU,
            (Kind::Signed, Combine::Or) => Op::ICmpOrS,
            (Kind::Signed, Combine::And) => Op::ICmpAndS,
            (Kind::Float, Combine::Or) => Op::FCmpOr,
            (Kind::Float, Combine::And) => Op::FCmpAnd,
        }
    }
}

/// A boolean that is not zero, as a compare.
const SET: Compare = Compare {
    kind: Kind::Unsigned,
    condition: Modifier::Ne,
};
/// A boolean that is zero.
const CLEAR: Compare = Compare {
    kind: Kind::Unsigned,
    condition: Modifier::Eq,
};

impl Selector<'_> {
    /// A comparison on its own.
    pub(super) fn compare(&mut self, compare: Compare, data: &InstData) {
        let instr = self.compare_with(compare, data, Combine::Or, Source::constant(0));
        self.define(data.results[0], instr.with(Modifier::ResultMask));
    }

    /// A comparison, combined with `third`.
    fn compare_with(
        &mut self,
        compare: Compare,
        data: &InstData,
        combine: Combine,
        third: Source,
    ) -> Instr {
        let [a, b] = [data.args[0], data.args[1]].map(|arg| match compare.kind {
            Kind::Float => self.float_source(arg),
            Kind::Unsigned => self.integer_source(arg),
            Kind::Signed => self.signed_integer_source(arg),
        });
        Instr {
            sources: smallvec![a, b, third],
            ..Instr::new(compare.op(combine))
        }
        .with(compare.condition)
    }

    /// A boolean word compared with zero, combined with `third`.
    fn test_with(
        &mut self,
        compare: Compare,
        value: ir::Value,
        combine: Combine,
        third: Source,
    ) -> Instr {
        let sources = smallvec![self.plain(value), Source::constant(0), third];
        Instr {
            sources,
            ..Instr::new(compare.op(combine))
        }
        .with(compare.condition)
    }

    /// The comparison of floats that defines `value` and that nobody else reads: what it compares, and how.
    pub(super) fn own_float_compare(
        &mut self,
        value: ir::Value,
    ) -> Option<([Source; 2], Modifier)> {
        let (compare, data) = self.own_compare(value)?;
        if !matches!(compare.kind, Kind::Float) {
            return None;
        }
        let sources = [data.args[0], data.args[1]].map(|arg| self.float_source(arg));
        Some((sources, compare.condition))
    }

    /// The comparison that defines `value` and that nobody else reads, inversions included.
    fn own_compare(&self, value: ir::Value) -> Option<(Compare, InstData)> {
        if !self.single_use(value) {
            return None;
        }
        let (alu, data) = self.alu_of(value)?;
        if alu == Alu::BNot {
            let (compare, data) = self.own_compare(data.args[0])?;
            return Some((compare.inverted()?, data));
        }
        Some((Compare::of(alu)?, data.clone()))
    }

    pub(super) fn conjunction(&mut self, data: &InstData) {
        self.combined(Combine::And, data);
    }

    pub(super) fn disjunction(&mut self, data: &InstData) {
        self.combined(Combine::Or, data);
    }

    /// `a and b`, `a or b`: one operand's own comparison takes the other one in.
    fn combined(&mut self, combine: Combine, data: &InstData) {
        let orders = [(data.args[1], data.args[0]), (data.args[0], data.args[1])];
        let found = orders
            .into_iter()
            .find_map(|(own, other)| Some((self.own_compare(own)?, other)));
        let instr = match found {
            Some(((compare, inner), other)) => {
                let third = self.plain(other);
                self.compare_with(compare, &inner, combine, third)
            }
            None => {
                let third = self.plain(data.args[1]);
                self.test_with(SET, data.args[0], combine, third)
            }
        };
        self.define(data.results[0], instr.with(Modifier::ResultMask));
    }

    pub(super) fn difference(&mut self, data: &InstData) {
        let sources = smallvec![
            self.plain(data.args[0]),
            self.plain(data.args[1]),
            Source::constant(0),
        ];
        let instr = Instr {
            sources,
            ..Instr::new(Op::ICmpOrU)
        }
        .with(Modifier::Ne);
        self.define(data.results[0], instr.with(Modifier::ResultMask));
    }

    pub(super) fn inverse(&mut self, data: &InstData) {
        let inverted = self
            .own_compare(data.args[0])
            .and_then(|(compare, inner)| Some((compare.inverted()?, inner)));
        let instr = match inverted {
            Some((compare, inner)) => {
                self.compare_with(compare, &inner, Combine::Or, Source::constant(0))
            }
            None => self.test_with(CLEAR, data.args[0], Combine::Or, Source::constant(0)),
        };
        self.define(data.results[0], instr.with(Modifier::ResultMask));
    }

    /// A boolean as 0 or 1, of either kind.
    pub(super) fn truth_value(&mut self, result: Modifier, data: &InstData) {
        let instr = match self.own_compare(data.args[0]) {
            Some((compare, inner)) => {
                self.compare_with(compare, &inner, Combine::Or, Source::constant(0))
            }
            None => self.test_with(SET, data.args[0], Combine::Or, Source::constant(0)),
        };
        self.define(data.results[0], instr.with(result));
    }

    /// A select; a comparison that only selects read is part of each of them.
    pub(super) fn choose(&mut self, data: &InstData) {
        let (yes, no) = (self.plain(data.args[1]), self.plain(data.args[2]));
        let (condition, yes, no) = match self.alu_of(data.args[0]) {
            Some((Alu::BNot, inner)) => (inner.args[0], no, yes),
            _ => (data.args[0], yes, no),
        };
        let fused = self
            .alu_of(condition)
            .and_then(|(alu, inner)| Some((Compare::of(alu)?, inner.clone())));
        let instr = match fused.filter(|(compare, inner)| self.fuses(condition, *compare, inner)) {
            Some((compare, inner)) => {
                let op = match compare.kind {
                    Kind::Float => Op::CselF,
                    Kind::Signed => Op::CselS,
                    Kind::Unsigned => Op::CselU,
                };
                let sources = smallvec![
                    self.plain(inner.args[0]),
                    self.plain(inner.args[1]),
                    yes,
                    no,
                ];
                Instr {
                    sources,
                    ..Instr::new(op)
                }
                .with(compare.condition)
            }
            None => {
                let sources = smallvec![self.plain(condition), Source::constant(0), yes, no];
                Instr {
                    sources,
                    ..Instr::new(Op::CselU)
                }
                .with(Modifier::Ne)
            }
        };
        self.define(data.results[0], instr);
    }

    /// True when every reader of the comparison is a select's condition and the select can read its operands, which
    /// must not need a sign or a part.
    fn fuses(&self, condition: ir::Value, compare: Compare, inner: &InstData) -> bool {
        let users = self.users.insts.of(condition.index());
        let selects = self.users.others[condition.index()] == 0
            && users.iter().all(|&inst| {
                let user = self.ir.inst(inst);
                user.op == ir::Op::Alu(Alu::Select)
                    && user.args[1..].iter().all(|&arg| arg != condition)
            });
        let modified = inner.args.iter().filter(|&&arg| {
            let absorbed = match compare.kind {
                Kind::Float => matches!(
                    self.alu_of(arg),
                    Some((Alu::FNeg | Alu::FAbs | Alu::HalfLow | Alu::HalfHigh, _))
                ),
                Kind::Unsigned => self.part_of(arg).is_some(),
                Kind::Signed => self.signed_part_of(arg).is_some(),
            };
            absorbed && self.single_use(arg)
        });
        // A comparison alone reads through what the select would need an instruction for.
        let fewer = match modified.count() {
            0 => true,
            1 => users.len() == 1,
            _ => false,
        };
        selects && fewer
    }

    /// The word whose being zero or not decides a branch on `value`, and whether not-zero means true.
    pub(super) fn branch_word(&mut self, value: ir::Value) -> (Source, bool) {
        if let Some((alu, data)) = self.alu_of(value) {
            let zero = data.args.get(1).and_then(|&arg| self.ir.as_word(arg)) == Some(0);
            match alu {
                Alu::BNot => {
                    let inner = data.args[0];
                    let (source, truth) = self.branch_word(inner);
                    return (source, !truth);
                }
                Alu::INe | Alu::IEq if zero => {
                    let inner = data.args[0];
                    return (self.plain(inner), alu == Alu::INe);
                }
                _ => {}
            }
        }
        (self.plain(value), true)
    }
}
