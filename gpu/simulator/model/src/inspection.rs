//! What a debugger sees of the device between two instructions, and how it goes on by one.
//!
//! Guarantees: jobs compute what they would compute; warps have turns of one instruction. A run that nobody inspects is not slowed.
//! In reading order: this file (compute jobs, memory); `turn` (the job whose turn is next, and its warps); `tile` (pixels).
//! Facts: none but those of `shader`, `tile` and `work`, whose state is shown.

mod tile;
mod turn;

use crate::clock::Nanoseconds;
use crate::gpu::{Budget, Gpu, Progress};
use crate::memory::{PAGE, PhysicalMemory};
use crate::shader::{WARP, Warp};
use alloc::vec::Vec;
pub use tile::{Attachments, TileView};
pub use turn::{DrawLanes, DrawWarpView, Shading, TurnView};

/// A warp between two instructions.
#[derive(Clone, Copy, Debug)]
pub struct WarpView<'g> {
    warp: &'g Warp,
}

impl<'g> WarpView<'g> {
    pub(crate) fn of(warp: &'g Warp) -> WarpView<'g> {
        WarpView { warp }
    }

    /// Number of its first thread in the workgroup.
    pub fn first_thread(&self) -> u32 {
        self.warp.first_thread
    }

    /// Lanes that it began with, a bit each.
    pub fn started(&self) -> u16 {
        self.warp.all
    }

    /// Lanes that have not ended.
    pub fn live(&self) -> u16 {
        self.warp.live
    }

    /// Lanes that wait at a barrier.
    pub fn waiting(&self) -> u16 {
        self.warp.waiting
    }

    /// The lanes that run next, and where they are; none if no lane can.
    pub fn next(&self) -> Option<(u16, u64)> {
        if self.warp.lanes != 0 {
            return Some((self.warp.lanes, self.warp.pc));
        }
        let candidates = self.warp.candidates();
        let lanes = (0..WARP).filter(|lane| candidates >> lane & 1 != 0);
        let pc = lanes.clone().map(|lane| self.warp.pcs[lane]).min()?;
        let here = lanes.filter(|lane| self.warp.pcs[*lane] == pc);
        Some((here.fold(0, |all, lane| all | 1 << lane), pc))
    }

    /// Where a lane goes on.
    pub fn pc(&self, lane: usize) -> u64 {
        match self.warp.lanes >> (lane % WARP) & 1 {
            1 => self.warp.pc,
            _ => self.warp.pcs[lane % WARP],
        }
    }

    /// A register of a lane; none if it holds nothing that may be read.
    pub fn register(&self, register: u8, lane: usize) -> Option<u32> {
        let (register, lane) = (usize::from(register), lane % WARP);
        let values = self.warp.registers.get(register)?;
        let holds = self.warp.valid_everywhere >> register & 1 != 0
            || self.warp.valid[register] >> lane & 1 != 0;
        holds.then(|| values[lane])
    }

    /// Registers that messages write whose results were not waited for, a bit each.
    pub fn pending(&self) -> u64 {
        self.warp.pending
    }
}

/// A compute job between two instructions.
#[derive(Clone, Debug)]
pub struct DispatchView<'g> {
    /// Its address space.
    pub space: u8,
    /// Where its threads begin.
    pub entry: u64,
    /// Threads of a workgroup in x, y, z.
    pub size: [u32; 3],
    /// Registers that a thread has, a bit each.
    pub registers: u64,
    /// The words of the uniforms.
    pub uniforms: &'g [u32],
    /// Address and bytes of a workgroup's shared memory on core 0.
    pub shared: (u64, u64),
    /// Instructions that its warps have executed.
    pub executed: u64,
    /// The workgroup that runs next, if one runs.
    pub workgroup: Option<WorkgroupView<'g>>,
}

/// A workgroup between two instructions.
#[derive(Clone, Debug)]
pub struct WorkgroupView<'g> {
    /// Its id.
    pub id: [u32; 3],
    /// The core that it is on.
    pub core: u8,
    /// Its warps.
    pub warps: Vec<WarpView<'g>>,
    /// The warp that runs next: none if all have ended or wait.
    pub next: Option<usize>,
}

/// Virtual time that one instruction may take at most, with all that the device does meanwhile.
const STEP_TIME: Nanoseconds = 1_000_000_000;
/// Looks at the device until an instruction is executed.
const STEP_LOOKS: u32 = 100_000;

impl Gpu {
    /// The compute job that runs; none if there is none.
    pub fn dispatch(&self) -> Option<DispatchView<'_>> {
        self.mcu.cores().compute()?.view(&self.fabric)
    }

    /// Does what the next turn of the compute job would do before an instruction: workgroups begin and end, barriers open.
    pub fn settle_dispatch(&mut self) {
        let ready = self.ready_cores();
        if let Some(job) = self.mcu.cores_mut().compute_mut() {
            job.settle(&mut self.fabric, ready);
        }
    }

    /// Goes on until a warp of the compute job has executed an instruction, or the job is over. Whether the job goes on.
    pub fn step_dispatch(&mut self, memory: &mut dyn PhysicalMemory) -> bool {
        let Some(before) = self.dispatch().map(|view| view.executed) else {
            return false;
        };
        for _ in 0..STEP_LOOKS {
            let budget = Budget {
                time: STEP_TIME,
                instructions: 1,
            };
            let progress = self.run(memory, budget);
            match self.dispatch() {
                None => return false,
                Some(view) if view.executed != before => return true,
                Some(_) => {}
            }
            if !matches!(progress, Progress::Busy | Progress::Interrupt) {
                return false;
            }
        }
        false
    }

    /// The physical address behind a virtual one of a space, if it is mapped; nothing of the device changes.
    pub fn physical(
        &self,
        memory: &mut dyn PhysicalMemory,
        space: u8,
        address: u64,
    ) -> Option<u64> {
        let page = self.fabric.mmu.look(memory, space, address)?;
        Some(page.frame + address % PAGE)
    }

    /// Bytes at a virtual address of a space, as far as they are mapped; nothing of the device changes.
    pub fn peek(
        &self,
        memory: &mut dyn PhysicalMemory,
        space: u8,
        address: u64,
        bytes: u64,
    ) -> Vec<u8> {
        let mut found = Vec::new();
        let end = address.saturating_add(bytes);
        let mut at = address;
        while at < end {
            let length = (PAGE - at % PAGE).min(end - at);
            let Some(page) = self.fabric.mmu.look(memory, space, at) else {
                break;
            };
            let mut part = alloc::vec![0; length as usize];
            if memory.read(page.frame + at % PAGE, &mut part).is_err() {
                break;
            }
            found.extend_from_slice(&part);
            at += length;
        }
        found
    }
}
