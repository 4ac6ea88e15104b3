//! State of a dispatch besides its grid: resource table, uniforms, local storage.
//!
//! Guarantees: a dispatch has everything that its pipeline needs, or is refused; what stands in memory already is not written again.
//! Facts: hardware/command-stream.md sections 4.1 and 6.12, compiler-abi.md sections 1 to 4.

use super::dispatch::{ADDRESS_BITS, COUNT_SHIFT, MOST_WORDS};
use super::pipeline::Shape;
use super::recorder::{Recorder, TABLES};
use super::uniforms::Source;
use super::words::Wide;
use crate::error::{Error, Thing};
use crate::handle::Buffer;
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::FETCHES;
use crate::resource::{
    DESCRIPTOR_BYTES, RESOURCE_WORDS, local_storage, resource, resource_entries,
};
use crate::vm::GpuAddress;
use eitri_program::{DescriptorSlot, FauWord};

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Sets the state of a job of about `total` workgroups, its grid aside. The next one of the same pipeline and sets finds it
    /// as it is, unless its local storage is this job's own.
    #[inline(never)]
    pub(super) fn set_state(&mut self, uniforms: u64, total: u64) -> Result<(), Error> {
        let shape = self.shape()?;
        let (samples, writes_texels, shared) =
            (shape.samples, shape.writes_texels, shape.storage());
        self.note_texels(samples, writes_texels)?;
        let resources = self.resources()?;
        let storage = match shared {
            Some(storage) => storage,
            None => self.storage(total)?,
        };
        let state = self.shape()?.state(storage);
        // If its job does not come about, nothing repeats what was before.
        self.made.last = None;
        self.emit(MOST_WORDS, |it| {
            it.wide(Wide::Resources, resources);
            it.wide(Wide::Uniforms, uniforms);
            it.state(&state);
        })?;
        self.made.state = shared.is_some();
        Ok(())
    }

    /// Where `bytes` from `offset` on of a buffer are, which the commands refer to from here on; all are multiples of 4.
    pub(crate) fn part_of(
        &mut self,
        buffer: Buffer,
        offset: u64,
        bytes: u64,
    ) -> Result<GpuAddress, Error> {
        self.device.check_part(buffer, offset, bytes)?;
        if let Some(offset) = [offset, bytes].into_iter().find(|it| !it.is_multiple_of(4)) {
            return Err(Error::Misaligned { offset });
        }
        self.refer(buffer.0, Thing::Buffer)?;
        Ok(self.device.buffer_address(buffer)?.offset(offset))
    }

    /// Local storage with memory of its own.
    fn storage(&mut self, total: u64) -> Result<GpuAddress, Error> {
        let program = *self.program()?;
        let used = self.areas.provide(self.device, &program, total)?;
        if self.running.storage {
            self.wait_for_jobs()?;
        }
        self.running.storage = true;
        self.exclusive = true;
        if let Some((made, address)) = self.made.storage
            && made == used
        {
            return Ok(address);
        }
        let words = local_storage(self.arch(), used.thread, used.workgroup)?;
        let address = self.place(&words)?;
        self.made.storage = Some((used, address));
        Ok(address)
    }

    /// The value of the resource table register: the table's address with its number of entries.
    pub(super) fn resources(&mut self) -> Result<u64, Error> {
        if let Some(made) = self.made.resources {
            return Ok(made);
        }
        let Shape {
            highest: Some(highest),
            table,
            ..
        } = *self.shape()?
        else {
            return Ok(0);
        };
        if !self.made.complete {
            self.check_bindings()?;
            self.made.complete = true;
            if self.device.uniforms.found {
                self.keep_uniforms();
            }
        }
        let alone = table.and_then(|table| self.set_of(table)?.alone);
        let resources = match alone {
            Some(alone) => alone,
            None => self.table_of_sets(highest)?,
        };
        self.made.resources = Some(resources);
        Ok(resources)
    }

    /// Checks that the sets have everything that the pipeline needs.
    #[inline(never)]
    fn check_bindings(&mut self) -> Result<(), Error> {
        for binding in self.program()?.bindings() {
            let set = self.set_of(binding.slot.table).copied();
            self.device.check_has(set.as_ref(), &binding)?;
        }
        Ok(())
    }

    /// A resource table of all sets that are bound.
    fn table_of_sets(&mut self, highest: u8) -> Result<u64, Error> {
        let arch = self.arch();
        let count = resource_entries(highest);
        let mut words = [0; TABLES.next_multiple_of(4) * RESOURCE_WORDS];
        let mut bindings = self.program()?.bindings();
        // The sampler of fetches, which stands behind a set that is alone.
        if bindings.any(|binding| binding.kind.is_texture()) {
            let driver = self.place(&FETCHES)?;
            let entry = resource(arch, driver.0, DESCRIPTOR_BYTES as u32)?;
            for (to, from) in words.iter_mut().zip(entry) {
                *to = from;
            }
        }
        for (entry, set) in words.chunks_exact_mut(RESOURCE_WORDS).zip(&self.sets) {
            if let Some(set) = set {
                let made = resource(arch, set.address.0, set.bytes)?;
                for (to, from) in entry.iter_mut().zip(made) {
                    *to = from;
                }
            }
        }
        let used = words.get(..(count as usize).saturating_mul(RESOURCE_WORDS));
        let address = self.place(used.unwrap_or(&[]))?;
        Ok(address.0 | u64::from(count))
    }

    /// The value of the uniforms register: their address with their number of 64-bit words.
    pub(super) fn uniforms(&mut self, workgroups: [u32; 3]) -> Result<u64, Error> {
        let has = self.shape()?.counts;
        match self.made.uniforms {
            Some((made, counts)) if !has || counts == workgroups => Ok(made),
            _ => self.new_uniforms(workgroups),
        }
    }

    /// The same where they must be written.
    fn new_uniforms(&mut self, workgroups: [u32; 3]) -> Result<u64, Error> {
        let pairs = self.shape()?.pairs;
        let uniforms = match pairs {
            0 => 0,
            _ => {
                let (at, address) = self.room(pairs.saturating_mul(8))?;
                self.write_uniforms(at, workgroups)?;
                address.0 | u64::from(pairs) << COUNT_SHIFT
            }
        };
        self.made.uniforms = Some((uniforms, workgroups));
        Ok(uniforms)
    }

    /// The uniforms of a dispatch into which the stream puts words of buffers.
    pub(super) fn filled_uniforms(&mut self, counts: [u32; 3]) -> Result<u64, Error> {
        let uniforms = self.written_uniforms(counts)?;
        self.copy_buffer_words(uniforms & ADDRESS_BITS)?;
        Ok(uniforms)
    }

    /// The uniforms of a dispatch of which the stream fills in some.
    pub(super) fn written_uniforms(&mut self, counts: [u32; 3]) -> Result<u64, Error> {
        let pairs = self.shape()?.pairs;
        let bytes = pairs.saturating_mul(8);
        let (at, address) = self.written_room(bytes)?;
        self.write_uniforms(at, counts)?;
        self.device.hw.platform.clean(at.span(bytes.into()));
        Ok(address.0 | u64::from(pairs) << COUNT_SHIFT)
    }

    /// Writes the uniforms of a dispatch; what no push constant and no count is stays the same until something else is bound.
    fn write_uniforms(&mut self, at: PhysicalAddress, counts: [u32; 3]) -> Result<(), Error> {
        if !self.knows_uniforms()? {
            self.find_uniforms()?;
        }
        let words = self.device.uniforms.of(counts);
        self.device.hw.platform.write_words(at, words);
        Ok(())
    }

    /// Finds out where the words of the uniforms come from, and their values where these stay the same.
    #[inline(never)]
    fn find_uniforms(&mut self) -> Result<(), Error> {
        let data = self.shape()?.data.0;
        self.device.uniforms.clear();
        let mut steps = self.program()?.fau_steps();
        let mut step = steps.next();
        for (number, word) in self.program()?.fau().enumerate() {
            let mut word = match word {
                // Offsets are inside the push constants: `Program::parse` has checked them.
                FauWord::PushConstant { offset } => Err(Source::Push(offset)),
                FauWord::NumWorkgroups(axis) => Err(Source::Count(axis)),
                FauWord::Constant(value) => Ok(value),
                FauWord::BufferAddress { slot, half } => Ok(half.of(self.buffer(slot)?.0)),
                FauWord::BufferBytes { slot } => Ok(self.buffer(slot)?.1),
                // The stream puts it there.
                FauWord::BufferWord { .. } => Ok(0),
                FauWord::TexelCount { slot } => {
                    let [count, _] = self.texels(slot)?;
                    Ok(count)
                }
                FauWord::TexelFormat { slot } => {
                    let [_, format] = self.texels(slot)?;
                    Ok(format)
                }
                FauWord::DataAddress(half) => Ok(half.of(data)),
                // Programs of compute have none.
                FauWord::Draw(_) => Ok(0),
            };
            // They come in the order of the words.
            while let Some(it) = step.filter(|step| usize::from(step.word) == number) {
                word = self.device.uniforms.take(word, it);
                step = steps.next();
            }
            self.device.uniforms.add(number, word);
        }
        let pipeline = self.pipeline_of.map(|pipeline| pipeline.0);
        self.device.uniforms.added(pipeline);
        Ok(())
    }

    /// Address and length of the buffer that is bound there. The commands keep them, and so refer to the buffer.
    pub(super) fn buffer(&mut self, slot: DescriptorSlot) -> Result<(u64, u32), Error> {
        let set = self.set_of(slot.table).copied();
        let bound = set.and_then(|set| self.device.bound_buffer(&set, slot.index));
        // If it is not bound the dispatch is refused: `resources` looks at every binding, and a slot is one of a binding's.
        let Some((buffer, address, bytes)) = bound else {
            return Ok((0, 0));
        };
        self.refer(buffer, Thing::Buffer)?;
        Ok((address, bytes))
    }

    /// Number of texels and conversion word of the texel buffer that is bound there.
    fn texels(&mut self, slot: DescriptorSlot) -> Result<[u32; 2], Error> {
        self.buffer(slot)?;
        let set = self.set_of(slot.table).copied();
        Ok(set.map_or([0; 2], |set| self.device.bound_texels(&set, slot.index)))
    }
}
