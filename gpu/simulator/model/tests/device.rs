//! The device from outside: registers, power, reset, address spaces, boot.

mod bench;

use bench::Bench;
use eitri_csf::command::{CacheFlush, GpuCommand, ResetKind};
use eitri_csf::page_table::Attributes;
use eitri_csf::registers::address_space as aspace;
use eitri_csf::registers::control::{
    COHERENCY_ENABLE, CYCLE_COUNT, GPU_COMMAND, GPU_STATUS, L2_CONFIG, TIMESTAMP,
};
use eitri_csf::registers::doorbell::{DOORBELL, LATEST_FLUSH};
use eitri_csf::registers::identity::{GPU_ID, SHADER_PRESENT};
use eitri_csf::registers::interrupts::{
    GPU_IRQ_CLEAR, GPU_IRQ_MASK, GPU_IRQ_RAWSTAT, GPU_IRQ_STATUS, JOB_IRQ_MASK, MMU_IRQ_MASK,
    MMU_IRQ_RAWSTAT,
};
use eitri_csf::registers::mcu::{MCU_CONTROL, MCU_STATUS};
use eitri_csf::registers::power::{L2_PWROFF, L2_PWRON, L2_PWRTRANS, L2_READY};
use eitri_model::{Config, Injection, PhysicalMemory, Product, stub_firmware};

#[test]
fn constants_are_those_of_the_part_and_cannot_be_written() {
    let mut bench = Bench::new(Config::default());
    assert_eq!(bench.read(GPU_ID), 0xA867_0005);
    assert_eq!(bench.read64(SHADER_PRESENT), 0x5_0005);
    bench.expect_no_diagnoses();
    bench.write(GPU_ID, 1);
    bench.expect_diagnosis("write of 0x1 to GPU_ID (0x0), which is read-only (csf-mmio.md 18)");
    bench.gpu.read32(&mut bench.memory, 0x134);
    bench.expect_diagnosis("read of offset 0x134, where there is no register");
    bench.gpu.write32(&mut bench.memory, 0x31, 0);
    bench.expect_diagnosis("access to offset 0x31, which is not a multiple of 4");
    bench.read(DOORBELL);
    bench.expect_diagnosis("read of DOORBELL (0x80000), which is write-only");
}

#[test]
fn power_takes_time_and_at_least_one_look() {
    let mut bench = Bench::new(Config::default());
    bench.write(eitri_csf::registers::control::COHERENCY_ENABLE, 31);
    bench.write(L2_PWRON, 1);
    assert_eq!(bench.read(L2_READY), 0, "nothing is instant");
    assert_eq!(bench.read(L2_PWRTRANS), 1);
    bench.poll(L2_READY, 1, 1);
    assert_eq!(bench.read(L2_PWRTRANS), 0);
    assert_eq!(bench.read(GPU_IRQ_RAWSTAT) & 0x600, 0x600);
    bench.write(L2_PWROFF, 1);
    assert_eq!(bench.read(L2_READY), 0);
    bench.poll(L2_PWRTRANS, 1, 0);
    bench.expect_no_diagnoses();
    bench.write(L2_PWRON, 1);
    bench.write(L2_PWRON, 1);
    bench.expect_diagnosis("L2_PWRON names units 0x1, which are changing state");
    bench.write(L2_PWRON, 4);
    bench.expect_diagnosis("L2_PWRON names units 0x4, which do not exist");
}

#[test]
fn interrupts_are_latched_masked_and_cleared() {
    let mut bench = Bench::new(Config::default());
    assert!(!bench.gpu.lines().any());
    bench.reset();
    bench.write(GPU_COMMAND, GpuCommand::Reset(ResetKind::Soft).word());
    bench.poll(GPU_IRQ_RAWSTAT, 1 << 8, 1 << 8);
    assert!(!bench.gpu.lines().gpu, "masked");
    bench.write(GPU_IRQ_MASK, 1 << 8);
    assert!(bench.gpu.lines().gpu);
    assert_eq!(bench.read(GPU_IRQ_STATUS), 1 << 8);
    bench.write(GPU_IRQ_CLEAR, 1 << 8);
    assert!(!bench.gpu.lines().gpu);
    bench.write(GPU_IRQ_RAWSTAT, 1 << 17);
    assert_eq!(bench.read(GPU_IRQ_RAWSTAT), 1 << 17, "a write sets bits");
    bench.expect_no_diagnoses();
}

#[test]
fn the_cycle_counter_runs_when_started_and_time_always() {
    let mut bench = Bench::new(Config::default());
    let before = bench.read64(TIMESTAMP);
    bench.wait(1000);
    assert!(bench.read64(TIMESTAMP) >= before + 24_000, "24 MHz");
    assert_eq!(bench.read64(CYCLE_COUNT), 0);
    bench.write(GPU_COMMAND, GpuCommand::Time(true).word());
    bench.wait(1000);
    assert!(bench.read64(CYCLE_COUNT) >= 1_000_000, "1 GHz");
}

#[test]
fn flushes_complete_and_are_counted() {
    let mut bench = Bench::new(Config::default());
    bench.power_l2();
    let id = bench.read(LATEST_FLUSH);
    bench.flush();
    assert_eq!(bench.read(LATEST_FLUSH), id + 1);
    bench.expect_no_diagnoses();
    bench.write(GPU_COMMAND, 0x2_3304);
    bench.write(GPU_COMMAND, 0x2_3304);
    bench.expect_diagnosis("GPU_COMMAND = 0x23304 before the flush in progress completed");
}

#[test]
fn address_spaces_take_effect_at_update_and_commands_take_time() {
    let mut bench = Bench::new(Config::default());
    bench.power_l2();
    bench.write64(aspace::AS_TRANSCFG.at(1), 0x4200_01C6);
    bench.write(aspace::AS_COMMAND.at(1), 1);
    assert_eq!(
        bench.read(aspace::AS_STATUS.at(1)),
        1,
        "in progress for one look at least"
    );
    bench.write(aspace::AS_COMMAND.at(1), 1);
    bench.expect_diagnosis("AS_COMMAND 1 = 0x1 before the command in progress completed");
    bench.poll(aspace::AS_STATUS.at(1), 1, 0);
    assert_eq!(bench.read(MMU_IRQ_RAWSTAT), 1 << 17);
    bench.write(aspace::AS_COMMAND.at(9), 1);
    bench.expect_diagnosis("address space 9 is not in AS_PRESENT");
    bench.command(1, 3);
    bench.expect_diagnosis("UNLOCK of address space 1 without a LOCK");
    bench.write64(aspace::AS_LOCKADDR.at(1), 11);
    bench.command(1, 2);
    bench.expect_diagnosis("LOCKADDR of address space 1 = 0xb is below the smallest region");
}

#[test]
fn the_firmware_boots_from_the_stub_without_a_complaint() {
    let mut bench = Bench::booted();
    assert_eq!(bench.shared(0), 0x0101_0000, "interface version");
    assert_eq!(
        bench.shared(0x1040),
        95 | 8 << 8 | 7 << 16,
        "stream features"
    );
    bench.expect_no_diagnoses();
}

/// Changes something before the start and expects the MCU to go fatal with a diagnosis.
#[track_caller]
fn check_boot_failure(change: impl FnOnce(&mut Bench), expected: &str) {
    let mut bench = Bench::new(Config {
        firmware: Some(stub_firmware()),
        ..Config::default()
    });
    bench.reset();
    bench.power_l2();
    bench.load_firmware(&stub_firmware());
    bench.enable_space(0);
    change(&mut bench);
    bench.write(MCU_CONTROL, 2);
    bench.poll(MCU_STATUS, 3, 3);
    bench.expect_diagnosis(expected);
}

#[test]
fn a_bad_load_is_refused_with_its_reason() {
    check_boot_failure(
        |bench| bench.put(0, 4, &[0]),
        "the reset vector 0x800000 is no Thumb address",
    );
    check_boot_failure(
        |bench| bench.put(0, 0x0080_0000, &[0xff]),
        "firmware memory at 0x800000 holds 0xe7fdbfff",
    );
    check_boot_failure(
        |bench| bench.put(0, 0x0200_0100, &[1]),
        "firmware memory at 0x2000100 holds 0x1, the image 0x0",
    );
    check_boot_failure(
        |bench| {
            let physical = bench.physical(0, 0x0080_0000);
            bench.map_page(0, 0x0080_0000, physical, Attributes::CACHED.read_only());
        },
        "the reset address 0x800000 is not executable",
    );
    check_boot_failure(
        |bench| {
            let physical = bench.physical(0, 0x0400_0000);
            bench.map_page(0, 0x0400_0000, physical, Attributes::UNCACHED.read_only());
        },
        "the shared section at 0x4000000 is not readable and writable",
    );
    check_boot_failure(
        |bench| bench.disable_space(0),
        "address space 0 does not translate",
    );
    check_boot_failure(
        |bench| {
            bench.write(L2_PWROFF, 1);
            bench.poll(L2_PWRTRANS, 1, 0);
        },
        "the MCU was started while the L2 is off",
    );
}

#[test]
fn a_stale_image_in_memory_that_is_not_there_is_a_fault_of_space_0() {
    let mut bench = Bench::new(Config::default());
    bench.power_l2();
    bench.map(0, 0x10_0000, 4096, Attributes::CACHED);
    bench.enable_space(0);
    bench.write(MCU_CONTROL, 2);
    bench.poll(MCU_STATUS, 3, 3);
    assert_eq!(bench.read(MMU_IRQ_RAWSTAT) & 1, 1);
    assert_eq!(bench.read(aspace::AS_FAULTSTATUS.at(0)) & 0xff, 0xC3);
    bench.expect_diagnosis("firmware memory at 0x0 cannot be used: exception 0xc3");
}

#[test]
fn a_part_with_a_custom_hash_needs_it() {
    let product = Product::all()
        .find(|product| product.needs_hash.is_some())
        .expect("the MT8196 part");
    let mut bench = Bench::new(Config {
        product,
        ..Config::default()
    });
    bench.write(COHERENCY_ENABLE, 31);
    bench.write(L2_PWRON, 1);
    bench.poll(L2_READY, 1, 1);
    bench.load_firmware(&stub_firmware());
    bench.enable_space(0);
    bench.write(MCU_CONTROL, 2);
    bench.poll(MCU_STATUS, 3, 3);
    bench.expect_diagnosis("this part's slice hash was not programmed");
}

#[test]
fn every_time_out_can_be_provoked() {
    let with = |injection| {
        Bench::new(Config {
            injections: vec![injection],
            ..Config::default()
        })
    };
    let mut bench = with(Injection::L2PowerStuck);
    bench.write(L2_PWRON, 1);
    bench.wait(100_000);
    assert_eq!((bench.read(L2_READY), bench.read(L2_PWRTRANS)), (0, 1));

    let mut bench = with(Injection::ResetNeverCompletes);
    bench.write(GPU_COMMAND, 0x101);
    bench.wait(100_000);
    assert_eq!(bench.read(GPU_IRQ_RAWSTAT), 0);

    let mut bench = with(Injection::FlushNeverCompletes);
    bench.power_l2();
    bench.write(GPU_COMMAND, 0x2_3304);
    bench.wait(100_000);
    assert_eq!(bench.read(GPU_IRQ_RAWSTAT) & 1 << 17, 0);

    let mut bench = with(Injection::AddressSpaceStuck { space: 1 });
    bench.write(aspace::AS_COMMAND.at(1), 1);
    bench.wait(100_000);
    assert_eq!(bench.read(aspace::AS_STATUS.at(1)), 1);
}

#[test]
fn halt_stop_and_fast_restart() {
    let mut bench = Bench::booted();
    let req = bench.shared(0x2000);
    bench.shared_write(0x2000, req | 1);
    bench.ring(0);
    bench.poll(MCU_STATUS, 3, 2);
    bench.write(MCU_CONTROL, 0);
    bench.poll(MCU_STATUS, 3, 0);
    bench.shared_write(0x2000, req);
    bench.start_mcu();
    // Nothing is pending after a warm boot, and a ping is answered.
    assert_eq!(bench.shared(0x6000), req);
    bench.shared_write(0x2000, req ^ 1 << 8);
    bench.ring(0);
    bench.poll_shared(0x6000, 1 << 8, !req & 1 << 8);
    bench.expect_no_diagnoses();
}

#[test]
fn what_the_firmware_does_not_do_it_does_not_answer() {
    let mut bench = Bench::booted();
    let ack = bench.shared(0x6000);
    let req = bench.shared(0x2000);
    let iterator_trace = 1 << 11;
    bench.shared_write(0x2000, req ^ iterator_trace ^ 1 << 8);
    bench.ring(0);
    bench.poll_shared(0x6000, 1 << 8, !ack & 1 << 8);
    assert_eq!(bench.shared(0x6000) & iterator_trace, ack & iterator_trace);
    bench.expect_diagnosis("GLB_REQ");
}

#[test]
fn nothing_happens_without_a_doorbell() {
    let mut bench = Bench::booted();
    let ack = bench.shared(0x6000);
    let req = bench.shared(0x2000);
    bench.shared_write(0x2000, req ^ 1 << 8);
    bench.wait(10_000);
    assert_eq!(bench.shared(0x6000), ack);
    bench.ring(0);
    bench.poll_shared(0x6000, 1 << 8, !ack & 1 << 8);
    assert!(
        bench.gpu.lines().job,
        "a ping is among the answers that interrupt"
    );
}

#[test]
fn answers_are_not_for_the_host_to_write() {
    let mut bench = Bench::booted();
    let ack = bench.shared(0x6000);
    bench.shared_write(0x6000, ack ^ 0x100);
    bench.ring(0);
    bench.wait(100);
    bench.expect_diagnosis("GLB_ACK was changed by the host");
    assert_eq!(bench.shared(0x6000), ack, "and written again");
    let req = bench.shared(0x2000);
    bench.shared_write(0x2000, req ^ 1 << 24);
    bench.ring(0);
    bench.wait(100);
    bench.expect_diagnosis("GLB_REQ: event bits 0x1000000 were flipped though there was no event");
}

#[test]
fn answers_of_groups_and_streams_are_not_for_the_host_to_write_either() {
    for (name, answer) in [
        ("CSG_ACK", bench::group_output(0)),
        ("CS_ACK", bench::stream_output(0)),
    ] {
        let mut bench = Bench::booted();
        bench.start_group(0);
        let ack = bench.shared(answer);
        bench.shared_write(answer, ack ^ 0x100);
        bench.ring_stream(0);
        bench.wait(100);
        bench.expect_diagnosis(&format!("{name} was changed by the host"));
        assert_eq!(bench.shared(answer), ack, "{name} is written again");
    }
}

#[test]
fn doorbells_without_firmware_are_reported() {
    let mut bench = Bench::new(Config::default());
    bench.ring(0);
    bench.expect_diagnosis("doorbell 0 was rung while the MCU does not run");
    bench.write(DOORBELL, 3);
    bench.expect_diagnosis("doorbell 0 = 0x3: only bit 0 may be set");
}

/// The address of a page that is mapped and may change.
const PAGE: u64 = 0x1_0000;
const LOCK: u32 = 2;
const UNLOCK: u32 = 3;

#[test]
fn registers_of_a_space_that_is_not_there_are_reported() {
    for space in 0..16 {
        for register in [
            aspace::AS_TRANSTAB,
            aspace::AS_MEMATTR,
            aspace::AS_LOCKADDR,
            aspace::AS_TRANSCFG,
        ] {
            let mut bench = Bench::new(Config::default());
            let present = bench.gpu.product().part.as_present;
            bench.write64(register.at(space), 0);
            let told = bench.report();
            let absent = format!("address space {space} is not in AS_PRESENT");
            let is_absent = present >> space & 1 == 0;
            assert_eq!(
                told.contains(&absent),
                is_absent,
                "{}: {told}",
                register.name
            );
        }
    }
}

#[test]
fn a_region_is_unlocked_after_a_flush_that_began_behind_the_lock() {
    let change = |steps: &[&str]| {
        let mut bench = Bench::booted();
        bench.write64(aspace::AS_LOCKADDR.at(1), PAGE | 14);
        for step in steps {
            match *step {
                "lock" => bench.command(1, LOCK),
                "flush" => bench.flush(),
                "clean" => {
                    bench.write(
                        GPU_COMMAND,
                        GpuCommand::FlushCaches(CacheFlush::CLEAN).word(),
                    );
                    bench.wait(100);
                }
                _ => bench.command(1, UNLOCK),
            }
        }
        bench.report()
    };
    assert_eq!(change(&["lock", "flush", "unlock"]), "");
    let late = "UNLOCK of address space 1 before the L2 was cleaned and invalidated";
    for steps in [
        &["lock", "unlock", "flush"][..],
        &["flush", "lock", "unlock"],
        &["lock", "clean", "unlock"],
        &["lock", "flush", "lock", "unlock"],
    ] {
        let told = change(steps);
        assert!(told.contains(late), "{steps:?}: {told}");
    }
}

#[test]
fn a_space_leaves_after_its_lines_were_cleaned_and_invalidated() {
    let leave = |flush: Option<CacheFlush>| {
        let mut bench = Bench::booted();
        bench.start_group(0);
        bench.submit(0, &[0]);
        bench.drain(0);
        bench.request_state(0, 0);
        if let Some(flush) = flush {
            bench.write(GPU_COMMAND, GpuCommand::FlushCaches(flush).word());
            bench.wait(100);
        }
        bench.disable_space(1);
        bench.report()
    };
    assert_eq!(leave(Some(CacheFlush::ALL)), "");
    let kept = "address space 1 loses its tables while caches may hold";
    for flush in [None, Some(CacheFlush::CLEAN)] {
        let told = leave(flush);
        assert!(told.contains(kept), "{flush:?}: {told}");
    }
}

#[test]
fn a_space_that_nobody_has_used_may_leave_at_once() {
    let mut bench = Bench::booted();
    bench.disable_space(1);
    bench.expect_no_diagnoses();
}

#[test]
fn a_reset_forgets_everything_but_memory() {
    let mut bench = Bench::booted();
    let version = bench.shared(0);
    bench.reset();
    assert_eq!(bench.read(L2_READY), 0);
    assert_eq!(bench.read(MCU_STATUS), 0);
    assert_eq!(bench.read64(aspace::AS_TRANSCFG.at(0)), 0);
    assert_eq!(bench.shared(0), version);
    let physical = bench.physical(0, 0);
    assert!(bench.memory.read32(physical).is_ok());
}

#[test]
fn a_cut_of_the_power_takes_what_registers_held_too() {
    let mut bench = Bench::new(Config::default());
    let masks = [GPU_IRQ_MASK, JOB_IRQ_MASK, MMU_IRQ_MASK];
    bench.write(L2_CONFIG, 1 << 24);
    bench.power_l2();
    for mask in masks {
        bench.write(mask, u32::MAX);
    }
    // A flush that is in flight goes with the rest.
    bench.write(GPU_COMMAND, GpuCommand::FlushCaches(CacheFlush::ALL).word());
    bench.gpu.cut_power();
    let mut fresh = Bench::new(Config::default());
    let registers = [GPU_STATUS, L2_CONFIG, COHERENCY_ENABLE];
    for register in masks.into_iter().chain(registers) {
        let (found, wanted) = (bench.read(register), fresh.read(register));
        assert_eq!(found, wanted, "{} as of a GPU that is new", register.name);
    }
    bench.expect_no_diagnoses();
}
