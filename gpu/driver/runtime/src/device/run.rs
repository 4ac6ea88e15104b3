//! Running a program in one call: for those who validate hardware, and for whoever begins.

use super::{Device, QueueConfig};
use crate::error::Error;
use crate::handle::{Buffer, DescriptorSet, Queue};
use crate::platform::Platform;
use crate::queue::Status;
use core::time::Duration;
use eitri_program::Program;
use heapless::Vec;

/// Sets and buffers of a program that is run in one call, at most.
const MOST: usize = 16;

/// A buffer of a program that is run in one call: what it holds before, and after.
#[derive(Debug)]
pub struct Bound<'b> {
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// Its bytes; any number but 0.
    pub bytes: &'b mut [u8],
}

impl<'b> Bound<'b> {
    /// Bytes for a binding of set 0.
    pub const fn new(binding: u32, bytes: &'b mut [u8]) -> Bound<'b> {
        Bound {
            set: 0,
            binding,
            bytes,
        }
    }
}

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// Runs a program once on a grid of workgroups, with these push constants and buffers, and waits for it, for `limit` at
    /// most. Everything that it needs is made before and given back after, in an address space of its own.
    ///
    /// # Errors
    /// If something is refused, there are more than 16 sets or buffers, the job fails, or it does not end in time: then it is
    /// cancelled. The buffers are as they were then.
    pub fn run(
        &mut self,
        program: &Program<'d>,
        groups: [u32; 3],
        push: &[u8],
        buffers: &mut [Bound<'_>],
        limit: Duration,
    ) -> Result<(), Error> {
        let queue = self.create_queue(QueueConfig::default())?;
        let ran = self.run_on(queue, program, (groups, push), buffers, limit);
        let _ = self.cancel(queue);
        self.settle();
        let destroyed = self.destroy_queue(queue);
        ran.and(destroyed)
    }

    #[inline(never)]
    fn run_on(
        &mut self,
        queue: Queue,
        program: &Program<'d>,
        (groups, push): ([u32; 3], &[u8]),
        buffers: &mut [Bound<'_>],
        limit: Duration,
    ) -> Result<(), Error> {
        let space = self.space(queue)?;
        let pipeline = self.create_pipeline(space, program)?;
        let mut sets: Vec<(u32, DescriptorSet), MOST> = Vec::new();
        let mut made: Vec<Buffer, MOST> = Vec::new();
        const FULL: Error = Error::TooMany { most: MOST };
        for bound in buffers.iter() {
            let buffer = self.create_buffer(space, bound.bytes.len() as u64)?;
            self.write_buffer(buffer, 0, bound.bytes)?;
            made.push(buffer).map_err(|_| FULL)?;
            let known = sets.iter().find(|(number, _)| *number == bound.set);
            let set = match known {
                Some((_, set)) => *set,
                None => {
                    let set = self.create_descriptor_set(pipeline, bound.set)?;
                    sets.push((bound.set, set)).map_err(|_| FULL)?;
                    set
                }
            };
            self.bind_buffer(set, bound.binding, buffer)?;
        }
        let commands = self.create_command_buffer(space)?;
        self.record(commands, |recorder| {
            recorder.bind_pipeline(pipeline)?;
            for (_, set) in &sets {
                recorder.bind_descriptor_set(*set)?;
            }
            recorder.push_constants(push)?.dispatch(groups)?;
            Ok(())
        })?;
        let fence = self.submit(queue, commands)?;
        match self.wait(fence, limit) {
            Status::Done => {}
            Status::Failed(fault) => return Err(fault.into()),
            Status::Pending | Status::Unknown => return Err(Error::TimedOut { fence, limit }),
        }
        for (buffer, bound) in made.iter().zip(buffers) {
            self.read_buffer(*buffer, 0, bound.bytes)?;
        }
        Ok(())
    }
}
