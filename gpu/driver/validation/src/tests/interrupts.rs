//! Interrupts: each line from its latch to the CPU, one bit at a time.
//!
//! A write to RAWSTAT sets bits, which the facts call a test aid: so a line can be tried before anything else works.
//! Facts: hardware/csf-mmio.md 3, 7 and 12.

use crate::raw::Raw;
use crate::result::{Verdict, failed};
use core::time::Duration;
use eitri_csf::registers::interrupts::{GPU_IRQ, InterruptBlock, JOB_IRQ, MMU_IRQ};
use eitri_runtime::{Lines, Platform};

/// How long an interrupt may take to arrive.
const ARRIVES: Duration = Duration::from_millis(5);

pub(crate) fn job<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    line(it, JOB_IRQ, Lines::JOB, &[0, 7, 31])
}

pub(crate) fn mmu<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    line(it, MMU_IRQ, Lines::MMU, &[0, 1, 15, 16])
}

pub(crate) fn gpu<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    line(it, GPU_IRQ, Lines::GPU, &[0, 8, 9, 17])
}

fn line<P: Platform>(
    it: &mut Raw<'_, P>,
    block: InterruptBlock,
    wanted: Lines,
    bits: &[u32],
) -> Verdict {
    it.write(block.mask, 0);
    it.write(block.clear, u64::from(u32::MAX));
    let outcome = bits
        .iter()
        .try_for_each(|bit| one_bit(it, block, wanted, 1 << bit));
    it.write(block.mask, 0);
    it.write(block.clear, u64::from(u32::MAX));
    outcome
}

fn one_bit<P: Platform>(
    it: &mut Raw<'_, P>,
    block: InterruptBlock,
    wanted: Lines,
    bit: u64,
) -> Verdict {
    let name = block.rawstat.name;
    let is = |it: &mut Raw<'_, P>, register, wanted, when: &str| {
        let value = it.read(register);
        match value == wanted {
            true => Ok(()),
            false => Err(failed!(
                "{} = {value:#x} {when}, expected {wanted:#x}",
                register.name
            )),
        }
    };
    let high = |it: &mut Raw<'_, P>| {
        let until = it.platform.now().after(ARRIVES);
        loop {
            let lines = it.platform.wait(wanted, until);
            let there =
                lines.job && wanted.job || lines.mmu && wanted.mmu || lines.gpu && wanted.gpu;
            if there || it.platform.now() >= until {
                return there;
            }
        }
    };
    is(it, block.rawstat, 0, "with nothing raised")?;
    if high(it) {
        return Err(failed!("the line of {name} is high with nothing raised"));
    }
    it.write(block.rawstat, bit);
    is(it, block.rawstat, bit, "after the bit was raised")?;
    is(it, block.status, 0, "while the bit is masked")?;
    if high(it) {
        return Err(failed!(
            "the line of {name} is high while bit {bit:#x} is masked"
        ));
    }
    it.write(block.mask, bit);
    is(it, block.mask, bit, "after it was written")?;
    is(it, block.status, bit, "with the bit raised and let through")?;
    if !high(it) {
        return Err(failed!(
            "no interrupt reaches the CPU though {} = {bit:#x}: its number at the interrupt controller, or the line, is wrong",
            block.status.name
        ));
    }
    it.write(block.clear, bit);
    is(it, block.rawstat, 0, "after the bit was cleared")?;
    it.write(block.mask, 0);
    if high(it) {
        return Err(failed!(
            "the line of {name} stays high after bit {bit:#x} was cleared"
        ));
    }
    Ok(())
}
