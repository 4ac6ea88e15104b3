//! Observed messages: who wants to hear of accesses is told what a message has accessed, and what is undefined of memory is followed.
//!
//! Needs: a message that was done, with its accesses noted lane by lane ([`Touched::record`]).

use super::super::instruction::Instruction;
use super::super::message::{Action, Message, Placement};
use super::super::others::report_use;
use super::super::registers::written_range;
use super::super::warp::Warp;
use super::transfer::set_loaded;
use super::{Sender, Touched, staged};
use crate::trace::{
    Decides, LaneAccess, MemoryAct, MemorySort, OwnMemory, UndefinedLoad, WarpAccess,
};
use crate::undefined::{Holder, Met, OTHERS};

/// What of an action is told.
fn act_of(action: &Action) -> Option<MemoryAct> {
    match action {
        Action::Load { .. }
        | Action::LoadBuffer { .. }
        | Action::LoadConverted { .. }
        | Action::LoadTexel { .. } => Some(MemoryAct::Read),
        Action::Store { .. } | Action::StoreConverted { .. } => Some(MemoryAct::Write),
        Action::Atomic { .. } => Some(MemoryAct::Atomic),
        _ => None,
    }
}

/// Whether machine code has this form for atomic loads and stores, too.
fn may_be_atomic(action: &Action) -> bool {
    match action {
        Action::Load { bytes, .. } | Action::LoadBuffer { bytes, .. } => matches!(bytes, 4 | 8),
        Action::Store { bytes, skip, .. } => matches!(bytes, 4 | 8) && *skip == 0,
        // Texels of one component of 32 bits have atomics.
        Action::LoadConverted { .. } | Action::StoreConverted { .. } | Action::LoadTexel { .. } => {
            true
        }
        _ => false,
    }
}

/// The lowest `bytes` of a value.
fn lowest(value: u128, bytes: u8) -> u128 {
    match bytes {
        0 => 0,
        1..16 => value & ((1 << (8 * u32::from(bytes))) - 1),
        _ => value,
    }
}

impl Sender<'_> {
    /// Whose memory the warp's is.
    fn holder(&self) -> Holder {
        (self.fabric.journal.job(), self.place.core)
    }

    /// A message of the running lanes was done.
    pub(super) fn observe(
        &mut self,
        warp: &mut Warp,
        instruction: &Instruction,
        message: &Message,
    ) {
        let own = self.environment.own_memory(self.place);
        match &message.action {
            Action::Load {
                placement,
                unsigned,
                bytes,
                ..
            } => self.follow_load(
                warp,
                instruction,
                message,
                &own,
                (*placement, *unsigned, *bytes),
            ),
            Action::Store { skip, .. } => {
                self.follow_store(warp, instruction, message, &own, *skip)
            }
            Action::StoreConverted { .. } => self.define_stored(&own),
            // Each lane of an atomic was followed as it was done.
            Action::Atomic { .. } => {}
            _ => {
                let written = instruction.writes;
                let lanes = warp.lanes;
                warp.other_registers().define(written, lanes);
            }
        }
        self.tell(warp, instruction, message, &own);
    }

    fn tell(&mut self, warp: &Warp, instruction: &Instruction, message: &Message, own: &OwnMemory) {
        let Some(act) = act_of(&message.action) else {
            return;
        };
        if let Action::Store { skip, .. } = message.action {
            for access in &mut self.touched.accesses {
                let value = staged(warp, message.read, access.lane.into());
                access.value = lowest(value >> (8 * u32::from(skip)), access.bytes);
            }
        }
        if let Action::StoreConverted { .. } = message.action {
            // What the texels become is not kept; those of the same registers are the same.
            for access in &mut self.touched.accesses {
                let staged = staged(warp, message.read, access.lane.into());
                let mixed = staged.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) >> 96;
                access.value = mixed | mixed << 32 | mixed << 64 | mixed << 96;
            }
        }
        let mut accesses = self.touched.accesses.iter();
        let is_word = accesses.all(|access| matches!(access.bytes, 4 | 8));
        if let Some((sink, workgroup)) = self.fabric.journal.access_sink() {
            sink.accesses(&WarpAccess {
                workgroup,
                first_thread: warp.first_thread,
                instruction: (self.address, instruction.word),
                lanes: warp.lanes,
                joined: warp.joined,
                act,
                may_be_atomic: may_be_atomic(&message.action) && is_word,
                own,
                accesses: &self.touched.accesses,
            });
        }
    }

    /// The load of a lane, as it is told.
    fn load_of(
        &self,
        warp: &Warp,
        word: u64,
        own: &OwnMemory,
        (lane, address): (usize, u64),
    ) -> UndefinedLoad {
        let sort = own.sort(address);
        let offset = match sort {
            MemorySort::Shared => address - own.shared.start,
            MemorySort::Scratch => {
                (address - own.scratch.start) % self.environment.tls_bytes.max(1)
            }
            MemorySort::Global => 0,
        };
        UndefinedLoad {
            instruction: (self.address, word),
            sort,
            address,
            offset,
            thread: warp.first_thread + lane as u32,
        }
    }

    fn follow_load(
        &mut self,
        warp: &mut Warp,
        instruction: &Instruction,
        message: &Message,
        own: &OwnMemory,
        form: (Placement, bool, u8),
    ) {
        let (placement, _, bytes) = form;
        let first = message.write.0;
        let written = written_range(message.write);
        let accesses = core::mem::take(&mut self.touched.accesses);
        for access in &accesses {
            let lane = usize::from(access.lane);
            let sort = own.sort(access.address);
            let place = (access.address, access.bytes);
            let met = match sort {
                MemorySort::Global => None,
                _ => self.fabric.undefined.load(self.holder(), sort, place),
            };
            let followed = match met {
                Some(met) => Some(met),
                // What is read is what it is, but half of the register may keep something undefined.
                None if warp.others.is_some() => Some(Met {
                    differences: [0; OTHERS],
                    load: None,
                }),
                None => None,
            };
            let Some(met) = followed else { continue };
            let load = met.load.unwrap_or_else(|| {
                self.load_of(warp, instruction.word, own, (lane, access.address))
            });
            let value = loaded(warp, lane, first, (placement, bytes));
            let mut put = |warp: &mut Warp, number: usize| {
                let value = value ^ met.differences[number];
                set_loaded(warp, lane, first, form, value);
            };
            if met.differences == [0; OTHERS] {
                warp.other_registers().set_marked(written, put);
            } else {
                warp.other_registers().set(written, load, &mut put);
            }
        }
        self.touched.accesses = accesses;
    }

    fn follow_store(
        &mut self,
        warp: &Warp,
        instruction: &Instruction,
        message: &Message,
        own: &OwnMemory,
        skip: u8,
    ) {
        let holder = self.holder();
        let accesses = core::mem::take(&mut self.touched.accesses);
        for access in &accesses {
            let (lane, bytes) = (usize::from(access.lane), access.bytes);
            let sort = own.sort(access.address);
            let other = warp.other_staged(message.read, lane);
            let stored = match other {
                None => ([0; OTHERS], None),
                Some((others, load)) => {
                    let staged = staged(warp, message.read, lane);
                    let shift = 8 * u32::from(skip);
                    let differences = others.map(|other| lowest((other ^ staged) >> shift, bytes));
                    (differences, Some(load))
                }
            };
            match (sort, stored.1) {
                (MemorySort::Global, Some(load)) if stored.0 != [0; OTHERS] => {
                    report_use(self.fabric, warp, instruction, (lane, Decides::Store), load);
                }
                (MemorySort::Global, _) => {}
                _ => {
                    let place = (access.address, bytes);
                    self.fabric.undefined.store(holder, sort, place, stored);
                }
            }
        }
        self.touched.accesses = accesses;
    }

    /// What a converting store has written counts as defined.
    fn define_stored(&mut self, own: &OwnMemory) {
        for access in &self.touched.accesses {
            let place = (access.address, access.bytes);
            let (holder, sort) = (self.holder(), own.sort(access.address));
            self.fabric
                .undefined
                .store(holder, sort, place, ([0; OTHERS], None));
        }
    }

    /// A lane of an atomic was done: `combine` makes what it leaves behind, of what was there and the staging registers. What it would
    /// have read under the other contents, with where that was loaded.
    pub(super) fn follow_atomic(
        &mut self,
        warp: &Warp,
        (word, read): (u64, (u8, u8)),
        (lane, access): (usize, LaneAccess),
        (old, new): (u64, u64),
        combine: impl Fn(u64, u128) -> u64,
    ) -> Option<([u64; OTHERS], UndefinedLoad)> {
        let own = self.environment.own_memory(self.place);
        let sort = own.sort(access.address);
        let place = (access.address, access.bytes);
        let holder = self.holder();
        let met = self.fabric.undefined.load(self.holder(), sort, place);
        let other = warp.other_staged(read, lane);
        if met.is_none() && other.is_none() {
            if sort != MemorySort::Global {
                let defined = ([0; OTHERS], None);
                self.fabric.undefined.store(holder, sort, place, defined);
            }
            return None;
        }
        let own_load = self.load_of(warp, word, &own, (lane, access.address));
        let load = match (&met, other) {
            (Some(met), _) => met.load.unwrap_or(own_load),
            (None, Some((_, load))) => load,
            (None, None) => own_load,
        };
        let staged = staged(warp, read, lane);
        let olds: [u64; OTHERS] = core::array::from_fn(|number| {
            old ^ met.as_ref().map_or(0, |met| met.differences[number] as u64)
        });
        let differences = core::array::from_fn(|number| {
            let staged = other.map_or(staged, |(others, _)| others[number]);
            lowest(
                u128::from(combine(olds[number], staged) ^ new),
                access.bytes,
            )
        });
        match sort {
            MemorySort::Global if differences != [0; OTHERS] => {
                if let Some((sink, workgroup)) = self.fabric.journal.access_sink() {
                    sink.undefined(&crate::trace::UndefinedUse {
                        workgroup,
                        thread: warp.first_thread + lane as u32,
                        instruction: (self.address, word),
                        decides: Decides::Atomic,
                        load,
                    });
                }
            }
            MemorySort::Global => {}
            _ => {
                let stored = (differences, Some(load));
                self.fabric.undefined.store(holder, sort, place, stored);
            }
        }
        Some((olds, load))
    }
}

/// What a lane has loaded, from where the load has put it.
fn loaded(warp: &Warp, lane: usize, first: u8, (placement, bytes): (Placement, u8)) -> u128 {
    let register = |index: u8| {
        let register = usize::from(first.wrapping_add(index) & 63);
        warp.registers[register][lane]
    };
    let value = match placement {
        Placement::Byte(byte) => u128::from(register(0) >> (8 * u32::from(byte))),
        Placement::Half(half) => u128::from(register(0) >> (16 * u32::from(half))),
        Placement::Word => register(0).into(),
        Placement::Pair => staged(warp, (first, 2), lane),
        Placement::Registers => staged(warp, (first, bytes.div_ceil(4)), lane),
    };
    lowest(value, bytes)
}

impl Touched {
    /// A lane's access of so many bytes.
    pub(super) fn access(lane: usize, address: u64, bytes: u8) -> LaneAccess {
        LaneAccess {
            lane: lane as u8,
            address,
            bytes,
            value: 0,
        }
    }
}
