//! A wave: its lanes in groups that stand at the same instruction, its registers, and what is in flight.
//!
//! The group at the lowest address runs; others wait where they are until it comes by, or until nobody stands before them.
//! Facts: hardware/ir3-isa.md section 7.

use eitri_ir3_isa::{Gen, Reg, Width};

use crate::fault::FaultKind;
use crate::hazards::{Hazards, SharedHazards};
use crate::lanes::Lanes;
use crate::launch::Launch;
use crate::registers::Registers;

/// Lanes that go the same way.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) lanes: Lanes,
    pub(crate) pc: u32,
    /// Others ran since it came here: it goes on only at (jp).
    waited: bool,
    pub(crate) hazards: Hazards,
}

/// A wave of a workgroup.
#[derive(Clone, Debug)]
pub(crate) struct Wave {
    pub(crate) number: u32,
    pub(crate) groups: Vec<Group>,
    pub(crate) registers: Registers,
    pub(crate) shared_hazards: SharedHazards,
    /// Private memory of all lanes, one after the other.
    pub(crate) private: Vec<u8>,
    /// It waits at a barrier.
    pub(crate) at_barrier: bool,
}

impl Wave {
    /// Wave `number` of a workgroup, with its ids in registers.
    pub(crate) fn new(
        number: u32,
        workgroup: [u32; 3],
        launch: &Launch,
        generation: Gen,
    ) -> Result<Self, FaultKind> {
        let [width, height, depth] = launch.local_size;
        let invocations = width * height * depth;
        let first = number * launch.lanes;
        let live = Lanes::below((invocations - first).min(launch.lanes));
        let footprint = launch.full_registers;
        let mut registers = Registers::new(generation, launch.lanes, footprint);
        for lane in live.iter() {
            let index = first + lane;
            let ids = [
                index % width,
                index / width % height,
                index / (width * height),
            ];
            if let Some(start) = launch.local_id {
                for (id, number) in ids.into_iter().zip(start..) {
                    registers.set(Reg::of_number(number, Width::Full), lane, id)?;
                }
            }
        }
        if let Some(start) = launch.workgroup_id {
            let start = usize::from(start.saturating_sub(Reg::NORMAL));
            for (id, number) in workgroup.into_iter().zip(start..) {
                if let Some(register) = registers.shared.get_mut(number) {
                    *register = id;
                }
            }
        }
        let private = launch.private_bytes as usize * launch.lanes as usize;
        Ok(Self {
            number,
            groups: vec![Group {
                lanes: live,
                pc: 0,
                waited: false,
                hazards: Hazards::default(),
            }],
            registers,
            shared_hazards: SharedHazards::default(),
            private: vec![0; private],
            at_barrier: false,
        })
    }

    /// True if all its lanes have ended.
    pub(crate) fn is_done(&self) -> bool {
        self.groups.is_empty()
    }

    /// Puts the group that runs next at the end of the list, joined with all that stand where it does; tells whether one of them
    /// had waited there. `None` if all lanes have ended.
    pub(crate) fn choose(&mut self) -> Option<bool> {
        let pc = self.groups.iter().map(|group| group.pc).min()?;
        let here = |group: &mut Group| group.pc == pc;
        let mut joined: Option<Group> = None;
        let mut waited = false;
        for group in self.groups.extract_if(.., here) {
            waited |= group.waited;
            match &mut joined {
                None => joined = Some(group),
                Some(joined) => {
                    // Two groups at one place: at least one came there before the other.
                    waited = true;
                    joined.lanes = joined.lanes.with(group.lanes);
                    joined.hazards.join(&group.hazards);
                }
            }
        }
        for group in &mut self.groups {
            group.waited = true;
        }
        let mut joined = joined?;
        joined.waited = false;
        self.groups.push(joined);
        Some(waited)
    }

    /// How many places lanes wait in.
    pub(crate) fn waiting_places(&self) -> u32 {
        // Those that leave a loop in different rounds wait in one place.
        let mut places: Vec<u32> = self.groups.iter().map(|group| group.pc).collect();
        places.sort_unstable();
        places.dedup();
        // One of them runs.
        places.len().saturating_sub(1) as u32
    }

    /// The group that [`Self::choose`] chose.
    pub(crate) fn running(&mut self) -> Option<&mut Group> {
        self.groups.last_mut()
    }

    /// Sends some lanes of the running group to `target` and the others to the next instruction.
    pub(crate) fn branch(&mut self, taken: Lanes, target: u32) {
        let Some(group) = self.groups.last_mut() else {
            return;
        };
        let stay = group.lanes.without(taken);
        let next = group.pc + 1;
        if taken.is_empty() {
            group.pc = next;
        } else if stay.is_empty() {
            group.pc = target;
        } else {
            let mut other = group.clone();
            (group.lanes, group.pc) = (stay, next);
            (other.lanes, other.pc) = (taken, target);
            self.groups.push(other);
        }
    }

    /// Ends the running group.
    pub(crate) fn end(&mut self) {
        self.groups.pop();
    }
}
