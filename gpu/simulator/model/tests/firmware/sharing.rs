//! What groups share: stream interfaces by priority, endpoints by what they asked for.

use super::{got, r, store, with_data, word};
use crate::bench::{Bench, group_input, group_output, stream_output};
use eitri_cs::enums::Condition;
use eitri_cs::instr::{Branch, ReqResource};

#[test]
fn the_highest_priorities_have_the_stream_interfaces() {
    let mut bench = with_data(Bench::booted());
    // Four streams that never wait have all interfaces of a G610.
    let again = word(Branch {
        condition: Condition::Always,
        value: r(0),
        offset: -1,
    });
    for slot in 0..6 {
        bench.start_group(slot);
    }
    bench.submit(4, &store(4, 4));
    bench.drain(4);
    for slot in 0..4 {
        bench.submit(slot, &[again]);
    }
    bench.submit(5, &store(5, 5));
    bench.wait(2000);
    assert_eq!(got(&mut bench, 5), 0, "lower priority than all that run");
    // Above them by EP_CFG, it runs at once; the endless ones go on.
    bench.request_endpoints(0, 4, 3);
    bench.request_endpoints(5, 4, 15);
    for slot in [0, 5] {
        let req = bench.shared(group_input(slot)) ^ 1 << 4;
        bench.shared_write(group_input(slot), req);
        bench.ring_group(slot);
        bench.poll_shared(group_output(slot), 1 << 4, req & 1 << 4);
    }
    bench.drain(5);
    assert_eq!(got(&mut bench, 5), 5);
    for slot in 0..6 {
        bench.request_state(slot, 0);
    }
}

#[test]
fn groups_hold_the_endpoints_that_they_asked_for() {
    let mut bench = with_data(Bench::booted());
    bench.start_group(0);
    bench.request_endpoints(0, 3, 15);
    let held = |bench: &mut Bench| {
        let req = bench.shared(group_input(0)) ^ 1 << 5 ^ 1 << 4;
        bench.shared_write(group_input(0), req);
        bench.ring_group(0);
        bench.poll_shared(group_output(0), 3 << 4, req & 3 << 4);
        bench.shared(group_output(0) + 0x10)
    };
    assert_eq!(held(&mut bench), 0);
    bench.submit(
        0,
        &[word(ReqResource {
            compute: true,
            tiler: true,
            ..ReqResource::default()
        })],
    );
    bench.drain(0);
    assert_eq!(held(&mut bench), 3 | 1 << 16);
    assert_eq!(bench.shared(group_output(0) + 0x14), 3 | 3 << 8 | 1 << 16);
    bench.submit(0, &[word(ReqResource::default())]);
    bench.drain(0);
    assert_eq!(held(&mut bench), 0);
    // Endpoints that the group may not have are a fatal error.
    bench.shared_write64(group_input(0) + 0x28, 0);
    held(&mut bench);
    bench.submit(
        0,
        &[word(ReqResource {
            fragment: true,
            ..ReqResource::default()
        })],
    );
    bench.poll_shared(stream_output(0) + 0x84, 0xff, 0x44);
}
