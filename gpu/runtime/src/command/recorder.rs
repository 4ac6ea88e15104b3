//! Recording: pipelines, descriptor sets and push constants are bound, dispatches use what is bound.
//!
//! Guarantees: commands refer only to what was checked; the GPU sees none of them before recording has ended well.
//! Facts: hardware/command-stream.md sections 4.1, 6.8 to 6.10 and 7.1, compiler-abi.md sections 1 to 4.

use super::descriptor_set::BoundSet;
use super::descriptors::{RESOURCE_WORDS, local_storage, resource, shader_program, workgroup_size};
use super::error::{CommandError, Limit};
use super::pipeline::data_offset;
use super::registers;
use super::storage::Areas;
use super::task::{TaskShape, task_shape};
use crate::device::Device;
use crate::error::{Error, Thing};
use crate::handle::{CommandBuffer, DescriptorSet, Pipeline, Space};
use crate::platform::{PhysicalAddress, Platform};
use crate::slab::Key;
use crate::vm::GpuAddress;
use eitri_cs::builder::{Builder, Chunk, Flush, OneChunk, Stream};
use eitri_cs::enums::{FlushMode, OtherFlushMode};
use eitri_cs::instr::RunCompute;
use eitri_cs::table::Resources;
use eitri_cs::{Reg, Slot, SlotMask, r, slot};
use eitri_csf::registers::doorbell::FLUSH_ALWAYS;
use eitri_descriptors::Arch;
use eitri_program::{
    Axis, DescriptorSlot, FauWord, MAX_FAU_WORDS, MAX_PUSH_CONSTANT_BYTES, Program,
};

/// The slot on which jobs count.
const JOBS: Slot = slot!(3);
/// The slot on which loads, stores and flushes count.
const OTHERS: Slot = slot!(0);
/// A register that no job reads.
const SCRATCH: Reg = r!(66);
/// Tables that a program can use: the driver's and its own.
const TABLES: usize = DescriptorSlot::MAX_TABLE as usize + 1;
/// Entries of a resource table come in groups of this many.
const RESOURCE_GROUP: usize = 4;
/// Alignment of everything in the data area.
const ALIGNMENT: u64 = 64;

/// Records commands into a command buffer.
#[derive(Debug)]
pub struct Recorder<'r, 's, 'd, P> {
    device: &'r mut Device<'s, 'd, P>,
    commands: Key,
    space: Key,
    builder: Builder<'r, OneChunk>,
    area: Area,
    areas: Areas,
    pipeline: Option<(Program<'d>, GpuAddress)>,
    sets: [Option<BoundSet>; TABLES],
    push: [u8; MAX_PUSH_CONSTANT_BYTES as usize],
    /// Whether a job that uses thread-local or shared memory may still run.
    storage_in_use: bool,
}

/// Memory of the command buffer, filled from the front of its data part.
#[derive(Clone, Copy, Debug)]
struct Area {
    address: GpuAddress,
    memory: PhysicalAddress,
    used: u64,
}

/// A dispatch as registers name it.
struct Parameters {
    resources: u64,
    uniforms: u64,
    program: GpuAddress,
    storage: GpuAddress,
    workgroup: u32,
    task: TaskShape,
}

impl<'r, 's, 'd, P: Platform> Recorder<'r, 's, 'd, P> {
    pub(super) fn begin(
        device: &'r mut Device<'s, 'd, P>,
        commands: CommandBuffer,
        words: &'r mut [u64],
    ) -> Result<Recorder<'r, 's, 'd, P>, Error> {
        let object = device.object(commands.0, Thing::CommandBuffer)?;
        let space = object.space;
        let area = Area {
            address: object.mapping.address(),
            memory: object.mapping.memory(),
            used: 0,
        };
        let chunk = Chunk {
            address: area.address.0,
            words,
        };
        let mut builder = Builder::new(device.builder_config(), chunk, OneChunk);
        builder
            .select_slots(JOBS, OTHERS)
            .request(Resources::COMPUTE);
        Ok(Recorder {
            device,
            commands: commands.0,
            space,
            builder,
            area,
            areas: Areas::new(commands.0, Space(space)),
            pipeline: None,
            sets: [None; TABLES],
            push: [0; MAX_PUSH_CONSTANT_BYTES as usize],
            storage_in_use: false,
        })
    }

    /// Refers to something that commands use from here on.
    fn refer(&mut self, key: Key, what: Thing) -> Result<(), Error> {
        if self.device.object(key, what)?.space != self.space {
            return Err(Error::OtherSpace { what });
        }
        self.device.link(self.commands, key, None)
    }

    /// Uses a pipeline from here on.
    ///
    /// # Errors
    /// If it was destroyed, is in another space, or there is no place for the reference.
    pub fn bind_pipeline(&mut self, pipeline: Pipeline) -> Result<&mut Self, Error> {
        self.refer(pipeline.0, Thing::Pipeline)?;
        self.pipeline = Some(self.device.pipeline(pipeline)?);
        Ok(self)
    }

    /// Uses a descriptor set from here on.
    ///
    /// # Errors
    /// As [`Recorder::bind_pipeline`].
    pub fn bind_descriptor_set(&mut self, set: DescriptorSet) -> Result<&mut Self, Error> {
        self.refer(set.0, Thing::DescriptorSet)?;
        let set = self.device.bound_set(set)?;
        // A table is at most MAX_TABLE: `Program::parse` has checked it.
        if let Some(place) = self.sets.get_mut(usize::from(set.table)) {
            *place = Some(set);
        }
        Ok(self)
    }

    /// Uses these push constants, from byte 0, from here on.
    ///
    /// # Errors
    /// If there are more than a program can have.
    pub fn push_constants(&mut self, bytes: &[u8]) -> Result<&mut Self, Error> {
        let wanted = MAX_PUSH_CONSTANT_BYTES;
        let given = bytes.len();
        let refused = CommandError::PushConstants { given, wanted };
        let place = self.push.get_mut(..given).ok_or(refused)?;
        for (to, from) in place.iter_mut().zip(bytes) {
            *to = *from;
        }
        Ok(self)
    }

    /// Lets what dispatches before have written be seen by dispatches after, and orders them.
    pub fn barrier(&mut self) -> &mut Self {
        self.builder.wait(JOBS);
        self.storage_in_use = false;
        let flush = Flush {
            lsc: FlushMode::CleanAndInvalidate,
            other: OtherFlushMode::Invalidate,
            ..Flush::default()
        };
        self.flush(flush);
        self
    }

    /// Runs the bound pipeline on a grid of workgroups. Dispatches without a barrier between them may overlap.
    ///
    /// # Errors
    /// If no pipeline is bound, a binding is missing, or a limit is exceeded.
    pub fn dispatch(&mut self, workgroups: [u32; 3]) -> Result<&mut Self, Error> {
        let (program, code) = self.pipeline.ok_or(CommandError::NoPipeline)?;
        if workgroups.contains(&0) {
            return Ok(self);
        }
        let size = program.workgroup();
        for (count, threads) in workgroups.into_iter().zip([size.x(), size.y(), size.z()]) {
            let wanted = u64::from(count).saturating_mul(u64::from(threads));
            // A global id is 32 bits.
            let most = 1 << 32;
            if wanted > most {
                let what = Limit::Workgroups;
                return Err(CommandError::Limit { what, wanted, most }.into());
            }
        }
        let parameters = self.parameters(code, &program, workgroups)?;
        self.emit(&parameters, workgroups);
        Ok(self)
    }

    /// Ends the commands: they wait for all their jobs and write back what the jobs wrote.
    pub(super) fn finish(mut self) -> Result<Stream, Error> {
        let slots = self.builder.config().all_slots();
        self.builder.wait(slots);
        self.flush(Flush {
            l2: FlushMode::Clean,
            lsc: FlushMode::Clean,
            ..Flush::default()
        });
        self.builder.request(Resources::default());
        Ok(self.builder.finish().map_err(CommandError::Build)?)
    }

    /// Writes descriptors and uniforms of a dispatch.
    fn parameters(
        &mut self,
        code: GpuAddress,
        program: &Program<'_>,
        workgroups: [u32; 3],
    ) -> Result<Parameters, Error> {
        let resources = self.resources(program)?;
        let data = code.offset(data_offset(program));
        let uniforms = self.uniforms(data, program, workgroups)?;
        let total = workgroups
            .into_iter()
            .fold(1_u64, |all, count| all.saturating_mul(u64::from(count)));
        let used = self.areas.provide(self.device, program, total)?;
        if used.any() {
            if self.storage_in_use {
                self.builder.wait(JOBS);
            }
            self.storage_in_use = true;
        }
        let arch = self.arch();
        let storage = self.place(&local_storage(arch, used.thread, used.workgroup)?)?;
        let shader = self.place(&shader_program(arch, code.0, program)?)?;
        let threads = self
            .device
            .properties
            .threads_at_once(program.registers().registers());
        Ok(Parameters {
            resources,
            uniforms,
            program: shader,
            storage,
            workgroup: workgroup_size(arch, program)?,
            task: task_shape(program.workgroup().invocations(), workgroups, threads),
        })
    }

    fn arch(&self) -> Arch {
        self.device.properties.arch
    }

    /// The value of the resource table register: the table's address with its number of entries.
    fn resources(&mut self, program: &Program<'_>) -> Result<u64, Error> {
        let Some(highest) = program.highest_table() else {
            return Ok(0);
        };
        for binding in program.bindings() {
            let set = self
                .sets
                .get(usize::from(binding.slot.table))
                .copied()
                .flatten();
            for element in 0..binding.count {
                let index = binding.slot.index.saturating_add(element);
                if !set.is_some_and(|set| self.device.is_bound(&set, index)) {
                    let (set, binding) = (binding.set, binding.binding);
                    let missing = CommandError::Missing {
                        set,
                        binding,
                        element,
                    };
                    return Err(missing.into());
                }
            }
        }
        let arch = self.arch();
        let count = usize::from(highest)
            .saturating_add(1)
            .next_multiple_of(RESOURCE_GROUP);
        let mut words = [0; TABLES.next_multiple_of(RESOURCE_GROUP) * RESOURCE_WORDS];
        for (entry, set) in words.chunks_exact_mut(RESOURCE_WORDS).zip(&self.sets) {
            if let Some(set) = set {
                for (to, from) in entry
                    .iter_mut()
                    .zip(resource(arch, set.address.0, set.bytes)?)
                {
                    *to = from;
                }
            }
        }
        let used = words
            .get(..count.saturating_mul(RESOURCE_WORDS))
            .unwrap_or(&[]);
        let address = self.place(used)?;
        Ok(address.0 | count as u64)
    }

    /// The value of the uniforms register: their address with their number of 64-bit words.
    fn uniforms(
        &mut self,
        data: GpuAddress,
        program: &Program<'_>,
        workgroups: [u32; 3],
    ) -> Result<u64, Error> {
        let mut words = [0; MAX_FAU_WORDS];
        let mut count: usize = 0;
        for (to, word) in words.iter_mut().zip(program.fau()) {
            *to = match word {
                FauWord::Constant(value) => value,
                FauWord::PushConstant { offset } => self.push_word(offset),
                FauWord::NumWorkgroups(Axis::X) => workgroups[0],
                FauWord::NumWorkgroups(Axis::Y) => workgroups[1],
                FauWord::NumWorkgroups(Axis::Z) => workgroups[2],
                FauWord::BufferAddress { slot, half } => half.of(self.buffer(slot)?.0),
                FauWord::BufferBytes { slot } => self.buffer(slot)?.1,
                FauWord::DataAddress(half) => half.of(data.0),
            };
            count = count.saturating_add(1);
        }
        if count == 0 {
            return Ok(0);
        }
        let pairs = count.div_ceil(2);
        let used = words.get(..pairs.saturating_mul(2)).unwrap_or(&[]);
        let address = self.place(used)?;
        Ok(address.0 | (pairs as u64) << 56)
    }

    /// Address and length of the buffer that is bound there. The commands keep them, and so refer to the buffer.
    fn buffer(&mut self, slot: DescriptorSlot) -> Result<(u64, u32), Error> {
        let set = self.sets.get(usize::from(slot.table)).copied().flatten();
        let bound = set.and_then(|set| self.device.bound_buffer(&set, slot.index));
        // It is bound: `resources` has looked at every binding, and a slot is one of a binding's.
        let Some((buffer, address, bytes)) = bound else {
            return Ok((0, 0));
        };
        self.refer(buffer, Thing::Buffer)?;
        Ok((address, bytes))
    }

    fn push_word(&self, offset: u32) -> u32 {
        let bytes = self
            .push
            .get(offset as usize..)
            .and_then(|rest| rest.first_chunk());
        // Offsets are inside the push constants: `Program::parse` has checked them.
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// Puts words into the data area, aligned to 64 bytes.
    fn place(&mut self, words: &[u32]) -> Result<GpuAddress, Error> {
        let bytes = (words.len() as u64).saturating_mul(4);
        let start = self.area.used.next_multiple_of(ALIGNMENT);
        let wanted = start.saturating_add(bytes);
        let most = CommandBuffer::DATA_BYTES;
        if wanted > most {
            let what = Limit::CommandBufferData;
            return Err(CommandError::Limit { what, wanted, most }.into());
        }
        self.area.used = wanted;
        let offset = CommandBuffer::DATA_OFFSET.wrapping_add(start);
        let at = self.area.memory.offset(offset);
        let platform = &mut self.device.platform;
        for (word, place) in words.iter().zip((0..).step_by(4)) {
            platform.store32(at.offset(place), *word);
        }
        platform.clean(at.span(bytes));
        Ok(self.area.address.offset(offset))
    }

    fn emit(&mut self, parameters: &Parameters, workgroups: [u32; 3]) {
        let TaskShape { axis, increment } = parameters.task;
        self.builder
            .move64(registers::RESOURCES, parameters.resources)
            .move64(registers::UNIFORMS, parameters.uniforms)
            .move64(registers::PROGRAM, parameters.program.0)
            .move64(registers::STORAGE, parameters.storage.0)
            .move32(registers::ATTRIBUTE_OFFSET, 0)
            .move32(registers::WORKGROUP_SIZE, parameters.workgroup);
        for register in registers::FIRST {
            self.builder.move32(register, 0);
        }
        for (register, count) in registers::COUNT.into_iter().zip(workgroups) {
            self.builder.move32(register, count);
        }
        self.builder.run_compute(RunCompute {
            task_axis: axis,
            task_increment: increment,
            ..RunCompute::default()
        });
    }

    fn flush(&mut self, flush: Flush) {
        self.builder
            .move32(SCRATCH, FLUSH_ALWAYS)
            .flush_caches(flush, SCRATCH, SlotMask::NONE, OTHERS)
            .wait(OTHERS);
    }
}
