//! Time: what a wait costs, and whose limits they are. All of it is the model's time.

use crate::bench::{DOUBLE, FIRMWARE, Work, inject, machine, queue, up, wait};
use eitri_model::Injection;
use eitri_runtime::{BringUpError, Device, Options};
use std::time::Duration;

/// The second completion within a wait is seen as soon as the first.
#[test]
fn the_last_of_several_jobs_in_flight_is_not_waited_for_a_millisecond_longer() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &DOUBLE, 256);
    for count in [1, 2, 3, 8, 20] {
        let start = machine.time();
        let mut last = 0;
        for _ in 0..count {
            last = queue.submit(&mut device, &work.commands).expect("room");
        }
        assert_eq!(wait(&mut device, &queue, last), Ok(()));
        let took = machine.time() - start;
        assert!(
            took < Duration::from_micros(200 + 50 * count),
            "{count} jobs: {took:?}"
        );
    }
}

/// A GPU whose clock is still parked has more time for its answers; a caller's limit is his own.
#[test]
fn limits_of_the_hardware_scale_with_its_clock() {
    for slowdown in [1, 20] {
        let machine = machine().with_slowdown(slowdown);
        inject(&machine, Injection::L2PowerStuck);
        let failed = Device::bring_up(machine.clone(), &FIRMWARE, Options::default(), &mut ());
        let failed = failed.map(drop).expect_err("stuck");
        let BringUpError::Power(stuck) = failed.error else {
            panic!("{failed}");
        };
        assert_eq!(stuck.timed_out.limit, Duration::from_millis(20) * slowdown);
    }
    let machine = machine().with_slowdown(20);
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, &DOUBLE, 256);
    inject(&machine, Injection::JobsHang);
    let point = queue.submit(&mut device, &work.commands).expect("room");
    let (start, limit) = (machine.time(), Duration::from_millis(3));
    assert!(queue.timeline().wait(&mut device, point, limit).is_err());
    let took = machine.time() - start;
    assert!(took < 2 * limit, "{took:?}");
}
