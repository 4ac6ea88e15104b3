//! Boot: whether an image was loaded and mapped so that the microcontroller could run it.
//!
//! The model does not execute the image's code, but looks at everything that the code needs. Facts: hardware/csf-mmio.md 18
//! item 8, csf-firmware.md 4 and 14.

use super::interface::{Interface, Stop, Words, mcu_access};
use crate::config::Config;
use crate::diagnosis::FirmwareMisuse;
use crate::fabric::Fabric;
use crate::memory::{PAGE, PhysicalMemory};
use crate::mmu::{AccessKind, MCU_SPACE, Refusal, Request, Source};
use eitri_csf::image::{Image, Release, Section, section_flags};
use eitri_csf::interface::control::{SHARED_VA, Version};

/// What must hold before the microcontroller is let go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions {
    pub(super) l2_on: bool,
    pub(super) hash_good: bool,
    /// A cold boot: memory holds what the loader put there.
    pub(super) cold: bool,
}

/// Checks everything and fills the control blocks.
pub(super) fn boot(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    conditions: Conditions,
) -> Result<Interface, Stop> {
    if !conditions.l2_on {
        return fail(fabric, FirmwareMisuse::BootWithoutL2);
    }
    if fabric.mmu.space(MCU_SPACE).is_unmapped() {
        return fail(fabric, FirmwareMisuse::BootWithoutSpace);
    }
    if !conditions.hash_good {
        fabric.journal.report(FirmwareMisuse::BootWithoutHash);
        // The first fetch finds nothing, whatever the tables say.
        let request = request(0, AccessKind::Execute);
        let stall = fabric.mmu.stall(MCU_SPACE);
        let irq = &mut fabric.irq.mmu;
        let translation_fault = 0xC3;
        fabric
            .mmu
            .refuse(irq, &mut fabric.journal, request, stall, translation_fault);
        return Err(Stop::Crash);
    }
    let mut words = Words { fabric, memory };
    check_vectors(&mut words)?;
    check_shared(&mut words)?;
    if conditions.cold {
        check_image(&mut words)?;
    }
    Interface::read(&mut words)
}

fn fail<T>(fabric: &mut Fabric, misuse: FirmwareMisuse) -> Result<T, Stop> {
    fabric.journal.report(misuse);
    Err(Stop::Crash)
}

fn request(address: u32, kind: AccessKind) -> Request {
    Request {
        space: MCU_SPACE,
        address: address.into(),
        kind,
        source: Source::Mcu,
    }
}

/// Whether the microcontroller may access `address` so; a refusal is latched as a fault of its space.
fn allows(words: &mut Words<'_>, address: u32, kind: AccessKind) -> Result<bool, Stop> {
    match words.fabric.translate(words.memory, request(address, kind)) {
        Ok(_) => Ok(true),
        Err(Refusal::Stalled(_)) => Err(Stop::Wait),
        Err(Refusal::Fault(_) | Refusal::Bus(_)) => Ok(false),
    }
}

/// Initial stack pointer and reset address at address 0.
fn check_vectors(words: &mut Words<'_>) -> Result<(), Stop> {
    let read = |words: &mut Words<'_>, address| {
        let value = words.fabric.read32(words.memory, mcu_access(address));
        if let Err(Refusal::Fault(fault)) = value {
            words.fabric.journal.report(FirmwareMisuse::NotMapped {
                address,
                exception: fault.exception,
            });
        }
        value
    };
    let stack = read(words, 0)?;
    let reset = read(words, 4)?;
    words.fabric.interface = spoken(&words.fabric.config, stack, reset);
    if reset & 1 == 0 {
        return fail(words.fabric, FirmwareMisuse::ResetVector { value: reset });
    }
    let code = reset & !1;
    if !allows(words, code, AccessKind::Execute)? {
        return fail(
            words.fabric,
            FirmwareMisuse::NotExecutable { address: code },
        );
    }
    let top = stack.wrapping_sub(4);
    if !stack.is_multiple_of(4) || !allows(words, top, AccessKind::Write)? {
        return fail(words.fabric, FirmwareMisuse::StackPointer { value: stack });
    }
    Ok(())
}

/// The interface version that the loaded image speaks: it is told by its vectors, if it is a released one.
fn spoken(config: &Config, stack: u32, reset: u32) -> Version {
    let released = Release::of_vectors(stack, reset).map(|release| release.version);
    let asked = config.interface.or(released);
    asked.unwrap_or_else(|| config.interface_version())
}

fn check_shared(words: &mut Words<'_>) -> Result<(), Stop> {
    for kind in [AccessKind::Read, AccessKind::Write] {
        if !allows(words, SHARED_VA, kind)? {
            let address = SHARED_VA;
            return fail(words.fabric, FirmwareMisuse::SharedNotWritable { address });
        }
    }
    Ok(())
}

/// Compares memory with the image that the host says it loaded.
fn check_image(words: &mut Words<'_>) -> Result<(), Stop> {
    let Some(bytes) = words.fabric.config.firmware.take() else {
        return Ok(());
    };
    let result = match Image::parse(&bytes) {
        Ok(image) => image
            .sections()
            .try_for_each(|section| check_section(words, &section)),
        Err(_) => fail(words.fabric, FirmwareMisuse::ImageInvalid),
    };
    words.fabric.config.firmware = Some(bytes);
    result
}

fn check_section(words: &mut Words<'_>, section: &Section<'_>) -> Result<(), Stop> {
    // Sections for protected mode need protected memory and may be left out.
    if section.flags.has(section_flags::PROTECTED) {
        return Ok(());
    }
    let data = section.data.len() as u32;
    let zeroed = section.flags.has(section_flags::ZERO);
    let mut address = section.va.start;
    while address < section.va.end {
        check_page(words, section, address)?;
        let mut page = [0; PAGE as usize];
        words
            .fabric
            .read(words.memory, mcu_access(address), &mut page)?;
        for (index, bytes) in page.chunks_exact(4).enumerate() {
            let offset = address - section.va.start + 4 * index as u32;
            let expected: [u8; 4] = core::array::from_fn(|i| {
                section.data.get(offset as usize + i).copied().unwrap_or(0)
            });
            if (offset < data || zeroed) && bytes != expected {
                let found = [bytes[0], bytes[1], bytes[2], bytes[3]];
                return fail(
                    words.fabric,
                    FirmwareMisuse::ImageDiffers {
                        address: section.va.start + offset,
                        expected: u32::from_le_bytes(expected),
                        found: u32::from_le_bytes(found),
                    },
                );
            }
        }
        let Some(next) = address.checked_add(PAGE as u32) else {
            break;
        };
        address = next;
    }
    Ok(())
}

/// The permissions of one page must be those that the section asks for.
fn check_page(words: &mut Words<'_>, section: &Section<'_>, address: u32) -> Result<(), Stop> {
    let wanted = [
        (AccessKind::Read, section.flags.has(section_flags::READ)),
        (AccessKind::Write, section.flags.has(section_flags::WRITE)),
        (
            AccessKind::Execute,
            section.flags.has(section_flags::EXECUTE),
        ),
    ];
    let page = words
        .fabric
        .mmu
        .look(words.memory, MCU_SPACE, address.into());
    let fits = page.is_some_and(|page| wanted.iter().all(|&(kind, on)| page.allows(kind) == on));
    if fits {
        return Ok(());
    }
    fail(
        words.fabric,
        FirmwareMisuse::SectionPermission {
            address,
            flags: section.flags.word(),
        },
    )
}
