//! Finds the draws of a pass that may have failed: those that had begun, and of them those with the code or the memory that failed.

use super::super::registers::DrawRegisters;
use super::super::uniforms::COUNT_SHIFT;
use super::memory::SpaceReader;
use super::walk::{Seen, Walk};
use crate::graphics::failed_pass::{DrawsKnownBy, FailedDraws, PassPart};
use crate::platform::Platform;
use crate::queue::Code;
use crate::resource::{DESCRIPTOR_BYTES, RESOURCE_BYTES};
use core::ops::Range;
use eitri_cs::Arch;

/// Bits of the number of tables in the address of the first, a multiple of 64 (hardware/descriptors.md 4).
const ENTRIES: u64 = 0x3F;
/// Bits of an address.
const ADDRESS: u64 = (1 << 48) - 1;
/// Bytes of a table's descriptors that are looked through, at most.
const MOST_BYTES: u64 = 4096;

/// What is known of the failure besides its pass.
#[derive(Clone, Debug)]
pub(super) enum Clue {
    /// Nothing.
    None,
    /// The descriptors of the programs with the code that failed.
    Program(u64),
    /// Memory whose access failed.
    Memory(Range<u64>),
    /// The instruction of the stream that failed.
    Instruction(u64),
}

/// Draws that may have failed, and the descriptor of the vertex program of all of them, if they have the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspects {
    pub(super) draws: FailedDraws,
    pub(super) vertex_program: Option<u64>,
}

/// Draws that were found so far.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    first: u32,
    last: u32,
    count: u32,
    program: u64,
    programs_differ: bool,
}

impl Tally {
    fn add(&mut self, number: u32, program: u64) {
        if self.count == 0 {
            (self.first, self.program) = (number, program);
        }
        self.programs_differ |= program != self.program;
        (self.last, self.count) = (number, self.count.saturating_add(1));
    }

    fn suspects(&self, by: DrawsKnownBy) -> Option<Suspects> {
        (self.count > 0).then_some(Suspects {
            draws: FailedDraws {
                first: self.first,
                last: self.last,
                count: self.count,
                by,
            },
            vertex_program: (!self.programs_differ).then_some(self.program),
        })
    }
}

/// Finds the draws of the pass with a number in the lane of vertices. `pointer` is the instruction at which the stream stands, if that
/// is known: draws behind it have not begun; `marks` how many of those that run in turn have ended.
pub(super) fn find_draws<P: Platform>(
    memory: &mut SpaceReader<'_, P>,
    (arch, lane): (Arch, Code),
    (pass, part): (u32, PassPart),
    (pointer, marks): (Option<u64>, u32),
    clue: &Clue,
) -> Option<Suspects> {
    let registers = DrawRegisters::of(arch);
    let mut walk = Walk::new(arch, lane);
    let (mut section, mut next, mut view) = (0, 0_u32, 0);
    let (mut all, mut matching) = (Tally::default(), Tally::default());
    let (mut behind, mut stood) = (false, false);
    // Draws in turn that were counted, up to here; and whether the next ones had not begun.
    let (mut marked, mut in_turn) = (0_u32, false);
    while let Some((at, seen)) = walk.next(memory) {
        stood |= matches!(clue, Clue::Instruction(failed) if *failed == at);
        match seen {
            Seen::Counts if section == pass => break,
            Seen::Counts => {
                section = section.saturating_add(1);
                (next, view) = (0, 0);
            }
            Seen::Draws => {
                // A draw has a job for each view, in their order.
                let mask = walk.word(registers.primitive) >> 24;
                if mask == 0 || mask <= view || next == 0 {
                    next = next.saturating_add(1);
                }
                view = mask;
                let number = next.saturating_sub(1);
                if section != pass || behind {
                    continue;
                }
                let program = walk.pair(registers.vertex_program);
                // Of another view of the same draw nothing is new.
                if all.count == 0 || all.last != number {
                    all.add(number, program);
                }
                let new = matching.count == 0 || matching.last != number;
                if new
                    && matches(
                        memory,
                        &walk,
                        registers,
                        part,
                        clue,
                        stood && matching.count == 0,
                    )
                {
                    matching.add(number, program);
                }
            }
            Seen::Marks if part == PassPart::Vertices => {
                marked = marked.saturating_add(1);
                if marked <= marks {
                    (all, matching) = (Tally::default(), Tally::default());
                } else if section == pass {
                    in_turn = true;
                    break;
                }
            }
            _ => {}
        }
        behind |= pointer == Some(at) && !matches!(clue, Clue::Instruction(_));
    }
    let by = match clue {
        Clue::Program(_) => DrawsKnownBy::Code,
        Clue::Memory(_) => DrawsKnownBy::Address,
        Clue::Instruction(_) => DrawsKnownBy::Instruction,
        Clue::None => DrawsKnownBy::Order,
    };
    let suspects = matching.suspects(by);
    if suspects.is_some() || by == DrawsKnownBy::Instruction {
        return suspects;
    }
    let by = if in_turn {
        DrawsKnownBy::Turn
    } else {
        DrawsKnownBy::Order
    };
    all.suspects(by)
}

/// Whether a draw has what failed; `stood`: it is the first from the instruction on that failed.
fn matches<P: Platform>(
    memory: &mut SpaceReader<'_, P>,
    walk: &Walk,
    registers: &DrawRegisters,
    part: PassPart,
    clue: &Clue,
    stood: bool,
) -> bool {
    match clue {
        Clue::None => false,
        Clue::Instruction(_) => stood,
        Clue::Program(program) => {
            let vertices = walk.pair(registers.vertex_program);
            vertices == *program || walk.pair(registers.fragment_program) == *program
        }
        Clue::Memory(range) => match part {
            PassPart::Vertices => {
                let uniforms = [Some(registers.vertex_uniforms), registers.varying_uniforms];
                range.contains(&walk.pair(registers.index_buffer))
                    || names(memory, walk.pair(registers.vertex_resources), range)
                    || uniforms
                        .into_iter()
                        .flatten()
                        .any(|pair| has_address(memory, walk.pair(pair), range))
            }
            PassPart::Fragments => {
                names(memory, walk.pair(registers.fragment_resources), range)
                    || has_address(memory, walk.pair(registers.fragment_uniforms), range)
            }
        },
    }
}

/// Whether the descriptors of a resource table have an address in `range`, or stand there.
fn names<P: Platform>(memory: &mut SpaceReader<'_, P>, resources: u64, range: &Range<u64>) -> bool {
    let (table, entries) = (resources & ADDRESS & !ENTRIES, resources & ENTRIES);
    for entry in 0..entries {
        let at = table.saturating_add(entry.saturating_mul(RESOURCE_BYTES));
        let words = (memory.load(at), memory.load(at.saturating_add(8)));
        let (Some(address), Some(length)) = words else {
            continue;
        };
        let (address, length) = (address & ADDRESS, (length as u32).into());
        if range.contains(&address) {
            return true;
        }
        let length = MOST_BYTES.min(length).next_multiple_of(DESCRIPTOR_BYTES);
        if has_word(memory, address, length, range) {
            return true;
        }
    }
    false
}

/// Whether uniforms have an address in `range`, or stand there.
fn has_address<P: Platform>(
    memory: &mut SpaceReader<'_, P>,
    uniforms: u64,
    range: &Range<u64>,
) -> bool {
    let (address, count) = (uniforms & ADDRESS, uniforms >> COUNT_SHIFT);
    range.contains(&address) || has_word(memory, address, count.saturating_mul(8), range)
}

/// Whether one of the double words in `bytes` from `start` on is an address in `range`.
fn has_word<P: Platform>(
    memory: &mut SpaceReader<'_, P>,
    start: u64,
    bytes: u64,
    range: &Range<u64>,
) -> bool {
    let mut places = (0..bytes)
        .step_by(8)
        .map(|offset| start.saturating_add(offset));
    places.any(|at| {
        let word = memory.load(at);
        word.is_some_and(|word| range.contains(&(word & ADDRESS)))
    })
}
