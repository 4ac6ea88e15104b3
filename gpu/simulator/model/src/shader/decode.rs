//! Decode: from a word to an instruction that is ready to run.
//!
//! `eitri_isa` says what a word is; here each instruction is given its meaning. What has none is marked, never guessed.
//!
//! Facts: hardware/valhall-isa.md 9 (operations), 11 (messages), 17 (what is not established).

use super::instruction::{From, Instruction, Operation, Source, Test, WideSource};
use super::meaning::{self, Computed};
use super::message;
use super::select::{Extend, Select, SelectWide};
use super::straight::Issued;
use crate::diagnosis::ShaderMisuse;
use eitri_isa::meaning::Operation as Does;
use eitri_isa::row::{Kind, Unit};
use eitri_isa::values::{self, Flag, LaneOp};
use eitri_isa::{Arch, DecodeError, Flow, ImmId, Instr, Mask, Op, Operand, Rule, Src};

/// What is known of a word that does not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is no instruction.
    Undefined,
    /// It breaks the rules of the fast-access unit.
    FauRules,
    /// A pair or a staging range begins with an odd register.
    OddPair,
    /// It is another word's instruction: bits above the selection of a half are set, which the hardware takes no notice of.
    HalfBits,
}

/// Makes `word` ready to run on `arch`.
pub(crate) fn decode(word: u64, arch: Arch) -> (Instruction, Option<Trouble>) {
    match Instr::decode(word, arch) {
        Ok(instr) => (prepare(word, &instr, arch), None),
        Err(error) => {
            if let Some(word) = without_half_bits(word, &error) {
                let (instruction, trouble) = decode(word, arch);
                return (instruction, trouble.or(Some(Trouble::HalfBits)));
            }
            let trouble = match error {
                DecodeError::Rule(
                    Rule::TwoPages { .. }
                    | Rule::TooManyConstants { .. }
                    | Rule::TooManySlots { .. },
                ) => Trouble::FauRules,
                DecodeError::Rule(
                    Rule::OddSource { .. } | Rule::OddDestination { .. } | Rule::OddRange { .. },
                ) => Trouble::OddPair,
                _ => Trouble::Undefined,
            };
            (empty(word, Operation::Invalid, Flow::End), Some(trouble))
        }
    }
}

/// Why an instruction is refused that is known but not modelled.
pub(crate) fn refusal(word: u64, arch: Arch) -> ShaderMisuse {
    match Instr::decode(word, arch) {
        Ok(instr) if instr.op() == Op::TexGather && instr.flag(Flag::IntegerCoordinates) => {
            ShaderMisuse::GatherByTexels { word }
        }
        _ => ShaderMisuse::NotModelled { word },
    }
}

/// The word without bits above the selection of a half, if they are all that is wrong with it.
///
/// FACT: that these bits must be 0 is what the vendor's tables and hardware/valhall-isa.md 7.5 (10) say, and 19.2 that only the
/// lowest bit of the field counts; unmodified Mesa drivers, which pass Khronos' tests on boards, set bit 29: PanVK 25.0.7 that of
/// MKVEC.v2i16 in the kernel aes128_ctr, where it means the lower half, and panfrost 26.2 that of FRCP.f16 in a blur of glmark2, where
/// it means the upper one. They are taken no notice of, with a note. Settled by running such a word on any board.
fn without_half_bits(word: u64, error: &DecodeError) -> Option<u64> {
    match *error {
        DecodeError::Unclaimed { op, bits } if bits & !above_halves(op) == 0 => Some(word & !bits),
        DecodeError::Rule(Rule::SelectValue {
            op: op @ (Op::FrcpF16 | Op::FrsqF16 | Op::FpclassF16),
            source_index,
            ..
        }) => {
            let source = op.row().sources.get(usize::from(source_index))?;
            Some(word & !(1 << (source.select?.pos + 1)))
        }
        _ => None,
    }
}

/// The bit above each field of one bit that selects a half.
fn above_halves(op: Op) -> u64 {
    let selections = op.row().sources.iter().filter_map(|source| source.select);
    let halves = selections.filter(|select| select.width == 1);
    halves.fold(0, |bits, select| bits | 1 << (select.pos + 1))
}

fn empty(word: u64, operation: Operation, flow: Flow) -> Instruction {
    Instruction {
        word,
        operation,
        sources: [Source::NONE; 4],
        source_count: 0,
        wide: [WideSource::NONE; 3],
        dest: 0,
        mask: 0,
        flow,
        reads: 0,
        writes: 0,
        last_use: 0,
        unit: Unit::None,
        cycles: 0,
        interpolated: 0,
        issued: Issued::default(),
        is_straight: false,
        may_be_direct: false,
    }
}

fn prepare(word: u64, instr: &Instr, arch: Arch) -> Instruction {
    let row = instr.row();
    let mut ready = empty(word, operation(instr), instr.flow);
    let extend = extension(instr);
    (ready.unit, ready.cycles) = instr.issue(arch);
    ready.issued = Issued::of(ready.unit, ready.cycles);
    ready.interpolated = instr.interpolated() as u8;
    // An operation on 64 bits takes all its sources as 64 bits, a shift amount included.
    let is_wide = matches!(ready.operation, Operation::Wide(_));
    ready.source_count = row.sources.len().min(4) as u8;
    for (index, spec) in row.sources.iter().enumerate() {
        let Some(source) = instr.source(index) else {
            continue;
        };
        let pair = spec.size == 64;
        if pair || is_wide {
            let wide = wide_source(&source, extend, arch);
            // A selection of less than a pair reads one register, which may be odd.
            let one_register = !pair || wide.select.reads_one_word();
            ready.note_source(&source, !one_register);
            if let Some(place) = ready.wide.get_mut(index) {
                *place = wide;
            }
        } else {
            ready.note_source(&source, false);
            // The alpha of ATEST is a float though the instruction works on bits (hardware/valhall-isa.md 11.9).
            let is_alpha = instr.op() == Op::Atest && index == 1;
            let float_word = (spec.float || is_alpha) && spec.size == 32;
            ready.sources[index] = narrow_source(&source, spec.size, float_word, extend, arch);
        }
    }
    if let (Some(constant), true) = (instr.constant(), row.kind == Kind::Alu) {
        ready.sources[row.sources.len().min(3)] = Source::constant(constant);
        ready.source_count += 1;
    }
    if let Some(dest) = instr.dest {
        ready.dest = dest.reg.index();
        ready.mask = match dest.mask {
            Mask::H0 => 0x0000_ffff,
            Mask::H1 => 0xffff_0000,
            Mask::Both | Mask::Full => u32::MAX,
        };
        ready.writes |= 1 << ready.dest;
        if is_wide {
            ready.writes |= 1 << ((ready.dest + 1) & 63);
        }
    }
    let mask = |range: Option<eitri_isa::RegRange>| {
        range.map_or(0, |range| {
            range.iter().fold(0u64, |mask, reg| mask | 1 << reg.index())
        })
    };
    ready.reads |= mask(instr.read);
    ready.writes |= mask(instr.write);
    ready.is_straight = ready.can_run_straight();
    ready.may_be_direct = ready.can_be_direct();
    ready
}

impl Instruction {
    /// Notes which registers a source reads.
    fn note_source(&mut self, source: &Src, pair: bool) {
        let Operand::Register { reg, last_use } = source.operand else {
            return;
        };
        let mut registers = 1u64 << reg.index();
        if pair {
            registers |= 1 << ((reg.index() + 1) & 63);
        }
        self.reads |= registers;
        if last_use {
            self.last_use |= registers;
        }
    }
}

fn from(operand: Operand, arch: Arch) -> From {
    match operand {
        Operand::Register { reg, .. } => From::Register(reg.index()),
        Operand::Uniform(uniform) => From::Uniform(uniform.0),
        Operand::Constant(constant) => From::Constant(constant.value(arch)),
        Operand::Special { special, word } => From::Special(special, word),
    }
}

fn narrow_source(source: &Src, size: u8, float_word: bool, extend: Extend, arch: Arch) -> Source {
    // The sign of a float: one in 32 bits, or one in each half.
    let sign: u32 = if size == 32 { 0x8000_0000 } else { 0x8000_8000 };
    let select = Select::of(source.select.lanes(), float_word, extend).unwrap_or(Select::Identity);
    let is_plain = select == Select::Identity && !source.abs && !source.neg && !source.not;
    let modified = Source {
        from: from(source.operand, arch),
        select,
        keep: if source.abs { !sign } else { u32::MAX },
        flip: match (source.neg, source.not) {
            (true, _) => sign,
            (_, true) => u32::MAX,
            _ => 0,
        },
        is_plain,
    };
    match modified.from {
        // What is done to a constant is done once.
        From::Constant(bits) => Source::constant(modified.modified(bits)),
        _ => modified,
    }
}

fn wide_source(source: &Src, extend: Extend, arch: Arch) -> WideSource {
    WideSource {
        from: from(source.operand, arch),
        select: SelectWide::of(source.select.lanes(), extend).unwrap_or(SelectWide::Identity),
        not: source.not,
    }
}

/// How narrow parts of integer sources grow: by sign where the operation or, for conversions, its source is signed.
fn extension(instr: &Instr) -> Extend {
    let row = instr.row();
    let signed = match row.operation() {
        Does::Extend { signed } | Does::IntegerToFloat { signed } => signed,
        _ => row.ty.is_signed(),
    };
    if signed { Extend::Sign } else { Extend::Zero }
}

fn operation(instr: &Instr) -> Operation {
    let row = instr.row();
    match row.kind {
        Kind::Nop => Operation::Nop,
        Kind::Alu => match meaning::of(instr) {
            Some(Computed::Alu(alu)) => Operation::Alu(alu),
            Some(Computed::Wide(wide)) => Operation::Wide(wide),
            None => Operation::NotModelled,
        },
        Kind::CrossLane => cross_lane(instr),
        Kind::Branch => branch(instr),
        Kind::Load
        | Kind::Store
        | Kind::Atomic
        | Kind::Address
        | Kind::Attribute
        | Kind::Texture
        | Kind::Varying
        | Kind::TileLoad
        | Kind::TileStore
        | Kind::Coverage
        | Kind::Blend
        | Kind::Barrier
        | Kind::Clock => message::decode(instr).map_or(Operation::NotModelled, Operation::Message),
        Kind::System if instr.op() == Op::Kaboom => Operation::Kaboom,
        Kind::System => Operation::NotModelled,
        Kind::Discard => {
            meaning::condition(instr).map_or(Operation::NotModelled, Operation::Discard)
        }
        Kind::VaryingTexture => Operation::NotModelled,
    }
}

fn cross_lane(instr: &Instr) -> Operation {
    let subgroup = match instr.get::<values::SubgroupSize>() {
        Some(values::SubgroupSize::Lanes2) => 2,
        Some(values::SubgroupSize::Lanes4) => 4,
        Some(values::SubgroupSize::Lanes8) => 8,
        _ => 16,
    };
    match (instr.op(), instr.get::<LaneOp>()) {
        // FACT: where the mask of a smaller subgroup stands is not established (hardware/valhall-isa.md 9.9); only that of
        // 16 lanes is modelled. Settled by a shader on any board that stores WMASK of subgroup4.
        (Op::Wmask, _) if subgroup == 16 => Operation::LaneMask { subgroup },
        (Op::ClperI32, Some(operation @ (LaneOp::None | LaneOp::Xor))) => Operation::OtherLane {
            subgroup,
            xor: operation == LaneOp::Xor,
            inactive: inactive(instr),
        },
        _ => Operation::NotModelled,
    }
}

/// What a lane gets whose source lane is not active.
fn inactive(instr: &Instr) -> u32 {
    use values::InactiveResult as Result;
    match instr.get::<Result>() {
        None | Some(Result::Zero) => 0,
        Some(Result::Umax) => 0xFFFF_FFFF,
        Some(Result::I1) => 1,
        Some(Result::V2i1) => 0x0001_0001,
        Some(Result::Smin) => 0x8000_0000,
        Some(Result::Smax) => 0x7FFF_FFFF,
        Some(Result::V2smin) => 0x8000_8000,
        Some(Result::V2smax) => 0x7FFF_7FFF,
        Some(Result::V4smin) => 0x8080_8080,
        Some(Result::V4smax) => 0x7F7F_7F7F,
        Some(Result::F1) => 0x3F80_0000,
        Some(Result::V2f1) => 0x3C00_3C00,
        Some(Result::Infn) => 0xFF80_0000,
        Some(Result::Inf) => 0x7F80_0000,
        Some(Result::V2infn) => 0xFC00_FC00,
        Some(Result::V2inf) => 0x7C00_7C00,
    }
}

fn branch(instr: &Instr) -> Operation {
    let test = match instr.source(0).map(|source| source.select) {
        None | Some(eitri_isa::Select::Identity) => Test::Word,
        Some(eitri_isa::Select::H0) => Test::Half(0),
        Some(eitri_isa::Select::H1) => Test::Half(1),
        Some(eitri_isa::Select::And) => Test::AllOnes,
        Some(_) => Test::LowBits,
    };
    let if_zero = instr.flag(Flag::Eq);
    match instr.op() {
        Op::Branchz => Operation::Branch {
            test,
            if_zero,
            offset: instr.imm(ImmId::Offset).unwrap_or(0) as i32,
        },
        Op::Branchzi => Operation::BranchTo {
            test,
            if_zero,
            absolute: instr.flag(Flag::Absolute),
        },
        _ => Operation::NotModelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    /// FRCP.f16 r4, r1.h11, as panfrost writes it.
    const BOTH_BITS: u64 = 0x009c_c400_3001_0001;

    #[test]
    fn bits_above_the_selection_of_a_half_are_taken_no_notice_of() {
        for (with, without) in [(BOTH_BITS, 1 << 29), (BOTH_BITS & !(1 << 28), 1 << 29)] {
            let (ready, trouble) = decode(with, Arch::V10);
            assert_eq!(trouble, Some(Trouble::HalfBits), "{with:#x}");
            let wanted = decode(with & !without, Arch::V10);
            assert_eq!(wanted.1, None);
            let told = |it: &Instruction| format!("{:?} {:?}", it.operation, it.sources);
            assert_eq!(told(&ready), told(&wanted.0), "{with:#x}");
        }
        // S32_TO_F32.rtz r54, r61.h0: its source is a whole word.
        let (_, trouble) = decode(0x0090_f620_c009_003d, Arch::V10);
        assert_eq!(trouble, Some(Trouble::Undefined));
    }
}
