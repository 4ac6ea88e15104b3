//! Facts: what a dump says, as values, for programs that read dumps.
//!
//! The tree of [`super::entries`] is for people: its words may change. These are what programs look for.

use super::View;
use super::candidates::{self, CandidateFacts};
use super::fault::{self, Found};
use super::map::Map;
use crate::note::{NONE, Reporter, Ring, Submission};
use crate::read::Dump;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use eitri_csf::fault::Exception;
use eitri_csf::fault::FaultSource;
use eitri_csf::fault::fault_access::AccessKind;
use eitri_csf::interface::stream::CS_STATUS_CMD_PTR;
use eitri_csf::page_table::Attributes;
use eitri_csf::registers::address_space::as_faultstatus;
use eitri_csf::registers::control::gpu_faultstatus;

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultFacts {
    /// Who reported it.
    pub reporter: Reporter,
    /// The exception's code; `None` where the driver reported it.
    pub code: Option<u8>,
    /// The code's name and what it means, or what the driver saw.
    pub what: String,
    /// The group's slot.
    pub slot: Option<u32>,
    /// The stream of the group.
    pub stream: Option<u32>,
    /// The address space.
    pub space: Option<u32>,
    /// The reporter's status word.
    pub status: u32,
    /// The address that goes with it.
    pub address: Option<u64>,
    /// What was tried there.
    pub access: Option<&'static str>,
    /// Which unit of the GPU tried it.
    pub source: Option<String>,
    /// Whether the address is mapped now; `None` where the dump does not say.
    pub mapped: Option<bool>,
    /// Where the address lies, by what the driver calls ranges in or near which it is.
    pub place: Option<String>,
    /// The instructions of shaders that may have made the access; `None` where nothing says that a shader did.
    pub candidates: Option<Vec<CandidateFacts>>,
}

/// What the driver calls a range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelFacts {
    /// The address space.
    pub space: u8,
    /// Its first address.
    pub start: u64,
    /// The first address behind it.
    pub end: u64,
    /// What it is, with the driver's number for it.
    pub name: String,
}

/// A range of virtual addresses that are mapped alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingFacts {
    /// The address space.
    pub space: u8,
    /// Its first address.
    pub start: u64,
    /// The first address behind it.
    pub end: u64,
    /// What it allows.
    pub attributes: Attributes,
    /// Physical address of its start; `None` where the memory is not in one piece.
    pub physical: Option<u64>,
    /// What lies there, as far as the dump tells: what the driver calls it, with commas between several, or the rings of streams.
    pub label: Option<String>,
}

/// A stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFacts {
    /// The group's slot.
    pub slot: u32,
    /// Its number in the group.
    pub stream: u32,
    /// Its address space.
    pub space: Option<u32>,
    /// Its ring.
    pub ring: Ring,
    /// Where its next instruction is; `None` if its status was never updated.
    pub command_pointer: Option<u64>,
    /// What was submitted to it.
    pub submissions: Vec<Submission>,
}

/// All of that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Causes before effects.
    pub faults: Vec<FaultFacts>,
    /// By address space and address.
    pub mappings: Vec<MappingFacts>,
    /// In the order of the file.
    pub streams: Vec<StreamFacts>,
    /// By address space and address.
    pub labels: Vec<LabelFacts>,
}

/// What a dump says.
pub fn facts(dump: &Dump<'_>) -> Facts {
    let view = View::new(dump, super::Options::default());
    let streams: Vec<StreamFacts> = dump.streams().iter().map(|it| stream(dump, it)).collect();
    let found = fault::find(dump);
    // Jobs name the programs among which the one that failed is.
    super::stream::entries(&view, &found);
    Facts {
        labels: view.maps.iter().flat_map(labels).collect(),
        faults: found.iter().map(|found| of_fault(&view, found)).collect(),
        mappings: view
            .maps
            .iter()
            .flat_map(|map| mappings(map, &streams))
            .collect(),
        streams,
    }
}

fn known(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}

fn of_fault(view: &View<'_>, found: &Found) -> FaultFacts {
    let fault = &found.fault;
    let code = match fault.reporter {
        Reporter::Timeout | Reporter::Firmware => None,
        _ => Some((fault.status & 0xFF) as u8),
    };
    let what = match (fault.reporter, code.map(Exception)) {
        (Reporter::Timeout, _) => "work took longer than the driver allows".to_string(),
        (_, Some(code)) => match code.row() {
            Some(row) => [&code.to_string(), ": ", row.about].concat(),
            None => code.to_string(),
        },
        (_, None) => fault::firmware(fault),
    };
    let (access, source) = match fault.reporter {
        Reporter::AddressSpace => (
            as_faultstatus::ACCESS.get(fault.status),
            Some(as_faultstatus::SOURCE.get(fault.status)),
        ),
        Reporter::Gpu => (
            gpu_faultstatus::ACCESS.get(fault.status),
            Some(gpu_faultstatus::SOURCE.get(fault.status)),
        ),
        _ => (None, None),
    };
    let is_physical = fault.reporter == Reporter::Gpu;
    let has_address = match fault.reporter {
        Reporter::AddressSpace => true,
        Reporter::Gpu => gpu_faultstatus::ADDRESS_VALID.get(fault.status),
        _ => fault.address != 0,
    };
    let address = has_address.then_some(fault.address);
    FaultFacts {
        reporter: fault.reporter,
        code,
        what,
        slot: known(fault.slot),
        stream: known(fault.stream),
        space: known(fault.space),
        status: fault.status,
        address,
        access: access.map(AccessKind::about),
        source: source.and_then(|source| {
            let arch = view.dump.gpu_id().and_then(|id| id.arch())?;
            let (id, access) = (source as u16, access?);
            Some(FaultSource { arch, id, access }.to_string())
        }),
        mapped: address.filter(|_| !is_physical).and_then(|address| {
            let map = view.map(fault.space)?;
            let mut memory = view.dump;
            Some(map.space.look(&mut memory, address).is_ok())
        }),
        place: address
            .filter(|_| !is_physical)
            .and_then(|address| view.map(fault.space)?.place_by_labels(address)),
        candidates: candidates::find(view, fault),
    }
}

fn stream(dump: &Dump<'_>, stream: &crate::read::Stream<'_>) -> StreamFacts {
    let (slot, number) = (stream.slot, stream.number);
    let of_stream = |it: &&Submission| (it.slot, it.stream) == (slot, number);
    let pointer = stream.words.output.get(CS_STATUS_CMD_PTR);
    StreamFacts {
        slot,
        stream: number,
        space: dump.group(slot).and_then(crate::read::Group::address_space),
        ring: stream.ring,
        command_pointer: pointer.filter(|at| *at != 0),
        submissions: dump
            .submissions()
            .iter()
            .filter(of_stream)
            .copied()
            .collect(),
    }
}

fn mappings(map: &Map, streams: &[StreamFacts]) -> Vec<MappingFacts> {
    let space = map.space.number;
    let label = |start: u64, end: u64| {
        let mut rings = streams.iter();
        let ring = rings.find(|it| {
            let inside = start <= it.ring.address && it.ring.address < end;
            it.space == Some(space.into()) && it.ring.bytes != 0 && inside
        })?;
        Some(alloc::format!(
            "ring of stream {}.{}",
            ring.slot,
            ring.stream
        ))
    };
    let named = |range: &super::map::Range| {
        let names: Vec<&str> = map.labels_in(range).map(|it| it.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let of_range = |range: &super::map::Range| MappingFacts {
        space,
        start: range.start,
        end: range.end,
        attributes: range.attributes,
        physical: range.physical,
        label: named(range).or_else(|| label(range.start, range.end)),
    };
    map.ranges.iter().map(of_range).collect()
}

fn labels(map: &Map) -> impl Iterator<Item = LabelFacts> {
    let space = map.space.number;
    map.labels.iter().map(move |label| LabelFacts {
        space,
        start: label.start,
        end: label.end,
        name: label.name.clone(),
    })
}
