//! Copies of what depends on the first vertex and instance of an indirect draw: uniforms and descriptors of inputs.
//!
//! The host writes all of a copy but what the stream stores into it.
//! Facts: hardware/graphics-draw.md 3.5 and 3.6.

use super::super::buffer_words::has_buffer_words;
use super::super::draw_state::{DrawState, VERTEX};
use super::super::pipeline::GraphicsPipelined;
use super::super::pipeline_places::Places;
use super::super::resource_tables::Tables;
use super::super::vertex_input::MOST_ATTRIBUTES;
use super::{COPIED, INPUTS, Parameters};
use crate::command::Recorder;
use crate::error::Error;
use crate::platform::{PhysicalAddress, Platform};
use crate::queue::SubQueue;
use crate::resource::DESCRIPTOR_BYTES;
use crate::vm::GpuAddress;
use eitri_program::{DrawWord, EntryKind, EntryPoint, FauWord, MAX_FAU_WORDS};
use heapless::Vec;

/// Copies at most, and their bytes: those of an area of [`Recorder::written_room`].
const MOST_COPIES: u32 = 16;
const COPY_BYTES: u32 = 4096;
/// Bytes from one copy of the descriptors of inputs to the next.
const INPUT_STEP: u32 = Places::INPUT_BYTES.next_multiple_of(64);
/// Double words of a descriptor.
const WORDS: usize = DESCRIPTOR_BYTES as usize / 8;
/// Descriptors that are copied together, which divide the attributes.
const TOGETHER: usize = 4;
const _: () = assert!(MOST_ATTRIBUTES.is_multiple_of(TOGETHER));
/// Where an attribute has its offset.
const OFFSET_WORD: u64 = 8;

/// Copies of what depends on the first vertex and instance of a draw.
#[derive(Clone, Debug)]
pub(in super::super) struct Copies {
    /// How many there are of each.
    pub(super) count: u32,
    /// Uniforms of positions or all of vertices, those of varyings, and inputs.
    pub(super) of: [Option<Copied>; COPIED],
    /// Inputs that go on with instances.
    pub(super) inputs: Vec<InstanceInput, MOST_ATTRIBUTES>,
}

/// Copies of one thing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    /// The first copy, and bytes from one to the next.
    pub(super) at: GpuAddress,
    pub(super) step: u32,
    /// The value of the draw's register for it, and what it goes on by.
    pub(super) register: u64,
    pub(super) register_step: u32,
}

/// An attribute that goes on with instances.
#[derive(Clone, Copy, Debug)]
pub(super) struct InstanceInput {
    /// Bytes by which it goes on with the first instance.
    pub(super) stride: u32,
    /// The offset of its first element.
    pub(super) offset: u32,
    /// Where the offset stands in the table of inputs.
    pub(super) place: i32,
}

impl Copies {
    /// None. It is large: it stays where it is made.
    #[inline(always)]
    pub(in super::super) const fn new() -> Copies {
        Copies {
            count: 0,
            of: [None; COPIED],
            inputs: Vec::new(),
        }
    }

    /// The value of the uniforms' register to begin with.
    pub(in super::super) fn uniforms(&self, which: usize) -> Option<u64> {
        self.register(which).filter(|_| which < INPUTS)
    }

    /// The value of the resources' register to begin with.
    pub(in super::super) fn resources(&self) -> Option<u64> {
        self.register(INPUTS)
    }

    fn register(&self, which: usize) -> Option<u64> {
        let copied = self.of.get(which)?.as_ref()?;
        Some(copied.register)
    }

    /// Bytes by which inputs go on with the first instance, each once.
    pub(super) fn strides(&self) -> impl Iterator<Item = u32> + '_ {
        let all = self.inputs.iter().enumerate();
        all.filter_map(|(number, input)| {
            let mut before = self.inputs.iter().take(number);
            let known = before.any(|other| other.stride == input.stride);
            (!known).then_some(input.stride)
        })
    }
}

/// Whether a word depends on where a draw begins.
const fn is_base(word: FauWord) -> bool {
    matches!(
        word,
        FauWord::Draw(DrawWord::FirstVertex | DrawWord::BaseInstance)
    )
}

/// The programs of vertices whose uniforms may depend on it.
const fn kinds(made: &GraphicsPipelined) -> [EntryKind; 2] {
    [made.position, EntryKind::Varying]
}

/// Pairs of uniforms of a program.
fn pairs(entry: &EntryPoint<'_>) -> u32 {
    entry.fau().count().div_ceil(2) as u32
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Makes the copies that indirect draws of a pipeline need; `false` if they need none.
    pub(in super::super) fn make_copies(
        &mut self,
        state: &DrawState,
        places: &Places,
        made: &GraphicsPipelined,
        parameters: &Parameters,
        copies: &mut Copies,
    ) -> Result<bool, Error> {
        let steps = if made.reads_first || made.reads_base {
            self.uniform_steps(made)?
        } else {
            [0; 2]
        };
        let [first, second] = steps;
        let (of_uniforms, of_inputs) = (first.max(second), made.is_instanced());
        if of_uniforms == 0 && !of_inputs {
            return Ok(false);
        }
        let largest = of_uniforms.max(if of_inputs { INPUT_STEP } else { 0 });
        let most = COPY_BYTES.checked_div(largest).unwrap_or(1);
        copies.count = parameters.draws.min(MOST_COPIES).min(most).max(1);
        self.fresh_uniforms(SubQueue::VertexTiler)?;
        if of_uniforms != 0 {
            self.copy_uniforms(state, made, steps, copies)?;
        }
        if of_inputs {
            self.copy_inputs(places, made, copies)?;
        }
        Ok(true)
    }

    /// Bytes from one copy to the next of the uniforms of each program of vertices that reads where a draw begins; 0 of others.
    #[inline(never)]
    fn uniform_steps(&self, made: &GraphicsPipelined) -> Result<[u32; 2], Error> {
        let program = self.device.stage_program(made.vertex)?;
        Ok(kinds(made).map(|kind| {
            let entry = program.entry_point(kind);
            let entry = entry.filter(|entry| entry.fau().any(is_base));
            let bytes = entry.map_or(0, |entry| pairs(&entry).saturating_mul(8));
            bytes.next_multiple_of(64)
        }))
    }

    /// Copies the uniforms that depend on where a draw begins.
    #[inline(never)]
    fn copy_uniforms(
        &mut self,
        state: &DrawState,
        made: &GraphicsPipelined,
        steps: [u32; 2],
        copies: &mut Copies,
    ) -> Result<(), Error> {
        let program = *self.device.stage_program(made.vertex)?;
        let count = copies.count;
        let sets = self.sets_of(VERTEX);
        let data = self.device.stage_places(made.vertex)?.data;
        let all = kinds(made).into_iter().zip(steps);
        for (place, (kind, step)) in copies.of.iter_mut().zip(all) {
            let entry = program.entry_point(kind).filter(|_| step != 0);
            let Some(entry) = entry else { continue };
            let (memory, at) = self.written_room(step.saturating_mul(count))?;
            let mut words = [0; MAX_FAU_WORDS];
            self.words_of_draw(&entry, data, &state.values, &sets, &mut words)?;
            let used = words.get(..(pairs(&entry) as usize).saturating_mul(2));
            for number in 0..u64::from(count) {
                let offset = number.saturating_mul(step.into());
                self.device
                    .write_words(memory.offset(offset), used.unwrap_or_default());
                if has_buffer_words(&entry) {
                    let to = at.offset(offset).0;
                    self.copy_draw_words(SubQueue::VertexTiler, &entry, to, &sets)?;
                }
            }
            *place = Some(Copied {
                at,
                step,
                register: at.0 | u64::from(pairs(&entry)) << 56,
                register_step: step,
            });
        }
        Ok(())
    }

    /// Copies the descriptors of inputs, and the resource tables that name them.
    fn copy_inputs(
        &mut self,
        places: &Places,
        made: &GraphicsPipelined,
        copies: &mut Copies,
    ) -> Result<(), Error> {
        let count = copies.count;
        let (memory, at) = self.written_room(INPUT_STEP.saturating_mul(count))?;
        self.find_instance_inputs(places, &mut copies.inputs);
        let buffers = self.vertex_buffers(0, places, made)?;
        let mut tables = Tables::of_vertices(made, at, buffers);
        let step = tables.bytes().next_multiple_of(64);
        let (place, resources) = self.room(step.saturating_mul(count))?;
        for number in 0..count {
            let offset = u64::from(number.saturating_mul(INPUT_STEP));
            let platform = &mut self.device.hw.platform;
            let memory = memory.offset(offset);
            copy_table(platform, places, made, memory);
            platform.clean(memory.span(Places::INPUT_BYTES.into()));
            tables.own.0 = at.offset(offset);
            let place = place.offset(number.saturating_mul(step).into());
            self.write_tables(made, &tables, place)?;
            self.device.hw.platform.clean(place.span(step.into()));
        }
        if let Some(of_inputs) = copies.of.get_mut(INPUTS) {
            *of_inputs = Some(Copied {
                at,
                step: INPUT_STEP,
                register: resources.0 | u64::from(tables.count),
                register_step: step,
            });
        }
        Ok(())
    }

    /// Finds the inputs of a pipeline that go on with instances.
    fn find_instance_inputs(
        &mut self,
        places: &Places,
        inputs: &mut Vec<InstanceInput, MOST_ATTRIBUTES>,
    ) {
        let platform = &mut self.device.hw.platform;
        let (from, _) = places.inputs();
        let mut strides = [0_u64; MOST_ATTRIBUTES / 2];
        platform.read_words(places.strides(), &mut strides);
        let strides = strides
            .iter()
            .flat_map(|two| [*two as u32, (*two >> u32::BITS) as u32]);
        for (number, stride) in (0_u64..).zip(strides) {
            if stride == 0 {
                continue;
            }
            let place = number
                .saturating_mul(DESCRIPTOR_BYTES)
                .saturating_add(OFFSET_WORD);
            // There is room for each attribute.
            let _ = inputs.push(InstanceInput {
                stride,
                offset: platform.load32(from.offset(place)),
                place: place as i32,
            });
        }
    }
}

/// Copies the table of inputs of a pipeline: the attributes up to the last that there is, and the sampler. Nothing reads the others.
fn copy_table<P: Platform>(
    platform: &mut P,
    places: &Places,
    made: &GraphicsPipelined,
    to: PhysicalAddress,
) {
    const BYTES: u64 = TOGETHER as u64 * DESCRIPTOR_BYTES;
    const SAMPLER: u64 = MOST_ATTRIBUTES as u64 * DESCRIPTOR_BYTES;
    let (from, _) = places.inputs();
    for part in 0..usize::from(made.attributes).div_ceil(TOGETHER) {
        let offset = (part as u64).wrapping_mul(BYTES);
        let mut words = [0_u64; TOGETHER * WORDS];
        platform.read_words(from.offset(offset), &mut words);
        platform.write_words(to.offset(offset), &words);
    }
    let mut words = [0_u64; WORDS];
    platform.read_words(from.offset(SAMPLER), &mut words);
    platform.write_words(to.offset(SAMPLER), &words);
}
