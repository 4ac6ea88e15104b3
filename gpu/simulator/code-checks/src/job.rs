//! A compute job under the checkers.

use eitri_checks::code_race::{Act, CodeRaces, Lane, Memory, Message, Race};
use eitri_model::{MemoryAct, MemorySort, WarpAccess, WorkgroupPlace, WorkgroupStep};
use std::collections::HashMap;

/// Warps of a workgroup at most: numbers of warps are unique in a job by this.
const WARPS: u32 = 1 << 8;
/// Workgroups of a job whose accesses are checked at most; their numbers, with those of warps, have 32 bits.
const WORKGROUPS: u64 = 1 << 24;

/// A compute job.
#[derive(Debug, Default)]
pub(crate) struct Job {
    races: CodeRaces,
    /// Where its threads begin.
    pub(crate) entry: u64,
    /// Instructions by their numbers: address and word.
    sites: Vec<(u64, u64)>,
    numbers: HashMap<(u64, u64), u32>,
    /// Workgroups in x and y.
    pub(crate) size: [u32; 2],
    lanes: Vec<Lane>,
    /// Workgroups were left out.
    left_out: bool,
}

/// An invocation that accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub(crate) workgroup: [u32; 3],
    /// Number of the warp in the workgroup, and of the lane in the warp.
    pub(crate) warp: u32,
    pub(crate) lane: u32,
}

fn act(act: MemoryAct) -> Act {
    match act {
        MemoryAct::Read => Act::Read,
        MemoryAct::Write => Act::Write,
        MemoryAct::Atomic => Act::Atomic,
    }
}

impl Job {
    /// Something happens to a workgroup.
    pub(crate) fn workgroup(&mut self, place: WorkgroupPlace, step: WorkgroupStep) {
        let Some(group) = group_of(place) else {
            return;
        };
        match step {
            WorkgroupStep::Begun { entry } => self.entry = entry,
            WorkgroupStep::Barrier => self.races.barrier(group),
            WorkgroupStep::Ended => self.races.end(group),
        }
    }

    /// A message was done.
    pub(crate) fn accesses(&mut self, access: &WarpAccess<'_>) {
        let (Some(group), true) = (group_of(access.workgroup), access.first_thread / 16 < WARPS)
        else {
            self.left_out = true;
            return;
        };
        let mut lanes = std::mem::take(&mut self.lanes);
        lanes.clear();
        for lane in access.accesses {
            let (memory, start) = match access.own.sort(lane.address) {
                MemorySort::Shared => (Memory::Shared, lane.address - access.own.shared.start),
                MemorySort::Global => (Memory::Global, lane.address),
                // A thread has its own.
                MemorySort::Scratch => continue,
            };
            lanes.push(Lane {
                lane: lane.lane,
                memory,
                start,
                bytes: lane.bytes,
                value: lane.value,
            });
        }
        if !lanes.is_empty() {
            let site = self.site(access.instruction);
            self.races.message(&Message {
                group,
                warp: group * WARPS + access.first_thread / 16,
                running: access.lanes,
                joined: access.joined,
                act: act(access.act),
                may_be_atomic: access.may_be_atomic,
                site,
                lanes: &lanes,
            });
        }
        self.lanes = lanes;
    }

    fn site(&mut self, instruction: (u64, u64)) -> u32 {
        if let Some(last) = self.numbers.get(&instruction) {
            return *last;
        }
        let number = self.sites.len() as u32;
        self.sites.push(instruction);
        self.numbers.insert(instruction, number);
        number
    }

    /// What races, in the order in which it was found.
    pub(crate) fn races(&self) -> impl Iterator<Item = Race> {
        self.races.races()
    }

    /// Address and word of an instruction.
    pub(crate) fn instruction(&self, site: u32) -> (u64, u64) {
        self.sites.get(site as usize).copied().unwrap_or_default()
    }

    /// Who a party of a race is.
    pub(crate) fn invocation(&self, group: u32, warp: u32, lane: u8) -> Invocation {
        let [x, y] = self.size.map(|size| size.max(1));
        Invocation {
            workgroup: [group % x, group / x % y, group / x / y],
            warp: warp % WARPS,
            lane: lane.into(),
        }
    }

    /// Whether some of it was not checked, because it accesses more memory than is followed.
    pub(crate) fn is_cut(&self) -> bool {
        self.left_out || self.races.is_full()
    }
}

fn group_of(place: WorkgroupPlace) -> Option<u32> {
    (place.number < WORKGROUPS).then_some(place.number as u32)
}
