//! Render passes under the checkers: draw after draw, vertices then fragments, with the attachments beside them.

use super::Checker;
use super::attachments::Targets;
use super::attributes::Attributes;
use super::calls::{Call, Item, items};
use super::contents::{bound, placed};
use super::corners::{Corner, Corners};
use super::recorded::{Shading, TileReads};
use super::shaded::{ByJob, Fragments, Numbers, OfCall, ShadedVertex, Vertices, jobs_of};
use super::stage::Given;
use super::target_uses::{TargetUses, finding, tile_inputs};
use crate::runs::checked::Bindings;
use eitri_checks::draw::{Kept, PassChecks, Shader};
use eitri_checks::{Level, Rule};
use eitri_drawing::Pass;
use eitri_drawing::state::{Topology, Viewport};
use eitri_model::{FragmentWarp, VertexWarp};
use eitri_shaderc::interp::{Draw, Key, Primitive, ShadedWarp};
use eitri_shaderc::ir::{Function, Op};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What a pass has for all of its draws.
pub(super) struct Frame<'d> {
    pub(super) pass: &'d Pass<'d>,
    pub(super) targets: Targets<'d>,
    /// Memories that some shader of the pass writes to.
    written: BTreeSet<u32>,
    number: usize,
}

impl<'s> Checker<'s> {
    /// Checks a pass, of which the model has told the shading.
    pub(super) fn pass(&mut self, number: usize, pass: &Pass<'_>, shading: &Shading) {
        let drawing = self.subject.drawing;
        let items = items(drawing, pass, &self.contents);
        let calls: Vec<&Call<'_>> = items
            .iter()
            .filter_map(|item| match item {
                Item::Call(call) => Some(&**call),
                Item::Clear(..) => None,
            })
            .collect();
        let sizes: Vec<[u32; 2]> = calls
            .iter()
            .map(|call| [call.count, call.instances])
            .collect();
        let jobs = jobs_of(&sizes, &shading.draws);
        let mut frame = Frame {
            pass,
            targets: Targets::new(drawing, pass, &self.written),
            written: self.written_objects(&calls),
            number,
        };
        let vertices = ByJob::new(&shading.vertices, |warp| warp.job);
        let fragments = ByJob::new(&shading.fragments, |warp| warp.job);
        let mut checks = PassChecks::default();
        let mut next = 0;
        for item in &items {
            match item {
                Item::Clear(attachments, rects) => frame.targets.clear(attachments, rects),
                Item::Call(call) => {
                    let own = || jobs.get(next).into_iter().flatten();
                    let vertices = own().flat_map(|job| vertices.of(*job)).collect();
                    let fragments = own().flat_map(|job| fragments.of(*job)).collect();
                    if self.may_go_on() {
                        let told = (vertices, fragments, &shading.tile);
                        let done = self.call(&mut checks, &mut frame, (call, next as u32), told);
                        if let Err(why) = done {
                            self.leave_out(&why);
                        }
                    }
                    next += 1;
                }
            }
        }
        self.checked.findings.extend(checks.into_findings());
        frame.targets.end(drawing, &mut self.written);
    }

    fn shader(&self, program: eitri_drawing::ProgramId) -> Result<&'s Shader, String> {
        let shader = self.shaders.get(program.index());
        let shader = shader.ok_or("a draw without its module")?;
        shader.as_ref().map_err(Clone::clone)
    }

    /// The memories that shaders of these calls write to.
    fn written_objects(&self, calls: &[&Call<'_>]) -> BTreeSet<u32> {
        let mut objects = BTreeSet::new();
        for call in calls {
            let programs = [Some(call.pipeline.vertex), call.pipeline.fragment];
            for shader in programs
                .into_iter()
                .flatten()
                .filter_map(|id| self.shader(id).ok())
            {
                let written: BTreeSet<Key> = Bindings::of(shader.function()).written().collect();
                for element in bound(self.subject.drawing, &call.draw.using.sets) {
                    if written.contains(&element.key)
                        && let Some(place) = placed(self.subject.drawing, element.bound)
                    {
                        objects.insert(place.object);
                    }
                }
            }
        }
        objects
    }

    /// Checks a draw call.
    fn call<'d>(
        &mut self,
        checks: &mut PassChecks<'s>,
        frame: &mut Frame<'d>,
        (call, number): (&'d Call<'d>, u32),
        (vertices, fragments, tile): (Vec<&VertexWarp>, Vec<&FragmentWarp>, &TileReads),
    ) -> Result<(), String> {
        self.check_indices(checks, frame, call, number);
        let vertex = self.shader(call.pipeline.vertex)?;
        let fragment = call
            .pipeline
            .fragment
            .map(|id| self.shader(id))
            .transpose()?;
        let mask = frame.pass.view_mask;
        let views: Vec<u32> = match mask {
            0 => vec![0],
            _ => (0..u32::BITS)
                .filter(|view| mask >> view & 1 != 0)
                .collect(),
        };
        for (place, view) in views.iter().enumerate() {
            let first = fragments.first();
            let draw = draw_of(call, *view, first.map_or(&[][..], |warp| &warp.samples));
            let numbers = Numbers {
                draw: number,
                within: call.number,
            };
            let shaded = self.vertices(
                checks,
                frame,
                call,
                (vertex, &draw),
                (&vertices, numbers, place),
            )?;
            let told: Vec<&FragmentWarp> = fragments
                .iter()
                .filter(|warp| mask == 0 || warp.layer == *view)
                .copied()
                .collect();
            match fragment {
                Some(fragment) => {
                    let stages = (vertex, fragment, &draw);
                    self.fragments(
                        checks,
                        frame,
                        (call, number),
                        stages,
                        (&told, &shaded, tile),
                    )?;
                }
                // Which pixels it covers is not told: any of them.
                None => {
                    let targets = &mut frame.targets;
                    for target in targets.depth.iter_mut().chain(&mut targets.stencil) {
                        target.write_all();
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the indices of a call lie in their buffer, and somebody wrote them.
    fn check_indices(
        &self,
        checks: &mut PassChecks<'s>,
        frame: &Frame<'_>,
        call: &Call<'_>,
        number: u32,
    ) {
        let Some(range) = &call.indices else { return };
        let drawing = self.subject.drawing;
        let size = drawing
            .buffers
            .get(range.buffer.index())
            .map_or(0, |it| it.bytes);
        let end = range.offset.saturating_add(range.bytes);
        let step = frame.number;
        if end > size {
            checks.add(finding(
                (Rule::OutOfBounds, Level::Warning),
                format!(
                    "draw {number} of step {step} reads indices up to byte {end} of a buffer that has {size}"
                ),
                "buffer",
            ));
        }
        let unwritten = self
            .written
            .unwritten_bytes(range.buffer, &(range.offset..end));
        if let Some(part) = unwritten.first() {
            checks.add(finding(
                (Rule::Uninit, Level::Error),
                format!(
                    "draw {number} of step {step} reads indices at byte {} of a buffer that nobody wrote there",
                    part.start
                ),
                "buffer",
            ));
        }
    }

    /// Shades the vertices of a call in one view; each by the addresses of its position.
    fn vertices(
        &mut self,
        checks: &mut PassChecks<'s>,
        frame: &Frame<'_>,
        call: &Call<'_>,
        (shader, draw): (&'s Shader, &Draw),
        (told, numbers, view): (&[&VertexWarp], Numbers, usize),
    ) -> Result<BTreeMap<u64, Rc<ShadedVertex>>, String> {
        let drawing = self.subject.drawing;
        let sizes = (0..)
            .zip(&drawing.buffers)
            .map(|(id, buffer)| (id, buffer.bytes));
        let attributes = Attributes::new(call, sizes.collect(), &self.contents, &self.written)?;
        let width = shader.function().lanes.count() as usize;
        let vertices = Vertices::new(told, &attributes, numbers, (view, width));
        let warps: Vec<ShadedWarp<'_>> = vertices
            .warps
            .iter()
            .map(|warp| ShadedWarp::Vertices(warp))
            .collect();
        let given = Given {
            shader,
            sets: &call.draw.using.sets,
            draw,
            kept: Kept {
                point_size: call.pipeline.topology == Topology::PointList,
                ..Kept::default()
            },
            attached: &[],
        };
        let lanes = (&warps[..], &vertices.invocations[..], &vertices.missing);
        let mut done = self.shade(checks, &frame.written, &given, lanes)?;
        let mut shaded = BTreeMap::new();
        for (number, (warp, addresses)) in (0..).zip(done.warps.iter().zip(&vertices.addresses)) {
            for (lane, (own, addresses)) in warp.iter().zip(addresses).enumerate() {
                let vertex = Rc::new(ShadedVertex {
                    corner: Corner::new(&own.outputs, draw),
                    undefined: done.undefined.remove(&(number, lane)).unwrap_or_default(),
                });
                shaded.extend(addresses.iter().map(|address| (*address, vertex.clone())));
            }
        }
        Ok(shaded)
    }

    /// Shades the fragments of a call in one view.
    fn fragments<'d>(
        &mut self,
        checks: &mut PassChecks<'s>,
        frame: &mut Frame<'d>,
        (call, number): (&'d Call<'d>, u32),
        (vertex, shader, draw): (&'s Shader, &'s Shader, &Draw),
        (told, shaded, tile): (
            &[&FragmentWarp],
            &BTreeMap<u64, Rc<ShadedVertex>>,
            &TileReads,
        ),
    ) -> Result<(), String> {
        let stage = match vertex.function().stage {
            eitri_shaderc::ir::Stage::Vertex(stage) => stage,
            _ => return Err("a vertex shader that is none".to_owned()),
        };
        let of_call = OfCall {
            vertices: shaded,
            draw: number,
            noperspective: noperspective(shader.function()),
            clip_distances: stage.clip_distances,
            first_distance: eitri_checks::draw::CLIP_DISTANCES,
        };
        let mut fragments = Fragments::new(told, (tile, &frame.targets), of_call);
        let uses = TargetUses::new(call, frame, shader);
        tile_inputs(&mut fragments, &frame.targets, &uses);
        let warps: Vec<ShadedWarp<'_>> = fragments
            .warps
            .iter()
            .map(|(corners, warp)| {
                let corners: &Corners = corners;
                ShadedWarp::Fragments(corners as &dyn Primitive, warp)
            })
            .collect();
        let attached = uses.attached(&frame.targets);
        let given = Given {
            shader,
            sets: &call.draw.using.sets,
            draw,
            kept: uses.kept,
            attached: &attached,
        };
        let lanes = (&warps[..], &fragments.invocations[..], &fragments.missing);
        let done = self.shade(checks, &frame.written, &given, lanes)?;
        for ((warp, lanes), layer) in fragments
            .warps
            .iter()
            .zip(&done.warps)
            .zip(&fragments.layers)
        {
            let own = warp.1.iter().zip(lanes);
            for (fragment, _) in own.filter(|(_, shaded)| !shaded.helper) {
                let place = (*layer, fragment.pixel);
                uses.rendered(checks, shader, &mut frame.targets, place, number);
            }
        }
        Ok(())
    }
}

/// What all invocations of a call have in common.
fn draw_of(call: &Call<'_>, view: u32, samples: &[[f32; 2]]) -> Draw {
    let viewport = call.draw.viewports.first().copied();
    let Viewport {
        x,
        y,
        width,
        height,
        min_depth,
        max_depth,
    } = viewport.unwrap_or(Viewport::from([0.0, 0.0, 1.0, 1.0, 0.0, 1.0]));
    Draw {
        base_vertex: call.base_vertex,
        base_instance: call.first_instance,
        view_index: view,
        viewport_scale: [width / 2.0, height / 2.0, max_depth - min_depth],
        viewport_offset: [x + width / 2.0, y + height / 2.0, min_depth],
        blend_constants: call.pipeline.blend.constants,
        samples: match samples {
            [] => vec![[0.5; 2]],
            samples => samples.to_vec(),
        },
        push_constants: call.push.clone(),
        step_limit: 0,
    }
}

/// Locations that a fragment shader has interpolated without regard to perspective, a bit each.
fn noperspective(function: &Function) -> u64 {
    let loads = function
        .placed_insts()
        .filter_map(|(_, inst)| match function.inst(inst).op {
            Op::LoadVarying(it) if it.noperspective => 1u64.checked_shl(it.location.into()),
            _ => None,
        });
    loads.fold(0, |all, bit| all | bit)
}
