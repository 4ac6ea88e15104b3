//! Machine IR: instructions of Adreno a6xx on values that have no register yet.
//!
//! A value is a full register (32 bits a lane), a half register (16 bits a lane), a shared register (32 bits a wave) or a
//! predicate (a bit a lane). What serves any machine (functions, blocks, phis, form) is `crate::machine`.
//! A boolean is 0 or 1 in a full register; only what a branch asks is a predicate, written in the block that ends in it.

mod instr;
mod op;
mod operand;
mod parse;
mod print;
mod register;

use std::fmt;

use eitri_ir3_program::UniformRange;
use smallvec::smallvec;

use crate::machine::{self, SpillSlot};

pub(crate) use self::instr::{Instr, Space, Sync, TextureFlags};
pub(crate) use self::op::{AtomicKind, Condition, Effect, Op, Shape, Type};
pub(crate) use self::operand::{Asked, Operand, Source};
pub(crate) use self::register::{Class, Register};
pub(crate) use crate::machine::{BlockId, Location, Value};

/// Adreno a6xx as a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ir3;

pub(crate) type Function = machine::Function<Ir3>;
pub(crate) type Block = machine::Block<Ir3>;
pub(crate) type Word = machine::WordOf<Ir3>;
/// A run of words. Most are single or pairs, and then need no memory for them.
pub(crate) type Words = smallvec::SmallVec<[Word; 2]>;
pub(crate) type Phi = machine::Phi<Ir3>;
pub(crate) type Preload = machine::Preload<Ir3>;
pub(crate) type Terminator = machine::Terminator<Ir3>;

/// What functions of this machine have beside code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extra {
    /// Words of push constants, from c0.x.
    pub(crate) push_words: u32,
    /// What of uniform buffers stands in the const file.
    pub(crate) uniforms: Vec<UniformRange>,
    /// Words of the program's data; its address is in the const file if there are any.
    pub(crate) data_words: u32,
    /// Driver parameters that are read: bit n is component n.
    pub(crate) driver_params: u32,
    /// Constants of instructions, at the end of the const file.
    pub(crate) immediates: Vec<u32>,
    /// Points of reconvergence that are open at once, at most; known after `mark_joins`.
    pub(crate) branch_stack: u32,
}

impl fmt::Display for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.push_words > 0 {
            writeln!(f, "push words {}", self.push_words)?;
        }
        for range in &self.uniforms {
            let (set, binding, first, last) = (
                range.set,
                range.binding,
                range.first,
                range.first + range.count - 1,
            );
            writeln!(f, "uniforms {set}:{binding} vec4 {first} to {last}")?;
        }
        for (number, word) in self.immediates.iter().enumerate() {
            writeln!(f, "immediate {number} = {word:#x}")?;
        }
        Ok(())
    }
}

impl machine::Machine for Ir3 {
    type Register = Register;
    type Class = Class;
    type Instr = Instr;
    type Operand = Operand;
    type Condition = Asked;
    type Extra = Extra;

    // Vectors of up to four full registers.
    const WIDEST: usize = 16;
    const GROUP_UNITS: usize = 1;
    // What is added to an address has 13 bits and a sign.
    const SPILL_REACH: u32 = 4096;

    fn copy(to: Word, from: Word, class: Class, location: Location) -> Instr {
        Instr {
            location,
            ..Instr::copy(to, from, class)
        }
    }

    fn move_operand(to: Value, class: Class, from: Operand, _: &Extra) -> Instr {
        let from = match from {
            Operand::Constant(bits) => Operand::Immediate(bits),
            other => other,
        };
        Instr::moved(Word::Value(to), Source::plain(from), class)
    }

    fn value_operand(value: Value) -> Operand {
        Operand::Word(Word::Value(value))
    }

    fn spill(slot: SpillSlot<Ir3>, fresh: &mut impl FnMut(Class) -> Value, out: &mut Vec<Instr>) {
        let access = spill_access(Op::StorePrivate, slot, fresh, out);
        out.push(Instr {
            data: smallvec![Word::Value(slot.value)],
            ..access
        });
    }

    fn reload(slot: SpillSlot<Ir3>, fresh: &mut impl FnMut(Class) -> Value, out: &mut Vec<Instr>) {
        let access = spill_access(Op::LoadPrivate, slot, fresh, out);
        out.push(access.to(Word::Value(slot.value)));
    }

    fn note(number: usize, location: Location) -> Instr {
        Instr {
            offset: number as i32,
            location,
            ..Instr::new(Op::Note)
        }
    }
}

/// An access to a spill slot, which has room for a word, by a register that holds 0.
fn spill_access(
    op: Op,
    slot: SpillSlot<Ir3>,
    fresh: &mut impl FnMut(Class) -> Value,
    out: &mut Vec<Instr>,
) -> Instr {
    let zero = Word::Value(fresh(Class::Full));
    let none = Source::plain(Operand::Immediate(0));
    out.push(Instr {
        location: slot.location,
        ..Instr::moved(zero, none, Class::Full)
    });
    let ty = match slot.class {
        Class::Half => Type::U16,
        Class::Full | Class::Shared | Class::Predicate => Type::U32,
    };
    Instr {
        offset: slot.offset as i32,
        types: Some((ty, ty)),
        space: Some(Space::Spill),
        location: slot.location,
        ..Instr::on(op, &[Source::word(zero)])
    }
}
