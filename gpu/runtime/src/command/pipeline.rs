//! A pipeline: a compiled shader with its code where the GPU can run it.

use super::error::{CommandError, Limit};
use crate::device::{Device, Request};
use crate::platform::Platform;
use crate::vm::{GpuAddress, Object, Protection};
use eitri_program::{DATA_ALIGNMENT, Program};

/// Bytes after the code that the instruction fetcher may read: they are mapped and zero.
const PREFETCH: u64 = 128;

/// A compute pipeline. It must be given back with [`Device::destroy_pipeline`].
#[derive(Debug)]
#[must_use = "a pipeline that is dropped keeps its memory"]
pub struct Pipeline<'p> {
    program: Program<'p>,
    code: Object,
    /// Bytes from the code to the program's data.
    data: u64,
}

impl<'p> Pipeline<'p> {
    /// The program that it runs.
    pub fn program(&self) -> &Program<'p> {
        &self.program
    }

    /// Where its code is; 128-byte aligned.
    pub const fn code(&self) -> GpuAddress {
        self.code.address()
    }

    /// Where its data is; aligned to [`DATA_ALIGNMENT`].
    pub(super) const fn data(&self) -> GpuAddress {
        self.code.address().offset(self.data)
    }
}

impl<P: Platform> Device<'_, P> {
    /// Makes a pipeline: copies the program's code and data into executable memory, which nothing can write afterwards.
    ///
    /// # Errors
    /// If the program is for another architecture or exceeds a limit of this GPU, or there is no memory.
    pub fn create_pipeline<'p>(
        &mut self,
        program: &Program<'p>,
    ) -> Result<Pipeline<'p>, CommandError> {
        let gpu = self.properties.arch;
        let wanted = program.arch();
        if wanted != gpu {
            return Err(CommandError::Arch {
                program: wanted,
                gpu,
            });
        }
        let threads = program.workgroup().invocations();
        let most = self.properties.max_workgroup;
        if threads > most {
            let what = Limit::WorkgroupThreads;
            return Err(CommandError::Limit {
                what,
                wanted: threads.into(),
                most: most.into(),
            });
        }
        let (code, data) = (program.code_bytes(), program.data_bytes());
        // The GPU reads data through the same protection that keeps everybody from writing code.
        let data_offset = (code.len() as u64)
            .saturating_add(PREFETCH)
            .next_multiple_of(DATA_ALIGNMENT);
        let bytes = data_offset.saturating_add(data.len() as u64);
        let object = self.create_object(Request::for_jobs("code", bytes, Protection::Code))?;
        self.platform.write_bytes(object.memory(), code);
        self.platform
            .write_bytes(object.memory().offset(data_offset), data);
        self.platform.clean(object.memory().span(object.bytes()));
        Ok(Pipeline {
            program: *program,
            code: object,
            data: data_offset,
        })
    }

    /// Gives a pipeline back. No job may use it any more.
    ///
    /// # Errors
    /// If it can't be unmapped: then it stays.
    pub fn destroy_pipeline(&mut self, pipeline: Pipeline<'_>) -> Result<(), CommandError> {
        Ok(self.destroy_object(pipeline.code)?)
    }
}
