//! Odd GPUs: a timestamp that nobody has started, cores that are fused off.

use crate::bench::{
    DOUBLE, OrFail, Work, config, diagnoses, firmware, queue, storage, submit, up, wait, words,
};
use crate::commands::SHARED;
use crate::machine::Machine;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use eitri_csf::product::Part;
use eitri_csf::registers::power::SHADER_READY;
use eitri_model::{Config, Defect, Product, Slow};
use eitri_runtime::{
    Device, Done, Instant, Lines, Options, Platform, Reporter, TimerClock, Warning,
};

/// Keeps warnings.
#[derive(Default)]
struct Warnings(Vec<String>);

impl Reporter for Warnings {
    fn done(&mut self, _: &Done<'_>) {}

    fn warn(&mut self, warning: &Warning) {
        self.0.push(warning.to_string());
    }
}

/// Firmware whose timers count a timestamp that stands still never powers cores off.
pub(crate) fn the_firmware_counts_cycles_where_timestamp_stands() {
    let machine = Machine::new(Config {
        defects: [Defect::Slow(Slow::NoTimestamp)].into(),
        ..config()
    });
    let mut heard = Warnings::default();
    let (platform, options) = (machine.platform(), Options::default());
    let up = Device::bring_up(platform, firmware(), storage(), options, &mut heard);
    let mut device = up.or_fail("the GPU comes up");
    let TimerClock::Cycles { hertz } = device.properties().timers else {
        panic!("{:?}", device.properties().timers);
    };
    let clock = Config::default().clock_hz;
    assert!(
        hertz.abs_diff(clock) < clock / 50,
        "{hertz} Hz were measured, the clock has {clock}"
    );
    let [warning] = &heard.0[..] else {
        panic!("{:?}", heard.0);
    };
    let text = "TIMESTAMP (0x98) stands still: the firmware's timers count GPU cycles at ";
    assert!(warning.starts_with(text), "{warning}");

    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()));
    let mut here = machine.platform();
    let mut ready = || {
        let at = SHADER_READY.offset;
        u64::from(here.read32(at)) | u64::from(here.read32(at + 4)) << 32
    };
    assert_ne!(ready(), 0, "the job ran on a core");
    let end = machine.time() + Duration::from_millis(50);
    while machine.time() < end {
        device.poll(Instant(machine.time()));
        let next = machine.time() + Duration::from_millis(1);
        machine.platform().wait(Lines::NONE, Instant(next));
    }
    assert_eq!(ready(), 0, "idle cores are off after 10 ms");
    device.shutdown(&mut ()).or_fail("it shuts down in order");
}

/// The part of which only the first and the last core are left: 0x10001 of 0x50005.
pub(crate) fn memory_for_each_core_reaches_the_highest_core() {
    let whole = Product::g610();
    let machine = Machine::new(Config {
        product: Product {
            part: Part {
                shader_present: 0x10001,
                ..whole.part
            },
            ..whole
        },
        ..config()
    });
    let mut device = up(machine.clone());
    let properties = device.properties();
    assert_eq!((properties.core_count(), properties.core_range()), (2, 17));
    let queue = queue(&mut device);
    // Enough workgroups for both cores; each has memory of its own while it runs.
    let count = 64 * 64;
    let work = Work::new(&mut device, queue, &SHARED, count);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(wait(&mut device, fence), Ok(()));
    let wanted: Vec<u32> = (0..count)
        .map(|at| (at / 64 * 64) + (63 - at % 64) + 1)
        .collect();
    assert_eq!(words(&mut device, work.buffer, count as usize), wanted);
    assert_eq!(diagnoses(&machine), [""; 0]);
    device.shutdown(&mut ()).or_fail("it shuts down in order");
}
