//! Faults: what happened, where, who did it, and what was missed by how much.
//!
//! Facts: hardware/gpu-mmu.md section 8, csf-scheduling.md section 6, csf-firmware.md sections 9 to 11.

use super::View;
use super::candidates;
use super::entry::Entry;
use crate::note::{Fault, NONE, Reporter};
use crate::read::{Dump, Group, Stream};
use crate::walk::Miss;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use eitri_csf::fault::fault_access::AccessKind;
use eitri_csf::fault::{Exception, FaultSource};
use eitri_csf::interface::stream::{
    CS_ACK, CS_FATAL, CS_FATAL_INFO, CS_FAULT, CS_FAULT_INFO, CS_REQ, cs_fault, cs_req,
};
use eitri_csf::registers::address_space::{AS_FAULTADDRESS, AS_FAULTSTATUS, as_faultstatus};
use eitri_csf::registers::control::{GPU_FAULTADDRESS, GPU_FAULTSTATUS, gpu_faultstatus};
use eitri_csf::registers::mcu::{MCU_STATUS, McuState, mcu_status};
use eitri_csf::table::Register;

/// A fault, and where it was found.
pub(super) struct Found {
    pub(super) fault: Fault,
    from: String,
}

/// All faults of a dump: those that the driver told of, then those in registers and interface words; causes before effects.
pub(super) fn find(dump: &Dump<'_>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut add = |fault: Fault, from: String| {
        let same = |other: &Found| {
            let key = |fault: &Fault| {
                (
                    fault.reporter as u32,
                    fault.slot,
                    fault.stream,
                    fault.status,
                )
            };
            key(&other.fault) == key(&fault) && other.fault.address == fault.address
        };
        if !found.iter().any(same) {
            found.push(Found { fault, from });
        }
    };
    for fault in dump.faults() {
        add(*fault, String::from("told by the driver"));
    }
    let blank = |reporter| Fault {
        reporter,
        slot: NONE,
        stream: NONE,
        space: NONE,
        status: 0,
        address: 0,
    };
    for space in dump.spaces() {
        let number = u32::from(space.number);
        let status = dump.register(AS_FAULTSTATUS.at(number)).unwrap_or(0) as u32;
        if as_faultstatus::EXCEPTION.get(status) != 0 {
            let address = dump.register(AS_FAULTADDRESS.at(number)).unwrap_or(0);
            let fault = Fault {
                space: number,
                status,
                address,
                ..blank(Reporter::AddressSpace)
            };
            add(fault, format!("AS{number}_FAULTSTATUS"));
        }
    }
    let status = dump.register(GPU_FAULTSTATUS).unwrap_or(0) as u32;
    if gpu_faultstatus::EXCEPTION.get(status) != 0 {
        let with_space = gpu_faultstatus::JASID_VALID.get(status);
        let fault = Fault {
            space: match with_space {
                true => gpu_faultstatus::JASID.get(status),
                false => NONE,
            },
            status,
            address: dump.register(GPU_FAULTADDRESS).unwrap_or(0),
            ..blank(Reporter::Gpu)
        };
        add(fault, String::from("GPU_FAULTSTATUS"));
    }
    for stream in dump.streams() {
        for (reporter, status, info, event) in [
            (
                Reporter::StreamFatal,
                CS_FATAL,
                CS_FATAL_INFO,
                cs_req::FATAL.mask(),
            ),
            (
                Reporter::StreamFault,
                CS_FAULT,
                CS_FAULT_INFO,
                cs_req::FAULT.mask(),
            ),
        ] {
            if let Some((fault, from)) = of_stream(dump, stream, reporter, [status, info], event) {
                add(fault, from);
            }
        }
    }
    let status = dump.register(MCU_STATUS).unwrap_or(0) as u32;
    if mcu_status::STATE.get(status) == Some(McuState::Fatal) {
        let fault = Fault {
            status,
            ..blank(Reporter::Firmware)
        };
        add(fault, String::from("MCU_STATUS"));
    }
    found.sort_by_key(|found| found.fault.reporter as u32);
    found
}

fn of_stream(
    dump: &Dump<'_>,
    stream: &Stream<'_>,
    reporter: Reporter,
    [status, info]: [Register; 2],
    event: u64,
) -> Option<(Fault, String)> {
    let output = stream.words.output;
    let word = output.get(status).filter(|word| *word != 0)?;
    let req = stream.words.input.get(CS_REQ).unwrap_or(0);
    let ack = output.get(CS_ACK).unwrap_or(0);
    let state = match (req ^ ack) & event != 0 {
        true => "its event is pending",
        false => "its event was acknowledged or never raised",
    };
    let fault = Fault {
        reporter,
        slot: stream.slot,
        stream: stream.number,
        space: dump
            .group(stream.slot)
            .and_then(Group::address_space)
            .unwrap_or(NONE),
        status: word as u32,
        address: output.get(info).unwrap_or(0),
    };
    Some((fault, format!("{}; {state}", status.name)))
}

pub(super) fn entry(view: &View<'_>, faults: &[Found]) -> Entry {
    match faults {
        [] => Entry::new(
            "fault",
            "none: no register, no interface word and no note tells of one",
        ),
        [only] => one(view, "fault", only),
        several => {
            let numbered = |(index, fault)| one(view, &format!("fault {}", index + 1), fault);
            let text = format!("{}, causes before their effects", several.len());
            Entry::new("faults", text).with(several.iter().enumerate().map(numbered))
        }
    }
}

fn one(view: &View<'_>, name: &str, found: &Found) -> Entry {
    let Found { fault, from } = found;
    let code = Exception((fault.status & 0xFF) as u8);
    let row = code.row();
    let mut entry = match fault.reporter {
        Reporter::Timeout => Entry::new(name, "timeout: work took longer than the driver allows"),
        Reporter::Firmware => Entry::new(name, firmware(fault)),
        _ => {
            let about = row.map_or("a code that is not known", |row| row.about);
            Entry::new(name, format!("{code} ({:#04x}): {about}", code.0))
        }
    };
    entry.note("from", from);
    if fault.slot != NONE {
        let stream = match fault.stream {
            NONE => String::new(),
            number => format!(", stream {number}"),
        };
        entry.note("who", format!("group {}{stream}", fault.slot));
    } else if fault.space != NONE {
        entry.note("who", users(view.dump, fault.space));
    }
    let kind = match fault.reporter {
        Reporter::AddressSpace => as_faultstatus::ACCESS.get(fault.status),
        Reporter::Gpu => gpu_faultstatus::ACCESS.get(fault.status),
        _ => None,
    };
    match fault.reporter {
        Reporter::AddressSpace => {
            entry.note(
                "address",
                format!("{:#x} in address space {}", fault.address, fault.space),
            );
            access(
                view,
                &mut entry,
                kind,
                as_faultstatus::SOURCE.get(fault.status),
            );
            walk(view, &mut entry, fault, kind);
            entry.entries.extend(candidates::entry(view, fault));
            entry.push(Entry::line(AS_FAULTSTATUS.decode(fault.status.into())));
        }
        Reporter::Gpu => {
            if gpu_faultstatus::ADDRESS_VALID.get(fault.status) {
                entry.note("address", format!("{:#x}, physical", fault.address));
            }
            access(
                view,
                &mut entry,
                kind,
                gpu_faultstatus::SOURCE.get(fault.status),
            );
            entry.push(Entry::line(GPU_FAULTSTATUS.decode(fault.status.into())));
        }
        Reporter::StreamFault | Reporter::StreamFatal => {
            let data = cs_fault::DATA.get(fault.status);
            entry.note("data", format!("{data:#x}, undocumented"));
            entry.note("info", format!("{:#x}, usually the address", fault.address));
            if fault.address != 0 && row.is_some_and(|row| row.from.address_space) {
                walk(view, &mut entry, fault, None);
            }
        }
        Reporter::Timeout | Reporter::Firmware => {}
    }
    if let Some(row) = row.filter(|row| !row.help.is_empty())
        && !matches!(fault.reporter, Reporter::Timeout | Reporter::Firmware)
    {
        entry.note("help", row.help);
    }
    entry
}

pub(super) fn firmware(fault: &Fault) -> String {
    let state = match mcu_status::STATE.get(fault.status) {
        Some(McuState::Fatal) => "the firmware has crashed",
        _ => "the firmware does not answer",
    };
    format!("{state}: {}", MCU_STATUS.decode(fault.status.into()))
}

/// The groups whose work is in an address space.
fn users(dump: &Dump<'_>, space: u32) -> String {
    if space == 0 {
        return String::from("the firmware, or a suspend buffer or user page");
    }
    let uses = |group: &&Group<'_>| group.address_space() == Some(space);
    let users: Vec<String> = dump
        .groups()
        .iter()
        .filter(uses)
        .map(|group| group.slot.to_string())
        .collect();
    match users.len() {
        0 => String::from("unknown: the dump has no group in this address space"),
        1 => format!("group {}", users[0]),
        _ => format!("one of the groups {}", users.join(", ")),
    }
}

fn access(view: &View<'_>, entry: &mut Entry, kind: Option<AccessKind>, source: u32) {
    let Some(access) = kind else {
        entry.note("source", format!("unit {source:#06x}"));
        return;
    };
    entry.note("access", access.about());
    let arch = view.dump.gpu_id().and_then(|id| id.arch());
    let text = match arch {
        Some(arch) => FaultSource {
            arch,
            id: source as u16,
            access,
        }
        .to_string(),
        None => format!("unit {source:#06x} of a GPU that is not known"),
    };
    entry.note("source", text);
}

/// What the tables say of the address, and how far it is from what is mapped.
fn walk(view: &View<'_>, entry: &mut Entry, fault: &Fault, kind: Option<AccessKind>) {
    let Some(map) = view.map(fault.space) else {
        entry.note(
            "mapping",
            "unknown: the dump has no registers of this address space",
        );
        return;
    };
    let mut memory = view.dump;
    match map.space.look(&mut memory, fault.address) {
        Ok(mapping) => {
            entry.note("mapping", map.place(fault.address));
            let may = mapping.attributes;
            let allowed = match kind {
                None => None,
                Some(AccessKind::Read) => Some(may.readable),
                Some(AccessKind::Write) => Some(may.readable && may.writable),
                Some(AccessKind::Atomic) => Some(may.readable && may.writable),
                Some(AccessKind::Execute) => Some(may.readable && may.executable),
            };
            match allowed {
                Some(false) => entry.note("refused", "the mapping does not allow the access"),
                Some(true) if may.accessed => {
                    entry.note("now", "the mapping in the dump would allow the access");
                }
                _ => {}
            }
        }
        Err(miss) => {
            entry.note("mapping", format!("none: {miss}"));
            if !matches!(miss, Miss::NoTables(_)) {
                entry.note("missed by", map.place(fault.address));
            }
        }
    }
}
