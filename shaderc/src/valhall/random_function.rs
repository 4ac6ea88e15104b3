//! Random structured functions of machine IR, for property tests.

#![cfg(test)]

use super::allocate::{AllocateError, AllocateOptions, Allocated, allocate};
use super::mir::{
    Block, BlockId, Function, Instr, Modifier, Op, Operand, Phi, Preload, Register, Source, Space,
    Terminator, Value, Word, Words,
};
use crate::machine::split_edges::split_edges;
use crate::pass::Runner;
use crate::target::Target;
use smallvec::smallvec;

/// Builds a random function from a list of choices.
pub(crate) struct Random<'a> {
    choices: std::iter::Copied<std::slice::Iter<'a, u8>>,
    function: Function,
    /// Values that may be read here.
    known: Vec<Value>,
}

impl<'a> Random<'a> {
    /// The function that `choices` stands for; any list is good.
    pub(crate) fn function(choices: &'a [u8]) -> Function {
        let mut random = Random {
            choices: choices.iter().copied(),
            function: Function::default(),
            known: Vec::new(),
        };
        for number in [55, 60, 61] {
            let value = random.function.new_value();
            let register = Register::new(number).expect("below 64");
            random.function.preloads.push(Preload {
                dest: Word::Value(value),
                register,
            });
            random.known.push(value);
        }
        random.open();
        random.statements(3);
        random.store(1);
        random.function
    }

    fn choose(&mut self, below: usize) -> usize {
        self.choices
            .next()
            .map_or(0, |choice| usize::from(choice) % below)
    }

    fn open(&mut self) -> BlockId {
        self.function.blocks.push(Block::new(Terminator::End));
        BlockId(self.function.blocks.len() as u32 - 1)
    }

    fn current(&self) -> BlockId {
        BlockId(self.function.blocks.len() as u32 - 1)
    }

    fn pick(&mut self) -> Value {
        let at = self.choose(self.known.len());
        self.known[at]
    }

    fn emit(&mut self, instr: Instr) {
        let block = self.current().index();
        self.function.blocks[block].instrs.push(instr);
    }

    fn define(&mut self, count: usize) -> Words {
        let values: Vec<Value> = (0..count).map(|_| self.function.new_value()).collect();
        self.known.extend(&values);
        values.into_iter().map(Word::Value).collect()
    }

    fn store(&mut self, count: usize) {
        let op = [Op::Store32, Op::Store64, Op::Store96, Op::Store128][count - 1];
        let staging = (0..count).map(|_| Word::Value(self.pick())).collect();
        let address = Source::plain(Operand::Pair(
            Word::Value(self.pick()),
            Word::Value(self.pick()),
        ));
        let base = Instr {
            staging,
            sources: smallvec![address],
            immediate: Some(0),
            ..Instr::new(op)
        };
        self.emit(Instr {
            space: Some(Space::Buffer),
            ..base
        });
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..2 + self.choose(10) {
            match self.choose(if depth > 0 { 9 } else { 7 }) {
                0 | 1 => {
                    let sources = smallvec![Source::value(self.pick()), Source::value(self.pick())];
                    let dests = self.define(1);
                    self.emit(Instr {
                        dests,
                        sources,
                        ..Instr::new(Op::IAdd)
                    });
                }
                2 => {
                    let constant = self.choose(200) as i64;
                    let dests = self.define(1);
                    let sources = smallvec![Source::plain(Operand::Table(0))];
                    self.emit(Instr {
                        dests,
                        sources,
                        immediate: Some(constant),
                        ..Instr::new(Op::IAddImm)
                    });
                }
                3 => {
                    let count = 1 + self.choose(4);
                    let op = [
                        Op::LdBuffer32,
                        Op::LdBuffer64,
                        Op::LdBuffer96,
                        Op::LdBuffer128,
                    ][count - 1];
                    let sources =
                        smallvec![Source::value(self.pick()), Source::plain(Operand::Table(0))];
                    let dests = self.define(count);
                    let load = Instr {
                        dests,
                        sources,
                        space: Some(Space::Buffer),
                        ..Instr::new(op)
                    };
                    self.emit(load.with(Modifier::Unsigned));
                }
                4 => {
                    let count = 1 + self.choose(4);
                    self.store(count);
                }
                5 => {
                    let sources = smallvec![Source::value(self.pick()), Source::value(self.pick())];
                    let dests = self.define(2);
                    self.emit(Instr {
                        dests,
                        sources,
                        ..Instr::new(Op::IMulD)
                    });
                }
                6 => {
                    let copy = self.pick();
                    let dests = self.define(1);
                    self.emit(Instr {
                        dests,
                        sources: smallvec![Source::value(copy)],
                        ..Instr::new(Op::Mov)
                    });
                }
                7 => self.branch(depth),
                _ => self.repeat(depth),
            }
        }
    }

    fn branch(&mut self, depth: usize) {
        let head = self.current();
        let condition = Source::value(self.pick());
        let known = self.known.clone();
        let then = self.open();
        self.statements(depth - 1);
        let then_end = self.current();
        let then_values: Vec<Value> = (0..3).map(|_| self.pick()).collect();
        self.known = known.clone();
        let otherwise = self.open();
        self.statements(depth - 1);
        let else_end = self.current();
        let else_values: Vec<Value> = (0..3).map(|_| self.pick()).collect();
        self.known = known;
        let join = self.open();
        self.function.blocks[head.index()].terminator = Terminator::Branch {
            condition,
            taken: then,
            otherwise,
        };
        self.function.blocks[then_end.index()].terminator = Terminator::Jump(join);
        self.function.blocks[else_end.index()].terminator = Terminator::Jump(join);
        for (mine, other) in then_values.into_iter().zip(else_values) {
            let operand = |value| Operand::Word(Word::Value(value));
            let dest = self.function.new_value();
            self.known.push(dest);
            let sources = vec![(then_end, operand(mine)), (else_end, operand(other))];
            self.function.blocks[join.index()]
                .phis
                .push(Phi { dest, sources });
        }
    }

    fn repeat(&mut self, depth: usize) {
        let before = self.current();
        let count = self.choose(5);
        let starts: Vec<Value> = (0..count).map(|_| self.pick()).collect();
        let header = self.open();
        self.function.blocks[before.index()].terminator = Terminator::Jump(header);
        let dests: Vec<Value> = starts.iter().map(|_| self.function.new_value()).collect();
        self.known.extend(&dests);
        let known = self.known.clone();
        self.statements(depth - 1);
        let latch = self.current();
        let condition = Source::value(self.pick());
        let nexts: Vec<Value> = starts.iter().map(|_| self.pick()).collect();
        self.known = known;
        let exit = self.open();
        self.function.blocks[latch.index()].terminator = Terminator::Branch {
            condition,
            taken: header,
            otherwise: exit,
        };
        for ((dest, start), next) in dests.into_iter().zip(starts).zip(nexts) {
            let operand = |value| Operand::Word(Word::Value(value));
            let sources = vec![(before, operand(start)), (latch, operand(next))];
            self.function.blocks[header.index()]
                .phis
                .push(Phi { dest, sources });
        }
    }
}

/// Allocates registers in a function in SSA form.
pub(crate) fn allocate_all(
    function: &mut Function,
    options: AllocateOptions,
) -> Result<Allocated, AllocateError> {
    split_edges(function);
    let mut runner = Runner::new(Target::default(), &[]);
    let allocated = allocate(function, options, &mut runner)?;
    Ok(allocated.expect("the runner stops nowhere"))
}
