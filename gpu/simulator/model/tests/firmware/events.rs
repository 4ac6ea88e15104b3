//! Events of streams: a host that looks only where CSG_IRQ_REQ and CSG_IRQ_ACK differ hears of all of them.
//!
//! Facts: hardware/csf-firmware.md 9 (IRQ_REQ), 10 (CS_REQ), 11 (interrupt flow).

use super::bench::{Bench, stream_input, stream_output};
use super::{acknowledge, pending, set64};
use eitri_csf::interface::stream::cs_req;
use eitri_csf::registers::interrupts::JOB_IRQ_RAWSTAT;
use eitri_model::Injection;

/// No instruction of v10.
const INVALID: u64 = 0xff << 56;

#[test]
fn a_second_event_before_the_host_has_answered_is_not_lost() {
    let mut bench = Bench::booted();
    // START interrupts, since all three bits of the mask are set; the fatal fault follows before anybody has looked.
    bench.start_group(0);
    assert_eq!(bench.streams_asking(0), 1, "START is reached");
    bench.submit(0, &[INVALID]);
    bench.wait(100);
    assert!(
        pending(&mut bench, cs_req::FATAL.mask32()),
        "{}",
        bench.report()
    );
    assert_eq!(
        bench.streams_asking(0),
        1,
        "stream 0 wants attention for START and for the fault"
    );
    assert_eq!(bench.read(JOB_IRQ_RAWSTAT) & 1, 1);
}

#[test]
fn each_event_after_an_answer_is_told_again() {
    let mut bench = Bench::booted();
    bench.start_group(0);
    let exception = 0x49;
    for round in 0..5 {
        assert_eq!(bench.answer_streams(0), 1, "round {round}");
        assert_eq!(bench.streams_asking(0), 0, "round {round}: it was answered");
        bench.gpu.inject(Injection::StreamFault { exception });
        bench.submit(0, &[set64(4, 0)]);
        bench.wait(100);
        assert!(pending(&mut bench, cs_req::FAULT.mask32()), "round {round}");
        assert_eq!(
            bench.streams_asking(0),
            1,
            "round {round}: the fault is told"
        );
        assert_eq!(bench.read(JOB_IRQ_RAWSTAT) & 1, 1, "round {round}");
        bench.gpu.withdraw(Injection::StreamFault { exception });
        acknowledge(&mut bench, 0, cs_req::FAULT.mask32());
        bench.drain(0);
    }
}

#[test]
fn streams_of_a_group_do_not_take_each_others_attention() {
    let mut bench = Bench::booted();
    let (ring, input) = bench.second_stream();
    bench.shared_write(stream_input(0) + 0x80 + 0xC, u32::MAX);
    bench.start_group(0);
    assert_eq!(bench.answer_streams(0), 0b11, "both were started");
    bench.submit(0, &[INVALID]);
    bench.put_words(1, ring, &[INVALID]);
    bench.put(0, input, &64u64.to_le_bytes());
    bench.ring(1);
    bench.wait(100);
    assert_eq!(bench.streams_asking(0), 0b11, "\n{}", bench.report());
    for index in 0..2 {
        let (req, ack) = (
            bench.shared(stream_input(0) + 0x80 * index),
            bench.shared(stream_output(0) + 0x100 * index),
        );
        assert_ne!((req ^ ack) & cs_req::FATAL.mask32(), 0, "stream {index}");
    }
}
