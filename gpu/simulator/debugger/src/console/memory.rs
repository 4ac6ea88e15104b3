//! Bytes of memories by their names: shown, and watched.
use super::Console;
use super::commands::{Done, number};
use crate::execution::{Execution, Object};
use crate::value::Node;

/// Bytes of a memory, as a person names them.
struct MemoryPlace {
    name: String,
    object: Object,
    offset: u64,
    /// How many; none if that is not said.
    bytes: Option<u64>,
}

/// Bytes that are watched if nothing is said.
const WORD: u64 = 4;
/// Most bytes of a memory that are shown or watched.
const MOST_BYTES: u64 = 4096;

fn memory_place<E: Execution>(console: &Console<E>, rest: &str) -> Result<MemoryPlace, String> {
    let mut words = rest.split_whitespace();
    let place = words.next().unwrap_or_default();
    let (name, offset) = match place.split_once('+') {
        Some((name, offset)) => (name, number(offset, "a byte")?),
        None => (place, 0),
    };
    let bytes = words.next().map(|text| number(text, "bytes"));
    let bytes = bytes.transpose()?.map(|bytes| bytes.clamp(1, MOST_BYTES));
    let objects = console.session.now().objects();
    let name = if name.contains(':') || name.parse::<u32>().is_err() {
        name.to_owned()
    } else {
        format!("0:{name}")
    };
    let found = objects.iter().find(|(own, _)| *own == name);
    let names = || {
        let names: Vec<&str> = objects.iter().map(|(name, _)| name.as_str()).collect();
        format!("`{name}` is no memory; there are {}", names.join(", "))
    };
    let (_, object) = found.ok_or_else(names)?;
    Ok(MemoryPlace {
        object: *object,
        name,
        offset,
        bytes,
    })
}

pub(super) fn show<E: Execution>(console: &Console<E>, rest: &str) -> Done {
    let MemoryPlace {
        object,
        offset,
        bytes,
        ..
    } = memory_place(console, rest)?;
    let now = console.session.now();
    let bytes = now.read(object, offset, bytes.unwrap_or(64));
    let bytes = bytes.unwrap_or_default();
    let rows = bytes.chunks(16).enumerate().map(|(row, bytes)| {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{:#06x}  {}", offset + 16 * row as u64, digits.join(" "))
    });
    Ok(rows.collect::<Vec<_>>().join("\n"))
}

/// The bytes that a person wants to watch: `NAME+OFFSET [BYTES]`; none if that is not what stands there.
pub(super) fn watched<E: Execution>(console: &Console<E>, rest: &str) -> Option<Node> {
    let place = memory_place(console, rest).ok();
    let place = place.filter(|_| rest.contains('+'))?;
    let (object, offset) = (place.object, place.offset);
    let name = format!("{}+{offset:#x}", place.name);
    let bytes = place.bytes.unwrap_or(WORD);
    Some(Node::memory(name, object, offset, bytes))
}
