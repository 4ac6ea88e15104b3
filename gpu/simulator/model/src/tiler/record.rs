//! Records of the polygon list: the state of a draw, and a primitive.
//!
//! Only the model reads them (graphics-model.md 0 item 3); their form is its own.
//!
//! Facts: hardware/graphics.md 1.1 (what the fragment half needs of a draw), graphics-draw.md 3.1.

use super::memory::{HeapMemory, bytes_of, read_words};
use super::read::ReadStop;
use crate::raster::{Corner, PixelBox};
use alloc::vec::Vec;

/// State of a draw, as registers hold it when it is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DrawState {
    /// Primitive flags: r56 with the instruction's override.
    pub(crate) primitive_flags: u32,
    /// DCD flags 0, 1 and 2.
    pub(crate) dcd: [u32; 3],
    /// Scissor box: minimum and maximum, y in the high halves.
    pub(crate) scissor: [u32; 2],
    /// Viewport box in the same form (v12 and later).
    pub(crate) viewport: [u32; 2],
    /// Low and high bound of depth.
    pub(crate) depth_range: [f32; 2],
    /// Line width or constant point size.
    pub(crate) primitive_size: f32,
    /// Bytes of a vertex's varyings.
    pub(crate) varying_bytes: u32,
    /// Addresses, with the counts that the registers hold beside them.
    pub(crate) depth_stencil: u64,
    pub(crate) blend: u64,
    pub(crate) occlusion: u64,
    pub(crate) resources: u64,
    pub(crate) fau: u64,
    pub(crate) program: u64,
    pub(crate) storage: u64,
    /// GPU address of the instruction that draws; 0: none does.
    pub(crate) instruction: u64,
    /// Number of the job that draws; 0: none does.
    pub(crate) job: u64,
}

impl DrawState {
    /// Words of a record.
    pub(super) const WORDS: usize = 30;

    pub(super) fn words(&self) -> [u32; DrawState::WORDS] {
        let mut words = [0; DrawState::WORDS];
        let single = [
            self.primitive_flags,
            self.dcd[0],
            self.dcd[1],
            self.dcd[2],
            self.scissor[0],
            self.scissor[1],
            self.viewport[0],
            self.viewport[1],
            self.depth_range[0].to_bits(),
            self.depth_range[1].to_bits(),
            self.primitive_size.to_bits(),
            self.varying_bytes,
        ];
        let double = [
            self.depth_stencil,
            self.blend,
            self.occlusion,
            self.resources,
            self.fau,
            self.program,
            self.storage,
            self.instruction,
            self.job,
        ];
        let halves = double
            .into_iter()
            .flat_map(|word| [word as u32, (word >> 32) as u32]);
        for (to, from) in words.iter_mut().zip(single.into_iter().chain(halves)) {
            *to = from;
        }
        words
    }

    /// Reads the state of a draw, for the address that its primitives name.
    pub(crate) fn read<M: HeapMemory>(
        memory: &mut M,
        address: u64,
    ) -> Result<DrawState, M::Refusal> {
        let words = read_words(memory, address, DrawState::WORDS)?;
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        let double = |index: usize| u64::from(word(index + 1)) << 32 | u64::from(word(index));
        Ok(DrawState {
            primitive_flags: word(0),
            dcd: [word(1), word(2), word(3)],
            scissor: [word(4), word(5)],
            viewport: [word(6), word(7)],
            depth_range: [f32::from_bits(word(8)), f32::from_bits(word(9))],
            primitive_size: f32::from_bits(word(10)),
            varying_bytes: word(11),
            depth_stencil: double(12),
            blend: double(14),
            occlusion: double(16),
            resources: double(18),
            fau: double(20),
            program: double(22),
            storage: double(24),
            instruction: double(26),
            job: double(28),
        })
    }
}

/// Form in which a primitive is rasterised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrimitiveKind {
    /// All pixels of its bounds: RUN_FULLSCREEN. No vertices.
    Fullscreen,
    Point,
    Line,
    Triangle,
}

impl PrimitiveKind {
    const ALL: [PrimitiveKind; 4] = [
        PrimitiveKind::Fullscreen,
        PrimitiveKind::Point,
        PrimitiveKind::Line,
        PrimitiveKind::Triangle,
    ];

    /// Vertices, which is also the number that names the kind.
    pub(crate) fn vertices(self) -> usize {
        self as usize
    }
}

/// Addresses of the results of a vertex, for the primitive's view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct VertexReference {
    /// Address of the position: X, Y, Z and 1/w.
    pub(crate) position: u64,
    /// Address of the varyings.
    pub(crate) varyings: u64,
}

/// The corners of a piece of a clipped primitive, which no vertex program stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) corners: [Corner; 3],
    /// Parts of the primitive's vertices in each corner.
    pub(crate) parts: [[f64; 3]; 3],
}

/// A primitive of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ListedPrimitive {
    pub(crate) kind: PrimitiveKind,
    /// Corner that flat values come from.
    pub(crate) provoking: u8,
    /// Primitive id that the fragment program sees.
    pub(crate) id: u32,
    /// Layer, before the tiler context's offset is added.
    pub(crate) layer: u8,
    /// Size of a point.
    pub(crate) point_size: f32,
    /// Pixels that the primitive may touch.
    pub(crate) bounds: PixelBox,
    /// Vertices; those that the kind lacks are zero.
    pub(crate) vertices: [VertexReference; 3],
    /// Corners, if they are not the vertices' positions.
    pub(crate) piece: Option<Piece>,
    /// Address of the draw's state: filled in where a primitive is entered.
    pub(crate) draw: u64,
}

/// Bits of a record's first word, above the kind.
const CLIPPED: u32 = 1 << 8;
const PROVOKING: u32 = 16;
const LAYER: u32 = 24;

/// Words of a record: its head, three vertices, and corners with their parts.
const HEAD_WORDS: usize = 8;
const VERTEX_WORDS: usize = 4;
const CORNER_WORDS: usize = 4 + 6;

impl ListedPrimitive {
    pub(super) fn words(&self) -> Vec<u32> {
        let flags = self.kind as u32
            | if self.piece.is_some() { CLIPPED } else { 0 }
            | u32::from(self.provoking) << PROVOKING
            | u32::from(self.layer) << LAYER;
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let pair = |low: u16, high: u16| u32::from(high) << 16 | u32::from(low);
        let (bounds, [draw_low, draw_high]) = (&self.bounds, halves(self.draw));
        let mut words: Vec<u32> = [
            flags,
            self.id,
            draw_low,
            draw_high,
            pair(bounds.min_x, bounds.min_y),
            pair(bounds.max_x, bounds.max_y),
            self.point_size.to_bits(),
            0,
        ]
        .to_vec();
        for vertex in &self.vertices[..self.kind.vertices()] {
            words.extend(halves(vertex.position));
            words.extend(halves(vertex.varyings));
        }
        for (corner, parts) in self
            .piece
            .iter()
            .flat_map(|it| it.corners.iter().zip(it.parts))
        {
            words.extend([corner.x, corner.y, corner.z, corner.inv_w].map(f32::to_bits));
            words.extend(parts.into_iter().flat_map(|part| halves(part.to_bits())));
        }
        words
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        bytes_of(&self.words())
    }

    /// Reads a record.
    pub(super) fn read<M: HeapMemory>(
        memory: &mut M,
        address: u64,
    ) -> Result<ListedPrimitive, ReadStop<M::Refusal>> {
        let head = read_words(memory, address, HEAD_WORDS)?;
        let [flags, id, draw_low, draw_high, min, max, point_size, _] = head[..] else {
            return Err(ReadStop::Malformed { address });
        };
        let kind = PrimitiveKind::ALL.get((flags & 0xff) as usize).copied();
        let kind = kind.ok_or(ReadStop::Malformed { address })?;
        let clipped = flags & CLIPPED != 0;
        let corner_words = if clipped { 3 * CORNER_WORDS } else { 0 };
        let vertex_words = kind.vertices() * VERTEX_WORDS;
        let behind = address.wrapping_add(4 * HEAD_WORDS as u64);
        let rest = if vertex_words + corner_words == 0 {
            Vec::new()
        } else {
            read_words(memory, behind, vertex_words + corner_words)?
        };
        let double = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        let mut vertices = [VertexReference::default(); 3];
        let (references, corners) = rest.split_at(vertex_words);
        for (vertex, words) in vertices
            .iter_mut()
            .zip(references.chunks_exact(VERTEX_WORDS))
        {
            vertex.position = double(words[0], words[1]);
            vertex.varyings = double(words[2], words[3]);
        }
        let low = |word: u32| word as u16;
        let high = |word: u32| (word >> 16) as u16;
        Ok(ListedPrimitive {
            kind,
            provoking: (flags >> PROVOKING & 3).min(2) as u8,
            id,
            layer: (flags >> LAYER) as u8,
            point_size: f32::from_bits(point_size),
            bounds: PixelBox {
                min_x: low(min),
                min_y: high(min),
                max_x: low(max),
                max_y: high(max),
            },
            vertices,
            piece: clipped.then(|| piece(corners)),
            draw: double(draw_low, draw_high),
        })
    }

    /// Positions of the corners: the vertices' own, or those of the piece.
    pub(crate) fn corners<M: HeapMemory>(&self, memory: &mut M) -> Result<[Corner; 3], M::Refusal> {
        if let Some(piece) = &self.piece {
            return Ok(piece.corners);
        }
        let mut corners = [Corner::default(); 3];
        for (corner, vertex) in corners
            .iter_mut()
            .zip(&self.vertices)
            .take(self.kind.vertices())
        {
            *corner = position(&read_words(memory, vertex.position, 4)?);
        }
        Ok(corners)
    }
}

/// The four floats of a position.
fn position(words: &[u32]) -> Corner {
    let float = |index: usize| f32::from_bits(words.get(index).copied().unwrap_or(0));
    Corner {
        x: float(0),
        y: float(1),
        z: float(2),
        inv_w: float(3),
    }
}

/// Three corners with their parts.
fn piece(words: &[u32]) -> Piece {
    let mut piece = Piece {
        corners: [Corner::default(); 3],
        parts: [[0.0; 3]; 3],
    };
    for (index, words) in words.chunks_exact(CORNER_WORDS).take(3).enumerate() {
        piece.corners[index] = position(words);
        for (part, halves) in piece.parts[index]
            .iter_mut()
            .zip(words[4..].chunks_exact(2))
        {
            *part = f64::from_bits(u64::from(halves[1]) << 32 | u64::from(halves[0]));
        }
    }
    piece
}
