//! Messages: what an instruction asks of a unit outside the execution engine.
//!
//! Facts: hardware/valhall-isa.md 4 (staging), 11 (messages).

use super::texture_request::{Gradient, TextureRequest, Wanted};
use super::typed::{Components, Fetch};
use eitri_isa::row::Type;
use eitri_isa::values::{
    AtomicOp, AtomicOp1, Dimension, FetchComponent, Flag, GclkSource, LoadLane, LodMode,
    MemoryAccess, RegisterFormat, RegisterWidth, SampleMode, SourceFormat, StoreLane, UpdateMode,
    VectorSize, WriteMask,
};
use eitri_isa::{ImmId, Instr, Op};

/// Where a loaded value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Whole registers.
    Registers,
    /// One byte of a register; the others keep their value.
    Byte(u8),
    /// One half of a register, grown to 16 bits; the other keeps its value.
    Half(u8),
    /// One register, grown to 32 bits.
    Word,
    /// Two registers, grown to 64 bits.
    Pair,
}

/// An atomic's operation on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    Add,
    MinSigned,
    MaxSigned,
    MinUnsigned,
    MaxUnsigned,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
}

/// Where an atomic's operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOperand {
    /// Staging registers.
    Staging,
    /// One 32-bit staging register, grown to 64 bits.
    StagingWord { signed: bool },
    /// The number itself.
    Implied(i64),
}

/// How a resource is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handle {
    /// By this source.
    Source(u8),
    /// In the instruction.
    Fixed(u32),
}

/// How a varying is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VaryingPlace {
    /// By its byte offset in the vertex's block.
    Offset(u32),
    /// By the byte offset in this source.
    OffsetSource(u8),
    /// By an attribute descriptor.
    Descriptor { handle: Handle, flat: bool },
    /// One of the built-in ones.
    Special(u32),
}

/// A load of a varying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Varying {
    pub(crate) place: VaryingPlace,
    /// Format in memory; of a descriptor's the descriptor tells.
    pub(crate) source: SourceFormat,
    pub(crate) sample: SampleMode,
    pub(crate) update: UpdateMode,
    pub(crate) components: Components,
}

/// What a message does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Loads from an address.
    Load {
        bytes: u8,
        placement: Placement,
        unsigned: bool,
        offset: i32,
    },
    /// Stores to an address, from byte `skip` of the first register on; `helpers`: of helper lanes too.
    Store {
        bytes: u8,
        skip: u8,
        offset: i32,
        helpers: bool,
    },
    /// Loads from a buffer by its handle.
    LoadBuffer {
        bytes: u8,
        placement: Placement,
        unsigned: bool,
    },
    /// The address of a byte of a buffer.
    ByteAddress,
    /// The address of an element of a buffer.
    ElementAddress { handle: Handle },
    /// Loads from an address, converted.
    LoadConverted { components: Components, offset: u32 },
    /// Stores to an address, converted; `helpers`: of helper lanes too.
    StoreConverted {
        components: Components,
        offset: u32,
        helpers: bool,
    },
    /// The address and the conversion descriptor of a texel.
    TexelAddress { handle: Handle },
    /// Loads a texel, converted.
    LoadTexel {
        handle: Handle,
        components: Components,
    },
    /// Loads a texel of a texture by its own handle.
    FetchTexel(Fetch),
    /// Samples, gathers, or asks for a level.
    RequestTexture(TextureRequest),
    /// Reads and writes memory as one.
    Atomic {
        bytes: u8,
        operation: Atomic,
        operand: AtomicOperand,
        offset: u32,
    },
    /// Fetches a vertex attribute.
    LoadAttribute {
        handle: Handle,
        components: Components,
    },
    /// Loads a varying.
    LoadVarying(Varying),
    /// Coverage and alpha: discards, covers by alpha, tests late.
    Atest,
    /// Tests late with the program's depth and stencil, as far as it gives them.
    ZsEmit { depth: bool, stencil: bool },
    /// Gives a colour to the tile buffer or to a blend shader; skips so many instructions unless a blend shader follows.
    Blend { components: Components, skip: u32 },
    /// Reads the tile buffer.
    LoadTile(Components),
    /// Writes the tile buffer.
    StoreTile(Components),
    /// Waits for the workgroup.
    Barrier,
    /// Reads the cycle counter, or the timestamp.
    Clock { timestamp: bool },
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) slot: u8,
    pub(crate) action: Action,
    /// First register and number of registers that it reads.
    pub(crate) read: (u8, u8),
    /// First register and number of registers that it writes.
    pub(crate) write: (u8, u8),
    /// Whether the staging counts are those that the action needs.
    pub(crate) counts_fit: bool,
}

/// The message that an instruction sends; `None` where too little is known of it.
pub(crate) fn decode(instr: &Instr) -> Option<Message> {
    let range = |range: Option<eitri_isa::RegRange>| {
        range.map_or((0, 0), |range| (range.first().index(), range.count()))
    };
    let (read, write) = (range(instr.read), range(instr.write));
    let action = action(instr)?;
    Some(Message {
        slot: instr.slot().map_or(0, |slot| slot.number()),
        action,
        read,
        write,
        counts_fit: fits(action, read.1, write.1),
    })
}

fn bytes(ty: Type) -> u8 {
    ty.bits() / 8
}

fn placement(instr: &Instr) -> Placement {
    match instr.get::<LoadLane>() {
        Some(LoadLane::B0) => Placement::Byte(0),
        Some(LoadLane::B1) => Placement::Byte(1),
        Some(LoadLane::B2) => Placement::Byte(2),
        Some(LoadLane::B3) => Placement::Byte(3),
        Some(LoadLane::H0) => Placement::Half(0),
        Some(LoadLane::H1) => Placement::Half(1),
        Some(LoadLane::W0) => Placement::Word,
        Some(LoadLane::D0) => Placement::Pair,
        Some(LoadLane::Whole) | None => Placement::Registers,
    }
}

/// The first byte of its register that a narrow store takes.
fn stored_from(instr: &Instr) -> u8 {
    match instr.get::<StoreLane>() {
        Some(StoreLane::B1) => 1,
        Some(StoreLane::B2 | StoreLane::H1) => 2,
        Some(StoreLane::B3) => 3,
        Some(StoreLane::B0 | StoreLane::H0) | None => 0,
    }
}

fn action(instr: &Instr) -> Option<Action> {
    let bytes = bytes(instr.row().ty);
    let offset = instr.imm(ImmId::Offset).unwrap_or(0) as i32;
    let unsigned = instr.flag(Flag::Unsigned);
    Some(match instr.op() {
        Op::LoadI8
        | Op::LoadI16
        | Op::LoadI24
        | Op::LoadI32
        | Op::LoadI48
        | Op::LoadI64
        | Op::LoadI96
        | Op::LoadI128 => Action::Load {
            bytes,
            placement: placement(instr),
            unsigned,
            offset,
        },
        Op::StoreI8
        | Op::StoreI16
        | Op::StoreI24
        | Op::StoreI32
        | Op::StoreI48
        | Op::StoreI64
        | Op::StoreI96
        | Op::StoreI128 => Action::Store {
            bytes,
            skip: stored_from(instr),
            offset,
            helpers: instr.get::<MemoryAccess>() == Some(MemoryAccess::Force),
        },
        Op::LdBufferI8
        | Op::LdBufferI16
        | Op::LdBufferI24
        | Op::LdBufferI32
        | Op::LdBufferI48
        | Op::LdBufferI64
        | Op::LdBufferI96
        | Op::LdBufferI128 => Action::LoadBuffer {
            bytes,
            placement: placement(instr),
            unsigned,
        },
        Op::LeaPka => Action::ByteAddress,
        Op::LeaBuf | Op::LeaBufImm => Action::ElementAddress {
            handle: handle(instr, 1)?,
        },
        Op::LdCvt => Action::LoadConverted {
            components: components(instr)?,
            offset: offset as u32,
        },
        Op::StCvt => Action::StoreConverted {
            components: components(instr)?,
            offset: offset as u32,
            helpers: instr.get::<MemoryAccess>() == Some(MemoryAccess::Force),
        },
        Op::LeaTex | Op::LeaTexImm => Action::TexelAddress {
            handle: handle(instr, 2)?,
        },
        Op::LdTex | Op::LdTexImm => Action::LoadTexel {
            handle: handle(instr, 2)?,
            components: components(instr)?,
        },
        Op::TexFetch => Action::FetchTexel(Fetch {
            dimensions: match instr.get::<Dimension>()? {
                Dimension::D1 => 1,
                Dimension::D2 => 2,
                Dimension::D3 => 3,
                Dimension::Cube => return None,
            },
            array: instr.flag(Flag::ArrayEnable),
            offset: instr.flag(Flag::TexelOffset),
            wide: instr.flag(Flag::WideIndices),
            mask: instr.get::<WriteMask>()?.bits(),
            narrow: instr.get::<RegisterWidth>()? == RegisterWidth::W16,
        }),
        Op::TexSingle | Op::TexGather | Op::TexGradient => {
            Action::RequestTexture(texture_request(instr)?)
        }
        Op::AtomI32 | Op::AtomI64 | Op::AtomReturnI32 | Op::AtomReturnI64 => {
            let (operation, operand) = atomic(instr)?;
            let offset = offset as u32;
            Action::Atomic {
                bytes,
                operation,
                operand,
                offset,
            }
        }
        Op::Atom1ReturnI32 | Op::Atom1ReturnI64 | Op::Atom1I32 | Op::Atom1I64 => {
            let (operation, implied) = match instr.get::<AtomicOp1>()? {
                AtomicOp1::Ainc => (Atomic::Add, 1),
                AtomicOp1::Adec => (Atomic::Add, -1),
                AtomicOp1::Aumax1 => (Atomic::MaxUnsigned, 1),
                AtomicOp1::Asmax1 => (Atomic::MaxSigned, 1),
                AtomicOp1::Aor1 => (Atomic::Or, 1),
            };
            Action::Atomic {
                bytes,
                operation,
                operand: AtomicOperand::Implied(implied),
                offset: offset as u32,
            }
        }
        Op::LdAttr | Op::LdAttrImm => Action::LoadAttribute {
            handle: handle(instr, 2)?,
            components: components(instr)?,
        },
        Op::LdVarSpecial
        | Op::LdVarBufImmF32
        | Op::LdVarBufImmF16
        | Op::LdVarBufF32
        | Op::LdVarBufF16
        | Op::LdVar
        | Op::LdVarImm
        | Op::LdVarFlat
        | Op::LdVarFlatImm => Action::LoadVarying(varying(instr)?),
        Op::Atest => Action::Atest,
        Op::ZsEmit => Action::ZsEmit {
            depth: instr.flag(Flag::Z),
            stencil: instr.flag(Flag::Stencil),
        },
        Op::Blend => Action::Blend {
            components: Components {
                count: 4,
                format: instr.get::<RegisterFormat>()?,
            },
            skip: instr.imm(ImmId::Target)? as u32,
        },
        Op::LdTile => Action::LoadTile(components(instr)?),
        Op::StTile => Action::StoreTile(components(instr)?),
        Op::Barrier => Action::Barrier,
        Op::LdGclkU64 => Action::Clock {
            timestamp: instr.get::<GclkSource>()? == GclkSource::SystemTimestamp,
        },
        _ => return None,
    })
}

/// The load of a varying that an instruction asks for; `None` if that is not modelled.
fn varying(instr: &Instr) -> Option<Varying> {
    let flat = matches!(instr.op(), Op::LdVarFlat | Op::LdVarFlatImm);
    // Vertices that are named exist on v14 alone.
    let place = match instr.op() {
        Op::LdVarSpecial => VaryingPlace::Special(instr.imm(ImmId::Index)? as u32),
        Op::LdVarBufImmF32 | Op::LdVarBufImmF16 => {
            VaryingPlace::Offset(instr.imm(ImmId::Index)? as u32)
        }
        Op::LdVarBufF32 | Op::LdVarBufF16 => VaryingPlace::OffsetSource(1),
        _ => VaryingPlace::Descriptor {
            handle: handle(instr, if flat { 0 } else { 1 })?,
            flat,
        },
    };
    let format = match instr.op() {
        Op::LdVarBufImmF16 | Op::LdVarBufF16 => RegisterFormat::F16,
        Op::LdVarBufImmF32 | Op::LdVarBufF32 | Op::LdVarSpecial => RegisterFormat::F32,
        _ => instr.get::<RegisterFormat>()?,
    };
    Some(Varying {
        place,
        source: instr.get::<SourceFormat>().unwrap_or(SourceFormat::F32),
        sample: instr.get::<SampleMode>().unwrap_or(SampleMode::Center),
        update: instr.get::<UpdateMode>().unwrap_or(UpdateMode::Clobber),
        components: Components {
            count: instr.get::<VectorSize>()?.components(),
            format,
        },
    })
}

/// What a texture message but TEX_FETCH asks for; `None` if that is not modelled.
fn texture_request(instr: &Instr) -> Option<TextureRequest> {
    // FACT: where a gather by texels takes its four texels from is not published (hardware/valhall-isa.md 11.10), and no driver
    // has one. Settled by such a gather from four different texels on any board.
    if instr.flag(Flag::IntegerCoordinates) {
        return None;
    }
    let (axes, cube) = match instr.get::<Dimension>()? {
        Dimension::D1 => (1, false),
        Dimension::D2 => (2, false),
        Dimension::D3 => (3, false),
        Dimension::Cube => (2, true),
    };
    let wanted = match instr.op() {
        Op::TexSingle => Wanted::Sample(instr.get::<LodMode>()?),
        Op::TexGather => Wanted::Gather(match instr.get::<FetchComponent>()? {
            FetchComponent::R => 0,
            FetchComponent::G => 1,
            FetchComponent::B => 2,
            FetchComponent::A => 3,
        }),
        _ => Wanted::Gradient(Gradient {
            derivatives: instr.flag(Flag::Derivative),
            no_bias: instr.flag(Flag::LodBiasDisable),
            no_clamp: instr.flag(Flag::LodClampDisable),
        }),
    };
    // FACT: what the divisor does to coordinates of other textures, and what derivatives of undivided directions are, is not
    // established (hardware/graphics-compiler.md 6), and no driver has them. Settled by such a sample on any v11 board.
    let projected = instr.flag(Flag::ProjectionEnable);
    let derivatives = matches!(wanted, Wanted::Gradient(gradient) if gradient.derivatives);
    if projected && (!cube || derivatives) {
        return None;
    }
    Some(TextureRequest {
        wanted,
        axes,
        cube,
        projected,
        array: instr.flag(Flag::ArrayEnable),
        shadow: instr.flag(Flag::Shadow),
        offset: instr.flag(Flag::TexelOffset),
        wide: instr.flag(Flag::WideIndices),
        mask: instr.get::<WriteMask>()?.bits(),
        narrow: instr.get::<RegisterWidth>()? == RegisterWidth::W16,
    })
}

/// The handle in source `index`, or in the immediates where the instruction has them.
fn handle(instr: &Instr, index: u8) -> Option<Handle> {
    let (Some(table), Some(at)) = (instr.imm(ImmId::Table), instr.imm(ImmId::Index)) else {
        return Some(Handle::Source(index));
    };
    // Tables 12 to 15 of four bits are the internal ones, 60 to 63 (valhall-isa.md 5).
    let table = if table < 12 { table } else { table + 48 };
    Some(Handle::Fixed((table as u32) << 24 | at as u32))
}

fn components(instr: &Instr) -> Option<Components> {
    Some(Components {
        count: instr.get::<VectorSize>()?.components(),
        format: instr.get::<RegisterFormat>()?,
    })
}

fn atomic(instr: &Instr) -> Option<(Atomic, AtomicOperand)> {
    let mut operand = AtomicOperand::Staging;
    let operation = match instr.atomic_op()? {
        AtomicOp::Aaddu | AtomicOp::Aadds => {
            let signed = instr.atomic_op() == Some(AtomicOp::Aadds);
            operand = AtomicOperand::StagingWord { signed };
            Atomic::Add
        }
        AtomicOp::Aadd => Atomic::Add,
        AtomicOp::Asmin => Atomic::MinSigned,
        AtomicOp::Asmax => Atomic::MaxSigned,
        AtomicOp::Aumin => Atomic::MinUnsigned,
        AtomicOp::Aumax => Atomic::MaxUnsigned,
        AtomicOp::Aand => Atomic::And,
        AtomicOp::Aor => Atomic::Or,
        AtomicOp::Axor => Atomic::Xor,
        AtomicOp::Axchg if instr.flag(Flag::Compare) => Atomic::CompareExchange,
        AtomicOp::Axchg => Atomic::Exchange,
    };
    // A comparison goes with the exchange only.
    if instr.flag(Flag::Compare) && operation != Atomic::CompareExchange {
        return None;
    }
    Some((operation, operand))
}

/// Whether staging ranges of these lengths are what the action moves.
fn fits(action: Action, read: u8, write: u8) -> bool {
    let registers = |bytes: u8| bytes.div_ceil(4);
    match action {
        Action::Load {
            bytes, placement, ..
        }
        | Action::LoadBuffer {
            bytes, placement, ..
        } => {
            let wanted = match placement {
                Placement::Registers => registers(bytes),
                Placement::Pair => 2,
                Placement::Byte(_) | Placement::Half(_) | Placement::Word => 1,
            };
            write == wanted
        }
        Action::Store { bytes, .. } => read == registers(bytes),
        Action::ByteAddress | Action::ElementAddress { .. } | Action::Clock { .. } => write == 2,
        Action::LoadVarying(varying) => write == varying.components.registers_needed(),
        Action::Atest | Action::ZsEmit { .. } => write == 1,
        Action::Blend { components, .. } | Action::StoreTile(components) => {
            read == components.registers_needed()
        }
        Action::LoadTile(components)
        | Action::LoadAttribute { components, .. }
        | Action::LoadConverted { components, .. }
        | Action::LoadTexel { components, .. } => write == components.registers_needed(),
        Action::StoreConverted { components, .. } => read == components.registers_needed(),
        Action::TexelAddress { .. } => write == 3,
        Action::RequestTexture(request) => read == request.payload() && write == request.results(),
        Action::FetchTexel(fetch) => read == fetch.payload() && write == fetch.results(),
        Action::Atomic {
            bytes,
            operation,
            operand,
            ..
        } => {
            let one = registers(bytes);
            let wanted = match (operand, operation) {
                (AtomicOperand::Implied(_), _) => 0,
                (AtomicOperand::StagingWord { .. }, _) => 1,
                (AtomicOperand::Staging, Atomic::CompareExchange) => 2 * one,
                (AtomicOperand::Staging, _) => one,
            };
            read == wanted && (write == 0 || write == one)
        }
        Action::Barrier => true,
    }
}
