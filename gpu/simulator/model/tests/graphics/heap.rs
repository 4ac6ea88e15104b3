//! Tiler heaps that run out while a capture is drawn: the host gives a chunk, and the picture is the same.
//!
//! Facts: hardware/csf-scheduling.md 7; graphics.md 2.2.

use super::bench::{group_input, stream_input, stream_output};
use super::capture::Capture;
use super::pictures::{compare, expected};
use super::player::Player;
use eitri_model::{Aim, Injection};

const TILER_OOM: u32 = 1 << 26;

/// A chunk of 128 KiB beside those of the captures.
const CHUNK: u64 = 0x6000_0000;
const CHUNK_BYTES: u64 = 0x2_0000;

/// Whether the firmware asks for tiler memory.
fn asks(player: &mut Player) -> bool {
    let bench = &mut player.bench;
    (bench.shared(stream_input(0)) ^ bench.shared(stream_output(0))) & TILER_OOM != 0
}

/// Answers with a fresh chunk.
fn give_chunk(player: &mut Player) {
    player.map_data(CHUNK, CHUNK_BYTES);
    let bench = &mut player.bench;
    let chunk = CHUNK | CHUNK_BYTES >> 12;
    bench.shared_write64(stream_input(0) + 0x20, chunk);
    bench.shared_write64(stream_input(0) + 0x28, chunk);
    let (req, ack) = (
        bench.shared(stream_input(0)),
        bench.shared(stream_output(0)),
    );
    bench.shared_write(stream_input(0), req & !TILER_OOM | ack & TILER_OOM);
    let doorbells = bench.shared(group_input(0) + 8);
    bench.shared_write(group_input(0) + 8, doorbells ^ 1);
    bench.ring_group(0);
}

/// Draws the triangle with a tiler whose allocation `nth` fails; whether one did.
fn draws_in_spite_of(capture: &Capture, nth: u32) -> bool {
    let mut player = Player::new(capture);
    let aim = Aim::NOW.nth(nth);
    player
        .bench
        .gpu
        .inject_aimed(Injection::TilerOutOfMemory, aim);
    let mut failed = false;
    for job in &capture.jobs {
        player.start(capture, job);
        player.bench.wait(1000);
        if asks(&mut player) {
            failed = true;
            let done = player.is_done();
            assert!(!done, "allocation {nth}: the draw ended without memory");
            give_chunk(&mut player);
        }
        player.finish(job);
    }
    let last = capture.jobs.last().expect("a read-back");
    let drawn = player.picture(last);
    compare(
        "triangle-noafbc",
        &player,
        &drawn,
        &expected("triangle"),
        4025,
    );
    failed
}

#[test]
fn a_draw_whose_tiler_runs_out_goes_on_with_a_chunk_of_the_hosts() {
    let Some(capture) = Capture::read("triangle-noafbc") else {
        return;
    };
    // Results of vertices, the primitive.
    let failures = (1..5).take_while(|nth| draws_in_spite_of(&capture, *nth));
    assert_eq!(failures.count(), 2, "allocations of the triangle");
}
