//! A user of a device: one of several that share it, each with a queue of its own, as several CPUs do. Whoever has the device
//! lets it do what can be done at once; nothing here waits.

use crate::programs::NoProgram;
use crate::result::{Trouble, Verdict, failed};
use crate::tools;
use alloc::vec;
use alloc::vec::Vec;
use eitri_csf::Arch;
use eitri_program::Program;
use eitri_runtime::{
    Buffer, CommandBuffer, Device, Fence, Instant, Platform, Queue, QueueConfig, Status,
};

/// Threads of a job, and words of its buffer.
const WORDS: u32 = 16;

/// The test in which two CPUs each are one, of images: an ordinary process has no second CPU to give.
pub const SECOND_CPU: &str = "cpus.second-queue";

/// A user, with a job that it submits over and over.
pub struct User {
    queue: Queue,
    buffer: Buffer,
    commands: CommandBuffer,
    fence: Option<Fence>,
    number: u32,
    rounds: u32,
}

impl User {
    /// The program of its job: doubles each word, and adds the first push constant.
    ///
    /// # Errors
    /// When the architecture has no such instructions.
    pub fn program(arch: Arch) -> Result<Vec<u8>, NoProgram> {
        tools::build(tools::DOUBLE_ADD, arch)
    }

    /// A user with a space and a queue of its own; its job adds `number`.
    ///
    /// # Errors
    /// What the driver refuses.
    pub fn new<'d, P: Platform>(
        device: &mut Device<'_, 'd, P>,
        program: &'d [u8],
        number: u32,
    ) -> Result<User, Trouble> {
        let space = device.create_space()?;
        let queue = device.create_queue(QueueConfig {
            space: Some(space),
            ..QueueConfig::default()
        })?;
        let pipeline = device.create_pipeline(space, &Program::parse(program)?)?;
        let buffer = device.create_buffer(space, u64::from(4 * WORDS))?;
        let set = device.create_descriptor_set(pipeline, 0)?;
        device.bind_buffer(set, 0, buffer)?;
        let commands = device.create_command_buffer(space)?;
        let mut push = [0; 4 * crate::programs::PUSHED];
        push[..4].copy_from_slice(&number.to_le_bytes());
        device.record(commands, |recorder| {
            recorder.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
            recorder.push_constants(&push)?.dispatch([1, 1, 1])?;
            Ok(())
        })?;
        Ok(User {
            queue,
            buffer,
            commands,
            fence: None,
            number,
            rounds: 0,
        })
    }

    /// Goes on as far as it can now: submits its job, or sees that it has ended. How many rounds are done.
    ///
    /// # Errors
    /// When its job fails.
    pub fn turn<P: Platform>(
        &mut self,
        device: &mut Device<'_, '_, P>,
        now: Instant,
    ) -> Result<u32, Trouble> {
        device.poll(now);
        match self.fence {
            None => self.fence = Some(device.submit(self.queue, self.commands)?),
            Some(fence) => match device.status(fence) {
                Status::Pending => {}
                Status::Done => {
                    self.fence = None;
                    self.rounds += 1;
                }
                Status::Failed(fault) => return Err(failed!("{fault}")),
                Status::Unknown => return Err(failed!("nothing is known of the job")),
            },
        }
        Ok(self.rounds)
    }

    /// Whether its buffer holds what so many rounds make of zeros.
    ///
    /// # Errors
    /// When it does not.
    pub fn check<P: Platform>(&self, device: &mut Device<'_, '_, P>) -> Verdict {
        let mut bytes = vec![0; 4 * WORDS as usize];
        device.read_buffer(self.buffer, 0, &mut bytes)?;
        let step = |word: u32, _| word.wrapping_mul(2).wrapping_add(self.number);
        let wanted = (0..self.rounds).fold(0, step);
        let (words, _) = bytes.as_chunks::<4>();
        let wrong = words
            .iter()
            .position(|word| u32::from_le_bytes(*word) != wanted);
        match wrong {
            None => Ok(()),
            Some(word) => Err(failed!(
                "user {}, after {} rounds: word {word} is {:02x?}, not {wanted:#x}",
                self.number,
                self.rounds,
                words[word]
            )),
        }
    }
}
