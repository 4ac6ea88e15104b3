//! Constants: finds a place for each.
//!
//! In this order: an entry of the immediate table as it is; negated, inverted, or a half or byte of one where the
//! source can do that; the 32-bit constant of an add; a uniform word; a register.
//! Needs: SSA or not.  Guarantees: no `Operand::Constant` outside phis.  Facts: hardware/compiler-backend.md 5.3.

use eitri_isa::row::{Source as SourceRow, Type};
use eitri_isa::{Arch, Constant, Lanes, Select};
use rustc_hash::FxHashMap as HashMap;
use rustc_hash::FxHashSet as HashSet;
use smallvec::smallvec;

use crate::target::Target;
use crate::valhall::mir::{
    FauWord, Function, Instr, Location, Op, Operand, Source, Terminator, Word,
};

/// Every entry of the table with its bits.
fn table(arch: Arch) -> impl Iterator<Item = (u8, u32)> {
    (0..Constant::COUNT).filter_map(move |index| Some((index, Constant::new(index)?.value(arch))))
}

/// The entry of the table that is `bits`.
fn entry(bits: u32, arch: Arch) -> Option<u8> {
    Constant::find(bits, arch).map(Constant::index)
}

fn from_table(entry: u8) -> Source {
    Source::plain(Operand::Table(entry))
}

/// What a selection takes from `word`: widened as the source demands.
fn selected(select: Select, word: u32, float: bool, signed: bool) -> Option<u32> {
    match (select.lanes(), float, signed) {
        (Lanes::Half(half), true, _) => Some(half_to_float(word >> (16 * half) & 0xffff)),
        (Lanes::Half(half), false, false) => Some(word >> (16 * half) & 0xffff),
        (Lanes::Half(half), false, true) => Some((word >> (16 * half)) as u16 as i16 as u32),
        (Lanes::Halves([low, high]), _, _) => {
            let half = |number: u8| word >> (16 * number) & 0xffff;
            Some(half(low) | half(high) << 16)
        }
        (Lanes::Bytes2(bytes), false, signed) => {
            let [low, high] = bytes.map(|number| {
                let byte = (word >> (8 * number)) as u8;
                let wide = match signed {
                    true => i16::from(byte.cast_signed()).cast_unsigned(),
                    false => byte.into(),
                };
                u32::from(wide)
            });
            Some(low | high << 16)
        }
        (Lanes::Byte(byte), false, false) => Some(word >> (8 * byte) & 0xff),
        (Lanes::Byte(byte), false, true) => Some((word >> (8 * byte)) as u8 as i8 as u32),
        _ => None,
    }
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

/// Finds places in the table, and remembers what the sources of each operation can take from it.
#[derive(Default)]
struct Table {
    /// By operation and number of the source: by word, the first entry and selection that give it.
    parts: HashMap<(Op, usize), HashMap<u32, Source>>,
}

impl Table {
    /// A source of `op` that reads `bits` from the table.
    fn place(&mut self, op: Op, index: usize, bits: u32, arch: Arch) -> Option<Source> {
        let row = op.isa()?.row();
        let spec = row.sources.get(index)?;
        if is_byte(spec) {
            return byte(spec, bits, arch);
        }
        if is_bytes(spec) {
            return bytes(spec, bits, arch);
        }
        if spec.size > 32 {
            return entry(bits, arch).map(from_table);
        }
        if spec.size < 32 && !is_pair(row.ty) {
            return None;
        }
        if let Some(index) = entry(bits, arch) {
            return Some(from_table(index));
        }
        let negated = bits ^ signs(spec);
        if spec.neg.is_some()
            && let Some(index) = entry(negated, arch)
        {
            return Some(from_table(index).negated());
        }
        if spec.not.is_some()
            && let Some(index) = entry(!bits, arch)
        {
            return Some(Source {
                not: true,
                ..from_table(index)
            });
        }
        let known = self.parts.entry((op, index));
        let parts = known.or_insert_with(|| parts(spec, row.ty, arch));
        let found = parts.get(&bits).copied();
        found.or_else(|| {
            let negated = spec.neg.and_then(|_| parts.get(&negated));
            negated.copied().map(Source::negated)
        })
    }
}

/// The words that a source can take from parts of the table's entries.
fn parts(spec: &SourceRow, ty: Type, arch: Arch) -> HashMap<u32, Source> {
    let mut parts = HashMap::default();
    // An integer that becomes a float is extended by the sign of its own type, which the row does not name.
    let Some(field) = spec.select.filter(|_| spec.float || !ty.is_float()) else {
        return parts;
    };
    // Of what the table can say, the hardware may take less.
    let rows = field.table.rows.iter();
    let legal = rows.filter(|row| field.legal.allows(row.value, arch));
    let selections: Vec<Select> = legal.map(|row| row.select).collect();
    for (index, word) in table(arch) {
        for select in &selections {
            if let Some(taken) = selected(*select, word, spec.float, ty.is_signed()) {
                parts
                    .entry(taken)
                    .or_insert_with(|| from_table(index).select(*select));
            }
        }
    }
    parts
}

/// The signs of what a source reads: of one binary32, or of two binary16.
fn signs(spec: &SourceRow) -> u32 {
    match spec.size {
        16 => 0x8000_8000,
        _ => 1 << 31,
    }
}

/// Whether an instruction works on both halves of words.
fn is_pair(ty: Type) -> bool {
    matches!(ty, Type::V2f16 | Type::V2i16 | Type::V2u16 | Type::V2s16)
}

/// Shift amounts and numbers of lanes are bytes, and which byte must be named.
fn is_byte(spec: &SourceRow) -> bool {
    must_name(spec, Select::B0)
}

/// The amounts of a shift of two halves are bytes, and which two must be named.
fn is_bytes(spec: &SourceRow) -> bool {
    must_name(spec, Select::B02)
}

/// Whether a source has this selection and none that names nothing.
fn must_name(spec: &SourceRow, selection: Select) -> bool {
    spec.select.is_some_and(|select| {
        let names = |lanes| select.table.by_select(lanes).is_some();
        names(selection) && !names(Select::Identity)
    })
}

/// Two numbers as bytes of the table; only the low byte of each half counts.
fn bytes(spec: &SourceRow, bits: u32, arch: Arch) -> Option<Source> {
    let rows = spec.select?.table.rows;
    table(arch).find_map(|(index, word)| {
        let row = rows.iter().find(|row| {
            let taken = selected(row.select, word, false, false);
            taken.is_some_and(|taken| (taken ^ bits) & 0x00ff_00ff == 0)
        })?;
        Some(from_table(index).select(row.select))
    })
}

/// A number as a byte of the table; only the low byte counts.
fn byte(spec: &SourceRow, bits: u32, arch: Arch) -> Option<Source> {
    const BYTES: [Select; 4] = [Select::B0, Select::B1, Select::B2, Select::B3];
    let select = spec.select?;
    table(arch).find_map(|(index, word)| {
        let byte = (0..4).find(|byte| (word >> (8 * byte) ^ bits) & 0xff == 0)?;
        select
            .table
            .by_select(BYTES[byte])
            .map(|row| from_table(index).select(row.select))
    })
}

/// An instruction that makes a constant.
pub(crate) fn make(dest: Word, bits: u32, location: Location, arch: Arch) -> Instr {
    let zero = from_table(0);
    let base = Instr {
        dests: smallvec![dest],
        location,
        ..Instr::new(Op::Mov)
    };
    match entry(bits, arch) {
        Some(index) => Instr {
            sources: smallvec![from_table(index)],
            ..base
        },
        None => Instr {
            op: Op::IAddImm,
            sources: smallvec![zero],
            immediate: Some(i64::from(bits)),
            ..base
        },
    }
}

/// Places all constants of a function.
pub(crate) fn legalise_constants(function: &mut Function, target: &Target) {
    let arch = function.extra.arch;
    let mut table = Table::default();
    let uniform = Uniform::choose(function, target, &mut table);
    for index in 0..function.blocks.len() {
        let instrs = std::mem::take(&mut function.blocks[index].instrs);
        let mut out = Vec::with_capacity(instrs.len());
        for mut instr in instrs {
            fold_modifiers(&mut instr);
            if let Some(constant) = constant_move(&instr) {
                out.push(make(instr.dests[0], constant, instr.location, arch));
                continue;
            }
            use_immediate_form(&mut instr, &mut table, arch);
            for source in 0..instr.sources.len() {
                place_source(function, &uniform, &mut table, &mut instr, source, &mut out);
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
    let rows = instr.op.isa().map_or(&[][..], |op| op.row().sources);
    for (index, source) in instr.sources.iter_mut().enumerate() {
        if let Operand::Constant(mut bits) = source.operand {
            let signs = rows.get(index).map_or(1 << 31, signs);
            if source.abs {
                bits &= !signs;
            }
            if source.neg {
                bits ^= signs;
            }
            if source.not {
                bits = !bits;
            }
            // The byte of a shift amount or lane is named by `Table::place`; no other constant has a selection.
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
fn use_immediate_form(instr: &mut Instr, table: &mut Table, arch: Arch) {
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
    let in_table = float && table.place(Op::FAdd, 0, bits, arch).is_some();
    if rest.is_plain() && !in_table && !matches!(rest.operand, Operand::Constant(_)) {
        instr.op = if float { Op::FAddImm } else { Op::IAddImm };
        instr.sources = smallvec![rest];
        instr.immediate = Some(i64::from(bits));
    }
}

/// Places one source, by a move before the instruction if need be.
fn place_source(
    function: &mut Function,
    uniform: &Uniform,
    table: &mut Table,
    instr: &mut Instr,
    index: usize,
    out: &mut Vec<Instr>,
) {
    let Operand::Constant(bits) = instr.sources[index].operand else {
        return;
    };
    let source = table.place(instr.op, index, bits, function.extra.arch);
    let source = source.or_else(|| {
        let word = uniform.word(function, bits)?;
        Some(Source::plain(Operand::Fau(word)))
    });
    let source = source.unwrap_or_else(|| {
        let dest = Word::Value(function.new_value());
        out.push(make(dest, bits, instr.location, function.extra.arch));
        Source::plain(Operand::Word(dest))
    });
    // A whole word where bytes are wanted: its lowest, or that of each half.
    let spec = instr.op.isa().and_then(|op| op.row().sources.get(index));
    let named = spec.and_then(|spec| match source.select {
        Select::Identity if is_byte(spec) => Some(Select::B0),
        Select::Identity if is_bytes(spec) => Some(Select::B02),
        _ => None,
    });
    instr.sources[index] = match named {
        Some(select) => source.select(select),
        None => source,
    };
}

/// Which constants are uniform words.
struct Uniform {
    /// Uniform words that there may be.
    most: usize,
    /// Those that may be one, where not all can.
    chosen: Option<HashSet<u32>>,
}

impl Uniform {
    /// Where there are more constants than words are left, those that would be made most often otherwise.
    fn choose(function: &Function, target: &Target, table: &mut Table) -> Uniform {
        let most = target.limits.uniform_words as usize;
        let left = most.saturating_sub(function.extra.fau.len());
        let mut uniform = Uniform { most, chosen: None };
        let instrs = function.blocks.iter().flat_map(|block| &block.instrs);
        let operands = instrs.flat_map(|instr| &instr.sources);
        let constants = operands.filter_map(|source| match source.operand {
            Operand::Constant(bits) => Some(bits),
            _ => None,
        });
        if constants.collect::<HashSet<u32>>().len() <= left {
            return uniform;
        }
        let arch = function.extra.arch;
        let mut uses: HashMap<u32, u64> = HashMap::default();
        for (block, often) in function.blocks.iter().zip(function.frequencies()) {
            for instr in &block.instrs {
                let mut operands = instr.sources.iter().map(|source| source.operand);
                let reads_any = operands.any(|operand| matches!(operand, Operand::Constant(_)));
                if !reads_any || constant_move(instr).is_some() {
                    continue;
                }
                let mut instr = instr.clone();
                fold_modifiers(&mut instr);
                use_immediate_form(&mut instr, table, arch);
                for (index, source) in instr.sources.iter().enumerate() {
                    if let Operand::Constant(bits) = source.operand
                        && table.place(instr.op, index, bits, arch).is_none()
                    {
                        *uses.entry(bits).or_insert(0) += often;
                    }
                }
            }
        }
        if uses.len() > left {
            let mut ranked: Vec<(u64, u32)> =
                uses.into_iter().map(|(bits, uses)| (uses, bits)).collect();
            ranked.sort_unstable_by(|a, b| b.cmp(a));
            ranked.truncate(left);
            uniform.chosen = Some(ranked.into_iter().map(|(_, bits)| bits).collect());
        }
        uniform
    }

    /// The uniform word that holds a constant.
    fn word(&self, function: &mut Function, bits: u32) -> Option<u8> {
        let wanted = FauWord::Constant(bits);
        let words = &mut function.extra.fau;
        let found = words.iter().position(|&word| word == wanted);
        let index = found.or_else(|| {
            let chosen = self.chosen.as_ref();
            let may = words.len() < self.most && chosen.is_none_or(|chosen| chosen.contains(&bits));
            may.then(|| {
                words.push(wanted);
                words.len() - 1
            })
        })?;
        u8::try_from(index).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(op: Op, index: usize, bits: u32, expected: Option<&str>) {
        assert_eq!(
            Table::default()
                .place(op, index, bits, Arch::V10)
                .map(|source| source.to_string())
                .as_deref(),
            expected,
            "{op:?} {bits:#x}"
        );
    }

    #[test]
    fn constants_are_found_in_parts_of_the_table() {
        check(Op::Mux, 0, 1, None);
        check(Op::IAdd, 1, 1, Some("t4.b3"));
        check(Op::IAdd, 1, 192, Some("t7.b3"));
        check(Op::ICmpOrS, 1, (-4i32) as u32, Some("t3.b2"));
        check(Op::FAdd, 1, 2.0f32.to_bits(), Some("t28"));
        check(Op::FAdd, 1, 0.25f32.to_bits(), Some("t25.h1"));
        check(Op::FAdd, 1, (-0.5f32).to_bits(), Some("t26.neg.h1"));
        check(Op::FmaRscale, 2, (-0.0f32).to_bits(), Some("t0.neg"));
        check(Op::FAdd2, 1, 0x3c00_3c00, Some("t27.h11"));
        check(Op::FAdd2, 1, 0x8000_8000, Some("t0.neg"));
        check(Op::LShiftOr, 1, 24, Some("t14.b0"));
        check(Op::LShiftOr, 2, 0x8000_0000, Some("t2.not"));
    }

    #[test]
    fn a_selection_takes_a_part_of_a_word_and_widens_it() {
        let integer = |select, signed| selected(select, 0x8001_f234, false, signed);
        for (select, plain, signed) in [
            (Select::H0, 0xf234, 0xffff_f234),
            (Select::H1, 0x8001, 0xffff_8001),
            (Select::B0, 0x34, 0x34),
            (Select::B1, 0xf2, 0xffff_fff2),
            (Select::B2, 0x01, 0x01),
            (Select::B3, 0x80, 0xffff_ff80),
            (Select::H00, 0xf234_f234, 0xf234_f234),
            (Select::H11, 0x8001_8001, 0x8001_8001),
        ] {
            assert_eq!(integer(select, false), Some(plain), "{select:?}");
            assert_eq!(integer(select, true), Some(signed), "{select:?}, signed");
        }
        let float = |select| selected(select, 0x3c00_c000, true, false).map(f32::from_bits);
        assert_eq!(float(Select::H0), Some(-2.0));
        assert_eq!(float(Select::H1), Some(1.0));
    }

    #[test]
    fn where_words_run_out_constants_of_loops_have_them() {
        let mut target = Target::default();
        target.limits.uniform_words = 2;
        let mut function = Function::parse(
            "preload %0 = r60
            b0:
              %1 = IMUL.i32 %0, #0x1001
              %2 = IMUL.i32 %1, #0x2001
              %3 = IMUL.i32 %2, #0x2001
              jump b1
            b1:
              %4 = phi b0 %3, b1 %5
              %5 = IMUL.i32 %4, #0x3001
              branch %5, b1, b2
            b2:
              end",
        )
        .expect("text is MIR");
        legalise_constants(&mut function, &target);
        let words = [0x2001, 0x3001].map(FauWord::Constant);
        assert_eq!(function.extra.fau, words, "{function}");
        assert!(
            function.to_string().contains("IADD_IMM.i32 t0, imm:4097"),
            "{function}"
        );
    }

    #[test]
    fn a_half_is_the_float_of_its_value() {
        for half in 0..=0xffff_u32 {
            let (exponent, mantissa) = (half >> 10 & 0x1f, half & 0x3ff);
            let bits = half_to_float(half);
            let float = f32::from_bits(bits);
            let magnitude = match exponent {
                0x1f if mantissa != 0 => {
                    assert!(float.is_nan(), "{half:#x}: {bits:#x}");
                    assert_eq!(bits & 0x7f_ffff, mantissa << 13, "{half:#x}: its payload");
                    continue;
                }
                0x1f => f64::INFINITY,
                0 => f64::from(mantissa) / f64::from(1 << 24),
                _ => f64::from(1024 + mantissa) * f64::from(exponent as i32 - 25).exp2(),
            };
            assert_eq!(f64::from(float.abs()), magnitude, "{half:#x}: {bits:#x}");
            assert_eq!(float.is_sign_negative(), half >= 0x8000, "{half:#x}");
        }
    }
}
