//! Primitives of a tile: from the polygon lists to quads.
//!
//! Facts: hardware/graphics-model.md 2, 4.1; graphics.md 2.1.

use super::super::draw::{LoadedDraw, is_conservative};
use super::super::stage::Reader;
use super::super::through::Through;
use super::Pass;
use super::tiles::raster_box;
use crate::fabric::Fabric;
use crate::fidelity::Inexact;
use crate::memory::PhysicalMemory;
use crate::mmu::{Refusal, Refused};
use crate::raster::{
    Corner, Facing, LineRules, LineWidth, PointSize, Primitive, Quad, TriangleRules, cover,
    depths_after_culling, edges_may_hold_samples, is_wide,
};
use crate::shader::JobFault;
use crate::shader::stage::Geometry;
use crate::tile::Framebuffer;
use crate::tiler::{
    DrawState, ListReader, ListedPrimitive, PrimitiveKind, ReadStop, TilePrimitives,
    lies_on_guard_band,
};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Draws that a pass remembers.
const REMEMBERED_DRAWS: usize = 64;

/// A primitive of a list, with its corners and its draw.
struct Listed {
    primitive: ListedPrimitive,
    corners: [Corner; 3],
    draw: Arc<LoadedDraw>,
}

/// Quads of a primitive in a tile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QuadCount {
    all: u64,
    /// Those with a pixel of which nothing is covered.
    partial: u64,
    /// Pixels of which something is covered.
    pixels: u64,
}

impl QuadCount {
    pub(super) fn of(quads: &[Quad]) -> QuadCount {
        let partial = quads.iter().filter(|quad| quad.coverage.contains(&0));
        let pixels = quads.iter().flat_map(|quad| quad.coverage);
        QuadCount {
            all: quads.len() as u64,
            partial: partial.count() as u64,
            pixels: pixels.filter(|coverage| *coverage != 0).count() as u64,
        }
    }
}

impl Pass {
    /// Looks up the primitives of the current tile.
    pub(super) fn open_list(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
    ) -> Result<(), Refused<JobFault>> {
        (self.primitives, self.has_primitives) = (None, false);
        let (Some(lists), Some(area)) = (&self.lists, self.rendered()) else {
            return Ok(());
        };
        let layer = self.framebuffer.parameters.internal_layer_index.into();
        let mut through = Through {
            fabric,
            memory,
            access: self.reader.access(0),
        };
        let primitives = lists
            .tile(&mut through, layer, raster_box(area))
            .map_err(|stop| unreadable(&self.reader, through.fabric, stop))?;
        let first = primitives.clone().next(&mut through);
        let first = first.map_err(|stop| unreadable(&self.reader, through.fabric, stop))?;
        self.has_primitives = first.is_some();
        self.primitives = self.has_primitives.then_some(primitives);
        Ok(())
    }

    /// Queues the next primitive of the tile; whether there was one.
    pub(super) fn primitive(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
    ) -> Result<bool, Refused<JobFault>> {
        // Taken out, so that what waits for memory begins with the same primitive again.
        let Some(before) = self.primitives.take() else {
            return Ok(false);
        };
        let mut primitives = before.clone();
        match self.listed(fabric, memory, &mut primitives) {
            Ok(None) => Ok(false),
            Ok(Some(listed)) => {
                self.primitives = Some(primitives);
                if fabric.fidelity.is_on() {
                    note_inexact(fabric, &listed);
                }
                let quads = self.queue(&listed.draw, &listed.primitive, listed.corners);
                self.count(fabric, quads);
                Ok(true)
            }
            Err(refused) => {
                self.primitives = Some(before);
                Err(refused)
            }
        }
    }

    /// The next primitive of the tile with its corners and its draw.
    fn listed(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        primitives: &mut TilePrimitives,
    ) -> Result<Option<Listed>, Refused<JobFault>> {
        let mut through = Through {
            fabric,
            memory,
            access: self.reader.access(0),
        };
        let next = primitives.next(&mut through);
        let next = next.map_err(|stop| unreadable(&self.reader, through.fabric, stop))?;
        let Some(primitive) = next else {
            return Ok(None);
        };
        let corners = primitive.corners(&mut through)?;
        let draw = self.listed_draw(fabric, memory, primitive.draw)?;
        Ok(Some(Listed {
            primitive,
            corners,
            draw,
        }))
    }

    /// The draw whose state lies at an address of the lists.
    fn listed_draw(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        address: u64,
    ) -> Result<Arc<LoadedDraw>, Refused<JobFault>> {
        if let Some((_, draw)) = self.draws.iter().find(|(known, _)| *known == address) {
            return Ok(draw.clone());
        }
        let mut through = Through {
            fabric,
            memory,
            access: self.reader.access(0),
        };
        let state = DrawState::read(&mut through, address)?;
        let draw = self.reader.draw(fabric, memory, state, &self.framebuffer)?;
        let draw = Arc::new(draw);
        if self.draws.len() == REMEMBERED_DRAWS {
            self.draws.remove(0);
        }
        self.draws.push((address, draw.clone()));
        Ok(draw)
    }

    /// Counts a primitive of the tile's list, and its quads.
    fn count(&self, fabric: &mut Fabric, quads: QuadCount) {
        let core = self.shader.core();
        let counted = &mut fabric.activity.core(core).fragments;
        counted.primitives += 1;
        counted.rasterised += u64::from(quads.all > 0);
        counted.quads += quads.all;
        counted.partial_quads += quads.partial;
        counted.pixels += quads.pixels;
    }

    /// Queues the quads of a primitive that lie in the tile, and counts them.
    fn queue(
        &mut self,
        draw: &Arc<LoadedDraw>,
        listed: &ListedPrimitive,
        corners: [Corner; 3],
    ) -> QuadCount {
        let clip = self.rendered().map(raster_box);
        let clip = clip.and_then(|area| area.intersection(draw.clip?));
        let Some(area) = clip else {
            return QuadCount::default();
        };
        if listed.kind == PrimitiveKind::Fullscreen {
            let area = area.intersection(listed.bounds);
            return area.map_or_else(QuadCount::default, |area| self.rectangle(draw, area));
        }
        let Some(primitive) = self.set_up(draw, listed, corners) else {
            return QuadCount::default();
        };
        let mut quads = Vec::new();
        cover(&primitive, &draw.state.sampling, area, &mut quads);
        let sampling = &draw.state.sampling;
        let depths = depths_after_culling(&primitive, sampling, &draw.bounds, &mut quads);
        self.touched |= !quads.is_empty();
        let geometry = Geometry {
            face: usize::from(primitive.facing == Facing::Back),
            primitive: Some(primitive),
            depth: 0.0,
            span: [0; 2],
            varyings: listed.vertices.map(|vertex| vertex.varyings),
            positions: listed.vertices.map(|vertex| vertex.position),
            vertices: listed.kind.vertices(),
            varying_bytes: draw.words.varying_bytes,
            provoking: listed.provoking.into(),
            id: listed.id,
        };
        self.shader
            .queue(draw, &Arc::new(geometry), &quads, &depths);
        QuadCount::of(&quads)
    }

    /// The primitive as the rasteriser takes it.
    fn set_up(
        &self,
        draw: &LoadedDraw,
        listed: &ListedPrimitive,
        corners: [Corner; 3],
    ) -> Option<Primitive> {
        let flags = &draw.flags;
        let tie = self.framebuffer.parameters.tie_break_rule;
        let tie = self.defects.tie(tie, listed.id);
        let corners = self.defects.corners(corners);
        let [first, second, _] = corners;
        let primitive = match listed.kind {
            PrimitiveKind::Fullscreen => return None,
            PrimitiveKind::Point => {
                let size = PointSize::new(listed.point_size, self.framebuffer.arch);
                Primitive::point(first, size)?
            }
            PrimitiveKind::Line => {
                let rules = LineRules {
                    tie,
                    width: LineWidth::new(draw.words.primitive_size),
                    bresenham: flags.aligned_line_ends,
                };
                Primitive::line([first, second], rules)?
            }
            PrimitiveKind::Triangle => {
                let rules = TriangleRules {
                    tie,
                    front_ccw: flags.front_face_ccw,
                    conservative: is_conservative(flags),
                };
                Primitive::triangle(corners, rules)?
            }
        };
        let primitive = match &listed.piece {
            Some(piece) => primitive.clipped_from(piece.parts),
            None => primitive,
        };
        Some(match &draw.bias {
            Some(bias) => primitive.biased(bias),
            None if self.drift => primitive.drifting(),
            None => primitive,
        })
    }
}

/// Notes what a primitive's pixels rest on.
fn note_inexact(fabric: &mut Fabric, listed: &Listed) {
    let sampling = &listed.draw.state.sampling;
    if !sampling.each_sample && sampling.count() > 1 {
        fabric.fidelity.meet_for_pixels(Inexact::OneOfManySamples);
    }
    let corners = match listed.primitive.kind {
        PrimitiveKind::Triangle => &listed.corners[..],
        PrimitiveKind::Line => &listed.corners[..2],
        PrimitiveKind::Point | PrimitiveKind::Fullscreen => return,
    };
    if listed.primitive.piece.is_some() && lies_on_guard_band(corners) {
        fabric.fidelity.meet_for_pixels(Inexact::GuardBand);
    }
    if listed.primitive.kind == PrimitiveKind::Triangle {
        if is_wide(corners) {
            fabric.fidelity.meet_for_pixels(Inexact::WideRamp);
        }
        if edges_may_hold_samples(corners, sampling) {
            fabric.fidelity.meet_for_pixels(Inexact::TieRule);
        }
    }
}

/// Reads the head of the polygon lists that a framebuffer names.
pub(super) fn open_lists(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    reader: &Reader,
    framebuffer: &Framebuffer,
) -> Result<Option<ListReader>, Refused<JobFault>> {
    let context = framebuffer.parameters.tiler.get();
    if context == 0 {
        return Ok(None);
    }
    let list = fabric.read64(memory, reader.access(context))?;
    let mut through = Through {
        fabric,
        memory,
        access: reader.access(0),
    };
    ListReader::open(&mut through, list).map_err(|stop| unreadable(reader, through.fabric, stop))
}

/// Why a list can't be read, as the job ends or waits.
fn unreadable(reader: &Reader, fabric: &mut Fabric, stop: ReadStop<Refusal>) -> Refused<JobFault> {
    match stop {
        ReadStop::Memory(refusal) => refusal.into(),
        ReadStop::Malformed { address } => reader.invalid(fabric, address, "Polygon List"),
    }
}
