//! Booleans: compares, what is made of two, their opposites, and selects. A boolean is 0 or 1; what the block's end asks is
//! written to a predicate, which compares and bitwise instructions can do.
//!
//! Facts: hardware/ir3-isa.md 7 (what branches ask), 15 (select).

use super::Selector;
use crate::ir::{self, Alu, InstData};
use crate::ir3::mir::{Class, Condition, Instr, Op, Operand, Source, Type, Word};

impl Selector<'_> {
    /// A comparison.
    pub(super) fn compare(&mut self, op: Op, condition: Condition, data: &InstData) {
        let sources = [0, 1].map(|number| match op {
            Op::CmpsF => self.float_source(data.args[number]),
            _ => self.plain(data.args[number]),
        });
        let compare = Instr {
            condition: Some(condition),
            ..self.on(data, op, &sources)
        };
        self.define_boolean(data.results[0], compare);
    }

    /// What two booleans give.
    pub(super) fn combine(&mut self, op: Op, data: &InstData) {
        let sources = self.plain_all(data);
        self.define_boolean(data.results[0], Instr::on(op, &sources));
    }

    /// A boolean, in each kind of register in which it is read.
    fn define_boolean(&mut self, result: ir::Value, instr: Instr) {
        let mut left = self.users[result.index()].len();
        if self.asked.is_some_and(|(asked, _)| asked == result) {
            let predicate = self.function.new_value_of(Class::Predicate);
            self.predicate = Some(predicate);
            let asked = Instr {
                predicate: true,
                ..instr.clone()
            };
            self.emit(asked.to(Word::Value(predicate)));
            left -= 1;
        }
        let of_halves = self.half_selections(result);
        if of_halves > 0 {
            let half = self.new_word(Class::Half);
            self.half_booleans.insert(result, half);
            self.emit(instr.clone().to(half));
            left -= of_halves;
        }
        if left > 0 {
            self.define(result, instr);
        }
    }

    /// How many selections of halves a boolean decides.
    fn half_selections(&self, boolean: ir::Value) -> usize {
        let users = self.users[boolean.index()].insts.iter();
        let selections = users.filter(|&&user| {
            let user = self.ir.inst(user);
            user.op == ir::Op::Alu(Alu::Select) && self.is_half(user)
        });
        selections.count()
    }

    /// A boolean in a half register.
    fn half_boolean(&mut self, value: ir::Value) -> Source {
        let boolean = self.plain(value);
        match (boolean.operand, self.half_booleans.get(&value)) {
            (_, Some(half)) => Source::word(*half),
            (Operand::Constant(_), None) => boolean,
            _ => self.put_in(Class::Half, Instr::converted(Type::U32, Type::U16, boolean)),
        }
    }

    /// What the end of a block asks, read through opposites that nothing else reads.
    pub(super) fn find_asked(&mut self, block: ir::BlockId) {
        self.predicate = None;
        self.asked = match self.ir.block(block).terminator {
            ir::Terminator::Branch { condition, .. } => {
                let (mut value, mut not) = (condition, false);
                while let Some((Alu::BNot, data)) = self.alu_of(value)
                    && self.single_use(value)
                {
                    (value, not) = (data.args[0], !not);
                    let given = data.results[0];
                    self.done[given.index()] = true;
                }
                Some((value, not))
            }
            _ => None,
        };
    }

    /// The predicate that the end of a block asks, and whether it asks the opposite.
    pub(super) fn asked_predicate(&mut self) -> Option<(Word, bool)> {
        let (value, not) = self.asked?;
        let predicate = match self.predicate {
            Some(predicate) => predicate,
            None => {
                let predicate = self.function.new_value_of(Class::Predicate);
                let word = self.in_register(value);
                let test = Instr {
                    condition: Some(Condition::Ne),
                    predicate: true,
                    ..Instr::on(Op::CmpsU, &[Source::word(word), Source::constant(0)])
                };
                self.emit(test.to(Word::Value(predicate)));
                predicate
            }
        };
        Some((Word::Value(predicate), not))
    }

    pub(super) fn inverse(&mut self, data: &InstData) {
        let source = self.plain(data.args[0]);
        let sources = [source, Source::constant(1)];
        self.define(data.results[0], Instr::on(Op::XorB, &sources));
    }

    /// The condition is a register; the rest may be constants.
    pub(super) fn choose(&mut self, data: &InstData) {
        let (condition, yes, no) = match self.alu_of(data.args[0]) {
            Some((Alu::BNot, inner)) => (inner.args[0], data.args[2], data.args[1]),
            _ => (data.args[0], data.args[1], data.args[2]),
        };
        let [yes, no] = [yes, no].map(|value| self.plain(value));
        let (op, condition) = match self.is_half(data) {
            true => (Op::SelB16, self.half_boolean(condition)),
            false => (Op::SelB32, self.plain(condition)),
        };
        self.define(data.results[0], self.on(data, op, &[yes, condition, no]));
    }

    /// A boolean is the number already.
    pub(super) fn truth_value(&mut self, data: &InstData) {
        let source = self.plain(data.args[0]);
        self.define_as(data.results[0], source);
    }
}
