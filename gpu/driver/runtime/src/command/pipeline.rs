//! A pipeline: a compiled shader with its code where the GPU can run it, and what every dispatch of it needs alike.
//!
//! Behind code and data stand the shader's descriptor and, where it needs no memory of threads and workgroups, that of its local
//! storage: a dispatch does not write them again.  Facts: hardware/descriptors.md 11 and 13.

use super::emitter::PipelineState;
use super::error::{CommandError, Limit};
use super::repeat::Last;
use crate::device::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{Pipeline, Space};
use crate::platform::Platform;
use crate::resource::{local_storage, shader_program, workgroup_size};
use crate::slab::Key;
use crate::vm::{GpuAddress, Protection};
use eitri_program::{Access, BindingKind, DATA_ALIGNMENT, FauWord, Program, WorkgroupSize};

/// Bytes after the code that the instruction fetcher may read: they are mapped and zero.
const PREFETCH: u64 = 128;
/// What descriptors are aligned to: a line, which is enough for each kind.
const LINE: u64 = 64;

const WHAT: Thing = Thing::Pipeline;

/// A program, with what is known of it once and for all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pipelined<'d> {
    program: Program<'d>,
    /// With addresses from the code on.
    shape: Shape,
}

impl Pipelined<'_> {
    /// Workgroups of the dispatch that it keeps.
    #[cfg(test)]
    pub(super) const fn kept_workgroups(&self) -> [u32; 3] {
        self.shape.last.workgroups()
    }

    /// What each dispatch needs to know of it, if its code is there, put into its place: a copy of all of it at once would be a call.
    #[inline(always)]
    pub(super) const fn put_shape(&self, code: GpuAddress, place: &mut Option<Shape>) {
        let own = &self.shape;
        let (data, shader) = (code.offset(own.data.0), code.offset(own.shader.0));
        let Some(it) = place else {
            *place = Some(own.at(code));
            return;
        };
        (it.size, it.workgroup, it.threads, it.pairs) =
            (own.size, own.workgroup, own.threads, own.pairs);
        (it.counts, it.buffer_words, it.samples) = (own.counts, own.buffer_words, own.samples);
        (it.writes_texels, it.table, it.highest) = (own.writes_texels, own.table, own.highest);
        (it.data, it.shader, it.needs_no_storage) = (data, shader, own.needs_no_storage);
        it.last = own.last;
    }
}

/// What each dispatch needs to know of its pipeline: small, so that it is copied and not the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) size: WorkgroupSize,
    /// The value of the workgroup size register.
    pub(super) workgroup: u32,
    /// Threads that a core holds of it.
    pub(super) threads: u32,
    /// Pairs of words of its uniforms.
    pub(super) pairs: u32,
    /// Whether they hold the number of workgroups.
    pub(super) counts: bool,
    /// They hold words of buffers.
    pub(super) buffer_words: bool,
    /// It samples images, or fetches texels of them.
    pub(super) samples: bool,
    /// It may write texels of images.
    pub(super) writes_texels: bool,
    /// The only resource table that it uses, if there is only one.
    pub(super) table: Option<u8>,
    /// The highest one.
    pub(super) highest: Option<u8>,
    /// Where the program's data is.
    pub(super) data: GpuAddress,
    /// The shader's descriptor.
    pub(super) shader: GpuAddress,
    /// The program needs no local storage, of which a descriptor that says so stands behind the shader's.
    needs_no_storage: bool,
    /// A dispatch of it that can be repeated, whatever commands it was recorded for.
    pub(super) last: Last,
}

impl Shape {
    /// The same of code at an address: what it says of addresses was counted from the code on.
    const fn at(self, code: GpuAddress) -> Shape {
        Shape {
            data: code.offset(self.data.0),
            shader: code.offset(self.shader.0),
            ..self
        }
    }

    /// The registers of its dispatches, with a descriptor of local storage.
    pub(super) const fn state(&self, storage: GpuAddress) -> PipelineState {
        PipelineState {
            shader: self.shader,
            storage,
            workgroup: self.workgroup,
        }
    }

    /// The descriptor of local storage, if the program needs none.
    pub(super) const fn storage(&self) -> Option<GpuAddress> {
        if self.needs_no_storage {
            Some(self.no_storage())
        } else {
            None
        }
    }

    /// The descriptor of local storage that says that there is none.
    pub(super) const fn no_storage(&self) -> GpuAddress {
        self.shader.offset(LINE)
    }
}

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// Makes a pipeline: copies the program's code and data into executable memory, which nothing can write afterwards.
    ///
    /// # Errors
    /// If the program is for another architecture or exceeds a limit of this GPU, or there is no memory or no place in the
    /// storage.
    #[inline(never)]
    pub fn create_pipeline(
        &mut self,
        space: Space,
        program: &Program<'d>,
    ) -> Result<Pipeline, Error> {
        let gpu = self.hw.properties.arch;
        let wanted = program.arch();
        if wanted != gpu {
            let program = wanted;
            return Err(CommandError::Arch { program, gpu }.into());
        }
        let threads = program.workgroup().invocations();
        let most = self.hw.properties.max_workgroup;
        if threads > most {
            let limit = CommandError::Limit {
                what: Limit::WorkgroupThreads,
                wanted: threads.into(),
                most: most.into(),
            };
            return Err(limit.into());
        }
        let workgroup = workgroup_size(gpu, program)?;
        let registers = program.registers().registers();
        let highest = program.highest_table();
        let mut tables = program.bindings().map(|binding| binding.slot.table);
        let (mut words, mut counts, mut buffer_words) = (0_u32, false, false);
        for word in program.fau() {
            // At most MAX_FAU_WORDS: `Program::parse` has checked it.
            words = words.wrapping_add(1);
            counts |= matches!(word, FauWord::NumWorkgroups(_));
            buffer_words |= matches!(word, FauWord::BufferWord { .. });
        }
        let mut bindings = program.bindings();
        let samples = bindings.any(|binding| binding.kind.is_texture());
        let mut bindings = program.bindings();
        let writes_texels = bindings.any(|binding| {
            matches!(binding.kind, BindingKind::StorageImage(_)) && binding.access != Access::Read
        });
        let places = Places::of(program);
        let shape = Shape {
            size: program.workgroup(),
            workgroup,
            threads: self.hw.properties.threads_at_once(registers),
            pairs: words.div_ceil(2),
            counts,
            buffer_words,
            samples,
            writes_texels,
            table: highest.filter(|highest| tables.all(|table| table == *highest)),
            highest,
            data: GpuAddress(places.data),
            shader: GpuAddress(places.shader),
            needs_no_storage: program.scratch_bytes() == 0 && program.shared_bytes() == 0,
            last: Last::NONE,
        };
        let program = *program;
        let bytes = places.storage.saturating_add(LINE);
        let kind = Kind::Pipeline(Pipelined { program, shape });
        let key = self.create_object(space, "code", bytes, Protection::Code, kind)?;
        let mapping = &self.object(key, WHAT)?.mapping;
        let (memory, address, bytes) = (mapping.memory(), mapping.address(), mapping.bytes());
        let it = &mut self.hw.platform;
        it.write_bytes(memory, program.code_bytes());
        it.write_bytes(memory.offset(places.data), program.data_bytes());
        let shader = shader_program(gpu, address.0, &program)?;
        let storage = local_storage(gpu, None, None)?;
        for (place, words) in [(places.shader, shader), (places.storage, storage)] {
            for (word, offset) in words.into_iter().zip((place..).step_by(4)) {
                it.store32(memory.offset(offset), word);
            }
        }
        it.clean(memory.span(bytes));
        Ok(Pipeline(key))
    }

    /// Destroys a pipeline.
    ///
    /// # Errors
    /// If a job in flight uses it: then it stays. Or if it can't be unmapped, which costs the device.
    pub fn destroy_pipeline(&mut self, pipeline: Pipeline) -> Result<(), Error> {
        self.destroy_object(pipeline.0, WHAT)
    }

    /// Lets a pipeline keep a dispatch that can be repeated.
    pub(super) fn keep_last(&mut self, pipeline: Pipeline, last: Last) {
        if let Some(object) = self.objects.get_mut(pipeline.0)
            && let Kind::Pipeline(it) = &mut object.kind
        {
            it.shape.last = last;
        }
    }

    /// The program of a pipeline.
    pub(crate) fn pipeline_program(&self, pipeline: Pipeline) -> Result<Program<'d>, Error> {
        Ok(*self.program_of(pipeline.0)?)
    }

    /// The same, where it is.
    pub(super) fn program_of(&self, pipeline: Key) -> Result<&Program<'d>, Error> {
        match &self.object(pipeline, WHAT)?.kind {
            Kind::Pipeline(it) => Ok(&it.program),
            _ => Err(Error::Gone { what: WHAT }),
        }
    }
}

/// Where the parts of a pipeline are, from its code on.
struct Places {
    /// Data, at a multiple of [`DATA_ALIGNMENT`]. The GPU reads it through the same protection that keeps everybody from
    /// writing code.
    data: u64,
    shader: u64,
    storage: u64,
}

impl Places {
    fn of(program: &Program<'_>) -> Places {
        let data = (program.code_bytes().len() as u64)
            .saturating_add(PREFETCH)
            .next_multiple_of(DATA_ALIGNMENT);
        let shader = data
            .saturating_add(program.data_bytes().len() as u64)
            .next_multiple_of(LINE);
        Places {
            data,
            shader,
            storage: shader.saturating_add(LINE),
        }
    }
}
