//! Shader stages of a job: what four pointers lead to, read and checked.
//!
//! Facts: hardware/command-stream.md 4.1 and 8 (32, 33); descriptors.md 2, 3, 11 to 13; graphics.md 1.2 (uniforms).

use super::descriptors::{InvalidField, local_storage, shader_program};
use crate::diagnosis::{Misuse, StreamMisuse, StreamPlace};
use crate::fabric::{Access, Fabric};
use crate::memory::PhysicalMemory;
use crate::mmu::{Refused, Source};
use crate::shader::{Environment, JobFault, exception};
use crate::stream::{Identity, StageRegisters};
use alloc::vec::Vec;
use eitri_descriptors::shader::ShaderStage;

/// What a stage is made of, as registers or descriptors hold it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StagePointers {
    /// Resource tables, with their count in the low 6 bits.
    pub(super) resources: u64,
    /// Uniforms, with the count of 64-bit words in the top byte.
    pub(super) uniforms: u64,
    pub(super) program: u64,
    pub(super) storage: u64,
}

impl StagePointers {
    /// The pointers of a stage of a draw.
    pub(super) fn of(registers: &[u32], stage: StageRegisters) -> StagePointers {
        let pair = |register: u8| super::draw::pair(registers, register.into());
        StagePointers {
            resources: pair(stage.resources),
            uniforms: pair(stage.uniforms),
            program: pair(stage.program),
            storage: pair(stage.storage),
        }
    }
}

/// A stage that can run.
#[derive(Clone, Debug)]
pub(super) struct LoadedStage {
    pub(super) entry: u64,
    /// Bit k: r(48 + k) is preloaded.
    pub(super) preload: u16,
    /// Whether a thread has 32 registers rather than 64.
    pub(super) half_registers: bool,
    /// Whether quads are filled with helper lanes.
    pub(super) helpers: bool,
    pub(super) environment: Environment,
}

/// Reads what the pointers of one job name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    pub(super) owner: Identity,
}

impl Reader {
    pub(super) fn access(&self, address: u64) -> Access {
        Access {
            space: self.owner.space,
            address,
            source: Source::Core(0),
        }
    }

    /// An access of the tiler.
    pub(super) fn tiler_access(&self, address: u64) -> Access {
        Access {
            source: Source::Tiler,
            ..self.access(address)
        }
    }

    pub(super) fn report(&self, fabric: &mut Fabric, misuse: StreamMisuse) {
        let place = StreamPlace {
            group: self.owner.group,
            stream: self.owner.stream,
            depth: 0,
            address: 0,
            word: 0,
        };
        fabric.journal.report(Misuse::Stream { place, misuse });
    }

    /// The fault of a job whose descriptors make no sense.
    pub(super) fn fail(&self, address: u64) -> Refused<JobFault> {
        Refused::Failed(JobFault {
            exception: exception::DATA_INVALID_FAULT,
            address,
        })
    }

    /// Reports a field that is not valid; the fault of its job.
    pub(super) fn invalid(
        &self,
        fabric: &mut Fabric,
        address: u64,
        field: InvalidField,
    ) -> Refused<JobFault> {
        self.report(fabric, StreamMisuse::DescriptorInvalid { address, field });
        self.fail(address)
    }

    pub(super) fn check_alignment(
        &self,
        fabric: &mut Fabric,
        address: u64,
        alignment: u64,
    ) -> Result<(), Refused<JobFault>> {
        if address.is_multiple_of(alignment) {
            return Ok(());
        }
        self.report(
            fabric,
            StreamMisuse::DescriptorAlignment { address, alignment },
        );
        Err(self.fail(address))
    }

    /// Reads a stage's program descriptor, local storage and uniforms.
    pub(super) fn stage(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        pointers: StagePointers,
        stage: ShaderStage,
    ) -> Result<LoadedStage, Refused<JobFault>> {
        self.check_alignment(fabric, pointers.program, 32)?;
        let program = self.access(pointers.program);
        let program = match shader_program(fabric, memory, program, stage)? {
            Ok(program) => program,
            Err(invalid) => return Err(self.invalid(fabric, pointers.program, invalid)),
        };
        let uniforms = self.uniforms(fabric, memory, pointers.uniforms)?;
        let storage = if pointers.storage == 0 {
            Default::default()
        } else {
            self.check_alignment(fabric, pointers.storage, 64)?;
            match local_storage(fabric, memory, self.access(pointers.storage))? {
                Ok(storage) => storage,
                Err(invalid) => return Err(self.invalid(fabric, pointers.storage, invalid)),
            }
        };
        Ok(LoadedStage {
            entry: program.entry,
            preload: program.preload,
            half_registers: program.half_registers,
            helpers: program.helpers,
            environment: Environment {
                space: self.owner.space,
                policy: program.policy,
                // A program of 32 registers has r0 to r15 and r48 to r63.
                allocated: if program.half_registers {
                    0xffff_0000_0000_ffff
                } else {
                    u64::MAX
                },
                uniforms,
                resources: pointers.resources & !0x3f,
                resource_count: (pointers.resources & 0x3f) as u32,
                tls_base: storage.tls_base,
                tls_bytes: storage.tls_bytes,
                threads_per_core: fabric.config.product.part.limits.max_threads.into(),
                wls_base: storage.wls_base,
                wls_bytes: storage.wls_bytes,
                wls_instances: storage.wls_instances,
                ..Environment::default()
            },
        })
    }

    /// The uniforms: at most 255 slots of 64 bits.
    fn uniforms(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        pointer: u64,
    ) -> Result<Vec<u32>, Refused<JobFault>> {
        let (address, count) = (pointer & 0x00ff_ffff_ffff_ffff, (pointer >> 56) as usize);
        self.words(fabric, memory, address, 2 * count)
    }

    /// Words of memory.
    pub(super) fn words(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        address: u64,
        count: usize,
    ) -> Result<Vec<u32>, Refused<JobFault>> {
        let mut bytes = alloc::vec![0; 4 * count];
        fabric.read(memory, self.access(address), &mut bytes)?;
        Ok(bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect())
    }
}
