//! The whole of the firmware: interface versions, sleep, doorbells, products.

use super::{ACK, REQ, got, store, toggle, with_data};
use crate::bench::{Bench, group_input, group_output, stream_output, suspend_buffer};
use eitri_csf::Arch;
use eitri_csf::image::RELEASES;
use eitri_csf::interface::control::Version;
use eitri_csf::registers::interrupts::{GPU_IRQ_CLEAR, GPU_IRQ_RAWSTAT};
use eitri_csf::registers::mcu::{MCU_CONTROL, MCU_STATUS};
use eitri_csf::registers::power::{L2_PWROFF, L2_PWRON, L2_READY};
use eitri_model::{Config, Product, stub_firmware, stub_firmware_like};

#[test]
fn from_interface_4_1_on_state_replaces_halt() {
    let version = Version::new(4, 1);
    let mut bench = with_data(Bench::booted_with(Config {
        interface: Some(version),
        ..Config::default()
    }));
    assert_eq!(bench.shared(0), version.word());
    // EP_REQ2 is read, EP_REQ is not.
    bench.shared_write(group_input(0) + 0x34, u32::MAX);
    bench.start_group(0);
    bench.submit(0, &store(0, 7));
    bench.drain(0);
    assert_eq!(got(&mut bench, 0), 7);
    assert_eq!(bench.shared(group_output(0) + 0x14), 4 | 4 << 8 | 1 << 16);
    bench.request_state(0, 0);
    bench.expect_no_diagnoses();

    let req = bench.shared(REQ);
    bench.shared_write(REQ, req | 1);
    bench.ring(0);
    bench.wait(1000);
    assert_eq!(bench.read(MCU_STATUS) & 3, 1, "HALT means nothing any more");
    bench.expect_diagnosis("interface 4.1 and later has STATE");
    bench.shared_write(REQ, req | 1 << 12);
    bench.ring(0);
    bench.poll(MCU_STATUS, 3, 2);
    assert_eq!(
        bench.shared(ACK) >> 12 & 7,
        1,
        "ACK shows the state reached"
    );
    bench.write(MCU_CONTROL, 0);
    bench.poll(MCU_STATUS, 3, 0);
    bench.shared_write(REQ, req);
    bench.start_mcu();
    assert_eq!(bench.shared(ACK), req);
}

#[test]
fn each_released_image_speaks_its_own_version() {
    let speaks = |product: &str, interface: Option<Version>, image: &[u8]| {
        let mut bench = Bench::new(Config {
            product: Product::find(product).expect("a product that the model can be"),
            interface,
            ..Config::default()
        });
        bench.boot_with(image);
        bench.expect_no_diagnoses();
        Version::from_word(bench.shared(0))
    };
    for release in &RELEASES {
        let product = match release.arch {
            Arch::V10 => "G610",
            Arch::V11 => "G615",
            Arch::V12 => "G720",
            _ => "G925",
        };
        let image = stub_firmware_like(release);
        let spoken = speaks(product, None, &image);
        assert_eq!(spoken, Some(release.version), "{}", release.name);
        let asked = Version::new(4, 0);
        let spoken = speaks(product, Some(asked), &image);
        assert_eq!(
            spoken,
            Some(asked),
            "{}: the configuration has the last word",
            release.name
        );
    }
    let spoken = speaks("G720", None, &stub_firmware());
    assert_eq!(
        spoken,
        Some(Version::new(3, 13)),
        "an image that is none of them"
    );
}

#[test]
fn interface_4_0_halts_as_before() {
    let mut bench = Bench::booted_with(Config {
        interface: Some(Version::new(4, 0)),
        ..Config::default()
    });
    bench.start_group(0);
    assert_eq!(bench.shared(group_output(0) + 0x14), 4 | 4 << 8 | 1 << 16);
    bench.request_state(0, 0);
    let req = bench.shared(REQ);
    bench.shared_write(REQ, req | 1);
    bench.ring(0);
    bench.poll(MCU_STATUS, 3, 2);
    bench.expect_no_diagnoses();
}

#[test]
fn a_sleeping_mcu_wakes_at_a_doorbell_with_its_groups() {
    let mut bench = with_data(Bench::booted_as("G615"));
    bench.start_group(0);
    let req = toggle(&mut bench, 1 << 12);
    bench.poll(MCU_STATUS, 3, 2);
    assert_eq!(bench.shared(ACK) & 1 << 12, req & 1 << 12);
    assert_eq!(bench.read(MCU_CONTROL) >> 31, 1, "doorbells are held off");
    bench.write(L2_PWROFF, 1);
    bench.poll(L2_READY, 1, 0);
    bench.submit(0, &store(0, 9));
    bench.wait(1000);
    assert_eq!(got(&mut bench, 0), 0);
    bench.poll(GPU_IRQ_RAWSTAT, 1 << 18, 1 << 18);
    bench.write(GPU_IRQ_CLEAR, 1 << 18);
    assert_eq!(
        bench.read(GPU_IRQ_RAWSTAT) >> 18 & 1,
        1,
        "it can't be cleared"
    );
    bench.write(L2_PWRON, 1);
    bench.poll(MCU_STATUS, 3, 1);
    assert_eq!(bench.read(GPU_IRQ_RAWSTAT) >> 18 & 1, 0);
    bench.drain(0);
    assert_eq!(got(&mut bench, 0), 9);
    bench.expect_no_diagnoses();

    let mut bench = Bench::booted();
    toggle(&mut bench, 1 << 12);
    bench.wait(1000);
    bench.expect_diagnosis("the MCU of this architecture cannot sleep");
}

/// A host that writes a request and rings next is right, even if a doorbell for something else is served in between; one that never
/// rings is told why nothing happens.
#[test]
fn a_request_is_told_of_when_its_doorbell_does_not_come() {
    let mut bench = with_data(Bench::booted());
    bench.start_group(0);
    let ping = |bench: &mut Bench| {
        toggle(bench, 1 << 8);
        bench.wait(100);
    };
    let suspend = |bench: &mut Bench| {
        let req = bench.shared(group_input(0));
        bench.shared_write(group_input(0), req & !7 | 2);
    };
    suspend(&mut bench);
    ping(&mut bench);
    bench.ring_group(0);
    bench.poll_shared(group_output(0), 7, 2);
    ping(&mut bench);
    bench.expect_no_diagnoses();

    let mut bench = with_data(Bench::booted());
    bench.start_group(0);
    suspend(&mut bench);
    ping(&mut bench);
    bench.expect_no_diagnoses();
    bench.wait(20_000);
    ping(&mut bench);
    bench.expect_diagnosis("is pending, but no doorbell was rung for it");
}

#[test]
fn all_of_a_suspend_buffer_is_the_firmwares() {
    let suspended = || {
        let mut bench = with_data(Bench::booted());
        bench.start_group(0);
        bench.request_state(0, 2);
        bench.configure_group(0);
        bench
    };
    let mut bench = suspended();
    bench.request_state(0, 3);
    bench.expect_no_diagnoses();
    // A word in the middle that somebody else wrote.
    let mut bench = suspended();
    bench.put(0, suspend_buffer(0) + 0x804, &[0xA5]);
    bench.request_state(0, 3);
    bench.expect_diagnosis("that holds no suspended group");
    bench.poll_shared(stream_output(0) + 0x84, 0xff, 0x40);
}

#[test]
fn every_product_boots_and_executes() {
    for product in Product::all() {
        let mut bench = with_data(Bench::booted_with(Config {
            product,
            ..Config::default()
        }));
        bench.start_group(0);
        bench.submit(0, &store(0, 7));
        bench.drain(0);
        assert_eq!(got(&mut bench, 0), 7, "{:?}", product.name());
        bench.expect_no_diagnoses();
    }
}
