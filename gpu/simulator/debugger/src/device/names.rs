//! Breakpoints on the device by names: registers and firmware events as the tables have them, draws, primitives and pixels.
use eitri_csf::explain::{self, Topic};
use eitri_csf::registers::at_offset;
use eitri_csf::table::{Place, Register};

use super::{DeviceEvent, FirmwareEvent, WORDS, fields_of};
use crate::stops::WatchKind;

/// What a breakpoint on the device stops behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DevicePlace {
    /// Accesses of a register by the host.
    Register(RegisterName, WatchKind),
    /// Events of the firmware.
    Firmware(FirmwareName),
    /// A draw begins, or its first fragment in a tile.
    Draw(usize),
    /// The first fragments of a primitive of a draw in a tile begin.
    Primitive {
        /// The draw's number.
        draw: usize,
        /// The number that the program sees of the primitive.
        primitive: u32,
    },
    /// A fragment of a pixel begins.
    Pixel {
        /// Column and row of the framebuffer.
        at: [u32; 2],
        /// The sample, if one is wanted.
        sample: Option<u8>,
    },
}

/// A register of the window.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisterName {
    row: Register,
    /// Which of a repeated one; none: any.
    index: Option<u32>,
}

/// Events of the firmware.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirmwareName {
    /// The word of the interface; none: any.
    word: Option<&'static str>,
    /// The field.
    field: &'static str,
}

impl DevicePlace {
    /// The place that a text names: `register GPU_COMMAND write`, `firmware CSG_ACK.IDLE`, `draw 3`, `primitive 3.0`, `pixel 12,40,1`.
    /// None if it begins with none of these words.
    ///
    /// # Errors
    /// What is wrong with the rest.
    pub fn parse(text: &str) -> Option<Result<DevicePlace, String>> {
        let (kind, rest) = text.split_once(char::is_whitespace)?;
        let rest = rest.trim();
        Some(match kind {
            "register" => register(rest),
            "firmware" => firmware(rest).map(DevicePlace::Firmware),
            "draw" => number(rest, "a draw").map(DevicePlace::Draw),
            "primitive" => primitive(rest),
            "pixel" => pixel(rest),
            _ => return None,
        })
    }

    /// Whether it stops behind an event: the lanes that it is about, which are none of what no lane does.
    pub fn meets(&self, event: &DeviceEvent) -> Option<u64> {
        let all = |is_met: bool| is_met.then_some(0);
        match (self, event) {
            (DevicePlace::Register(name, kind), DeviceEvent::Register { offset, writes, .. }) => {
                let kind = match kind {
                    WatchKind::Write => *writes,
                    WatchKind::Read => !*writes,
                    WatchKind::Both => true,
                };
                all(kind && name.is_at(*offset))
            }
            (DevicePlace::Firmware(name), DeviceEvent::Firmware(event)) => all(name.is(event)),
            (DevicePlace::Draw(wanted), DeviceEvent::Draw { number, .. }) => all(wanted == number),
            (
                DevicePlace::Draw(wanted),
                DeviceEvent::Fragments {
                    draw, begins_draw, ..
                },
            ) => all(*begins_draw && wanted == draw),
            (
                DevicePlace::Primitive { draw, primitive },
                DeviceEvent::Fragments {
                    draw: of,
                    primitive: own,
                    begins_primitive,
                    ..
                },
            ) => all(*begins_primitive && (draw, primitive) == (of, own)),
            (DevicePlace::Pixel { at, sample }, DeviceEvent::Fragments { lanes, .. }) => {
                let is_met = |own: &eitri_model::StartedFragment| {
                    let covers = match (sample, own.sample) {
                        (None, _) => own.coverage != 0,
                        (Some(wanted), Some(own)) => *wanted == own,
                        (Some(wanted), None) => {
                            own.coverage.checked_shr(u32::from(*wanted)).unwrap_or(0) & 1 != 0
                        }
                    };
                    own.pixel == *at && own.coverage != 0 && covers
                };
                let lanes = lanes.iter().enumerate().filter(|(_, own)| is_met(own));
                let lanes = lanes.fold(0, |lanes, (lane, _)| lanes | 1 << lane);
                (lanes != 0).then_some(lanes)
            }
            _ => None,
        }
    }
}

impl std::fmt::Display for DevicePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DevicePlace::Register(name, kind) => {
                write!(f, "register {}", name.row.name)?;
                if let Some(index) = name.index {
                    write!(f, "[{index}]")?;
                }
                f.write_str(match kind {
                    WatchKind::Write => " write",
                    WatchKind::Read => " read",
                    WatchKind::Both => "",
                })
            }
            DevicePlace::Firmware(FirmwareName { word, field }) => match word {
                Some(word) => write!(f, "firmware {word}.{field}"),
                None => write!(f, "firmware {field}"),
            },
            DevicePlace::Draw(number) => write!(f, "draw {number}"),
            DevicePlace::Primitive { draw, primitive } => {
                write!(f, "primitive {draw}.{primitive}")
            }
            DevicePlace::Pixel {
                at: [x, y],
                sample: None,
            } => write!(f, "pixel {x},{y}"),
            DevicePlace::Pixel {
                at: [x, y],
                sample: Some(sample),
            } => write!(f, "pixel {x},{y},{sample}"),
        }
    }
}

impl RegisterName {
    fn is_at(&self, offset: u32) -> bool {
        let found = at_offset(offset);
        found.is_some_and(|found| {
            found.register == self.row && self.index.is_none_or(|index| index == found.index)
        })
    }
}

impl FirmwareName {
    fn is(&self, event: &FirmwareEvent) -> bool {
        self.field == event.field.name && self.word.is_none_or(|word| word == event.word)
    }
}

fn number<N: std::str::FromStr>(text: &str, what: &str) -> Result<N, String> {
    let wrong = |_| format!("`{text}` is not the number of {what}");
    text.trim().parse().map_err(wrong)
}

fn register(text: &str) -> Result<DevicePlace, String> {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let kind = match words.next() {
        None => WatchKind::Both,
        Some("read") => WatchKind::Read,
        Some("write") => WatchKind::Write,
        Some(other) => return Err(format!("`{other}` is neither `read` nor `write`")),
    };
    if let Some(more) = words.next() {
        return Err(format!(
            "`{more}` is too much: a condition begins with `if`"
        ));
    }
    let Some(Topic::Register { block, register }) = explain::find(name) else {
        return Err(format!("no register is called `{name}`"));
    };
    if block.place != Place::Window {
        return Err(format!(
            "{} is a word in memory, not a register: its events are `firmware` ones",
            register.name
        ));
    }
    // A name without a number means all of them.
    let is_one = register.count > 1 && !register.name.eq_ignore_ascii_case(name);
    let index = is_one.then(|| at_offset(register.offset).map_or(0, |found| found.index));
    let name = RegisterName {
        row: register,
        index,
    };
    Ok(DevicePlace::Register(name, kind))
}

fn firmware(text: &str) -> Result<FirmwareName, String> {
    let (word, field) = match text.split_once('.') {
        Some((word, field)) => (Some(word), field),
        None => (None, text),
    };
    let word = match word {
        None => None,
        Some(name) => {
            let found = WORDS.into_iter().find(|own| own.eq_ignore_ascii_case(name));
            let none = || {
                let words = WORDS.join(", ");
                format!("`{name}` is no word of firmware events; there are {words}")
            };
            Some(found.ok_or_else(none)?)
        }
    };
    let words = WORDS
        .into_iter()
        .filter(|own| word.is_none_or(|word| word == *own));
    let mut fields = words.flat_map(fields_of);
    let found = fields.find(|own| own.name.eq_ignore_ascii_case(field));
    let none = || format!("no request or event of the firmware is called `{text}`");
    let field = found.ok_or_else(none)?.name;
    Ok(FirmwareName { word, field })
}

fn primitive(text: &str) -> Result<DevicePlace, String> {
    let wrong = || format!("`{text}` is no primitive of a draw, such as 3.0");
    let (draw, primitive) = text.split_once('.').ok_or_else(wrong)?;
    Ok(DevicePlace::Primitive {
        draw: number(draw, "a draw")?,
        primitive: number(primitive, "a primitive")?,
    })
}

fn pixel(text: &str) -> Result<DevicePlace, String> {
    let parts: Vec<&str> = text.split(',').collect();
    let (x, y, sample) = match parts.as_slice() {
        [x, y] => (x, y, None),
        [x, y, sample] => (x, y, Some(number(sample, "a sample")?)),
        _ => {
            return Err(format!(
                "`{text}` is no pixel: it has a column and a row, such as 12,40"
            ));
        }
    };
    Ok(DevicePlace::Pixel {
        at: [number(x, "a column")?, number(y, "a row")?],
        sample,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let parsed = DevicePlace::parse(text).expect("one of the words");
        match (parsed, expected) {
            (Ok(place), Ok(expected)) => assert_eq!(place.to_string(), expected, "{text}"),
            (Err(why), Err(part)) => assert!(why.contains(part), "{text}: {why}"),
            (got, _) => panic!("{text}: {got:?}"),
        }
    }

    #[test]
    fn places_are_named_as_the_tables_name_them() {
        check("register gpu_command", Ok("register GPU_COMMAND"));
        check("register AS_COMMAND write", Ok("register AS_COMMAND write"));
        check("register AS3_STATUS read", Ok("register AS_STATUS[3] read"));
        check("register DOORBELL[0]", Ok("register DOORBELL[0]"));
        check("register GPU_COMAND", Err("no register is called"));
        check("register GLB_REQ", Err("a word in memory"));
        check("register GPU_COMMAND often", Err("neither `read` nor"));
        check("firmware ping", Ok("firmware PING"));
        check("firmware csg_ack.idle", Ok("firmware CSG_ACK.IDLE"));
        check("firmware CS_ACK.PING", Err("no request or event"));
        check("firmware GLB.PING", Err("no word of firmware events"));
        check("draw 12", Ok("draw 12"));
        check("draw twelve", Err("not the number of a draw"));
        check("primitive 1.7", Ok("primitive 1.7"));
        check("primitive 1", Err("such as 3.0"));
        check("pixel 3, 4", Ok("pixel 3,4"));
        check("pixel 3,4,2", Ok("pixel 3,4,2"));
        check("pixel 3", Err("a column and a row"));
        assert_eq!(DevicePlace::parse("main"), None);
        assert_eq!(DevicePlace::parse("draws 3"), None);
    }

    #[test]
    fn a_register_without_a_number_is_each_of_them() {
        let meets = |text: &str, offset| {
            let place = DevicePlace::parse(text).unwrap().unwrap();
            let event = DeviceEvent::Register {
                offset,
                value: 1,
                writes: true,
            };
            place.meets(&event).is_some()
        };
        let at = |index| {
            let row = explain::register("AS_COMMAND").unwrap();
            row.at(index).offset
        };
        assert!(meets("register AS_COMMAND", at(0)) && meets("register AS_COMMAND", at(5)));
        assert!(meets("register AS5_COMMAND", at(5)) && !meets("register AS5_COMMAND", at(0)));
        assert!(meets("register AS0_COMMAND", at(0)) && !meets("register AS0_COMMAND", at(5)));
        assert!(!meets("register AS_COMMAND read", at(0)));
    }
}
