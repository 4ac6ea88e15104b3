//! Fields: how those are read that are more than a number, and what is there where a file leaves one out.

use crate::board::Gic;
use crate::region::{Region, RegisterBase};
use crate::uart::{Kind, Width};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text that stays.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    String::deserialize(from).map(|text| &*text.leak())
}

/// Several.
pub(crate) fn texts<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<&'static [&'static str], D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    let texts: Vec<&'static str> = texts.into_iter().map(|text| &*text.leak()).collect();
    Ok(texts.leak())
}

/// A list that stays.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<&'static [T], D::Error> {
    Vec::deserialize(from).map(|list| &*list.leak())
}

/// One thing that stays, by reference.
pub(crate) fn one<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<&'static T, D::Error> {
    T::deserialize(from).map(|one| &*Box::leak(Box::new(one)))
}

/// A reference, as Rust writes one.
pub(crate) fn reference<S: Serializer, T: Serialize>(one: &&T, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_newtype_struct(super::source::REFERENCE, *one)
}

/// A time, such as `10 ms`.
pub(crate) mod time {
    use super::{Deserialize, Deserializer, Duration, Serializer, String, de, format};

    /// The units that there are, in nanoseconds.
    const UNITS: [(&str, u64); 4] = [
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
    ];

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(from)?;
        parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` is no time: wanted one such as `10 ms`, in ns, us, ms or s"
            ))
        })
    }

    pub(super) fn parse(text: &str) -> Option<Duration> {
        let digits = text.find(|character: char| !character.is_ascii_digit())?;
        let (number, unit) = text.split_at(digits);
        let (_, nanoseconds) = UNITS.iter().find(|(name, _)| *name == unit.trim_start())?;
        let number: u64 = number.parse().ok()?;
        number.checked_mul(*nanoseconds).map(Duration::from_nanos)
    }

    pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        to.serialize_newtype_struct("Duration::from_nanos", &nanoseconds)
    }
}

/// What a region is written as.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Numbers {
    base: usize,
    bytes: usize,
}

impl TryFrom<Numbers> for Region {
    type Error = &'static str;

    fn try_from(numbers: Numbers) -> Result<Region, &'static str> {
        let Numbers { base, bytes } = numbers;
        let region = Region { base, bytes };
        if !region.is_whole(4096) {
            return Err("no whole pages of 4096 bytes");
        }
        match base.checked_add(bytes) {
            Some(end) if end <= MOST => Ok(region),
            _ => Err("beyond what a CPU can address"),
        }
    }
}

/// The fields of `gic` in a board's file, of either version.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GicFields {
    distributor: RegisterBase,
    redistributors: Option<RegisterBase>,
    cpus: Option<usize>,
    cpu_interface: Option<RegisterBase>,
}

impl TryFrom<GicFields> for Gic {
    type Error = &'static str;

    fn try_from(fields: GicFields) -> Result<Gic, &'static str> {
        let distributor = fields.distributor;
        match (fields.redistributors, fields.cpus, fields.cpu_interface) {
            (Some(redistributors), Some(cpus), None) => Ok(Gic::V3 {
                distributor,
                redistributors,
                cpus,
            }),
            (None, None, Some(cpu_interface)) => Ok(Gic::V2 {
                distributor,
                cpu_interface,
            }),
            _ => Err(
                "a GIC of version 3 has `redistributors` and `cpus`, one of version 2 has `cpu_interface`",
            ),
        }
    }
}

/// An AArch64 CPU has no more than 52 bits of address.
const MOST: usize = 1 << 52;

impl<'de> Deserialize<'de> for RegisterBase {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RegisterBase, D::Error> {
        let address = usize::deserialize(from)?;
        RegisterBase::checked(address)
            .filter(|_| address < MOST)
            .ok_or_else(|| de::Error::custom("registers begin at a multiple of 4 that is not 0"))
    }
}

impl Serialize for RegisterBase {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_newtype_struct("RegisterBase::new", &self.address())
    }
}

/// The kinds of UART that have a name.
const KINDS: [(&str, Kind); 2] = [("dw8250", Kind::DW8250), ("lpuart", Kind::LPUART)];

/// A kind's own fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KindFields {
    data: usize,
    status: usize,
    room: u32,
    sent: Option<u32>,
    interrupts: Option<usize>,
    width: Width,
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Kind, D::Error> {
        struct NameOrFields;

        impl<'de> Visitor<'de> for NameOrFields {
            type Value = Kind;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"dw8250\", \"lpuart\", or a table of registers")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Kind, E> {
                let known = KINDS.iter().find(|(name, _)| *name == text);
                let unknown = || E::invalid_value(de::Unexpected::Str(text), &self);
                known.map(|(_, kind)| *kind).ok_or_else(unknown)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Kind, A::Error> {
                let fields = KindFields::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Kind {
                    data: fields.data,
                    status: fields.status,
                    room: fields.room,
                    sent: fields.sent.unwrap_or(fields.room),
                    interrupts: fields.interrupts,
                    width: fields.width,
                })
            }
        }

        from.deserialize_any(NameOrFields)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("Kind", 6)?;
        fields.serialize_field("data", &self.data)?;
        fields.serialize_field("status", &self.status)?;
        fields.serialize_field("room", &self.room)?;
        fields.serialize_field("sent", &self.sent)?;
        fields.serialize_field("interrupts", &self.interrupts)?;
        fields.serialize_field("width", &self.width)?;
        fields.end()
    }
}

/// Numbers that are most boards'.
pub(crate) mod usual {
    /// The virtual timer's private interrupt: hardware/boards.md 1.
    pub(crate) const fn virtual_timer() -> u32 {
        11
    }

    /// The physical timer's: the same place.
    pub(crate) const fn physical_timer() -> u32 {
        14
    }

    /// The GPU's clock is what drivers expect.
    pub(crate) const fn slowdown() -> u32 {
        1
    }

    /// Nothing in a list.
    pub(crate) const fn nothing<T>() -> &'static [T] {
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        let parsed = |text| time::parse(text);
        assert_eq!(parsed("10 ms"), Some(Duration::from_millis(10)));
        assert_eq!(parsed("10us"), Some(Duration::from_micros(10)));
        for text in [
            "",
            "10",
            "ms",
            "-1 s",
            "1 h",
            "99999999999999999999 s",
            "18446744073709551615 s",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
