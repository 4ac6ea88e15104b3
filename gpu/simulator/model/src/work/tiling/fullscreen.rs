//! Fullscreen draws: one primitive in the list of every layer, without vertices.
//!
//! Facts: hardware/graphics-draw.md 3.17.

use super::super::draw::{DRAW_WORDS, clip_of, pair, state_of_fullscreen};
use super::super::job::Turn;
use super::super::stage::Reader;
use super::super::through::Through;
use super::super::turn::injected;
use super::lists::{fault, lacks_memory, open_list, stopped};
use crate::fabric::Fabric;
use crate::injection::GraphicsUnit;
use crate::memory::PhysicalMemory;
use crate::mmu::Refused;
use crate::raster::PixelBox;
use crate::shader::JobFault;
use crate::stream::{Identity, IssuedFullscreen};
use crate::tiler::{ListedPrimitive, PolygonList, PrimitiveKind, TilingStop, VertexReference};
use eitri_descriptors::Descriptor;
use eitri_descriptors::raster::DcdFlags0;

/// Enters a fullscreen draw in the lists of every layer of its view mask. `None`: it draws nothing.
pub(in crate::work) fn fullscreen(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    owner: Identity,
    issued: &IssuedFullscreen,
) -> Result<Option<Fullscreen>, Refused<JobFault>> {
    let reader = Reader { owner };
    let arch = fabric.config.product.arch();
    reader.check_alignment(fabric, issued.draw, 64)?;
    let words = reader.words(fabric, memory, issued.draw, DRAW_WORDS)?;
    let state = match state_of_fullscreen(arch, issued, &words) {
        Ok(state) => state,
        Err(error) => return Err(reader.invalid(fabric, issued.draw, error.field)),
    };
    // A barrier has no effect but order, which lists keep anyway. A draw without a program may still clear depth or stencil.
    let is_barrier = DcdFlags0::unpack_at(arch, &state.dcd, 0)
        .map_err(|error| reader.invalid(fabric, issued.draw, error.field))?
        .primitive_barrier;
    if is_barrier && state.program == 0 {
        return Ok(None);
    }
    let context = pair(&issued.registers, 40);
    let mut list = open_list(fabric, memory, &reader, context, issued.heap)?;
    list.set_draw(state);
    let Some(bounds) = clip_of(&state) else {
        return Ok(None);
    };
    Ok(Some(Fullscreen {
        reader,
        list,
        bounds,
        layers: (state.primitive_flags >> 24) as u8,
        needs_memory: false,
    }))
}

/// A fullscreen draw.
#[derive(Clone, Debug)]
pub(in crate::work) struct Fullscreen {
    reader: Reader,
    list: PolygonList,
    bounds: PixelBox,
    /// Layers that it is not entered in yet, a bit each.
    layers: u8,
    needs_memory: bool,
}

impl Fullscreen {
    /// Works for another owner from now on.
    pub(in crate::work) fn move_to(&mut self, owner: Identity) {
        self.reader.owner = owner;
    }

    /// Whether the tiler heap must have more memory before the job goes on.
    pub(in crate::work) fn needs_memory(&self) -> bool {
        self.needs_memory
    }

    pub(in crate::work) fn work(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
    ) -> (u64, Turn) {
        let mut through = Through {
            fabric,
            memory,
            access: self.reader.tiler_access(0),
        };
        if core::mem::take(&mut self.needs_memory)
            && let Err(refusal) = self.list.resume(&mut through)
        {
            self.needs_memory = true;
            return (1, Err(refusal.into()));
        }
        while self.layers != 0 {
            let unit = Some(GraphicsUnit::Tiler);
            if let Some(exception) = injected(through.fabric, self.reader.owner, unit) {
                return (1, Err(fault(exception, 0)));
            }
            let primitive = ListedPrimitive {
                kind: PrimitiveKind::Fullscreen,
                provoking: 0,
                id: 0,
                layer: self.layers.trailing_zeros() as u8,
                point_size: 0.0,
                bounds: self.bounds,
                vertices: [VertexReference::default(); 3],
                piece: None,
                draw: 0,
            };
            let added = if lacks_memory(through.fabric, &self.reader) {
                Err(TilingStop::Exhausted)
            } else {
                self.list.add(&mut through, &primitive)
            };
            match added {
                Ok(()) => {}
                Err(TilingStop::Exhausted) => {
                    self.needs_memory = true;
                    return (1, Ok(false));
                }
                Err(stop) => return (1, Err(stopped(&self.reader, through.fabric, stop))),
            }
            self.layers &= self.layers - 1;
        }
        match self.list.store(&mut through) {
            Ok(()) => (1, Ok(true)),
            Err(refusal) => (1, Err(refusal.into())),
        }
    }
}
