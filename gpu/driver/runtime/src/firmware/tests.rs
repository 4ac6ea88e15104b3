//! Firmware that can't be used: what a user sees of a bad image, a bad interface, or silence.

use crate::device::{BringUpError, Device, Failed, Options};
use crate::report::{Done, Reporter};
use crate::testing::Fake;
use crate::testing::firmware::{GLB_INPUT, block, control_blocks, gpu, image, storage};
use crate::warning::Warning;
use eitri_csf::interface::global::{GLB_IDLE_TIMER, GLB_PWROFF_TIMER};
use eitri_csf::registers::address_space::AS_STATUS;
use eitri_csf::registers::control::TIMESTAMP;
use eitri_csf::registers::mcu::{MCU_CONTROL, MCU_STATUS};
use std::string::{String, ToString};
use std::vec::Vec;

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
    check_interface(0x10, 0, "GLB_GROUP_NUM = 0, wanted 1 to 31");
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
    check_interface(0x1000 + 0x14, 2, "GROUP_STREAM_NUM = 2, wanted 3 to 32");
}

/// What a reporter hears that keeps warnings.
#[derive(Default)]
struct Warnings(Vec<String>);

impl Reporter for Warnings {
    fn done(&mut self, _: &Done<'_>) {}

    fn warn(&mut self, warning: &Warning) {
        self.0.push(warning.to_string());
    }
}

/// A device whose control blocks have one word changed comes up, with these warnings.
#[track_caller]
fn come_up(offset: usize, word: u32, warnings: &[&str]) -> Device<'static, 'static, Fake> {
    let mut blocks = control_blocks();
    blocks[offset..offset + 4].copy_from_slice(&word.to_le_bytes());
    let image = Vec::leak(image(&blocks));
    let mut heard = Warnings::default();
    let up = Device::bring_up(gpu(), image, storage(), Options::default(), &mut heard);
    let device = up.expect("it can be lived with");
    assert_eq!(heard.0, warnings);
    let kept: Vec<String> = device.warnings().iter().map(Warning::to_string).collect();
    assert_eq!(kept, warnings, "the device keeps them");
    device
}

#[test]
fn firmware_without_oddities_gives_no_warning() {
    drop(come_up(0x4, 0, &[]));
}

#[test]
fn counts_that_are_enough_are_odd_at_most() {
    let device = come_up(
        0x10,
        2,
        &["GLB_GROUP_NUM = 2, where drivers expect 3 to 31"],
    );
    assert_eq!(device.hw.interface.slots.len(), 2);
    let device = come_up(
        0x1000 + 0x14,
        7,
        &[
            "GROUP_STREAM_NUM = 7, where drivers expect 8 to 32",
            "GROUP_STREAM_NUM of slot 1 = 0x8, but 0x7 in the first slot: the driver uses the first three",
        ],
    );
    assert_eq!(device.hw.interface.slots[0].streams.len(), 3);
}

/// A group may go on in another slot than the one that it was saved in: memory must be enough for both.
#[test]
fn slots_that_differ_in_size_are_given_the_larger_buffer() {
    let device = come_up(
        0x10A0 + 0x0C,
        0x2000,
        &[
            "GROUP_SUSPEND_SIZE of slot 1 = 0x2000, but 0x1000 in the first slot: memory is taken for the larger",
        ],
    );
    assert_eq!(device.hw.interface.facts.suspend_bytes, 0x2000);
    assert_eq!(device.hw.interface.slots.len(), 8);
    let device = come_up(
        0x10A0 + 0x10,
        0x3000,
        &[
            "GROUP_PROTM_SUSPEND_SIZE of slot 1 = 0x3000, but 0x0 in the first slot: memory is taken for the larger",
        ],
    );
    assert_eq!(device.hw.interface.facts.protected_suspend_bytes, 0x3000);
}

#[test]
fn slots_that_can_not_take_each_others_groups_are_not_used() {
    let device = come_up(
        0x1000 + 3 * 0xA0,
        5,
        &[
            "GROUP_FEATURES of slot 3 = 0x5, but 0x0 in the first slot: a suspended group can't change between them: slots from there on are not used",
        ],
    );
    assert_eq!(device.hw.interface.slots.len(), 3);
    let device = come_up(
        0x1000 + 3 * 0xA0,
        1 << 8,
        &[
            "GROUP_FEATURES of slot 3 = 0x100, but 0x0 in the first slot: the driver does not depend on it",
        ],
    );
    assert_eq!(device.hw.interface.slots.len(), 8);
}

#[test]
fn jobs_use_what_all_streams_have() {
    let second = 0x1000 + 0x40 + 0xC;
    let device = come_up(
        second,
        63 | 16 << 8 | 3 << 16,
        &[
            "STREAM_FEATURES of slot 0 = 0x3103f, but 0x7085f in the first slot: jobs use what all streams have",
        ],
    );
    let interface = &device.hw.interface;
    assert_eq!((interface.registers(), interface.scoreboards()), (64, 8));
}

#[test]
fn a_timestamp_that_stands_is_odd_and_timers_count_cycles() {
    let image = image(&control_blocks());
    let configured = |gpu: Fake| {
        let mut heard = Warnings::default();
        let up = Device::bring_up(gpu, &image, storage(), Options::default(), &mut heard);
        let mut device = up.expect("it can be lived with");
        let input = block(&mut device.hw.platform, GLB_INPUT);
        let words = [GLB_IDLE_TIMER, GLB_PWROFF_TIMER]
            .map(|word| input.read_word(&mut device.hw.platform, word));
        (heard.0, words)
    };
    let (warnings, timers) = configured(gpu());
    assert_eq!((warnings, timers), (Vec::new(), [19, 235]));
    // Without cycles either, a timer is as long as it can be.
    let (warnings, timers) = configured(gpu().with(TIMESTAMP, 7));
    assert_eq!(timers, [u32::MAX; 2]);
    assert_eq!(
        warnings,
        [
            "TIMESTAMP (0x98) and CYCLE_COUNT (0x90) stand still: no timer of the firmware ends, and queries of time give a constant"
        ]
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
