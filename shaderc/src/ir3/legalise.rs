//! Legalisation: constants and uniform words get a place that their instruction can read.
//!
//! Needs: selection.  Guarantees: no `Operand::Constant` is left but in phis; an instruction reads constants, immediates
//! and shared registers only where its category can. What can't be read in place is moved to a register, once a block.
//! An instruction on halves reads words of the const file, too: of a float the binary32, which becomes the half that it is
//! for, of anything else the low bits. Drivers set the mode that this needs.
//! Facts: hardware/ir3-isa.md 2 (constants as halves), 3 (legality), 5.

use eitri_ir3_isa::FloatConst;
use rustc_hash::FxHashMap as HashMap;

use super::mir::{
    Class, Extra, Function, Instr, Op, Operand, Register, Shape, Source, Value, Word,
};
use crate::interp::half;
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
            fold_signs(instr.op, instr.half, source);
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
        let half = instr.half;
        let (mut immediates, mut uniforms) = (0, 0);
        for number in 0..instr.sources.len() {
            let operand = instr.sources[number].operand;
            match operand {
                Operand::Constant(bits) if immediates == 0 && fits(instr.op, half, bits) => {
                    immediates += 1;
                    let bits = match instr.op.shape() {
                        Shape::Integer => signed(half, bits) as u32,
                        _ => bits,
                    };
                    instr.sources[number].operand = Operand::Immediate(bits);
                }
                Operand::Constant(bits) if uniforms == 0 => match self.place(instr, bits) {
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
            if let Operand::Constant(bits) = instr.sources[number].operand {
                match self.place(instr, bits) {
                    Some(place) => instr.sources[number].operand = Operand::Const(place),
                    None => self.need_register(instr, number),
                }
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

    /// The word of the const file that an instruction reads as a constant, if there is room.
    fn place(&mut self, instr: &Instr, bits: u32) -> Option<u16> {
        let float = instr.op.shape() == Shape::Float || instr.op == Op::MadF16;
        let word = match instr.half && float {
            true => half::to_f32(bits as u16).to_bits(),
            false => bits,
        };
        self.extra.immediate(word)
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

/// The constant that the table of floats has, by its bits as a word or a half.
pub(super) fn float_of(bits: u32, half: bool) -> Option<FloatConst> {
    let mut all = FloatConst::ALL.iter().copied();
    all.find(|float| match half {
        true => u32::from(float.f16_bits()) == bits,
        false => float.f32_bits() == bits,
    })
}

/// Does to a constant what its source would do.
fn fold_signs(op: Op, half: bool, source: &mut Source) {
    let Operand::Constant(bits) = source.operand else {
        return;
    };
    let (mask, sign) = match half {
        true => (0xffff, 0x8000),
        false => (u32::MAX, 0x8000_0000),
    };
    let integer = op.shape() == Shape::Integer;
    let mut bits = bits & mask;
    if source.abs {
        bits = match integer {
            true if bits & sign != 0 => bits.wrapping_neg(),
            true => bits,
            false => bits & !sign,
        };
    }
    if source.neg {
        bits = match integer {
            true => bits.wrapping_neg(),
            false => bits ^ sign,
        };
    }
    if source.not {
        bits = !bits;
    }
    *source = Source::constant(bits & mask);
}

/// The number that a constant is, of as many bits as the instruction reads.
fn signed(half: bool, bits: u32) -> i32 {
    match half {
        true => (bits as i16).into(),
        false => bits as i32,
    }
}

/// Whether an instruction of category 2 encodes a constant.
fn fits(op: Op, half: bool, bits: u32) -> bool {
    match op.shape() {
        Shape::Float => float_of(bits, half).is_some(),
        _ => INTEGERS.contains(&signed(half, bits)),
    }
}
