//! Performance counters: they count what was done, and nothing while nothing is done.
//!
//! Facts: hardware/csf-perfcnt.md 1 to 4.

use crate::bench::{Bench, Grid};
use crate::result::{Trouble, Unit, Verdict, failed};
use crate::tools::DOUBLE_ADD;
use alloc::vec;
use eitri_runtime::{Counts, Platform};

/// Workgroups of the job that is counted: of one warp each.
const GROUPS: u32 = 64;

pub(crate) fn counters<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    it.device.start_counters()?;
    let outcome = counted(it);
    let stopped = it.device.stop_counters();
    outcome?;
    Ok(stopped?)
}

fn sample<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Result<Counts, Trouble> {
    let mut counts = Counts::new(it.device.properties().arch);
    it.device.sample_counters(&mut counts)?;
    if counts.lost() {
        return Err(failed!("samples were lost"));
    }
    Ok(counts)
}

fn counted<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let program = it.program(DOUBLE_ADD)?;
    let queue = it.queue()?;
    let words = vec![0; 16 * GROUPS as usize];
    let grid = Grid {
        groups: GROUPS,
        push: &[1],
    };
    sample(it)?;
    let ran = it.run(queue, program, &words, grid);
    let busy = sample(it);
    let _ = it.device.cancel(queue);
    it.device.settle();
    it.device.destroy_queue(queue)?;
    ran?;
    let busy = busy?;
    let active = busy.get("GPU_ACTIVE").unwrap_or(0);
    it.measure("gpu-active", active, Unit::Count);
    let warps = busy.get("COMPUTE_WARPS");
    if let Some(warps) = warps {
        it.measure("warps", warps, Unit::Count);
    }
    if active == 0 {
        return Err(failed!("GPU_ACTIVE has counted nothing while a job ran"));
    }
    // A workgroup of 16 threads is a warp.
    match warps {
        Some(warps) if warps != u64::from(GROUPS) => {
            return Err(failed!("COMPUTE_WARPS = {warps} for {GROUPS} warps"));
        }
        _ => {}
    }
    for name in ["LS_MEM_READ_FULL", "LS_MEM_WRITE_FULL", "MMU_REQUESTS"] {
        if busy.get(name) == Some(0) {
            return Err(failed!(
                "{name} has counted nothing while a job loaded and stored"
            ));
        }
    }
    let idle = sample(it)?;
    for name in ["COMPUTE_WARPS", "LS_MEM_READ_FULL", "LS_MEM_WRITE_FULL"] {
        if let Some(count @ 1..) = idle.get(name) {
            return Err(failed!("{name} has counted {count} while nothing ran"));
        }
    }
    Ok(())
}
