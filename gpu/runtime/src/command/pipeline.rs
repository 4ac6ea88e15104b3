//! A pipeline: a compiled shader with its code where the GPU can run it.

use super::error::{CommandError, Limit};
use crate::device::{Device, Request};
use crate::platform::Platform;
use crate::vm::{GpuAddress, Object, Protection};
use eitri_program::Program;

/// Bytes after the code that the instruction fetcher may read: they are mapped and zero.
const PREFETCH: u64 = 128;

/// A compute pipeline. It must be given back with [`Device::destroy_pipeline`].
#[derive(Debug)]
#[must_use = "a pipeline that is dropped keeps its memory"]
pub struct Pipeline<'p> {
    program: Program<'p>,
    code: Object,
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
}

impl<P: Platform> Device<'_, P> {
    /// Makes a pipeline: copies the program's code into executable memory, which nothing can write afterwards.
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
        let code = program.code_bytes();
        let bytes = (code.len() as u64).saturating_add(PREFETCH);
        let object = self.create_object(Request::for_jobs("code", bytes, Protection::Code))?;
        self.platform.write_bytes(object.memory(), code);
        self.platform.clean(object.memory().span(object.bytes()));
        Ok(Pipeline {
            program: *program,
            code: object,
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
