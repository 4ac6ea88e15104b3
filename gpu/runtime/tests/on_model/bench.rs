//! A device on the model, and jobs to give it.

use eitri_model::{Config, Injection};
use eitri_on_model::{Machine, NonCoherent};
use eitri_program::Program;
use eitri_runtime::{
    Buffer, CommandBuffer, DescriptorSet, Device, Fence, JobFault, Options, Pipeline, Platform,
    Priority, Queue, QueueConfig, Space, Status, Storage,
};
use std::sync::LazyLock;
use std::time::Duration;

pub const SECOND: Duration = Duration::from_secs(1);

pub static FIRMWARE: LazyLock<Vec<u8>> = LazyLock::new(eitri_model::stub_firmware);

/// Doubles each word of its buffer, 64 words a workgroup.
pub static DOUBLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    compile(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
         @compute @workgroup_size(64)
         fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = data[id.x] * 2u; }",
    )
});

/// Writes 0xDEAD0000 to the first word of its buffer for as long as it is let.
pub static FOREVER: LazyLock<Vec<u8>> = LazyLock::new(|| {
    compile(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
         @compute @workgroup_size(1)
         fn main() {
             var i = 0u;
             loop { i = i + 1u; data[0] = 0xdead0000u; if (i == 0xffffffffu) { break; } }
         }",
    )
});

pub fn compile(source: &str) -> Vec<u8> {
    compile_with(source, &eitri_shaderc::Options::default())
}

pub fn compile_with(source: &str, with: &eitri_shaderc::Options) -> Vec<u8> {
    use naga::back::spv;
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let module = naga::front::wgsl::parse_str(source).expect("WGSL");
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator.validate(&module).expect("valid");
    let options = spv::Options {
        lang_version: (1, 3),
        force_loop_bounding: false,
        ..spv::Options::default()
    };
    let words = spv::write_vec(&module, &info, &options, None).expect("SPIR-V");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let compiled = eitri_shaderc::compile(&bytes, with);
    compiled
        .unwrap_or_else(|error| panic!("{source}: {error}"))
        .program
}

pub fn program(bytes: &'static [u8]) -> Program<'static> {
    Program::parse(bytes).expect("just compiled")
}

/// A machine whose L2 keeps what it has until it is flushed, so that a missing flush is a wrong result.
pub fn machine() -> Machine {
    Machine::new(config())
}

/// Its configuration.
pub fn config() -> Config {
    Config {
        l2: true,
        ..Config::default()
    }
}

/// Storage that nobody gives back.
pub fn storage() -> &'static mut Storage<'static> {
    Box::leak(Box::new(Storage::new()))
}

/// What the driver has of a machine: with `EITRI_NON_COHERENT=1` caches that the GPU does not see stand in front of its
/// memory, whatever the test is about.
pub type Host = NonCoherent<Machine>;

pub fn host(machine: Machine) -> Host {
    match std::env::var_os("EITRI_NON_COHERENT") {
        Some(value) if value == "1" => NonCoherent::new(machine, 29),
        _ => NonCoherent::without_caches(machine),
    }
}

pub fn up(machine: Machine) -> Device<'static, 'static, Host> {
    up_with(machine, Options::default())
}

pub fn up_with(machine: Machine, options: Options) -> Device<'static, 'static, Host> {
    up_on(host(machine), options)
}

/// The same on a platform of the test's own.
pub fn up_on<P: Platform>(platform: P, options: Options) -> Device<'static, 'static, P> {
    Device::bring_up(platform, &FIRMWARE, storage(), options, &mut ()).expect("brought up")
}

pub fn inject(machine: &Machine, injection: Injection) {
    machine.gpu(|gpu| gpu.inject(injection));
}

pub fn withdraw(machine: &Machine, injection: Injection) {
    machine.gpu(|gpu| gpu.withdraw(injection));
}

pub fn diagnoses(machine: &Machine) -> Vec<String> {
    machine.gpu(|gpu| gpu.diagnoses().iter().map(ToString::to_string).collect())
}

/// A queue with an address space of its own.
pub fn queue<P: Platform>(device: &mut Device<'_, '_, P>) -> Queue {
    let made = device.create_queue(QueueConfig::default());
    made.expect("a place")
}

/// The same with a priority.
pub fn queue_of<P: Platform>(device: &mut Device<'_, '_, P>, priority: Priority) -> Queue {
    let config = QueueConfig {
        priority,
        ..QueueConfig::default()
    };
    device.create_queue(config).expect("a place")
}

/// A queue in an address space.
pub fn queue_in<P: Platform>(device: &mut Device<'_, '_, P>, space: Space) -> Queue {
    let config = QueueConfig {
        space: Some(space),
        ..QueueConfig::default()
    };
    device.create_queue(config).expect("a place")
}

/// Commands that run a program on a buffer of its own, which holds 0, 1, 2 … at first.
#[derive(Clone, Copy)]
pub struct Work {
    pub pipeline: Pipeline,
    pub set: DescriptorSet,
    pub buffer: Buffer,
    pub commands: CommandBuffer,
}

impl Work {
    /// In the space of a queue.
    pub fn new<P: Platform>(
        device: &mut Device<'_, 'static, P>,
        queue: Queue,
        shader: &'static [u8],
        words: u32,
    ) -> Work {
        let space = device.space(queue).expect("there");
        Work::in_space(device, space, shader, words)
    }

    pub fn in_space<P: Platform>(
        device: &mut Device<'_, 'static, P>,
        space: Space,
        shader: &'static [u8],
        words: u32,
    ) -> Work {
        let buffer = device.create_buffer(space, u64::from(words) * 4);
        Work::on_buffer(device, space, shader, buffer.expect("memory"), 0, words)
    }

    /// On the words from `offset` on of a buffer that is there.
    pub fn on_buffer<P: Platform>(
        device: &mut Device<'_, 'static, P>,
        space: Space,
        shader: &'static [u8],
        buffer: Buffer,
        offset: u64,
        words: u32,
    ) -> Work {
        let made = device.create_pipeline(space, &program(shader));
        let pipeline = made.expect("memory");
        let data: Vec<u8> = (0..words).flat_map(u32::to_le_bytes).collect();
        device.write_buffer(buffer, offset, &data).expect("fits");
        let set = device.create_descriptor_set(pipeline, 0).expect("memory");
        let bytes = u64::from(words) * 4;
        let bound = device.bind_range(set, 0, 0, buffer, offset, bytes);
        bound.expect("fits");
        let commands = device.create_command_buffer(space).expect("memory");
        let groups = words.div_ceil(64);
        let recorded = device.record(commands, |recorder| {
            recorder.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
            recorder.dispatch([groups, 1, 1])?;
            Ok(())
        });
        recorded.expect("fits");
        Work {
            pipeline,
            set,
            buffer,
            commands,
        }
    }

    /// The first words of the buffer.
    pub fn words<P: Platform>(&self, device: &mut Device<'_, '_, P>, count: usize) -> Vec<u32> {
        words(device, self.buffer, count)
    }

    pub fn destroy<P: Platform>(self, device: &mut Device<'_, '_, P>) {
        device
            .destroy_command_buffer(self.commands)
            .expect("unused");
        device.destroy_descriptor_set(self.set).expect("unused");
        device.destroy_buffer(self.buffer).expect("unused");
        device.destroy_pipeline(self.pipeline).expect("unused");
    }
}

pub fn words<P: Platform>(
    device: &mut Device<'_, '_, P>,
    buffer: Buffer,
    count: usize,
) -> Vec<u32> {
    let mut bytes = vec![0; count * 4];
    device.read_buffer(buffer, 0, &mut bytes).expect("inside");
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    bytes.chunks(4).map(word).collect()
}

/// Submits and expects room.
pub fn submit<P: Platform>(device: &mut Device<'_, '_, P>, queue: Queue, work: &Work) -> Fence {
    device.submit(queue, work.commands).expect("room")
}

/// Waits for a second; the first line of what went wrong.
pub fn wait<P: Platform>(device: &mut Device<'_, '_, P>, fence: Fence) -> Result<(), String> {
    result(device.wait(fence, SECOND)).map_err(|text| first_line(&text))
}

/// Waits for a job that must fail, and says how.
pub fn fault<P: Platform>(device: &mut Device<'_, '_, P>, fence: Fence) -> JobFault {
    match device.wait(fence, SECOND) {
        Status::Failed(fault) => fault,
        status => panic!("{fence}: {status:?}"),
    }
}

pub fn result(status: Status) -> Result<(), String> {
    match status {
        Status::Done => Ok(()),
        Status::Failed(fault) => Err(fault.to_string()),
        status => Err(format!("{status:?}")),
    }
}

pub fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("").to_string()
}
