//! Faults of each unit of the graphics pipeline, at each thing that the unit does while a capture is drawn.
//!
//! A fault by an injection is what the host sees of a unit that fails: the exception and the address that the stream reports, or the
//! source and the address in the fault status of the address space. A page fault that the host mends leaves no trace in the picture.
//!
//! Facts: hardware/command-stream.md 1.13; gpu-mmu.md 8, 8.1.

use super::bench::{stream_input, stream_output};
use super::capture::{Capture, Job};
use super::player::Player;
use eitri_csf::registers::address_space as aspace;
use eitri_csf::registers::interrupts::{MMU_IRQ_CLEAR, MMU_IRQ_RAWSTAT};
use eitri_model::{Aim, GraphicsUnit, Injection, MemoryUnit};

/// Bit of the fault in a stream's request and acknowledge words.
const FAULT: u32 = 1 << 31;
/// What is asked of each unit.
const UNITS: [(GraphicsUnit, &str); 11] = [
    (GraphicsUnit::VertexFetch, "texdepth-noafbc"),
    (GraphicsUnit::Tiler, "texdepth-noafbc"),
    (GraphicsUnit::Attributes, "texdepth-noafbc"),
    (GraphicsUnit::Varyings, "texdepth-noafbc"),
    (GraphicsUnit::Textures, "texdepth-noafbc"),
    (GraphicsUnit::FragmentFrontEnd, "texdepth-noafbc"),
    (GraphicsUnit::DepthStencil, "texdepth-noafbc"),
    (GraphicsUnit::Blending, "texdepth-noafbc"),
    // A blend shader reads the tile.
    (GraphicsUnit::TileBuffer, "logicop"),
    (GraphicsUnit::WriteBack, "texdepth-noafbc"),
    (GraphicsUnit::Queries, "occlusion-noafbc"),
];

/// Occasions to strike: in the long form `more` says which follows, else twice as many have passed each time.
fn occasions(more: fn(u32) -> u32) -> impl Iterator<Item = u32> {
    let long = eitri_testdata::long();
    std::iter::successors(Some(1_u32), move |nth| match long {
        true => Some(more(*nth)),
        false => Some(2 * nth),
    })
}

/// The kind of a job by its instruction.
fn is(job: &Job, name: &str) -> bool {
    job.text.starts_with(name)
}

/// Whether a unit works for jobs of this kind.
fn works_for(unit: GraphicsUnit, job: &Job) -> bool {
    match unit {
        GraphicsUnit::VertexFetch | GraphicsUnit::Tiler | GraphicsUnit::Attributes => {
            is(job, "RUN_IDVS")
        }
        // Uploads and read-backs fetch texels, too.
        GraphicsUnit::Textures => is(job, "RUN_FRAGMENT") || is(job, "RUN_COMPUTE"),
        _ => is(job, "RUN_FRAGMENT"),
    }
}

/// Whether an address lies in a program of a capture.
fn is_code(capture: &Capture, address: u64) -> bool {
    let mut objects = capture.jobs.iter().flat_map(|job| &job.objects);
    objects.any(|object| {
        let end = object.address + 4 * object.words.len() as u64;
        object.structure == "code" && (object.address..end).contains(&address)
    })
}

/// Acknowledges a stream's fault.
fn acknowledge(player: &mut Player) {
    let bench = &mut player.bench;
    let (req, ack) = (
        bench.shared(stream_input(0)),
        bench.shared(stream_output(0)),
    );
    bench.shared_write(stream_input(0), req & !FAULT | ack & FAULT);
    bench.ring_stream(0);
}

/// Plays a capture in which a unit fails at its occasion `nth`; whether it came to that.
fn fails(capture: &Capture, unit: GraphicsUnit, nth: u32) -> bool {
    let mut player = Player::new(capture);
    let injection = Injection::UnitFault { unit };
    player.bench.gpu.inject_aimed(injection, Aim::NOW.nth(nth));
    for job in &capture.jobs {
        player.start(capture, job);
        player.bench.wait(2000);
        let out = stream_output(0);
        let requested = player.bench.shared(out) ^ player.bench.shared(stream_input(0));
        if requested & FAULT == 0 {
            player.finish(job);
            continue;
        }
        let case = format!("{unit:?}, occasion {nth}, {}", job.text);
        let exception = player.bench.shared(out + 0x80) & 0xff;
        assert_eq!(exception, u32::from(unit.exception()), "{case}");
        assert!(works_for(unit, job), "{case}");
        let address = player.bench.shared64(out + 0x88);
        // Early tests of fragments are made for no instruction.
        let fixed = address == 0 && unit == GraphicsUnit::DepthStencil;
        let by_shader = unit.exception() == 0x5B && !fixed;
        let in_shader = is_code(capture, address);
        assert_eq!(by_shader, in_shader, "{case}: {address:#x}");
        assert!(by_shader || address == 0, "{case}: {address:#x}");
        assert!(!player.is_done(), "{case}: ended before its fault was seen");
        // The stream goes on, and says so to whoever waits for the job.
        acknowledge(&mut player);
        player.finish(job);
        player.bench.expect_no_diagnoses();
        return true;
    }
    false
}

#[test]
fn each_unit_fails_at_each_step_as_the_host_is_to_see_it() {
    for (unit, case) in UNITS {
        let Some(capture) = Capture::read(case) else {
            return;
        };
        let struck = occasions(|nth| nth + 1).take_while(|nth| fails(&capture, unit, *nth));
        let struck = struck.count();
        assert!(struck >= 1, "{unit:?} never works in {case}");
    }
}

/// Unlocks the whole space: what waits there is tried again.
fn mend(player: &mut Player) {
    let bench = &mut player.bench;
    bench.write(MMU_IRQ_CLEAR, 1 << 1);
    // The largest region.
    bench.write64(aspace::AS_LOCKADDR.at(1), 47);
    bench.command(1, 2);
    bench.flush();
    bench.command(1, 3);
}

/// The source id, but for the number of the core, and the access.
fn source_of(unit: MemoryUnit, access: u32) -> u32 {
    const EXECUTE: u32 = 1;
    match unit {
        MemoryUnit::ShaderCore if access == EXECUTE => 0,
        MemoryUnit::ShaderCore => 0x0180,
        MemoryUnit::Texture | MemoryUnit::TileBuffer => 0x00C0,
        MemoryUnit::Tiler => 0x6610,
    }
}

/// Plays a capture in which an access by a unit meets no page, which the host mends: whether it came to that, and the picture.
fn mended(capture: &Capture, unit: MemoryUnit, nth: u32) -> (bool, Vec<[u8; 4]>) {
    const READ: u32 = 2;
    const WRITE: u32 = 3;
    let mut player = Player::new(capture);
    let mut struck = false;
    for (number, job) in capture.jobs.iter().enumerate() {
        if number == 0 {
            let injection = Injection::UnitPageFault { unit };
            player.bench.gpu.inject_aimed(injection, Aim::NOW.nth(nth));
        }
        player.start(capture, job);
        player.bench.wait(2000);
        if player.bench.read(MMU_IRQ_RAWSTAT) & 1 << 1 != 0 {
            let case = format!("{unit:?}, access {nth}, {}", job.text);
            let status = player.bench.read(aspace::AS_FAULTSTATUS.at(1));
            let access = status >> 8 & 3;
            assert_eq!(status & 0xff, 0xC3, "{case}");
            let source = status >> 16;
            let core = source >> 9;
            match unit {
                MemoryUnit::Tiler => assert!(is(job, "RUN_IDVS"), "{case}"),
                MemoryUnit::TileBuffer => assert!(is(job, "RUN_FRAGMENT"), "{case}"),
                MemoryUnit::Texture | MemoryUnit::ShaderCore => assert!(core < 32, "{case}"),
            }
            let wanted = source_of(unit, access);
            let found = if unit == MemoryUnit::Tiler {
                source
            } else {
                source & 0x1ff
            };
            assert_eq!(found, wanted, "{case}: {source:#x}");
            match unit {
                MemoryUnit::Texture => assert_eq!(access, READ, "{case}"),
                MemoryUnit::TileBuffer => assert_eq!(access, WRITE, "{case}"),
                MemoryUnit::Tiler | MemoryUnit::ShaderCore => {}
            }
            // The page is there, so the address is one of the capture's.
            let address = player.bench.read64(aspace::AS_FAULTADDRESS.at(1));
            player.bench.physical(1, address);
            assert!(!player.is_done(), "{case}: ended without its access");
            assert_eq!(player.bench.shared(stream_output(0) + 0x80), 0, "{case}");
            mend(&mut player);
            struck = true;
        }
        player.finish(job);
    }
    player.bench.expect_no_diagnoses();
    let last = capture.jobs.last().expect("a read-back");
    (struck, player.picture(last))
}

#[test]
fn an_access_of_each_unit_that_meets_no_page_waits_until_the_host_mends_it() {
    let Some(capture) = Capture::read("texdepth-noafbc") else {
        return;
    };
    for unit in MemoryUnit::ALL {
        // Beyond all accesses: nothing strikes.
        let (_, undisturbed) = mended(&capture, unit, u32::MAX);
        let mut strikes = 0;
        // A job has thousands of accesses: fewer and fewer of them are struck.
        for nth in occasions(|nth| nth + 1 + nth / 32) {
            let (struck, picture) = mended(&capture, unit, nth);
            assert!(picture == undisturbed, "{unit:?}, access {nth}");
            if !struck {
                break;
            }
            strikes += 1;
        }
        assert!(strikes >= 5, "{unit:?} has {strikes} accesses");
    }
}
