//! Tiler heaps: grown when the tiler runs out of memory, as far as they may.
//!
//! There is no tiler: an injection says that it found no memory, and what follows is the firmware's exchange with the host.

use crate::bench::{LIMIT, OrFail, diagnoses, first_line, machine, queue, up};
use crate::machine::{Host, Machine};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use eitri_cs::builder::{Builder, Chunk, Config, Defer, OneChunk};
use eitri_cs::enums::HeapOperationKind;
use eitri_cs::{Arch, RegMask, d, r};
use eitri_model::Injection;
use eitri_runtime::{
    Buffer, Device, Error, ErrorKind, Fence, GpuAddress, Queue, Status, SubQueue, TilerHeap,
    TilerHeapConfig,
};

type Up = Device<'static, 'static, Host>;

const CHUNK: u32 = 128 << 10;

const SMALL: TilerHeapConfig = TilerHeapConfig {
    chunk_bytes: CHUNK,
    initial: 2,
    most: 4,
    reserve: 1,
    passes: 2,
};

struct Tiling {
    device: Up,
    queue: Queue,
    heap: TilerHeap,
    code: Buffer,
    data: Buffer,
}

fn tiling(machine: &Machine, config: TilerHeapConfig) -> Tiling {
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let heap = device
        .create_tiler_heap(space, config)
        .or_fail("there is memory");
    let code = device.create_buffer(space, 4096).or_fail("there is memory");
    let data = device.create_buffer(space, 4096).or_fail("there is memory");
    Tiling {
        device,
        queue,
        heap,
        code,
        data,
    }
}

impl Tiling {
    /// Submits a stream that opens so many passes of the heap at `context`, and stores a word behind that.
    fn submit(&mut self, context: GpuAddress, passes: u32, value: u32) -> Fence {
        let to = self.device.buffer_address(self.data).or_fail("it is there");
        let code = self.device.buffer_address(self.code).or_fail("it is there");
        let mut words = [0; 64];
        let chunk = Chunk {
            address: code.0,
            words: &mut words,
        };
        let mut b = Builder::new(Config::new(Arch::V10), chunk, OneChunk);
        b.move64(d!(0), context.0).set_heap(d!(0));
        for _ in 0..passes {
            b.heap_operation(HeapOperationKind::VertexTilerStarted, Defer::Now);
        }
        b.move64(d!(2), to.0).move32(r!(4), value);
        b.store(r!(4), RegMask::first(1), d!(2), 0);
        for _ in 0..passes {
            b.heap_operation(HeapOperationKind::VertexTilerCompleted, Defer::Now);
            b.heap_operation(HeapOperationKind::FragmentCompleted, Defer::Now);
        }
        let stream = b.finish().or_fail("it is legal");
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.device
            .write_buffer(self.code, 0, &bytes)
            .or_fail("it fits");
        let queue = self.queue;
        let submitted =
            self.device
                .submit_stream(queue, SubQueue::VertexTiler, code, stream.length);
        submitted.or_fail("there is room")
    }

    fn wait(&mut self, fence: Fence) -> Result<(), String> {
        match self.device.wait(fence, LIMIT) {
            Status::Done => Ok(()),
            Status::Failed(fault) => Err(first_line(&fault.to_string())),
            status => Err(format!("{status:?}")),
        }
    }

    fn chunks(&self) -> (u32, u32) {
        let info = self.device.tiler_heap(self.heap).or_fail("it is there");
        (info.chunks, info.reserve)
    }

    fn context(&self) -> GpuAddress {
        self.device
            .tiler_heap(self.heap)
            .or_fail("it is there")
            .context
    }
}

pub(crate) fn a_heap_grows_from_its_reserve_until_it_may_not() {
    let machine = machine();
    let mut it = tiling(&machine, SMALL);
    let context = it.context();
    assert_eq!(it.chunks(), (2, 1));
    let fence = it.submit(context, 1, 3);
    assert_eq!(it.wait(fence), Ok(()));
    assert_eq!(it.chunks(), (2, 1), "nothing was lacking");
    for grown in [3, 4] {
        machine.inject(Injection::TilerOutOfMemory);
        let in_use = it.device.memory_in_use();
        let fence = it.submit(context, 1, grown);
        assert_eq!(it.wait(fence), Ok(()));
        assert_eq!(it.chunks(), (grown, 0));
        assert_eq!(it.device.memory_in_use(), in_use, "`poll` takes no memory");
        assert_eq!(crate::bench::words(&mut it.device, it.data, 1), [grown]);
        it.device
            .refill_tiler_heap(it.heap)
            .or_fail("there is memory");
    }
    assert_eq!(it.chunks(), (4, 0), "it may have four");
    // Nothing is left: no pass can free chunks, and there is no handler.
    machine.inject(Injection::TilerOutOfMemory);
    let fence = it.submit(context, 1, 9);
    let told = it.wait(fence).expect_err("no memory");
    assert!(told.contains("0x60"), "{told}");
    let fence = it.submit(context, 1, 10);
    assert_eq!(it.wait(fence), Ok(()), "the stream goes on");
    assert_eq!(diagnoses(&machine), [""; 0]);
    it.device
        .destroy_tiler_heap(it.heap)
        .or_fail("nothing uses it");
    assert_eq!(
        it.device.tiler_heap(it.heap).map_err(|error| error.kind()),
        Err(ErrorKind::Gone)
    );
}

pub(crate) fn a_heap_with_too_many_passes_in_flight_does_not_grow() {
    let machine = machine();
    let mut it = tiling(&machine, SMALL);
    let context = it.context();
    machine.inject(Injection::TilerOutOfMemory);
    let fence = it.submit(context, 3, 1);
    // It strikes at the first of the three.
    assert_eq!(it.wait(fence), Ok(()));
    assert_eq!(it.chunks(), (3, 0));
    it.device
        .refill_tiler_heap(it.heap)
        .or_fail("there is memory");
    assert_eq!(it.chunks(), (3, 1));
}

/// As many as it may have in flight are not too many.
pub(crate) fn a_heap_with_its_most_passes_in_flight_grows() {
    let machine = machine();
    let mut it = tiling(&machine, SMALL);
    let context = it.context();
    machine.inject(Injection::TilerOutOfMemory);
    let fence = it.submit(context, SMALL.passes, 1);
    let before = it.chunks();
    assert_eq!(it.wait(fence), Ok(()));
    assert_ne!(it.chunks(), before, "it strikes at the first pass");
}

/// A stream that names memory of its own as a heap is refused, and says what is wrong.
pub(crate) fn a_heap_that_is_none_of_the_spaces_fails_its_job() {
    let machine = machine();
    let mut it = tiling(&machine, SMALL);
    let context = it
        .device
        .buffer_address(it.data)
        .or_fail("it is there")
        .offset(64);
    machine.inject(Injection::TilerOutOfMemory);
    let fence = it.submit(context, 1, 1);
    let told = it.wait(fence).expect_err("no heap");
    assert!(
        told.ends_with("failed: it needs memory of a tiler heap that is none of its space's"),
        "{told}"
    );
    assert_eq!(it.chunks(), (2, 1));
}

pub(crate) fn heaps_that_can_not_be_are_refused() {
    let mut device = up(machine());
    let space = device.create_space().or_fail("there is memory");
    let before = device.memory_in_use();
    for config in [
        TilerHeapConfig {
            chunk_bytes: 64 << 10,
            ..SMALL
        },
        TilerHeapConfig {
            chunk_bytes: CHUNK + 64,
            ..SMALL
        },
        TilerHeapConfig {
            initial: 0,
            ..SMALL
        },
        TilerHeapConfig { most: 1, ..SMALL },
    ] {
        let refused = device.create_tiler_heap(space, config).map(drop);
        assert_eq!(refused, Err(Error::TilerHeap(config)));
    }
    // More chunks than there are places: what was made is given back.
    let many = TilerHeapConfig {
        initial: 500,
        most: 500,
        ..SMALL
    };
    let refused = device.create_tiler_heap(space, many).map(drop);
    let kind = refused.map_err(|error| error.kind());
    assert!(matches!(
        kind,
        Err(ErrorKind::OutOfStorage | ErrorKind::OutOfMemory)
    ));
    let left = device.memory_in_use() - before;
    assert!(left <= 4 * 4096, "page tables at most: {left:#x}");
}
