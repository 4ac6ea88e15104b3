//! The device around the shader cores: what happens at its registers, in its firmware and in its draws, and breakpoints on that.
//!
//! In reading order: this file (what happens, and how it reads), `names` (breakpoints by the names of the tables).
mod names;

use std::fmt;

use eitri_csf::interface::global::glb_req;
use eitri_csf::interface::group::csg_req;
use eitri_csf::interface::stream::cs_req;
use eitri_csf::registers::at_offset;
use eitri_csf::table::{FieldRow, Role, Width};
use eitri_model::StartedFragment;

pub use names::{DevicePlace, FirmwareName, RegisterName};

/// What happened at the device in a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeviceEvent {
    /// The host accessed a word of a register.
    Register {
        /// Byte offset in the window.
        offset: u32,
        /// The word that was read or written.
        value: u32,
        /// Whether it was written.
        writes: bool,
    },
    /// A bit or a field of a request, an answer or an event of the firmware.
    Firmware(FirmwareEvent),
    /// A draw began: its vertices come next.
    Draw {
        /// Its number, from 0, in the order in which draws begin.
        number: usize,
        /// Vertices of an instance.
        vertices: u32,
        /// Instances.
        instances: u32,
    },
    /// A warp of fragments began.
    Fragments {
        /// The draw's number.
        draw: usize,
        /// The number that the program sees of the primitive.
        primitive: u32,
        /// The upper left pixel of the tile.
        tile: [u32; 2],
        /// Whether the warp before it in this tile was another draw's.
        begins_draw: bool,
        /// Whether the warp before it in this tile was another primitive's.
        begins_primitive: bool,
        /// A fragment for each lane; helpers cover no samples.
        lanes: Vec<StartedFragment>,
    },
}

/// A bit or a field of a request, an answer or an event of the firmware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FirmwareEvent {
    /// The word of the interface: `GLB_REQ`, `GLB_ACK`, `CSG_REQ`, `CSG_ACK` or `CS_ACK`.
    pub word: &'static str,
    /// The field of the word.
    pub field: FieldRow,
    /// The group slot, except of what is global.
    pub slot: Option<u8>,
    /// The stream, of what is a stream's.
    pub stream: Option<u8>,
}

impl FirmwareEvent {
    /// The events of a word whose bits were requested, or have changed.
    pub(crate) fn of(
        word: &'static str,
        (slot, stream): (Option<u8>, Option<u8>),
        bits: u32,
    ) -> impl Iterator<Item = FirmwareEvent> {
        let fields = fields_of(word).iter();
        let met = fields.filter(move |field| field.mask() & u64::from(bits) != 0);
        met.map(move |field| FirmwareEvent {
            word,
            field: *field,
            slot,
            stream,
        })
    }
}

/// Words of the interface of which events are told.
const WORDS: [&str; 5] = ["GLB_REQ", "GLB_ACK", "CSG_REQ", "CSG_ACK", "CS_ACK"];

fn fields_of(word: &str) -> &'static [FieldRow] {
    match word {
        "GLB_REQ" | "GLB_ACK" => glb_req::FIELDS,
        "CSG_REQ" | "CSG_ACK" => csg_req::FIELDS,
        "CS_ACK" => cs_req::FIELDS,
        _ => &[],
    }
}

impl fmt::Display for FirmwareEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let does = match (self.word, self.field.role) {
            ("GLB_REQ" | "CSG_REQ", _) => "takes the request",
            (_, Role::Event) => "raises",
            _ => "answers",
        };
        write!(f, "the firmware {does} {}.{}", self.word, self.field.name)?;
        match (self.slot, self.stream) {
            (Some(slot), Some(stream)) => write!(f, " of stream {stream} of group slot {slot}"),
            (Some(slot), None) => write!(f, " of group slot {slot}"),
            (None, _) => Ok(()),
        }
    }
}

impl fmt::Display for DeviceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceEvent::Register {
                offset,
                value,
                writes,
            } => {
                let how = if *writes { "write" } else { "read" };
                write!(f, "{how} of {}", access(*offset, *value))
            }
            DeviceEvent::Firmware(event) => event.fmt(f),
            DeviceEvent::Draw {
                number,
                vertices,
                instances,
            } => {
                write!(f, "draw {number} begins: {vertices} vertices")?;
                match instances {
                    1 => Ok(()),
                    count => write!(f, ", {count} instances"),
                }
            }
            DeviceEvent::Fragments {
                draw,
                primitive,
                tile: [x, y],
                lanes,
                ..
            } => {
                let covered = lanes.iter().filter(|lane| lane.coverage != 0).count();
                write!(
                    f,
                    "fragments of draw {draw}, primitive {primitive} begin in tile {x},{y}: {covered} pixels"
                )
            }
        }
    }
}

/// The name of the register word at an offset.
pub(crate) fn register_name(offset: u32) -> String {
    let Some(found) = at_offset(offset) else {
        return format!("offset {offset:#x}, which has no register");
    };
    let number = match found.register.count {
        1 => String::new(),
        _ => format!("[{}]", found.index),
    };
    let half = match (found.register.width, found.high_word) {
        (Width::Bits32, _) => "",
        (Width::Bits64, false) => ", low word",
        (Width::Bits64, true) => ", high word",
    };
    format!("{}{number}{half}", found.register.name)
}

/// A register word with its value, and the fields of that.
pub(crate) fn access(offset: u32, value: u32) -> String {
    let name = register_name(offset);
    let Some(found) = at_offset(offset) else {
        return format!("{name} = {value:#x}");
    };
    let value = match found.high_word {
        true => u64::from(value) << 32,
        false => value.into(),
    };
    let decoded = found.register.decode(value).to_string();
    // The row does not know its number, nor which word was accessed.
    match decoded.split_once(" = ") {
        Some((_, rest)) => format!("{name} ({offset:#05x}) = {rest}"),
        None => decoded,
    }
}
