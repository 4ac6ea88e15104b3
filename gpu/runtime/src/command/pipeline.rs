//! A pipeline: a compiled shader with its code where the GPU can run it.

use super::error::{CommandError, Limit};
use crate::device::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{Pipeline, Space};
use crate::platform::Platform;
use crate::vm::{GpuAddress, Protection};
use eitri_program::{DATA_ALIGNMENT, Program};

/// Bytes after the code that the instruction fetcher may read: they are mapped and zero.
const PREFETCH: u64 = 128;

const WHAT: Thing = Thing::Pipeline;

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// Makes a pipeline: copies the program's code and data into executable memory, which nothing can write afterwards.
    ///
    /// # Errors
    /// If the program is for another architecture or exceeds a limit of this GPU, or there is no memory or no place in the
    /// storage.
    pub fn create_pipeline(
        &mut self,
        space: Space,
        program: &Program<'d>,
    ) -> Result<Pipeline, Error> {
        let gpu = self.properties.arch;
        let wanted = program.arch();
        if wanted != gpu {
            let program = wanted;
            return Err(CommandError::Arch { program, gpu }.into());
        }
        let threads = program.workgroup().invocations();
        let most = self.properties.max_workgroup;
        if threads > most {
            let limit = CommandError::Limit {
                what: Limit::WorkgroupThreads,
                wanted: threads.into(),
                most: most.into(),
            };
            return Err(limit.into());
        }
        let (code, data) = (program.code_bytes(), program.data_bytes());
        let data_offset = data_offset(program);
        let bytes = data_offset.saturating_add(data.len() as u64);
        let kind = Kind::Pipeline(*program);
        let key = self.create_object(space, "code", bytes, Protection::Code, kind)?;
        let mapping = &self.object(key, WHAT)?.mapping;
        let (memory, bytes) = (mapping.memory(), mapping.bytes());
        self.platform.write_bytes(memory, code);
        self.platform.write_bytes(memory.offset(data_offset), data);
        self.platform.clean(memory.span(bytes));
        Ok(Pipeline(key))
    }

    /// Destroys a pipeline.
    ///
    /// # Errors
    /// If a job in flight uses it: then it stays. Or if it can't be unmapped, which costs the device.
    pub fn destroy_pipeline(&mut self, pipeline: Pipeline) -> Result<(), Error> {
        self.destroy_object(pipeline.0, WHAT)
    }

    /// The program of a pipeline, and where its code is.
    pub(crate) fn pipeline(&self, pipeline: Pipeline) -> Result<(Program<'d>, GpuAddress), Error> {
        let object = self.object(pipeline.0, WHAT)?;
        match object.kind {
            Kind::Pipeline(program) => Ok((program, object.mapping.address())),
            _ => Err(Error::Gone { what: WHAT }),
        }
    }
}

/// Bytes from a program's code to its data, a multiple of [`DATA_ALIGNMENT`]. The GPU reads data through the same protection
/// that keeps everybody from writing code.
pub(super) fn data_offset(program: &Program<'_>) -> u64 {
    (program.code_bytes().len() as u64)
        .saturating_add(PREFETCH)
        .next_multiple_of(DATA_ALIGNMENT)
}
