//! The GPU as a whole: which one, power, microcontroller, interrupts; and, if asked for, every register.

use super::View;
use super::entry::Entry;
use alloc::format;
use alloc::string::{String, ToString};
use eitri_csf::interface::control::{GLB_CONTROL, GLB_VERSION, Version};
use eitri_csf::interface::global::{GLB_INPUT, GLB_OUTPUT};
use eitri_csf::registers::at_offset;
use eitri_csf::registers::control::GPU_STATUS;
use eitri_csf::registers::identity::{GPU_FEATURES, GPU_ID, SHADER_PRESENT};
use eitri_csf::registers::interrupts::{GPU_IRQ, JOB_IRQ, MMU_IRQ};
use eitri_csf::registers::mcu::{MCU_CONTROL, MCU_STATUS};
use eitri_csf::registers::power::Domain;
use eitri_csf::table::{Register, Width};

pub(super) fn entry(view: &View<'_>) -> Entry {
    let dump = view.dump;
    let mut entry = Entry::new("GPU", name(view));
    let decoded = |entry: &mut Entry, row: Register| {
        if let Some(value) = dump.register(row) {
            entry.push(Entry::line(row.decode(value)));
        }
    };
    decoded(&mut entry, GPU_ID);
    decoded(&mut entry, GPU_STATUS);
    for domain in Domain::ALL {
        entry.push(power(view, domain));
    }
    decoded(&mut entry, MCU_CONTROL);
    decoded(&mut entry, MCU_STATUS);
    for line in [GPU_IRQ, JOB_IRQ, MMU_IRQ] {
        decoded(&mut entry, line.rawstat);
        decoded(&mut entry, line.mask);
    }
    if let Some(words) = dump.firmware() {
        let version = words.control.get(GLB_VERSION).map(|word| word as u32);
        let text = match version.and_then(Version::from_word) {
            Some(version) => format!("interface {version}"),
            None => String::from("not booted"),
        };
        entry.push(Entry::new("firmware", text).with([
            view.block(&GLB_CONTROL, words.control),
            view.block(&GLB_INPUT, words.input),
            view.block(&GLB_OUTPUT, words.output),
        ]));
    }
    if view.options.all {
        entry.push(registers(view));
    }
    entry
}

/// The product, as far as the dump tells.
fn name(view: &View<'_>) -> String {
    let Some(id) = view.dump.gpu_id() else {
        return String::from("unknown: the dump has no GPU_ID");
    };
    let cores = view.dump.register(SHADER_PRESENT).unwrap_or(0).count_ones();
    let features = view.dump.register(GPU_FEATURES).unwrap_or(0);
    match id.product(cores, features) {
        Some(product) => format!("{}, {id}, {cores} shader cores", product.name),
        None => id.to_string(),
    }
}

/// What people paste first when power is in question: present, ready, in transition, active.
fn power(view: &View<'_>, domain: Domain) -> Entry {
    let word = |row: Register| match view.dump.register(row) {
        Some(value) => format!("{value:#x}"),
        None => String::from("unknown"),
    };
    let text = format!(
        "present {}, ready {}, in transition {}, active {}",
        word(domain.present()),
        word(domain.ready()),
        word(domain.transition()),
        word(domain.active())
    );
    let mut entry = Entry::new(format!("power of {domain}"), text);
    let value = |row| view.dump.register(row).unwrap_or(0);
    if value(domain.transition()) != 0 {
        entry.note("stuck?", domain.transition().about);
    }
    if domain == Domain::L2 && view.dump.register(domain.ready()) == Some(0) {
        entry.note("off", "nothing of the GPU works without its L2");
    }
    entry
}

/// Every register of the dump.
fn registers(view: &View<'_>) -> Entry {
    let mut entry = Entry::heading("registers");
    for (offset, value) in view.dump.registers() {
        let Some(found) = at_offset(offset) else {
            entry.note(
                format!("unknown register {offset:#x}"),
                format!("{value:#x}"),
            );
            continue;
        };
        // The low word speaks for both, unless it is missing.
        let whole = view.dump.register(found.register);
        match (found.register.width, found.high_word, whole) {
            (Width::Bits64, true, Some(_)) => {}
            (_, _, Some(whole)) => {
                let mut text = found.register.decode(whole).to_string();
                if found.register.count > 1 {
                    text = format!("[{}] {text}", found.index);
                }
                entry.push(Entry::line(text));
            }
            (_, high, None) => {
                let half = if high { "high" } else { "low" };
                let text = format!("{value:#x}, only the {half} word is in the dump");
                entry.note(found.register.name, text);
            }
        }
    }
    entry
}
