//! A device on the model, and jobs to give it.

use crate::machine::{Host, Machine, Shader, bench};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use eitri_model::{Config, Injection};
use eitri_program::Program;
use eitri_runtime::{
    BindingElement, Buffer, BufferRange, CommandBuffer, DescriptorSet, Device, Fence, JobFault,
    Options, Pipeline, Platform, Priority, Queue, QueueConfig, Space, Status, Storage,
};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// What ends by itself is given so long: where the model shares a CPU with the driver, as in QEMU, it takes a while.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Doubles each word of its buffer, 64 words a workgroup.
pub(crate) static DOUBLE: Shader = Shader::new("double", include_str!("../shaders/double.wgsl"));

/// Writes 0xDEAD0000 to the first word of its buffer for as long as it is let.
pub(crate) static FOREVER: Shader = Shader::new("forever", include_str!("../shaders/forever.wgsl"));

pub(crate) fn firmware() -> &'static [u8] {
    bench().firmware()
}

/// Whether the longer forms of tests are wanted.
pub(crate) fn long() -> bool {
    bench().long()
}

/// Whether the shorter forms of tests are wanted.
pub(crate) fn brief() -> bool {
    bench().brief()
}

/// The values of a test in its longer, its usual and its shorter form.
pub(crate) fn by_form<T>(longer: T, usual: T, shorter: T) -> T {
    match (long(), brief()) {
        (true, _) => longer,
        (false, false) => usual,
        (false, true) => shorter,
    }
}

/// The first `few` of `all` where shorter forms of tests are wanted.
pub(crate) fn some<T>(all: &[T], few: usize) -> &[T] {
    match brief() {
        true => all.get(..few).unwrap_or(all),
        false => all,
    }
}

pub(crate) fn program(shader: &'static Shader) -> Program<'static> {
    Program::parse(bench().program(shader)).or_fail("it was just compiled")
}

/// A machine whose L2 keeps what it has until it is flushed, so that a missing flush is a wrong result.
pub(crate) fn machine() -> Machine {
    Machine::new(config())
}

/// Its configuration.
pub(crate) fn config() -> Config {
    Config {
        l2: true,
        ..Config::default()
    }
}

/// Storage that nobody gives back.
pub(crate) fn storage() -> &'static mut Storage<'static> {
    Box::leak(Box::new(Storage::new()))
}

pub(crate) fn up(machine: Machine) -> Device<'static, 'static, Host> {
    up_with(machine, Options::default())
}

pub(crate) fn up_with(machine: Machine, options: Options) -> Device<'static, 'static, Host> {
    up_on(machine.platform(), options)
}

/// The same on a platform of the test's own.
pub(crate) fn up_on<P: Platform>(platform: P, options: Options) -> Device<'static, 'static, P> {
    Device::bring_up(platform, firmware(), storage(), options, &mut ()).or_fail("the GPU comes up")
}

pub(crate) fn inject(machine: &Machine, injection: Injection) {
    machine.inject(injection);
}

pub(crate) fn withdraw(machine: &Machine, injection: Injection) {
    machine.withdraw(injection);
}

pub(crate) fn diagnoses(machine: &Machine) -> Vec<String> {
    machine.diagnoses()
}

/// A queue with an address space of its own.
pub(crate) fn queue<P: Platform>(device: &mut Device<'_, '_, P>) -> Queue {
    let made = device.create_queue(QueueConfig::default());
    made.or_fail("there is a place for a queue")
}

/// The same with a priority.
pub(crate) fn queue_of<P: Platform>(device: &mut Device<'_, '_, P>, priority: Priority) -> Queue {
    let config = QueueConfig {
        priority,
        ..QueueConfig::default()
    };
    device
        .create_queue(config)
        .or_fail("there is a place for a queue")
}

/// A queue in an address space.
pub(crate) fn queue_in<P: Platform>(device: &mut Device<'_, '_, P>, space: Space) -> Queue {
    let config = QueueConfig {
        space: Some(space),
        ..QueueConfig::default()
    };
    device
        .create_queue(config)
        .or_fail("there is a place for a queue")
}

/// Commands that run a program on a buffer of its own, which holds 0, 1, 2 … at first.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    pub(crate) pipeline: Pipeline,
    pub(crate) set: DescriptorSet,
    pub(crate) buffer: Buffer,
    pub(crate) commands: CommandBuffer,
}

impl Work {
    /// In the space of a queue.
    pub(crate) fn new<P: Platform>(
        device: &mut Device<'_, 'static, P>,
        queue: Queue,
        shader: &'static Shader,
        words: u32,
    ) -> Work {
        let space = device.space(queue).or_fail("it is there");
        Work::in_space(device, space, shader, words)
    }

    pub(crate) fn in_space<P: Platform>(
        device: &mut Device<'_, 'static, P>,
        space: Space,
        shader: &'static Shader,
        words: u32,
    ) -> Work {
        let buffer = device.create_buffer(space, u64::from(words) * 4);
        Work::on_buffer(
            device,
            space,
            shader,
            buffer.or_fail("there is memory"),
            0,
            words,
        )
    }

    /// On the words from `offset` on of a buffer that is there.
    pub(crate) fn on_buffer<P: Platform>(
        device: &mut Device<'_, 'static, P>,
        space: Space,
        shader: &'static Shader,
        buffer: Buffer,
        offset: u64,
        words: u32,
    ) -> Work {
        let made = device.create_pipeline(space, &program(shader));
        let pipeline = made.or_fail("there is memory");
        let data: Vec<u8> = (0..words).flat_map(u32::to_le_bytes).collect();
        device
            .write_buffer(buffer, offset, &data)
            .or_fail("it fits");
        let set = device
            .create_descriptor_set(pipeline, 0)
            .or_fail("there is memory");
        let bytes = u64::from(words) * 4;
        let bound = device.bind_range(
            set,
            BindingElement::first(0),
            buffer,
            BufferRange { offset, bytes },
        );
        bound.or_fail("it fits");
        let commands = device
            .create_command_buffer(space)
            .or_fail("there is memory");
        let groups = words.div_ceil(64);
        let recorded = device.record(commands, |recorder| {
            recorder.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
            recorder.dispatch([groups, 1, 1])?;
            Ok(())
        });
        recorded.or_fail("it fits");
        Work {
            pipeline,
            set,
            buffer,
            commands,
        }
    }

    /// The first words of the buffer.
    pub(crate) fn words<P: Platform>(
        &self,
        device: &mut Device<'_, '_, P>,
        count: usize,
    ) -> Vec<u32> {
        words(device, self.buffer, count)
    }

    pub(crate) fn destroy<P: Platform>(self, device: &mut Device<'_, '_, P>) {
        device
            .destroy_command_buffer(self.commands)
            .or_fail("nothing uses it");
        device
            .destroy_descriptor_set(self.set)
            .or_fail("nothing uses it");
        device
            .destroy_buffer(self.buffer)
            .or_fail("nothing uses it");
        device
            .destroy_pipeline(self.pipeline)
            .or_fail("nothing uses it");
    }
}

pub(crate) fn words<P: Platform>(
    device: &mut Device<'_, '_, P>,
    buffer: Buffer,
    count: usize,
) -> Vec<u32> {
    let mut bytes = vec![0; count * 4];
    device
        .read_buffer(buffer, 0, &mut bytes)
        .or_fail("it is inside");
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().or_fail("there are four bytes"));
    bytes.chunks(4).map(word).collect()
}

/// What a test relies on, and does not look at itself.
pub(crate) trait OrFail<T> {
    /// The value, or the end of the test at the caller's place: with what was relied on, and what was told in its stead.
    #[track_caller]
    fn or_fail(self, what: &str) -> T;
}

impl<T, E: fmt::Display> OrFail<T> for Result<T, E> {
    fn or_fail(self, what: &str) -> T {
        match self {
            Ok(value) => value,
            Err(error) => panic!("expected that {what}: {error}"),
        }
    }
}

impl<T> OrFail<T> for Option<T> {
    fn or_fail(self, what: &str) -> T {
        match self {
            Some(value) => value,
            None => panic!("expected that {what}"),
        }
    }
}

/// What most tests begin with: a device on a machine of its own, with a queue and work for it.
pub(crate) struct Ready {
    pub(crate) machine: Machine,
    pub(crate) device: Device<'static, 'static, Host>,
    pub(crate) queue: Queue,
    pub(crate) work: Work,
}

/// The usual machine, its device, a queue, and a shader on so many words.
pub(crate) fn ready(shader: &'static Shader, words: u32) -> Ready {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let work = Work::new(&mut device, queue, shader, words);
    Ready {
        machine,
        device,
        queue,
        work,
    }
}

/// So many queues with a space each, and work for each of them.
pub(crate) fn queues_with_work<P: Platform>(
    device: &mut Device<'_, 'static, P>,
    count: usize,
    shader: &'static Shader,
    words: u32,
) -> Vec<(Queue, Work)> {
    let one = |_| {
        let queue = queue(device);
        (queue, Work::new(device, queue, shader, words))
    };
    (0..count).map(one).collect()
}

/// Submits and expects room.
pub(crate) fn submit<P: Platform>(
    device: &mut Device<'_, '_, P>,
    queue: Queue,
    work: &Work,
) -> Fence {
    device.submit(queue, work.commands).or_fail("there is room")
}

/// Waits until a job is over; the first line of what went wrong.
pub(crate) fn wait<P: Platform>(
    device: &mut Device<'_, '_, P>,
    fence: Fence,
) -> Result<(), String> {
    result(device.wait(fence, LIMIT)).map_err(|text| first_line(&text))
}

/// Waits for a job that must fail, and says how.
pub(crate) fn fault<P: Platform>(device: &mut Device<'_, '_, P>, fence: Fence) -> JobFault {
    match device.wait(fence, LIMIT) {
        Status::Failed(fault) => fault,
        status => panic!("{fence}: {status:?}"),
    }
}

pub(crate) fn result(status: Status) -> Result<(), String> {
    match status {
        Status::Done => Ok(()),
        Status::Failed(fault) => Err(fault.to_string()),
        status => Err(format!("{status:?}")),
    }
}

pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("").to_string()
}
