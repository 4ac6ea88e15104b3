//! Packing: machine IR to words.
//!
//! Which instruction of `eitri-ir3-isa` each operation is stands here; how it is encoded, there.
//! Facts: hardware/ir3-isa.md 7 (branches count from themselves), 12 (bindless descriptors), 13 (fences).

use eitri_ir3_isa::{
    Builder, Comp, Cond, ConstReg, DescMode, EncodeError, Field, Gen, Instr as Word64, Op as Isa,
    Operand as IsaOperand, Reg, Round, Src, Type as IsaType, Width,
};

use super::error::Error;
use super::legalise::float_of;
use super::mir::{
    AtomicKind, Class, Condition, Function, Instr, Op, Operand, Register, Shape, Source, Space,
    Type, Word,
};

/// The generation that code is for.
pub(super) const GENERATION: Gen = Gen::A6xx;

/// The words of a program.
pub(super) fn pack(function: &Function) -> Result<Vec<u64>, Error> {
    let starts = function.block_starts();
    let mut words = Vec::new();
    for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
        let target = instr.target.map(|block| {
            let start = starts.get(block.index()).copied().unwrap_or(0);
            start as i32 - words.len() as i32
        });
        let word = build(instr, target).and_then(|built| built.encode(GENERATION));
        words.push(word.map_err(|reason| Error::Encode {
            text: instr.to_string(),
            reason: reason.to_string(),
        })?);
    }
    Ok(words)
}

impl Op {
    /// The instruction that an operation is; of atomics, one of its kind.
    pub(super) fn isa(self, atomic: Option<AtomicKind>) -> Isa {
        let atomic = atomic.unwrap_or(AtomicKind::Add);
        match self {
            Op::Nop | Op::Note => Isa::Nop,
            Op::End => Isa::End,
            Op::Jump => Isa::Jump,
            Op::Branch => Isa::Br,
            Op::BranchAll => Isa::Ball,
            Op::BranchOthers => Isa::Getone,
            Op::Move | Op::ReadShared | Op::WriteShared => Isa::MovGpr,
            Op::ActiveMask => Isa::Movmsk,
            // Gone before packing.
            Op::Active | Op::Ballot | Op::First | Op::ReadLane | Op::Shuffle | Op::Scan => {
                Isa::Movmsk
            }
            Op::AddF => Isa::AddF,
            Op::MinF => Isa::MinF,
            Op::MaxF => Isa::MaxF,
            Op::MulF => Isa::MulF,
            Op::CmpsF => Isa::CmpsF,
            Op::AbsNegF => Isa::AbsnegF,
            Op::FloorF => Isa::FloorF,
            Op::CeilF => Isa::CeilF,
            Op::RndneF => Isa::RndneF,
            Op::TruncF => Isa::TruncF,
            Op::AddU => Isa::AddU,
            Op::SubU => Isa::SubU,
            Op::MinU => Isa::MinU,
            Op::MinS => Isa::MinS,
            Op::MaxU => Isa::MaxU,
            Op::MaxS => Isa::MaxS,
            Op::AbsNegS => Isa::AbsnegS,
            Op::CmpsU => Isa::CmpsU,
            Op::CmpsS => Isa::CmpsS,
            Op::AndB => Isa::AndB,
            Op::OrB => Isa::OrB,
            Op::NotB => Isa::NotB,
            Op::XorB => Isa::XorB,
            Op::MulU24 => Isa::MulU24,
            Op::MulS24 => Isa::MulS24,
            Op::MullU => Isa::MullU,
            Op::BfrevB => Isa::BfrevB,
            Op::ClzB => Isa::ClzB,
            Op::ShlB => Isa::ShlB,
            Op::ShrB => Isa::ShrB,
            Op::AshrB => Isa::AshrB,
            Op::CbitsB => Isa::CbitsB,
            Op::MadshM16 => Isa::MadshM16,
            Op::MadU24 => Isa::MadU24,
            Op::MadF16 => Isa::MadF16,
            Op::MadF32 => Isa::MadF32,
            Op::SelB16 => Isa::SelB16,
            Op::SelB32 => Isa::SelB32,
            Op::ShrM => Isa::Shrm,
            Op::ShlM => Isa::Shlm,
            Op::ShrG => Isa::Shrg,
            Op::ShlG => Isa::Shlg,
            Op::AndG => Isa::Andg,
            Op::Dp4U | Op::Dp4Mixed => Isa::Dp4acc,
            Op::Rcp => Isa::Rcp,
            Op::Rsq => Isa::Rsq,
            Op::Log2 => Isa::Log2,
            Op::Exp2 => Isa::Exp2,
            Op::HalfRsq => Isa::Hrsq,
            Op::HalfLog2 => Isa::Hlog2,
            Op::HalfExp2 => Isa::Hexp2,
            Op::Sin => Isa::Sin,
            Op::Cos => Isa::Cos,
            Op::QuadX => Isa::QuadShuffleHoriz,
            Op::QuadY => Isa::QuadShuffleVert,
            Op::QuadXY => Isa::QuadShuffleDiag,
            Op::LoadBuffer => Isa::LdibB,
            Op::StoreBuffer => Isa::StibB,
            Op::AtomicBuffer => buffer_atomic(atomic),
            Op::BufferSize => Isa::ResinfoB,
            Op::LoadTexel => Isa::LdibB,
            Op::StoreTexel => Isa::StibB,
            Op::AtomicTexel => buffer_atomic(atomic),
            Op::ImageSize => Isa::ResinfoB,
            Op::FetchTexel => Isa::Isam,
            Op::FetchLevel => Isa::Isaml,
            Op::SampleLevel => Isa::Saml,
            Op::TextureSize => Isa::Getsize,
            Op::TexelCount => Isa::Getbuf,
            Op::LoadUniform => Isa::Ldc,
            Op::LoadLocal => Isa::Ldl,
            Op::StoreLocal => Isa::Stl,
            Op::AtomicLocal => local_atomic(atomic),
            Op::LoadPrivate => Isa::Ldp,
            Op::StorePrivate => Isa::Stp,
            Op::LoadGlobal => Isa::Ldg,
            Op::LoadGlobalAt => Isa::LdgA,
            Op::StoreGlobal => Isa::Stg,
            Op::AtomicGlobal => global_atomic(atomic),
            Op::Barrier => Isa::Bar,
            Op::Fence => Isa::Fence,
        }
    }
}

fn buffer_atomic(kind: AtomicKind) -> Isa {
    match kind {
        AtomicKind::Add => Isa::AtomicBAdd,
        AtomicKind::Min => Isa::AtomicBMin,
        AtomicKind::Max => Isa::AtomicBMax,
        AtomicKind::And => Isa::AtomicBAnd,
        AtomicKind::Or => Isa::AtomicBOr,
        AtomicKind::Xor => Isa::AtomicBXor,
        AtomicKind::Exchange => Isa::AtomicBXchg,
        AtomicKind::CompareExchange => Isa::AtomicBCmpxchg,
    }
}

fn local_atomic(kind: AtomicKind) -> Isa {
    match kind {
        AtomicKind::Add => Isa::AtomicAdd,
        AtomicKind::Min => Isa::AtomicMin,
        AtomicKind::Max => Isa::AtomicMax,
        AtomicKind::And => Isa::AtomicAnd,
        AtomicKind::Or => Isa::AtomicOr,
        AtomicKind::Xor => Isa::AtomicXor,
        AtomicKind::Exchange => Isa::AtomicXchg,
        AtomicKind::CompareExchange => Isa::AtomicCmpxchg,
    }
}

fn global_atomic(kind: AtomicKind) -> Isa {
    match kind {
        AtomicKind::Add => Isa::AtomicGAdd,
        AtomicKind::Min => Isa::AtomicGMin,
        AtomicKind::Max => Isa::AtomicGMax,
        AtomicKind::And => Isa::AtomicGAnd,
        AtomicKind::Or => Isa::AtomicGOr,
        AtomicKind::Xor => Isa::AtomicGXor,
        AtomicKind::Exchange => Isa::AtomicGXchg,
        AtomicKind::CompareExchange => Isa::AtomicGCmpxchg,
    }
}

fn isa_type(ty: Type) -> IsaType {
    match ty {
        Type::F16 => IsaType::F16,
        Type::F32 => IsaType::F32,
        Type::U16 => IsaType::U16,
        Type::U32 => IsaType::U32,
        Type::S16 => IsaType::S16,
        Type::S32 => IsaType::S32,
        Type::U8 => IsaType::U8,
        Type::S8 => IsaType::S8,
    }
}

fn isa_condition(condition: Condition) -> Cond {
    match condition {
        Condition::Lt => Cond::Lt,
        Condition::Ge => Cond::Ge,
        Condition::Eq => Cond::Eq,
        Condition::Ne => Cond::Ne,
    }
}

/// The register of the tables. What has no register, which is nothing after allocation, is r63.x.
fn reg(word: Word) -> Reg {
    let number = |register: Register| register.number();
    let found = word.register().and_then(|register| match register.class() {
        Class::Full => Reg::full(number(register)),
        Class::Half => Reg::half(number(register)),
        Class::Shared => Reg::shared(number(register)),
        Class::Predicate => Comp::from_bits(number(register).into()).map(Reg::predicate),
    });
    found.unwrap_or(Reg::NONE)
}

/// The first register of a run.
fn first(words: &[Word]) -> Reg {
    words.first().map_or(Reg::NONE, |word| reg(*word))
}

fn src(instr: &Instr, source: &Source) -> Src {
    let width = Width::half_if(instr.half);
    let operand = match source.operand {
        Operand::Word(word) | Operand::Pair(word, _) => IsaOperand::Reg(reg(word)),
        Operand::Const(number) => match ConstReg::new(number) {
            Some(place) => IsaOperand::Const(place, width),
            None => IsaOperand::Reg(Reg::NONE),
        },
        Operand::Constant(bits) | Operand::Immediate(bits) => {
            match (instr.op.shape(), float_of(bits, instr.half)) {
                (Shape::Float, Some(float)) => IsaOperand::Float(float, width),
                _ => IsaOperand::Imm(bits as i32, width),
            }
        }
    };
    Src {
        neg: source.neg || source.not,
        abs: source.abs,
        r: source.steps,
        ..Src::new(operand)
    }
}

/// The instruction of the tables; a branch goes so far.
pub(super) fn build(instr: &Instr, target: Option<i32>) -> Result<Word64, EncodeError> {
    let isa = instr.op.isa(instr.atomic);
    let source = |number: usize| match instr.sources.get(number) {
        Some(source) => src(instr, source),
        None => Src::from(Reg::NONE),
    };
    let dest = first(&instr.dests);
    let data = first(&instr.data);
    let bare = Word64::build(isa);
    let builder = match instr.op {
        Op::Move | Op::ReadShared | Op::WriteShared => {
            let (from, to) = instr.types.unwrap_or((Type::U32, Type::U32));
            let (from, to) = (isa_type(from), isa_type(to));
            let builder = Word64::mov(from, to, dest, source(0));
            match instr.round_even {
                true => builder.round(Round::Even),
                false => builder,
            }
        }
        Op::ActiveMask => bare.set(Field::W, 32 * instr.dests.len() as i64).dst(dest),
        Op::Branch | Op::BranchAll => {
            let comp = i64::from(instr.sources.first().map_or(0, predicate));
            bare.set(Field::Comp1, comp)
                .flag(Field::Inv1, instr.not)
                .target(target.unwrap_or(0))
        }
        Op::Jump | Op::BranchOthers => bare.target(target.unwrap_or(0)),
        // Without a flag of a memory it orders that of the workgroup.
        Op::Fence => {
            let buffers = instr.space != Some(Space::Shared);
            bare.flag(Field::G, buffers)
                .flag(Field::L, buffers)
                .flag(Field::R, true)
                .flag(Field::W, true)
        }
        Op::Barrier => bare.flag(Field::G, true),
        Op::Dp4U | Op::Dp4Mixed => {
            let sign = i64::from(instr.op == Op::Dp4Mixed);
            let builder = bare.set(Field::SrcSign, sign).dst(dest);
            builder.src(source(0)).src(source(1)).src(source(2))
        }
        _ if instr.op.shape() == Shape::Memory => memory(instr, bare, dest, data, source),
        Op::QuadX | Op::QuadY | Op::QuadXY => bare
            .ty(IsaType::U32)
            .set(Field::WrMask, 1)
            .dst(dest)
            .operand(Field::Src1, source(0)),
        _ => {
            let mut builder = match instr.condition {
                Some(condition) => bare.cond(isa_condition(condition)),
                None => bare,
            };
            if !instr.dests.is_empty() {
                builder = builder.dst(dest);
            }
            for number in 0..instr.sources.len() {
                builder = builder.src(source(number));
            }
            builder
        }
    };
    finish(instr, builder)
}

/// The component of the predicate that a source is.
fn predicate(source: &Source) -> u8 {
    match source.operand {
        Operand::Word(word) => word.register().map_or(0, Register::number),
        _ => 0,
    }
}

/// The operands of an access.
fn memory(
    instr: &Instr,
    bare: Builder,
    dest: Reg,
    data: Reg,
    source: impl Fn(usize) -> Src,
) -> Builder {
    let (ty, _) = instr.types.unwrap_or((Type::U32, Type::U32));
    let ty = isa_type(ty);
    let offset = i64::from(instr.offset);
    let count = instr.dests.len().max(instr.data.len()) as i64;
    let set = i64::from(instr.set.unwrap_or(0));
    let bindless = |builder: Builder| builder.set(Field::Base, set).flag(Field::Bindless, true);
    let buffer = |builder: Builder, size: i64| {
        let builder = builder.ty(ty).set(Field::D, 1).set(Field::TypeSize, size);
        bindless(builder)
    };
    let sized = |builder: Builder| builder.ty(ty).set(Field::Size, count);
    match instr.op {
        Op::LoadBuffer | Op::StoreBuffer | Op::AtomicBuffer => {
            let (vector, size) = match instr.op {
                Op::LoadBuffer => (dest, count),
                Op::StoreBuffer => (data, count),
                _ => (dest, 1),
            };
            buffer(bare, size)
                .operand(Field::Src1, vector)
                .operand(Field::Src2, source(0))
                .operand(Field::Ssbo, source(1))
        }
        Op::LoadTexel | Op::StoreTexel | Op::AtomicTexel => {
            let (vector, size) = match instr.op {
                Op::LoadTexel => (dest, count),
                Op::StoreTexel => (data, count),
                _ => (dest, 1),
            };
            buffer(bare, size)
                .flag(Field::Typed, true)
                .set(Field::D, instr.coordinates.len() as i64)
                .operand(Field::Src1, vector)
                .operand(Field::Src2, first(&instr.coordinates))
                .operand(Field::Ssbo, source(0))
        }
        Op::ImageSize => buffer(bare, 1)
            .set(Field::D, offset + 1)
            .operand(Field::Dst, dest)
            .operand(Field::Ssbo, source(0)),
        Op::FetchTexel | Op::FetchLevel | Op::SampleLevel | Op::TextureSize | Op::TexelCount => {
            texture(instr, bare.ty(ty), source(0))
        }
        Op::BufferSize => buffer(bare, 1)
            .operand(Field::Dst, dest)
            .operand(Field::Ssbo, source(0)),
        Op::LoadUniform => bindless(bare)
            .set(Field::TypeSize, count)
            .set(Field::Offset, offset)
            .operand(Field::Dst, dest)
            .operand(Field::Src1, source(0))
            .operand(Field::Src2, source(1)),
        Op::LoadLocal | Op::LoadPrivate => sized(bare)
            .set(Field::Off, offset)
            .operand(Field::Dst, dest)
            .operand(Field::Src, source(0)),
        Op::StoreLocal | Op::StorePrivate => sized(bare)
            .set(Field::Off, offset)
            .operand(Field::Dst, source(0))
            .operand(Field::Src, data),
        Op::LoadGlobal => sized(bare)
            .set(Field::Off, offset)
            .operand(Field::Dst, dest)
            .operand(Field::Src1, source(0)),
        Op::LoadGlobalAt => sized(bare)
            .set(Field::Off, offset)
            .operand(Field::Dst, dest)
            .operand(Field::Src1, source(0))
            .operand(Field::Src2, source(1)),
        Op::StoreGlobal => sized(bare)
            .set(Field::Off, offset)
            .operand(Field::Src1, source(0))
            .operand(Field::Src3, data),
        // Atomics of shared memory and by address.
        _ => bare
            .ty(ty)
            .set(Field::D, 1)
            .set(Field::TypeSize, 1)
            .operand(Field::Dst, dest)
            .operand(Field::Src1, source(0))
            .operand(Field::Src2, data),
    }
}

/// The operands of a texture instruction: results, coordinates, what stands behind them, and the descriptors.
fn texture(instr: &Instr, bare: Builder, descriptors: Src) -> Builder {
    let immediate = match descriptors.operand {
        IsaOperand::Imm(bits, _) => Some(bits),
        _ => None,
    };
    let mode = match immediate {
        Some(_) => DescMode::BindlessImm,
        None => DescMode::BindlessNonUniform,
    };
    let flags = &instr.texture;
    let components = (1i64 << instr.dests.len()) - 1;
    let mut builder = bare
        .flag(Field::S2enBindless, true)
        .set(Field::DescMode, mode.bits().into())
        .set(Field::Base, instr.set.unwrap_or(0).into())
        .set(Field::WrMask, components);
    for (field, set) in [
        (Field::D3, flags.three),
        (Field::A, flags.arrayed),
        (Field::S, flags.compare),
        (Field::O, flags.offset),
    ] {
        builder = builder.flag(field, set);
    }
    builder = builder.dst(first(&instr.dests));
    if !instr.coordinates.is_empty() {
        builder = builder.operand(Field::Src1, first(&instr.coordinates));
    }
    if !instr.data.is_empty() {
        builder = builder.operand(Field::Src2, first(&instr.data));
    }
    match immediate {
        Some(bits) => builder.set(Field::Src3, bits.into()),
        None => builder.operand(Field::Src3, descriptors),
    }
}

/// The flags and counts of an instruction.
fn finish(instr: &Instr, mut builder: Builder) -> Result<Word64, EncodeError> {
    if instr.sync.sy {
        builder = builder.sy();
    }
    if instr.sync.ss {
        builder = builder.ss();
    }
    if instr.join {
        builder = builder.jp();
    }
    if instr.saturate {
        builder = builder.sat();
    }
    if instr.repeat > 0 {
        builder = builder.repeat(instr.repeat);
    }
    if instr.nops > 0 {
        builder = builder.nop(instr.nops);
    }
    builder.finish()
}
