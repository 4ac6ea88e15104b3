//! Legalisation: constants and uniform words get a place that their instruction can read.
//!
//! Needs: selection.  Guarantees: no `Operand::Constant` is left but in phis; an instruction reads constants, immediates
//! and shared registers only where its category can. What can't be read in place is moved to a register, once a block.
//! Facts: hardware/ir3-isa.md 3 (legality), 5.

use eitri_ir3_isa::FloatConst;
use rustc_hash::FxHashMap as HashMap;

use super::mir::{
    Class, Extra, Function, Instr, Op, Operand, Register, Shape, Source, Value, Word,
};
use crate::machine;

/// Integers that the known compiler encodes in category 2.
const INTEGERS: std::ops::RangeInclusive<i32> = -511..=511;
/// Immediates of shifts with a mask.
const SHIFTS: std::ops::RangeInclusive<u32> = 0..=2047;
/// Numbers of descriptors that an access encodes.
const DESCRIPTORS: std::ops::RangeInclusive<u32> = 0..=255;

/// Legalises every instruction. False if the constants exceed the const file: then some are moved as immediates.
pub(super) fn legalise(function: &mut Function) {
    let mut classes = std::mem::take(&mut function.values);
    for block in &mut function.blocks {
        let mut pass = Legalise {
            extra: &mut function.extra,
            classes: &mut classes,
            moved: HashMap::default(),
            out: Vec::with_capacity(block.instrs.len()),
        };
        for instr in std::mem::take(&mut block.instrs) {
            let instr = pass.instr(instr);
            pass.out.push(instr);
        }
        block.instrs = pass.out;
    }
    function.values = classes;
}

/// Legalisation of a block.
struct Legalise<'f> {
    extra: &'f mut Extra,
    /// By value: its class.
    classes: &'f mut Vec<Class>,
    /// What is in a register already, by whether that is a half one.
    moved: HashMap<(Operand, bool), Word>,
    out: Vec<Instr>,
}

impl Legalise<'_> {
    fn instr(&mut self, mut instr: Instr) -> Instr {
        for source in &mut instr.sources {
            fold_signs(instr.op, source);
        }
        match instr.op.shape() {
            Shape::Flow => {}
            Shape::Move => {
                if let Operand::Constant(bits) = instr.sources[0].operand {
                    instr.sources[0].operand = Operand::Immediate(bits);
                }
            }
            Shape::Integer | Shape::Float => self.two(&mut instr),
            Shape::Three => self.three(&mut instr),
            Shape::Shift => self.shift(&mut instr),
            Shape::Registers => {
                for number in 0..instr.sources.len() {
                    self.need_register(&mut instr, number);
                }
            }
            Shape::Memory => self.access(&mut instr),
        }
        instr
    }

    /// At most one immediate, and at most one of the const file and the shared registers.
    fn two(&mut self, instr: &mut Instr) {
        if instr.half {
            (0..instr.sources.len()).for_each(|number| self.need_register(instr, number));
            return;
        }
        let (mut immediates, mut uniforms) = (0, 0);
        for number in 0..instr.sources.len() {
            let operand = instr.sources[number].operand;
            match operand {
                Operand::Constant(bits) if immediates == 0 && fits(instr.op, bits) => {
                    immediates += 1;
                    instr.sources[number].operand = Operand::Immediate(bits);
                }
                Operand::Constant(bits) if uniforms == 0 => match self.extra.immediate(bits) {
                    Some(place) => {
                        uniforms += 1;
                        instr.sources[number].operand = Operand::Const(place);
                    }
                    None => self.need_register(instr, number),
                },
                Operand::Const(_) if uniforms == 0 => uniforms += 1,
                Operand::Word(word) if self.is_shared(word) => {
                    if uniforms == 0 {
                        uniforms += 1;
                    } else {
                        self.need_register(instr, number);
                    }
                }
                Operand::Word(_) => {}
                _ => self.need_register(instr, number),
            }
        }
    }

    /// The second source is a register, which of factors either may be.
    fn three(&mut self, instr: &mut Instr) {
        let commutes = matches!(instr.op, Op::MadF32 | Op::MadF16 | Op::MadU24);
        let is_word = |source: &Source| matches!(source.operand, Operand::Word(_));
        if commutes && !is_word(&instr.sources[1]) {
            instr.sources.swap(0, 1);
        }
        self.need_register(instr, 1);
        for number in [0, 2] {
            match instr.sources[number].operand {
                _ if instr.half => self.need_register(instr, number),
                Operand::Constant(bits) => match self.extra.immediate(bits) {
                    Some(place) => instr.sources[number].operand = Operand::Const(place),
                    None => self.need_register(instr, number),
                },
                _ => {}
            }
        }
    }

    fn shift(&mut self, instr: &mut Instr) {
        self.need_register(instr, 1);
        for number in [0, 2] {
            match instr.sources[number].operand {
                Operand::Constant(bits) if SHIFTS.contains(&bits) => {
                    instr.sources[number].operand = Operand::Immediate(bits);
                }
                _ => self.need_register(instr, number),
            }
        }
    }

    /// Only the descriptor, which stands last, may be an immediate.
    fn access(&mut self, instr: &mut Instr) {
        let last = instr.sources.len().saturating_sub(1);
        for number in 0..instr.sources.len() {
            match instr.sources[number].operand {
                Operand::Constant(bits)
                    if instr.set.is_some() && number == last && DESCRIPTORS.contains(&bits) =>
                {
                    instr.sources[number].operand = Operand::Immediate(bits);
                }
                Operand::Pair(..) => {}
                _ => self.need_register(instr, number),
            }
        }
    }

    /// Makes a source a normal register; what is done to it stays.
    fn need_register(&mut self, instr: &mut Instr, number: usize) {
        let source = instr.sources[number];
        match source.operand {
            Operand::Word(word) if !self.is_shared(word) => return,
            _ => {}
        }
        let key = (source.operand, instr.half);
        let word = match self.moved.get(&key) {
            Some(word) => *word,
            None => {
                let class = if instr.half { Class::Half } else { Class::Full };
                let word = self.new_word(class);
                let operand = match source.operand {
                    Operand::Constant(bits) => Operand::Immediate(bits),
                    other => other,
                };
                let mut copy = Instr::moved(word, Source::plain(operand), class);
                if matches!(operand, Operand::Word(_)) {
                    copy.op = Op::ReadShared;
                }
                copy.location = instr.location;
                self.out.push(copy);
                self.moved.insert(key, word);
                word
            }
        };
        instr.sources[number].operand = Operand::Word(word);
    }

    fn new_word(&mut self, class: Class) -> Word {
        let value = Value(self.classes.len() as u32);
        self.classes.push(class);
        Word::Value(value)
    }

    fn is_shared(&self, word: Word) -> bool {
        let class = match word {
            machine::Word::Value(value) => self.classes[value.index()],
            machine::Word::Register(register) => Register::class(register),
        };
        class == Class::Shared
    }
}

/// The constant that the table of floats has.
pub(super) fn float_of(bits: u32) -> Option<FloatConst> {
    let mut all = FloatConst::ALL.iter().copied();
    all.find(|float| float.f32_bits() == bits)
}

/// Does to a constant what its source would do.
fn fold_signs(op: Op, source: &mut Source) {
    let Operand::Constant(mut bits) = source.operand else {
        return;
    };
    let integer = op.shape() == Shape::Integer;
    if source.abs {
        bits = match integer {
            true => (bits as i32).wrapping_abs() as u32,
            false => bits & 0x7fff_ffff,
        };
    }
    if source.neg {
        bits = match integer {
            true => bits.wrapping_neg(),
            false => bits ^ 0x8000_0000,
        };
    }
    if source.not {
        bits = !bits;
    }
    *source = Source::constant(bits);
}

/// Whether an instruction of category 2 encodes a constant.
fn fits(op: Op, bits: u32) -> bool {
    match op.shape() {
        Shape::Float => float_of(bits).is_some(),
        _ => INTEGERS.contains(&(bits as i32)),
    }
}
