//! Caches: what each side writes, the other sees, whole lines and parts of lines.
//!
//! Facts: hardware/csf-mmio.md 6 and 13, gpu-mmu.md 4; boards.md 3.1 (who keeps caches up).

use crate::bench::{Bench, Grid, bytes_of};
use crate::raw::{LIMIT, Raw};
use crate::result::{Unit, Verdict, failed};
use crate::tools::DOUBLE_ADD;
use alloc::vec::Vec;
use eitri_csf::command::{CacheFlush, GpuCommand, ResetKind};
use eitri_csf::registers::doorbell::LATEST_FLUSH;
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};
use eitri_runtime::Platform;

/// A flush ends, says so, and has a new id.
pub(crate) fn flush<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    it.reset(ResetKind::Soft)?;
    it.prepare_l2();
    it.switch_l2(true)?;
    let done = gpu_irq::CLEAN_CACHES_COMPLETED.mask();
    let mut outcome = Ok(());
    for _ in 0..3 {
        let before = it.read(LATEST_FLUSH);
        it.write(GPU_IRQ.clear, done);
        it.command(GpuCommand::FlushCaches(CacheFlush::ALL));
        outcome = it
            .until(GPU_IRQ.rawstat, done, done, LIMIT)
            .and_then(|took| {
                it.measure("flush", took.as_micros() as u64, Unit::Microseconds);
                let after = it.read(LATEST_FLUSH);
                match after == before {
                    true => Err(failed!(
                        "LATEST_FLUSH is {after:#x} before and after a flush"
                    )),
                    false => Ok(()),
                }
            });
        if outcome.is_err() {
            break;
        }
    }
    it.write(GPU_IRQ.clear, done);
    it.measured.truncate(1);
    let off = it.switch_l2(false);
    outcome?;
    off?;
    Ok(())
}

/// Words of the buffer that both sides write: several pages of lines.
const WORDS: u32 = 8192;

/// Both sides write all of a buffer in turn, and each sees what the other wrote.
pub(crate) fn coherency<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let program = it.program(DOUBLE_ADD)?;
    let queue = it.queue()?;
    let space = it.device.space(queue)?;
    let pattern =
        |round: u32, n: u32| (n ^ round.wrapping_mul(0x5851_F42D)).wrapping_mul(0x9E37_79B1);
    let words: Vec<u32> = (0..WORDS).map(|n| pattern(0, n)).collect();
    let grid = Grid {
        groups: WORDS / 16,
        push: &[7],
    };
    let work = it.work(space, program, &words, grid)?;
    let outcome = (1..=3).try_for_each(|round| {
        let fence = it.device.submit(queue, work.commands)?;
        it.finish(fence)?;
        let found = it.words(&work)?;
        for (n, word) in (0..).zip(&found) {
            let wanted = pattern(round - 1, n).wrapping_mul(2).wrapping_add(7);
            if *word != wanted {
                return Err(failed!(
                    "round {round}: word {n} of the buffer (line {}) is {word:#010x}, the GPU should have made {wanted:#010x} of what the CPU wrote",
                    n / 16
                ));
            }
        }
        let next: Vec<u32> = (0..WORDS).map(|n| pattern(round, n)).collect();
        it.device.write_buffer(work.buffer, 0, &bytes_of(&next))?;
        Ok(())
    });
    it.drop(&work)?;
    it.device.destroy_queue(queue)?;
    outcome
}

/// Both sides write words of the same lines: neither loses what the other wrote.
pub(crate) fn shared_lines<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let program = it.program(crate::tools::STORE_AT)?;
    let queue = it.queue()?;
    let space = it.device.space(queue)?;
    let before: Vec<u32> = (0..256).map(|n| 0xC0DE_0000 | n).collect();
    let grid = Grid {
        groups: 8,
        push: &[],
    };
    let work = it.work(space, program, &before, grid)?;
    let address = it.device.buffer_address(work.buffer)?.0;
    // Every other word is the GPU's.
    let push = [address as u32, (address >> 32) as u32, 8, 0xF00D_0000];
    it.record(
        &work,
        Grid {
            groups: 8,
            push: &push,
        },
    )?;
    let fence = it.device.submit(queue, work.commands)?;
    let ended = it.finish(fence);
    let found = ended.and_then(|()| it.words(&work));
    it.drop(&work)?;
    it.device.destroy_queue(queue)?;
    for (n, word) in (0..).zip(found?) {
        let wanted = match n % 2 {
            0 => 0xF00D_0000 + n / 2,
            _ => 0xC0DE_0000 | n,
        };
        if word != wanted {
            return Err(failed!(
                "word {n} of a line that both sides write is {word:#010x}, expected {wanted:#010x}"
            ));
        }
    }
    Ok(())
}
