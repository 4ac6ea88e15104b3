//! Commands against firmware that says yes: what a dispatch writes, and what is refused.

mod texels;

use crate::device::Device;
use crate::error::Error;
use crate::handle::{Buffer, CommandBuffer, DescriptorSet, Pipeline};
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::{BindingElement, BufferRange};
use crate::testing::Fake;
use crate::testing::firmware::{control_blocks, device, image};
use crate::vm::GpuAddress;
use eitri_csf::page_table::Attributes;
use eitri_program::{
    Access as Rights, AddressHalf, Arch, Axis, Binding, BindingKind, DescriptorSlot, FauWord,
    Program, ProgramParts, RegisterFile, Stage, WorkgroupSize,
};
use std::string::ToString;
use std::vec::Vec;

/// A program with a storage buffer at 0:2 (table 1, descriptor 0), a push constant and the workgroup count.
fn program(change: impl FnOnce(&mut ProgramParts<'_>)) -> Vec<u8> {
    let fau = [
        FauWord::PushConstant { offset: 4 },
        FauWord::NumWorkgroups(Axis::Y),
        FauWord::Constant(0xC0DE),
    ];
    program_with(&fau, change)
}

/// The same with other uniform words.
pub(super) fn program_with(fau: &[FauWord], change: impl FnOnce(&mut ProgramParts<'_>)) -> Vec<u8> {
    let binding = Binding {
        set: 0,
        binding: 2,
        kind: BindingKind::StorageBuffer,
        access: Rights::ReadWrite,
        count: 1,
        slot: DescriptorSlot { table: 1, index: 0 },
        min_bytes: 16,
    };
    let mut parts = ProgramParts {
        arch: Arch::V10,
        stage: Stage::Compute,
        entry: "main",
        code: &[0x7800_C000_0000_0000],
        data: &[],
        registers: RegisterFile::Half,
        preload: 0x00E0,
        workgroup: WorkgroupSize::new(64, 1, 1).expect("legal"),
        shared_bytes: 0,
        scratch_bytes: 0,
        push_constant_bytes: 8,
        fau,
        fau_steps: &[],
        bindings: &[binding],
        push_ranges: &[],
    };
    change(&mut parts);
    let mut bytes = std::vec![0; 1024];
    let length = parts.encode(&mut bytes).expect("room");
    bytes.truncate(length);
    bytes
}

pub(super) struct Bound<'d> {
    pub(super) device: Device<'d, 'd, Fake>,
    pub(super) pipeline: Pipeline,
    pub(super) set: DescriptorSet,
    pub(super) buffer: Buffer,
    pub(super) commands: CommandBuffer,
}

pub(super) fn bound<'d>(image: &'d [u8], program: &'d [u8]) -> Bound<'d> {
    let mut device = device(image);
    let space = device.create_space().expect("memory");
    let program = Program::parse(program).expect("legal");
    let pipeline = device.create_pipeline(space, &program).expect("memory");
    let set = device.create_descriptor_set(pipeline, 0).expect("memory");
    let buffer = device.create_buffer(space, 4096).expect("memory");
    device.bind_buffer(set, 2, buffer).expect("fits");
    let commands = device.create_command_buffer(space).expect("memory");
    Bound {
        device,
        pipeline,
        set,
        buffer,
        commands,
    }
}

/// Where an address of the only space is, and what may be done there.
fn translate(
    device: &mut Device<'_, '_, Fake>,
    address: u64,
) -> Option<(PhysicalAddress, Attributes)> {
    let (_, vm) = device.spaces.iter().next().expect("one");
    vm.space.translate(&mut device.hw.platform, address)
}

/// Where the code of a pipeline is, and its bytes.
fn code_of(device: &Device<'_, '_, Fake>, pipeline: Pipeline) -> (u32, u64) {
    let mapping = &device.objects.get(pipeline.0).expect("there").mapping;
    (mapping.address().0 as u32, mapping.bytes())
}

/// `count` words of 32 bits where the GPU sees `address`.
pub(super) fn words(device: &mut Device<'_, '_, Fake>, address: u64, count: u64) -> Vec<u32> {
    let (at, _) = translate(device, address).expect("mapped");
    let platform = &mut device.hw.platform;
    (0..count)
        .map(|word| platform.load32(at.offset(4 * word)))
        .collect()
}

/// The instructions that were recorded.
pub(super) fn recorded(device: &mut Device<'_, '_, Fake>, commands: CommandBuffer) -> Vec<u64> {
    let recorded = device.recorded(commands).expect("recorded");
    let (GpuAddress(start), bytes) = (recorded.start, recorded.bytes);
    let (at, _) = translate(device, start).expect("mapped");
    let platform = &mut device.hw.platform;
    (0..u64::from(bytes))
        .step_by(8)
        .map(|byte| platform.load64(at.offset(byte)))
        .collect()
}

/// The worked dispatch of hardware/command-stream.md section 7.1, as far as it is the runtime's, with its own addresses.
#[test]
fn a_dispatch_is_the_worked_one() {
    let (image, program) = (image(&control_blocks()), program(|_| ()));
    let Bound {
        mut device,
        pipeline,
        set,
        buffer,
        commands,
    } = bound(&image, &program);
    let push = [1_u32, 0xFEED].map(u32::to_le_bytes).concat();
    let record = device.record(commands, |recorder| {
        recorder.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        recorder.push_constants(&push)?.dispatch([16, 4, 1])?;
        Ok(())
    });
    record.expect("complete");
    let stream = recorded(&mut device, commands);
    let address = |index: usize| stream[index] & 0xFFFF_FFFF_FFFF;
    let (resources, uniforms) = (address(2), stream[3] & 0xFFFF_FFFF);
    let (storage, shader) = (address(6), address(5));
    let expected = [
        0x1700_0000_0000_0003,
        0x2200_0000_0000_0001,
        0x0100 << 48 | resources,
        0x0208 << 48 | uniforms,
        0x0209_0000_0200_0000,
        0x0110 << 48 | shader,
        0x0118 << 48 | storage,
        0x0220_0000_0000_0000,
        0x0221_0000_0000_003f,
        0x0222_0000_0000_0000,
        0x0223_0000_0000_0000,
        0x0224_0000_0000_0000,
        0x0225_0000_0000_0010,
        0x0226_0000_0000_0004,
        0x0227_0000_0000_0001,
        0x0400_0000_0000_4002,
        0x2200_0000_0000_0000,
    ];
    assert_eq!(stream, expected, "{stream:#x?}");

    assert_eq!(resources & 0x3F, 4, "two tables, rounded up");
    let tables = words(&mut device, resources & !0x3F, 16);
    assert_eq!(tables[..4], [0; 4], "the driver's table is empty");
    assert_eq!(tables[5..8], [1 << 24, 32, 0]);
    let descriptor = words(&mut device, u64::from(tables[4]), 8);
    let seen = device.buffer_address(buffer).expect("there").0 as u32;
    assert_eq!(descriptor, [0x19, 4096, seen, 0, 0, 0, 0, 0]);
    assert_eq!(words(&mut device, uniforms, 4), [0xFEED, 4, 0xC0DE, 0]);
    let (code, _) = code_of(&device, pipeline);
    assert_eq!(
        words(&mut device, shader, 4),
        [2 << 30 | 0x18, 0x00E0, code, 0]
    );
    assert_eq!(words(&mut device, storage, 4), [0, 31, 0, 0]);
    assert_eq!(words(&mut device, u64::from(code), 2), [0, 0x7800_C000]);
}

#[test]
fn uniforms_name_what_is_bound_and_where_the_data_is() {
    let slot = DescriptorSlot { table: 1, index: 0 };
    let fau = [
        FauWord::BufferAddress {
            slot,
            half: AddressHalf::Low,
        },
        FauWord::BufferAddress {
            slot,
            half: AddressHalf::High,
        },
        FauWord::BufferBytes { slot },
        FauWord::DataAddress(AddressHalf::Low),
    ];
    let image = image(&control_blocks());
    let program = program_with(&fau, |parts| parts.data = &[0x0123_4567_89AB_CDEF]);
    let Bound {
        mut device,
        pipeline,
        set,
        buffer,
        commands,
    } = bound(&image, &program);
    let record = device.record(commands, |recorder| {
        recorder.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        recorder.push_constants(&[0; 8])?.dispatch([1, 1, 1])?;
        Ok(())
    });
    record.expect("complete");
    let stream = recorded(&mut device, commands);
    let uniforms = words(&mut device, stream[3] & 0xFFFF_FFFF, 4);
    let at = device.buffer_address(buffer).expect("there").0;
    assert_eq!(uniforms[..3], [at as u32, (at >> 32) as u32, 4096]);
    let data = words(&mut device, u64::from(uniforms[3]), 2);
    assert_eq!(data, [0x89AB_CDEF, 0x0123_4567]);
}

#[test]
fn memory_of_threads_and_workgroups_is_provided_and_not_shared_by_two_jobs() {
    let image = image(&control_blocks());
    let program = program(|parts| {
        parts.shared_bytes = 100;
        parts.scratch_bytes = 40;
    });
    let Bound {
        mut device,
        pipeline,
        set,
        commands,
        ..
    } = bound(&image, &program);
    let record = device.record(commands, |recorder| {
        recorder.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        recorder.dispatch([1000, 1, 1])?.dispatch([1000, 1, 1])?;
        Ok(())
    });
    record.expect("complete");
    let stream = recorded(&mut device, commands);
    let storage = words(&mut device, stream[6] & 0xFFFF_FFFF_FFFF, 6);
    // 64 bytes a thread; 128 bytes a workgroup, 2048 / 64 = 32 at once.
    assert_eq!(
        (storage[0], storage[1], storage[3]),
        (2, 5 | 8 << 8, 1 << 28)
    );
    let waits = stream
        .iter()
        .filter(|word| **word == 0x0300_0000_0008_0000)
        .count();
    assert_eq!(waits, 1, "the second job waits for the first");
}

#[test]
fn code_is_not_writable_and_data_not_executable() {
    let (image, program) = (image(&control_blocks()), program(|_| ()));
    let Bound {
        mut device,
        pipeline,
        buffer,
        ..
    } = bound(&image, &program);
    let code = GpuAddress(code_of(&device, pipeline).0.into());
    let data = device.buffer_address(buffer).expect("there");
    let mut rights = |address: GpuAddress| {
        let found = translate(&mut device, address.0);
        found.map(|(_, attributes)| (attributes.writable, attributes.executable))
    };
    assert_eq!(rights(code), Some((false, true)));
    assert_eq!(rights(data), Some((true, false)));
    assert_eq!(rights(data.offset(4096)), None, "a guard page");
}

#[test]
fn an_empty_grid_is_no_work() {
    let (image, program) = (image(&control_blocks()), program(|_| ()));
    let Bound {
        mut device,
        pipeline,
        commands,
        ..
    } = bound(&image, &program);
    let record = device.record(commands, |recorder| {
        recorder.bind_pipeline(pipeline)?.dispatch([0, 7, 7])?;
        Ok(())
    });
    record.expect("nothing is needed for no work");
    assert_eq!(recorded(&mut device, commands).len(), 3);
}

#[test]
fn what_is_missing_or_too_much_is_told() {
    let (image, program) = (image(&control_blocks()), program(|_| ()));
    let Bound {
        mut device,
        pipeline,
        set,
        buffer,
        commands,
    } = bound(&image, &program);
    let empty = device.create_descriptor_set(pipeline, 0).expect("memory");
    let check = |got: Result<(), Error>, expected: &str| {
        assert_eq!(
            got.map_err(|error| error.to_string()),
            Err(expected.to_string())
        );
    };
    let got = device.record(commands, |it| it.dispatch([1, 1, 1]).map(drop));
    check(got, "no pipeline is bound");
    let got = device.record(commands, |it| {
        it.bind_pipeline(pipeline)?.dispatch([1, 1, 1]).map(drop)
    });
    check(got, "binding 0:2 is missing (element 0)");
    let got = device.record(commands, |it| {
        it.bind_pipeline(pipeline)?.bind_descriptor_set(empty)?;
        it.dispatch([1, 1, 1]).map(drop)
    });
    check(got, "binding 0:2 is missing (element 0)");
    let got = device.record(commands, |it| {
        it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        it.dispatch([1 << 27, 1, 1]).map(drop)
    });
    check(
        got,
        "invocations along one axis: 8589934592 wanted, at most 4294967296 are possible",
    );
    let got = device.record(commands, |it| it.push_constants(&[0; 257]).map(drop));
    check(got, "push constants of 257 bytes, the program has 256");
    assert!(
        device.recorded(commands).is_err(),
        "a refused recording leaves nothing"
    );

    let got = device.create_descriptor_set(pipeline, 3).map(drop);
    check(
        got,
        "set 3 can't be made: its bindings do not stand in one resource table",
    );
    check(
        device.bind_buffer(set, 9, buffer),
        "the program has no binding 0:9 with element 0",
    );
    let got = device.bind_range(
        set,
        BindingElement {
            binding: 2,
            element: 1,
        },
        buffer,
        BufferRange {
            offset: 0,
            bytes: 64,
        },
    );
    check(got, "the program has no binding 0:2 with element 1");
    let got = device.bind_range(
        set,
        BindingElement::first(2),
        buffer,
        BufferRange {
            offset: 0,
            bytes: 12,
        },
    );
    check(
        got,
        "binding 0:2 needs at least 16 bytes, the buffer has 12",
    );
    let refused = "can't be bound: they must be inside, aligned to 16, and fewer than 2^32";
    let got = device.bind_range(
        set,
        BindingElement::first(2),
        buffer,
        BufferRange {
            offset: 8,
            bytes: 64,
        },
    );
    check(
        got,
        &std::format!("bytes 0x8 and 0x40 more of a buffer of 0x1000 {refused}"),
    );
    let got = device.bind_range(
        set,
        BindingElement::first(2),
        buffer,
        BufferRange {
            offset: 16,
            bytes: u64::MAX,
        },
    );
    check(
        got,
        &std::format!("bytes 0x10 and 0xffffffffffffffff more of a buffer of 0x1000 {refused}"),
    );
}

/// Of what stays as it was nothing is written again: a dispatch with other push constants is its uniforms and two or three words.
#[test]
fn a_dispatch_writes_what_has_changed() {
    let (image, program) = (image(&control_blocks()), program(|_| ()));
    let Bound {
        mut device,
        pipeline,
        set,
        commands,
        ..
    } = bound(&image, &program);
    let record = device.record(commands, |it| {
        it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        it.push_constants(&[1; 8])?.dispatch([16, 4, 1])?;
        it.dispatch([16, 4, 1])?;
        it.push_constants(&[2; 8])?.dispatch([16, 4, 1])?;
        it.dispatch([17, 4, 1])?;
        Ok(())
    });
    record.expect("complete");
    let stream = recorded(&mut device, commands);
    let opcodes: Vec<u64> = stream.iter().map(|word| word >> 56).collect();
    let first = [0x17, 0x22, 1, 2, 2, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 4];
    assert_eq!(opcodes[..16], first);
    // Nothing but the job; the address of the uniforms; address and a count, as this program reads its counts.
    assert_eq!(opcodes[16..], [4, 2, 4, 2, 2, 4, 0x22], "{stream:#x?}");
    let uniforms = |at: usize| stream[at] & 0xFFFF_FFFF;
    assert_eq!(uniforms(3) - uniforms(17), 64, "a line each");
    assert_eq!(words(&mut device, uniforms(17), 2), [0x0202_0202, 4]);
}

/// A barrier waits for what runs, and for nothing else.
#[test]
fn a_barrier_costs_what_there_is_to_wait_for() {
    use super::Accesses;
    let (image, program) = (image(&control_blocks()), program(|_| ()));
    let Bound {
        mut device,
        pipeline,
        set,
        buffer,
        commands,
    } = bound(&image, &program);
    let shader = Accesses::SHADER_READ | Accesses::SHADER_WRITE;
    let mut count =
        |what: &str, expected: usize, dispatches: bool, barriers: &[(Accesses, Accesses)]| {
            let mut lengths = [0; 2];
            for (length, with) in lengths.iter_mut().zip([false, true]) {
                let record = device.record(commands, |it| {
                    it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
                    if dispatches {
                        it.dispatch([1, 1, 1])?;
                        it.fill_buffer(buffer, 0, 4, 1)?;
                    }
                    for (before, after) in barriers.iter().filter(|_| with) {
                        it.barrier(*before, *after)?;
                    }
                    Ok(())
                });
                record.expect("complete");
                *length = recorded(&mut device, commands).len();
            }
            assert_eq!(lengths[1] - lengths[0], expected, "{what}");
        };
    let all = Accesses::ALL;
    count("nothing ran", 0, false, &[(all, all)]);
    count("nothing before", 0, true, &[(Accesses::NONE, all)]);
    count("nothing after", 0, true, &[(all, Accesses::NONE)]);
    count(
        "the host before",
        0,
        true,
        &[(Accesses::HOST_WRITE, shader)],
    );
    count("jobs", 1, true, &[(shader, shader)]);
    count(
        "twice",
        1,
        true,
        &[(shader, shader), (shader, Accesses::INDIRECT_READ)],
    );
    count("stores", 1, true, &[(Accesses::TRANSFER_WRITE, shader)]);
    let host = Accesses::HOST_READ;
    count(
        "the host after",
        2 + 3,
        true,
        &[(Accesses::SHADER_WRITE, host), (all, host)],
    );
}

#[test]
fn programs_and_buffers_that_do_not_fit_the_gpu_are_refused() {
    let image = image(&control_blocks());
    let other = program(|parts| parts.arch = Arch::V12);
    let wide = program(|parts| parts.workgroup = WorkgroupSize::new(1024, 1, 1).expect("legal"));
    let mut device = device(&image);
    let space = device.create_space().expect("memory");
    let mut refused = |bytes| {
        let program = Program::parse(bytes).expect("legal");
        device
            .create_pipeline(space, &program)
            .map(drop)
            .expect_err("refused")
            .to_string()
    };
    assert_eq!(
        refused(&other),
        "the program is for v12, the GPU is v10: compile it for this GPU"
    );
    assert_eq!(
        refused(&wide),
        "threads of a workgroup: 1024 wanted, at most 512 are possible"
    );

    let error = device
        .create_buffer(space, 0)
        .map(drop)
        .expect_err("empty")
        .to_string();
    assert_eq!(error, "a buffer of size 0 can't be made");
    let error = device
        .create_query_pool(space, 0)
        .map(drop)
        .expect_err("empty")
        .to_string();
    assert_eq!(error, "a query pool of size 0 can't be made");
    let error = device
        .create_buffer(space, 1 << 30)
        .map(drop)
        .expect_err("memory")
        .to_string();
    assert_eq!(error, "no memory for 1073741824 bytes of a buffer");
    let buffer = device.create_buffer(space, 10).expect("memory");
    device.write_buffer(buffer, 4, b"abcdef").expect("inside");
    let mut read = [0; 10];
    device.read_buffer(buffer, 0, &mut read).expect("inside");
    assert_eq!(&read, b"\0\0\0\0abcdef");
    let error = device
        .write_buffer(buffer, 8, b"abc")
        .expect_err("outside")
        .to_string();
    assert_eq!(
        error,
        "bytes 0x8 and 0x3 more are not inside a buffer of 0xa"
    );
    let error = device
        .write_buffer(buffer, 2, b"abc")
        .expect_err("misaligned")
        .to_string();
    assert_eq!(error, "offset 0x2 is not a multiple of 4");
}
