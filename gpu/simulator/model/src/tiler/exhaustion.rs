//! The polygon list as a whole: what is entered is found, whatever memory does meanwhile.

use super::list::Resumed;
use super::memory::array::{Array, Refused};
use super::*;
use crate::random::Random;
use crate::raster::{Corner, PixelBox};
use alloc::vec::Vec;
use eitri_descriptors::tiler::{TilerContext, TilerHeap};
use eitri_descriptors::{Address, Aligned, Arch, Descriptor};
use std::vec;

const CONTEXT: u64 = 0x1000;
const HEAP_CONTEXT: u64 = 0x1200;
const HEAP: u64 = 0x1400;
/// Bytes of the tests' chunks: small, so that they are used up soon.
const CHUNK: u64 = 0x1000;
const OPENING: Opening = Opening {
    arch: Arch::V10,
    context: CONTEXT,
    heap_context: HEAP_CONTEXT,
};

fn chunk(number: u64) -> u64 {
    0x10000 + number * CHUNK
}

/// Memory with a tiler context of 300x200 pixels and two layers, and a heap of some chunks.
fn memory(chunks: u64, layer_offset: i32) -> Array {
    let mut memory = Array::new(1 << 20);
    let context = TilerContext {
        hierarchy_mask: 0xfe,
        fb_width: 300,
        fb_height: 200,
        layer_count: 2,
        layer_offset,
        heap: Aligned::new(HEAP).expect("aligned"),
        ..TilerContext::default()
    };
    let heap = TilerHeap {
        size: CHUNK,
        base: Address(chunk(0)),
        bottom: Address(chunk(0) + 64),
        top: Address(chunk(1)),
        ..TilerHeap::default()
    };
    let mut words = [0; 32];
    let bytes = context.pack(Arch::V10, &mut words).expect("a context");
    put(&mut memory, CONTEXT, &words[..bytes / 4]);
    let bytes = heap.pack(Arch::V10, &mut words).expect("a heap");
    put(&mut memory, HEAP, &words[..bytes / 4]);
    memory.put64(HEAP_CONTEXT, &[0; 4]);
    for number in 0..chunks {
        let next = if number + 1 == chunks {
            0
        } else {
            chunk(number + 1) | 1
        };
        memory.put64(chunk(number), &[next, 0, 0, 0, 0, 0, 0, 0]);
    }
    memory
}

/// Memory with a tiler context, and what opens it.
pub(super) fn opened(chunks: u64) -> (Array, Opening) {
    (memory(chunks, 0), OPENING)
}

fn put(memory: &mut Array, address: u64, words: &[u32]) {
    for (word, offset) in words.iter().zip((0..).step_by(4)) {
        memory.put(address + offset, &word.to_le_bytes());
    }
}

/// Puts a chunk in front of the free list, as the firmware does with what the host gives.
fn give_chunk(memory: &mut Array, number: u64) {
    let head = memory.get64(HEAP_CONTEXT);
    memory.put64(chunk(number), &[head, 0, 0, 0, 0, 0, 0, 0]);
    memory.put64(HEAP_CONTEXT, &[chunk(number) | 1]);
}

/// A random primitive; `id` tells it apart.
fn primitive(random: &mut Random, id: u32) -> ListedPrimitive {
    let mut range = |most: u64| {
        let first = random.below(most);
        (
            first as u16,
            (first + random.below(most / 2)).min(most - 1) as u16,
        )
    };
    let ((min_x, max_x), (min_y, max_y)) = (range(300), range(200));
    let kind = match random.below(4) {
        0 => PrimitiveKind::Fullscreen,
        1 => PrimitiveKind::Point,
        2 => PrimitiveKind::Line,
        _ => PrimitiveKind::Triangle,
    };
    let mut vertices = [VertexReference::default(); 3];
    for vertex in &mut vertices[..kind.vertices()] {
        vertex.position = random.below(u64::MAX);
        vertex.varyings = random.below(u64::MAX);
    }
    let piece = (kind == PrimitiveKind::Triangle && random.below(3) == 0).then(|| {
        let number = |random: &mut Random| random.below(1 << 20) as f32 / 16.0;
        Piece {
            corners: core::array::from_fn(|_| Corner {
                x: number(random),
                y: number(random),
                z: number(random),
                inv_w: number(random),
            }),
            parts: core::array::from_fn(|_| {
                core::array::from_fn(|_| f64::from(number(random)) / 3.0)
            }),
        }
    });
    ListedPrimitive {
        kind,
        provoking: random.below(3) as u8,
        id,
        layer: random.below(2) as u8,
        point_size: id as f32,
        bounds: PixelBox {
            min_x,
            min_y,
            max_x,
            max_y,
        },
        vertices,
        piece,
        draw: 0,
    }
}

/// State of the draw with a number.
fn state(draw: u32) -> DrawState {
    DrawState {
        primitive_flags: draw,
        dcd: [draw + 1, draw + 2, draw + 3],
        scissor: [4, 5],
        viewport: [6, 7],
        depth_range: [0.25, 0.75],
        primitive_size: 1.5,
        varying_bytes: 12,
        instruction: 13,
        job: 14,
        depth_stencil: 1 << 40 | 8,
        blend: 2 << 40 | 9,
        occlusion: 3 << 40,
        resources: 4 << 40,
        fau: 5 << 40,
        program: 6 << 40,
        storage: 7 << 40,
    }
}

/// Primitives of a draw.
const PER_DRAW: u32 = 10;

fn tiles() -> Vec<PixelBox> {
    let tile = |number: u16| {
        let (x, y) = (number % 10 * 32, number / 10 * 32);
        PixelBox {
            min_x: x,
            min_y: y,
            max_x: x + 31,
            max_y: y + 31,
        }
    };
    (0..70).map(tile).collect()
}

/// Compares what every tile reads with the primitives that meet it.
#[track_caller]
fn check(memory: &mut Array, entered: &[ListedPrimitive]) {
    let reader = ListReader::open(memory, memory.get64(CONTEXT)).expect("a list");
    for (layer, tile) in
        (0..2u8).flat_map(|layer| tiles().into_iter().map(move |tile| (layer, tile)))
    {
        let mut got = Vec::new();
        if let Some(reader) = &reader {
            let mut primitives = reader
                .tile(memory, layer.into(), tile)
                .expect("a good list");
            while let Some(read) = primitives.next(memory).expect("a good record") {
                let draw = DrawState::read(memory, read.draw).expect("a good record");
                assert_eq!(
                    draw,
                    state(read.id / PER_DRAW),
                    "draw of primitive {}",
                    read.id
                );
                got.push(ListedPrimitive { draw: 0, ..read });
            }
        }
        let meets =
            |it: &&ListedPrimitive| it.layer == layer && it.bounds.intersection(tile).is_some();
        let expected: Vec<ListedPrimitive> = entered.iter().filter(meets).copied().collect();
        let ids = |list: &[ListedPrimitive]| list.iter().map(|it| it.id).collect::<Vec<_>>();
        assert_eq!(
            ids(&got),
            ids(&expected),
            "primitives of layer {layer} in {tile:?}"
        );
        assert_eq!(got, expected, "records of layer {layer} in {tile:?}");
    }
}

#[test]
fn every_tile_reads_its_primitives_in_the_order_of_drawing() {
    let mut memory = memory(40, 0);
    let mut random = Random::new(8);
    let mut entered = Vec::new();
    // Each draw opens the context anew, as another job would.
    for draw in 0..20 {
        let mut list = PolygonList::open(&mut memory, &OPENING).expect("a context");
        list.set_draw(state(draw));
        for number in 0..PER_DRAW {
            let primitive = primitive(&mut random, draw * PER_DRAW + number);
            list.add(&mut memory, &primitive).expect("room");
            entered.push(primitive);
        }
        list.store(&mut memory).expect("plain memory");
    }
    check(&mut memory, &entered);
    let pointers = [40, 48].map(|offset| memory.get64(CONTEXT + offset));
    assert_eq!(
        pointers[0],
        chunk(0) | 1,
        "completed top is the first chunk"
    );
    // From the first to the last chunk, as FINISH_FRAGMENT gives them back.
    let mut at = pointers[0];
    for _ in 0..40 {
        if at != pointers[1] {
            at = memory.get64(at & !0xfff);
        }
    }
    assert_eq!(
        at, pointers[1],
        "the chunks in use are linked to the last one"
    );
}

#[test]
fn layers_are_those_that_the_offset_selects() {
    let mut memory = memory(10, -8);
    let mut list = PolygonList::open(&mut memory, &OPENING).expect("a context");
    let mut random = Random::new(9);
    for layer in [7, 8, 9, 10] {
        let primitive = ListedPrimitive {
            layer,
            ..primitive(&mut random, layer.into())
        };
        list.add(&mut memory, &primitive).expect("room");
    }
    list.store(&mut memory).expect("plain memory");
    let root = memory.get64(CONTEXT);
    let reader = ListReader::open(&mut memory, root)
        .expect("a list")
        .expect("not empty");
    let whole = list.framebuffer();
    for (layer, expected) in [(0, vec![8]), (1, vec![9]), (2, vec![])] {
        let mut primitives = reader.tile(&mut memory, layer, whole).expect("a list");
        let mut ids = Vec::new();
        while let Some(read) = primitives.next(&mut memory).expect("a record") {
            ids.push(read.id);
        }
        assert_eq!(ids, expected, "layer {layer} of the context");
    }
}

#[test]
fn primitives_outside_the_framebuffer_take_no_memory() {
    let mut memory = memory(0, 0);
    let mut list = PolygonList::open(&mut memory, &OPENING).expect("a context");
    let bounds = PixelBox {
        min_x: 300,
        min_y: 0,
        max_x: 400,
        max_y: 10,
    };
    let outside = ListedPrimitive {
        bounds,
        ..primitive(&mut Random::new(1), 0)
    };
    assert_eq!(list.add(&mut memory, &outside), Ok(()));
    list.store(&mut memory).expect("plain memory");
    let root = memory.get64(CONTEXT);
    assert!(
        ListReader::open(&mut memory, root)
            .expect("no list")
            .is_none()
    );
}

/// With `chunks` chunks at first, one more whenever they are used up, and an access that waits after every `patience`
/// granted ones. `taken` groups of vertices, 64 bytes each, move the places where a chunk ends.
fn tile_with(chunks: u64, patience: Option<u32>, taken: u32) -> (Array, Vec<ListedPrimitive>, u64) {
    let mut memory = memory(chunks, 0);
    memory.patience = patience;
    let mut random = Random::new(10);
    let mut entered = Vec::new();
    let mut given = chunks;
    let mut exhausted = 0;
    let mut list = loop {
        match PolygonList::open(&mut memory, &OPENING) {
            Ok(list) => break list,
            Err(error) => assert_eq!(error, OpenError::Memory(Refused::Waits)),
        }
    };
    if taken > 0 {
        let layout = VertexLayout::new(1, false, 0);
        list.allocate_vertices(&mut memory, layout, 4 * taken)
            .expect("room in the first chunk");
    }
    for id in 0..6 * PER_DRAW {
        if id % PER_DRAW == 0 {
            list.set_draw(state(id / PER_DRAW));
        }
        let primitive = primitive(&mut random, id);
        let mut tries = 0..1000;
        loop {
            assert!(
                tries.next().is_some(),
                "primitive {id} is never entered, waits after {patience:?}"
            );
            match list.add(&mut memory, &primitive) {
                Ok(()) => break,
                Err(TilingStop::Memory(Refused::Waits)) => {}
                Err(stop) => {
                    assert_eq!(stop, TilingStop::Exhausted, "primitive {id}");
                    exhausted += 1;
                    give_chunk(&mut memory, given);
                    given += 1;
                    while list.resume(&mut memory) != Ok(Resumed::Continued) {}
                }
            }
        }
        entered.push(primitive);
    }
    while list.store(&mut memory).is_err() {}
    memory.patience = None;
    (memory, entered, exhausted)
}

/// Every allocation is larger than the step by which the end of the first chunk moves, so each one fails in turn.
#[test]
fn nothing_is_lost_or_doubled_when_memory_runs_out_at_any_allocation() {
    for taken in 0..(CHUNK as u32 - 64) / 64 {
        let (mut memory, entered, exhausted) = tile_with(1, None, taken);
        assert!(exhausted > 2, "one chunk was nearly enough");
        check(&mut memory, &entered);
    }
}

#[test]
fn nothing_is_lost_or_doubled_when_accesses_wait() {
    // One call makes up to 20 accesses of which none may wait: those before the decision are made again.
    for patience in 20..60 {
        let (mut memory, entered, _) = tile_with(1, Some(patience), 0);
        check(&mut memory, &entered);
    }
}

/// At each allocation in turn: the list is rendered and emptied, as an out-of-memory handler does, and tiling goes on.
#[test]
fn what_was_rendered_is_not_drawn_again() {
    let total = 6 * PER_DRAW;
    for chunks in 2..6 {
        let mut memory = memory(chunks, 0);
        let mut random = Random::new(11);
        let mut list = PolygonList::open(&mut memory, &OPENING).expect("a context");
        let mut entered: Vec<ListedPrimitive> = Vec::new();
        let mut rendered = 0;
        for id in 0..total {
            if id % PER_DRAW == 0 {
                list.set_draw(state(id / PER_DRAW));
            }
            let primitive = primitive(&mut random, id);
            while let Err(stop) = list.add(&mut memory, &primitive) {
                assert_eq!(stop, TilingStop::Exhausted);
                // What the handler renders is exactly what was entered.
                check(&mut memory, &entered);
                rendered += entered.len();
                entered.clear();
                let (first, last) = (memory.get64(CONTEXT + 40), memory.get64(CONTEXT + 48));
                memory.put64(last & !0xfff, &[memory.get64(HEAP_CONTEXT)]);
                memory.put64(HEAP_CONTEXT, &[first]);
                memory.put64(CONTEXT, &[0]);
                memory.put64(CONTEXT + 40, &[0, 0]);
                assert_eq!(list.resume(&mut memory), Ok(Resumed::Emptied));
            }
            entered.push(primitive);
        }
        list.store(&mut memory).expect("plain memory");
        check(&mut memory, &entered);
        assert_eq!(rendered + entered.len(), total as usize, "{chunks} chunks");
        assert!(rendered > 0, "{chunks} chunks were enough");
    }
}

#[test]
fn vertices_that_no_chunk_holds_are_refused_for_good() {
    let mut memory = memory(2, 0);
    let mut list = PolygonList::open(&mut memory, &OPENING).expect("a context");
    let layout = VertexLayout::new(1, false, 2048);
    let bytes = layout.bytes(16);
    assert_eq!(
        list.allocate_vertices(&mut memory, layout, 16),
        Err(TilingStop::TooLarge { bytes })
    );
    let batch = list.allocate_vertices(&mut memory, VertexLayout::new(1, false, 16), 16);
    let batch = batch.expect("room in a chunk");
    assert_eq!(batch.position(0, 0), Some(chunk(0) + 64));
}

#[test]
fn lists_that_somebody_else_wrote_are_refused() {
    let (mut memory, _, _) = tile_with(12, None, 0);
    let root = memory.get64(CONTEXT);
    let reader = ListReader::open(&mut memory, root)
        .expect("a list")
        .expect("not empty");
    let whole = PixelBox {
        min_x: 0,
        min_y: 0,
        max_x: 299,
        max_y: 199,
    };
    // The first bin's block becomes a circle.
    let table = memory.get64(root + 16);
    let bin = (0..64)
        .map(|bin| table + 16 * bin)
        .find(|bin| memory.get64(*bin) != 0)
        .expect("a bin in use");
    let block = memory.get64(bin);
    memory.put64(block, &[block]);
    let circle = reader.tile(&mut memory, 0, whole).map(|_| ());
    assert_eq!(circle, Err(ReadStop::Malformed { address: block }));
    memory.put64(root, &[0xffff_ffff_ffff_ffff]);
    let head = ListReader::open(&mut memory, root).map(|_| ());
    assert_eq!(head, Err(ReadStop::Malformed { address: root }));
}
