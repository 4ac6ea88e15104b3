//! Stages: what a program's threads begin with, and what its messages act on, by the stage that it belongs to.
//!
//! A compute program acts on memory alone. A vertex program writes to its output buffers, table 61. A fragment program reads
//! varyings of its primitive and acts on the pixels of one tile, which lie here while its warps run.
//!
//! Facts: hardware/valhall-isa.md 11.7 to 11.9, 13; graphics-draw.md 3.7, 3.9; graphics-raster.md 4.6; graphics-model.md 4.2.

use super::lanes::WARP;
use super::warp::Warp;
use crate::fragment::{Fragment, Order, PixelTests};
use crate::raster::{Depths, Point, Primitive, Sampling};
use crate::tile::{BlendState, DepthBounds, Pixel, TileBuffer, TileError, ZsState};
use crate::tiler::VertexBatch;
use alloc::boxed::Box;
use alloc::sync::Arc;

/// The table of output buffers of vertex programs.
pub(crate) const OUTPUT_TABLE: u32 = 61;

/// What messages act on beside memory.
#[derive(Clone, Debug, Default)]
pub(crate) enum Stage {
    #[default]
    Compute,
    Vertex(VertexStage),
    Fragment(Box<FragmentStage>),
}

/// Which outputs buffer 0 of table 61 is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outputs {
    /// Positions and attribute records; buffer 1 is for varyings, of merged programs.
    Positions,
    /// Varyings, of the program that shades them alone.
    Varyings,
}

/// Output buffers of the vertices of a warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VertexStage {
    pub(crate) batch: VertexBatch,
    pub(crate) outputs: Outputs,
}

impl Stage {
    /// The address of an element of table 61 in a vertex program; `None` if it has no such buffer.
    ///
    /// An element that the vertices do not have lies at address 0, where a store fails. The address alone breaks no rule:
    /// panfrost (Mesa 26.2) takes that of a point size in draws without one, and leaves only its store out.
    pub(crate) fn output(&self, handle: u32, element: u32) -> Option<u64> {
        let Stage::Vertex(stage) = self else {
            return None;
        };
        let address = match (handle & 0xff_ffff, stage.outputs) {
            (0, Outputs::Positions) => stage.batch.position_element(element),
            (0, Outputs::Varyings) | (1, Outputs::Positions) => {
                stage.batch.varying_element(element)
            }
            _ => return None,
        };
        Some(address.unwrap_or(0))
    }
}

/// Registers that a vertex program's threads begin with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VertexThread {
    /// r59: element of the output buffers.
    pub(crate) output: u32,
    /// r60.
    pub(crate) vertex: u32,
    /// r61.
    pub(crate) instance: u32,
}

/// Fills the registers of a vertex program that `mask` announces: bit k is r(48 + k).
pub(crate) fn preload_vertices(
    warp: &mut Warp,
    mask: u16,
    threads: &[VertexThread; WARP],
    draw: u32,
) {
    for register in announced(mask) {
        let values = threads.map(|thread| match register {
            59 => thread.output,
            60 => thread.vertex,
            61 => thread.instance,
            62 => draw,
            // Nothing is known of the others in vertex programs.
            _ => 0,
        });
        warp.preload(register, values);
    }
}

/// State of a draw as its fragments need it.
#[derive(Clone, Debug)]
pub(crate) struct FragmentState {
    /// Order of tests for front and back facing fragments.
    pub(crate) order: [Order; 2],
    /// Depth and stencil state of front and back facing fragments.
    pub(crate) zs: [ZsState; 2],
    pub(crate) bounds: DepthBounds,
    pub(crate) sampling: Sampling,
    pub(crate) blend: BlendState,
    /// A bit for each colour target that the draw may write.
    pub(crate) targets: u32,
    pub(crate) per_sample: bool,
    /// Point coordinates have their origin at the lower left.
    pub(crate) point_origin_below: bool,
}

impl FragmentState {
    /// Whether alpha covers samples in an order that is inferred: that of 4 samples was measured.
    pub(crate) fn infers_alpha_coverage(&self) -> bool {
        let covers = self.order.iter().any(Order::covers_by_alpha);
        covers && !matches!(self.sampling.count(), 1 | 4)
    }
}

/// The primitive that fragments belong to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Geometry {
    /// `None` for a rectangle that covers pixels whole, with one depth: frame shaders and fullscreen draws.
    pub(crate) primitive: Option<Primitive>,
    /// Depth of a rectangle.
    pub(crate) depth: f64,
    /// Width and height that the vertices of a rectangle span, from the framebuffer's upper left corner on.
    pub(crate) span: [u32; 2],
    /// 1 if the back is seen.
    pub(crate) face: usize,
    /// Addresses of the vertices' varyings.
    pub(crate) varyings: [u64; 3],
    /// Addresses of the vertices' positions.
    pub(crate) positions: [u64; 3],
    /// Vertices of the primitive.
    pub(crate) vertices: usize,
    /// Bytes of varyings of a vertex.
    pub(crate) varying_bytes: u32,
    /// The vertex that flat varyings are taken from.
    pub(crate) provoking: usize,
    pub(crate) id: u32,
}

/// One lane of a fragment warp.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FragmentLane {
    /// Framebuffer coordinates.
    pub(crate) pixel: (u16, u16),
    pub(crate) fragment: Fragment,
    /// The sample that it runs for, where the program runs per sample.
    pub(crate) sample: Option<u8>,
    /// Samples that the rasteriser covers.
    pub(crate) covered: u16,
}

/// The pixels of a tile and the fragments of one primitive that change them.
#[derive(Clone, Debug)]
pub(crate) struct FragmentStage {
    pub(crate) tile: TileBuffer,
    /// Framebuffer coordinates of the tile's upper left pixel.
    pub(crate) origin: [u32; 2],
    pub(crate) draw: Arc<FragmentState>,
    pub(crate) geometry: Arc<Geometry>,
    pub(crate) lanes: Box<[FragmentLane; WARP]>,
    /// Depths of the primitive at the lanes' samples, biased, not clamped.
    pub(crate) depths: Depths,
    /// Lanes for which older fragments were killed.
    pub(crate) killers: u16,
    /// Where each lane's last varying load with `store` was evaluated.
    pub(crate) kept: [Point; WARP],
    /// r62 and r63.
    pub(crate) frame_argument: u64,
}

impl FragmentStage {
    /// The pixel of a lane, in the tile.
    pub(crate) fn pixel(&self, lane: usize) -> Pixel {
        let (x, y) = self.lanes[lane].pixel;
        Pixel {
            x: u32::from(x).wrapping_sub(self.origin[0]),
            y: u32::from(y).wrapping_sub(self.origin[1]),
        }
    }

    /// Lets a lane's fragment be tested: its state, the order of its tests, and the tests themselves.
    ///
    /// # Errors
    /// [`TileError::Outside`] if its pixel is not of the tile, which helper lanes at a border may not be.
    pub(crate) fn with_tests<R>(
        &mut self,
        lane: usize,
        test: impl FnOnce(&Order, &mut Fragment, &mut PixelTests<'_>) -> R,
    ) -> Result<R, TileError> {
        let pixel = self.pixel(lane);
        let face = self.geometry.face & 1;
        let state = &mut self.lanes[lane];
        let mut tests = PixelTests::new(
            &mut self.tile,
            pixel,
            &self.draw.zs[face],
            self.depths.of_lane(lane),
            self.draw.bounds,
        )?;
        Ok(test(
            &self.draw.order[face],
            &mut state.fragment,
            &mut tests,
        ))
    }

    /// Fragments of these lanes are discarded.
    pub(crate) fn discard(&mut self, lanes: u16) {
        for lane in super::warp::bits(lanes) {
            self.lanes[lane].fragment.discard();
        }
    }

    /// Fills the registers of the fragment program that `mask` announces: bit k is r(48 + k).
    pub(crate) fn preload(&self, warp: &mut Warp, mask: u16) {
        for register in announced(mask) {
            let values = self.lanes.each_ref().map(|lane| {
                let coverage = u32::from(lane.fragment.coverage());
                match register {
                    57 => self.geometry.id,
                    58 => self.geometry.face as u32,
                    59 => u32::from(lane.pixel.0) | u32::from(lane.pixel.1) << 16,
                    60 => coverage,
                    61 => coverage | u32::from(lane.sample.unwrap_or(0)) << 16,
                    62 => self.frame_argument as u32,
                    63 => (self.frame_argument >> 32) as u32,
                    // Nothing is known of the others in fragment programs.
                    _ => 0,
                }
            });
            warp.preload(register, values);
        }
    }
}

/// The registers that a preload mask announces.
fn announced(mask: u16) -> impl Iterator<Item = u8> {
    (0..16)
        .filter(move |bit| mask >> bit & 1 != 0)
        .map(|bit| 48 + bit)
}
