//! Execution of commands by commands: a call of what was recorded to be called.
//!
//! Facts: hardware/command-stream.md sections 3.3 and 7.1.

use super::error::CommandError;
use super::recorder::{Level, Recorder, Running};
use super::words::{self, LoadedRegisters};
use crate::error::{Error, Thing};
use crate::graphics::only_draws;
use crate::handle::CommandBuffer;
use crate::platform::Platform;
use eitri_cs::instr::Call;

/// Frames below a job: the stream has eight, the ring and the job itself have two of them (hardware/command-stream.md 3.3).
const MOST_CALLS: u8 = 6;

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Notes that these commands call others, which call others in turn, `depth` deep.
    pub(crate) fn note_call(&mut self, called: CommandBuffer, depth: u8) -> Result<(), Error> {
        let below = depth.saturating_add(1);
        let own = match self.level {
            Level::Primary => 0,
            Level::Secondary(depth) | Level::Draws(depth) => depth,
        };
        if below.max(own) > MOST_CALLS || called.0 == self.commands {
            let most = MOST_CALLS;
            return Err(CommandError::TooDeep { most }.into());
        }
        if let Level::Secondary(depth) | Level::Draws(depth) = &mut self.level {
            *depth = below.max(own);
        }
        self.device.mention_all(self.commands, called.0)?;
        self.device.set_called(called.0);
        Ok(())
    }

    /// Runs commands that were recorded by [`crate::Device::record_secondary`]. What is bound here is not bound there.
    ///
    /// # Errors
    /// If they are not such commands or were not recorded, are in another space, call too deep, or there is no place for what
    /// they refer to.
    pub fn execute(&mut self, secondary: CommandBuffer) -> Result<&mut Self, Error> {
        let what = Thing::CommandBuffer;
        self.refer(secondary.0, what)?;
        let recorded = self.device.recorded(secondary)?;
        let depth = match recorded.level {
            Level::Secondary(depth) => depth,
            Level::Primary => return Err(CommandError::NotSecondary.into()),
            Level::Draws(_) => return Err(only_draws()),
        };
        self.note_call(secondary, depth)?;
        self.load_wide(|words| words.address, recorded.start.0)?;
        let length = self.words()?.count.with(recorded.bytes);
        self.put(length)?;
        self.push(Call {
            address: words::ADDRESS,
            length: words::COUNT,
        })?;
        // Whatever it has left behind.
        self.known = LoadedRegisters::NOTHING;
        self.made.forget_state();
        self.running = Running {
            jobs: true,
            storage: self.running.storage,
            copies: true,
            memory: true,
            signals: true,
        };
        self.unflushed |= !recorded.uses.clean;
        self.partial |= recorded.uses.partial;
        self.writes_texels |= recorded.uses.writes_texels;
        // It invalidates by itself before it samples.
        self.stale_texels |= recorded.uses.writes_texels;
        self.exclusive |= recorded.exclusive;
        let sum = self.invocations.zip(recorded.invocations);
        self.invocations = sum.map(|(own, its)| own.saturating_add(its));
        Ok(self)
    }
}
