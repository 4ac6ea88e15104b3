//! `EXPECT`, on the bytes that buffers hold now.

use super::Memory;
use crate::compare::{self, PixelMismatch, ValueMismatch, difference};
use crate::error::Problem;
use crate::plan::Plan;
use crate::script::{Buffer, BufferId, Expectation, PixelProbe};
use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

/// What differs from what a script expects.
#[derive(Clone, Debug, PartialEq)]
pub enum Mismatch {
    /// Values.
    Values {
        /// The buffer.
        name: String,
        /// The first value that differs.
        first: ValueMismatch,
    },
    /// Pixels.
    Pixels {
        /// The buffer.
        buffer: BufferId,
        /// Its name.
        name: String,
        /// The first pixel that differs.
        first: PixelMismatch,
        /// What was looked for.
        probe: PixelProbe,
    },
    /// Bytes of two buffers.
    Bytes {
        /// The buffer.
        buffer: BufferId,
        /// The buffer that it should be like.
        other: BufferId,
        /// Their names.
        names: [String; 2],
        /// The first component that differs, as a person reads it.
        first: String,
        /// Bytes that differ.
        count: usize,
    },
    /// A measure of two buffers.
    Distance {
        /// The buffer.
        buffer: BufferId,
        /// The buffer that it should be like.
        other: BufferId,
        /// Their names.
        names: [String; 2],
        /// What was measured.
        what: &'static str,
        /// How much it is.
        found: f64,
        /// The most that it may be.
        most: f64,
    },
}

impl Mismatch {
    /// The buffers that were compared, where there are two.
    pub fn pair(&self) -> Option<(BufferId, BufferId)> {
        match self {
            Mismatch::Bytes { buffer, other, .. } | Mismatch::Distance { buffer, other, .. } => {
                Some((*buffer, *other))
            }
            Mismatch::Values { .. } | Mismatch::Pixels { .. } => None,
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Values { name, first } => write!(f, "{name}: {first}"),
            Mismatch::Pixels { name, first, .. } => write!(f, "{name}: {first}"),
            Mismatch::Bytes {
                names: [a, b],
                first,
                count,
                ..
            } => write!(f, "{a} is not {b}: {first} ({count} bytes differ)"),
            Mismatch::Distance {
                names: [a, b],
                what,
                found,
                most,
                ..
            } => write!(
                f,
                "the {what} between {a} and {b} is {found}, more than {most}"
            ),
        }
    }
}

/// Two buffers, and what they hold.
struct Pair<'a> {
    ids: [BufferId; 2],
    buffers: [&'a Buffer; 2],
    bytes: [&'a [u8]; 2],
}

impl Pair<'_> {
    fn names(&self) -> [String; 2] {
        self.buffers.map(|buffer| buffer.name.clone())
    }
}

/// What differs; none if the expectation holds.
pub(super) fn check(
    plan: &Plan,
    expectation: &Expectation,
    memory: &Memory,
) -> Result<Option<Mismatch>, Problem> {
    Ok(match expectation {
        Expectation::Values {
            buffer,
            offset,
            comparator,
            tolerance,
            values,
        } => {
            let (buffer, host) = one(plan, memory, *buffer)?;
            let length = host.bytes.len() as u64;
            compare::check_place(buffer, Some(length), *offset, values.len())?;
            let first = compare::values(
                &buffer.element,
                &host.bytes,
                *offset as usize,
                *comparator,
                *tolerance,
                values,
            );
            first.map(|first| Mismatch::Values {
                name: buffer.name.clone(),
                first,
            })
        }
        Expectation::Pixels(probe) => {
            let (buffer, host) = one(plan, memory, probe.buffer)?;
            compare::check_rectangle(buffer, host.size, probe)?;
            check_picture(buffer, host)?;
            let first = compare::probe(buffer, &host.bytes, host.size.0, probe);
            first.map(|first| Mismatch::Pixels {
                buffer: probe.buffer,
                name: buffer.name.clone(),
                first,
                probe: probe.clone(),
            })
        }
        Expectation::Same { buffer, other } => {
            let pair = pair(plan, memory, *buffer, *other)?;
            let [a, b] = pair.bytes;
            compare::same_bytes(a, b).map(|(at, count)| Mismatch::Bytes {
                buffer: *buffer,
                other: *other,
                names: pair.names(),
                first: component_at(&pair, at),
                count,
            })
        }
        Expectation::Rmse {
            buffer,
            other,
            most,
        } => {
            let pair = pair(plan, memory, *buffer, *other)?;
            let [a, b] = pair.bytes;
            let found = compare::rmse(&pair.buffers[0].element, a, b);
            distance(&pair, "root mean square difference", found, *most)
        }
        Expectation::HistogramEmd {
            buffer,
            other,
            most,
        } => {
            let pair = pair(plan, memory, *buffer, *other)?;
            let [a, b] = pair.bytes;
            distance(
                &pair,
                "earth mover's distance of histograms",
                compare::histogram_distance(a, b),
                *most,
            )
        }
    })
}

/// A distance that is too large, or no number.
fn distance(pair: &Pair<'_>, what: &'static str, found: f64, most: f64) -> Option<Mismatch> {
    let [buffer, other] = pair.ids;
    (found.is_nan() || found > most).then(|| Mismatch::Distance {
        buffer,
        other,
        names: pair.names(),
        what,
        found,
        most,
    })
}

fn one<'a>(
    plan: &'a Plan,
    memory: &'a Memory,
    id: BufferId,
) -> Result<(&'a Buffer, &'a super::HostBuffer), Problem> {
    let found = plan.buffer(id).zip(memory.get(id));
    found.ok_or(Problem::Empty { what: "buffer" })
}

/// A picture has as many bytes as its size says.
fn check_picture(buffer: &Buffer, host: &super::HostBuffer) -> Result<(), Problem> {
    let pixels = u64::from(host.size.0) * u64::from(host.size.1);
    let wanted = pixels.saturating_mul(buffer.element.stride as u64);
    match host.bytes.len() as u64 >= wanted {
        true => Ok(()),
        false => Err(Problem::OutOfBounds {
            what: "a picture of its size".to_owned(),
            buffer: buffer.name.clone(),
            length: format!("{} bytes", host.bytes.len()),
        }),
    }
}

fn pair<'a>(
    plan: &'a Plan,
    memory: &'a Memory,
    a: BufferId,
    b: BufferId,
) -> Result<Pair<'a>, Problem> {
    let (buffer_a, host_a) = one(plan, memory, a)?;
    let (buffer_b, host_b) = one(plan, memory, b)?;
    let differs = difference(buffer_a, buffer_b).or({
        if host_a.bytes.len() != host_b.bytes.len() {
            Some("they have different numbers of elements")
        } else if host_a.size != host_b.size {
            Some("their widths or heights differ")
        } else {
            None
        }
    });
    match differs {
        Some(difference) => Err(Problem::NotComparable {
            a: buffer_a.name.clone(),
            b: buffer_b.name.clone(),
            difference,
        }),
        None => Ok(Pair {
            ids: [a, b],
            buffers: [buffer_a, buffer_b],
            bytes: [&host_a.bytes, &host_b.bytes],
        }),
    }
}

/// The component that byte `at` belongs to, with both its values; padding as bytes.
fn component_at(pair: &Pair<'_>, at: usize) -> String {
    let [a, b] = pair.bytes;
    let element = &pair.buffers[0].element;
    let stride = element.stride.max(1);
    let (index, within) = (at / stride, at % stride);
    let start = at - within;
    let component = element
        .components
        .iter()
        .enumerate()
        .find(|(_, component)| {
            (component.offset..component.offset + component.scalar.bytes()).contains(&within)
        });
    match component {
        Some((number, component)) => {
            let value = |bytes: &[u8]| {
                component
                    .scalar
                    .load(bytes.get(start + component.offset..).unwrap_or(&[]))
            };
            let scalar = crate::words::Word::text(component.scalar);
            let byte = start + component.offset;
            let (a, b) = (value(a), value(b));
            format!("{scalar} {a}, not {b}, in element {index}, component {number}, byte {byte}")
        }
        None => {
            let byte = |bytes: &[u8]| bytes.get(at).copied().unwrap_or(0);
            format!(
                "padding byte {:#04x}, not {:#04x}, in element {index}, byte {at}",
                byte(a),
                byte(b)
            )
        }
    }
}
