//! The layer of registers against a scripted platform: what is written, and what the user sees when a step fails.

use super::interrupts::{mask_all, unmask};
use super::power::{prepare_l2, switch};
use super::probe::probe;
use super::reset::reset;
use crate::platform::PowerChange;
use crate::testing::{Fake, clears, sets};
use eitri_csf::command::ResetKind;
use eitri_csf::product::PARTS;
use eitri_csf::registers::control::{COHERENCY_ENABLE, Coherency, GPU_COMMAND};
use eitri_csf::registers::identity::{
    AS_PRESENT, GPU_ID, L2_PRESENT, MMU_FEATURES, SHADER_PRESENT, THREAD_MAX_THREADS, TILER_PRESENT,
};
use eitri_csf::registers::interrupts::{GPU_IRQ, GPU_IRQ_CLEAR, GPU_IRQ_RAWSTAT, JOB_IRQ, MMU_IRQ};
use eitri_csf::registers::mcu::MCU_STATUS;
use eitri_csf::registers::power::{L2_PWROFF, L2_PWRON, L2_PWRTRANS, L2_READY};
use std::string::ToString;

/// A G610 as the facts give its constants.
fn g610() -> Fake {
    let part = &PARTS[0];
    Fake::new(0)
        .with(GPU_ID, u64::from(part.gpu_id.0))
        .with(MMU_FEATURES, u64::from(part.mmu_features))
        .with(AS_PRESENT, u64::from(part.as_present))
        .with(SHADER_PRESENT, part.shader_present)
        .with(L2_PRESENT, part.l2_present)
        .with(TILER_PRESENT, part.tiler_present)
        .with(THREAD_MAX_THREADS, 2048)
        .on(GPU_IRQ_CLEAR, clears(GPU_IRQ_RAWSTAT))
}

#[test]
fn a_g610_is_recognised() {
    let properties = probe(&mut g610()).expect("a G610");
    assert_eq!(
        properties.to_string(),
        "GPU_ID 0xa8670005: Mali-G610, arch 10.8.6, product 7, r0p0 status 5, 4 cores 0x50005"
    );
    assert_eq!(
        (
            properties.core_range(),
            properties.va_bits,
            properties.pa_bits
        ),
        (19, 48, 40)
    );
    assert_eq!(properties.scratch_threads_per_core, 2048);
}

#[test]
fn no_gpu_and_other_gpus_are_refused() {
    let error = |fake: Fake| probe(&mut { fake }).expect_err("refused").to_string();
    assert_eq!(
        error(Fake::new(0)),
        "GPU_ID (0x0) = 0x0: no GPU answers\n  help: is its power domain on, its clock running, the window's address right?"
    );
    assert_eq!(
        error(g610().with(GPU_ID, 0x9093_0000)),
        "GPU_ID (0x0) = 0x90930000: arch 9.0.9, product 3, r0p0 status 0 is not driven, only v10 to v13 are"
    );
    assert_eq!(
        error(g610().with(AS_PRESENT, 1)),
        "AS_PRESENT = 0x1, which can't be: unstable clock or power?"
    );
}

#[test]
fn a_soft_reset_that_fails_becomes_a_hard_one() {
    let soft = g610().on(GPU_COMMAND, sets(GPU_IRQ_RAWSTAT, 1 << 8));
    assert_eq!(reset(&mut { soft }), Ok(ResetKind::Soft));
    let only_hard = g610().on(GPU_COMMAND, |registers, command| {
        if command == 0x201 {
            *registers.entry(GPU_IRQ_RAWSTAT.offset).or_default() |= 1 << 8;
        }
    });
    assert_eq!(reset(&mut { only_hard }), Ok(ResetKind::Hard));
}

#[test]
fn a_reset_that_never_completes_is_told() {
    let error = reset(&mut g610().with(L2_READY, 1)).expect_err("no reset");
    assert_eq!(
        error.to_string(),
        "the GPU did not reset, neither softly nor hard: \
         GPU_IRQ_RAWSTAT (0x20) = 0x0, wanted 0x100, after 500ms\n  \
         L2_READY (0x160) = 0x1, L2_PWRTRANS (0x220) = 0x0, L2_PWRACTIVE (0x260) = 0x0\n  \
         TILER_READY (0x150) = 0x0, TILER_PWRTRANS (0x210) = 0x0, TILER_PWRACTIVE (0x250) = 0x0\n  \
         SHADER_READY (0x140) = 0x0, SHADER_PWRTRANS (0x200) = 0x0, SHADER_PWRACTIVE (0x240) = 0x0\n  \
         MCU_STATUS (0x704) = 0x0: STATE 0 Disabled\n  \
         help: is the GPU's clock running? `eitri explain GPU_COMMAND` tells more"
    );
}

#[test]
fn power_goes_on_after_coherency_is_set() {
    let mut fake = g610()
        .on(L2_PWRON, sets(L2_READY, 1))
        .on(L2_PWROFF, clears(L2_READY));
    prepare_l2(&mut fake, Coherency::None);
    switch(&mut fake, PowerChange::On).expect("on");
    assert_eq!(fake.written(COHERENCY_ENABLE), Some(31));
    switch(&mut fake, PowerChange::Off).expect("off");
}

#[test]
fn power_that_is_stuck_is_told_with_all_domains() {
    let mut fake = g610()
        .with(MCU_STATUS, 3)
        .on(L2_PWRON, sets(L2_PWRTRANS, 1));
    let error = switch(&mut fake, PowerChange::On).expect_err("stuck");
    assert_eq!(
        error.to_string(),
        "L2 did not power up: L2_READY (0x160) = 0x0, wanted 0x1, after 20ms\n  \
         L2_READY (0x160) = 0x0, L2_PWRTRANS (0x220) = 0x1, L2_PWRACTIVE (0x260) = 0x0\n  \
         TILER_READY (0x150) = 0x0, TILER_PWRTRANS (0x210) = 0x0, TILER_PWRACTIVE (0x250) = 0x0\n  \
         SHADER_READY (0x140) = 0x0, SHADER_PWRTRANS (0x200) = 0x0, SHADER_PWRACTIVE (0x240) = 0x0\n  \
         MCU_STATUS (0x704) = 0x3: STATE 3 Fatal\n  \
         help: is the GPU's clock running? `eitri explain L2_READY` tells more"
    );
}

/// Unmasking clears interrupts that came before; masking lets none through any more.
#[test]
fn interrupts_are_let_through_and_masked_again() {
    let mut fake = g610();
    let blocks = [GPU_IRQ, JOB_IRQ, MMU_IRQ];
    for (block, bits) in blocks.into_iter().zip([5, 6, 7]) {
        unmask(&mut fake, block, bits);
        assert_eq!(
            fake.written(block.clear),
            Some(bits),
            "{}",
            block.clear.name
        );
        assert_eq!(fake.written(block.mask), Some(bits), "{}", block.mask.name);
    }
    mask_all(&mut fake);
    for block in blocks {
        assert_eq!(fake.written(block.mask), Some(0), "{}", block.mask.name);
    }
}
