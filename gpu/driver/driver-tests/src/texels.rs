//! Texels: what one side writes into an image, shaders that sample it see, also where its texels were fetched before.
//!
//! Textures are read through caches of the shader cores that nothing keeps coherent: they are to be invalidated between a write and
//! a fetch (hardware/command-stream.md 1.10 and 6.8). Results tell only on a GPU that has such caches; so the flushes that the
//! driver stores in commands and rings are checked, too.

use crate::bench::{LIMIT, OrFail, diagnoses, machine, program, queue, queue_in, up_on};
use crate::commands::push;
use crate::machine::{Machine, Shader};
use crate::recording::{Log, Recording};
use alloc::vec;
use alloc::vec::Vec;
use eitri_cs::enums::{FlushMode, OtherFlushMode};
use eitri_cs::instr::Instr;
use eitri_descriptors::formats::VkFormat;
use eitri_runtime::{
    Access, Accesses, BindingElement, Buffer, BufferImageCopy, CommandBuffer, DescriptorSet,
    Device, Fence, Image, ImageCopy, ImageInfo, ImagePart, Options, Pipeline, Queue, Recorder,
    SemaphorePoint, Space, Status, SubmitInfo, Tiling,
};

/// Stores the texel's number plus a push constant in each of 8 by 8 texels.
static STORE: Shader = Shader::new("texel_store", include_str!("../shaders/texel_store.wgsl"));

/// Fetches each of 8 by 8 texels into a buffer.
static FETCH: Shader = Shader::new("texel_fetch", include_str!("../shaders/texel_fetch.wgsl"));

const SIDE: u32 = 8;
const TEXELS: u32 = SIDE * SIDE;
const BYTES: u64 = TEXELS as u64 * 4;

type Host = Recording<crate::machine::Host>;
type Up = Device<'static, 'static, Host>;

/// An image with what stores and fetches its texels.
struct Bench {
    machine: Machine,
    log: Log,
    device: Up,
    queue: Queue,
    space: Space,
    image: Image,
    store: (Pipeline, DescriptorSet),
    fetch: Pipeline,
}

/// Commands that fetch, and the buffer that they fetch into.
#[derive(Clone, Copy)]
struct Fetch {
    set: DescriptorSet,
    to: Buffer,
    commands: CommandBuffer,
}

fn image(device: &mut Up, space: Space) -> Image {
    let arch = device.properties().arch;
    let format = VkFormat::of_name(arch, "R32_UINT").or_fail("every GPU has it");
    let info = ImageInfo {
        tiling: Tiling::UInterleaved,
        ..ImageInfo::two_d(format, SIDE, SIDE)
    };
    device.create_image(space, info).or_fail("there is memory")
}

fn bench_on(machine: Machine, platform: crate::machine::Host) -> Bench {
    let (platform, log) = Recording::new(platform);
    let mut device = up_on(platform, Options::default());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let image = image(&mut device, space);
    let [store, fetch] = [&STORE, &FETCH].map(|shader| {
        let made = device.create_pipeline(space, &program(shader));
        made.or_fail("there is memory")
    });
    let set = device.create_descriptor_set(store, 0);
    let set = set.or_fail("there is memory");
    device
        .bind_image(set, BindingElement::first(0), image)
        .or_fail("it fits");
    Bench {
        machine,
        log,
        device,
        queue,
        space,
        image,
        store: (store, set),
        fetch,
    }
}

fn bench() -> Bench {
    let machine = machine();
    let platform = machine.platform();
    bench_on(machine, platform)
}

type Recorded<'r, 's> = Recorder<'r, 's, 'static, Host>;

impl Bench {
    fn commands(
        &mut self,
        record: impl FnOnce(&mut Recorded<'_, '_>) -> Result<(), eitri_runtime::Error>,
    ) -> CommandBuffer {
        let commands = self.device.create_command_buffer(self.space);
        let commands = commands.or_fail("there is memory");
        let recorded = self.device.record(commands, record);
        recorded.or_fail("it can be recorded");
        commands
    }

    /// Commands that store texels from `first` on.
    fn store(&mut self, first: u32) -> CommandBuffer {
        let store = self.store;
        self.commands(|it| store_texels(it, store, first))
    }

    /// Commands that fetch into a buffer of their own.
    fn fetch(&mut self) -> Fetch {
        let device = &mut self.device;
        let to = device.create_buffer(self.space, BYTES);
        let to = to.or_fail("there is memory");
        let set = device.create_descriptor_set(self.fetch, 0);
        let set = set.or_fail("there is memory");
        device
            .bind_image(set, BindingElement::first(0), self.image)
            .or_fail("it fits");
        device.bind_buffer(set, 1, to).or_fail("it fits");
        let pipeline = self.fetch;
        let commands = self.commands(|it| fetch_texels(it, (pipeline, set)));
        Fetch { set, to, commands }
    }

    fn submit(&mut self, commands: CommandBuffer) -> Fence {
        let submitted = self.device.submit(self.queue, commands);
        submitted.or_fail("there is room")
    }

    #[track_caller]
    fn run(&mut self, commands: CommandBuffer) {
        let fence = self.submit(commands);
        assert_eq!(self.device.wait(fence, LIMIT), Status::Done);
    }

    /// What was fetched, where it is that of texels from a first one on.
    fn first_of(&mut self, to: Buffer) -> Result<u32, Vec<u32>> {
        let mut bytes = vec![0; BYTES as usize];
        let read = self.device.read_buffer(to, 0, &mut bytes);
        read.or_fail("it is inside");
        let words: Vec<u32> = words_of(&bytes);
        match words.iter().zip(words[0]..).all(|(a, b)| *a == b) {
            true => Ok(words[0]),
            false => Err(words),
        }
    }

    fn write_texels(&mut self, first: u32) {
        let texels: Vec<u8> = (first..first + TEXELS).flat_map(u32::to_le_bytes).collect();
        let part = ImagePart::default();
        let written = self.device.write_image(self.image, part, &texels);
        written.or_fail("it has such a part");
    }

    /// The flushes that the driver has stored for the GPU since this was asked last.
    fn flushes(&mut self) -> Vec<Flush> {
        let arch = self.device.properties().arch;
        let words = self.log.take_stored();
        let flush = |word: &u64| match Instr::decode(*word, arch) {
            Ok(Instr::FlushCache2(it)) => {
                let whole = it.l2_flush_mode == FlushMode::CleanAndInvalidate;
                let other = it.other_flush_mode == OtherFlushMode::Invalidate;
                Some(match (whole, other, it.l2_flush_mode, it.lsc_flush_mode) {
                    (true, true, ..) => Flush::All,
                    (false, true, FlushMode::None, FlushMode::None) => Flush::ReadOnly,
                    _ => Flush::Other,
                })
            }
            _ => None,
        };
        words.iter().filter_map(flush).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flush {
    All,
    ReadOnly,
    Other,
}

fn words_of(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn store_texels(
    it: &mut Recorded<'_, '_>,
    (pipeline, set): (Pipeline, DescriptorSet),
    first: u32,
) -> Result<(), eitri_runtime::Error> {
    it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
    it.push_constants(&push(first, 0))?.dispatch([1, 1, 1])?;
    Ok(())
}

fn fetch_texels(
    it: &mut Recorded<'_, '_>,
    (pipeline, set): (Pipeline, DescriptorSet),
) -> Result<(), eitri_runtime::Error> {
    it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
    it.dispatch([1, 1, 1])?;
    Ok(())
}

/// Fetch, store, fetch inside of one job.
pub(crate) fn texels_stored_by_a_dispatch_are_fetched_by_the_next() {
    let mut it = bench();
    it.write_texels(100);
    let [before, after, again] = [(); 3].map(|()| it.fetch());
    let (store, fetch) = (it.store, it.fetch);
    it.flushes();
    let commands = it.commands(|it| {
        fetch_texels(it, (fetch, before.set))?;
        it.barrier(Accesses::SAMPLED_READ, Accesses::STORAGE_WRITE)?;
        store_texels(it, store, 200)?;
        it.barrier(Accesses::STORAGE_WRITE, Accesses::SAMPLED_READ)?;
        fetch_texels(it, (fetch, after.set))?;
        fetch_texels(it, (fetch, again.set))
    });
    let flushes = it.flushes();
    assert_eq!(
        flushes,
        [Flush::ReadOnly],
        "in the commands, for both fetches"
    );
    it.run(commands);
    assert_eq!(it.first_of(before.to), Ok(100));
    assert_eq!(it.first_of(after.to), Ok(200));
    assert_eq!(it.first_of(again.to), Ok(200));
    assert_eq!(diagnoses(&it.machine), [""; 0]);
}

/// The same where each is a job, in a queue of its own or not: the ring entry of a job that fetches what was stored since begins with
/// an invalidation.
pub(crate) fn texels_stored_by_a_job_are_fetched_by_the_next() {
    let mut it = bench();
    it.write_texels(100);
    let fetches = [(); 4].map(|()| it.fetch());
    let stores = [200, 300].map(|first| it.store(first));
    it.flushes();
    it.run(fetches[0].commands);
    assert_eq!(it.flushes(), [], "nothing was stored");
    it.run(stores[0]);
    it.run(fetches[1].commands);
    assert_eq!(it.flushes(), [Flush::ReadOnly], "stored since");
    it.run(fetches[2].commands);
    assert_eq!(it.flushes(), [], "nothing was stored since");
    // Nobody waits between the two.
    it.submit(stores[1]);
    it.run(fetches[3].commands);
    assert_eq!(it.flushes(), [Flush::ReadOnly], "the store is in flight");
    let found = fetches.map(|fetch| it.first_of(fetch.to));
    assert_eq!(found, [Ok(100), Ok(200), Ok(200), Ok(300)]);
    assert_eq!(diagnoses(&it.machine), [""; 0]);
}

/// The same where a job copies texels, from an image and from a buffer.
pub(crate) fn texels_copied_by_a_job_are_fetched_by_the_next() {
    let mut it = bench();
    it.write_texels(100);
    let texels =
        |first: u32| -> Vec<u8> { (first..first + TEXELS).flat_map(u32::to_le_bytes).collect() };
    let other = image(&mut it.device, it.space);
    let written = it
        .device
        .write_image(other, ImagePart::default(), &texels(200));
    written.or_fail("it has such a part");
    let buffer = it.device.create_buffer(it.space, BYTES);
    let buffer = buffer.or_fail("there is memory");
    let written = it.device.write_buffer(buffer, 0, &texels(300));
    written.or_fail("it fits");
    let fetches = [(); 3].map(|()| it.fetch());
    let (to, extent) = (it.image, [SIDE, SIDE, 1]);
    let of_image = it.commands(|it| {
        let copy = ImageCopy {
            extent,
            ..ImageCopy::default()
        };
        it.copy_image(other, to, &copy).map(drop)
    });
    let of_buffer = it.commands(|it| {
        let copy = BufferImageCopy {
            extent,
            ..BufferImageCopy::default()
        };
        it.copy_buffer_to_image(buffer, to, &copy).map(drop)
    });
    it.run(fetches[0].commands);
    for (copy, fetch) in [(of_image, fetches[1]), (of_buffer, fetches[2])] {
        it.run(copy);
        it.flushes();
        it.run(fetch.commands);
        assert_eq!(it.flushes(), [Flush::ReadOnly], "copied since");
    }
    let found = fetches.map(|fetch| it.first_of(fetch.to));
    assert_eq!(found, [Ok(100), Ok(200), Ok(300)]);
    assert_eq!(diagnoses(&it.machine), [""; 0]);
}

/// A copy between two dispatches of one pipeline, which differ in their push constants alone.
pub(crate) fn a_dispatch_behind_a_copy_is_as_one_before_it() {
    let mut it = bench();
    let other = image(&mut it.device, it.space);
    let copied = it.device.create_buffer(it.space, BYTES);
    let copied = copied.or_fail("there is memory");
    let (to, store) = (it.image, it.store);
    let commands = it.commands(|it| {
        store_texels(it, store, 200)?;
        it.barrier(Accesses::STORAGE_WRITE, Accesses::TRANSFER_READ)?;
        let copy = ImageCopy {
            extent: [SIDE, SIDE, 1],
            ..ImageCopy::default()
        };
        it.copy_image(to, other, &copy)?;
        let copies = Accesses::TRANSFER_READ | Accesses::TRANSFER_WRITE;
        it.barrier(copies, Accesses::STORAGE_WRITE | Accesses::TRANSFER_READ)?;
        it.push_constants(&push(300, 0))?.dispatch([1, 1, 1])?;
        let copy = BufferImageCopy {
            extent: [SIDE, SIDE, 1],
            ..BufferImageCopy::default()
        };
        it.copy_image_to_buffer(other, copied, &copy).map(drop)
    });
    it.run(commands);
    assert_eq!(it.first_of(copied), Ok(200), "before the copy");
    let mut texels = vec![0; BYTES as usize];
    let read = it.device.read_image(to, ImagePart::default(), &mut texels);
    read.or_fail("it has such a part");
    let expected: Vec<u32> = (300..).take(TEXELS as usize).collect();
    assert_eq!(words_of(&texels), expected, "behind the copy");
    assert_eq!(diagnoses(&it.machine), [""; 0]);
}

pub(crate) fn texels_stored_in_another_queue_are_fetched_behind_its_signal() {
    let mut it = bench();
    it.write_texels(100);
    let other = queue_in(&mut it.device, it.space);
    let (before, after) = (it.fetch(), it.fetch());
    let store = it.store(200);
    let semaphore = it.device.create_semaphore(0).or_fail("there is memory");
    let mapped = it
        .device
        .map_semaphore(semaphore, it.space, Access::ReadWrite);
    mapped.or_fail("there is memory");
    it.run(before.commands);
    it.flushes();
    let value = 1;
    let points = [SemaphorePoint { semaphore, value }];
    let waits = SubmitInfo {
        waits: &points,
        ..SubmitInfo::default()
    };
    let signals = SubmitInfo {
        signals: &points,
        ..SubmitInfo::default()
    };
    let stored = it.device.submit_with(other, store, signals);
    stored.or_fail("there is room");
    let fetched = it.device.submit_with(it.queue, after.commands, waits);
    let fetched = fetched.or_fail("there is room");
    assert_eq!(it.device.wait(fetched, LIMIT), Status::Done);
    assert_eq!(it.flushes(), [Flush::ReadOnly]);
    assert_eq!(it.first_of(before.to), Ok(100));
    assert_eq!(it.first_of(after.to), Ok(200));
    assert_eq!(diagnoses(&it.machine), [""; 0]);
}

/// An event that another queue sets orders texels as a barrier does.
pub(crate) fn texels_stored_in_another_queue_are_fetched_behind_its_event() {
    let mut it = bench();
    it.write_texels(100);
    let other = queue_in(&mut it.device, it.space);
    let (before, after) = (it.fetch(), it.fetch());
    let event = it.device.create_event(it.space).or_fail("there is memory");
    let (store, fetch) = (it.store, it.fetch);
    let storing = it.commands(|it| {
        store_texels(it, store, 200)?;
        it.set_event(event).map(drop)
    });
    it.flushes();
    let fetching = it.commands(|it| {
        fetch_texels(it, (fetch, before.set))?;
        it.wait_event(event)?;
        fetch_texels(it, (fetch, after.set))
    });
    assert_eq!(it.flushes(), [Flush::ReadOnly], "behind the wait");
    let fetched = it.submit(fetching);
    let stored = it.device.submit(other, storing).or_fail("there is room");
    for fence in [stored, fetched] {
        assert_eq!(it.device.wait(fence, LIMIT), Status::Done);
    }
    // Nothing orders the first fetch and the store: it only fills caches, with texels from before or after.
    assert_eq!(it.first_of(after.to), Ok(200));
}

/// Texels and descriptors that the host writes between jobs, also where a job has written texels before.
pub(crate) fn texels_and_descriptors_of_the_host_are_fetched() {
    let mut it = bench();
    it.write_texels(100);
    let fetch = it.fetch();
    it.run(fetch.commands);
    assert_eq!(it.first_of(fetch.to), Ok(100));
    it.write_texels(200);
    it.run(fetch.commands);
    assert_eq!(it.first_of(fetch.to), Ok(200), "the host has written them");
    let store = it.store(300);
    it.run(store);
    it.write_texels(400);
    it.run(fetch.commands);
    assert_eq!(it.first_of(fetch.to), Ok(400), "over those of a job");
    let other = image(&mut it.device, it.space);
    let bound = it
        .device
        .bind_image(fetch.set, BindingElement::first(0), other);
    bound.or_fail("it fits");
    let again = it.device.record(fetch.commands, |recorder| {
        fetch_texels(recorder, (it.fetch, fetch.set))
    });
    again.or_fail("it can be recorded");
    it.run(fetch.commands);
    let mut bytes = vec![1; BYTES as usize];
    let read = it.device.read_buffer(fetch.to, 0, &mut bytes);
    read.or_fail("it is inside");
    assert!(
        bytes.iter().all(|byte| *byte == 0),
        "texels of a fresh image"
    );
    assert_eq!(diagnoses(&it.machine), [""; 0]);
}

/// The host reads and writes images behind caches that the GPU does not see.
pub(crate) fn texels_of_host_and_gpu_are_seen_without_coherency() {
    for seed in crate::bench::some(&[1, 2, 3, 4, 5, 6], 1).iter().copied() {
        let machine = machine();
        let platform = machine.behind_caches(seed);
        let mut it = bench_on(machine, platform);
        let fetch = it.fetch();
        for round in 1..4 {
            let first = 1000 * round;
            it.write_texels(first);
            it.run(fetch.commands);
            assert_eq!(it.first_of(fetch.to), Ok(first), "seed {seed}");
            let store = it.store(first + 500);
            it.run(store);
            let mut texels = vec![0; BYTES as usize];
            let read = it
                .device
                .read_image(it.image, ImagePart::default(), &mut texels);
            read.or_fail("it has such a part");
            let expected: Vec<u32> = (first + 500..).take(TEXELS as usize).collect();
            assert_eq!(words_of(&texels), expected, "seed {seed}");
        }
        assert_eq!(diagnoses(&it.machine), [""; 0], "seed {seed}");
    }
}
