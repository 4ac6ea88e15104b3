//! Dispatches: what a job needs, written where it has changed.
//!
//! Shader, local storage and resource table of most dispatches stand in memory already (see [`super::pipeline`] and
//! [`crate::resource`]). What is left are uniforms, and registers whose values differ from the last dispatch's.
//! Facts: hardware/command-stream.md sections 4.1, 6.10, 6.12, compiler-abi.md sections 1 to 4.

use super::error::{CommandError, Limit};
use super::pipeline::Shape;
use super::recorder::Recorder;
use super::registers;
use super::repeat::{Changed, Last};
use super::task::{TaskShape, task_of_unknown_grid, task_shape};
use super::words::{self, Grid, Wide};
use crate::error::Error;
use crate::handle::Buffer;
use crate::platform::Platform;
use crate::queue::Reach;
use eitri_cs::RegMask;
use eitri_cs::builder::Checked;
use eitri_cs::instr::StoreMultiple;
use eitri_program::{FauWord, Program, WorkgroupSize};

/// Most instructions of a dispatch: state, grid, the job.
pub(super) const MOST_WORDS: u32 = 2 * 4 + 2 + 2 * 3 + 1;

/// A job of a dispatch.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// The first workgroup along each axis.
    base: [u32; 3],
    /// Workgroups along each axis; without them the registers have them.
    counts: Option<[u32; 3]>,
    /// Workgroups, or more.
    total: u64,
    task: TaskShape,
}

impl<'d, P: Platform> Recorder<'_, '_, 'd, P> {
    /// Runs the bound pipeline on a grid of workgroups. Dispatches without a barrier between them may overlap. A grid with no
    /// workgroups is no work.
    ///
    /// # Errors
    /// If no pipeline is bound, a binding is missing, a limit is exceeded, or there is no memory for more commands.
    pub fn dispatch(&mut self, workgroups: [u32; 3]) -> Result<&mut Self, Error> {
        let repeats = self.made.state && self.has_grid(workgroups);
        if repeats && self.repeat(&Changed::Nothing) {
            Ok(self)
        } else {
            self.dispatch_changed(workgroups)
        }
    }

    /// The same, with numbers of workgroups that begin at `base`.
    ///
    /// # Errors
    /// As [`Recorder::dispatch`].
    // FACT: one driver writes the first workgroup times the workgroup's size into JOB_OFFSET, and a later one adds the base in the
    // shader (hardware/command-stream.md 6.10); the register's own row says "first workgroup" (4.1), which is what is written.
    // Settled by a dispatch with a base that stores its ids, on any board.
    #[inline(never)]
    pub fn dispatch_base(
        &mut self,
        base: [u32; 3],
        workgroups: [u32; 3],
    ) -> Result<&mut Self, Error> {
        let Shape {
            size,
            threads: at_once,
            pairs,
            buffer_words,
            ..
        } = *self.shape()?;
        let [x, y, z] = workgroups;
        if x == 0 || y == 0 || z == 0 {
            return Ok(self);
        }
        if let Some(wanted) = too_large(size, base, workgroups) {
            let (what, most) = (Limit::Workgroups, GLOBAL_IDS);
            return Err(CommandError::Limit { what, wanted, most }.into());
        }
        let total = total_of(workgroups);
        let invocations = size.invocations();
        let uniforms = if buffer_words {
            self.filled_uniforms(workgroups)?
        } else {
            self.uniforms(workgroups)?
        };
        let threads = total.saturating_mul(invocations.into());
        self.invocations = self.invocations.map(|sum| sum.saturating_add(threads));
        let task = task_shape(invocations, workgroups, at_once);
        let run = self.run(
            uniforms,
            &Job {
                base,
                counts: Some(workgroups),
                total,
                task,
            },
        )?;
        let pairs = if self.made.state && !buffer_words {
            pairs
        } else {
            0
        };
        let last = Last::new(workgroups, pairs, threads, run);
        self.made.last = (base == [0; 3]).then_some(last);
        self.made.other_pipeline = false;
        Ok(self)
    }

    /// Runs the bound pipeline on a grid whose three counts stand at `offset` in a buffer, a multiple of 4, when the job gets
    /// there: commands before may have written them. No limit of the grid is checked.
    ///
    /// # Errors
    /// As [`Recorder::dispatch`]; or if the counts are not inside the buffer.
    pub fn dispatch_indirect(&mut self, counts: Buffer, offset: u64) -> Result<&mut Self, Error> {
        let Shape {
            size,
            threads,
            counts: has_counts,
            buffer_words,
            ..
        } = *self.shape()?;
        let from = self.part_of(counts, offset, 12)?;
        // Words of uniforms that the stream fills in are waited for as the counts are.
        let uniforms = match (buffer_words, has_counts) {
            (true, _) => self.filled_uniforms([0; 3])?,
            (false, true) => self.written_uniforms([0; 3])?,
            (false, false) => self.uniforms([0; 3])?,
        };
        self.load_wide(|words| words.address, from.0)?;
        let load = self.words()?.load_counts;
        self.put(load)?;
        self.running.memory = true;
        self.wait_for_memory()?;
        self.known.forget_grid(Grid::Count);
        self.made.last = None;
        if has_counts {
            self.store_counts(uniforms)?;
        }
        self.invocations = None;
        let task = task_of_unknown_grid(size.invocations(), threads);
        self.run(
            uniforms,
            &Job {
                base: [0; 3],
                counts: None,
                total: u64::MAX,
                task,
            },
        )?;
        Ok(self)
    }

    /// Stores the counts that were just loaded where the uniforms have them.
    // FACT: through which cache uniforms are read, and whether it keeps memory that the L2 does not cache, is not published
    // (hardware/command-stream.md 1.10); a run before may have left old counts there, so the caches of the cores are flushed.
    // Settled by running one recording twice with other counts and without that flush, on any board.
    fn store_counts(&mut self, uniforms: u64) -> Result<(), Error> {
        let address = uniforms & ADDRESS_BITS;
        self.load_wide(|words| words.address, address)?;
        for (word, place) in self.program()?.fau().zip((0_i16..).step_by(4)) {
            let FauWord::NumWorkgroups(axis) = word else {
                continue;
            };
            let register = registers::COUNT.get(axis.index()).copied();
            self.push(StoreMultiple {
                base_register: register.unwrap_or_default(),
                mask: RegMask::first(1),
                address: words::ADDRESS,
                offset: place,
            })?;
        }
        self.running.memory = true;
        self.wait_for_memory()?;
        self.exclusive = true;
        self.flush(Reach::Cores)
    }

    /// What is known of the bound pipeline.
    pub(super) fn shape(&self) -> Result<&Shape, Error> {
        let pipeline = self.pipeline.as_ref();
        Ok(pipeline.ok_or(CommandError::NoPipeline)?)
    }

    /// Whether the bound pipeline samples.
    pub(super) fn samples(&self) -> bool {
        let pipeline = self.pipeline.as_ref();
        pipeline.is_some_and(|pipeline| pipeline.samples)
    }

    /// Notes what the next dispatch does with texels, and invalidates read-only caches first if it samples what may have changed.
    pub(super) fn note_texels(&mut self, samples: bool, writes_texels: bool) -> Result<(), Error> {
        self.samples |= samples;
        self.writes_texels |= writes_texels;
        if samples {
            self.refresh_texels()
        } else {
            Ok(())
        }
    }

    /// Its program.
    pub(super) fn program(&self) -> Result<&Program<'d>, Error> {
        let pipeline = self.pipeline_of.ok_or(CommandError::NoPipeline)?;
        self.device.program_of(pipeline.0)
    }

    /// Starts a job; gives its instruction.
    fn run(&mut self, uniforms: u64, job: &Job) -> Result<Checked, Error> {
        if !self.made.state {
            self.set_state(uniforms, job.total)?;
        }
        let TaskShape { axis, increment } = job.task;
        let run = self.words()?.run.with(axis, increment);
        self.emit(MOST_WORDS, |it| {
            it.wide(Wide::Uniforms, uniforms);
            it.grid(Grid::First, job.base);
            if let Some(counts) = job.counts {
                it.grid(Grid::Count, counts);
            }
            it.put(run);
        })?;
        self.running.jobs = true;
        self.unflushed = true;
        Ok(run)
    }
}

/// Workgroups of a grid.
fn total_of([x, y, z]: [u32; 3]) -> u64 {
    u64::from(x)
        .saturating_mul(y.into())
        .saturating_mul(z.into())
}

/// Global ids along an axis: a global id is 32 bits.
const GLOBAL_IDS: u64 = 1 << 32;

/// How many ids a grid wants along an axis, if that is more than there are.
#[inline(always)]
fn too_large(size: WorkgroupSize, base: [u32; 3], workgroups: [u32; 3]) -> Option<u64> {
    let ([x, y, z], [base_x, base_y, base_z]) = (workgroups, base);
    let wanted = |count: u32, base: u32, threads: u32| {
        let end = u64::from(base).wrapping_add(u64::from(count));
        // The sum has 33 bits.
        end.saturating_mul(u64::from(threads))
    };
    let along_x = wanted(x, base_x, size.x());
    let along_y = wanted(y, base_y, size.y());
    let most = along_x.max(along_y).max(wanted(z, base_z, size.z()));
    (most > GLOBAL_IDS).then_some(most)
}

/// Where the uniforms register holds the number of words, and what is below it (hardware/command-stream.md 4.1).
pub(super) const COUNT_SHIFT: u32 = 56;
pub(super) const ADDRESS_BITS: u64 = (1 << COUNT_SHIFT) - 1;
