//! Recording: pipelines, descriptor sets and push constants are bound, dispatches use what is bound.
//!
//! Guarantees: commands refer only to what was checked; the GPU sees none of them before recording has ended well.
//! Facts: hardware/command-stream.md sections 4.1, 6.8 to 6.10 and 7.1, compiler-abi.md sections 1 to 4.

use super::buffer::CommandBuffer;
use super::descriptor_set::DescriptorSet;
use super::descriptors::{RESOURCE_WORDS, local_storage, resource, shader_program, workgroup_size};
use super::error::{CommandError, Limit};
use super::pipeline::Pipeline;
use super::registers;
use super::storage::Storage;
use super::task::{TaskShape, task_shape};
use crate::device::Device;
use crate::platform::{PhysicalAddress, Platform};
use crate::vm::{GpuAddress, Object};
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

/// Records commands into a command buffer. `'s` is how long what is bound must live: until recording ends.
#[derive(Debug)]
pub struct Recorder<'r, 'f, 's, P> {
    device: &'r mut Device<'f, P>,
    builder: Builder<'r, OneChunk>,
    area: Area,
    storage: &'r mut Storage,
    pipeline: Option<&'s Pipeline<'s>>,
    sets: [Option<&'s DescriptorSet<'s>>; TABLES],
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

impl<'r, 'f, 's, P: Platform> Recorder<'r, 'f, 's, P> {
    pub(super) fn begin(
        device: &'r mut Device<'f, P>,
        object: &Object,
        words: &'r mut [u64],
        storage: &'r mut Storage,
    ) -> Recorder<'r, 'f, 's, P> {
        let area = Area {
            address: object.address(),
            memory: object.memory(),
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
        Recorder {
            device,
            builder,
            area,
            storage,
            pipeline: None,
            sets: [None; TABLES],
            push: [0; MAX_PUSH_CONSTANT_BYTES as usize],
            storage_in_use: false,
        }
    }

    /// Uses a pipeline from here on.
    pub fn bind_pipeline(&mut self, pipeline: &'s Pipeline<'s>) -> &mut Self {
        self.pipeline = Some(pipeline);
        self
    }

    /// Uses a descriptor set from here on.
    pub fn bind_descriptor_set(&mut self, set: &'s DescriptorSet<'s>) -> &mut Self {
        // A table is at most MAX_TABLE: `Program::parse` has checked it.
        if let Some(place) = self.sets.get_mut(usize::from(set.table())) {
            *place = Some(set);
        }
        self
    }

    /// Uses these push constants, from byte 0, from here on.
    ///
    /// # Errors
    /// If there are more than a program can have.
    pub fn push_constants(&mut self, bytes: &[u8]) -> Result<&mut Self, CommandError> {
        let wanted = MAX_PUSH_CONSTANT_BYTES;
        let refused = CommandError::PushConstants {
            given: bytes.len(),
            wanted,
        };
        let place = self.push.get_mut(..bytes.len()).ok_or(refused)?;
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
    pub fn dispatch(&mut self, workgroups: [u32; 3]) -> Result<&mut Self, CommandError> {
        let pipeline = self.pipeline.ok_or(CommandError::NoPipeline)?;
        let program = *pipeline.program();
        if workgroups.contains(&0) {
            return Ok(self);
        }
        let size = program.workgroup();
        for (count, threads) in workgroups.into_iter().zip([size.x(), size.y(), size.z()]) {
            let wanted = u64::from(count).saturating_mul(u64::from(threads));
            // A global id is 32 bits.
            let most = 1 << 32;
            if wanted > most {
                return Err(CommandError::Limit {
                    what: Limit::Workgroups,
                    wanted,
                    most,
                });
            }
        }
        let parameters = self.parameters(pipeline, &program, workgroups)?;
        self.emit(&parameters, workgroups);
        Ok(self)
    }

    /// Ends the commands: they wait for all their jobs and write back what the jobs wrote.
    pub(super) fn finish(mut self) -> Result<Stream, CommandError> {
        let slots = self.builder.config().all_slots();
        self.builder.wait(slots);
        self.flush(Flush {
            l2: FlushMode::Clean,
            lsc: FlushMode::Clean,
            ..Flush::default()
        });
        self.builder.request(Resources::default());
        self.builder.finish().map_err(CommandError::Build)
    }

    /// Writes descriptors and uniforms of a dispatch.
    fn parameters(
        &mut self,
        pipeline: &Pipeline<'_>,
        program: &Program<'_>,
        workgroups: [u32; 3],
    ) -> Result<Parameters, CommandError> {
        let resources = self.resources(program)?;
        let uniforms = self.uniforms(pipeline, program, workgroups)?;
        let total = workgroups
            .into_iter()
            .fold(1_u64, |all, count| all.saturating_mul(u64::from(count)));
        let used = self.storage.provide(self.device, program, total)?;
        if used.any() {
            if self.storage_in_use {
                self.builder.wait(JOBS);
            }
            self.storage_in_use = true;
        }
        let arch = self.arch();
        let storage = self.place(&local_storage(arch, used.thread, used.workgroup)?)?;
        let shader = self.place(&shader_program(arch, pipeline.code().0, program)?)?;
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
    fn resources(&mut self, program: &Program<'_>) -> Result<u64, CommandError> {
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
                if !set.is_some_and(|set| set.is_bound(&mut self.device.platform, index)) {
                    let (set, binding) = (binding.set, binding.binding);
                    return Err(CommandError::Missing {
                        set,
                        binding,
                        element,
                    });
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
                let (address, bytes) = set.descriptors();
                for (to, from) in entry.iter_mut().zip(resource(arch, address.0, bytes)?) {
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
        pipeline: &Pipeline<'_>,
        program: &Program<'_>,
        workgroups: [u32; 3],
    ) -> Result<u64, CommandError> {
        let mut words = [0; MAX_FAU_WORDS];
        let mut count: usize = 0;
        for (to, word) in words.iter_mut().zip(program.fau()) {
            *to = match word {
                FauWord::Constant(value) => value,
                FauWord::PushConstant { offset } => self.push_word(offset),
                FauWord::NumWorkgroups(Axis::X) => workgroups[0],
                FauWord::NumWorkgroups(Axis::Y) => workgroups[1],
                FauWord::NumWorkgroups(Axis::Z) => workgroups[2],
                FauWord::BufferAddress { slot, half } => half.of(self.buffer(slot).0),
                FauWord::BufferBytes { slot } => self.buffer(slot).1,
                FauWord::DataAddress(half) => half.of(pipeline.data().0),
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

    /// Address and length of the buffer that is bound there.
    fn buffer(&mut self, slot: DescriptorSlot) -> (u64, u32) {
        let set = self.sets.get(usize::from(slot.table)).copied().flatten();
        // It is bound: `resources` has looked at every binding, and a slot is one of a binding's.
        set.map_or((0, 0), |set| {
            set.buffer(&mut self.device.platform, slot.index)
        })
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
    fn place(&mut self, words: &[u32]) -> Result<GpuAddress, CommandError> {
        let bytes = (words.len() as u64).saturating_mul(4);
        let start = self.area.used.next_multiple_of(ALIGNMENT);
        let wanted = start.saturating_add(bytes);
        let most = CommandBuffer::DATA_BYTES;
        if wanted > most {
            return Err(CommandError::Limit {
                what: Limit::CommandBufferData,
                wanted,
                most,
            });
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
