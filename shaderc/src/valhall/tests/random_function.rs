//! Random structured functions of machine IR, for property tests.

#![cfg(test)]

use crate::machine::split_edges::split_edges;
use crate::pass::Runner;
use crate::target::Target;
use crate::valhall::mir::{
    Block, BlockId, Function, Instr, Modifier, Op, Operand, Phi, Preload, Register, Select, Source,
    Sources, Space, Terminator, Value, Width, Word, Words,
};
use crate::valhall::registers::allocate::{AllocateError, AllocateOptions, Allocated, allocate};
use smallvec::smallvec;

/// Builds a random function from a list of choices.
pub(crate) struct Random<'a> {
    choices: std::iter::Copied<std::slice::Iter<'a, u8>>,
    function: Function,
    /// Values that may be read here.
    known: Vec<Value>,
    /// Halves that may be read here.
    halves: Vec<Value>,
    /// Bytes that may be.
    bytes: Vec<Value>,
}

impl<'a> Random<'a> {
    /// The function that `choices` stands for; any list is good.
    pub(crate) fn function(choices: &'a [u8]) -> Function {
        let mut random = Random {
            choices: choices.iter().copied(),
            function: Function::default(),
            known: Vec::new(),
            halves: Vec::new(),
            bytes: Vec::new(),
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
        random.make_half();
        random.statements(3);
        random.store(1);
        random.read_halves();
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

    /// What may be read here, of every width.
    fn all_known(&self) -> [Vec<Value>; 3] {
        [&self.known, &self.halves, &self.bytes].map(Vec::clone)
    }

    /// Goes back to what may be read elsewhere.
    fn only_known(&mut self, known: [Vec<Value>; 3]) {
        [self.known, self.halves, self.bytes] = known;
    }

    fn pick_half(&mut self) -> Value {
        let at = self.choose(self.halves.len());
        self.halves[at]
    }

    /// A half: loaded, or from a word, or from two halves that may be known.
    fn make_half(&mut self) {
        let dest = self.function.new_value_of(Width::Half);
        let dests = smallvec![Word::Value(dest)];
        let kind = self.choose(if self.halves.is_empty() { 2 } else { 4 });
        let instr = match kind {
            0 => Instr {
                sources: smallvec![Source::value(self.pick()), Source::plain(Operand::Table(0))],
                space: Some(Space::Buffer),
                ..Instr::new(Op::LdBuffer16).with(Modifier::Unsigned)
            },
            1 => {
                let word = Source::value(self.pick());
                Instr {
                    sources: smallvec![word, Source::plain(Operand::Table(0))],
                    ..Instr::new(Op::FAdd).with(Modifier::Narrow)
                }
            }
            _ => {
                let both = [self.pick_half(), self.pick_half()];
                let sources = both.map(|half| Source::value(half).select(Select::H00));
                Instr {
                    sources: Sources::from_slice(&sources),
                    ..Instr::new(Op::FAdd2)
                }
            }
        };
        self.emit(Instr { dests, ..instr });
        self.halves.push(dest);
    }

    /// A word of two halves, a half made wide, or a half stored.
    fn read_halves(&mut self) {
        let half = Source::value(self.pick_half()).select(Select::H0);
        match self.choose(4) {
            0 => {
                let dests = self.define(1);
                self.emit(Instr {
                    dests,
                    sources: smallvec![half],
                    ..Instr::new(Op::F16ToF32)
                });
            }
            1 => {
                let address = [self.pick(), self.pick()].map(Word::Value);
                let store = Instr {
                    staging: half.operand.words().collect(),
                    sources: smallvec![Source::plain(Operand::Pair(address[0], address[1]))],
                    immediate: Some(0),
                    space: Some(Space::Buffer),
                    ..Instr::new(Op::Store16)
                };
                self.emit(store);
            }
            _ => {
                let other = Source::value(self.pick_half()).select(Select::H0);
                let dests = self.define(1);
                self.emit(Instr {
                    dests,
                    sources: smallvec![half, other],
                    ..Instr::new(Op::MkVec)
                });
            }
        }
    }

    /// A byte is loaded, or one that was is made wide or stored.
    fn bytes(&mut self) {
        let choice = self.choose(self.bytes.len() + 1);
        let address = Operand::Pair(Word::Value(self.pick()), Word::Value(self.pick()));
        let memory = |op| Instr {
            sources: smallvec![Source::plain(address)],
            immediate: Some(0),
            space: Some(Space::Buffer),
            ..Instr::new(op)
        };
        let instr = match self.bytes.get(choice).copied() {
            None => {
                let dest = self.function.new_value_of(Width::Byte);
                self.bytes.push(dest);
                Instr {
                    dests: smallvec![Word::Value(dest)],
                    ..memory(Op::Load8)
                }
            }
            Some(byte) if self.choose(2) == 0 => Instr {
                staging: smallvec![Word::Value(byte)],
                ..memory(Op::Store8)
            },
            Some(byte) => Instr {
                dests: self.define(1),
                sources: smallvec![Source::value(byte).select(Select::B0)],
                ..Instr::new(Op::U8ToF32)
            },
        };
        self.emit(instr);
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..2 + self.choose(10) {
            match self.choose(if depth > 0 { 12 } else { 10 }) {
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
                    let atomic = count == 1 && self.choose(2) == 0;
                    let load = Instr {
                        dests,
                        sources,
                        space: Some(Space::Buffer),
                        volatile: atomic,
                        atomic,
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
                7 => self.make_half(),
                8 => self.read_halves(),
                9 => self.bytes(),
                10 => self.branch(depth),
                _ => self.repeat(depth),
            }
        }
    }

    fn branch(&mut self, depth: usize) {
        let head = self.current();
        let condition = Source::value(self.pick());
        let known = self.all_known();
        let then = self.open();
        self.statements(depth - 1);
        let then_end = self.current();
        let mut then_values: Vec<Value> = (0..3).map(|_| self.pick()).collect();
        then_values.push(self.pick_half());
        self.only_known(known.clone());
        let otherwise = self.open();
        self.statements(depth - 1);
        let else_end = self.current();
        let mut else_values: Vec<Value> = (0..3).map(|_| self.pick()).collect();
        else_values.push(self.pick_half());
        self.only_known(known);
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
            let dest = self.phi_of(mine);
            let sources = vec![(then_end, operand(mine)), (else_end, operand(other))];
            self.function.blocks[join.index()]
                .phis
                .push(Phi { dest, sources });
        }
    }

    /// A value for a phi that may be this one, known from here on.
    fn phi_of(&mut self, value: Value) -> Value {
        let class = self.function.class(value);
        let dest = self.function.new_value_of(class);
        match class {
            Width::Word => self.known.push(dest),
            Width::Half => self.halves.push(dest),
            Width::Byte => self.bytes.push(dest),
        }
        dest
    }

    fn repeat(&mut self, depth: usize) {
        let before = self.current();
        let count = self.choose(5);
        let mut starts: Vec<Value> = (0..count).map(|_| self.pick()).collect();
        starts.push(self.pick_half());
        let header = self.open();
        self.function.blocks[before.index()].terminator = Terminator::Jump(header);
        let dests: Vec<Value> = starts.iter().map(|&start| self.phi_of(start)).collect();
        let known = self.all_known();
        self.statements(depth - 1);
        let latch = self.current();
        let condition = Source::value(self.pick());
        let mut nexts: Vec<Value> = (0..count).map(|_| self.pick()).collect();
        nexts.push(self.pick_half());
        self.only_known(known);
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
