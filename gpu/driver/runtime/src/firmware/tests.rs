//! Firmware that can't be used: what a user sees of a bad image, a bad interface, or silence.

use crate::device::{BringUpError, Device, Failed, Options};
use crate::testing::Fake;
use crate::testing::firmware::{control_blocks, gpu, image, storage};
use eitri_csf::registers::address_space::AS_STATUS;
use eitri_csf::registers::mcu::{MCU_CONTROL, MCU_STATUS};
use std::string::{String, ToString};

fn error(fake: Fake, image: &[u8]) -> String {
    let up = Device::bring_up(fake, image, storage(), Options::default(), &mut ());
    up.map(drop).expect_err("refused").to_string()
}

/// What is said of control blocks with one word changed.
#[track_caller]
fn check_interface(offset: usize, word: u32, expected: &str) {
    let mut blocks = control_blocks();
    blocks[offset..offset + 4].copy_from_slice(&word.to_le_bytes());
    let text = error(gpu().on_bell(|_| ()), &image(&blocks));
    assert_eq!(
        text,
        std::format!("the firmware's interface can't be used: {expected}")
    );
}

#[test]
fn a_bad_interface_is_refused_word_by_word() {
    check_interface(
        0x0,
        0,
        "GLB_VERSION = 0: the firmware has not filled its control block",
    );
    check_interface(0x10, 2, "GLB_GROUP_NUM = 2, wanted 3 to 31");
    check_interface(
        0x8,
        0x0300_0000,
        "GLB_INPUT at firmware address 0x3000000 is not inside the shared section of 0x10000 bytes",
    );
    check_interface(
        0xC,
        0x0400_F800,
        "GLB_OUTPUT at firmware address 0x400f800 is not inside the shared section of 0x10000 bytes",
    );
    check_interface(
        0x14,
        0xFFFF_FFFC,
        "GROUP_CONTROL at firmware address 0x104000ffc is not inside the shared section of 0x10000 bytes",
    );
    check_interface(0x1000 + 0x14, 7, "GROUP_STREAM_NUM = 7, wanted 8 to 32");
    check_interface(
        0x10A0 + 0x0C,
        0x2000,
        "GROUP_SUSPEND_SIZE of slot 1 = 0x2000, but 0x1000 in the first slot: slots must be alike",
    );
    check_interface(
        0x1000 + 0x40 + 0xC,
        1,
        "STREAM_FEATURES of slot 0 = 0x1, but 0x7085f in the first slot: slots must be alike",
    );
}

#[test]
fn blocks_that_lie_over_each_other_are_refused() {
    check_interface(
        0x14,
        0,
        "GLB_GROUP_STRIDE = 0x0, but the blocks that it sets apart have 0xa0 bytes",
    );
    check_interface(
        0x1000 + 0x18,
        4,
        "GROUP_STREAM_STRIDE = 0x4, but the blocks that it sets apart have 0xc bytes",
    );
    // The input of slot 1 is that of slot 0.
    check_interface(
        0x10A0 + 0x04,
        0x0400_3000,
        "CSG_INPUT at firmware address 0x4003000 is another block too",
    );
}

#[test]
fn firmware_that_does_not_start_is_told_with_its_state() {
    let image = image(&control_blocks());
    let silent = gpu().on(MCU_CONTROL, |registers, _| {
        registers.remove(&eitri_csf::registers::interrupts::JOB_IRQ_RAWSTAT.offset);
    });
    assert_eq!(
        error(silent, &image),
        "the firmware did not announce itself: JOB_IRQ_RAWSTAT (0x1000) = 0x0, wanted 0x80000000, after 1s\n  \
         MCU_STATUS (0x704) = 0x1: STATE 1 Enabled\n  \
         help: it runs but does not boot: is it the image for this GPU?"
    );
    let fatal = gpu().on(MCU_CONTROL, |registers, _| {
        registers.insert(MCU_STATUS.offset, 3);
    });
    assert_eq!(
        error(fatal, &image),
        "the firmware did not announce itself: JOB_IRQ_RAWSTAT (0x1000) = 0x80000000, wanted 0x80000000, after 1s\n  \
         MCU_STATUS (0x704) = 0x3: STATE 3 Fatal\n  \
         help: a bad image, a bad mapping, or a bus fault"
    );
}

#[test]
fn silence_and_stuck_address_spaces_are_told() {
    let image = image(&control_blocks());
    let text = error(gpu().on_bell(|_| ()), &image);
    assert!(
        text.starts_with("the firmware did not answer the global configuration: GLB_ACK"),
        "{text}"
    );
    assert!(
        text.ends_with("wanted 0x48e, after 1s\n  MCU_STATUS (0x704) = 0x1: STATE 1 Enabled"),
        "{text}"
    );
    assert_eq!(
        error(gpu().with(AS_STATUS, 1), &image),
        "address space 0 does not finish Update: AS_STATUS (0x2428) = 0x1, wanted 0x0 in bits 0x1, after 100ms\n  \
         help: the GPU must be reset"
    );
}

#[test]
fn a_bad_image_and_too_little_memory_are_told() {
    let text = error(gpu(), b"not firmware");
    assert_eq!(
        text,
        "firmware image, offset 0x0: not a firmware image: first word 0x20746f6e, wanted 0xc3f13a6e"
    );
    let up = Device::bring_up(Fake::new(0), &[], storage(), Options::default(), &mut ());
    assert!(matches!(
        up.map(drop),
        Err(Failed {
            error: BringUpError::Probe(_),
            ..
        })
    ));
}

#[test]
fn every_step_is_reported_in_order() {
    let image = image(&control_blocks());
    let mut steps = std::vec::Vec::new();
    let mut report = |done: &crate::Done<'_>| steps.push(done.step);
    let up = Device::bring_up(gpu(), &image, storage(), Options::default(), &mut report);
    let device = up.expect("up");
    device.shutdown(&mut report).expect("down");
    let sorted = steps.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(sorted && steps.len() == 13, "{steps:?}");
}
