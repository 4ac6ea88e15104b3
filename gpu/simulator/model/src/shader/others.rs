//! Others: what a warp's registers would hold if memory that nobody wrote had held something else.
//!
//! A warp that has loaded undefined bytes executes each instruction that depends on them once more for each other content, with the
//! same functions as the instruction itself. Where a branch or an address then is another, that is reported; stores are in `messages`.
//! A warp that has loaded none is as fast as ever.

use super::environment::{Environment, Place};
use super::execute::{compute, compute_wide, lane_mask, other_lane};
use super::flow::taken;
use super::instruction::{Instruction, Operation};
use super::lanes::{Lanes, WARP, lanes_where};
use super::message::Action;
use super::registers::{read, written_range};
use super::warp::{REGISTERS, Warp, bits, registers_of};
use crate::fabric::Fabric;
use crate::trace::{Decides, UndefinedLoad, UndefinedUse};
use crate::undefined::OTHERS;
use alloc::boxed::Box;

/// Registers that would hold something else.
#[derive(Clone, Debug)]
pub(crate) struct Others {
    /// Those registers, a bit each. Of the others nothing is kept.
    marked: u64,
    values: [[Lanes; REGISTERS]; OTHERS],
    /// Where what is undefined of a register was loaded.
    loads: [Option<UndefinedLoad>; REGISTERS],
}

impl Others {
    /// Swaps the registers of a warp with those of another content.
    fn swap(&mut self, warp: &mut Warp, number: usize) {
        for register in registers_of(self.marked) {
            core::mem::swap(
                &mut warp.registers[register],
                &mut self.values[number][register],
            );
        }
    }

    /// Where what is undefined of some registers was loaded.
    fn load_of(&self, registers: u64) -> Option<UndefinedLoad> {
        registers_of(registers & self.marked).find_map(|register| self.loads[register])
    }
}

/// Whether an instruction's results are computed from undefined values: what [`finish`] needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depends {
    No,
    /// Its results under other contents are kept already.
    Computed,
}

/// Executes an instruction that is about to be executed under the other contents. Does nothing for a warp that has loaded nothing
/// undefined.
#[inline]
pub(super) fn begin(
    fabric: &mut Fabric,
    around: (&Environment, Place),
    warp: &mut Warp,
    instruction: &Instruction,
) -> Depends {
    match warp.others.take() {
        None => Depends::No,
        Some(mut others) => {
            let depends = execute(fabric, around, warp, instruction, &mut others);
            warp.others = Some(others);
            depends
        }
    }
}

fn execute(
    fabric: &mut Fabric,
    around: (&Environment, Place),
    warp: &mut Warp,
    instruction: &Instruction,
    others: &mut Others,
) -> Depends {
    if instruction.reads & others.marked == 0 {
        return Depends::No;
    }
    let load = others.load_of(instruction.reads);
    match instruction.operation {
        Operation::Alu(_)
        | Operation::Wide(_)
        | Operation::LaneMask { .. }
        | Operation::OtherLane { .. } => {
            for number in 0..OTHERS {
                others.swap(warp, number);
                let unmarked = instruction.writes & !others.marked;
                let saved = registers_of(unmarked).map(|register| warp.registers[register]);
                let mut before = [[0; WARP]; 2];
                before
                    .iter_mut()
                    .zip(saved)
                    .for_each(|(to, from)| *to = from);
                calculate(fabric, around, warp, instruction);
                for (register, before) in registers_of(unmarked).zip(before) {
                    let result = core::mem::replace(&mut warp.registers[register], before);
                    others.values[number][register] = result;
                }
                others.swap(warp, number);
            }
            for register in registers_of(instruction.writes) {
                others.loads[register] = load;
            }
            others.marked |= instruction.writes;
            Depends::Computed
        }
        Operation::Branch { test, if_zero, .. } | Operation::BranchTo { test, if_zero, .. } => {
            let own = branch(fabric, around, warp, instruction);
            let goes = |value: &(Lanes, Lanes), warp: &Warp| taken(warp, test, if_zero, &value.0);
            let mut differs = 0;
            for number in 0..OTHERS {
                others.swap(warp, number);
                let other = branch(fabric, around, warp, instruction);
                let (here, there) = (goes(&own, warp), goes(&other, warp));
                let moved = lanes_where(|lane| own.1[lane] != other.1[lane]);
                differs |= (here ^ there) | (here & there & moved);
                others.swap(warp, number);
            }
            report(fabric, warp, instruction, (differs, Decides::Branch), load);
            Depends::No
        }
        Operation::Message(message) => {
            if matches!(message.action, Action::Barrier | Action::Clock { .. }) {
                return Depends::No;
            }
            let named = instruction.reads & !written_range(message.read);
            let Some(load) = others.load_of(named) else {
                return Depends::No;
            };
            let mut differs = 0;
            for index in 0..usize::from(instruction.source_count).min(4) {
                let own = named_by(fabric, around, warp, (instruction, index));
                for number in 0..OTHERS {
                    others.swap(warp, number);
                    let other = named_by(fabric, around, warp, (instruction, index));
                    differs |= lanes_where(|lane| own[lane] != other[lane]);
                    others.swap(warp, number);
                }
            }
            let decided = (differs & warp.lanes, Decides::Address);
            report(fabric, warp, instruction, decided, Some(load));
            Depends::No
        }
        Operation::Nop
        | Operation::Discard(_)
        | Operation::Kaboom
        | Operation::Invalid
        | Operation::NotModelled => Depends::No,
    }
}

fn calculate(
    fabric: &mut Fabric,
    around: (&Environment, Place),
    warp: &mut Warp,
    instruction: &Instruction,
) {
    match instruction.operation {
        Operation::Alu(alu) => {
            let mut buffers = [[0; WARP]; 4];
            compute(fabric, around, warp, instruction, alu, &mut buffers);
        }
        Operation::Wide(wide) => compute_wide(fabric, around, warp, instruction, wide),
        Operation::LaneMask { .. } => lane_mask(fabric, around, warp, instruction),
        Operation::OtherLane {
            subgroup,
            xor,
            inactive,
        } => {
            let way = (subgroup, xor, inactive);
            other_lane(fabric, around, warp, instruction, way);
        }
        _ => {}
    }
}

/// What a branch tests, and where it goes by a register.
fn branch(
    fabric: &mut Fabric,
    (environment, place): (&Environment, Place),
    warp: &Warp,
    instruction: &Instruction,
) -> (Lanes, Lanes) {
    let mut source = |index: usize| {
        let source = &instruction.sources[index];
        read(fabric, environment, place, warp, source)
    };
    match instruction.operation {
        Operation::BranchTo { .. } => (source(0), source(1)),
        _ => (source(0), [0; WARP]),
    }
}

/// What a source of a message names: an address, an index, a handle.
fn named_by(
    fabric: &mut Fabric,
    (environment, place): (&Environment, Place),
    warp: &Warp,
    (instruction, index): (&Instruction, usize),
) -> [u64; WARP] {
    let narrow = &instruction.sources[index];
    let narrow = read(fabric, environment, place, warp, narrow);
    let Some(wide) = instruction.wide.get(index) else {
        return narrow.map(u64::from);
    };
    // Each source is one of the two; the other reads as 0.
    let journal = &mut fabric.journal;
    let wide = environment.fetch_wide(journal, warp, place, wide.from, false);
    core::array::from_fn(|lane| wide[lane] ^ u64::from(narrow[lane]))
}

fn report(
    fabric: &mut Fabric,
    warp: &Warp,
    instruction: &Instruction,
    (lanes, decides): (u16, Decides),
    load: Option<UndefinedLoad>,
) {
    let (Some(lane), Some(load)) = (bits(lanes).next(), load) else {
        return;
    };
    report_use(fabric, warp, instruction, (lane, decides), load);
}

/// Tells who wants to hear of accesses that an undefined value decides something in a lane.
pub(super) fn report_use(
    fabric: &mut Fabric,
    warp: &Warp,
    instruction: &Instruction,
    (lane, decides): (usize, Decides),
    load: UndefinedLoad,
) {
    if let Some((sink, workgroup)) = fabric.journal.access_sink() {
        sink.undefined(&UndefinedUse {
            workgroup,
            thread: warp.first_thread + lane as u32,
            instruction: (warp.pc, instruction.word),
            decides,
            load,
        });
    }
}

/// An instruction was executed by `lanes`: what it has written is what the other contents make of it.
#[inline]
pub(super) fn finish(warp: &mut Warp, instruction: &Instruction, lanes: u16, depends: Depends) {
    let Some(mut others) = warp.others.take() else {
        return;
    };
    if depends == Depends::No && !matches!(instruction.operation, Operation::Message(_)) {
        let written = instruction.writes & others.marked;
        for register in registers_of(written) {
            for other in &mut others.values {
                for lane in bits(lanes) {
                    let own = warp.registers[register][lane];
                    let kept = other[register][lane] & !instruction.mask;
                    other[register][lane] = kept | own & instruction.mask;
                }
            }
        }
    }
    if lanes == warp.live {
        others.marked &= !(instruction.last_use & !instruction.writes);
    }
    for register in registers_of(instruction.writes & others.marked) {
        let same = |other: &[Lanes; REGISTERS]| other[register] == warp.registers[register];
        if others.values.iter().all(same) {
            others.marked &= !(1 << register);
        }
    }
    if others.marked != 0 {
        warp.others = Some(others);
    }
}

impl Warp {
    /// What a lane's staging registers would hold, as one number each, and where that was loaded; `None` if what they hold.
    pub(super) fn other_staged(
        &self,
        (first, count): (u8, u8),
        lane: usize,
    ) -> Option<([u128; OTHERS], UndefinedLoad)> {
        let others = self.others.as_ref()?;
        let load = others.load_of(written_range((first, count)))?;
        let staged = core::array::from_fn(|number| {
            (0..count.min(4)).fold(0, |value, index| {
                let register = usize::from(first.wrapping_add(index) & 63);
                let word = match others.marked >> register & 1 {
                    0 => self.registers[register][lane],
                    _ => others.values[number][register][lane],
                };
                value | u128::from(word) << (32 * u32::from(index))
            })
        });
        Some((staged, load))
    }

    /// What a register of a lane would hold.
    pub(super) fn other_registers(&mut self) -> OtherRegisters<'_> {
        OtherRegisters { warp: self }
    }
}

/// Sets what registers would hold, behind a message that has written them.
pub(super) struct OtherRegisters<'w> {
    warp: &'w mut Warp,
}

impl OtherRegisters<'_> {
    /// A register holds, in these lanes, what it would hold whatever memory had held.
    pub(super) fn define(&mut self, registers: u64, lanes: u16) {
        let Some(others) = &mut self.warp.others else {
            return;
        };
        for register in registers_of(registers & others.marked) {
            for other in &mut others.values {
                for lane in bits(lanes) {
                    other[register][lane] = self.warp.registers[register][lane];
                }
            }
        }
    }

    /// Under each other content, `set` writes a lane of those of the registers that would hold something else.
    pub(super) fn set_marked(&mut self, registers: u64, mut set: impl FnMut(&mut Warp, usize)) {
        let Some(mut others) = self.warp.others.take() else {
            return;
        };
        if others.marked & registers != 0 {
            // Of the others `set` writes what they hold.
            for number in 0..OTHERS {
                others.swap(self.warp, number);
                set(self.warp, number);
                others.swap(self.warp, number);
            }
        }
        self.warp.others = Some(others);
    }

    /// Under each other content, `set` writes a lane of the registers.
    pub(super) fn set(
        &mut self,
        registers: u64,
        load: UndefinedLoad,
        mut set: impl FnMut(&mut Warp, usize),
    ) {
        let mut others = self.warp.others.take().unwrap_or_else(|| {
            Box::new(Others {
                marked: 0,
                values: [[[0; WARP]; REGISTERS]; OTHERS],
                loads: [None; REGISTERS],
            })
        });
        for register in registers_of(registers & !others.marked) {
            for other in &mut others.values {
                other[register] = self.warp.registers[register];
            }
        }
        for register in registers_of(registers & !others.marked) {
            others.loads[register] = Some(load);
        }
        others.marked |= registers;
        for number in 0..OTHERS {
            others.swap(self.warp, number);
            set(self.warp, number);
            others.swap(self.warp, number);
        }
        self.warp.others = Some(others);
    }
}
