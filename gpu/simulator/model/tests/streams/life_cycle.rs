//! The life of a group: suspended, resumed, idle, protected, terminated.

use super::{DATA, d, move32, move48, started, store, wait, word};
use crate::bench::{group_input, group_output, stream_input, stream_output, suspend_buffer};
use eitri_cs::enums::{Condition, ErrorReject};
use eitri_cs::field::Bytes8;
use eitri_cs::instr::{ProtRegion, SyncWait64};
use eitri_model::{Event, Injection, Nanoseconds, PhysicalMemory, Sink};
use std::cell::RefCell;
use std::rc::Rc;

/// What the stream of slot 0 was told to do, in order.
#[derive(Clone, Default)]
struct Doing(Rc<RefCell<Vec<&'static str>>>);

impl Sink for Doing {
    fn event(&mut self, _: Nanoseconds, event: Event) {
        if let Event::Stream { doing, .. } = event {
            self.0.borrow_mut().push(doing);
        }
    }
}

#[test]
fn a_trace_tells_once_what_a_stream_does_until_it_does_something_else() {
    let mut bench = started();
    bench.wait(100);
    let doing = Doing::default();
    bench.gpu.trace_to(Some(Box::new(doing.clone())));
    bench.submit(
        0,
        &[
            move48(4, DATA),
            move48(6, 0),
            word(SyncWait64 {
                address: d(4),
                data: d(6),
                condition: Condition::Greater,
                error_reject: ErrorReject::Inherit,
            }),
        ],
    );
    // The device has many turns meanwhile.
    for _ in 0..10 {
        bench.wait(100);
        bench.ring(0);
    }
    let physical = bench.physical(1, DATA);
    bench.memory.write64(physical, 1).unwrap();
    bench.ring(1);
    bench.drain(0);
    bench.wait(100);
    bench.gpu.trace_to(None);
    let told = doing.0.take();
    let waits = told.iter().filter(|it| **it == "waits for a sync object");
    assert_eq!(waits.count(), 1, "{told:?}");
    let again = told.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(again, None, "told again: {told:?}");
    assert_eq!(told.last(), Some(&"empty"), "{told:?}");
}

#[test]
fn suspend_and_resume_keep_registers_and_position() {
    let mut bench = started();
    bench.submit(
        0,
        &[
            move48(4, DATA),
            move48(6, 0),
            move32(8, 77),
            word(SyncWait64 {
                address: d(4),
                data: d(6),
                condition: Condition::Greater,
                error_reject: ErrorReject::Inherit,
            }),
            store(8, 1, 4, 0x40),
            wait(1),
        ],
    );
    bench.wait(1000);
    bench.request_state(0, 2);
    assert_eq!(
        bench.shared(stream_output(0) + 0x60),
        3,
        "it waited for a sync object"
    );
    assert_eq!(bench.extract(0), 24);
    // The host changes the object itself, and another slot takes the group on.
    let physical = bench.physical(1, DATA);
    bench.memory.write64(physical, 1).unwrap();
    bench.configure_group(0);
    bench.request_state(0, 3);
    bench.drain(0);
    assert_eq!(bench.get32(1, DATA + 0x40), 77);
    bench.expect_no_diagnoses();
}

#[test]
fn resume_from_a_buffer_that_holds_nothing_is_refused() {
    let mut bench = started();
    bench.request_state(0, 2);
    bench.put(0, suspend_buffer(0), &[0; 16]);
    bench.configure_group(0);
    bench.request_state(0, 3);
    bench.expect_diagnosis("RESUME of slot 0 from a buffer");
    bench.poll_shared(stream_output(0) + 0x84, 0xff, 0x40);
}

#[test]
fn idleness_is_reported_once_for_the_group_and_for_all() {
    let mut bench = started();
    bench.submit(0, &[move32(1, 1)]);
    bench.drain(0);
    bench.wait(100);
    let (req, ack) = (bench.shared(group_input(0)), bench.shared(group_output(0)));
    assert_eq!((req ^ ack) & 1 << 29, 1 << 29, "IDLE");
    bench.wait(2000);
    assert_eq!(
        (bench.shared(0x2000) ^ bench.shared(0x6000)) & 1 << 26,
        1 << 26,
        "IDLE_EVENT"
    );
}

#[test]
fn a_change_of_a_streams_state_interrupts_when_the_mask_has_all_of_its_bits() {
    for (mask, interrupts) in [(7, true), (0, false), (1, false)] {
        let mut bench = started();
        bench.shared_write(stream_input(0) + 0xC, mask);
        let req = bench.shared(stream_input(0));
        bench.shared_write(stream_input(0), req & !7);
        bench.answer_streams(0);
        bench.ring_stream(0);
        bench.poll_shared(stream_output(0), 7, 0);
        let asking = bench.streams_asking(0);
        assert_eq!(asking == 1, interrupts, "mask {mask}");
    }
}

#[test]
fn a_protected_region_asks_for_protected_mode_and_waits() {
    let mut bench = started();
    let region = ProtRegion {
        size: Bytes8::new(8).unwrap(),
    };
    bench.submit(0, &[word(region), move48(4, DATA), store(4, 1, 4, 0)]);
    let req = bench.shared(stream_input(0));
    bench.poll_shared(stream_output(0), 1 << 27, !req & 1 << 27);
    // The acknowledge alone changes nothing.
    let req = bench.shared(stream_input(0));
    bench.shared_write(stream_input(0), req ^ 1 << 27);
    bench.ring_stream(0);
    bench.wait(10_000);
    assert_eq!(bench.extract(0), 0);
    let group = group_input(0);
    let req = bench.shared(group);
    bench.shared_write(group, req ^ 1 << 5);
    bench.ring_group(0);
    bench.poll_shared(group_output(0), 1 << 5, !req & 1 << 5);
    assert_eq!(
        bench.shared(stream_output(0) + 0x48),
        1 << 29,
        "STATUS_WAIT"
    );
    // The request lasts, so a resumed group asks again.
    let ack = bench.shared(stream_output(0));
    bench.request_state(0, 2);
    bench.configure_group(0);
    bench.request_state(0, 3);
    bench.poll_shared(stream_output(0), 1 << 27, !ack & 1 << 27);
}

#[test]
fn terminate_works_even_when_suspend_does_not() {
    let mut bench = started();
    bench.gpu.inject(Injection::SuspendIgnored);
    let group = group_input(0);
    let req = bench.shared(group);
    bench.shared_write(group, req & !7 | 2);
    bench.ring_group(0);
    bench.wait(100_000);
    assert_eq!(bench.shared(group_output(0)) & 7, 1);
    bench.request_state(0, 0);
}
