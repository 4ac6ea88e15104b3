//! Commands of random shape, and what they make of a buffer: dispatches of every kind, transfers and secondaries, with barriers
//! between them.

use crate::bench::{OrFail, Work};
use crate::commands::{ADD, Up, buffer_of, push, recorded};
use alloc::vec::Vec;
use core::ops::Range;
use eitri_runtime::{Accesses, Buffer, CommandBuffer, Error, Recorder, Space};

/// Threads of a workgroup of [`ADD`], each of which has a word.
const GROUP: usize = 64;
const GROUPS: usize = 3;
/// Words of the buffer.
const WORDS: usize = GROUP * GROUPS;
/// Steps that commands have at most.
const MOST_STEPS: u64 = 7;

/// Numbers of a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// One below `sides`.
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % sides
    }

    pub(crate) fn below(&mut self, sides: usize) -> usize {
        self.roll(sides as u64) as usize
    }

    /// A range of words, one at least, inside `within`.
    fn words(&mut self, within: Range<usize>) -> Range<usize> {
        let start = within.start + self.below(within.len());
        start..start + 1 + self.below(within.end - start)
    }
}

/// What is done to the buffer.
#[derive(Clone, Debug)]
enum Step {
    /// Workgroups of this range add a number to their words.
    Add(Range<usize>, u32),
    /// So many do, which the GPU reads.
    AddIndirect(usize, u32),
    /// All do, by commands that these call, as often.
    Execute(usize),
    /// Words of this range get a value.
    Fill(Range<usize>, u32),
    /// Words from here on get these values.
    Update(usize, Vec<u32>),
    /// Words of this range go to the words from there on.
    Copy(Range<usize>, usize),
}

/// What the called commands add.
const CALLED: u32 = 0x0101;

impl Step {
    fn random(random: &mut Random) -> Step {
        let number = random.roll(1 << 32) as u32;
        match random.roll(8) {
            0 | 1 => Step::Add(random.words(0..GROUPS), number),
            2 => Step::Add(0..GROUPS, number),
            3 => Step::AddIndirect(1 + random.below(GROUPS), number),
            4 => Step::Execute(1 + random.below(3)),
            5 => Step::Fill(random.words(0..WORDS), number),
            6 => {
                let words = random.words(0..WORDS);
                let values = words.clone().map(|_| random.roll(1 << 32) as u32);
                Step::Update(words.start, values.collect())
            }
            // From one half to the other: they don't overlap.
            _ => {
                let from = random.words(0..WORDS / 2);
                let to = WORDS / 2 + random.below(WORDS / 2 - from.len() + 1);
                Step::Copy(from, to)
            }
        }
    }

    /// The same on the CPU.
    fn apply(&self, words: &mut [u32]) {
        let mut add = |groups: Range<usize>, number: u32| {
            for word in &mut words[groups.start * GROUP..groups.end * GROUP] {
                *word = word.wrapping_add(number);
            }
        };
        match self {
            Step::Add(groups, number) => add(groups.clone(), *number),
            Step::AddIndirect(groups, number) => add(0..*groups, *number),
            Step::Execute(times) => {
                for _ in 0..*times {
                    add(0..GROUPS, CALLED);
                }
            }
            Step::Fill(range, value) => words[range.clone()].fill(*value),
            Step::Update(start, values) => {
                words[*start..*start + values.len()].copy_from_slice(values);
            }
            Step::Copy(from, to) => words.copy_within(from.clone(), *to),
        }
    }
}

/// Commands of a random shape on a buffer of their own. They may be submitted again when they are over.
pub(crate) struct Shape {
    pub(crate) commands: CommandBuffer,
    /// What [`Step::Execute`] calls.
    called: CommandBuffer,
    work: Work,
    /// Counts of dispatches: those of n workgroups stand at n times 12.
    counts: Buffer,
    steps: Vec<Step>,
    /// What the buffer holds when the commands are over.
    expected: Vec<u32>,
}

impl Shape {
    /// In a space.
    pub(crate) fn new(device: &mut Up, space: Space, random: &mut Random) -> Shape {
        let work = Work::in_space(device, space, &ADD, WORDS as u32);
        let counts: Vec<u32> = (0..=GROUPS as u32).flat_map(|n| [n, 1, 1]).collect();
        let counts = buffer_of(device, space, &counts);
        let called = device
            .create_command_buffer(space)
            .or_fail("there is memory");
        let recorded = device.record_secondary(called, |it| {
            add(it, &work, 0..GROUPS, CALLED)?.barrier(Accesses::ALL, Accesses::ALL)?;
            Ok(())
        });
        recorded.or_fail("it can be recorded");
        let mut shape = Shape {
            commands: work.commands,
            called,
            work,
            counts,
            steps: Vec::new(),
            expected: (0..WORDS as u32).collect(),
        };
        shape.change(device, random);
        shape
    }

    /// Takes another shape. No job of the commands is open.
    pub(crate) fn change(&mut self, device: &mut Up, random: &mut Random) {
        let count = 1 + random.roll(MOST_STEPS);
        self.steps = (0..count).map(|_| Step::random(random)).collect();
        let (work, counts, called) = (self.work, self.counts, self.called);
        recorded(device, self.commands, |it| {
            for step in &self.steps {
                record(it, &work, (counts, called), step)?;
                it.barrier(Accesses::ALL, Accesses::ALL)?;
            }
            Ok(())
        });
    }

    /// A job of the commands ended well: whether it did what they say, once.
    #[track_caller]
    pub(crate) fn check(&mut self, device: &mut Up) {
        for step in &self.steps {
            step.apply(&mut self.expected);
        }
        let words = self.work.words(device, WORDS);
        let first = (0..WORDS).find(|at| words[*at] != self.expected[*at]);
        assert_eq!(
            first, None,
            "the first wrong word of {:?}: {words:x?}, expected {:x?}",
            self.steps, self.expected
        );
    }

    /// A job of the commands failed, and did a part: the buffer begins anew.
    pub(crate) fn reset(&mut self, device: &mut Up) {
        self.expected = (0..WORDS as u32).collect();
        let bytes: Vec<u8> = (0..WORDS as u32).flat_map(u32::to_le_bytes).collect();
        let written = device.write_buffer(self.work.buffer, 0, &bytes);
        written.or_fail("it is inside");
    }
}

type Recording<'r, 'a, 'b> = &'r mut Recorder<'a, 'b, 'static, crate::machine::Host>;

/// Records a dispatch of [`ADD`] over workgroups.
fn add<'r, 'a, 'b>(
    it: Recording<'r, 'a, 'b>,
    work: &Work,
    groups: Range<usize>,
    number: u32,
) -> Result<Recording<'r, 'a, 'b>, Error> {
    let (first, count) = (groups.start as u32, groups.len() as u32);
    it.bind_pipeline(work.pipeline)?
        .bind_descriptor_set(work.set)?;
    it.push_constants(&push(number, 0))?;
    match first {
        0 => it.dispatch([count, 1, 1]),
        _ => it.dispatch_base([first, 0, 0], [count, 1, 1]),
    }
}

/// Records a step.
fn record(
    it: Recording<'_, '_, '_>,
    work: &Work,
    (counts, called): (Buffer, CommandBuffer),
    step: &Step,
) -> Result<(), Error> {
    let bytes = |words: usize| words as u64 * 4;
    match step {
        Step::Add(groups, number) => add(it, work, groups.clone(), *number)?,
        Step::AddIndirect(groups, number) => {
            it.bind_pipeline(work.pipeline)?
                .bind_descriptor_set(work.set)?;
            it.push_constants(&push(*number, 0))?;
            it.dispatch_indirect(counts, 12 * *groups as u64)?
        }
        Step::Execute(times) => {
            for _ in 0..*times {
                it.execute(called)?;
            }
            it
        }
        Step::Fill(range, value) => {
            it.fill_buffer(work.buffer, bytes(range.start), bytes(range.len()), *value)?
        }
        Step::Update(start, values) => {
            let data: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
            it.update_buffer(work.buffer, bytes(*start), &data)?
        }
        Step::Copy(from, to) => it.copy_buffer(
            (work.buffer, bytes(from.start)),
            (work.buffer, bytes(*to)),
            bytes(from.len()),
        )?,
    };
    Ok(())
}
