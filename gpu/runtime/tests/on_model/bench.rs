//! A device on the model, and jobs to give it.

use eitri_model::{Config, Injection};
use eitri_on_model::Machine;
use eitri_program::Program;
use eitri_runtime::{
    Buffer, CommandBuffer, DescriptorSet, Device, Options, Pipeline, Platform, Queue, QueueConfig,
    WaitError,
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

fn compile(source: &str) -> Vec<u8> {
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
    let compiled = eitri_shaderc::compile(&bytes, &eitri_shaderc::Options::default());
    compiled
        .unwrap_or_else(|error| panic!("{source}: {error}"))
        .program
}

pub fn program(bytes: &'static [u8]) -> Program<'static> {
    Program::parse(bytes).expect("just compiled")
}

/// A machine as the default configuration has it.
pub fn machine() -> Machine {
    Machine::new(Config::default())
}

pub fn up<P: Platform>(platform: P) -> Device<'static, P> {
    Device::bring_up(platform, &FIRMWARE, Options::default(), &mut ()).expect("brought up")
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

/// A queue with the default priority.
pub fn queue<P: Platform>(device: &mut Device<'_, P>) -> Queue {
    device
        .create_queue(QueueConfig::default())
        .expect("a free slot")
}

/// Commands that run a program on a buffer of its own, which holds 0, 1, 2 … at first.
pub struct Work {
    pub pipeline: Pipeline<'static>,
    pub set: DescriptorSet<'static>,
    pub buffer: Buffer,
    pub commands: CommandBuffer,
}

impl Work {
    pub fn new<P: Platform>(device: &mut Device<'_, P>, shader: &'static [u8], words: u32) -> Work {
        let pipeline = device.create_pipeline(&program(shader)).expect("memory");
        let buffer = device.create_buffer(u64::from(words) * 4).expect("memory");
        let data: Vec<u8> = (0..words).flat_map(u32::to_le_bytes).collect();
        device.write_buffer(&buffer, 0, &data).expect("fits");
        let set = device.create_descriptor_set(&pipeline, 0).expect("memory");
        device.bind_buffer(&set, 0, &buffer).expect("fits");
        let mut commands = device.create_command_buffer().expect("memory");
        let groups = words.div_ceil(64);
        commands
            .record(device, |recorder| {
                recorder.bind_pipeline(&pipeline).bind_descriptor_set(&set);
                recorder.dispatch([groups, 1, 1])?;
                Ok(())
            })
            .expect("fits");
        Work {
            pipeline,
            set,
            buffer,
            commands,
        }
    }

    /// The first words of the buffer.
    pub fn words<P: Platform>(&self, device: &mut Device<'_, P>, count: usize) -> Vec<u32> {
        words(device, &self.buffer, count)
    }

    pub fn destroy<P: Platform>(self, device: &mut Device<'_, P>) {
        device
            .destroy_command_buffer(self.commands)
            .expect("unused");
        device.destroy_descriptor_set(self.set).expect("unused");
        device.destroy_buffer(self.buffer).expect("unused");
        device.destroy_pipeline(self.pipeline).expect("unused");
    }
}

pub fn words<P: Platform>(device: &mut Device<'_, P>, buffer: &Buffer, count: usize) -> Vec<u32> {
    let mut bytes = vec![0; count * 4];
    device.read_buffer(buffer, 0, &mut bytes).expect("inside");
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    bytes.chunks(4).map(word).collect()
}

/// Waits for a second; the first line of what went wrong.
pub fn wait<P: Platform>(
    device: &mut Device<'_, P>,
    queue: &Queue,
    point: u64,
) -> Result<(), String> {
    first_line(queue.timeline().wait(device, point, SECOND))
}

pub fn first_line(result: Result<(), WaitError>) -> Result<(), String> {
    result.map_err(|error| error.to_string().lines().next().unwrap_or("").to_string())
}
