//! Barriers and fences: which memories they order.
//!
//! A fence of one invocation, whose accesses are in order anyway, or of no memory is none. A barrier of the workgroup orders
//! all memories, whatever it names: shaders that name too few are common, and it waits for all accesses anyway.
//! A barrier that naga may have narrowed is refused: a workgroup that does not wait gives wrong results without a word.
//! Guarantees: what an atomic releases is in order with the atomic itself, whatever memory that is on, and so is what it
//! acquires.
//! Facts: hardware/compiler-correctness.md 3 (fences), 5.10 (barriers).
use rspirv::spirv::{MemorySemantics, Op, Scope};

use crate::ir::{self, Spaces};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::pointer::{Area, Pointer, Target};
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::Translator;

/// Memories by the bits that name them. Nothing lies in that of a subgroup; whoever names it means something.
const NAMED: [(MemorySemantics, Spaces); 3] = [
    (
        MemorySemantics::UNIFORM_MEMORY
            .union(MemorySemantics::CROSS_WORKGROUP_MEMORY)
            .union(MemorySemantics::ATOMIC_COUNTER_MEMORY)
            .union(MemorySemantics::IMAGE_MEMORY),
        Spaces::BUFFERS,
    ),
    (MemorySemantics::WORKGROUP_MEMORY, Spaces::SHARED),
    (MemorySemantics::SUBGROUP_MEMORY, Spaces::ALL),
];

/// The sides of an instruction that stands alone.
const BOTH: MemorySemantics = MemorySemantics::RELEASE.union(MemorySemantics::ACQUIRE);

/// The generator word that naga writes, and the name by which the refusal of its barriers is known.
const NAGA: u32 = 28;
const NARROWED: &str = "Subgroup of a barrier that orders more than the subgroup's memory, in a module by naga, which makes that \
                        of GLSL's barrier(): give the GLSL itself, or a module by another tool. The scope";

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    match op {
        Op::ControlBarrier => control_barrier(t, instr)?,
        Op::MemoryBarrier => fence(t, instr, (0, 1))?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn control_barrier(t: &mut Translator<'_>, instr: &Instr) -> Result<()> {
    let scope = t.module.constant_word(instr, instr.word(0)?)?;
    match Scope::from_u32(scope) {
        Some(Scope::Workgroup) => {
            t.builder.inst(ir::Op::Barrier, &[]);
        }
        Some(Scope::Subgroup) if may_be_narrowed(t, instr)? => {
            return Err(instr.unsupported(Feature::Scope, NARROWED));
        }
        // The lanes of a subgroup run together.
        Some(Scope::Subgroup | Scope::Invocation) => fence(t, instr, (1, 2))?,
        Some(scope) => {
            return Err(instr.unsupported(Feature::Scope, format!("{scope:?} of a barrier")));
        }
        None => return Err(instr.invalid(Invalid::Literal(scope))),
    }
    Ok(())
}

/// Whether a barrier of a subgroup may have been one of the workgroup in the source: naga writes any barrier with the flag of
/// subgroups so, and gives that flag to all barriers of GLSL; of WGSL's, those of subgroups have it alone.
fn may_be_narrowed(t: &Translator<'_>, instr: &Instr) -> Result<bool> {
    let semantics = t.module.constant_word(instr, instr.word(2)?)?;
    let semantics = MemorySemantics::from_bits_retain(semantics);
    let wider = MemorySemantics::UNIFORM_MEMORY
        .union(MemorySemantics::WORKGROUP_MEMORY)
        .union(MemorySemantics::IMAGE_MEMORY);
    Ok(instr.generator() == NAGA && semantics.intersects(wider))
}

/// A fence that stands alone.
fn fence(t: &mut Translator<'_>, instr: &Instr, operands: (usize, usize)) -> Result<()> {
    let spaces = ordered(t, instr, operands, BOTH)?;
    if !spaces.is_empty() {
        t.builder.inst(ir::Op::Fence(spaces), &[]);
    }
    Ok(())
}

/// What an atomic through a pointer asks for before it.
pub(super) fn release(t: &mut Translator<'_>, instr: &Instr, pointer: &Pointer) -> Result<()> {
    beside(t, instr, pointer, MemorySemantics::RELEASE)
}

/// What an atomic through a pointer asks for behind it.
pub(super) fn acquire(t: &mut Translator<'_>, instr: &Instr, pointer: &Pointer) -> Result<()> {
    beside(t, instr, pointer, MemorySemantics::ACQUIRE)
}

fn beside(
    t: &mut Translator<'_>,
    instr: &Instr,
    pointer: &Pointer,
    side: MemorySemantics,
) -> Result<()> {
    let spaces = ordered(t, instr, (1, 2), side)?;
    if !spaces.is_empty() {
        let own = match &pointer.target {
            Target::Memory(place) if place.area == Area::Shared => Spaces::SHARED,
            _ => Spaces::BUFFERS,
        };
        t.builder.inst(ir::Op::Fence(spaces | own), &[]);
    }
    Ok(())
}

/// The memories that an instruction orders on one of these sides: operands give scope and semantics.
fn ordered(
    t: &Translator<'_>,
    instr: &Instr,
    (scope, semantics): (usize, usize),
    sides: MemorySemantics,
) -> Result<Spaces> {
    let scope = Scope::from_u32(t.module.constant_word(instr, instr.word(scope)?)?);
    let semantics = t.module.constant_word(instr, instr.word(semantics)?)?;
    let semantics = MemorySemantics::from_bits_retain(semantics);
    let asks = sides | MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::SEQUENTIALLY_CONSISTENT;
    if scope == Some(Scope::Invocation) || !semantics.intersects(asks) {
        return Ok(Spaces::NONE);
    }
    let named = NAMED.iter().filter(|(bits, _)| semantics.intersects(*bits));
    Ok(named.fold(Spaces::NONE, |all, (_, spaces)| all | *spaces))
}
