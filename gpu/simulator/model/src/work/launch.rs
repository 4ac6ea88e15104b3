//! Launch of a compute job: reads what the staging registers point to and checks it.
//!
//! Facts: hardware/command-stream.md 4.1 and 8 (32, 33); descriptors.md 2, 3, 11 to 13.

use super::descriptors::{InvalidField, Program, local_storage, shader_program};
use crate::diagnosis::{Misuse, StreamMisuse, StreamPlace};
use crate::fabric::{Access, Fabric};
use crate::memory::PhysicalMemory;
use crate::mmu::{Refused, Source};
use crate::shader::{Environment, JobFault, WARP, exception};
use crate::stream::{Dispatch, Identity, Tasks};
use alloc::vec::Vec;
use eitri_isa::Arch;

/// Sizes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// Threads of a workgroup in x, y, z.
    pub(super) size: [u32; 3],
    /// Number of the first workgroup.
    pub(super) offset: [u32; 3],
    /// Workgroups.
    pub(super) count: [u32; 3],
    pub(super) tasks: Tasks,
}

/// A job that can run.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) owner: Identity,
    pub(super) arch: Arch,
    pub(super) grid: Grid,
    pub(super) entry: u64,
    /// Bit k: r(48 + k) is preloaded.
    pub(super) preload: u16,
    /// Whether a thread has 32 registers rather than 64.
    pub(super) half_registers: bool,
    pub(super) environment: Environment,
}

/// Reads descriptors and uniforms; reports and refuses what is not valid.
pub(super) fn launch(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    owner: Identity,
    issued: &Dispatch,
) -> Result<Launch, Refused<JobFault>> {
    let reader = Reader { owner, issued };
    let [srt, fau, spd, tsd] = issued.selects.map(|select| 2 * usize::from(select & 3));
    let grid = reader.grid(fabric)?;
    let program = reader.program(fabric, memory, 16 + spd)?;
    let tables = reader.pair(srt);
    let (resources, resource_count) = (tables & !0x3f, (tables & 0x3f) as u32);
    let uniforms = reader.uniforms(fabric, memory, 8 + fau)?;

    let pointer = reader.pair(24 + tsd);
    let storage = if pointer == 0 {
        Default::default()
    } else {
        reader.check_alignment(fabric, pointer, 64)?;
        match local_storage(fabric, memory, reader.access(pointer))? {
            Ok(storage) => storage,
            Err(invalid) => return Err(reader.invalid(fabric, pointer, invalid)),
        }
    };
    if storage.wls_bytes != 0 && reader.staging(33) >> 31 != 0 {
        reader.report(fabric, StreamMisuse::MergedWithSharedMemory);
    }
    let arch = fabric.config.product.arch();
    Ok(Launch {
        owner,
        arch,
        grid,
        entry: program.entry,
        preload: program.preload,
        half_registers: program.half_registers,
        environment: Environment {
            space: owner.space,
            policy: program.policy,
            // A program of 32 registers has r0 to r15 and r48 to r63.
            allocated: if program.half_registers {
                0xffff_0000_0000_ffff
            } else {
                u64::MAX
            },
            uniforms,
            resources,
            resource_count,
            tls_base: storage.tls_base,
            tls_bytes: storage.tls_bytes,
            threads_per_core: fabric.config.product.part.limits.max_threads.into(),
            wls_base: storage.wls_base,
            wls_bytes: storage.wls_bytes,
            wls_instances: storage.wls_instances,
        },
    })
}

/// Reads what one job's staging registers name.
struct Reader<'a> {
    owner: Identity,
    issued: &'a Dispatch,
}

impl Reader<'_> {
    fn staging(&self, register: usize) -> u32 {
        self.issued.staging.get(register).copied().unwrap_or(0)
    }

    fn pair(&self, register: usize) -> u64 {
        u64::from(self.staging(register + 1)) << 32 | u64::from(self.staging(register))
    }

    fn access(&self, address: u64) -> Access {
        Access {
            space: self.owner.space,
            address,
            source: Source::Core(0),
        }
    }

    fn report(&self, fabric: &mut Fabric, misuse: StreamMisuse) {
        let place = StreamPlace {
            group: self.owner.group,
            stream: self.owner.stream,
            depth: 0,
            address: 0,
            word: 0,
        };
        fabric.journal.report(Misuse::Stream { place, misuse });
    }

    fn fail(&self, address: u64) -> Refused<JobFault> {
        Refused::Failed(JobFault {
            exception: exception::DATA_INVALID_FAULT,
            address,
        })
    }

    fn invalid(&self, fabric: &mut Fabric, address: u64, field: InvalidField) -> Refused<JobFault> {
        self.report(fabric, StreamMisuse::DescriptorInvalid { address, field });
        self.fail(address)
    }

    fn check_alignment(
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

    fn grid(&self, fabric: &mut Fabric) -> Result<Grid, Refused<JobFault>> {
        let word = self.staging(33);
        let size = [word & 0x3ff, word >> 10 & 0x3ff, word >> 20 & 0x3ff].map(|size| size + 1);
        let threads = size.iter().map(|size| u64::from(*size)).product::<u64>();
        if threads > fabric.config.product.part.limits.max_workgroup.into() {
            self.report(fabric, StreamMisuse::WorkgroupTooLarge { threads });
            return Err(self.fail(word.into()));
        }
        let triple = |first: usize| [0, 1, 2].map(|axis| self.staging(first + axis));
        Ok(Grid {
            size,
            offset: triple(34),
            count: triple(37),
            tasks: self.issued.tasks,
        })
    }

    fn program(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        register: usize,
    ) -> Result<Program, Refused<JobFault>> {
        let address = self.pair(register);
        self.check_alignment(fabric, address, 32)?;
        match shader_program(fabric, memory, self.access(address))? {
            Ok(program) => Ok(program),
            Err(invalid) => Err(self.invalid(fabric, address, invalid)),
        }
    }

    /// The uniforms: at most 255 slots of 64 bits.
    fn uniforms(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        register: usize,
    ) -> Result<Vec<u32>, Refused<JobFault>> {
        let pointer = self.pair(register);
        let (address, count) = (pointer & 0x00ff_ffff_ffff_ffff, (pointer >> 56) as usize);
        let mut bytes = alloc::vec![0; 8 * count];
        fabric.read(memory, self.access(address), &mut bytes)?;
        Ok(bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect())
    }
}

impl Launch {
    /// Threads of a workgroup.
    pub(super) fn threads(&self) -> u32 {
        self.grid.size.iter().product()
    }

    /// Warps of a workgroup.
    pub(super) fn warps(&self) -> u32 {
        self.threads().div_ceil(WARP as u32)
    }
}
