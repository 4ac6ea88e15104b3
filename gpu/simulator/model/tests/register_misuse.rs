//! Registers that a driver uses as it may not: each case beside one that is as it should be.

mod bench;

use bench::Bench;
use eitri_csf::command::{CacheFlush, FlushMode, GpuCommand, ResetKind};
use eitri_csf::registers::address_space::{AS_COMMAND, AS_LOCKADDR, AS_TRANSCFG, AS_TRANSTAB};
use eitri_csf::registers::control::{COHERENCY_ENABLE, GPU_COMMAND};
use eitri_csf::registers::mcu::MCU_CONTROL;
use eitri_csf::registers::power::{Domain, L2_PWROFF, L2_PWRON};
use eitri_model::{Config, Product};

/// Runs steps on a device that has just got its power, and checks whether the last of them is told.
#[track_caller]
fn check(told: Option<&str>, steps: impl Fn(&mut Bench)) {
    check_on(Bench::new(Config::default()), told, steps);
}

#[track_caller]
fn check_on(mut bench: Bench, told: Option<&str>, steps: impl Fn(&mut Bench)) {
    bench.expect_no_diagnoses();
    steps(&mut bench);
    match told {
        Some(part) => bench.expect_diagnosis(part),
        None => bench.expect_no_diagnoses(),
    }
}

fn command(command: GpuCommand) -> impl Fn(&mut Bench) {
    move |bench| bench.write(GPU_COMMAND, command.word())
}

#[test]
fn commands_of_the_gpu() {
    check(None, command(GpuCommand::Nop));
    check(
        Some("GPU_COMMAND = 0xfe is no command that a host may give"),
        |bench| bench.write(GPU_COMMAND, 0xFE),
    );
    let reset = GpuCommand::Reset(ResetKind::Soft);
    check(None, command(reset));
    check(Some("while a reset is in progress"), |bench| {
        bench.write(GPU_COMMAND, reset.word());
        bench.write(GPU_COMMAND, GpuCommand::Nop.word());
    });
    check(None, |bench| {
        bench.reset();
        bench.write(GPU_COMMAND, GpuCommand::Nop.word());
    });
    let useless = "asks for a flush mode that a cache does not have";
    let flushes = [
        (CacheFlush::ALL, None),
        (CacheFlush::CLEAN, None),
        (
            CacheFlush {
                l2: FlushMode::Invalidate,
                ..CacheFlush::ALL
            },
            Some(useless),
        ),
        (
            CacheFlush {
                load_store: FlushMode::Invalidate,
                ..CacheFlush::ALL
            },
            Some(useless),
        ),
        (
            CacheFlush {
                other: FlushMode::Clean,
                ..CacheFlush::ALL
            },
            Some(useless),
        ),
        (
            CacheFlush {
                other: FlushMode::CleanInvalidate,
                ..CacheFlush::ALL
            },
            Some(useless),
        ),
    ];
    for (flush, told) in flushes {
        check(told, |bench| {
            bench.power_l2();
            bench.write(GPU_COMMAND, GpuCommand::FlushCaches(flush).word());
        });
    }
}

#[test]
fn power_and_coherency() {
    check(None, |bench| {
        bench.write(COHERENCY_ENABLE, 31);
        bench.write(L2_PWRON, 1);
    });
    check(
        Some("L2_PWRON before COHERENCY_ENABLE was written"),
        |bench| bench.write(L2_PWRON, 1),
    );
    for (protocol, is_known) in [(31, true), (0, false), (1, false), (7, false)] {
        let told = "selects a protocol that this part cannot speak";
        check((!is_known).then_some(told), |bench| {
            bench.write(COHERENCY_ENABLE, protocol);
        });
    }
    for domain in [Domain::Tiler, Domain::Shader] {
        for register in [domain.power_on(), domain.power_off()] {
            let told = format!(
                "{} = 0x1: the firmware powers tiler and shader cores",
                register.name
            );
            check(Some(&told), |bench| bench.write(register, 1));
        }
    }
    check(None, |bench| {
        bench.power_l2();
        bench.write(L2_PWROFF, 1);
    });
    check_on(
        Bench::booted(),
        Some("L2_PWROFF while the MCU runs"),
        |bench| bench.write(L2_PWROFF, 1),
    );
}

#[test]
fn the_microcontroller_is_started_once() {
    check_on(
        Bench::booted(),
        Some("MCU_CONTROL = 0x2 while the MCU runs already"),
        |bench| bench.write(MCU_CONTROL, 2),
    );
    check(Some("MCU_CONTROL = 1: hosts use 2 (auto)"), |bench| {
        bench.power_l2();
        bench.write(MCU_CONTROL, 1);
    });
}

const UPDATE: u32 = 1;
const FLUSH_PT: u32 = 4;
const FLUSH_MEM: u32 = 5;

#[test]
fn commands_of_address_spaces() {
    let booted = |gpu: &str| {
        let mut bench = Bench::new(Config {
            product: Product::find(gpu).expect("a product that the model can be"),
            ..Config::default()
        });
        bench.power_l2();
        bench
    };
    let one = |space: u32, number: u32| {
        move |bench: &mut Bench| bench.write(AS_COMMAND.at(space), number)
    };
    check_on(booted("G610"), None, one(7, 0));
    let absent = "address space 8 is not in AS_PRESENT";
    check_on(booted("G610"), Some(absent), one(8, 0));
    let unknown = "AS_COMMAND 1 = 0x9 is no command";
    check_on(booted("G610"), Some(unknown), one(1, 9));
    let busy = "before the command in progress completed";
    check_on(booted("G610"), Some(busy), |bench| {
        bench.write(AS_COMMAND.at(1), 0);
        bench.write(AS_COMMAND.at(1), 0);
    });
    check_on(booted("G610"), None, |bench| {
        bench.write(AS_COMMAND.at(1), 0);
        bench.write(AS_COMMAND.at(2), 0);
        bench.wait(100);
        bench.write(AS_COMMAND.at(1), 0);
    });
    // Up to v11 the flushes are commands like others.
    let deprecated = "is deprecated on this architecture";
    for (gpu, told) in [
        ("G610", None),
        ("G615", None),
        ("G720", Some(deprecated)),
        ("G925", Some(deprecated)),
    ] {
        for flush in [FLUSH_PT, FLUSH_MEM] {
            check_on(booted(gpu), told, |bench| {
                bench.write64(AS_LOCKADDR.at(1), 14);
                bench.write(AS_COMMAND.at(1), flush);
            });
        }
    }
}

#[test]
fn what_an_address_space_is_set_to() {
    const UNMAPPED: u64 = 1;
    const TABLES: u64 = 6;
    let size = |bits: u64| TABLES | bits << 6;
    for (transcfg, told) in [
        (UNMAPPED, None),
        (size(7), None),
        (size(30), None),
        (size(6), Some("has no valid input size")),
        (size(31), Some("has no valid input size")),
        (0, Some("has no mode that is modelled")),
        (15, Some("has no mode that is modelled")),
    ] {
        check(told, |bench| {
            bench.power_l2();
            bench.write64(AS_TRANSTAB.at(1), 0x1_0000);
            bench.write64(AS_TRANSCFG.at(1), transcfg);
            bench.command(1, UPDATE);
        });
    }
}
