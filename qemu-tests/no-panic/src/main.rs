//! Proof that the runtime can't panic: with a reachable panic, this does not link.
//!
//! The program does with the runtime what an image does, from power-off to a finished job and back, on a platform of
//! bare pointers. Its panic handler calls a function that exists nowhere. The linker drops code that nothing reaches;
//! so if a panic could be reached, that function is missing:
//!
//!     rust-lld: error: undefined symbol: a_panic_can_be_reached
//!
//! Build it with `--profile no-panic`: a release build that inlines across crates. A debug build checks for overflow, and
//! that is a panic.
#![no_std]
#![allow(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen, and there is no heap to put it on"
)]
#![no_main]

use core::ops::Range;
use core::panic::PanicInfo;
use core::time::Duration;
use eitri_dump::{Region, Sink};
use eitri_program::Program;
use eitri_runtime::{
    Access, Accesses, Bound, Buffer, CommandBuffer, DescriptorSet, Device, DevicePower, DmaRegion,
    Done, DynamicOffset, GpuAddress, Instant, Lines, OperatingPoint, Options, PageAllocator,
    PhysicalAddress, Pipeline, Platform, Queue, QueueConfig, SemaphorePoint, Space, Status, Step,
    Storage, SubQueue, SubmitInfo, TilerHeapConfig,
};

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn a_panic_can_be_reached() -> !;
    }
    // SAFETY: a program that has this call in it does not link.
    unsafe { a_panic_can_be_reached() }
}

/// What stands in for everything that comes from outside: the compiler can't know it.
#[repr(C)]
struct Outside {
    window: *mut u32,
    memory: PhysicalAddress,
    memory_bytes: u64,
    map: &'static mut [u64],
    firmware: &'static [u8],
    program: &'static [u8],
    data: &'static mut [u8],
    groups: [u32; 3],
    counter: *const u64,
    lines: *const Lines,
}

struct Pointers {
    outside: Outside,
    pages: PageAllocator<&'static mut [u64]>,
}

/// What was before is done before what is after.
fn barrier() {
    // SAFETY: a barrier.
    unsafe { core::arch::asm!("dsb sy", options(nostack, preserves_flags)) };
}

// SAFETY: never run.
unsafe impl Platform for Pointers {
    fn read32(&mut self, offset: u32) -> u32 {
        // SAFETY: never run.
        unsafe {
            self.outside
                .window
                .byte_add(offset as usize)
                .read_volatile()
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        // SAFETY: never run.
        unsafe {
            self.outside
                .window
                .byte_add(offset as usize)
                .write_volatile(value)
        }
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion> {
        let region = self.pages.allocate(bytes, alignment)?;
        self.zero(region.start(), region.bytes());
        Some(region)
    }

    fn free(&mut self, region: DmaRegion) {
        self.pages.free(region);
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        // SAFETY: never run.
        unsafe { (address.0 as *const u32).read_volatile() }
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        // SAFETY: never run.
        unsafe { (address.0 as *mut u32).write_volatile(value) }
    }

    fn load64(&mut self, address: PhysicalAddress) -> u64 {
        // SAFETY: never run.
        unsafe { (address.0 as *const u64).read_volatile() }
    }

    fn store64(&mut self, address: PhysicalAddress, value: u64) {
        // SAFETY: never run.
        unsafe { (address.0 as *mut u64).write_volatile(value) }
    }

    fn publish(&mut self) {
        barrier();
    }

    fn observe(&mut self) {
        barrier();
    }

    fn clean(&mut self, _range: Range<PhysicalAddress>) {}

    fn invalidate(&mut self, _range: Range<PhysicalAddress>) {}

    fn now(&mut self) -> Instant {
        // SAFETY: never run.
        Instant(Duration::from_nanos(unsafe {
            self.outside.counter.read_volatile()
        }))
    }

    fn counter_hertz(&self) -> u64 {
        // SAFETY: never run.
        unsafe { self.outside.counter.read_volatile() }
    }

    fn wait(&mut self, _wanted: Lines, _until: Instant) -> Lines {
        // SAFETY: never run.
        unsafe { self.outside.lines.read_volatile() }
    }
}

fn job(mut outside: Outside) -> Option<()> {
    let (firmware, shader, groups) = (outside.firmware, outside.program, outside.groups);
    let values = core::mem::take(&mut outside.data);
    let map = core::mem::take(&mut outside.map);
    let pages = PageAllocator::new(outside.memory, outside.memory_bytes, map)?;
    let platform = Pointers { outside, pages };
    let mut last = Step::Probe;
    let mut report = |done: &Done<'_>| last = done.step;

    let mut storage = Storage::<4, 16, 32>::new();
    let options = Options {
        idle_off: Some(Duration::from_millis(groups[0].into())),
        ..Options::default()
    };
    let mut device =
        Device::bring_up(platform, firmware, &mut storage, options, &mut report).ok()?;
    let queue = device.create_queue(QueueConfig::default()).ok()?;
    let space = device.space(queue).ok()?;
    let program = Program::parse(shader).ok()?;
    let pipeline = device.create_pipeline(space, &program).ok()?;
    let buffer = device.create_buffer(space, values.len() as u64).ok()?;
    device.write_buffer(buffer, 0, values).ok()?;
    let set = device.create_descriptor_set(pipeline, 0).ok()?;
    device.bind_buffer(set, 0, buffer).ok()?;
    let commands = device.create_command_buffer(space).ok()?;
    let recorded = device.record(commands, |recorder| {
        recorder.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        recorder.dispatch(groups)?;
        Ok(())
    });
    recorded.ok()?;
    let fence = device.submit(queue, commands).ok()?;
    commands_of_every_kind(&mut device, space, pipeline, set, buffer, groups)?;
    semaphores_and_power(&mut device, queue, commands, groups)?;
    if device
        .wait_or_fault(fence, Duration::from_secs(1))
        .is_none()
    {
        let mut room = [Region::default(); 16];
        let sum = &mut Sum(0);
        device.dump(Some(fence), &mut room, sum).ok()?;
    }
    if device.wait(fence, Duration::from_secs(1)) == Status::Pending {
        device.explain(fence)?;
        device.cancel(queue).ok()?;
        device.settle();
    }
    device.discard(fence);
    let at = GpuAddress(groups[0].into());
    device
        .map_buffer(buffer, 0, values.len() as u64, at, Access::ReadWrite)
        .ok()?;
    let stream = device.submit_stream(queue, SubQueue::Fragment, at, groups[1]);
    device.wait(stream.ok()?, Duration::from_secs(1));
    device.unmap_range(space, at, values.len() as u64).ok()?;
    let limit = Duration::from_secs(1);
    device
        .run(&program, groups, &[], &mut [Bound::new(0, values)], limit)
        .ok()?;
    device.reached(queue, SubQueue::Compute).ok()?;
    device.read_buffer(buffer, 0, values).ok()?;
    device.ping().ok()?;
    if device.lost().is_some() {
        device.restart(&mut report).ok()?;
    }
    device.destroy_command_buffer(commands).ok()?;
    device.destroy_descriptor_set(set).ok()?;
    device.destroy_buffer(buffer).ok()?;
    device.destroy_pipeline(pipeline).ok()?;
    device.destroy_queue(queue).ok()?;
    let other = device.create_space().ok()?;
    device.destroy_space(other).ok()?;
    device.shutdown(&mut report).ok()?;
    Some(())
}

/// A dump goes nowhere.
struct Sum(u64);

impl Sink for Sum {
    type Error = Step;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Step> {
        self.0 = self.0.wrapping_add(bytes.len() as u64);
        match self.0 {
            0 => Err(Step::Probe),
            _ => Ok(()),
        }
    }
}

fn semaphores_and_power(
    device: &mut Device<'_, '_, Pointers>,
    queue: Queue,
    commands: CommandBuffer,
    [number, count, value]: [u32; 3],
) -> Option<()> {
    let semaphore = device.create_semaphore(value.into()).ok()?;
    let space = device.space(queue).ok()?;
    device
        .map_semaphore(semaphore, space, Access::ReadWrite)
        .ok()?;
    let point = |value: u32| SemaphorePoint {
        semaphore,
        value: value.into(),
    };
    let points = [point(number), point(count), point(value)];
    let points = points.get(..number as usize)?;
    let info = SubmitInfo {
        sub_queue: SubQueue::Compute,
        waits: points,
        signals: points,
    };
    device.submit_with(queue, commands, info).ok()?;
    device.suspend().ok()?;
    device.settle();
    device.set_operating_point(OperatingPoint {
        hertz: number.into(),
        microvolts: count,
    });
    device.signal_semaphore(semaphore, value.into()).ok()?;
    device.resume().ok()?;
    if device.power() == DevicePower::Off {
        device.wait_for(point(count), Duration::from_secs(1)).ok()?;
    }
    device.destroy_semaphore(semaphore).ok()
}

fn commands_of_every_kind(
    device: &mut Device<'_, '_, Pointers>,
    space: Space,
    pipeline: Pipeline,
    set: DescriptorSet,
    buffer: Buffer,
    [number, count, value]: [u32; 3],
) -> Option<()> {
    let (first, second) = (u64::from(number), u64::from(count));
    let event = device.create_event(space).ok()?;
    let pool = device.create_query_pool(space, count).ok()?;
    let heap = device.create_tiler_heap(space, TilerHeapConfig::default());
    let heap = heap.ok()?;
    let commands = device.create_command_buffer(space).ok()?;
    let called = device.create_command_buffer(space).ok()?;
    let recorded = device.record_secondary(called, |it| {
        let begin = it.begin_invocations();
        it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        it.push_constants_at(number as usize, &value.to_le_bytes())?;
        it.dispatch_base([number; 3], [count; 3])?;
        it.dispatch_indirect(buffer, first)?;
        it.end_invocations(begin, pool, number)?;
        Ok(())
    });
    recorded.ok()?;
    let offset = DynamicOffset {
        binding: number,
        element: count,
        offset: first,
    };
    let recorded = device.record(commands, |it| {
        it.bind_descriptor_set_at(set, &[offset])?;
        it.wait_event(event)?.execute(called)?;
        it.barrier(Accesses::ALL, Accesses::ALL)?;
        it.fill_buffer(buffer, first, second, value)?;
        it.update_buffer(buffer, first, &value.to_le_bytes())?;
        it.copy_buffer((buffer, first), (buffer, second), 64)?;
        it.set_event(event)?.reset_event(event)?;
        it.reset_queries(pool, number, count)?;
        it.write_timestamp(pool, number)?;
        it.copy_query_results(pool, number, count, (buffer, first))?;
        Ok(())
    });
    recorded.ok()?;
    device.set_event(event).ok()?;
    device.event_status(event).ok()?;
    device.reset_event(event).ok()?;
    let mut results = [None; 4];
    device.query_results(pool, number, &mut results).ok()?;
    device.reset_queries(pool, number, count).ok()?;
    device.refill_tiler_heap(heap).ok()?;
    device.tiler_heap(heap).ok()?;
    device.destroy_tiler_heap(heap).ok()?;
    device.destroy_command_buffer(commands).ok()?;
    device.destroy_command_buffer(called).ok()?;
    device.destroy_query_pool(pool).ok()?;
    device.destroy_event(event).ok()
}

/// The entry, as far as the linker is concerned.
///
/// # Safety
/// Never called.
#[unsafe(no_mangle)]
unsafe extern "C" fn no_panic_start(outside: *const Outside) -> bool {
    // SAFETY: never run.
    job(unsafe { outside.read_volatile() }).is_some()
}
