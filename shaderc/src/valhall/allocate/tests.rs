//! Allocation of random structured functions, with so few registers that much has to be spilled.

use proptest::prelude::*;

use super::{AllocateOptions, allocate};
use crate::valhall::isolate_groups::isolate_groups;
use crate::valhall::lower_phis::lower_phis;
use crate::valhall::mir::{
    Block, BlockId, Form, Function, Instr, Modifier, Op, Operand, Phi, Preload, Register, Source,
    Space, Terminator, Value, Word, verify,
};
use crate::valhall::split_edges::split_edges;

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

    fn define(&mut self, count: usize) -> Vec<Word> {
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
            sources: vec![address],
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
                    let sources = vec![Source::value(self.pick()), Source::value(self.pick())];
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
                    let sources = vec![Source::plain(Operand::Table(0))];
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
                        vec![Source::value(self.pick()), Source::plain(Operand::Table(0))];
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
                    let sources = vec![Source::value(self.pick()), Source::value(self.pick())];
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
                        sources: vec![Source::value(copy)],
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

/// Brings a function to the form that allocation needs.
pub(crate) fn prepare(function: &mut Function) {
    split_edges(function);
    lower_phis(function);
    isolate_groups(function);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn random_functions_allocate_and_the_checker_agrees(
        choices in prop::collection::vec(any::<u8>(), 0..400),
        limit in prop::option::of(8u32..40),
    ) {
        let mut function = Random::function(&choices);
        prop_assert_eq!(verify(&function, Form::Ssa), []);
        prepare(&mut function);
        prop_assert_eq!(verify(&function, Form::Variables), []);
        let before = function.to_string();
        match allocate(&mut function, AllocateOptions { limit, full_file: false }) {
            Ok(_) => {}
            Err(error) => prop_assert!(false, "{:?} with limit {:?}\n{}", error, limit, before),
        }
        let left = function.blocks.iter().flat_map(|block| &block.instrs).any(|instr| {
            instr.reads().chain(instr.dests.iter().copied()).any(|word| word.register().is_none())
        });
        prop_assert!(!left, "a value is left\n{}", function);
    }
}

#[test]
fn an_address_is_copied_for_none_of_its_stores() {
    let mut function = Function::parse(
        "preload %0 = r60
        b0:
          %1:%2 = LEA_PKA %0, t0
          STORE.i32 @%0, [%1:%2], imm:0, space:buffer
          STORE.i32 @%0, [%1:%2], imm:4, space:buffer
          end",
    )
    .expect("text is MIR");
    prepare(&mut function);
    let allocated = allocate(&mut function, AllocateOptions::default()).expect("fits");
    assert_eq!(
        (allocated.registers_per_thread, allocated.registers_used),
        (32, 3)
    );
    assert_eq!(function.blocks[0].instrs.len(), 3, "{function}");
}

#[test]
fn a_loop_needs_no_copies() {
    let mut function = Function::parse(
        "preload %0 = r60
        b0:
          %1 = IADD_IMM.i32 t0, imm:0
          jump b1
        b1:
          %2 = phi b0 %1, b2 %3
          %4 = ICMP_OR.u32.ge.m1 %2, %0, t0
          branch %4.h0, b3, b2
        b2:
          %3 = IADD_IMM.i32 %2, imm:1
          jump b1
        b3:
          STORE.i32 @%2, u0, imm:0, space:buffer
          end",
    )
    .expect("text is MIR");
    prepare(&mut function);
    allocate(&mut function, AllocateOptions::default()).expect("fits");
    assert!(!function.to_string().contains("MOV"), "{function}");
}
