//! Texels: a dispatch samples what one before it wrote behind an invalidation of the caches that it reads through.

use super::{program_with, recorded};
use crate::command::{Accesses, CommandError, ShaderStage};
use crate::device::Device;
use crate::error::Thing;
use crate::handle::{CommandBuffer, DescriptorSet, Image, Pipeline};
use crate::platform::Platform;
use crate::resource::{BindingElement, BufferRange, FETCHES, ImageInfo};
use crate::testing::Fake;
use crate::testing::firmware::{control_blocks, device, image};
use eitri_descriptors::formats::VkFormat;
use eitri_program::{
    Access as Rights, Arch, Binding, BindingKind, DescriptorSlot, ImageDimension, ImageShape,
    Program, ProgramParts,
};
use std::vec::Vec;

/// A program with an image at 0:0, that fetches texels of it or writes them.
fn image_program(kind: fn(ImageShape) -> BindingKind, access: Rights) -> Vec<u8> {
    let shape = ImageShape {
        dimension: ImageDimension::TwoD,
        arrayed: false,
        multisampled: false,
    };
    let binding = Binding {
        set: 0,
        binding: 0,
        kind: kind(shape),
        access,
        count: 1,
        slot: DescriptorSlot { table: 1, index: 0 },
        min_bytes: 0,
    };
    let mut bytes = std::vec![0; 1024];
    let parts = |parts: &mut ProgramParts<'_>| {
        parts.push_constant_bytes = 0;
        let parts = ProgramParts {
            bindings: &[binding],
            ..*parts
        };
        let length = parts.encode(&mut bytes).expect("room");
        bytes.truncate(length);
    };
    program_with(&[], parts);
    bytes
}

/// Pipelines that write, and that sample, the texels of one image.
struct Texels<'d> {
    device: Device<'d, 'd, Fake>,
    write: (Pipeline, DescriptorSet),
    sample: (Pipeline, DescriptorSet),
    image: Image,
    commands: CommandBuffer,
}

fn texels<'d>(firmware: &'d [u8], [write, sample]: [&'d [u8]; 2]) -> Texels<'d> {
    let mut device = device(firmware);
    let space = device.create_space().expect("memory");
    let format = VkFormat::of_name(Arch::V10, "R32_UINT").expect("it is in the table");
    let image = ImageInfo::two_d(format, 16, 16);
    let image = device.create_image(space, image).expect("memory");
    let mut bind = |program| {
        let program = Program::parse(program).expect("legal");
        let pipeline = device.create_pipeline(space, &program).expect("memory");
        let set = device.create_descriptor_set(pipeline, 0).expect("memory");
        device
            .bind_image(set, BindingElement::first(0), image)
            .expect("it fits");
        (pipeline, set)
    };
    let (write, sample) = (bind(write), bind(sample));
    let commands = device.create_command_buffer(space).expect("memory");
    Texels {
        device,
        write,
        sample,
        image,
        commands,
    }
}

/// FLUSH_CACHE2 of the read-only caches alone, FLUSH_CACHE2 of any kind, RUN_COMPUTE (hardware/command-stream.md 3.7, 3.6).
const INVALIDATE_READ_ONLY: u64 = 0x2400_4600_0000_0200;
const FLUSH_OPCODE: u64 = 0x24;
const RUN_OPCODE: u64 = 0x04;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Do {
    Write,
    Sample,
    Barrier(Accesses, Accesses),
}

/// Before a dispatch samples what one before it wrote, the caches through which it reads are invalidated; and only then.
#[test]
fn texels_that_were_written_are_sampled_behind_an_invalidation() {
    use Do::{Barrier, Sample, Write};
    let firmware = image(&control_blocks());
    let programs = [
        image_program(BindingKind::StorageImage, Rights::ReadWrite),
        image_program(BindingKind::SampledImage, Rights::Read),
    ];
    let Texels {
        mut device,
        write,
        sample,
        image,
        commands,
    } = texels(&firmware, programs.each_ref().map(Vec::as_slice));
    assert_eq!(device.image_info(image).expect("there").width, 16);
    let written = Barrier(Accesses::SHADER_WRITE, Accesses::SHADER_READ);
    let sampled = Barrier(
        Accesses::STORAGE_WRITE,
        Accesses::SAMPLED_READ.in_stage(ShaderStage::Compute),
    );
    let read = Barrier(Accesses::SHADER_READ, Accesses::SHADER_WRITE);
    let loaded = Barrier(Accesses::SHADER_WRITE, Accesses::STORAGE_READ);
    // By dispatch, whether it comes behind an invalidation of its own.
    let cases: [(&str, &[Do], &[bool]); 7] = [
        ("nothing was written", &[Sample, read, Sample], &[false; 2]),
        (
            "written",
            &[Sample, read, Write, written, Sample],
            &[false, false, true],
        ),
        ("by name", &[Write, sampled, Sample], &[false, true]),
        (
            "the barrier is not last",
            &[Write, written, read, Write, read, Sample],
            &[false, false, true],
        ),
        (
            "once",
            &[Write, written, Sample, Sample, read, Sample],
            &[false, true, false, false],
        ),
        (
            "again",
            &[Sample, Write, written, Sample, Write, written, Sample],
            &[false, false, true, false, true],
        ),
        (
            "loads go through the L2",
            &[Write, loaded, Sample],
            &[false; 2],
        ),
    ];
    for (name, steps, expected) in cases {
        let record = device.record(commands, |it| {
            steps.iter().try_for_each(|step| {
                let (pipeline, set) = match *step {
                    Write => write,
                    Sample => sample,
                    Barrier(before, after) => return it.barrier(before, after).map(drop),
                };
                it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
                it.dispatch([1, 1, 1]).map(drop)
            })
        });
        record.expect("complete");
        let stream = recorded(&mut device, commands);
        let opcode = |word: &u64| word >> 56;
        let before_runs = stream.split(|word| opcode(word) == RUN_OPCODE);
        let found: Vec<bool> = before_runs
            .take(expected.len())
            .map(|words| words.contains(&INVALIDATE_READ_ONLY))
            .collect();
        assert_eq!(found, expected, "{name}: {stream:#x?}");
        let flushes = stream.iter().filter(|word| opcode(word) == FLUSH_OPCODE);
        let wanted = expected.iter().filter(|flushes| **flushes);
        assert_eq!(flushes.count(), wanted.count(), "{name}: {stream:#x?}");
    }
}

/// A fetch takes a sampler, though it uses nothing of it (hardware/descriptors.md 7): a set whose program has textures brings the driver's
/// own.
#[test]
fn a_set_of_textures_brings_a_sampler_for_fetches() {
    let firmware = image(&control_blocks());
    let programs = [
        image_program(BindingKind::StorageImage, Rights::ReadWrite),
        image_program(BindingKind::SampledImage, Rights::Read),
    ];
    let Texels {
        mut device,
        write,
        sample,
        ..
    } = texels(&firmware, programs.each_ref().map(Vec::as_slice));
    let mut sampler = |set: DescriptorSet| {
        let object = device.object(set.0, Thing::DescriptorSet).expect("there");
        let (memory, start) = (object.mapping.memory(), object.mapping.address().0);
        let platform = &mut device.hw.platform;
        let mut load = |offset| platform.load32(memory.offset(offset));
        // Entry 0 of the resource table is the driver's, and has an address of 56 bits.
        let at = u64::from(load(0)) | u64::from(load(4) & 0xff_ffff) << 32;
        let mut descriptor =
            |at: u64| [0, 4].map(|word| load(at.wrapping_sub(start).wrapping_add(word)));
        (at != 0).then(|| descriptor(at))
    };
    let [first, second, ..] = FETCHES;
    assert_eq!(sampler(sample.1), Some([first, second]));
    assert_eq!(sampler(write.1), None, "storage images need none");
}

/// A part of a buffer that has one texel is bound; one that ends inside of the first is refused.
#[test]
fn a_texel_buffer_has_at_least_one_texel() {
    let firmware = image(&control_blocks());
    let program = image_program(|_| BindingKind::UniformTexelBuffer, Rights::Read);
    let mut device = device(&firmware);
    let space = device.create_space().expect("memory");
    let program = Program::parse(&program).expect("legal");
    let pipeline = device.create_pipeline(space, &program).expect("memory");
    let set = device.create_descriptor_set(pipeline, 0).expect("memory");
    let buffer = device.create_buffer(space, 64).expect("memory");
    let format = VkFormat::of_name(Arch::V10, "R32G32_UINT").expect("it is in the table");
    let mut bind = |bytes| {
        let range = BufferRange { offset: 0, bytes };
        device.bind_texel_buffer(set, BindingElement::first(0), buffer, range, format)
    };
    for bytes in [8, 15, 16, 64] {
        assert_eq!(bind(bytes), Ok(()), "{bytes} bytes");
    }
    for bytes in [0, 7] {
        let refused = CommandError::TooSmall {
            set: 0,
            binding: 0,
            bytes,
            needed: 8,
        };
        assert_eq!(bind(bytes), Err(refused.into()), "{bytes} bytes");
    }
}
