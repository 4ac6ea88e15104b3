//! Memory: each data and address line, how much of it flows, and how long one access takes, in several patterns.
//!
//! What is measured is the test shader's, through all caches: compare it with the same board's numbers of another day.

use crate::bench::{Bench, Grid};
use crate::result::{Unit, Verdict, failed};
use crate::tools::{CHASE, COPY, LOAD_AT};
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_runtime::Platform;

/// Bytes that a workgroup of the copy moves.
const GROUP: u32 = 64 * 16;

fn rate(bytes: u64, took: Duration) -> u64 {
    let nanoseconds = took.as_nanos().max(1);
    (u128::from(bytes) * 1_000_000 / nanoseconds) as u64
}

/// Walking ones and zeros through every line of the data bus: what comes back is what was written.
pub(crate) fn data_lines<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let program = it.program(COPY)?;
    let queue = it.queue()?;
    // 16 bytes a thread: a walking bit in each of 128 places, and its complement.
    let walking = |n: usize| match (n / 4 % 128, n % 4) {
        (bit, word) if bit / 32 == word => 1_u32 << (bit % 32),
        _ => 0,
    };
    let half = 2 * 128 * 4;
    let pattern = |n: usize| {
        if n < half / 2 {
            walking(n)
        } else {
            !walking(n)
        }
    };
    let words: Vec<u32> = (0..2 * half)
        .map(|n| if n < half { pattern(n) } else { 0 })
        .collect();
    let grid = Grid {
        groups: 4 * half as u32 / GROUP,
        push: &[4 * half as u32],
    };
    let found = it.run(queue, program, &words, grid);
    it.device.destroy_queue(queue)?;
    let found = found?;
    for (n, word) in found.iter().enumerate() {
        let wanted = pattern(n % half);
        if *word != wanted {
            return Err(failed!(
                "word {} of the copy is {word:#010x}, expected {wanted:#010x}: bits {:#x} of data line {}",
                n % half,
                word ^ wanted,
                n % 4 * 32
            ));
        }
    }
    Ok(())
}

/// Each address line: a word at every power of two has a value of its own.
pub(crate) fn address_lines<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    const BYTES: u64 = 4 << 20;
    let program = it.program(LOAD_AT)?;
    let queue = it.queue()?;
    let space = it.device.space(queue)?;
    let grid = Grid {
        groups: 1,
        push: &[],
    };
    let work = it.work(space, program, &[0; 16], grid)?;
    let buffer = it.device.create_buffer(space, BYTES)?;
    let address = it.device.buffer_address(buffer)?.0;
    let places: Vec<u64> = core::iter::once(0)
        .chain((2..22).map(|bit| 1 << bit))
        .collect();
    for (n, place) in (1_u32..).zip(&places) {
        let word = (0xADD0_0000 | n).to_le_bytes();
        it.device.write_buffer(buffer, *place, &word)?;
    }
    let mut outcome: Verdict = Ok(());
    for (n, place) in (1_u32..).zip(&places) {
        let at = address + place;
        let push = [at as u32, (at >> 32) as u32, 0, 0];
        it.record(
            &work,
            Grid {
                groups: 1,
                push: &push,
            },
        )?;
        let fence = it.device.submit(queue, work.commands)?;
        it.finish(fence)?;
        let found = it.words(&work)?;
        let wanted = 0xADD0_0000 | n;
        if found.first() != Some(&wanted) {
            let found = found.first().copied().unwrap_or(0);
            outcome = Err(failed!(
                "the GPU reads {found:#010x} at offset {place:#x}, the CPU wrote {wanted:#010x}: two addresses are one"
            ));
            break;
        }
    }
    it.device.destroy_buffer(buffer)?;
    it.drop(&work)?;
    it.device.destroy_queue(queue)?;
    outcome
}

/// How much is copied in a second: by one core, and by all.
pub(crate) fn bandwidth<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    const BYTES: u32 = 64 << 10;
    let program = it.program(COPY)?;
    let words: Vec<u32> = (0..BYTES / 2)
        .map(|n| n.wrapping_mul(0x9E37_79B1))
        .collect();
    let grid = Grid {
        groups: BYTES / GROUP,
        push: &[BYTES],
    };
    let first = it.cores().first().copied().unwrap_or(0);
    let queues = [
        ("one-core", it.queue_of(first)?),
        ("all-cores", it.queue()?),
    ];
    for (name, queue) in queues {
        let space = it.device.space(queue)?;
        let work = it.work(space, program, &words, grid)?;
        // The first time code and pages are fetched.
        let mut best = 0;
        for _ in 0..3 {
            let took = it.timed(queue, &work, grid)?;
            best = best.max(rate(2 * u64::from(BYTES), took));
        }
        let found = it.words(&work)?;
        it.drop(&work)?;
        it.measure(name, best, Unit::KilobytesPerSecond);
        let (source, copy) = found.split_at(BYTES as usize / 4);
        if let Some(n) = source.iter().zip(copy).position(|(a, b)| a != b) {
            return Err(failed!(
                "{name}: word {n} of the copy is {:#010x}, its source {:#010x}",
                copy[n],
                source[n]
            ));
        }
    }
    it.device.destroy_queue(queues[1].1)?;
    Ok(())
}

/// How long one load takes whose address the one before has given.
pub(crate) fn latency<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    const WORDS: usize = 16 << 10;
    const STEPS: u32 = 512;
    let program = it.program(CHASE)?;
    let core = it.cores().first().copied().unwrap_or(0);
    let patterns: [(&str, usize); 3] = [("sequential", 1), ("line", 16), ("page", 1024)];
    for (name, stride) in patterns {
        let queue = it.queue_of(core)?;
        // A ring of offsets: each word says where the next is.
        let mut words = vec![0; WORDS];
        let mut place = 0;
        let mut ring: Vec<usize> = Vec::new();
        for _ in 0..WORDS / stride {
            ring.push(place);
            place = (place + stride) % WORDS;
        }
        for (n, at) in ring.iter().enumerate() {
            words[*at] = 4 * ring[(n + 1) % ring.len()] as u32;
        }
        // Word 1 of another page of the ring is not in it unless the stride is one; the last word never matters.
        let result = 4 * (WORDS as u32);
        words.push(0);
        let space = it.device.space(queue)?;
        let mut took = [Duration::ZERO; 2];
        let mut end = [0; 2];
        for (n, steps) in [STEPS, 3 * STEPS].into_iter().enumerate() {
            let push = [0, result, steps];
            let grid = Grid {
                groups: 1,
                push: &push,
            };
            let work = it.work(space, program, &words, grid)?;
            it.timed(queue, &work, grid)?;
            took[n] = it.timed(queue, &work, grid)?;
            let found = it.words(&work)?;
            end[n] = found.last().copied().unwrap_or(0);
            it.drop(&work)?;
            let wanted = 4 * ring[steps as usize % ring.len()] as u32;
            if end[n] != wanted {
                return Err(failed!(
                    "{name}: after {steps} steps the chase is at {:#x}, expected {wanted:#x}",
                    end[n]
                ));
            }
        }
        // The difference leaves out what a job costs.
        let each = took[1].saturating_sub(took[0]).as_nanos() as u64 / u64::from(2 * STEPS);
        it.measure(name, each, Unit::Nanoseconds);
    }
    Ok(())
}
