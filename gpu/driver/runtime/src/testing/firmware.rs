//! A GPU and firmware that say yes to everything: enough of a script for tests of the layers above bring-up.
//!
//! It executes nothing: a test itself says that a job has ended or failed.  Facts: hardware/csf-firmware.md sections
//! 3, 6 and 7 (the image and its control blocks), 11 (answers).

use super::{Fake, MEMORY, clears, sets};
use crate::access::SharedBlock;
use crate::device::{Device, Options};
use crate::platform::{PhysicalAddress, Platform};
use crate::storage::Storage;
use eitri_csf::image::{ImagePlan, SectionFlags, SectionPlan, write};
use eitri_csf::interface::control::{SHARED_VA, Version};
use eitri_csf::interface::global::{GLB_ACK, GLB_DB_ACK, GLB_DB_REQ, GLB_REQ, glb_req};
use eitri_csf::interface::group::{CSG_ACK, CSG_DB_ACK, CSG_DB_REQ, CSG_REQ, csg_req};
use eitri_csf::interface::handshake::answer;
use eitri_csf::product::PARTS;
use eitri_csf::registers::control::GPU_COMMAND;
use eitri_csf::registers::identity::{
    AS_PRESENT, GPU_ID, L2_PRESENT, MMU_FEATURES, SHADER_PRESENT, THREAD_MAX_THREADS,
    THREAD_MAX_WORKGROUP_SIZE, TILER_PRESENT,
};
use eitri_csf::registers::interrupts::{
    GPU_IRQ_CLEAR, GPU_IRQ_RAWSTAT, JOB_IRQ_CLEAR, JOB_IRQ_RAWSTAT, MMU_IRQ_CLEAR, MMU_IRQ_RAWSTAT,
};
use eitri_csf::registers::mcu::{MCU_CONTROL, MCU_STATUS};
use eitri_csf::registers::power::{L2_PWROFF, L2_PWRON, L2_READY};
use eitri_csf::table::{Register, Role, role_mask};
use std::vec::Vec;

/// Group slots, and streams of each.
pub(crate) const SLOTS: u32 = 8;
const STREAMS: u32 = 8;
/// Where blocks lie in the shared section, as in the images that the facts describe.
pub(crate) const GLB_INPUT: u32 = 0x2000;
const GLB_OUTPUT: u32 = 0x6000;

fn csg_input(slot: u32) -> u32 {
    0x3000 + 0x80 * slot
}

fn csg_output(slot: u32) -> u32 {
    0x7000 + 0x40 * slot
}

fn cs_input(slot: u32, stream: u32) -> u32 {
    0x3400 + 0x80 * (8 * slot + stream)
}

fn cs_output(slot: u32, stream: u32) -> u32 {
    0x7200 + 0x100 * (8 * slot + stream)
}

/// The control blocks as booted firmware shows them, at the start of the shared section.
pub(crate) fn control_blocks() -> Vec<u8> {
    let mut words = std::vec![0_u32; 0x2000 / 4];
    let mut put = |offset: u32, values: &[u32]| {
        let start = (offset / 4) as usize;
        words[start..start + values.len()].copy_from_slice(values);
    };
    let va = |offset: u32| SHARED_VA + offset;
    put(
        0,
        &[
            Version::new(1, 1).word(),
            0,
            va(GLB_INPUT),
            va(GLB_OUTPUT),
            SLOTS,
            0xA0,
        ],
    );
    for slot in 0..SLOTS {
        let group = 0x1000 + 0xA0 * slot;
        put(
            group,
            &[
                0,
                va(csg_input(slot)),
                va(csg_output(slot)),
                0x1000,
                0,
                STREAMS,
                0xC,
            ],
        );
        for stream in 0..STREAMS {
            let features = 95 | 8 << 8 | 7 << 16;
            let (input, output) = (cs_input(slot, stream), cs_output(slot, stream));
            put(
                group + 0x40 + 0xC * stream,
                &[features, va(input), va(output)],
            );
        }
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// An image with code and these control blocks.
pub(crate) fn image(control: &[u8]) -> Vec<u8> {
    let section = |flags, va, data| SectionPlan {
        flags: SectionFlags::from_word(flags).expect("flags of the facts"),
        va,
        data,
        execute_from: 0,
    };
    let sections = [
        section(0x0000_000D, 0x0080_0000..0x0080_1000, b"code".as_slice()),
        section(0xC000_001B, SHARED_VA..SHARED_VA + 0x1_0000, control),
    ];
    let plan = ImagePlan {
        version: Version::new(1, 1),
        sections: &sections,
        git_sha: None,
    };
    let mut bytes = std::vec![0; 0x4000];
    let length = write(&plan, &mut bytes).expect("legal plan");
    bytes.truncate(length);
    bytes
}

/// A G610 whose every command succeeds, with memory.
pub(crate) fn gpu() -> Fake {
    let part = &PARTS[0];
    Fake::new(32 << 20)
        .with(GPU_ID, u64::from(part.gpu_id.0))
        .with(MMU_FEATURES, u64::from(part.mmu_features))
        .with(AS_PRESENT, u64::from(part.as_present))
        .with(SHADER_PRESENT, part.shader_present)
        .with(L2_PRESENT, part.l2_present)
        .with(TILER_PRESENT, part.tiler_present)
        .with(THREAD_MAX_THREADS, 2048)
        .with(THREAD_MAX_WORKGROUP_SIZE, 512)
        .on(GPU_IRQ_CLEAR, clears(GPU_IRQ_RAWSTAT))
        .on(JOB_IRQ_CLEAR, clears(JOB_IRQ_RAWSTAT))
        .on(MMU_IRQ_CLEAR, clears(MMU_IRQ_RAWSTAT))
        .on(GPU_COMMAND, sets(GPU_IRQ_RAWSTAT, 1 << 8 | 1 << 17))
        .on(L2_PWRON, sets(L2_READY, 1))
        .on(L2_PWROFF, clears(L2_READY))
        .on(MCU_CONTROL, |registers, request| {
            registers.insert(MCU_STATUS.offset, u32::from(request == 2));
            registers.insert(JOB_IRQ_RAWSTAT.offset, u32::from(request == 2) << 31);
        })
        .on_bell(say_yes)
}

/// A device on that GPU.
pub(crate) fn device(image: &[u8]) -> Device<'_, '_, Fake> {
    let up = Device::bring_up(gpu(), image, storage(), Options::default(), &mut ());
    up.expect("everything succeeds")
}

/// Storage that nobody gives back.
pub(crate) fn storage<'d>() -> &'d mut Storage<'d> {
    std::boxed::Box::leak(std::boxed::Box::new(Storage::new()))
}

/// Answers every request.
fn say_yes(fake: &mut Fake) {
    let plain = !role_mask(glb_req::FIELDS, Role::Event);
    copy(fake, GLB_INPUT, GLB_REQ, GLB_OUTPUT, GLB_ACK, plain);
    copy(
        fake,
        GLB_INPUT,
        GLB_DB_REQ,
        GLB_OUTPUT,
        GLB_DB_ACK,
        u32::MAX,
    );
    let plain = !role_mask(csg_req::FIELDS, Role::Event);
    for slot in 0..SLOTS {
        let (input, output) = (csg_input(slot), csg_output(slot));
        copy(fake, input, CSG_REQ, output, CSG_ACK, plain);
        copy(fake, input, CSG_DB_REQ, output, CSG_DB_ACK, u32::MAX);
    }
    let req = block(fake, GLB_INPUT).read_word(fake, GLB_REQ);
    if glb_req::HALT.get(req) {
        fake.registers.insert(MCU_STATUS.offset, 2);
    }
}

fn copy(fake: &mut Fake, input: u32, req: Register, output: u32, ack: Register, mask: u32) {
    let (input, output) = (block(fake, input), block(fake, output));
    let (wanted, old) = (input.read_word(fake, req), output.read_word(fake, ack));
    output.write(fake, ack, u64::from(answer(wanted, old, mask)));
}

/// The block at an offset of the shared section, wherever that was put: it is known by its version word and its
/// first address.
pub(crate) fn block(fake: &mut Fake, offset: u32) -> SharedBlock {
    let pages = (0..fake.used())
        .step_by(4096)
        .map(|page| PhysicalAddress(MEMORY + page));
    let shared = pages.into_iter().find(|page| {
        fake.load32(*page) == Version::new(1, 1).word()
            && fake.load64(page.offset(8)) & 0xFFFF_FFFF == u64::from(SHARED_VA + GLB_INPUT)
    });
    SharedBlock::new(shared.expect("loaded").offset(u64::from(offset)))
}

/// The output block of slot 0, and that of its compute stream.
pub(crate) fn outputs(fake: &mut Fake) -> (SharedBlock, SharedBlock) {
    (block(fake, csg_output(0)), block(fake, cs_output(0, 2)))
}
