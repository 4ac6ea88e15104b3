//! Graphics pipelines: programs of vertices and fragments with their code where the GPU can run it, and what every draw of them
//! needs alike.
//!
//! What does not change from draw to draw stands in memory of the pipeline's own: the descriptors of its inputs, of tests and of
//! blending, of its programs. A draw names it.
//! Facts: hardware/graphics-draw.md 3.2, 3.6, 3.7 and 3.22, descriptors.md 6, 11 and 13.

use super::changed::vertex_bytes;
use super::draw_state::{FRAGMENT as FRAGMENT_STAGE, VARYINGS, VERTEX as VERTEX_STAGE};
use super::draw_words::{self, DrawWords};
use super::dynamic::Class;
use super::error::GraphicsError;
use super::framebuffer::MOST_COLORS;
use super::pipeline_places::{BYTES, Places};
use super::pipeline_state::{check_stage, pipelined};
use super::state::GraphicsPipelineInfo;
use super::uniform_plan::{self, UniformPlan, word_of_plan};
use super::vertex_input;
use crate::command::CommandError;
use crate::device::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{DescriptorSet, GraphicsPipeline, Space};
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::{DESCRIPTOR_BYTES, FETCHES, local_storage, pack};
use crate::slab::Key;
use crate::vm::{GpuAddress, Protection};
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::shader::{
    CoverageBitmaskType, Preload, ShaderProgram, ShaderRegisterAllocation, ShaderStage, WarpLimit,
};
use eitri_descriptors::{Address, Arch, DescriptorError};
use eitri_program::{DATA_ALIGNMENT, EntryKind, EntryPoint, GraphicsProgram, RegisterFile, Stage};

const WHAT: Thing = Thing::Pipeline;

/// Bytes after the code that the instruction fetcher may read.
const PREFETCH: u64 = 128;
/// What descriptors are aligned to: a line, which is enough for each kind.
const LINE: u64 = 64;
/// Programs of a stage at most.
const MOST_ENTRIES: u64 = 3;

/// The tags of a pipeline's stages.
const VERTEX: u32 = 0;
const FRAGMENT: u32 = 1;

/// Formats of colours, by their locations.
pub(crate) type PipelineColors = [Option<&'static VkFormat>; MOST_COLORS];

/// What is known of a graphics pipeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphicsPipelined {
    /// Its stages.
    pub(super) vertex: Key,
    pub(super) fragment: Option<Key>,
    /// Which of the vertex stage's programs makes positions.
    pub(super) position: EntryKind,
    pub(super) words: DrawWords,
    /// Words 0 and 2 of the flags where samples are counted.
    pub(super) counted_flags: [u32; 2],
    /// Vertex programs read the number of the view, the first vertex, the first instance.
    pub(super) reads_view: bool,
    pub(super) reads_first: bool,
    pub(super) reads_base: bool,
    /// Descriptors of the programs, of which there may be none: 0.
    pub(super) programs: [u64; 3],
    /// How many instructions load the registers that it decides alone.
    pub(super) registers: u8,
    /// Where the uniforms of all programs come from, if that is planned.
    pub(super) plan: Option<UniformPlan>,
    /// Resource tables in which each stage looks for sets, a bit each.
    pub(super) tables: [u16; 2],
    /// The only one that the fragment stage uses, if there is one.
    pub(super) fragment_table: Option<u8>,
    /// Topologies among which its own may be changed.
    pub(super) topology_class: Class,
    /// Bytes of a vertex's varyings.
    pub(super) varying_bytes: u32,
    /// Bindings that are read, a bit each, and the resource table in which their buffers stand.
    pub(super) bindings: u16,
    pub(super) buffer_table: u8,
    /// Bytes of the vertex stage's resource table and these descriptors, where a draw writes both.
    pub(super) vertex_bytes: u16,
    /// Attributes up to the last that there is.
    pub(super) attributes: u8,
    /// Bindings that go on with instances, a bit each.
    pub(super) instance_bindings: u16,
    /// Blend descriptors: of the places of colours, and of targets that the program stores besides.
    pub(super) color_count: u8,
    pub(super) samples: u8,
    pub(super) has_depth: bool,
    pub(super) has_stencil: bool,
    pub(super) last_provokes: bool,
    /// Width of lines, or size of points.
    pub(super) size: f32,
    /// Blend constants, of colour and of alpha, are used by fixed functions, which have so many bits of them.
    pub(super) constants: [bool; 2],
    pub(super) constant_bits: u8,
    pub(super) blend_constants: [f32; 4],
    /// Fragments are shaded.
    pub(super) shades: bool,
    /// Bytes of thread-local memory.
    pub(super) scratch_bytes: u32,
}

impl GraphicsPipelined {
    /// Whether inputs go on with instances.
    pub(super) const fn is_instanced(&self) -> bool {
        self.instance_bindings != 0
    }

    /// Vertex buffers up to the last that is read.
    #[inline(always)]
    pub(super) const fn buffer_count(&self) -> u32 {
        u16::BITS.saturating_sub(self.bindings.leading_zeros())
    }

    /// Bytes of their descriptors.
    #[inline(always)]
    pub(super) const fn buffer_bytes(&self) -> u32 {
        self.buffer_count().saturating_mul(DESCRIPTOR_BYTES as u32)
    }

    /// Whether a program of its own makes varyings.
    pub(super) const fn varies(&self) -> bool {
        self.shades && self.programs[VARYINGS] != 0
    }

    /// The words of draws; `counts`: a query counts samples.
    pub(super) const fn words_of(&self, counts: bool) -> DrawWords {
        let mut words = self.words;
        if counts {
            [words.flags_0, words.flags_2] = self.counted_flags;
        }
        words
    }
}

/// A stage of a pipeline, as a draw uses it.
#[derive(Clone, Copy, Debug)]
pub(super) struct StagePlaces {
    /// Where the descriptors of its programs begin.
    programs: GpuAddress,
    /// Where its data is.
    pub(super) data: GpuAddress,
}

/// Where the parts of a stage stand behind its code.
fn stage_places(program: &GraphicsProgram<'_>) -> (u64, u64) {
    let common = program.common();
    let data = (common.code_bytes().len() as u64)
        .saturating_add(PREFETCH)
        .next_multiple_of(DATA_ALIGNMENT);
    let programs = data
        .saturating_add(common.data_bytes().len() as u64)
        .next_multiple_of(LINE);
    (data, programs)
}

impl StagePlaces {
    /// The descriptor of the program of a kind; 0 if there is none.
    pub(super) fn program(&self, program: &GraphicsProgram<'_>, kind: EntryKind) -> u64 {
        let number = program
            .entry_points()
            .position(|entry| entry.kind() == kind);
        number.map_or(0, |number| self.programs.offset(number as u64 * LINE).0)
    }
}

/// The descriptor of a program whose code is at an address.
fn shader_program(
    arch: Arch,
    address: u64,
    entry: &EntryPoint<'_>,
    needs_helpers: bool,
) -> Result<[u32; 8], DescriptorError> {
    let fragment = entry.kind() == EntryKind::Fragment;
    let mut program = ShaderProgram {
        stage: if fragment {
            ShaderStage::Fragment
        } else {
            ShaderStage::Vertex
        },
        register_allocation: match entry.registers() {
            RegisterFile::Full => ShaderRegisterAllocation::SixtyFourPerThread,
            RegisterFile::Half => ShaderRegisterAllocation::ThirtyTwoPerThread,
        },
        preload: Preload {
            r48_r63: entry.preload().into(),
            ..Preload::default()
        },
        requires_helper_threads: needs_helpers,
        binary: Address(address),
        ..ShaderProgram::default()
    };
    match entry.kind() {
        EntryKind::Fragment => {
            program.fragment_coverage_bitmask_type = CoverageBitmaskType::Gl;
        }
        EntryKind::Position | EntryKind::PositionWithPoints => {
            program.vertex_warp_limit = WarpLimit::Half;
        }
        EntryKind::Varying | EntryKind::Vertex | EntryKind::VertexWithPoints => {}
    }
    pack(arch, program)
}

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// Makes a graphics pipeline: copies the programs' code and data into executable memory, which nothing can write afterwards.
    /// Without a fragment program only depth and stencil are written. Viewport and scissor are a pass's.
    ///
    /// # Errors
    /// If a program is for another architecture or stage, the programs do not fit each other or what `info` says, that is nothing
    /// the hardware has, or there is no memory or no place in the storage.
    #[inline(never)]
    pub fn create_graphics_pipeline(
        &mut self,
        space: Space,
        vertex: &GraphicsProgram<'d>,
        fragment: Option<&GraphicsProgram<'d>>,
        info: &GraphicsPipelineInfo<'_>,
    ) -> Result<GraphicsPipeline, Error> {
        let arch = self.hw.properties.arch;
        check_stage(arch, vertex, Stage::Vertex)?;
        if let Some(fragment) = fragment {
            check_stage(arch, fragment, Stage::Fragment)?;
            if let Some(input) = fragment.missing_input(vertex) {
                let location = input.location;
                return Err(GraphicsError::Input { location }.into());
            }
        }
        if super::samples::pattern(arch, info.samples).is_none() {
            let samples = info.samples;
            return Err(GraphicsError::Samples { samples }.into());
        }
        let (mut made, blends) = pipelined(arch, vertex, fragment, info)?;
        let buffer_table = made.buffer_table;
        let inputs = vertex_input::descriptors(arch, vertex, info, buffer_table)?;
        (made.bindings, made.attributes) = (inputs.bindings, inputs.attributes);
        made.instance_bindings = inputs.instance_bindings;
        made.vertex_bytes = vertex_bytes(made.buffer_bytes()) as u16;
        let facts = fragment.and_then(|fragment| fragment.fragment_facts());
        let tests = draw_words::depth_stencil(arch, info, facts)?;
        let storage = local_storage(arch, None, None)?;

        let mut colors = [None; MOST_COLORS];
        for (place, format) in colors.iter_mut().zip(info.colors) {
            *place = *format;
        }
        let kind = Kind::GraphicsPipeline(made, colors);
        let key = self.create_object(space, "a pipeline", BYTES, Protection::Given, kind)?;
        let stages = self.add_stages(space, key, vertex, fragment);
        let stages = match stages {
            Ok(stages) => stages,
            Err(error) => {
                let _ = self.destroy_object(key, WHAT);
                return Err(error);
            }
        };
        let mapping = &self.object(key, WHAT)?.mapping;
        let places = Places {
            memory: mapping.memory(),
            address: mapping.address(),
        };
        let (at, _) = places.inputs();
        for (words, place) in inputs.descriptors.iter().zip((0..).step_by(32)) {
            self.write_words(at.offset(place), words);
        }
        self.write_words(places.sampler().0, &FETCHES);
        self.write_words(places.tests().0, &tests);
        for (target, place) in blends.iter().zip((0..).step_by(16)) {
            let words =
                super::draw_descriptors::with_constant(target.words, &made, made.blend_constants);
            self.write_words(places.blends().0.offset(place), &words);
        }
        self.write_words(places.storage().0, &storage);
        self.write_words(places.strides(), &inputs.strides);
        self.write_words(places.binding_strides(), &inputs.binding_strides);
        (made.vertex, made.fragment) = stages;
        self.plan_uniforms(&mut made, places.plan())?;
        made.registers = self.place_prepared_words(&made, &places)?;
        if let Some(object) = self.objects.get_mut(key)
            && let Kind::GraphicsPipeline(it, _) = &mut object.kind
        {
            *it = made;
        }
        Ok(GraphicsPipeline(key))
    }

    /// Finds out where the programs of a pipeline stand, and where their uniforms come from.
    fn plan_uniforms(
        &mut self,
        made: &mut GraphicsPipelined,
        at: PhysicalAddress,
    ) -> Result<(), Error> {
        let kinds = [
            (Some(made.vertex), made.position, VERTEX_STAGE),
            (Some(made.vertex), EntryKind::Varying, VERTEX_STAGE),
            (made.fragment, EntryKind::Fragment, FRAGMENT_STAGE),
        ];
        let mut planned = [None; 3];
        for ((stage, kind, number), (place, address)) in kinds
            .into_iter()
            .zip(planned.iter_mut().zip(&mut made.programs))
        {
            let shaded = made.shades || kind != EntryKind::Fragment;
            let Some(stage) = stage.filter(|_| shaded) else {
                continue;
            };
            let program = *self.stage_program(stage)?;
            let places = self.stage_places(stage)?;
            *address = places.program(&program, kind);
            let entry = program.entry_point(kind);
            *place = entry.map(|entry| (entry, number, places.data.0));
        }
        if let Some((plan, first, words)) = uniform_plan::plan(planned) {
            made.plan = Some(plan);
            let behind = word_of_plan(at, 0);
            self.hw.platform.write_words(at, &first);
            self.hw.platform.write_words(behind, &words);
            // The GPU reads none of it; but a line that is written must not stay in a cache when the memory goes to another owner.
            self.hw.platform.clean(at..word_of_plan(at, words.len()));
        }
        Ok(())
    }

    /// Destroys a graphics pipeline.
    ///
    /// # Errors
    /// If a job in flight uses it: then it stays. Or if it can't be unmapped, which costs the device.
    pub fn destroy_graphics_pipeline(&mut self, pipeline: GraphicsPipeline) -> Result<(), Error> {
        self.destroy_object(pipeline.0, WHAT)
    }

    /// Makes the set `set` of a graphics pipeline, with nothing bound: a set for each of its stages that has bindings there, as
    /// each has its own order of descriptors.
    ///
    /// # Errors
    /// If no stage has such a set, or there is no memory or no place in the storage.
    pub fn create_graphics_set(
        &mut self,
        pipeline: GraphicsPipeline,
        set: u32,
    ) -> Result<GraphicsSet, Error> {
        let space = Space(self.object(pipeline.0, WHAT)?.space);
        let made = *self.graphics_pipeline(pipeline.0)?;
        let mut sets = [None; 2];
        for (place, stage) in sets.iter_mut().zip([Some(made.vertex), made.fragment]) {
            let Some(stage) = stage else { continue };
            let common = *self.stage_program(stage)?.common();
            if common.bindings().any(|binding| binding.set == set) {
                *place = Some(self.create_set(space, &common, set)?);
            }
        }
        let [vertex, fragment] = sets;
        if vertex.is_none() && fragment.is_none() {
            return Err(CommandError::Set { set }.into());
        }
        Ok(GraphicsSet { vertex, fragment })
    }

    /// Binds something in every stage that has the binding: `bind` is called with each stage's set.
    ///
    /// # Errors
    /// What `bind` says; that a stage has no such binding only if none has.
    pub fn bind_in_stages(
        &mut self,
        set: GraphicsSet,
        mut bind: impl FnMut(&mut Self, DescriptorSet) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut missing = Ok(());
        let mut bound = false;
        for stage in [set.vertex, set.fragment].into_iter().flatten() {
            match bind(self, stage) {
                Ok(()) => bound = true,
                Err(Error::Command(error @ CommandError::NoBinding { .. })) => {
                    missing = Err(Error::Command(error));
                }
                Err(error) => return Err(error),
            }
        }
        if bound { Ok(()) } else { missing }
    }

    /// Destroys a set of a graphics pipeline.
    ///
    /// # Errors
    /// If a job in flight uses it: then it stays. Or if it can't be unmapped, which costs the device.
    pub fn destroy_graphics_set(&mut self, set: GraphicsSet) -> Result<(), Error> {
        for stage in [set.vertex, set.fragment].into_iter().flatten() {
            self.destroy_descriptor_set(stage)?;
        }
        Ok(())
    }

    /// Puts the programs of a pipeline where they run.
    fn add_stages(
        &mut self,
        space: Space,
        pipeline: Key,
        vertex: &GraphicsProgram<'d>,
        fragment: Option<&GraphicsProgram<'d>>,
    ) -> Result<(Key, Option<Key>), Error> {
        let own = self.add_stage(space, pipeline, VERTEX, vertex)?;
        let other = match fragment {
            Some(fragment) => Some(self.add_stage(space, pipeline, FRAGMENT, fragment)?),
            None => None,
        };
        Ok((own, other))
    }

    fn add_stage(
        &mut self,
        space: Space,
        pipeline: Key,
        tag: u32,
        program: &GraphicsProgram<'d>,
    ) -> Result<Key, Error> {
        let (data, programs) = stage_places(program);
        let bytes = programs.saturating_add(MOST_ENTRIES.saturating_mul(LINE));
        let kind = Kind::Stage(*program);
        let key = self.create_object(space, "code", bytes, Protection::Code, kind)?;
        if let Err(error) = self.link_new(pipeline, key, Some(tag)) {
            let _ = self.destroy_object(key, WHAT);
            return Err(error);
        }
        let mapping = &self.object(key, WHAT)?.mapping;
        let (memory, address, bytes) = (mapping.memory(), mapping.address(), mapping.bytes());
        let common = program.common();
        let it = &mut self.hw.platform;
        it.write_bytes(memory, common.code_bytes());
        it.write_bytes(memory.offset(data), common.data_bytes());
        let arch = self.hw.properties.arch;
        let facts = program.fragment_facts();
        let helpers = facts.is_some_and(|facts| facts.needs_helpers);
        for (entry, number) in program.entry_points().zip(0..) {
            let code = address.offset(entry.code_offset());
            let words = shader_program(arch, code.0, &entry, helpers)?;
            let place = programs.saturating_add(LINE.saturating_mul(number));
            self.write_words(memory.offset(place), &words);
        }
        self.hw.platform.clean(memory.span(bytes));
        Ok(key)
    }

    /// What is known of a graphics pipeline.
    pub(super) fn graphics_pipeline(&self, key: Key) -> Result<&GraphicsPipelined, Error> {
        match &self.object(key, WHAT)?.kind {
            Kind::GraphicsPipeline(it, _) => Ok(it),
            _ => Err(Error::Gone { what: WHAT }),
        }
    }

    /// Where the parts of a pipeline's memory are.
    pub(super) fn pipeline_places(&self, key: Key) -> Result<Places, Error> {
        let mapping = &self.object(key, WHAT)?.mapping;
        Ok(Places {
            memory: mapping.memory(),
            address: mapping.address(),
        })
    }

    /// The program of a stage.
    pub(super) fn stage_program(&self, stage: Key) -> Result<&GraphicsProgram<'d>, Error> {
        match &self.object(stage, WHAT)?.kind {
            Kind::Stage(program) => Ok(program),
            _ => Err(Error::Gone { what: WHAT }),
        }
    }

    /// Where the parts of a stage are.
    pub(super) fn stage_places(&self, stage: Key) -> Result<StagePlaces, Error> {
        let (data, programs) = stage_places(self.stage_program(stage)?);
        let address = self.object(stage, WHAT)?.mapping.address();
        Ok(StagePlaces {
            programs: address.offset(programs),
            data: address.offset(data),
        })
    }
}

/// The descriptors of one set of a graphics pipeline: a set for each stage that has bindings there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphicsSet {
    /// Of the vertex stage.
    pub vertex: Option<DescriptorSet>,
    /// Of the fragment stage.
    pub fragment: Option<DescriptorSet>,
}
