//! A device that is lost: stopped at once, told why, and started again.

use crate::bench::{
    DOUBLE, FIRMWARE, FOREVER, SECOND, Work, diagnoses, inject, machine, queue, queue_in, storage,
    submit, up, wait, withdraw, words,
};
use eitri_model::{Config, Injection, Product};
use eitri_on_model::{Machine, NonCoherent};
use eitri_runtime::{
    BringUpError, Cause, Device, DeviceLost, Options, Platform, ProbeError, QueueConfig, Recovery,
    Status, SystemCoherency,
};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(5);

/// A device that was lost because its job did not let itself be terminated.
fn lost(machine: &Machine) -> (Device<'static, 'static, Machine>, Work) {
    let mut device = up(machine.clone());
    let space = device.create_space().expect("memory");
    let queue = queue_in(&mut device, space);
    let work = Work::in_space(&mut device, space, &FOREVER, 4096);
    inject(machine, Injection::TerminateIgnored);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(device.wait(fence, SHORT), Status::Pending);
    device.cancel(queue).expect("there");
    assert!(wait(&mut device, fence).is_err());
    assert!(device.lost().is_some());
    (device, work)
}

/// A shader that is still running when its device is lost reaches nobody else's memory.
#[test]
fn a_lost_gpu_is_stopped_before_its_memory_has_a_new_owner() {
    let machine = machine();
    let (mut device, work) = lost(&machine);
    device.destroy_buffer(work.buffer).expect("in memory only");
    let space = device.create_space().expect("memory");
    let new = device.create_buffer(space, 4096 * 4).expect("memory");
    device.write_buffer(new, 0, &[0x11; 64]).expect("fits");
    machine.pass(Duration::from_millis(2));
    assert_eq!(words(&mut device, new, 1), [0x1111_1111]);
    assert_eq!(device.memory_withheld(), 0, "the GPU was reset");
}

#[test]
fn the_memory_of_a_gpu_that_does_not_reset_is_never_given_back() {
    let machine = machine();
    let mut device = up(machine.clone());
    let space = device.create_space().expect("memory");
    let queue = queue_in(&mut device, space);
    let work = Work::in_space(&mut device, space, &FOREVER, 4096);
    inject(&machine, Injection::TerminateIgnored);
    inject(&machine, Injection::ResetNeverCompletes);
    let fence = submit(&mut device, queue, &work);
    assert_eq!(device.wait(fence, SHORT), Status::Pending);
    device.cancel(queue).expect("there");
    assert!(wait(&mut device, fence).is_err());

    let before = machine.memory_in_use();
    device.destroy_buffer(work.buffer).expect("in memory only");
    assert_eq!(device.memory_withheld(), 4096 * 4);
    assert_eq!(
        machine.memory_in_use(),
        before,
        "the platform has not got it"
    );
    assert!(device.restart(&mut ()).is_err());
    let failed = device.shutdown(&mut ()).map(drop).expect_err("no reset");
    assert!(matches!(failed.error, BringUpError::Reset(_)), "{failed}");
    assert_eq!(machine.memory_in_use(), before, "nothing was given back");
}

#[test]
fn a_restart_keeps_buffers_and_brings_jobs_back() {
    let machine = machine();
    let mut device = up(NonCoherent::new(machine.clone(), 18));
    let space = device.create_space().expect("memory");
    let first = queue_in(&mut device, space);
    let hanging = Work::in_space(&mut device, space, &FOREVER, 64);
    let good = Work::in_space(&mut device, space, &DOUBLE, 256);
    inject(&machine, Injection::TerminateIgnored);
    let fence = submit(&mut device, first, &hanging);
    assert_eq!(device.wait(fence, SHORT), Status::Pending);
    device.cancel(first).expect("there");
    assert!(wait(&mut device, fence).is_err());
    assert!(device.lost().is_some());
    withdraw(&machine, Injection::TerminateIgnored);
    device.restart(&mut ()).expect("it starts");
    assert!(device.lost().is_none());
    device.destroy_queue(first).expect("dead");

    let second = queue_in(&mut device, space);
    let fence = submit(&mut device, second, &good);
    assert_eq!(wait(&mut device, fence), Ok(()));
    assert_eq!(good.words(&mut device, 4), [0, 2, 4, 6]);
    device.shutdown(&mut ()).expect("in order");
    assert_eq!(diagnoses(&machine), [""; 0]);
}

#[test]
fn a_restart_that_fails_leaves_the_device_lost() {
    let machine = machine();
    let mut device = up(machine.clone());
    inject(&machine, Injection::BootFails);
    let error = device.restart(&mut ()).expect_err("it does not boot");
    assert_eq!(device.lost(), Some(&DeviceLost::Restart(error)));
    let refused = device.create_queue(QueueConfig::default());
    let text = refused.map(drop).expect_err("lost").to_string();
    assert!(
        text.starts_with(
            "the GPU could not be started again: the firmware did not announce itself"
        ),
        "{text}"
    );
    withdraw(&machine, Injection::BootFails);
    device.restart(&mut ()).expect("it boots now");
    assert!(device.lost().is_none());
}

/// Who asks is told what happened to the device, not only that the job is gone.
#[test]
fn a_crash_of_the_firmware_is_told() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    inject(&machine, Injection::McuCrash);
    // The start of the group is what crashes it.
    let fence = submit(&mut device, queue, &work);
    let Status::Failed(fault) = device.wait(fence, SECOND) else {
        panic!("it has crashed");
    };
    assert_eq!(
        (fault.cause, fault.recovery),
        (Cause::Lost, Recovery::Restart)
    );
    let text = device.ping().expect_err("it has crashed").to_string();
    assert!(
        text.starts_with("the firmware has crashed: MCU_STATUS (0x704) = 0x3"),
        "{text}"
    );
}

#[test]
fn a_failed_bring_up_gives_back_a_stopped_gpu_its_memory_and_the_platform() {
    for injection in [
        Injection::L2PowerStuck,
        Injection::BootNeverCompletes,
        Injection::BootFails,
        Injection::PingIgnored,
        Injection::AddressSpaceStuck { space: 0 },
    ] {
        let machine = machine();
        inject(&machine, injection);
        let failed = Device::bring_up(
            machine.clone(),
            &FIRMWARE,
            storage(),
            Options::default(),
            &mut (),
        );
        let failed = failed.map(drop).expect_err("it must not come up");
        withdraw(&machine, injection);
        assert_eq!(machine.memory_in_use(), 0, "{injection:?}: {failed}");
        let lines = machine.gpu(|gpu| gpu.lines());
        assert!(!lines.job && !lines.mmu && !lines.gpu, "{injection:?}");
        let again = Device::bring_up(
            failed.platform,
            &FIRMWARE,
            storage(),
            Options::default(),
            &mut (),
        );
        let device = again.unwrap_or_else(|error| panic!("{injection:?}: {error}"));
        device.shutdown(&mut ()).expect("in order");
        assert_eq!(machine.memory_in_use(), 0, "{injection:?}");
    }
}

#[test]
fn no_interrupt_is_let_through_after_shutdown() {
    let machine = machine();
    let device = up(machine.clone());
    let mut platform = device.shutdown(&mut ()).expect("in order");
    for mask in [0x28, 0x1008, 0x2008] {
        assert_eq!(platform.read32(mask), 0, "mask at {mask:#x}");
    }
}

#[test]
fn coherency_that_the_gpu_does_not_speak_is_refused() {
    let mut config = Config::default();
    config.product.part.limits.coherency_features = 0;
    let machine = Machine::new(config).with_coherency(SystemCoherency::AceLite);
    let failed = Device::bring_up(machine, &FIRMWARE, storage(), Options::default(), &mut ());
    let failed = failed.map(drop).expect_err("refused");
    assert_eq!(
        failed.error,
        BringUpError::Probe(ProbeError::NotCoherent {
            system: SystemCoherency::AceLite,
            features: 0
        })
    );
    assert_eq!(
        failed.to_string(),
        "COHERENCY_FEATURES = 0x0: the platform states coherency ACE-Lite, which this GPU does not speak\n  \
         help: a platform that keeps the caches itself states none"
    );
}

/// What was decided is what the L2 and the address spaces are told.
#[test]
fn coherency_is_decided_once() {
    // COHERENCY_ENABLE, AS0 MEMATTR, AS0 TRANSCFG: hardware/gpu-mmu.md sections 3 and 4.
    let told = |coherency| {
        let mut config = Config::default();
        config.product.part.limits.coherency_features = 1;
        let mut machine = Machine::new(config).with_coherency(coherency);
        let device = up(machine.clone());
        let told = [0x304, 0x2408, 0x2430].map(|offset| machine.read32(offset));
        drop(device);
        told
    };
    let [protocol, attributes, walks] = told(SystemCoherency::None);
    assert_eq!((protocol, attributes), (31, 0x8C4C_8F4C));
    let [coherent_protocol, coherent_attributes, coherent_walks] = told(SystemCoherency::AceLite);
    assert_eq!((coherent_protocol, coherent_attributes), (0, 0x9C4C_9F4C));
    assert_ne!(walks, coherent_walks);
}

#[test]
fn every_part_of_the_tables_comes_up() {
    for product in Product::all() {
        let soc = product.part.soc;
        let machine = Machine::new(Config {
            product,
            ..Config::default()
        });
        let up = Device::bring_up(machine, &FIRMWARE, storage(), Options::default(), &mut ());
        let device = up.unwrap_or_else(|error| panic!("{soc}: {error}"));
        device.shutdown(&mut ()).expect("in order");
    }
}
