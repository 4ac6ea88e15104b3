//! Bits: shifts and logic, two of the IR's operations an instruction where they fit.
//!
//! The instruction computes `(a shifted) op b`, with `b` and the result invertible.
//! Facts: hardware/compiler-isel.md 4.3, hardware/valhall-isa.md 9.4.

use super::Selector;
use crate::ir::{self, Alu, InstData};
use crate::valhall::mir::{Instr, Op, Select, Source};
use smallvec::smallvec;

/// How the first operand is shifted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shift {
    Left,
    Right,
    Arithmetic,
    Rotate,
}

/// How it is combined with the last operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Logic {
    And,
    Or,
    Xor,
}

impl Shift {
    fn of(alu: Alu) -> Option<Shift> {
        match alu {
            Alu::IShl => Some(Shift::Left),
            Alu::UShr => Some(Shift::Right),
            Alu::SShr => Some(Shift::Arithmetic),
            Alu::RotL => Some(Shift::Rotate),
            _ => None,
        }
    }

    fn op(self, logic: Logic) -> Op {
        match (self, logic) {
            (Shift::Left, Logic::And) => Op::LShiftAnd,
            (Shift::Left, Logic::Or) => Op::LShiftOr,
            (Shift::Left, Logic::Xor) => Op::LShiftXor,
            (Shift::Right, Logic::And) => Op::RShiftAnd,
            (Shift::Right, Logic::Or) => Op::RShiftOr,
            (Shift::Right, Logic::Xor) => Op::RShiftXor,
            (Shift::Arithmetic, Logic::And) => Op::ARShiftAnd,
            (Shift::Arithmetic, Logic::Or) => Op::ARShiftOr,
            (Shift::Arithmetic, Logic::Xor) => Op::ARShiftXor,
            (Shift::Rotate, Logic::And) => Op::LRotAnd,
            (Shift::Rotate, Logic::Or) => Op::LRotOr,
            (Shift::Rotate, Logic::Xor) => Op::LRotXor,
        }
    }
}

impl Logic {
    fn of(alu: Alu) -> Option<Logic> {
        match alu {
            Alu::IAnd => Some(Logic::And),
            Alu::IOr => Some(Logic::Or),
            Alu::IXor => Some(Logic::Xor),
            _ => None,
        }
    }
}

impl Selector<'_> {
    /// A shift, a logic operation or a complement.
    pub(super) fn bitwise(&mut self, alu: Alu, data: &InstData) {
        // Conversions run on a unit four times as wide as that of shifts.
        if self.signed_part_of(data.results[0]).is_some() {
            self.extend_sign(data);
            return;
        }
        if let Some(instr) = self.unsigned_part(data) {
            self.define(data.results[0], instr);
            return;
        }
        let instr = match (Shift::of(alu), Logic::of(alu)) {
            // A sum takes a quarter of the time of a shift.
            (Some(Shift::Left), _) if self.ir.as_word(data.args[1]) == Some(1) => {
                let a = self.plain(data.args[0]);
                Instr {
                    sources: smallvec![a, a],
                    ..Instr::new(Op::IAdd)
                }
            }
            (Some(shift), _) => {
                let (a, amount) = (self.integer_source(data.args[0]), self.amount(data.args[1]));
                Instr {
                    sources: smallvec![a, amount, Source::constant(0)],
                    ..Instr::new(shift.op(Logic::Or))
                }
            }
            (None, Some(Logic::Xor)) if self.takes_away_own_bits(data) => Instr {
                sources: data.args.iter().map(|&arg| self.plain(arg)).collect(),
                ..Instr::new(Op::ISub)
            },
            (None, Some(logic)) => self.logic(logic, data),
            // A complement: what is left of all bits, which takes a quarter of the time of logic.
            (None, None) => Instr {
                sources: smallvec![Source::constant(u32::MAX), self.plain(data.args[0])],
                ..Instr::new(Op::ISub)
            },
        };
        self.define(data.results[0], instr);
    }

    /// Whether the second operand has bits of the first alone, so that a difference is what is left of it: nothing is borrowed.
    fn takes_away_own_bits(&self, data: &InstData) -> bool {
        let own = self.alu_of(data.args[1]);
        own.is_some_and(|(alu, inner)| alu == Alu::IAnd && inner.args.contains(&data.args[0]))
    }

    /// A byte or half of a word in a register, with zeros above.
    fn unsigned_part(&mut self, data: &InstData) -> Option<Instr> {
        let source = self.integer_source(data.results[0]);
        let op = match source.select {
            Select::B0 | Select::B1 | Select::B2 | Select::B3 => Op::U8ToU32,
            Select::H0 | Select::H1 => Op::U16ToU32,
            _ => return None,
        };
        Some(Instr {
            sources: smallvec![source],
            ..Instr::new(op)
        })
    }

    /// Logic, with a shift of one operand and a complement of the other taken in.
    fn logic(&mut self, logic: Logic, data: &InstData) -> Instr {
        for (shifted, other) in [(data.args[0], data.args[1]), (data.args[1], data.args[0])] {
            if let Some((alu, inner)) = self.alu_of(shifted)
                && let Some(shift) = Shift::of(alu)
                && self.single_use(shifted)
            {
                let (a, amount) = (inner.args[0], inner.args[1]);
                let sources = smallvec![
                    self.integer_source(a),
                    self.amount(amount),
                    self.complemented(other),
                ];
                return Instr {
                    sources,
                    ..Instr::new(shift.op(logic))
                };
            }
        }
        // The complement, if there is one, must stand last.
        let first_inverted = matches!(self.alu_of(data.args[0]), Some((Alu::INot, _)));
        let (a, b) = if first_inverted {
            (data.args[1], data.args[0])
        } else {
            (data.args[0], data.args[1])
        };
        let none = Source::constant(0).select(Select::B0);
        let sources = smallvec![self.integer_source(a), none, self.complemented(b)];
        Instr {
            sources,
            ..Instr::new(Shift::Left.op(logic))
        }
    }

    /// A value, read through a complement.
    fn complemented(&mut self, value: ir::Value) -> Source {
        match self.alu_of(value) {
            Some((Alu::INot, inner)) => {
                let inner = inner.args[0];
                Source {
                    not: true,
                    ..self.plain(inner)
                }
            }
            _ => self.plain(value),
        }
    }

    /// A shift amount: the low byte counts.
    fn amount(&mut self, value: ir::Value) -> Source {
        self.plain(value).select(Select::B0)
    }

    /// Bits of the second operand where the first is set, else of the third.
    pub(super) fn bit_select(&mut self, data: &InstData) {
        if self.choose_halves(data) {
            return;
        }
        let [mask, a, b] = [0, 1, 2].map(|index| self.plain(data.args[index]));
        let instr = Instr {
            sources: smallvec![a, b, mask],
            ..Instr::new(Op::Mux)
        };
        self.define(
            data.results[0],
            instr.with(crate::valhall::mir::Modifier::MuxBit),
        );
    }
}
