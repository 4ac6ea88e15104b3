//! The builder: instructions into chunks of memory, with labels, structured control flow, and checks.
//!
//! Needs: memory for chunks from its caller.  Guarantees: what [`Builder::finish`] gives back is a complete stream; a
//! register that the caller may not write is not written; a branch stays inside its chunk.  Never: allocates.
//! The first error is kept and nothing is written after it; [`Builder::finish`] reports it, so that code which builds
//! reads like the stream it builds.  Facts: hardware/command-stream.md 1.4, 6.1 to 6.3.
//!
//! ```
//! use eitri_cs::builder::{Builder, Chunk, Config, OneChunk};
//! use eitri_cs::enums::Condition;
//! use eitri_cs::{Arch, r};
//!
//! let mut memory = [0; 16];
//! let chunk = Chunk { address: 0x41_0004_0000, words: &mut memory };
//! let mut b = Builder::new(Config::new(Arch::V10), chunk, OneChunk);
//! b.move32(r!(66), 5);
//! b.while_do(Condition::Greater, r!(66), |b, _| {
//!     b.add32(r!(66), r!(66), -1);
//! });
//! let stream = b.finish()?;
//! assert_eq!((stream.address, stream.length), (0x41_0004_0000, 4 * 8));
//! # Ok::<(), eitri_cs::builder::BuildError>(())
//! ```

mod branch64;
mod checked;
mod checks;
mod chunk;
mod config;
mod control;
mod error;
mod instructions;
mod label;

pub use checked::{AddNumber, AnyLoad, Checked, FirstLoads, Link, Load32, Load64, Run, WithNumber};
pub use chunk::{Chunk, ChunkSource, OneChunk, Stream};
pub use config::Config;
pub use control::{Loop, Match};
pub use error::{BuildError, BuildFault};
pub use instructions::{Defer, Flush};
pub use label::Label;

use crate::instr::Instr;
use crate::register::RegSet;
use checks::InFlight;
use chunk::Output;
use label::Blocks;

/// Builds a stream.
#[derive(Debug)]
pub struct Builder<'m, S: ChunkSource<'m> = OneChunk> {
    config: Config,
    output: Output<'m, S>,
    blocks: Blocks,
    in_flight: InFlight,
    emitted: usize,
    error: Option<BuildError>,
}

impl<'m, S: ChunkSource<'m>> Builder<'m, S> {
    /// A builder that begins in `root` and asks `source` for more chunks when that is full.
    pub fn new(config: Config, root: Chunk<'m>, source: S) -> Builder<'m, S> {
        let output = Output::new(root, source);
        let mut builder = Builder {
            config,
            blocks: Blocks::default(),
            in_flight: InFlight::default(),
            emitted: 0,
            error: None,
            output,
        };
        if let Err(fault) = builder.output.check_root() {
            builder.fail("root", fault);
        }
        builder
    }

    /// What it builds for.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Appends an instruction.
    pub fn push(&mut self, instr: impl Into<Instr>) -> &mut Self {
        let instr = instr.into();
        if self.error.is_none()
            && let Err(fault) = self.try_push(instr)
        {
            self.fail(instr.info().name, fault);
        }
        self
    }

    fn try_push(&mut self, instr: Instr) -> Result<(), BuildFault> {
        let word = instr.encode(self.config.arch)?;
        let info = instr.info();
        self.config.check(info, word)?;
        let usage = info.usage(word, self.config.arch);
        if let Some(slot) = self.config.load_store_slot {
            if self.in_flight.must_wait(&usage) {
                self.wait_for_memory(slot)?;
            }
            self.in_flight.note(&instr, &usage, slot)?;
        }
        self.append(word)
    }

    fn append(&mut self, word: u64) -> Result<(), BuildFault> {
        self.output
            .append(word, self.blocks.start_mut(), &self.config)?;
        self.emitted += 1;
        Ok(())
    }

    /// Runs `build` with other registers writable.
    pub fn with_writable(&mut self, writable: RegSet, build: impl FnOnce(&mut Self)) -> &mut Self {
        let before = core::mem::replace(&mut self.config.writable, writable);
        build(self);
        self.config.writable = before;
        self
    }

    /// How many instructions it has appended, links between chunks aside.
    pub fn emitted(&self) -> usize {
        self.emitted
    }

    /// Whether something has failed; what is appended from then on is forgotten.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// The first thing that went wrong.
    pub fn finish(mut self) -> Result<Stream, BuildError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.output.finish()),
        }
    }

    fn fail(&mut self, what: &'static str, fault: BuildFault) {
        let index = self.emitted;
        self.error.get_or_insert(BuildError { index, what, fault });
    }
}
