//! Recording: what a driver does with a machine from its start on, so that a debugger replays it without the driver.

use crate::memory::Memory;
use eitri_model::{Gpu, HostStep, Progress, Shading};
use std::collections::BTreeMap;

/// Turns of the device between two looks at the host's clock.
const MOST_TURNS: u32 = 100_000;
/// Most bytes of a program that are kept.
const MOST_BYTES: u64 = 1 << 17;

/// The life of a driver.
pub struct Recording {
    /// The device before the first step.
    pub gpu: Gpu,
    /// Where its memory starts, and how many bytes of it were used. They are zero before the first step.
    pub memory: (u64, u64),
    /// What the driver did.
    pub steps: Vec<HostStep>,
    /// The programs whose warps have run, by their addresses.
    pub programs: Vec<StartedProgram>,
}

/// A program whose warps have run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedProgram {
    /// The address space that it runs in.
    pub space: u8,
    /// GPU address of its first instruction.
    pub entry: u64,
    /// Memory from there on when its first warp began: the program, and what is mapped behind it.
    pub bytes: Vec<u8>,
}

/// A recording that goes on.
pub(crate) struct Recorder {
    gpu: Gpu,
    steps: Vec<HostStep>,
    /// By address space and address.
    programs: BTreeMap<(u8, u64), Vec<u8>>,
}

impl Recorder {
    pub(crate) fn new(gpu: &Gpu) -> Recorder {
        Recorder {
            gpu: gpu.clone(),
            steps: Vec::new(),
            programs: BTreeMap::new(),
        }
    }

    pub(crate) fn note(&mut self, step: HostStep) {
        // Neighbours are one store: drivers write word by word.
        if let HostStep::Store { address, bytes } = &step
            && let Some(HostStep::Store {
                address: start,
                bytes: before,
            }) = self.steps.last_mut()
            && start.checked_add(before.len() as u64) == Some(*address)
        {
            before.extend_from_slice(bytes);
            return;
        }
        self.steps.push(step);
    }

    /// Lets the device run turn by turn for `time` nanoseconds, until a line rises or nothing is left to do.
    pub(crate) fn run(&mut self, gpu: &mut Gpu, memory: &mut Memory, time: u64) {
        let end = gpu.now().saturating_add(time);
        let mut count = 0;
        while count < MOST_TURNS {
            count += 1;
            let progress = gpu.run_turn(memory, end);
            self.note_program(gpu, memory);
            if progress != Progress::Busy || gpu.now() >= end {
                break;
            }
        }
        self.steps.push(HostStep::Turns { end, count });
    }

    /// Keeps the program of the warps whose turn is next, if it is new.
    fn note_program(&mut self, gpu: &Gpu, memory: &mut Memory) {
        let turn = gpu.next_turn();
        let (space, entry) = match turn.and_then(|turn| turn.shading) {
            Some(Shading::Workgroup(view)) => (view.space, view.entry),
            Some(Shading::Draw(view)) => (view.space, view.entry),
            None => return,
        };
        self.programs
            .entry((space, entry))
            .or_insert_with(|| gpu.peek(memory, space, entry, MOST_BYTES));
    }

    pub(crate) fn end(self, memory: (u64, u64)) -> Recording {
        let programs = self.programs.into_iter();
        Recording {
            gpu: self.gpu,
            memory,
            steps: self.steps,
            programs: programs
                .map(|((space, entry), bytes)| StartedProgram {
                    space,
                    entry,
                    bytes,
                })
                .collect(),
        }
    }
}
