//! Vertices and fragments: what a draw gives a shader, and what the shader makes of it.
//!
//! Needs: a function of that stage that `verify` accepts.  Guarantees: fragments run in quads, four lanes of a warp each. A
//! lane that only helps, from the start or since it was demoted, runs on, and its stores and atomics do nothing.
//! Never: rasterises. Which fragments there are the caller says; what they find is the affair of a [`Primitive`].
use std::collections::BTreeMap;

use super::memory::{Bound, Resources};
use super::run::{Dispatch, LaneInput, Machine};
use super::trap::Trap;
use crate::ir::{Axis, COLOR_TARGETS, Function, Output, Sampling, SysVal, Uniform};

/// What all invocations of a draw have in common.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Draw {
    /// The first vertex, or what is added to each index.
    pub base_vertex: u32,
    /// The first instance.
    pub base_instance: u32,
    /// The view that is drawn to.
    pub view_index: u32,
    /// The viewport transform: window = clip / w * scale + offset.
    pub viewport_scale: [f32; 3],
    /// Its other half.
    pub viewport_offset: [f32; 3],
    /// The blend constants.
    pub blend_constants: [f32; 4],
    /// Where in a pixel its samples lie, from the left and from the top.
    pub samples: Vec<[f32; 2]>,
    /// Bytes from offset 0; missing ones are zero.
    pub push_constants: Vec<u8>,
    /// Instructions that all invocations together may execute.
    pub step_limit: u64,
}

/// A vertex.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Vertex {
    /// Its number, the base added.
    pub index: u32,
    /// The number of the instance, the base not added.
    pub instance: u32,
    /// The number of the draw.
    pub draw: u32,
    /// The groups of outputs that are asked for, where the shader asks.
    pub output_mask: u32,
    /// By location. What isn't given is 0, 0, 0, 1 as integers or zeros, as formats have it: the caller says.
    pub attributes: BTreeMap<u8, [u32; 4]>,
}

/// A fragment: a pixel, or a sample of one.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Fragment {
    /// Column and row.
    pub pixel: [u32; 2],
    /// The number of the sample that it is for.
    pub sample: u32,
    /// The samples that the primitive covers, a bit each.
    pub coverage: u32,
    /// A place in the pixel that the primitive covers.
    pub centroid: [f32; 2],
    /// Whether the primitive shows its front.
    pub front_facing: bool,
    /// The place in a point.
    pub point: [f32; 2],
    /// The number of the primitive.
    pub primitive: u32,
    /// The layer.
    pub layer: u32,
    /// Whether it is there for its quad alone.
    pub helper: bool,
    /// What the targets hold of it, by number: four components, those that a format lacks as 0, 0, 0, 1.
    pub tile: [[u32; 4]; COLOR_TARGETS as usize],
    /// The depth that the framebuffer holds of it.
    pub depth: f32,
    /// The stencil value that it holds.
    pub stencil: u8,
}

/// What an invocation stored, in its order.
pub type Outputs = Vec<(Output, Vec<u32>)>;

/// What came of a fragment.
#[derive(Clone, PartialEq, Debug)]
pub struct Shaded {
    /// What it stored; of a lane that only helps it means nothing.
    pub outputs: Outputs,
    /// Whether it only helps by now.
    pub helper: bool,
}

/// What fragments find of the primitive that they are of.
pub trait Primitive {
    /// A component of a location as the provoking vertex has it.
    fn flat(&self, location: u8, component: u8) -> u32;
    /// The same interpolated at a place of the window, with regard to perspective.
    fn interpolated(&self, location: u8, component: u8, at: [f32; 2]) -> u32;
    /// 1/w there.
    fn reciprocal_w(&self, at: [f32; 2]) -> f32;
    /// The depth there.
    fn depth(&self, at: [f32; 2]) -> f32;
}

/// Runs a vertex shader for vertices, as many together as a warp has lanes.
///
/// # Errors
/// The first trap.
pub fn interpret_vertices(
    function: &Function,
    draw: &Draw,
    vertices: &[Vertex],
    resources: &Resources,
) -> Result<Vec<Outputs>, Trap> {
    let lanes = vertices.iter().cloned().map(LaneInput::Vertex);
    let shaded = run(
        function,
        draw,
        None,
        lanes.collect(),
        &mut resources.clone(),
    )?;
    Ok(shaded.into_iter().map(|shaded| shaded.outputs).collect())
}

/// Runs a fragment shader for quads of one primitive: the left and right pixel of the upper row, then of the lower.
///
/// # Errors
/// The first trap; the resources are then as they were.
pub fn interpret_quads(
    function: &Function,
    draw: &Draw,
    primitive: &dyn Primitive,
    quads: &[[Fragment; 4]],
    resources: &mut Resources,
) -> Result<Vec<[Shaded; 4]>, Trap> {
    let lanes = quads.iter().flatten().copied().map(LaneInput::Fragment);
    let shaded = run(function, draw, Some(primitive), lanes.collect(), resources)?;
    let mut shaded = shaded.into_iter();
    let quads = std::iter::from_fn(|| {
        let quad = [
            shaded.next()?,
            shaded.next()?,
            shaded.next()?,
            shaded.next()?,
        ];
        Some(quad)
    });
    Ok(quads.collect())
}

fn run(
    function: &Function,
    draw: &Draw,
    primitive: Option<&dyn Primitive>,
    lanes: Vec<LaneInput>,
    resources: &mut Resources,
) -> Result<Vec<Shaded>, Trap> {
    let bound = Bound::new(function, resources)
        .map_err(|(set, binding, element)| Trap::Unbound(set, binding, element))?;
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: draw.push_constants.clone(),
        step_limit: draw.step_limit,
    };
    let together = function.lanes.count() as usize;
    let mut machine = Machine::new(function, &dispatch, bound, together, ());
    machine.drawing = Some(Drawing::new(function, draw, primitive));
    let mut shaded = vec![];
    for lanes in lanes.chunks(together) {
        shaded.extend(machine.warp_of(lanes)?);
    }
    machine.bound.save(resources);
    Ok(shaded)
}

/// A draw that is run.
#[derive(Clone, Copy)]
pub(super) struct Drawing<'d> {
    draw: &'d Draw,
    primitive: Option<&'d dyn Primitive>,
    /// Whether each sample has a lane of its own.
    by_sample: bool,
}

impl<'d> Drawing<'d> {
    pub(super) fn new(
        function: &Function,
        draw: &'d Draw,
        primitive: Option<&'d dyn Primitive>,
    ) -> Drawing<'d> {
        let stage = function.stage.fragment();
        Drawing {
            draw,
            primitive,
            by_sample: stage.is_some_and(|stage| stage.sample_shading),
        }
    }
}

impl Drawing<'_> {
    /// A word that all invocations have in common.
    pub(super) fn uniform(self, uniform: Uniform) -> Option<u32> {
        let draw = self.draw;
        Some(match uniform {
            Uniform::BaseVertex => draw.base_vertex,
            Uniform::BaseInstance => draw.base_instance,
            Uniform::ViewIndex => draw.view_index,
            Uniform::ViewportScale(axis) => draw.viewport_scale[axis.index()].to_bits(),
            Uniform::ViewportOffset(axis) => draw.viewport_offset[axis.index()].to_bits(),
            Uniform::BlendConstant(component) => {
                draw.blend_constants.get(usize::from(component))?.to_bits()
            }
            Uniform::PushConstant(_) | Uniform::NumWorkgroups(_) | Uniform::BufferWord(..) => {
                return None;
            }
        })
    }

    /// What the hardware gives a lane; booleans as 0 or 1.
    pub(super) fn sys_val(self, input: &LaneInput, sys_val: SysVal) -> Option<u32> {
        match input {
            LaneInput::Invocation => None,
            LaneInput::Vertex(vertex) => Some(match sys_val {
                SysVal::VertexIndex => vertex.index,
                SysVal::InstanceIndex => vertex.instance,
                SysVal::DrawIndex => vertex.draw,
                SysVal::OutputMask => vertex.output_mask,
                _ => return None,
            }),
            LaneInput::Fragment(fragment) => Some(match sys_val {
                SysVal::PixelX => fragment.pixel[0],
                SysVal::PixelY => fragment.pixel[1],
                SysVal::FragZ => {
                    let at = self.place(fragment, Sampling::Center, &[])?;
                    self.primitive?.depth(at).to_bits()
                }
                SysVal::FrontFacing => fragment.front_facing.into(),
                SysVal::PointX => fragment.point[0].to_bits(),
                SysVal::PointY => fragment.point[1].to_bits(),
                SysVal::SampleId => fragment.sample,
                SysVal::SampleX => self.sample(fragment.sample)[0].to_bits(),
                SysVal::SampleY => self.sample(fragment.sample)[1].to_bits(),
                SysVal::SampleMaskIn => fragment.coverage,
                SysVal::PrimitiveId => fragment.primitive,
                SysVal::Layer => fragment.layer,
                SysVal::HelperInvocation => fragment.helper.into(),
                _ => return None,
            }),
        }
    }

    /// A component of a location, at a place that operands may tell.
    pub(super) fn varying(
        self,
        fragment: &Fragment,
        (location, component): (u8, u8),
        sampling: Sampling,
        operands: &[u64],
    ) -> Option<u32> {
        let primitive = self.primitive?;
        Some(match sampling {
            Sampling::Flat => primitive.flat(location, component),
            _ => {
                let at = self.place(fragment, sampling, operands)?;
                primitive.interpolated(location, component, at)
            }
        })
    }

    /// 1/w at such a place.
    pub(super) fn reciprocal_w(
        self,
        fragment: &Fragment,
        sampling: Sampling,
        operands: &[u64],
    ) -> Option<u32> {
        let at = self.place(fragment, sampling, operands)?;
        Some(self.primitive?.reciprocal_w(at).to_bits())
    }

    fn sample(self, number: u32) -> [f32; 2] {
        let samples = &self.draw.samples;
        samples.get(number as usize).copied().unwrap_or([0.5; 2])
    }

    /// The place of the window.
    fn place(self, fragment: &Fragment, sampling: Sampling, operands: &[u64]) -> Option<[f32; 2]> {
        let inside = match sampling {
            Sampling::Flat => return None,
            // The pixel's centre, unless each sample has a lane of its own.
            Sampling::Center if self.by_sample => self.sample(fragment.sample),
            Sampling::Center => [0.5; 2],
            Sampling::Centroid => fragment.centroid,
            Sampling::Sample => self.sample(fragment.sample),
            Sampling::AtSample => self.sample(*operands.first()? as u32),
            Sampling::AtOffset => {
                let of = |number: usize| {
                    let bits = *operands.get(number)? as u32;
                    Some(f32::from_bits(bits) + 0.5)
                };
                [of(0)?, of(1)?]
            }
        };
        Some([Axis::X, Axis::Y].map(|axis| {
            let axis = axis.index();
            fragment.pixel[axis] as f32 + inside[axis]
        }))
    }
}
