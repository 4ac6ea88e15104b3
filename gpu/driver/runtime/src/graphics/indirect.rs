//! Indirect draws: their numbers stand in buffers, and a loop of the stream reads them, one draw a round.
//!
//! What depends on a draw's first vertex or instance, uniforms and descriptors of inputs, the stream writes into copies, of which
//! there are a few: when all are in use, the loop waits until the draws before have been tiled. A multiplication there is not on
//! all generations: a stride is added for each bit of the first instance, which costs nothing where that is 0.
//! Facts: hardware/graphics-draw.md 3.5, 3.6, 3.13 and 3.14, command-stream.md 3.2 and 3.3.

use super::buffer_words::has_buffer_words;
use super::draw_state::{DrawState, VARYINGS, VERTEX};
use super::lane::{OTHERS, TEMPORARY};
use super::pass::RenderPass;
use super::pipeline::{GraphicsPipelined, Places};
use super::registers::DrawRegisters;
use super::resource_tables::Tables;
use super::vertex_input::{MOST_ATTRIBUTES, MOST_BINDINGS};
use crate::command::Recorder;
use crate::error::{Error, Thing};
use crate::handle::Buffer;
use crate::platform::{PhysicalAddress, Platform};
use crate::queue::SubQueue;
use crate::resource::DESCRIPTOR_BYTES;
use crate::vm::GpuAddress;
use eitri_cs::enums::Condition;
use eitri_cs::instr::{AddImm32, Branch, LoadMultiple, StoreMultiple, Umin32};
use eitri_cs::{Pair, Reg, RegMask, d, r};
use eitri_program::{DrawWord, EntryKind, FauWord, MAX_FAU_WORDS};

/// Registers that no job reads: how many draws are left, the number of the draw, and how many copies are.
const LEFT: Reg = r!(68);
pub(super) const DRAW: Reg = r!(69);
const COPIES: Reg = r!(80);
/// A word on its way; and what multiplying needs.
const WORD: Reg = r!(70);
const TRIED: Reg = r!(71);
const BASE: Reg = r!(72);
const PRODUCT: Reg = r!(73);
const REST: Reg = r!(81);
/// Where the next copies of uniforms are, of positions or all of vertices and of varyings, and that of inputs.
const UNIFORMS: [Pair; 2] = [d!(74), d!(76)];
const INPUTS: Pair = d!(78);

/// Copies at most, and their bytes: those of an area of [`Recorder::written_room`].
const MOST_COPIES: u32 = 16;
const COPY_BYTES: u32 = 4096;
/// Bytes of the descriptors of inputs, and from one copy to the next.
const INPUT_BYTES: u32 = Places::INPUT_BYTES;
const INPUT_STEP: u32 = INPUT_BYTES.next_multiple_of(64);
/// Where an attribute has its offset.
const OFFSET_WORD: u64 = 8;
/// Most instructions of a loop without multiplications, and of one of these with what it is stored to.
const LOOP: u32 = 64 + 2 * MAX_FAU_WORDS as u32;
const MULTIPLICATION: u32 = 160 + 2 * MOST_ATTRIBUTES as u32;

/// Most instructions of a loop.
pub(super) const MOST_WORDS: u32 = LOOP + MOST_BINDINGS as u32 * MULTIPLICATION;

/// Draws whose numbers stand in a buffer, in Vulkan's structures: `VkDrawIndirectCommand`, or `VkDrawIndexedIndirectCommand`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndirectDraws {
    /// The buffer.
    pub buffer: Buffer,
    /// Where the first one stands; a multiple of 4.
    pub offset: u64,
    /// How many there are, or at most, below 2^31.
    pub draws: u32,
    /// Bytes from one to the next; a multiple of 4 below 2^31.
    pub stride: u32,
    /// The buffer and the offset, a multiple of 4, of the word that says how many are drawn of them; without it all.
    pub count: Option<(Buffer, u64)>,
}

/// Indirect draws that were checked: addresses in place of buffers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    at: GpuAddress,
    draws: u32,
    stride: u32,
    count: Option<GpuAddress>,
    indexed: bool,
}

impl Parameters {
    /// Registers from that of the count on which a draw's words are loaded to, and how many words.
    const fn registers(self) -> (RegMask, u64) {
        if self.indexed {
            (RegMask::new(0b11111), 5)
        } else {
            (RegMask::new(0b11011), 4)
        }
    }
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Draws vertices, as many and as often as a buffer says. [`crate::Accesses::INDIRECT_READ`] reads it.
    ///
    /// # Errors
    /// As [`RenderPass::draw`]; or if an offset or the stride is no multiple of 4, or something is not inside its buffer.
    pub fn draw_indirect(&mut self, draws: IndirectDraws) -> Result<&mut Self, Error> {
        let parameters = self.parameters(draws, false)?;
        self.draw_parameters(parameters, None)
    }

    /// Draws vertices by their indices, as many and as often as a buffer says.
    ///
    /// # Errors
    /// As [`RenderPass::draw_indirect`]; or if no index buffer is bound.
    pub fn draw_indexed_indirect(&mut self, draws: IndirectDraws) -> Result<&mut Self, Error> {
        let indices = self.bound_indices()?;
        let parameters = self.parameters(draws, true)?;
        self.draw_parameters(parameters, Some(indices))
    }

    fn parameters(&mut self, draws: IndirectDraws, indexed: bool) -> Result<Parameters, Error> {
        let IndirectDraws {
            buffer,
            offset,
            draws,
            stride,
            count,
        } = draws;
        let mut parameters = Parameters {
            at: GpuAddress(0),
            draws,
            stride,
            count: None,
            indexed,
        };
        let (_, words) = parameters.registers();
        let last = u64::from(draws.saturating_sub(1)).saturating_mul(stride.into());
        let bytes = last.saturating_add(words.saturating_mul(4));
        if !stride.is_multiple_of(4) || i32::try_from(stride.max(draws)).is_err() {
            return Err(Error::Misaligned {
                offset: stride.into(),
            });
        }
        let mut place = |buffer, offset: u64, bytes| {
            let size = self.recorder.device.buffer_bytes(buffer)?;
            let end = offset.checked_add(bytes).filter(|end| *end <= size);
            if end.is_none() {
                return Err(Error::Outside {
                    offset,
                    bytes,
                    size,
                });
            }
            if !offset.is_multiple_of(4) {
                return Err(Error::Misaligned { offset });
            }
            self.recorder.refer(buffer.0, Thing::Buffer)?;
            Ok(self.recorder.device.buffer_address(buffer)?.offset(offset))
        };
        let bytes = if draws == 0 { 0 } else { bytes };
        parameters.at = place(buffer, offset, bytes)?;
        if let Some((buffer, offset)) = count {
            parameters.count = Some(place(buffer, offset, 4)?);
        }
        Ok(parameters)
    }

    fn draw_parameters(
        &mut self,
        parameters: Parameters,
        indices: Option<super::put_draw::Indices>,
    ) -> Result<&mut Self, Error> {
        if parameters.draws == 0 {
            return Ok(self);
        }
        self.draw_from(super::put_draw::Source::Buffer(parameters), indices)
    }
}

/// Copies of what depends on the first vertex and instance of a draw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copies {
    count: u32,
    /// The value of the uniforms' register for the first copy, and bytes from one to the next.
    uniforms: [Option<(u64, u32)>; 2],
    inputs: Option<InputCopies>,
}

#[derive(Clone, Copy, Debug)]
struct InputCopies {
    /// The value of the resources' register for the first copy, and bytes from one to the next.
    resources: (u64, u32),
    /// The first copy of the descriptors of inputs.
    at: GpuAddress,
}

impl Copies {
    /// The value of the uniforms' register to begin with.
    pub(super) fn uniforms(&self, which: usize) -> Option<u64> {
        let (value, _) = self.uniforms.get(which).copied().flatten()?;
        Some(value)
    }

    /// The value of the resources' register to begin with.
    pub(super) fn resources(&self) -> Option<u64> {
        self.inputs.map(|inputs| inputs.resources.0)
    }
}

const ADDRESS_BITS: u64 = (1 << 56) - 1;

/// Whether a word depends on where a draw begins.
const fn is_base(word: FauWord) -> bool {
    matches!(
        word,
        FauWord::Draw(DrawWord::FirstVertex | DrawWord::BaseInstance)
    )
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Makes the copies that indirect draws of a pipeline need; `None` if they need none.
    pub(super) fn indirect_copies(
        &mut self,
        state: &DrawState,
        places: &Places,
        made: &GraphicsPipelined,
        parameters: &Parameters,
    ) -> Result<Option<Copies>, Error> {
        let program = *self.device.stage_program(made.vertex)?;
        let kinds = [made.position, EntryKind::Varying];
        let entries = kinds.map(|kind| program.entry_point(kind));
        let entries = entries.map(|entry| entry.filter(|entry| entry.fau().any(is_base)));
        let inputs = made.instanced;
        if entries.iter().all(Option::is_none) && !inputs {
            return Ok(None);
        }
        let pairs = |entry: &eitri_program::EntryPoint<'_>| entry.fau().count().div_ceil(2) as u32;
        let bytes = entries.map(|entry| {
            let bytes = entry.map_or(0, |entry| pairs(&entry).saturating_mul(8));
            bytes.next_multiple_of(64)
        });
        let [first, second] = bytes;
        let largest = first.max(second).max(if inputs { INPUT_STEP } else { 0 });
        let most = COPY_BYTES.checked_div(largest).unwrap_or(1);
        let count = parameters.draws.min(MOST_COPIES).min(most).max(1);
        let mut copies = Copies {
            count,
            uniforms: [None; 2],
            inputs: None,
        };
        let sets = self.sets_of(VERTEX);
        let data = self.device.stage_places(made.vertex)?.data;
        self.fresh_uniforms(SubQueue::VertexTiler)?;
        for (place, (entry, step)) in copies.uniforms.iter_mut().zip(entries.iter().zip(bytes)) {
            let Some(entry) = entry else { continue };
            let (memory, at) = self.written_room(step.saturating_mul(count))?;
            let mut words = [0; MAX_FAU_WORDS];
            self.words_of_draw(entry, data, &state.values, &sets, &mut words)?;
            let used = words.get(..(pairs(entry) as usize).saturating_mul(2));
            for number in 0..u64::from(count) {
                let offset = number.saturating_mul(step.into());
                self.device
                    .write_words(memory.offset(offset), used.unwrap_or_default());
                if has_buffer_words(entry) {
                    let to = at.offset(offset).0;
                    self.copy_draw_words(SubQueue::VertexTiler, entry, to, &sets)?;
                }
            }
            *place = Some((at.0 | u64::from(pairs(entry)) << 56, step));
        }
        if inputs {
            copies.inputs = Some(self.input_copies(places, made, count)?);
        }
        Ok(Some(copies))
    }

    /// Copies of the descriptors of inputs, and of the resource tables that name them.
    fn input_copies(
        &mut self,
        places: &Places,
        made: &GraphicsPipelined,
        count: u32,
    ) -> Result<InputCopies, Error> {
        let (from, _) = places.inputs();
        let (memory, at) = self.written_room(INPUT_STEP.saturating_mul(count))?;
        let mut words = [0; INPUT_BYTES as usize / 4];
        for (word, offset) in words.iter_mut().zip((0..).step_by(4)) {
            *word = self.device.hw.platform.load32(from.offset(offset));
        }
        let buffers = self.vertex_buffers(made)?;
        let mut tables = Tables::of_vertices(made, at, buffers);
        let step = tables.bytes().next_multiple_of(64);
        let (table, resources) = self.room(step.saturating_mul(count))?;
        for number in 0..u64::from(count) {
            let offset = number.saturating_mul(INPUT_STEP.into());
            self.device.write_words(memory.offset(offset), &words);
            tables.own.0 = at.offset(offset);
            let place = table.offset(number.saturating_mul(step.into()));
            self.write_tables(made, &tables, place)?;
            self.device.hw.platform.clean(place.span(step.into()));
        }
        Ok(InputCopies {
            resources: (resources.0 | u64::from(tables.count), step),
            at,
        })
    }

    /// Draws as often as the parameters say: all registers are loaded, but for those that the parameters are loaded to.
    pub(super) fn run_indirect(
        &mut self,
        places: &Places,
        made: &GraphicsPipelined,
        parameters: &Parameters,
        (copies, varies): (Option<&Copies>, bool),
    ) -> Result<(), Error> {
        let strides = match copies.and_then(|copies| copies.inputs) {
            Some(_) => self.strides_of(places),
            None => heapless::Vec::new(),
        };
        let multiplications = (strides.len() as u32).saturating_mul(MULTIPLICATION);
        // The loop stays in one block.
        self.make_room(LOOP.saturating_add(multiplications))?;
        let Parameters {
            at, draws, count, ..
        } = *parameters;
        self.move_to(LEFT, draws)?;
        self.move_to(DRAW, 0)?;
        if let Some(count) = count {
            self.load_pair(TEMPORARY, count.0)?;
            self.push(LoadMultiple {
                base_register: WORD,
                mask: RegMask::first(1),
                address: TEMPORARY,
                offset: 0,
            })?;
            self.wait_slots(OTHERS.mask())?;
            self.push(Umin32 {
                destination: LEFT,
                source_1: LEFT,
                source_0: WORD,
            })?;
        }
        self.load_pair(TEMPORARY, at.0)?;
        if let Some(copies) = copies {
            self.first_copies(copies)?;
        }
        let rounds = |it: &mut Self| {
            let start = it.writer.end();
            it.round(made, places, parameters, (copies, varies), &strides)?;
            it.branch_back(Condition::NotEqual, LEFT, start)
        };
        if count.is_some() {
            self.unless(Condition::Equal, LEFT, rounds)?;
        } else {
            rounds(self)?;
        }
        let registers = DrawRegisters::of(self.arch());
        let Some(lane) = self.lane(SubQueue::VertexTiler) else {
            return Ok(());
        };
        for register in registers.count..=registers.instance_offset {
            lane.loaded.forget(register);
        }
        if copies.is_some() {
            lane.loaded.forget_vertices();
        }
        Ok(())
    }

    /// Bytes by which attributes go on with the first instance, each once.
    fn strides_of(&mut self, places: &Places) -> heapless::Vec<u32, MOST_BINDINGS> {
        let mut all = heapless::Vec::new();
        for number in 0..MOST_ATTRIBUTES {
            let stride = self.stride_of(places, number);
            if stride != 0 && !all.contains(&stride) {
                // A binding has one stride: there are no more.
                let _ = all.push(stride);
            }
        }
        all
    }

    fn stride_of(&mut self, places: &Places, number: usize) -> u32 {
        let at = places.strides().offset((number as u64).saturating_mul(4));
        self.device.hw.platform.load32(at)
    }

    /// One draw.
    fn round(
        &mut self,
        made: &GraphicsPipelined,
        places: &Places,
        parameters: &Parameters,
        (copies, varies): (Option<&Copies>, bool),
        strides: &[u32],
    ) -> Result<(), Error> {
        let registers = DrawRegisters::of(self.arch());
        let (mask, _) = parameters.registers();
        self.push(LoadMultiple {
            base_register: Reg::new(registers.count),
            mask,
            address: TEMPORARY,
            offset: 0,
        })?;
        self.wait_slots(OTHERS.mask())?;
        if let Some(copies) = copies {
            self.fill_copies(made, places, copies, strides)?;
            self.wait_slots(OTHERS.mask())?;
        }
        // The first instance stands in descriptors and uniforms (hardware/graphics-draw.md 3.6).
        self.move_to(Reg::new(registers.instance_offset), 0)?;
        self.run_idvs(varies, DRAW)?;
        self.add_to(TEMPORARY, TEMPORARY, parameters.stride)?;
        self.add_word(DRAW, DRAW, 1)?;
        self.add_word(LEFT, LEFT, u32::MAX)?;
        match copies {
            Some(copies) => self.next_copies(copies, parameters.draws),
            None => Ok(()),
        }
    }

    /// The stream writes what depends on where the draw begins.
    fn fill_copies(
        &mut self,
        made: &GraphicsPipelined,
        places: &Places,
        copies: &Copies,
        strides: &[u32],
    ) -> Result<(), Error> {
        let registers = DrawRegisters::of(self.arch());
        let [vertex, instance] = [registers.vertex_offset, registers.instance_offset].map(Reg::new);
        let program = *self.device.stage_program(made.vertex)?;
        for (which, kind) in [(VERTEX, made.position), (VARYINGS, EntryKind::Varying)] {
            let there = copies.uniforms.get(which).is_some_and(Option::is_some);
            let (Some(address), true) = (UNIFORMS.get(which), there) else {
                continue;
            };
            let Some(entry) = program.entry_point(kind) else {
                continue;
            };
            for (word, offset) in entry.fau().zip((0..).step_by(4)) {
                let from = match word {
                    FauWord::Draw(DrawWord::FirstVertex) => vertex,
                    FauWord::Draw(DrawWord::BaseInstance) => instance,
                    _ => continue,
                };
                self.store_word(from, *address, offset)?;
            }
        }
        if copies.inputs.is_some() {
            self.add_word(BASE, instance, 0)?;
            for stride in strides {
                self.move_to(PRODUCT, 0)?;
                self.unless(Condition::Equal, BASE, |it| it.multiply(*stride))?;
                for number in 0..MOST_ATTRIBUTES {
                    if self.stride_of(places, number) != *stride {
                        continue;
                    }
                    let place = (number as u64).saturating_mul(DESCRIPTOR_BYTES);
                    let place = place.saturating_add(OFFSET_WORD);
                    let offset = places.inputs().0.offset(place);
                    let offset = self.device.hw.platform.load32(offset);
                    self.add_word(WORD, PRODUCT, offset)?;
                    self.store_word(WORD, INPUTS, place as i16)?;
                }
            }
        }
        Ok(())
    }

    /// `PRODUCT += BASE * factor`, for each bit of the base from the highest.
    fn multiply(&mut self, factor: u32) -> Result<(), Error> {
        const SIGN: u32 = 1 << 31;
        self.add_word(REST, BASE, 0)?;
        self.unless(Condition::GreaterEqual, REST, |it| {
            it.add_word(REST, REST, SIGN)?;
            it.add_word(PRODUCT, PRODUCT, factor << 31)
        })?;
        for bit in (0..31).rev() {
            let power = 1_u32 << bit;
            self.add_word(TRIED, REST, power.wrapping_neg())?;
            self.unless(Condition::Less, TRIED, |it| {
                it.add_word(REST, TRIED, 0)?;
                it.add_word(PRODUCT, PRODUCT, factor << bit)
            })?;
        }
        Ok(())
    }

    /// The stream begins with the first copies, whose addresses the draw's registers have.
    fn first_copies(&mut self, copies: &Copies) -> Result<(), Error> {
        self.move_to(COPIES, copies.count)?;
        for (pair, known) in UNIFORMS.iter().zip(copies.uniforms) {
            if let Some((value, _)) = known {
                self.load_pair(*pair, value & ADDRESS_BITS)?;
            }
        }
        match copies.inputs {
            Some(inputs) => self.load_pair(INPUTS, inputs.at.0),
            None => Ok(()),
        }
    }

    /// The stream goes on to the next copies; behind the last it waits until nothing uses them any more.
    fn next_copies(&mut self, copies: &Copies, draws: u32) -> Result<(), Error> {
        const STREAM: SubQueue = SubQueue::VertexTiler;
        let registers = DrawRegisters::of(self.arch());
        let pair = |register: u8| Pair::new(register).unwrap_or(Pair::ZERO);
        let of_uniforms = [Some(registers.vertex_uniforms), registers.varying_uniforms];
        let resources = pair(registers.vertex_resources);
        let all = UNIFORMS.iter().zip(copies.uniforms).zip(of_uniforms);
        for ((at, known), register) in all.clone() {
            let (Some((_, step)), Some(register)) = (known, register) else {
                continue;
            };
            self.add_to(*at, *at, step)?;
            self.add_to(pair(register), pair(register), step)?;
        }
        if let Some(inputs) = copies.inputs {
            self.add_to(INPUTS, INPUTS, INPUT_STEP)?;
            self.add_to(resources, resources, inputs.resources.1)?;
        }
        if draws <= copies.count {
            return Ok(());
        }
        let slots = self.slots_of_iterator(STREAM);
        self.add_word(COPIES, COPIES, u32::MAX)?;
        self.unless(Condition::NotEqual, COPIES, |it| {
            it.wait_slots(slots)?;
            it.flush_lane(crate::queue::Reach::Cores)?;
            for ((_, known), register) in all {
                if let (Some((value, _)), Some(register)) = (known, register) {
                    it.load_pair(pair(register), value)?;
                }
            }
            if let Some(inputs) = copies.inputs {
                it.load_pair(resources, inputs.resources.0)?;
            }
            it.first_copies(copies)
        })
    }

    fn add_word(&mut self, to: Reg, from: Reg, number: u32) -> Result<(), Error> {
        self.push(AddImm32 {
            destination: to,
            source: from,
            immediate: number as i32,
        })
    }

    fn store_word(&mut self, from: Reg, address: Pair, offset: i16) -> Result<(), Error> {
        self.push(StoreMultiple {
            base_register: from,
            mask: RegMask::first(1),
            address,
            offset,
        })
    }

    /// Branches over what `record` records unless a condition does not hold. There is room for it in the block.
    pub(super) fn unless(
        &mut self,
        condition: Condition,
        value: Reg,
        record: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let place = self.writer.end();
        let branch = Branch {
            condition,
            value,
            offset: 0,
        };
        self.push(branch)?;
        record(self)?;
        let offset = distance(self.writer.end(), place).saturating_sub(1);
        let branch = self.check(Branch { offset, ..branch })?;
        self.device.hw.platform.store64(place, branch.word());
        Ok(())
    }

    fn branch_back(
        &mut self,
        condition: Condition,
        value: Reg,
        to: PhysicalAddress,
    ) -> Result<(), Error> {
        let offset = distance(self.writer.end(), to).saturating_add(1);
        self.push(Branch {
            condition,
            value,
            offset: offset.saturating_neg(),
        })
    }
}

/// Instructions from one place to a later one.
fn distance(end: PhysicalAddress, start: PhysicalAddress) -> i16 {
    let words = end.0.saturating_sub(start.0) / 8;
    i16::try_from(words).unwrap_or(i16::MAX)
}

const _: () = assert!(TEMPORARY.low().number() == 66);
