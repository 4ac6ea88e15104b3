//! Vertices of a draw: its index stream and the programs that shade it.
//!
//! Facts: hardware/graphics-draw.md 3.1, 3.4, 3.7; graphics-model.md 1.1.

use super::super::draw::pair;
use super::super::stage::{LoadedStage, Reader, StagePointers};
use super::super::through::Through;
use crate::fabric::Fabric;
use crate::memory::PhysicalMemory;
use crate::mmu::{Refusal, Refused};
use crate::shader::JobFault;
use crate::shader::stage::Outputs;
use crate::stream::{IssuedDraw, VertexStages};
use crate::tiler::{DrawState, HeapMemory};
use alloc::vec::Vec;
use eitri_descriptors::Arch;
use eitri_descriptors::raster::{FifoFormat, IndexType, PointSizeArrayFormat, PrimitiveFlags};
use eitri_descriptors::shader::ShaderStage;

/// Bits of `shader_output`.
const OUTPUT_POSITION: u32 = 1;
const OUTPUT_ATTRIBUTES: u32 = 2;
const OUTPUT_VARYINGS: u32 = 4;

/// Indices of a draw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indices {
    /// Bytes of an index; 0 without an index buffer.
    bytes: u8,
    address: u64,
    size: u64,
    first: u32,
    /// The index of all ones ends a run.
    restart: bool,
    /// Added to an index.
    offset: u32,
}

impl Indices {
    /// The vertex at place `number` of the stream; `None` is a restart.
    pub(super) fn fetch(
        &self,
        memory: &mut Through<'_>,
        number: u32,
    ) -> Result<Option<u32>, Refusal> {
        if self.bytes == 0 {
            return Ok(Some(number.wrapping_add(self.offset)));
        }
        let place = u64::from(self.first) + u64::from(number);
        let end = (place + 1) * u64::from(self.bytes);
        let mut word = [0; 4];
        if end <= self.size {
            let address = self.address.wrapping_add(end - u64::from(self.bytes));
            HeapMemory::read(memory, address, &mut word[..usize::from(self.bytes)])?;
        }
        let index = u32::from_le_bytes(word);
        let all_ones = u32::MAX >> (32 - 8 * u32::from(self.bytes));
        if self.restart && index == all_ones {
            return Ok(None);
        }
        Ok(Some(index.wrapping_add(self.offset)))
    }
}

/// A vertex program and the outputs that it writes.
#[derive(Clone, Debug)]
pub(super) struct VertexProgram {
    pub(super) stage: LoadedStage,
    pub(super) outputs: Outputs,
}

/// Whether vertices have attribute records.
// FACT: what the automatic position FIFO format chooses is inferred from its name: extended where the flags need a record.
// Settled by a draw with layers and format 0 on any board.
pub(super) fn is_extended(flags: &PrimitiveFlags) -> bool {
    match flags.position_fifo_format {
        FifoFormat::Extended => true,
        FifoFormat::Basic => false,
        _ => {
            let sizes = flags.point_size_array_format == PointSizeArrayFormat::FP16;
            sizes || flags.layer_index_enable || flags.primitive_index_override
        }
    }
}

pub(super) fn indices(arch: Arch, registers: &[u32], flags: &PrimitiveFlags) -> Indices {
    let merged = arch >= Arch::V12;
    Indices {
        bytes: match flags.index_type {
            IndexType::None => 0,
            IndexType::UINT8 => 1,
            IndexType::UINT16 => 2,
            IndexType::UINT32 => 4,
        },
        address: pair(registers, if merged { 48 } else { 54 }),
        size: registers[if merged { 50 } else { 39 }].into(),
        first: registers[35],
        restart: flags.primitive_restart,
        offset: registers[36],
    }
}

/// The vertex programs of a draw, in the order in which they run.
pub(super) fn programs(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    reader: &Reader,
    issued: &IssuedDraw,
    state: &DrawState,
    (flags, extended): (&PrimitiveFlags, bool),
) -> Result<Vec<VertexProgram>, Refused<JobFault>> {
    let registers = &issued.registers;
    let mut load = |stage| {
        let pointers = StagePointers::of(registers, stage);
        reader.stage(fabric, memory, pointers, ShaderStage::Vertex)
    };
    Ok(match issued.vertex {
        VertexStages::Merged(stage) => {
            let mut stage = load(stage)?;
            let attributes = if extended { OUTPUT_ATTRIBUTES } else { 0 };
            let varyings = if state.varying_bytes != 0 {
                OUTPUT_VARYINGS
            } else {
                0
            };
            stage.environment.shader_output = OUTPUT_POSITION | attributes | varyings;
            alloc::vec![VertexProgram {
                stage,
                outputs: Outputs::Positions,
            }]
        }
        VertexStages::Split { position, varying } => {
            let mut programs = alloc::vec![VertexProgram {
                stage: load(position)?,
                outputs: Outputs::Positions,
            }];
            if flags.secondary_shader {
                programs.push(VertexProgram {
                    stage: load(varying)?,
                    outputs: Outputs::Varyings,
                });
            }
            programs
        }
    })
}
