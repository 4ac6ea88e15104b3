//! Caches: what each side writes, the other sees, whole lines and parts of lines.
//!
//! Facts: hardware/csf-mmio.md 6 and 13, gpu-mmu.md 4; boards.md 3.1 (who keeps caches up); command-stream.md 1.10 and 6.8 (texels).

use crate::bench::{Bench, Grid, Work, bytes_of};
use crate::programs::IMAGE_HANDLE;
use crate::raw::{LIMIT, Raw};
use crate::result::{Trouble, Unit, Verdict, failed};
use crate::tools::{DOUBLE_ADD, FETCH_TEXEL, STORE_TEXEL};
use alloc::vec;
use alloc::vec::Vec;
use eitri_csf::command::{CacheFlush, GpuCommand, ResetKind};
use eitri_csf::registers::doorbell::LATEST_FLUSH;
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};
use eitri_descriptors::formats::VkFormat;
use eitri_runtime::{Image, ImageInfo, ImagePart, Platform, Queue, Space};

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

/// Rows of an image of 16 by so many texels: a workgroup of [`STORE_TEXEL`] has one.
const ROWS: u32 = 16;
const TEXELS: u32 = 16 * ROWS;

/// What each core stores in an image, its texture unit fetches, also where it has fetched the texels before: its caches of textures
/// are read-only and must forget them when they are told to. The same of texels that the CPU writes.
pub(crate) fn texture<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let Some(format) = VkFormat::of_name(it.programs.arch, "R32_UINT") else {
        return Err(failed!("no format R32_UINT on {}", it.programs.arch));
    };
    for core in it.cores() {
        let queue = it.queue_of(core)?;
        let space = it.device.space(queue)?;
        let image = it
            .device
            .create_image(space, ImageInfo::two_d(format, 16, ROWS))?;
        let outcome = texture_on(it, queue, (space, image));
        it.device.settle();
        let gone = it.device.destroy_image(image);
        outcome.map_err(|trouble| match trouble {
            Trouble::Failed(why) => failed!("core {core}: {why}"),
            skipped => skipped,
        })?;
        gone?;
    }
    Ok(())
}

/// The same on the core of a queue.
fn texture_on<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    queue: Queue,
    image: (Space, Image),
) -> Verdict {
    let fetch = Grid {
        groups: ROWS,
        push: &[0, IMAGE_HANDLE],
    };
    let (fetching, storing) = (it.program(FETCH_TEXEL)?, it.program(STORE_TEXEL)?);
    let fetching = it.work_on_image(image, fetching, &vec![0; TEXELS as usize], fetch)?;
    let storing = it.work_on_image(image, storing, &[0], fetch)?;
    let mut outcome = Ok(());
    for round in 0..3_u32 {
        let (by_cpu, by_gpu) = (0x1000 * (2 * round + 1), 0x1000 * (2 * round + 2));
        let texels: Vec<u32> = (by_cpu..by_cpu + TEXELS).collect();
        let part = ImagePart::default();
        it.device.write_image(image.1, part, &bytes_of(&texels))?;
        outcome = fetched(it, queue, &fetching, ("the CPU wrote", by_cpu));
        let store = Grid {
            groups: ROWS,
            push: &[by_gpu, IMAGE_HANDLE],
        };
        it.record(&storing, store)?;
        outcome = outcome.and_then(|()| {
            let fence = it.device.submit(queue, storing.commands)?;
            it.finish(fence)?;
            fetched(it, queue, &fetching, ("a shader stored", by_gpu))
        });
        if outcome.is_err() {
            break;
        }
    }
    it.drop(&fetching)?;
    it.drop(&storing)?;
    outcome
}

/// Fetches the texels, which count up from a first one.
fn fetched<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    queue: Queue,
    fetching: &Work,
    (who, first): (&str, u32),
) -> Verdict {
    let fence = it.device.submit(queue, fetching.commands)?;
    it.finish(fence)?;
    let found = it.words(fetching)?;
    let mut pairs = (first..).zip(found).enumerate();
    match pairs.find(|(_, (wanted, word))| word != wanted) {
        None => Ok(()),
        Some((n, (wanted, word))) => Err(failed!(
            "texel {}, {} is fetched as {word:#x}, {who} {wanted:#x}: are the caches of textures invalidated?",
            n % 16,
            n / 16
        )),
    }
}
