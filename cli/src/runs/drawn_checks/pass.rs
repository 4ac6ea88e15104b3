//! Render passes under the checkers: draw after draw, vertices then fragments, with the attachments beside them.

use super::Checker;
use super::attachments::{Target, Targets, Use, color_use, depth_use, stencil_use};
use super::attributes::Attributes;
use super::calls::{Call, Item, items};
use super::contents::{bound, image_name, overlap, placed, range_of, view_of};
use super::corners::{Corner, Corners};
use super::recorded::Shading;
use super::shaded::{ByJob, Fragments, Numbers, OfCall, ShadedVertex, Vertices, jobs_of};
use super::written::WHOLE;
use crate::runs::checked::Bindings;
use eitri_checks::draw::{
    Kept, Missing, MissingInputs, PassChecks, Placed, ShadedStage, Shader, Stage,
};
use eitri_checks::{Finding, Level, Related, Rule, Unwritten};
use eitri_drawing::state::{Topology, Viewport};
use eitri_drawing::{Pass, SetId};
use eitri_model::{FragmentWarp, VertexWarp};
use eitri_shaderc::interp::{Draw, Key, Primitive, Shaded, ShadedWarp};
use eitri_shaderc::ir::{Function, Op, Output};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The location by which the tile's colours are told from other inputs of a fragment shader.
const TILE: u8 = eitri_checks::draw::TILE;
/// Most texels of an image of which each is followed.
const MOST_FOLLOWED: u64 = 1 << 18;

/// What a pass has for all of its draws.
struct Frame<'d> {
    pass: &'d Pass<'d>,
    targets: Targets<'d>,
    /// Memories that some shader of the pass writes to.
    written: BTreeSet<u32>,
    number: usize,
}

/// A stage that is about to run.
struct Given<'s, 'g> {
    shader: &'s Shader,
    sets: &'g [SetId],
    draw: &'g Draw,
    kept: Kept,
    /// Views that the draw renders to.
    attached: &'g [&'g eitri_drawing::View],
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
                        let told = (vertices, fragments);
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
        (vertices, fragments): (Vec<&VertexWarp>, Vec<&FragmentWarp>),
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
                    self.fragments(checks, frame, (call, number), stages, (&told, &shaded))?;
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
        (told, shaded): (&[&FragmentWarp], &BTreeMap<u64, Rc<ShadedVertex>>),
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
        let mut fragments = Fragments::new(told, of_call);
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
            for (fragment, shaded) in own.filter(|(_, shaded)| !shaded.helper) {
                let place = (*layer, fragment.pixel);
                uses.rendered(checks, shader, &mut frame.targets, place, (number, shaded));
            }
        }
        Ok(())
    }

    /// Runs a stage under the checkers.
    fn shade(
        &mut self,
        checks: &mut PassChecks<'s>,
        written_in_pass: &BTreeSet<u32>,
        given: &Given<'s, '_>,
        (warps, invocations, missing): (
            &[ShadedWarp<'_>],
            &[Vec<eitri_checks::Invocation>],
            &MissingInputs,
        ),
    ) -> Result<ShadedStage, String> {
        let drawing = self.subject.drawing;
        let bindings = Bindings::of(given.shader.function());
        let mut resources = self
            .contents
            .resources(drawing, given.sets, |key| bindings.uses(key))?;
        let (mut places, mut unwritten) = (BTreeMap::new(), vec![]);
        for element in bound(drawing, given.sets) {
            let Some(place) = placed(drawing, element.bound) else {
                continue;
            };
            let view = view_of(drawing, element.bound);
            let attached = |view| given.attached.iter().any(|own| overlap(own, view));
            let mut place = Placed {
                written: written_in_pass.contains(&place.object),
                attached: view.is_some_and(attached),
                ..place
            };
            if let Some(range) = range_of(element.bound) {
                unwritten.extend(self.unwritten_of(element.key, range));
            }
            if let Some(view) = view {
                let (whole, parts) = self.unwritten_texels(element.key, view);
                place.unwritten = whole;
                unwritten.extend(parts);
            }
            places.insert(element.key, place);
        }
        let stage = Stage {
            shader: given.shader,
            draw: given.draw,
            warps,
            invocations,
            missing,
            places: &places,
            unwritten: &unwritten,
            kept: given.kept,
        };
        let draw_limit = self.subject.step_limit.saturating_sub(self.steps);
        let limited = Draw {
            step_limit: draw_limit,
            ..given.draw.clone()
        };
        let stage = Stage {
            draw: &limited,
            ..stage
        };
        let done = checks.shade(&stage, &mut resources);
        let done =
            done.map_err(|trap| format!("a draw that the interpreter does not run: {trap}"))?;
        self.steps += done.steps;
        let written: BTreeSet<Key> = bindings.written().collect();
        self.contents
            .take(drawing, given.sets, &written, &resources);
        self.mark_written(given.sets, &written, Some(&done.left));
        Ok(done)
    }

    /// Whether nobody has written any texel that a view shows; else, of one that is not large, the texels that nobody wrote.
    fn unwritten_texels(&self, key: Key, view: &eitri_drawing::View) -> (bool, Vec<Unwritten>) {
        let layers = view.layer..view.layer.saturating_add(view.layers);
        let levels = view.level..view.level.saturating_add(view.levels);
        let planes = layers.flat_map(|layer| levels.clone().map(move |level| (level, layer)));
        let mut known = 0u64;
        let mut some = false;
        for (level, layer) in planes {
            let texels = self.written.texels(view.image, level, layer);
            known += texels.map_or(0, |(_, texels)| texels.len() as u64);
            some |= texels.is_none_or(|(_, texels)| texels.contains(&true));
        }
        if !some || known > MOST_FOLLOWED {
            return (!some, vec![]);
        }
        let mut unwritten = vec![];
        let mut start = 0u64;
        // Of the first level alone: the others' numbers lie apart.
        for layer in view.layer..view.layer.saturating_add(view.layers) {
            let Some((_, texels)) = self.written.texels(view.image, view.level, layer) else {
                break;
            };
            for (number, texel) in (start..).zip(texels) {
                if !texel {
                    let bytes = 4 * number..4 * number + 4;
                    unwritten.push(Unwritten { key, bytes });
                }
            }
            start += texels.len() as u64;
        }
        (false, unwritten)
    }

    /// Marks what shaders have written: all of it but what is known to be left.
    pub(super) fn mark_written(
        &mut self,
        sets: &[SetId],
        written: &BTreeSet<Key>,
        left: Option<&[Unwritten]>,
    ) {
        let drawing = self.subject.drawing;
        for element in bound(drawing, sets) {
            if !written.contains(&element.key) {
                continue;
            }
            if let Some(range) = range_of(element.bound) {
                let all = range.offset..range.offset.saturating_add(range.bytes);
                let parts = self.written.unwritten_bytes(range.buffer, &all);
                let of_element = |part: &&Unwritten| part.key == element.key;
                let left = left.unwrap_or_default().iter().filter(of_element);
                let left: Vec<_> = left
                    .map(|part| part.bytes.start + range.offset..part.bytes.end + range.offset)
                    .collect();
                for part in parts {
                    let mut at = part.start;
                    for kept in left
                        .iter()
                        .filter(|it| it.start < part.end && it.end > part.start)
                    {
                        self.written
                            .write_bytes(range.buffer, at..kept.start.max(at));
                        at = kept.end;
                    }
                    self.written.write_bytes(range.buffer, at..part.end.max(at));
                }
            }
            if let Some(view) = view_of(drawing, element.bound) {
                // A shader that writes to an image is taken to have written all of it.
                for layer in view.layer..view.layer.saturating_add(view.layers) {
                    self.written
                        .write_texels(view.image, view.level, layer, WHOLE);
                }
            }
        }
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

/// Colours of the tile that a fragment shader reads and nobody has written.
fn tile_inputs(fragments: &mut Fragments, targets: &Targets<'_>, uses: &TargetUses) {
    for target in &uses.tile_reads {
        let Some(Some(own)) = targets.colors.get(usize::from(*target)) else {
            continue;
        };
        for (number, ((_, warp), layer)) in (0..).zip(fragments.warps.iter().zip(&fragments.layers))
        {
            for (lane, fragment) in warp.iter().enumerate() {
                if !own.holds(*layer, fragment.pixel) {
                    let missing = (TILE + target, Missing::Unwritten);
                    fragments
                        .missing
                        .entry((number, lane))
                        .or_default()
                        .push(missing);
                }
            }
        }
    }
}

/// What a draw does with the attachments of its pass.
struct TargetUses {
    colors: Vec<Use>,
    depth: Use,
    stencil: Use,
    kept: Kept,
    /// Colours that the shader reads from the tile.
    tile_reads: BTreeSet<u8>,
}

impl TargetUses {
    fn new(call: &Call<'_>, frame: &Frame<'_>, shader: &Shader) -> TargetUses {
        let function = shader.function();
        let (mut stored, mut tile_reads) = (BTreeSet::new(), BTreeSet::new());
        for (_, inst) in function.placed_insts() {
            match function.inst(inst).op {
                Op::StoreOutput(Output::Color { target, .. }) => {
                    stored.insert(usize::from(target));
                }
                Op::LoadTile(it) => {
                    tile_reads.insert(it.target);
                }
                _ => {}
            }
        }
        let mut kept = Kept {
            depth: frame.pass.depth.is_some(),
            stencil: frame.pass.stencil.is_some(),
            ..Kept::default()
        };
        let mut colors = vec![];
        for (number, target) in frame.targets.colors.iter().enumerate() {
            let mut own = color_use(call.pipeline, number);
            own.writes &= target.is_some() && stored.contains(&number);
            if !own.writes {
                own.reads = None;
            }
            if let (Some(target), Some(mask), true) =
                (target, kept.colors.get_mut(number), own.writes)
            {
                let blend = call.pipeline.blend.attachments.get(number);
                let write = blend.map_or(0xf, |blend| blend.write.0);
                *mask = write & components(&target.view.format);
            }
            colors.push(own);
        }
        TargetUses {
            colors,
            depth: depth_use(call.pipeline),
            stencil: stencil_use(call.pipeline),
            kept,
            tile_reads,
        }
    }

    /// The views that are rendered to. What a shader reads from the tile is no loop.
    fn attached<'d>(&self, targets: &Targets<'d>) -> Vec<&'d eitri_drawing::View> {
        let colors = targets.colors.iter().zip(&self.colors);
        let colors = colors
            .filter(|(_, own)| own.writes)
            .filter_map(|(target, _)| target.as_ref());
        let depth = targets.depth.iter().filter(|_| self.depth.writes);
        let stencil = targets.stencil.iter().filter(|_| self.stencil.writes);
        colors
            .chain(depth)
            .chain(stencil)
            .map(|target| target.view)
            .collect()
    }

    /// A fragment is rendered: what is read of its pixel must be there, and what is written is from here on.
    fn rendered(
        &self,
        checks: &mut PassChecks<'_>,
        shader: &Shader,
        targets: &mut Targets<'_>,
        (layer, pixel): (u32, [u32; 2]),
        (draw, _): (u32, &Shaded),
    ) {
        let colors = targets.colors.iter_mut().zip(&self.colors).enumerate();
        let colors = colors.filter_map(|(number, (target, own))| {
            let name = format!("colour attachment {number}");
            Some((target.as_mut()?, own, name, Some(number as u8)))
        });
        let depth = targets.depth.as_mut();
        let depth = depth.map(|it| (it, &self.depth, "the depth attachment".to_owned(), None));
        let stencil = targets.stencil.as_mut();
        let stencil =
            stencil.map(|it| (it, &self.stencil, "the stencil attachment".to_owned(), None));
        for (target, own, name, color) in colors.chain(depth).chain(stencil) {
            if let Some(reads) = own.reads
                && !target.holds(layer, pixel)
            {
                let [x, y] = pixel;
                let image = image_name(target.view.image);
                let message = format!(
                    "{reads} {name} ({image}), which was neither loaded nor cleared nor drawn to: pixel ({x}, {y}) in draw {draw}"
                );
                checks.add(read_unwritten(shader, message, color));
                target.write(layer, pixel);
            }
            if own.writes {
                Target::write(target, layer, pixel);
            }
        }
    }
}

/// The components that a format has, a bit each.
fn components(format: &str) -> u8 {
    let letters = format.split('_').next().unwrap_or_default();
    let has = |letter: char| letters.contains(letter);
    let bits = [has('r'), has('g'), has('b'), has('a')];
    (0..)
        .zip(bits)
        .fold(0, |all, (bit, has)| all | u8::from(has) << bit)
}

/// A finding about a draw itself.
fn finding((rule, level): (Rule, Level), message: String, space: &'static str) -> Finding {
    Finding {
        rule,
        level,
        places: vec![Related {
            text: "here".to_owned(),
            place: None,
            instruction: message.clone(),
        }],
        message,
        related: vec![],
        space: Some(space),
        variable: None,
        binding: None,
        count: 1,
    }
}

/// An attachment is read where nobody wrote it: at the store of the colour, if it is one.
fn read_unwritten(shader: &Shader, message: String, color: Option<u8>) -> Finding {
    let mut made = finding((Rule::Uninit, Level::Error), message, "image");
    if let Some(related) = color.and_then(|color| shader.color_store(color)) {
        made.places = vec![related];
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_says_which_components_it_has() {
        assert_eq!(components("r8g8b8a8_unorm"), 0xf);
        assert_eq!(components("b10g11r11_ufloat_pack32"), 0b111);
        assert_eq!(components("r32_uint"), 1);
    }
}
