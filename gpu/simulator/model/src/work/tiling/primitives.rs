//! Primitives of a draw: from assembled vertices to what the lists hold.
//!
//! Facts: hardware/graphics-draw.md 3.9 (attribute record), 3.11, 3.15; graphics-model.md 1.2 to 1.4.

use super::super::through::Through;
use super::Tiling;
use crate::activity::TilerActivity;
use crate::mmu::{Refusal, Refused};
use crate::raster::{Corner, Facing, PointSize};
use crate::shader::JobFault;
use crate::tiler::{
    Assembled, Fate, HeapMemory, ListedPrimitive, Piece, PrimitiveKind, VertexReference, cull,
};
use alloc::collections::VecDeque;
use eitri_descriptors::Arch;
use eitri_descriptors::raster::{DrawMode, PointSizeArrayFormat};

/// Byte offsets in an attribute record.
const POINT_SIZE: u64 = 0;
const LAYER: u64 = 2;
const PRIMITIVE_ID: u64 = 12;

/// What is left of an assembled primitive, over all views.
#[derive(Debug, Default)]
pub(super) struct Survivors {
    pub(super) primitives: VecDeque<ListedPrimitive>,
    /// What became of it, to be counted once it is known to go on.
    pub(super) counted: TilerActivity,
}

impl Survivors {
    fn count(&mut self, kind: PrimitiveKind, fate: &Fate) {
        let counted = &mut self.counted;
        match kind {
            PrimitiveKind::Point => counted.points += 1,
            PrimitiveKind::Line => counted.lines += 1,
            PrimitiveKind::Triangle | PrimitiveKind::Fullscreen => counted.triangles += 1,
        }
        match fate {
            Fate::Visible(Facing::Front, _) => counted.front += 1,
            Fate::Visible(Facing::Back, _) => counted.back += 1,
            Fate::Culled => counted.culled += 1,
            Fate::Clipped => counted.clipped += 1,
        }
    }
}

impl Tiling {
    /// The primitives of an assembled one that reach the lists: one for each view and piece.
    pub(super) fn survivors(
        &self,
        memory: &mut Through<'_>,
        assembled: &Assembled,
    ) -> Result<Survivors, Refused<JobFault>> {
        let mut survivors = Survivors::default();
        let mask = self.flags.view_mask;
        let layers = (0..8).filter(|layer| mask >> layer & 1 != 0 || mask == 0 && *layer == 0);
        for (view, layer) in (0..).zip(layers) {
            self.survivors_of_view(memory, assembled, (view, layer), &mut survivors)?;
        }
        Ok(survivors)
    }

    fn survivors_of_view(
        &self,
        memory: &mut Through<'_>,
        assembled: &Assembled,
        (view, layer): (u8, u8),
        survivors: &mut Survivors,
    ) -> Result<(), Refused<JobFault>> {
        let mut vertices = [VertexReference::default(); 3];
        let mut corners = [Corner::default(); 3];
        let names = assembled.corners();
        for (index, name) in names.iter().enumerate() {
            let Some(shaded) = self.shaded.get(name) else {
                return Ok(());
            };
            vertices[index] = VertexReference {
                position: shaded.batch.position(shaded.number, view).unwrap_or(0),
                varyings: shaded.batch.varyings(shaded.number, view).unwrap_or(0),
            };
            corners[index] = position(memory, vertices[index].position)?;
        }
        let provoking = names.get(usize::from(assembled.provoking));
        let provoking = provoking.and_then(|name| self.shaded.get(name));
        let record = provoking
            .filter(|_| self.extended)
            .and_then(|shaded| shaded.batch.attributes(shaded.number, view));
        let arch = memory.fabric.config.product.arch();
        let mut listed = ListedPrimitive {
            kind: match names.len() {
                1 => PrimitiveKind::Point,
                2 => PrimitiveKind::Line,
                _ => PrimitiveKind::Triangle,
            },
            provoking: assembled.provoking,
            id: assembled.id,
            layer,
            point_size: self.constant_point_size(arch),
            bounds: self.rules.area,
            vertices,
            piece: None,
            draw: 0,
        };
        if let Some(record) = record {
            self.apply_record(memory, record, &mut listed)?;
        }
        let size = PointSize::new(listed.point_size, arch);
        let fate = cull(&corners[..names.len()], size, &self.rules);
        survivors.count(listed.kind, &fate);
        let Fate::Visible(_, pieces) = fate else {
            return Ok(());
        };
        for survivor in pieces {
            survivors.primitives.push_back(ListedPrimitive {
                bounds: survivor.bounds,
                piece: survivor.parts.map(|parts| Piece {
                    corners: survivor.corners,
                    parts,
                }),
                ..listed
            });
        }
        Ok(())
    }

    /// The size of points whose vertices give none: that of lines, until v13 has a register for lines alone
    /// (hardware/graphics-draw.md 3.11).
    fn constant_point_size(&self, arch: Arch) -> f32 {
        match arch >= Arch::V13 {
            true => 1.0,
            false => self.state.primitive_size,
        }
    }

    /// Whether the sizes of points are those of the attribute records.
    // FACT: v13 has no format of point sizes in the flags; there, a record's size is taken wherever points have records. Settled by
    // points with layers, and without sizes, on a v13 board.
    fn takes_point_sizes(&self, arch: Arch) -> bool {
        let format = self.flags.point_size_array_format;
        self.flags.draw_mode == DrawMode::Points
            && (arch >= Arch::V13 || format == PointSizeArrayFormat::FP16)
    }

    /// Takes point size, layer and primitive id from the provoking vertex's attribute record, as the flags ask.
    fn apply_record(
        &self,
        memory: &mut Through<'_>,
        record: u64,
        listed: &mut ListedPrimitive,
    ) -> Result<(), Refused<JobFault>> {
        let mut bytes = [0; 16];
        HeapMemory::read(memory, record, &mut bytes)?;
        let arch = memory.fabric.config.product.arch();
        if listed.kind == PrimitiveKind::Point && self.takes_point_sizes(arch) {
            let at = POINT_SIZE as usize;
            let half = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
            listed.point_size = crate::shader::half(half) as f32;
        }
        if self.flags.layer_index_enable {
            listed.layer = bytes[LAYER as usize];
        }
        if self.flags.primitive_index_override {
            let at = PRIMITIVE_ID as usize;
            let id = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            listed.id = u32::from_le_bytes(id);
        }
        Ok(())
    }
}

fn position(memory: &mut Through<'_>, address: u64) -> Result<Corner, Refusal> {
    let mut bytes = [0; 16];
    HeapMemory::read(memory, address, &mut bytes)?;
    let float =
        |at: usize| f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    Ok(Corner {
        x: float(0),
        y: float(4),
        z: float(8),
        inv_w: float(12),
    })
}
