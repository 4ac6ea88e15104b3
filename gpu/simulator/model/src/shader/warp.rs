//! A warp: sixteen threads, their registers, where each of them is, and what is outstanding.
//!
//! One program counter runs at a time: the lowest among the live lanes, with every lane that is there. Who runs is decided
//! anew after branches, after `reconverge`, and when lanes end or wait.
//!
//! Facts: hardware/valhall-isa.md 6 (slots), 12.3 (divergence), 13 (preloads).

use super::lanes::{Lanes, WARP, lanes_where};
use super::late::LateMessages;
use super::others::Others;
use super::warp_times::WarpTimes;
use crate::fidelity::RegisterMarks;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Registers that an instruction can name.
pub const REGISTERS: usize = 64;

/// A message whose result was not waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outstanding {
    pub(crate) slot: u8,
    /// Registers that it writes.
    pub(crate) registers: u64,
    /// Lanes that sent it and have not waited.
    pub(crate) lanes: u16,
}

/// Most messages whose results are watched at a time; beyond, the oldest is forgotten.
const WATCHED: usize = 64;

/// All registers, an array over the lanes each.
pub type Registers = [Lanes; REGISTERS];

/// Registers that hold nothing but zeros.
pub(crate) fn cleared_registers() -> Box<Registers> {
    Box::new([[0; WARP]; REGISTERS])
}

/// Sixteen threads.
#[derive(Clone, Debug)]
pub struct Warp {
    /// Its registers.
    pub registers: Box<Registers>,
    /// Where each lane goes on.
    pub(crate) pcs: [u64; WARP],
    /// Lanes that have not ended.
    pub live: u16,
    /// Lanes that compute for their neighbours only: helpers and discarded fragments, whose stores have no effect.
    pub(crate) helpers: u16,
    /// Lanes that wait at a barrier.
    pub waiting: u16,
    /// The lanes that run now, all at `pc`; none: to be decided.
    pub lanes: u16,
    /// Their place.
    pub pc: u64,
    /// Messages not waited for.
    outstanding: Vec<Outstanding>,
    /// Their slots, a bit each.
    pub slots: u8,
    /// All registers that they write.
    pub pending: u64,
    /// Registers that hold a value that may be read in every lane.
    pub valid_everywhere: u64,
    /// For each of the others, the lanes in which it does.
    pub valid: [u16; REGISTERS],
    /// Lanes that the warp began with.
    pub all: u16,
    /// Registers that were ever written.
    pub written: u64,
    /// Number of the warp's first thread in its workgroup.
    pub(crate) first_thread: u32,
    /// How often lanes that had gone apart have run together again, all of them.
    pub(crate) joined: u32,
    /// What its registers rest on, where that is followed.
    pub(crate) marks: RegisterMarks,
    /// When it issues and waits, where instructions are traced.
    pub(crate) times: Option<Box<WarpTimes>>,
    /// What its registers would hold if memory that nobody wrote had held something else, where that matters.
    pub(super) others: Option<Box<Others>>,
    /// Messages that are not done, where they may come late.
    pub(super) late: LateMessages,
}

impl Warp {
    /// A warp whose first `threads` lanes start at `entry`.
    pub(crate) fn new(first_thread: u32, threads: u32, entry: u64) -> Warp {
        let live = ((1u32 << threads.min(WARP as u32)) - 1) as u16;
        Warp::with_lanes(first_thread, live, entry)
    }

    /// A warp whose `live` lanes start at `entry`.
    pub(crate) fn with_lanes(first_thread: u32, live: u16, entry: u64) -> Warp {
        let registers = cleared_registers();
        Warp::in_cleared_registers(registers, (first_thread, live), entry)
    }

    /// Its registers, cleared for another warp.
    pub(crate) fn into_cleared_registers(mut self) -> Box<Registers> {
        self.registers.as_flattened_mut().fill(0);
        self.registers
    }

    /// A warp whose `live` lanes start at `entry`, in registers that hold zeros.
    pub(crate) fn in_cleared_registers(
        registers: Box<Registers>,
        (first_thread, live): (u32, u16),
        entry: u64,
    ) -> Warp {
        Warp {
            registers,
            pcs: [entry; WARP],
            live,
            helpers: 0,
            waiting: 0,
            lanes: 0,
            pc: entry,
            outstanding: Vec::new(),
            slots: 0,
            pending: 0,
            valid_everywhere: 0,
            valid: [0; REGISTERS],
            all: live,
            written: 0,
            first_thread,
            joined: 0,
            marks: RegisterMarks::default(),
            times: None,
            others: None,
            late: LateMessages::default(),
        }
    }

    /// Fills a register before the program starts.
    pub(crate) fn preload(&mut self, register: u8, values: Lanes) {
        let index = usize::from(register) % REGISTERS;
        self.registers[index] = values;
        self.valid_everywhere |= 1 << index;
        self.written |= 1 << index;
    }

    /// Registers hold a value in these lanes.
    pub(crate) fn validate(&mut self, lanes: u16, registers: u64) {
        for register in registers_of(registers) {
            self.valid[register] |= lanes;
        }
    }

    /// Registers hold nothing in these lanes any more.
    pub(crate) fn invalidate(&mut self, lanes: u16, registers: u64) {
        for register in registers_of(registers) {
            let everywhere = self.valid_everywhere >> register & 1 != 0;
            let before = if everywhere {
                self.all
            } else {
                self.valid[register]
            };
            self.valid[register] = before & !lanes;
        }
        self.valid_everywhere &= !registers;
    }

    /// The lanes in which a register holds a value that may be read.
    pub(super) fn lanes_with_value(&self, register: usize) -> u16 {
        if self.valid_everywhere >> register & 1 != 0 {
            return self.all;
        }
        self.valid.get(register).copied().unwrap_or(0)
    }

    /// Whether a register that is not valid everywhere holds a value in all running lanes.
    #[inline]
    pub(super) fn holds_value(&self, register: usize) -> bool {
        self.valid[register] & self.lanes == self.lanes
    }

    /// The same of all registers of a mask.
    #[inline]
    pub(super) fn holds_values(&self, registers: u64) -> bool {
        registers_of(registers).all(|register| self.holds_value(register))
    }

    /// Whether the running lanes may use registers: those in `read` hold values, and no message that the lanes have yet to wait for
    /// writes one in `used`, which has those in `read`, too.
    #[inline(always)]
    pub(super) fn may_use(&self, used: u64, read: u64) -> bool {
        let doubtful = read & !self.valid_everywhere;
        let awaited = used & self.pending != 0 && self.awaited(used).is_some();
        !awaited && (doubtful == 0 || self.holds_values(doubtful))
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.live == 0 && self.late.is_empty()
    }

    /// Whether every live lane waits at a barrier.
    pub(crate) fn waits(&self) -> bool {
        self.live != 0 && self.live == self.waiting
    }

    /// Lanes that could run: alive, and not at a barrier.
    #[inline]
    pub(crate) fn candidates(&self) -> u16 {
        self.live & !self.waiting
    }

    /// Decides which lanes run: those at the lowest place. `false` if none can.
    pub(crate) fn choose(&mut self) -> bool {
        self.park();
        let candidates = self.candidates();
        if candidates == 0 {
            return false;
        }
        // All 16, without branches: that is quicker than a loop over those that are there.
        let places = self.pcs.iter().enumerate();
        let pc = places.fold(u64::MAX, |lowest, (lane, pc)| {
            let absent = u64::from(candidates >> lane & 1).wrapping_sub(1);
            lowest.min(pc | absent)
        });
        self.pc = pc;
        self.lanes = candidates & lanes_where(|lane| self.pcs[lane] == pc);
        self.joined = self
            .joined
            .wrapping_add(u32::from(self.lanes == candidates));
        true
    }

    /// Notes where the running lanes are, and runs none.
    pub(crate) fn park(&mut self) {
        if self.lanes != 0 {
            for (lane, pc) in self.pcs.iter_mut().enumerate() {
                *pc = if self.lanes >> lane & 1 != 0 {
                    self.pc
                } else {
                    *pc
                };
            }
        }
        self.lanes = 0;
    }

    /// Runs none; where the lanes are was noted already.
    pub(crate) fn forget_running(&mut self) {
        self.lanes = 0;
    }

    /// The running lanes end.
    pub(crate) fn end(&mut self) {
        self.live &= !self.lanes;
        self.lanes = 0;
    }

    /// Helpers among the running lanes end.
    pub(crate) fn end_helpers(&mut self) {
        self.live &= !(self.lanes & self.helpers);
        self.lanes &= self.live;
    }

    /// The running lanes wait at a barrier, and go on behind it.
    pub(crate) fn wait_at_barrier(&mut self) {
        self.waiting |= self.lanes;
        self.park();
    }

    /// The barrier opens.
    pub(crate) fn release(&mut self) {
        self.waiting = 0;
    }

    /// What a message sees of it that is done later.
    pub(super) fn seen_by_a_message(&mut self) -> Warp {
        let late = core::mem::take(&mut self.late);
        let seen = Warp {
            times: None,
            others: None,
            ..self.clone()
        };
        self.late = late;
        seen
    }

    /// The running lanes have sent a message.
    pub(crate) fn send(&mut self, slot: u8, registers: u64) {
        if self.outstanding.len() == WATCHED {
            self.outstanding.remove(0);
        }
        self.outstanding.push(Outstanding {
            slot,
            registers,
            lanes: self.lanes,
        });
        self.pending |= registers;
        self.slots |= slot_bit(slot);
    }

    /// The running lanes have waited for the slots in `mask`.
    pub(crate) fn waited(&mut self, mask: u8) {
        self.late.waited(self.lanes, mask);
        if mask & self.slots == 0 {
            return;
        }
        let lanes = self.lanes;
        // Mostly all have sent the messages, and wait for all of them.
        if self.slots & !mask == 0 && !lanes & self.all == 0 {
            self.outstanding.clear();
            (self.pending, self.slots) = (0, 0);
            return;
        }
        for entry in &mut self.outstanding {
            if mask & slot_bit(entry.slot) != 0 {
                entry.lanes &= !lanes;
            }
        }
        self.outstanding.retain(|entry| entry.lanes != 0);
        (self.pending, self.slots) = self
            .outstanding
            .iter()
            .fold((0, 0), |(registers, slots), it| {
                (registers | it.registers, slots | slot_bit(it.slot))
            });
    }

    /// The slot of an outstanding message of the running lanes that writes one of `registers`, and which.
    pub(crate) fn awaited(&self, registers: u64) -> Option<(u8, u8)> {
        let entry = self
            .outstanding
            .iter()
            .find(|entry| entry.lanes & self.lanes != 0 && entry.registers & registers != 0)?;
        let register = (entry.registers & registers).trailing_zeros() as u8;
        Some((register, entry.slot))
    }

    /// A general slot that the running lanes have not waited for.
    pub(crate) fn outstanding_slot(&self) -> Option<u8> {
        let mut entries = self.outstanding.iter();
        entries
            .find(|entry| entry.slot < 3 && entry.lanes & self.lanes != 0)
            .map(|entry| entry.slot)
    }

    /// The slots on which a message of the running lanes is outstanding, a bit a slot.
    pub(super) fn outstanding_slots(&self) -> u8 {
        let own = |entry: &&Outstanding| entry.lanes & self.lanes != 0;
        let entries = self.outstanding.iter().filter(own);
        entries.fold(0, |slots, entry| slots | 1 << (entry.slot & 7))
    }
}

/// The bit of a slot in a mask of slots.
pub(super) fn slot_bit(slot: u8) -> u8 {
    1u8.checked_shl(slot.into()).unwrap_or(0)
}

/// The numbers of the registers in a mask.
#[inline]
pub(super) fn registers_of(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    core::iter::from_fn(move || {
        let register = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (register < 64).then_some(register as usize)
    })
}

/// The numbers of the bits that are set.
#[inline]
pub(crate) fn bits(mask: u16) -> impl Iterator<Item = usize> + Clone {
    let mut rest = mask;
    core::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (lane < 16).then_some(lane as usize)
    })
}
