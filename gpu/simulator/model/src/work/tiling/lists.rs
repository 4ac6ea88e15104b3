//! Polygon lists as a job opens them, and why it stops.
//!
//! Facts: hardware/graphics.md 2.2, 2.4.

use super::super::stage::Reader;
use super::super::through::Through;
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use crate::injection::Injection;
use crate::memory::PhysicalMemory;
use crate::mmu::{Refusal, Refused};
use crate::shader::JobFault;
use crate::stream::exception;
use crate::tiler::{OpenError, Opening, PolygonList, ProvokingVertex, TilingStop};
use eitri_descriptors::Descriptor;
use eitri_descriptors::tiler::TilerContext;

pub(super) fn fault(exception: u8, address: u64) -> Refused<JobFault> {
    Refused::Failed(JobFault { exception, address })
}

/// Opens the polygon list of a tiler context.
pub(super) fn open_list(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    reader: &Reader,
    context: u64,
    heap: u64,
) -> Result<PolygonList, Refused<JobFault>> {
    if heap == 0 {
        reader.report(fabric, StreamMisuse::WithoutHeap);
    }
    let opening = Opening {
        arch: fabric.config.product.arch(),
        context,
        heap_context: heap,
    };
    let mut through = Through {
        fabric,
        memory,
        access: reader.tiler_access(0),
    };
    match PolygonList::open(&mut through, &opening) {
        Ok(list) => Ok(list),
        Err(OpenError::Memory(refusal)) => Err(refusal.into()),
        Err(OpenError::Context(error) | OpenError::Heap(error)) => {
            Err(reader.invalid(fabric, context, error.field))
        }
    }
}

/// Which vertex provokes in the pass of a tiler context.
pub(super) fn provoking(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    reader: &Reader,
    context: u64,
) -> Result<ProvokingVertex, Refused<JobFault>> {
    let mut bytes = [0; 128];
    fabric.read(memory, reader.tiler_access(context), &mut bytes)?;
    let words: [u32; 32] = core::array::from_fn(|index| {
        let word = &bytes[4 * index..][..4];
        u32::from_le_bytes([word[0], word[1], word[2], word[3]])
    });
    let arch = fabric.config.product.arch();
    match TilerContext::unpack_at(arch, &words, 0) {
        Ok(context) if context.first_provoking_vertex => Ok(ProvokingVertex::First),
        Ok(_) => Ok(ProvokingVertex::Last),
        Err(error) => Err(reader.invalid(fabric, context, error.field)),
    }
}

/// Whether an injection makes this allocation of the tiler fail.
pub(super) fn lacks_memory(fabric: &mut Fabric, reader: &Reader) -> bool {
    let (slot, stream) = (Some(reader.owner.group), Some(reader.owner.stream));
    let lacks = |injection| (injection == Injection::TilerOutOfMemory).then_some(());
    fabric.strike_at(slot, stream, lacks).is_some()
}

/// Why tiling stops, as the job ends or waits.
pub(super) fn stopped(
    reader: &Reader,
    fabric: &mut Fabric,
    stop: TilingStop<Refusal>,
) -> Refused<JobFault> {
    match stop {
        TilingStop::Memory(refusal) => refusal.into(),
        TilingStop::Exhausted => fault(exception::OOM, 0),
        TilingStop::TooLarge { bytes } => {
            let value = bytes;
            let register = 48;
            reader.report(fabric, StreamMisuse::StagingInvalid { register, value });
            reader.fail(value)
        }
    }
}
