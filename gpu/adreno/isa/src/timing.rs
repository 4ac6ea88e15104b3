//! When a result may be read, and what an instruction must wait for: the delay table and the sync classes.
//!
//! There is no interlock between the results of arithmetic and their readers: a program keeps the distance. Other results are
//! waited for by (ss) and (sy). This module says what holds between two instructions; who looks for the pairs in a program is the
//! compiler, before it runs, and the interpreter, while it runs.
//! Facts: hardware/ir3-isa.md sections 6, 8, 9 and 18.

use crate::access::{Access, Place};
use crate::field::Field;
use crate::generation::Gen;
use crate::instr::Instr;
use crate::layout::{Latency, Role};
use crate::op::Op;
use crate::register::{File, Reg};
use crate::values::Width;

/// Who writes a register, for the delay table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Producer {
    /// An instruction of categories 1 to 3.
    Alu,
    /// Any write of a0.x or a1.x.
    Address,
}

/// Who reads a register, for the delay table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// An instruction of categories 1 to 3.
    Alu,
    /// The third source of mad and madsh.
    Accumulator,
    /// Branches, and categories 4, 5 and 6.
    Other,
    /// The end of the program.
    End,
}

/// The delay table: issue slots that must lie between producer and consumer.
#[rustfmt::skip]
pub const SLOTS: &[(Producer, Consumer, u8)] = &[
    (Producer::Address, Consumer::Alu,         6),
    (Producer::Address, Consumer::Accumulator, 6),
    (Producer::Address, Consumer::Other,       6),
    (Producer::Address, Consumer::End,         0),
    (Producer::Alu,     Consumer::Alu,         3),
    (Producer::Alu,     Consumer::Accumulator, 1),
    (Producer::Alu,     Consumer::Other,       6),
    (Producer::Alu,     Consumer::End,         0),
];

/// What is added if arithmetic reads as a half what was written as a full register, or the other way round.
pub const OTHER_WIDTH: u8 = 3;

/// The most slots that any pair asks for: what lies further back needs no look.
pub const MOST_SLOTS: u8 = 6;

/// The slots between a producer and a consumer, by the table.
pub fn slots(producer: Producer, consumer: Consumer) -> u8 {
    let mut rows = SLOTS.iter();
    rows.find(|row| row.0 == producer && row.1 == consumer)
        .map_or(MOST_SLOTS, |row| row.2)
}

/// About how many issue slots pass from an instruction to a result of `registers` registers that is waited for, in a wave of
/// 64 and with what it reads in the caches. For estimates alone: a program waits as long as it takes (section 9).
pub fn typical_slots(op: Op, to_shared: bool, registers: u32) -> u32 {
    match (op.row().category(), op, op.row().layout.latency) {
        (_, Op::Ldc, _) => 18 + 4 * registers,
        _ if to_shared => 6,
        // Of 51 to 64 the middle.
        (5, _, Latency::Sy) => 57,
        (_, _, Latency::Sy | Latency::SsAndSy) => 109 + registers,
        _ => 10,
    }
}

/// Flags that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sync {
    /// (ss).
    pub ss: bool,
    /// (sy).
    pub sy: bool,
}

impl Sync {
    /// Neither.
    pub const NONE: Self = Self {
        ss: false,
        sy: false,
    };
    /// Both.
    pub const BOTH: Self = Self { ss: true, sy: true };
    /// (ss) alone.
    pub const SS: Self = Self {
        ss: true,
        sy: false,
    };
}

impl Instr {
    /// How it reads the operand in `field`, for the delay table.
    pub fn consumer(&self, field: Field) -> Consumer {
        match (self.category(), self.op()) {
            (_, Op::End | Op::Chmask) => Consumer::End,
            (
                _,
                Op::MadU16
                | Op::MadS16
                | Op::MadU24
                | Op::MadS24
                | Op::MadF16
                | Op::MadF32
                | Op::MadshU16
                | Op::MadshM16,
            ) if field == Field::Src3 => Consumer::Accumulator,
            (1..=3, _) => Consumer::Alu,
            _ => Consumer::Other,
        }
    }

    /// When the registers of a written operand may be used.
    pub fn latency(&self, written: &Access) -> Latency {
        match written.place {
            // A shared register is waited for, whoever writes it.
            Place::Regs { first, .. } if first.file() == File::Shared => {
                match self.layout().latency {
                    Latency::Slots => Latency::Ss,
                    latency => latency,
                }
            }
            _ => self.layout().latency,
        }
    }

    /// How many issue slots it takes: what lies between two instructions is the sum of these.
    ///
    /// Branches count none, since a compiler may still drop them; neither do categories 4 to 7.
    pub fn issue_slots(&self) -> u8 {
        match (self.category(), self.op()) {
            (0, _) if self.target().is_some() => 0,
            (0, _) => 1 + self.repeat(),
            (1..=3, _) => self.steps() + self.nop(),
            _ => 0,
        }
    }

    /// In how many steps it reads and writes: repetitions, and the single moves of a multiple one.
    pub fn steps(&self) -> u8 {
        match self.op() {
            // FACT: section 8 counts every instruction of category 1 as 1 + repeat, section 6 says that multiple moves take as
            // long as that many moves; the latter is taken, and each move is a step. Settled by timing gat on a device.
            Op::Swz => 2,
            Op::Gat | Op::Sct => 4,
            _ => 1 + self.repeat(),
        }
    }

    /// In which step the first register of an operand is read or written.
    pub fn first_step(&self, field: Field) -> u8 {
        match (self.op(), field) {
            (Op::Swz | Op::Gat, Field::Src1) | (Op::Swz | Op::Sct, Field::Dst1) => 1,
            (Op::Gat, Field::Src2) | (Op::Sct, Field::Dst2) => 2,
            (Op::Gat, Field::Src3) | (Op::Sct, Field::Dst3) => 3,
            _ => 0,
        }
    }

    /// What an instruction must carry because of what it is.
    pub fn needs_sync(&self) -> Sync {
        match self.op() {
            Op::Shpe => Sync::BOTH,
            _ => Sync::NONE,
        }
    }

    /// What the instruction after this one must carry.
    pub fn needs_sync_after(&self) -> Sync {
        match (self.category(), self.op()) {
            (7, _) => Sync::BOTH,
            (_, Op::Predt | Op::Resinfo | Op::ResinfoB) => Sync::SS,
            _ => Sync::NONE,
        }
    }

    /// True if its sources are still read after it was issued: who writes one needs (ss).
    pub fn holds_sources(&self) -> bool {
        matches!(self.category(), 4..=6)
    }

    /// True if it has a bit for (ss).
    pub fn has_ss(&self) -> bool {
        self.spec(Field::Ss).is_some()
    }

    /// How many issue slots must lie between the end of this instruction and the start of `consumer`, which may follow it. What (ss)
    /// and (sy) wait for asks for none.
    pub fn slots_before(&self, consumer: &Self, generation: Gen) -> u8 {
        let pairs = self
            .writes()
            .filter(|write| self.latency(write) == Latency::Slots)
            .map(|write| {
                let reads = consumer.reads();
                let needed = reads.map(|read| self.slots_of(&write, consumer, &read, generation));
                needed.max().unwrap_or(0)
            });
        pairs.max().unwrap_or(0)
    }

    /// The slots that one written and one read operand ask for.
    fn slots_of(&self, write: &Access, consumer: &Self, read: &Access, generation: Gen) -> u8 {
        let base = |producer| slots(producer, consumer.consumer(read.field));
        let (written, read_regs) = match (write.place, read.place) {
            (Place::Regs { .. }, Place::Regs { .. }) => {
                let regs = (self.touched(write), consumer.touched(read));
                match regs {
                    (Some(written), Some(read)) => (written, read),
                    _ => return 0,
                }
            }
            // It may be any register; both sides in other widths are no dependence where the files are separate.
            (Place::Regs { first, .. }, Place::Relative { width })
            | (Place::Relative { width }, Place::Regs { first, .. }) => {
                return if first.file() == File::Normal {
                    base(Producer::Alu) + extra(first.width(), width, consumer, generation)
                } else {
                    0
                };
            }
            (Place::Relative { width: a }, Place::Relative { width: b }) => {
                return base(Producer::Alu) + extra(a, b, consumer, generation);
            }
        };
        if written.first.file() == File::Address {
            let same = written.first.number() == read_regs.first.number();
            return if same { base(Producer::Address) } else { 0 };
        }
        let same_width = written.first.width() == read_regs.first.width();
        if written.first.file() != read_regs.first.file() {
            return 0;
        }
        if same_width || written.first.file() != File::Normal {
            let base = base(Producer::Alu);
            // A register that is written early, or read late, has waited already (section 8). Where one side takes all at once
            // and the other one by one, it is the last of them that counts.
            let slots = written.overlap(&read_regs).map(|number| {
                if self.op() == Op::Movmsk {
                    return base;
                }
                let read_at =
                    consumer.first_step(read.field) + read_regs.step_of(number, read, consumer);
                let written_at =
                    self.first_step(write.field) + written.step_of(number, write, self);
                let waited = read_at + (self.steps() - 1).saturating_sub(written_at);
                base.saturating_sub(waited)
            });
            return slots.max().unwrap_or(0);
        }
        if generation.merged() && written.overlaps_other_width(&read_regs) {
            return base(Producer::Alu)
                + extra(
                    written.first.width(),
                    read_regs.first.width(),
                    consumer,
                    generation,
                );
        }
        0
    }

    /// The registers of all steps of an operand.
    fn touched(&self, access: &Access) -> Option<Range> {
        let (first, count) = access.range(self.repeat())?;
        Some(Range { first, count })
    }
}

/// What a change of width costs between two instructions of arithmetic.
fn extra(written: Width, read: Width, consumer: &Instr, generation: Gen) -> u8 {
    let arithmetic = matches!(consumer.category(), 1..=3);
    if written != read && arithmetic && generation.merged() {
        OTHER_WIDTH
    } else {
        0
    }
}

/// Consecutive registers.
#[derive(Clone, Copy)]
struct Range {
    first: Reg,
    count: u8,
}

impl Range {
    /// The registers that are in both.
    fn overlap(&self, other: &Self) -> core::ops::Range<u8> {
        let first = self.first.number().max(other.first.number());
        let end = |range: &Self| range.first.number().saturating_add(range.count);
        first..end(self).min(end(other))
    }

    /// True if one's halves lie in the other's full registers.
    fn overlaps_other_width(&self, other: &Self) -> bool {
        let halves = |range: &Self| {
            let scale = if range.first.width().is_half() { 1 } else { 2 };
            let first = u16::from(range.first.number()) * scale;
            (first, first + u16::from(range.count) * scale)
        };
        let (a, b) = (halves(self), halves(other));
        a.0 < b.1 && b.0 < a.1
    }

    /// How many steps after the operand's first register this one is touched.
    fn step_of(&self, number: u8, access: &Access, instr: &Instr) -> u8 {
        let index = number - self.first.number();
        // Vectors of multiple moves are touched one by one; other vectors at once.
        let one_by_one = matches!(
            (instr.op(), access.role),
            (Op::Gat, Role::Write) | (Op::Sct, Role::Read)
        );
        if access.advances || one_by_one {
            index
        } else {
            0
        }
    }
}
