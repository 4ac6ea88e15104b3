//! Hazards: what each register waits for before an instruction, and what the instruction adds.
//!
//! Facts: hardware/ir3-isa.md 6 (steps of repeated instructions), 8 (slots), 9 (flags); the delay table is that of
//! `eitri_ir3_isa::timing`.

use eitri_ir3_isa::timing::{MOST_SLOTS, OTHER_WIDTH, Producer, Sync, slots};
use eitri_ir3_isa::{Access, Field, File, Instr, Latency, Op, Place as Named, Reg};

use super::places::{Pending, Place, Places};
use super::{Wrong, text};

/// A register that arithmetic wrote a short while ago.
#[derive(Clone, Copy)]
struct Written {
    reg: Reg,
    /// The fewest slots since the step that wrote it, on any path.
    since_step: u8,
    /// The fewest since the end of that instruction.
    since_end: u8,
    /// The number of the instruction.
    by: usize,
}

/// What may be outstanding before an instruction.
#[derive(Clone, Default)]
pub(super) struct State {
    written: Vec<Written>,
    pending: [Places; 3],
    /// What the instruction before asks of this one.
    asked: Sync,
}

/// A register that one step of an instruction reads or writes.
struct Touched {
    access: Access,
    step: u8,
    reg: Reg,
}

impl State {
    fn pending(&mut self, pending: Pending) -> &mut Places {
        &mut self.pending[pending as usize]
    }

    /// Adds one thing that may be outstanding.
    pub(super) fn add(&mut self, pending: Pending, place: Place) {
        self.pending(pending).insert(place);
    }

    /// What is outstanding in registers of the wave, whichever lanes run next.
    pub(super) fn of_wave(&self) -> impl Iterator<Item = (Pending, Place)> + use<> {
        let pending = self.pending;
        let each = Pending::ALL.into_iter();
        each.flat_map(move |kind| {
            pending[kind as usize]
                .shared()
                .map(move |place| (kind, place))
        })
    }

    /// Adds what may be outstanding on another path. True if that is news.
    pub(super) fn join(&mut self, other: &State) -> bool {
        let mut news = false;
        for written in &other.written {
            let known = self
                .written
                .iter_mut()
                .find(|known| known.reg == written.reg);
            let Some(known) = known else {
                self.written.push(*written);
                news = true;
                continue;
            };
            if written.since_step < known.since_step || written.since_end < known.since_end {
                known.since_step = known.since_step.min(written.since_step);
                known.since_end = known.since_end.min(written.since_end);
                known.by = written.by;
                news = true;
            }
        }
        for (places, others) in self.pending.iter_mut().zip(other.pending) {
            news |= places.add(others);
        }
        let asked = Sync {
            ss: self.asked.ss | other.asked.ss,
            sy: self.asked.sy | other.asked.sy,
        };
        news | (std::mem::replace(&mut self.asked, asked) != asked)
    }

    /// Checks an instruction, and runs it.
    pub(super) fn step(&mut self, at: usize, instr: &Instr) -> Result<(), Wrong> {
        let relative = |access: Access| matches!(access.place, Named::Relative { .. });
        if instr.accesses().any(relative) {
            let text = text(instr);
            return Err(Wrong::Relative { at, text });
        }
        let reads = touched(instr, instr.reads());
        let writes = touched(instr, instr.writes());
        self.check_flags(at, instr, &reads, &writes)?;
        for read in &reads {
            self.check_slots(at, instr, read)?;
            check_own_steps(at, instr, read, &writes)?;
        }
        self.issue(at, instr, &reads, &writes);
        Ok(())
    }

    /// Takes the flags into account, and checks that nothing is used that is still outstanding then.
    fn check_flags(
        &mut self,
        at: usize,
        instr: &Instr,
        reads: &[Touched],
        writes: &[Touched],
    ) -> Result<(), Wrong> {
        let (ss, sy) = (instr.flag(Field::Ss), instr.flag(Field::Sy));
        let own = instr.needs_sync();
        let missing = |flag| {
            let text = text(instr);
            Err(Wrong::Sync { at, text, flag })
        };
        if (self.asked.ss || own.ss) && !ss {
            return missing("(ss)");
        }
        if (self.asked.sy || own.sy) && !sy {
            return missing("(sy)");
        }
        if ss {
            *self.pending(Pending::Short) = Places::default();
            *self.pending(Pending::Read) = Places::default();
        }
        if sy {
            *self.pending(Pending::Long) = Places::default();
        }
        let [short, long, read] = &self.pending;
        for touched in reads.iter().chain(writes) {
            let places = Places::of(touched.reg);
            if short.meets(&places) {
                return missing("(ss)");
            }
            if long.meets(&places) {
                return missing("(sy)");
            }
        }
        let mut overwritten = writes.iter().map(|write| Places::of(write.reg));
        if overwritten.any(|places| read.meets(&places)) {
            return missing("(ss)");
        }
        Ok(())
    }

    /// Checks that arithmetic wrote a register long enough ago.
    fn check_slots(&self, at: usize, instr: &Instr, read: &Touched) -> Result<(), Wrong> {
        for written in &self.written {
            let Some(needed) = needed(written.reg, instr, read) else {
                continue;
            };
            // Where widths differ, the whole producer must be done.
            let passed = if written.reg.width() == read.reg.width() {
                written.since_step.saturating_add(read.step)
            } else {
                written.since_end
            };
            if passed < needed {
                return Err(Wrong::Slots {
                    producer: written.by,
                    at,
                    text: text(instr),
                    missing: needed - passed,
                });
            }
        }
        Ok(())
    }

    /// The instruction runs.
    fn issue(&mut self, at: usize, instr: &Instr, reads: &[Touched], writes: &[Touched]) {
        let passed = instr.issue_slots();
        for written in &mut self.written {
            written.since_step = written.since_step.saturating_add(passed);
            written.since_end = written.since_end.saturating_add(passed);
        }
        self.written
            .retain(|written| written.since_end < MOST_SLOTS);
        for write in writes {
            let places = Places::of(write.reg);
            match instr.latency(&write.access) {
                Latency::None => {}
                Latency::Slots => self.write(at, instr, write),
                Latency::Ss => {
                    self.pending(Pending::Short).add(places);
                }
                Latency::Sy => {
                    self.pending(Pending::Long).add(places);
                }
                Latency::SsAndSy => {
                    self.pending(Pending::Short).add(places);
                    self.pending(Pending::Long).add(places);
                }
            }
        }
        // The vector of an atomic on a buffer is one: its data are outstanding too.
        let is_vector = instr.op().name().starts_with("atomic.b");
        for read in reads {
            let places = Places::of(read.reg);
            if instr.holds_sources() {
                self.pending(Pending::Read).add(places);
            }
            if is_vector && read.access.field == Field::Src1 {
                self.pending(Pending::Long).add(places);
            }
        }
        self.asked = instr.needs_sync_after();
    }

    /// Arithmetic writes a register; what was written there before is hidden.
    fn write(&mut self, at: usize, instr: &Instr, write: &Touched) {
        let places = Places::of(write.reg);
        let hidden = |written: &Written| places.contains_all(&Places::of(written.reg));
        self.written.retain(|written| !hidden(written));
        let since_end = instr.nop();
        // Of a mask the readers wait for the whole instruction.
        let steps_left = match instr.op() {
            Op::Movmsk => 0,
            _ => (instr.steps() - 1).saturating_sub(write.step),
        };
        self.written.push(Written {
            reg: write.reg,
            since_step: since_end + steps_left,
            since_end,
            by: at,
        });
    }
}

/// The slots between a written register and a step that reads one; none if they have no place in common.
fn needed(written: Reg, instr: &Instr, read: &Touched) -> Option<u8> {
    if !Places::of(written).meets(&Places::of(read.reg)) {
        return None;
    }
    let producer = match written.file() {
        File::Address => Producer::Address,
        _ => Producer::Alu,
    };
    let base = slots(producer, instr.consumer(read.access.field));
    let other_width = written.file() == File::Normal && written.width() != read.reg.width();
    let arithmetic = matches!(instr.category(), 1..=3);
    match other_width && arithmetic {
        true => Some(base + OTHER_WIDTH),
        false => Some(base),
    }
}

/// A step of a repeated instruction sees what earlier ones wrote, as an instruction of its own would.
fn check_own_steps(
    at: usize,
    instr: &Instr,
    read: &Touched,
    writes: &[Touched],
) -> Result<(), Wrong> {
    if is_multiple(instr.op()) {
        // All reads come first.
        return Ok(());
    }
    for write in writes.iter().filter(|write| write.step < read.step) {
        let Some(needed) = needed(write.reg, instr, read) else {
            continue;
        };
        let flag = match instr.latency(&write.access) {
            Latency::None => continue,
            Latency::Slots => {
                let passed = read.step - write.step - 1;
                if passed >= needed {
                    continue;
                }
                return Err(Wrong::Slots {
                    producer: at,
                    at,
                    text: text(instr),
                    missing: needed - passed,
                });
            }
            Latency::Ss => "(ss)",
            Latency::Sy | Latency::SsAndSy => "(sy)",
        };
        let text = text(instr);
        return Err(Wrong::Sync { at, text, flag });
    }
    Ok(())
}

/// Several moves in one, which read everything before they write anything.
fn is_multiple(op: Op) -> bool {
    matches!(op, Op::Swz | Op::Gat | Op::Sct | Op::Movmsk)
}

/// The registers that operands mean in each step.
fn touched(instr: &Instr, accesses: impl Iterator<Item = Access>) -> Vec<Touched> {
    let mut all = Vec::new();
    for access in accesses {
        let Named::Regs { first, count } = access.place else {
            continue;
        };
        let mut touch = |step: u8, skip: u8| {
            if let Some(number) = first.number().checked_add(skip) {
                let reg = Reg::of_number(number, first.width());
                all.push(Touched { access, step, reg });
            }
        };
        if is_multiple(instr.op()) {
            let from = instr.first_step(access.field);
            (0..count).for_each(|index| touch(from + index, index));
            continue;
        }
        for step in 0..=instr.repeat() {
            let moved = if access.advances { step } else { 0 };
            (0..count).for_each(|index| touch(step, moved + index));
        }
    }
    all
}
