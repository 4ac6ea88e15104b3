//! Constants: finds a place for each.
//!
//! In this order: an entry of the immediate table as it is; negated, inverted, or a half or byte of one where the
//! source can do that; the 32-bit constant of an add; a uniform word; a register.
//! Needs: SSA or not.  Guarantees: no `Operand::Constant` outside phis.  Facts: hardware/compiler-backend.md 5.3.

use super::source_kind::SourceKind;
use crate::ir::FauWord;
use crate::valhall::mir::{Function, Instr, Location, Op, Operand, Select, Source, Terminator, Word};

/// The immediate table of v9 and v10.
// FACT: hardware/valhall-isa.md 2.1; `eitri-isa` has the same table, and a test compares the two.
#[rustfmt::skip]
const TABLE: [u32; 32] = [
    0x0000_0000, 0xffff_ffff, 0x7fff_ffff, 0xfafc_fdfe, 0x0100_0000, 0x8000_2000, 0x7060_5030, 0xc0b0_a090,
    0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c, 0x1312_1110, 0x1716_1514, 0x1b1a_1918, 0x1f1e_1d1c,
    0x3f80_0000, 0x3dcc_cccd, 0x3ea2_f983, 0x3f31_7218, 0x4049_0fdb, 0x0000_0000, 0x477f_ff00, 0x5c00_5bf8,
    0x2e66_0000, 0x3400_0000, 0x3800_0000, 0x3c00_0000, 0x4000_0000, 0x4400_0000, 0x4800_0000, 0x4248_0000,
];

/// Most uniform words that a program may have.
const MOST_FAU: usize = 128;

/// The entry of the table that is `bits`.
fn entry(bits: u32) -> Option<u8> {
    TABLE.iter().position(|&word| word == bits).map(|index| index as u8)
}

fn from_table(entry: u8) -> Source {
    Source::plain(Operand::Table(entry))
}

const HALVES: [Select; 2] = [Select::H0, Select::H1];
const BYTES: [Select; 4] = [Select::B0, Select::B1, Select::B2, Select::B3];
const SHIFT_BYTES: [Select; 4] = [Select::B00, Select::B11, Select::B22, Select::B33];

/// The first entry and part for which `reads` gives `bits`.
fn part(parts: &[Select], bits: u32, reads: impl Fn(u32, usize) -> u32) -> Option<Source> {
    let places = (0..TABLE.len()).flat_map(|index| (0..parts.len()).map(move |part| (index, part)));
    let (index, part) = places.into_iter().find(|&(index, part)| reads(TABLE[index], part) == bits)?;
    Some(from_table(index as u8).select(parts[part]))
}

/// A half as binary32.
fn half_to_float(half: u32) -> u32 {
    let (sign, exponent, mantissa) = (half >> 15 & 1, half >> 10 & 0x1f, half & 0x3ff);
    match exponent {
        0x1f => sign << 31 | 0xff << 23 | mantissa << 13,
        0 => {
            let magnitude = mantissa as f32 * (-24f32).exp2();
            sign << 31 | magnitude.to_bits()
        }
        _ => sign << 31 | (exponent + 112) << 23 | mantissa << 13,
    }
}

/// A source of kind `kind` that reads `bits` from the immediate table.
fn place(kind: SourceKind, bits: u32) -> Option<Source> {
    if kind == SourceKind::Byte {
        return part(&SHIFT_BYTES, bits & 0xff, |word, byte| word >> (8 * byte) & 0xff);
    }
    if let Some(index) = entry(bits) {
        return Some(from_table(index));
    }
    let negated = || entry(bits ^ 1 << 31).map(|index| from_table(index).negated());
    match kind {
        SourceKind::Plain | SourceKind::Byte => None,
        SourceKind::Signed => negated(),
        SourceKind::Float => {
            let half = |bits| part(&HALVES, bits, |word, half| half_to_float(word >> (16 * half) & 0xffff));
            negated().or_else(|| half(bits)).or_else(|| half(bits ^ 1 << 31).map(Source::negated))
        }
        SourceKind::Unsigned => part(&BYTES, bits, |word, byte| word >> (8 * byte) & 0xff)
            .or_else(|| part(&HALVES, bits, |word, half| word >> (16 * half) & 0xffff)),
        SourceKind::Extended => part(&BYTES, bits, |word, byte| (word >> (8 * byte)) as u8 as i8 as u32)
            .or_else(|| part(&HALVES, bits, |word, half| (word >> (16 * half)) as u16 as i16 as u32)),
        SourceKind::Inverted => entry(!bits).map(|index| Source { not: true, ..from_table(index) }),
    }
}

/// An instruction that makes a constant.
pub(crate) fn make(dest: Word, bits: u32, location: Location) -> Instr {
    let zero = from_table(0);
    let base = Instr { dests: vec![dest], location, ..Instr::new(Op::Mov) };
    match entry(bits) {
        Some(index) => Instr { sources: vec![from_table(index)], ..base },
        None => Instr { op: Op::IAddImm, sources: vec![zero], immediate: Some(i64::from(bits)), ..base },
    }
}

/// Places all constants of a function.
pub(crate) fn legalise_constants(function: &mut Function) {
    for index in 0..function.blocks.len() {
        let instrs = std::mem::take(&mut function.blocks[index].instrs);
        let mut out = Vec::with_capacity(instrs.len());
        for mut instr in instrs {
            fold_modifiers(&mut instr);
            if let Some(constant) = constant_move(&instr) {
                out.push(make(instr.dests[0], constant, instr.location));
                continue;
            }
            use_immediate_form(&mut instr);
            for source in 0..instr.sources.len() {
                place_source(function, &mut instr, source, &mut out);
            }
            out.push(instr);
        }
        if let Terminator::Branch { condition, .. } = &function.blocks[index].terminator
            && let Operand::Constant(bits) = condition.operand
        {
            // What decides is zero or not: both are in the table.
            let table = Source::plain(Operand::Table(u8::from(bits != 0)));
            if let Terminator::Branch { condition, .. } = &mut function.blocks[index].terminator {
                *condition = table;
            }
        }
        function.blocks[index].instrs = out;
    }
}

/// Applies what a source does to a constant to the constant.
fn fold_modifiers(instr: &mut Instr) {
    for source in &mut instr.sources {
        if let Operand::Constant(mut bits) = source.operand {
            if source.abs {
                bits &= !(1 << 31);
            }
            if source.neg {
                bits ^= 1 << 31;
            }
            if source.not {
                bits = !bits;
            }
            // The byte of a shift amount is named by `place`; no other constant has a selection.
            *source = Source::constant(bits);
        }
    }
}

/// The constant that a move moves.
fn constant_move(instr: &Instr) -> Option<u32> {
    match (instr.op, instr.sources.first()?.operand) {
        (Op::Mov, Operand::Constant(bits)) => Some(bits),
        _ => None,
    }
}

/// Adds with one constant have a form of their own, which leaves the table and the uniforms to others.
fn use_immediate_form(instr: &mut Instr) {
    let sources = match instr.sources.as_slice() {
        &[a, b] if instr.modifiers.is_empty() => (a, b),
        _ => return,
    };
    let (rest, bits) = match (instr.op, sources.0.operand, sources.1.operand) {
        (Op::IAdd | Op::FAdd, _, Operand::Constant(bits)) => (sources.0, bits),
        (Op::IAdd | Op::FAdd, Operand::Constant(bits), _) => (sources.1, bits),
        (Op::ISub, _, Operand::Constant(bits)) => (sources.0, bits.wrapping_neg()),
        _ => return,
    };
    let float = instr.op == Op::FAdd;
    let in_table = float && place(SourceKind::Float, bits).is_some();
    if rest.is_plain() && !in_table && !matches!(rest.operand, Operand::Constant(_)) {
        instr.op = if float { Op::FAddImm } else { Op::IAddImm };
        instr.sources = vec![rest];
        instr.immediate = Some(i64::from(bits));
    }
}

/// Places one source, by a move before the instruction if need be.
fn place_source(function: &mut Function, instr: &mut Instr, index: usize, out: &mut Vec<Instr>) {
    let Operand::Constant(bits) = instr.sources[index].operand else { return };
    let kind = SourceKind::of(instr.op, index);
    let source = place(kind, bits).or_else(|| {
        let word = fau_word(function, bits)?;
        Some(Source::plain(Operand::Fau(word)))
    });
    let source = source.unwrap_or_else(|| {
        let dest = Word::Value(function.new_value());
        out.push(make(dest, bits, instr.location));
        Source::plain(Operand::Word(dest))
    });
    // A whole word as a shift amount: its lowest byte.
    let unnamed = kind == SourceKind::Byte && source.select == Select::All;
    instr.sources[index] = if unnamed { source.select(Select::B00) } else { source };
}

/// The uniform word that holds a constant.
fn fau_word(function: &mut Function, bits: u32) -> Option<u8> {
    let wanted = FauWord::Constant(bits);
    let found = function.fau.iter().position(|&word| word == wanted);
    let index = found.or_else(|| {
        (function.fau.len() < MOST_FAU).then(|| {
            function.fau.push(wanted);
            function.fau.len() - 1
        })
    })?;
    u8::try_from(index).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: SourceKind, bits: u32, expected: Option<&str>) {
        assert_eq!(place(kind, bits).map(|source| source.to_string()).as_deref(), expected, "{kind:?} {bits:#x}");
    }

    #[test]
    fn constants_are_found_in_parts_of_the_table() {
        check(SourceKind::Plain, 1, None);
        check(SourceKind::Unsigned, 1, Some("t4.b3"));
        check(SourceKind::Unsigned, 192, Some("t7.b3"));
        check(SourceKind::Extended, (-4i32) as u32, Some("t3.b2"));
        check(SourceKind::Float, 2.0f32.to_bits(), Some("t28"));
        check(SourceKind::Float, 0.25f32.to_bits(), Some("t25.h1"));
        check(SourceKind::Float, (-0.5f32).to_bits(), Some("t26.neg.h1"));
        check(SourceKind::Signed, (-0.0f32).to_bits(), Some("t0.neg"));
        check(SourceKind::Byte, 24, Some("t14.b00"));
        check(SourceKind::Inverted, 0x8000_0000, Some("t2.not"));
    }
}
