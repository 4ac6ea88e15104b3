//! Uniforms of a draw: the words that each of its programs finds in its fast-access uniforms, where no plan says them
//! ([`super::uniform_plan`]).
//!
//! Facts: hardware/compiler-abi.md 4, graphics.md 1.13, graphics-draw.md 3.5 and 3.8.

use super::buffer_words::has_buffer_words;
use super::draw_state::{DrawState, FRAGMENT, FRAGMENTS, VARYINGS, VERTEX};
use super::pass_bound::TABLES;
use super::pipeline::GraphicsPipelined;
use super::pipeline_places::Places;
use super::rendering::Viewport;
use crate::command::Recorder;
use crate::error::{Error, Thing};
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::resource::BoundSet;
use crate::slab::Key;
use crate::vm::GpuAddress;
use eitri_program::{
    Axis, DescriptorSlot, DrawWord, EntryKind, EntryPoint, FauOperand, FauStep, FauWord,
    MAX_FAU_WORDS,
};

/// What words of uniforms are made of, besides bindings and push constants.
#[derive(Clone, Debug)]
pub(super) struct Values {
    pub(super) viewport: Viewport,
    pub(super) blend_constants: [f32; 4],
    pub(super) first_vertex: u32,
    pub(super) base_instance: u32,
    pub(super) view_index: u32,
}

impl Values {
    /// The words that differ from draw to draw: see [`super::uniform_plan`].
    pub(super) const fn counts(&self) -> [u32; 3] {
        [self.first_vertex, self.base_instance, self.view_index]
    }

    pub(super) fn draw(&self, word: DrawWord) -> u32 {
        let Viewport {
            x,
            y,
            width,
            height,
            depth: [near, far],
        } = self.viewport;
        let float = match word {
            DrawWord::ViewportScale(Axis::X) => width / 2.0,
            DrawWord::ViewportScale(Axis::Y) => height / 2.0,
            DrawWord::ViewportScale(Axis::Z) => far - near,
            DrawWord::ViewportOffset(Axis::X) => x + width / 2.0,
            DrawWord::ViewportOffset(Axis::Y) => y + height / 2.0,
            DrawWord::ViewportOffset(Axis::Z) => near,
            DrawWord::BlendConstant(component) => {
                let constant = self.blend_constants.get(usize::from(component));
                constant.copied().unwrap_or(0.0)
            }
            DrawWord::FirstVertex => return self.first_vertex,
            DrawWord::BaseInstance => return self.base_instance,
            DrawWord::ViewIndex => return self.view_index,
        };
        float.to_bits()
    }
}

/// Where the register of uniforms holds their number.
pub(super) const COUNT_SHIFT: u32 = 56;

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Writes the uniforms of the programs of a draw that do not stand in memory; notes the values of their registers.
    pub(super) fn uniforms_of_draw(
        &mut self,
        state: &mut DrawState,
        (key, made): (Key, &GraphicsPipelined),
        places: &Places,
    ) -> Result<(), Error> {
        let [position, varyings, fragments] = state.uniforms;
        if position.is_some() && varyings.is_some() && fragments.is_some() {
            return Ok(());
        }
        if let Some(plan) = &made.plan {
            return self.planned_uniforms(state, (key, plan), places);
        }
        if position.is_none() || varyings.is_none() {
            let sets = self.sets_of(VERTEX);
            for (which, kind, known) in [
                (VERTEX, made.position, position),
                (VARYINGS, EntryKind::Varying, varyings),
            ] {
                if known.is_none() {
                    let words =
                        self.uniforms_of_program(made.vertex, kind, &state.values, &sets)?;
                    state.uniforms[which] = Some(words);
                }
            }
        }
        if fragments.is_none() {
            let words = match made.fragment.filter(|_| made.shades) {
                Some(stage) => {
                    let sets = self.sets_of(FRAGMENT);
                    self.uniforms_of_program(stage, EntryKind::Fragment, &state.values, &sets)?
                }
                None => 0,
            };
            state.uniforms[FRAGMENTS] = Some(words);
        }
        Ok(())
    }

    /// Writes the uniforms of a program of a stage; gives the value of their register, 0 if there is no such program.
    fn uniforms_of_program(
        &mut self,
        stage: Key,
        kind: EntryKind,
        values: &Values,
        sets: &[Option<BoundSet>; TABLES],
    ) -> Result<u64, Error> {
        let program = *self.device.stage_program(stage)?;
        let Some(entry) = program.entry_point(kind) else {
            return Ok(0);
        };
        let data = self.device.stage_places(stage)?.data;
        let stream = match kind {
            EntryKind::Fragment => SubQueue::Fragment,
            _ => SubQueue::VertexTiler,
        };
        self.draw_uniforms((stream, &entry), data, values, sets)
    }

    /// A word of the push constants of the pass.
    fn pushed(&self, offset: u32) -> u32 {
        let passes = self.passes.as_ref();
        passes.map_or(0, |passes| passes.uniforms.values.pushed(offset))
    }

    /// Writes the uniforms of a program of a stream; gives the value of their register.
    fn draw_uniforms(
        &mut self,
        (stream, entry): (SubQueue, &EntryPoint<'_>),
        data: GpuAddress,
        values: &Values,
        sets: &[Option<BoundSet>],
    ) -> Result<u64, Error> {
        let mut words = [0_u32; MAX_FAU_WORDS];
        self.words_of_draw(entry, data, values, sets, &mut words)?;
        let count = entry.fau().count();
        if count == 0 {
            return Ok(0);
        }
        let pairs = count.div_ceil(2);
        let used = words.get(..pairs.saturating_mul(2)).unwrap_or_default();
        let address = if has_buffer_words(entry) {
            let bytes = (used.len() as u32).saturating_mul(4);
            let (memory, address) = self.written_room(bytes)?;
            self.device.write_words(memory, used);
            let copy = |it: &mut Self| it.copy_draw_words(stream, entry, address.0, sets);
            // This is in the lane of vertices.
            match stream {
                SubQueue::Fragment => {
                    self.open_lane(stream)?;
                    self.in_lane(stream, copy)?;
                }
                SubQueue::VertexTiler | SubQueue::Compute => copy(self)?,
            }
            address
        } else {
            self.place(used)?
        };
        Ok(address.0 | (pairs as u64) << COUNT_SHIFT)
    }

    /// The uniforms of a program, but for the words of buffers.
    pub(super) fn words_of_draw(
        &mut self,
        entry: &EntryPoint<'_>,
        data: GpuAddress,
        values: &Values,
        sets: &[Option<BoundSet>],
        words: &mut [u32; MAX_FAU_WORDS],
    ) -> Result<(), Error> {
        let mut steps = entry.fau_steps().peekable();
        for ((number, word), place) in entry.fau().enumerate().zip(words.iter_mut()) {
            let mut value = match word {
                FauWord::Constant(value) => value,
                FauWord::PushConstant { offset } => self.pushed(offset),
                FauWord::Draw(word) => values.draw(word),
                FauWord::DataAddress(half) => half.of(data.0),
                FauWord::BufferAddress { slot, half } => {
                    let (address, _) = self.draw_buffer(slot, set_for(sets, slot))?;
                    half.of(address)
                }
                FauWord::BufferBytes { slot } => self.draw_buffer(slot, set_for(sets, slot))?.1,
                FauWord::TexelCount { slot } => {
                    let [count, _] = self.draw_texels(slot, sets)?;
                    count
                }
                FauWord::TexelFormat { slot } => {
                    let [_, format] = self.draw_texels(slot, sets)?;
                    format
                }
                // The stream puts the words of buffers there; no stage of graphics has the others.
                FauWord::BufferWord { .. } | FauWord::NumWorkgroups(_) => 0,
            };
            // They come in the order of the words.
            while let Some(FauStep { op, operand, .. }) =
                steps.next_if(|step| usize::from(step.word) == number)
            {
                let with = match operand {
                    FauOperand::Constant(value) => value,
                    FauOperand::PushConstant(offset) => self.pushed(offset),
                };
                value = op.apply(value, with);
            }
            *place = value;
        }
        Ok(())
    }

    pub(super) fn draw_buffer(
        &mut self,
        slot: DescriptorSlot,
        set: Option<&BoundSet>,
    ) -> Result<(u64, u32), Error> {
        let bound = set.and_then(|set| self.device.bound_buffer(set, slot.index));
        let Some((buffer, address, bytes)) = bound else {
            // The draw is refused if something is not bound: all bindings are looked at.
            return Ok((0, 0));
        };
        self.refer(buffer, Thing::Buffer)?;
        Ok((address, bytes))
    }

    fn draw_texels(
        &mut self,
        slot: DescriptorSlot,
        sets: &[Option<BoundSet>],
    ) -> Result<[u32; 2], Error> {
        let set = set_for(sets, slot);
        self.draw_buffer(slot, set)?;
        Ok(set.map_or([0; 2], |set| self.device.bound_texels(set, slot.index)))
    }
}

/// The set in which a descriptor stands.
pub(super) fn set_for(sets: &[Option<BoundSet>], slot: DescriptorSlot) -> Option<&BoundSet> {
    sets.get(usize::from(slot.table))?.as_ref()
}
