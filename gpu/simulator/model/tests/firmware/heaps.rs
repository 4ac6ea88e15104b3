//! Tiler heaps that are exhausted: chunks of the host's, refusals, exception handlers.

use super::{CHUNK, HANDLER, HEAP, acknowledge, d, got, pending, r, set64, store, with_data, word};
use crate::bench::{Bench, stream_input, stream_output};
use eitri_cs::enums::HeapOperationKind;
use eitri_cs::instr::{FinishFragment, HeapOperation, HeapSet, SetExceptionHandler};
use eitri_model::{Config, Inexact, Injection};

const TILER_OOM: u32 = 1 << 26;

/// A stream with a heap and `started` passes open, `ended` of them tiled, whose tiler then finds no memory; behind it, a
/// store to place 0.
fn out_of_memory(started: usize, ended: usize, handler: bool) -> Bench {
    let mut bench = with_data(Bench::booted_with(Config {
        fidelity: true,
        ..Config::default()
    }));
    bench.start_group(0);
    let move_heap = |operation| {
        word(HeapOperation {
            operation,
            ..HeapOperation::default()
        })
    };
    let mut words = vec![set64(8, HEAP), word(HeapSet { address: d(8) })];
    if handler {
        bench.put_words(1, HANDLER, &store(1, 11));
        words.push(set64(10, HANDLER));
        words.push(set64(12, 32));
        words.push(word(SetExceptionHandler {
            address: d(10),
            length: r(12),
            ..SetExceptionHandler::default()
        }));
    }
    words.extend(vec![
        move_heap(HeapOperationKind::VertexTilerStarted);
        started
    ]);
    words.extend(vec![
        move_heap(HeapOperationKind::VertexTilerCompleted);
        ended
    ]);
    bench.submit(0, &words);
    bench.drain(0);
    bench.gpu.inject(Injection::TilerOutOfMemory);
    bench.submit(0, &store(0, 5));
    bench.wait(1000);
    assert!(pending(&mut bench, TILER_OOM), "{}", bench.report());
    assert_eq!(got(&mut bench, 0), 0);
    let output = stream_output(0);
    assert_eq!(bench.shared(output + 0xC0), started as u32, "HEAP_VT_START");
    assert_eq!(bench.shared(output + 0xC4), ended as u32, "HEAP_VT_END");
    assert_eq!(bench.shared(output + 0xCC), 0, "HEAP_FRAG_END");
    assert_eq!(bench.shared64(output + 0xD0), HEAP, "HEAP_ADDRESS");
    bench
}

/// The host's answer: the chunks from `first` to `last`.
fn give(bench: &mut Bench, first: u64, last: u64) {
    bench.shared_write64(stream_input(0) + 0x20, first);
    bench.shared_write64(stream_input(0) + 0x28, last);
    acknowledge(bench, 0, TILER_OOM);
    bench.wait(1000);
}

#[test]
fn an_exhausted_heap_goes_on_with_a_chunk_of_the_hosts() {
    let mut bench = out_of_memory(1, 0, false);
    give(&mut bench, CHUNK | 1, CHUNK | 1);
    assert_eq!(got(&mut bench, 0), 5);
    bench.expect_no_diagnoses();
    let mut bench = out_of_memory(1, 0, false);
    bench.put_words(1, CHUNK + 8, &[1]);
    give(&mut bench, CHUNK | 1, CHUNK | 1);
    bench.expect_diagnosis("the chunk 0x20002001 given to stream 0 in slot 0");
}

#[test]
fn a_refused_heap_is_a_fault() {
    let mut bench = out_of_memory(1, 0, false);
    give(&mut bench, 0, 0);
    assert_eq!(bench.shared(stream_output(0) + 0x80) & 0xff, 0x60);
    assert!(pending(&mut bench, 1 << 31), "CS_FAULT");
}

#[test]
fn a_refused_heap_runs_the_exception_handler() {
    let mut bench = out_of_memory(1, 0, true);
    give(&mut bench, 0, 0);
    assert_eq!(got(&mut bench, 1), 11, "the handler ran");
    assert_eq!(got(&mut bench, 0), 5, "and tiling went on");
    bench.drain(0);
    bench.expect_no_diagnoses();
}

#[test]
fn a_refused_heap_waits_for_render_passes_in_flight() {
    let mut bench = with_data(out_of_memory(2, 1, true));
    let second = bench.second_stream();
    give(&mut bench, 0, 0);
    assert_eq!(
        got(&mut bench, 1),
        0,
        "no handler while a pass may free chunks"
    );
    assert_eq!(got(&mut bench, 0), 0);
    render_tiled_pass(&mut bench, second);
    assert_eq!(got(&mut bench, 0), 5, "{}", bench.report());
    // The chunk is the head of the free list, and links to the head before.
    assert_eq!(bench.get64(1, HEAP), CHUNK | 1);
    assert_eq!(bench.get64(1, CHUNK), 0x5555_5001);
}

#[test]
fn a_heap_that_got_chunks_back_before_it_is_refused_goes_on() {
    let mut bench = with_data(out_of_memory(2, 1, false));
    let second = bench.second_stream();
    let choices = |bench: &Bench| {
        let mut met = bench.gpu.fidelity().met();
        met.any(|(one, _)| one == Inexact::FreeChunks)
    };
    assert!(!choices(&bench), "no chunk was put into the free list yet");
    render_tiled_pass(&mut bench, second);
    assert!(choices(&bench), "at which end of the free list is a choice");
    assert_eq!(
        got(&mut bench, 0),
        0,
        "the host was asked, and is waited for"
    );
    give(&mut bench, 0, 0);
    assert_eq!(got(&mut bench, 0), 5, "{}", bench.report());
    bench.expect_no_diagnoses();
}

/// A second stream renders the pass that was tiled, and gives its chunk back.
fn render_tiled_pass(bench: &mut Bench, (ring, input): (u64, u64)) {
    bench.put_words(1, HEAP, &[0x5555_5001]);
    let words = [
        set64(8, HEAP),
        word(HeapSet { address: d(8) }),
        set64(10, CHUNK | 1),
        word(FinishFragment {
            first_heap_chunk: d(10),
            last_heap_chunk: d(10),
            increment_fragment_completed: true,
            ..FinishFragment::default()
        }),
    ];
    bench.put_words(1, ring, &words);
    bench.put(0, input, &32u64.to_le_bytes());
    acknowledge(bench, 1, 0);
    bench.wait(1000);
}

#[test]
fn an_unanswered_request_for_memory_is_raised_anew_after_a_resume() {
    let mut bench = out_of_memory(1, 0, false);
    bench.request_state(0, 2);
    bench.configure_group(0);
    bench.request_state(0, 3);
    bench.wait(100);
    assert!(pending(&mut bench, TILER_OOM));
    give(&mut bench, CHUNK | 1, CHUNK | 1);
    assert_eq!(got(&mut bench, 0), 5);
}
