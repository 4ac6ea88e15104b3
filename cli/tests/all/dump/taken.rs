//! Dumps to look at: the runtime gives the model a job that fails, and the dump is taken before anybody cleans up.

use eitri_model::{Config, stub_firmware};
use eitri_on_model::Machine;
use eitri_program::Program;
use eitri_runtime::{Device, Options, Platform, QueueConfig, Storage};
use std::time::Duration;

/// Stores far behind its buffer, and what is compiled so does not ask whether it may.
pub const WILD: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x + 0x1000000u] = id.x * 3u; }";

/// What is compiled does not ask whether an access may be made.
pub(super) fn bold() -> eitri_shaderc::Options {
    eitri_shaderc::Options {
        robust: eitri_shaderc::Robust::Off,
        ..eitri_shaderc::Options::default()
    }
}

/// SPIR-V of WGSL.
pub(super) fn spirv(source: &str) -> Vec<u8> {
    use naga::back::spv;
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let module = naga::front::wgsl::parse_str(source).unwrap();
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator.validate(&module).unwrap();
    let words = spv::write_vec(&module, &info, &spv::Options::default(), None).unwrap();
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The device of a machine.
pub(super) fn brought_up<'s, 'd>(
    machine: &Machine,
    firmware: &'d [u8],
    storage: &'s mut Storage<'d>,
) -> Device<'s, 'd, Machine> {
    let options = Options::default();
    let brought_up = Device::bring_up(machine.clone(), firmware, storage, options, &mut ());
    brought_up.unwrap_or_else(|_| panic!("not brought up"))
}

/// The dump of a machine after so much time, in which nobody has cleaned up.
pub(super) fn dumped(machine: &Machine, after: Duration) -> Vec<u8> {
    machine.pass(after);
    let mut file = Vec::new();
    let mut room = vec![eitri_dump::Region::default(); 4096];
    let summary = eitri_dump::collect(&mut machine.clone(), &mut room, &mut file).unwrap();
    assert!(summary.incomplete.is_complete(), "{summary:?}");
    file
}

/// The dump of a machine that was given one job of 64 threads, and 5 ms for it. `before` is told the machine before the job
/// is submitted.
pub fn taken(source: &str, before: impl FnOnce(&Machine)) -> Vec<u8> {
    run(source, before, |machine, _| {
        dumped(machine, Duration::from_millis(5))
    })
}

/// The same, taken by the driver.
pub fn taken_by_the_driver(source: &str) -> Vec<u8> {
    run(
        source,
        |_| (),
        |machine, device| {
            machine.pass(Duration::from_millis(5));
            let mut file = Vec::new();
            let mut room = vec![eitri_dump::Region::default(); 4096];
            device.dump(None, &mut room, &mut file).unwrap();
            file
        },
    )
}

/// Gives a machine the job, and takes a dump of it.
fn run(
    source: &str,
    before: impl FnOnce(&Machine),
    dump: impl FnOnce(&Machine, &mut Device<'_, '_, Machine>) -> Vec<u8>,
) -> Vec<u8> {
    let machine = Machine::new(Config::default());
    let firmware = stub_firmware();
    let mut storage: Storage<'_> = Storage::new();
    let mut device = brought_up(&machine, &firmware, &mut storage);
    let queue = device.create_queue(QueueConfig::default()).unwrap();
    let space = device.space(queue).unwrap();
    let compiled = eitri_shaderc::compile(&spirv(source), &bold()).unwrap();
    let program = Program::parse(&compiled.program).unwrap();
    let pipeline = device.create_pipeline(space, &program).unwrap();
    let buffer = device.create_buffer(space, 256).unwrap();
    let set = device.create_descriptor_set(pipeline, 0).unwrap();
    device.bind_buffer(set, 0, buffer).unwrap();
    let commands = device.create_command_buffer(space).unwrap();
    let recorded = device.record(commands, |recorder| {
        recorder.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        recorder.dispatch([1, 1, 1])?;
        Ok(())
    });
    recorded.unwrap();
    before(&machine);
    device.submit(queue, commands).unwrap();
    // The group is put on a slot by `poll`; nobody polls once it has failed.
    device.poll(machine.clone().now());
    dump(&machine, &mut device)
}
