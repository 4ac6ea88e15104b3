//! What a group of lanes must wait for: results of arithmetic by the slots that have passed, others until (ss) or (sy).
//!
//! The distances are those of the path that the lanes took, counted as it is executed. Only the tables are shared with the
//! compiler, which counts over all paths before the program runs.
//! Facts: hardware/ir3-isa.md sections 8 and 9.

use eitri_ir3_isa::timing::{self, Consumer, Producer};
use eitri_ir3_isa::{Access, File, Gen, Instr, Latency, Op, Place, Reg, Role, Width};

use crate::fault::{FaultKind, Named};

/// A register of a lane, in halves: full register n is halves 2n and 2n + 1 where the files are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    reg: Reg,
}

impl Cell {
    /// The first half and the one after the last, in a space of its own for each file that overlaps no other.
    fn span(self, generation: Gen) -> (u32, u32) {
        let number = u32::from(self.reg.number());
        if self.reg.file() != File::Normal {
            return (0x1000 + number * 2, 0x1000 + number * 2 + 2);
        }
        match (self.reg.width(), generation.merged()) {
            (Width::Half, true) => (number, number + 1),
            (Width::Half, false) => (0x2000 + number, 0x2000 + number + 1),
            (Width::Full, _) => (number * 2, number * 2 + 2),
        }
    }

    fn overlaps(self, other: Self, generation: Gen) -> bool {
        let (a, b) = (self.span(generation), other.span(generation));
        a.0 < b.1 && b.0 < a.1
    }

    /// True if all of `other` lies in this.
    fn covers(self, other: Self, generation: Gen) -> bool {
        let (a, b) = (self.span(generation), other.span(generation));
        a.0 <= b.0 && b.1 <= a.1
    }
}

/// A result of arithmetic that was written a short while ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recent {
    cell: Cell,
    /// The slot in which its step was issued.
    step: u64,
    /// The slot in which the last step of its instruction was issued.
    end: u64,
    /// It counts from the end of its instruction whoever reads it.
    whole: bool,
    pc: u32,
}

/// What an operand in flight is waited for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Ss,
    Sy,
    /// (ss), by who writes it.
    Read,
}

/// A register of an instruction in flight.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    cell: Cell,
    wait: Wait,
    pc: u32,
}

/// The hazards of a group of lanes that took the same path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hazards {
    /// Issue slots since the start.
    now: u64,
    recent: Vec<Recent>,
    in_flight: Vec<InFlight>,
    /// What the next instruction must carry.
    must: timing::Sync,
}

/// Results in shared registers, which belong to the wave: whoever reads them, on whatever path.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedHazards {
    in_flight: Vec<InFlight>,
}

/// Where and when an operand is read.
#[derive(Clone, Copy)]
pub(crate) struct Reader {
    pub(crate) consumer: Consumer,
    /// The step of the instruction.
    pub(crate) step: u8,
    /// Found by a0.x.
    pub(crate) relative: bool,
    /// The reading instruction is arithmetic.
    pub(crate) arithmetic: bool,
}

impl Hazards {
    /// Takes the flags of an instruction into account, and checks that it has those that it must have.
    pub(crate) fn wait(
        &mut self,
        shared: &mut SharedHazards,
        instr: &Instr,
    ) -> Result<(), FaultKind> {
        let ss = instr.flag(eitri_ir3_isa::Field::Ss);
        let sy = instr.flag(eitri_ir3_isa::Field::Sy);
        let own = instr.needs_sync();
        let must = core::mem::take(&mut self.must);
        match ((must.ss || own.ss) && !ss, (must.sy || own.sy) && !sy) {
            (true, true) => return Err(FaultKind::MustWait("(sy)(ss)")),
            (true, false) => return Err(FaultKind::MustWait("(ss)")),
            (false, true) => return Err(FaultKind::MustWait("(sy)")),
            (false, false) => {}
        }
        let stays = |flight: &InFlight| match flight.wait {
            Wait::Ss | Wait::Read => !ss,
            Wait::Sy => !sy,
        };
        self.in_flight.retain(stays);
        shared.in_flight.retain(stays);
        Ok(())
    }

    /// Checks that a register may be read now.
    pub(crate) fn read(
        &self,
        shared: &SharedHazards,
        reg: Reg,
        reader: Reader,
        generation: Gen,
    ) -> Result<(), FaultKind> {
        let cell = Cell { reg };
        let named = Named(reg);
        for flight in self.in_flight.iter().chain(&shared.in_flight) {
            if !flight.cell.overlaps(cell, generation) {
                continue;
            }
            let producer = flight.pc;
            match flight.wait {
                Wait::Ss => {
                    return Err(FaultKind::MissingSs {
                        reg: named,
                        producer,
                    });
                }
                Wait::Sy => {
                    return Err(FaultKind::MissingSy {
                        reg: named,
                        producer,
                    });
                }
                Wait::Read => {}
            }
        }
        for recent in &self.recent {
            if !recent.cell.overlaps(cell, generation) {
                continue;
            }
            let other_width = recent.cell.reg.width() != reg.width() && reg.file() == File::Normal;
            let kind = match reg.file() {
                File::Address => Producer::Address,
                _ => Producer::Alu,
            };
            let mut needed = timing::slots(kind, reader.consumer);
            if other_width && reader.arithmetic {
                needed += timing::OTHER_WIDTH;
            }
            // Steps count one by one, unless widths differ or a0.x says the register: then whole instructions do.
            let (read, written) = if other_width || reader.relative || recent.whole {
                (self.now, recent.end)
            } else {
                (self.now + u64::from(reader.step), recent.step)
            };
            let passed = read.saturating_sub(written + 1);
            if passed < u64::from(needed) {
                return Err(FaultKind::TooEarly {
                    reg: named,
                    producer: recent.pc,
                    needed,
                    missing: needed - passed as u8,
                });
            }
        }
        Ok(())
    }

    /// Checks that a register may be written now.
    pub(crate) fn may_write(
        &self,
        shared: &SharedHazards,
        reg: Reg,
        generation: Gen,
    ) -> Result<(), FaultKind> {
        let cell = Cell { reg };
        let named = Named(reg);
        let mut flights = self.in_flight.iter().chain(&shared.in_flight);
        match flights.find(|flight| flight.cell.overlaps(cell, generation)) {
            None => Ok(()),
            Some(flight) => Err(match flight.wait {
                Wait::Ss => FaultKind::MissingSs {
                    reg: named,
                    producer: flight.pc,
                },
                Wait::Sy => FaultKind::MissingSy {
                    reg: named,
                    producer: flight.pc,
                },
                Wait::Read => FaultKind::WriteAfterRead {
                    reg: named,
                    reader: flight.pc,
                },
            }),
        }
    }

    /// Notes that a register is written in a step of an instruction.
    pub(crate) fn wrote(
        &mut self,
        shared: &mut SharedHazards,
        reg: Reg,
        step: u8,
        (instr, write, pc): (&Instr, &Access, u32),
        generation: Gen,
    ) {
        let cell = Cell { reg };
        // What was written before is hidden.
        self.recent
            .retain(|recent| !cell.covers(recent.cell, generation));
        let mut note = |wait| {
            let flight = InFlight { cell, wait, pc };
            if reg.file() == File::Shared {
                shared.in_flight.push(flight);
            } else {
                self.in_flight.push(flight);
            }
        };
        let latency = match reg.file() {
            // A relative destination may be one, too.
            File::Shared if instr.latency(write) == Latency::Slots => Latency::Ss,
            _ => instr.latency(write),
        };
        match latency {
            Latency::None => {}
            Latency::Ss => note(Wait::Ss),
            Latency::Sy => note(Wait::Sy),
            Latency::SsAndSy => {
                note(Wait::Ss);
                note(Wait::Sy);
            }
            Latency::Slots => self.recent.push(Recent {
                cell,
                step: self.now + u64::from(step),
                end: self.now + u64::from(instr.steps()) - 1,
                whole: instr.op() == Op::Movmsk || matches!(write.place, Place::Relative { .. }),
                pc,
            }),
        }
    }

    /// Notes that an instruction in flight reads a register.
    pub(crate) fn holds(&mut self, shared: &mut SharedHazards, reg: Reg, pc: u32) {
        let flight = InFlight {
            cell: Cell { reg },
            wait: Wait::Read,
            pc,
        };
        match reg.file() {
            File::Shared => shared.in_flight.push(flight),
            File::Normal => self.in_flight.push(flight),
            _ => {}
        }
    }

    /// Lets the slots of an instruction pass.
    pub(crate) fn passed(&mut self, instr: &Instr) {
        self.now += u64::from(instr.issue_slots());
        self.must = instr.needs_sync_after();
        let horizon = u64::from(timing::MOST_SLOTS + timing::OTHER_WIDTH);
        self.recent
            .retain(|recent| recent.end + horizon >= self.now);
    }

    /// Adds the hazards of lanes that come from another path.
    pub(crate) fn join(&mut self, other: &Self) {
        // Their slots are counted from now, as they are from their own.
        let now = self.now.max(other.now);
        let (own, others) = (now - self.now, now - other.now);
        for recent in &mut self.recent {
            (recent.step, recent.end) = (recent.step + own, recent.end + own);
        }
        // What both know is known once: paths may meet in every round of a loop.
        for recent in &other.recent {
            let recent = Recent {
                step: recent.step + others,
                end: recent.end + others,
                ..*recent
            };
            if !self.recent.contains(&recent) {
                self.recent.push(recent);
            }
        }
        self.now = now;
        for flight in &other.in_flight {
            let same = |own: &InFlight| (own.cell, own.wait) == (flight.cell, flight.wait);
            if !self.in_flight.iter().any(same) {
                self.in_flight.push(*flight);
            }
        }
        self.must.ss |= other.must.ss;
        self.must.sy |= other.must.sy;
    }
}

/// The registers of an operand in a step, in order.
pub(crate) fn registers(access: &Access, step: u8) -> impl Iterator<Item = Reg> + use<> {
    let (first, count) = match access.place {
        Place::Regs { first, count } => (Some(first), count),
        Place::Relative { .. } => (None, 0),
    };
    let skip = if access.advances { step } else { 0 };
    (0..count).filter_map(move |index| {
        let first = first?;
        let number = first.number().checked_add(index + skip)?;
        Some(Reg::of_number(number, first.width()))
    })
}

/// True if an operand is read.
pub(crate) fn is_read(access: &Access) -> bool {
    access.role == Role::Read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_meet_again_and_again_know_each_hazard_once() {
        let cell = Cell {
            reg: Reg::of_number(4, Width::Full),
        };
        let recent = Recent {
            cell,
            step: 0,
            end: 0,
            whole: false,
            pc: 1,
        };
        let flight = |wait| InFlight { cell, wait, pc: 2 };
        let mut hazards = Hazards {
            recent: vec![recent],
            in_flight: vec![flight(Wait::Ss), flight(Wait::Read)],
            ..Hazards::default()
        };
        for _ in 0..100 {
            let other = hazards.clone();
            hazards.join(&other);
        }
        assert_eq!((hazards.recent.len(), hazards.in_flight.len()), (1, 2));
    }
}
