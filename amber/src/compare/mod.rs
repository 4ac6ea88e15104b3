//! Comparisons: what `EXPECT` means. Language reference, section 11.

mod pixels;
mod values;
mod whole;

pub use pixels::{PixelMismatch, color, probe};
pub use values::{ValueMismatch, values};
pub use whole::{histogram_distance, rmse, same_bytes};

use crate::error::Problem;
use crate::script::{Buffer, PixelProbe, Tolerance};
#[cfg(feature = "host")]
use crate::types::Type;

/// Whether two numbers are as close as a tolerance allows; NaN is close to NaN only,
/// an infinity to itself only. A percentage is of `reference`.
fn is_close(a: f64, b: f64, tolerance: Tolerance, reference: f64) -> bool {
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    if a.is_infinite() || b.is_infinite() {
        return a == b;
    }
    let difference = (a - b).abs();
    let most = match tolerance {
        Tolerance::Absolute(most) => most,
        Tolerance::Percent(percent) => percent / 100.0 * reference.abs(),
    };
    difference <= most
}

/// Whether a histogram can be made of a buffer: four channels of eight unsigned bits.
#[cfg(feature = "host")]
pub(crate) fn has_histogram(ty: &Type) -> bool {
    match ty {
        Type::Format(format) => format.is_four_bytes(),
        Type::Numeric(numeric) => {
            let is_byte = numeric.scalar == crate::types::Scalar::Uint8;
            is_byte && (numeric.columns, numeric.rows) == (1, 4)
        }
        Type::Struct(_) => false,
    }
}

/// Whether `count` values from `offset` on are whole elements within a buffer of `bytes`, where that is known.
pub(crate) fn check_place(
    buffer: &Buffer,
    bytes: Option<u64>,
    offset: u64,
    count: usize,
) -> Result<(), Problem> {
    let stride = buffer.element.stride as u64;
    if !offset.is_multiple_of(stride) {
        return Err(Problem::Misaligned { offset, stride });
    }
    let elements = count.div_ceil(buffer.element.components.len().max(1)) as u64;
    let end = elements
        .checked_mul(stride)
        .and_then(|length| length.checked_add(offset));
    match bytes {
        Some(bytes) if end.is_none_or(|end| end > bytes) => Err(Problem::OutOfBounds {
            what: format!("{count} values at byte {offset}"),
            buffer: buffer.name.clone(),
            length: format!("{bytes} bytes"),
        }),
        _ => Ok(()),
    }
}

/// Whether a probed rectangle lies within a picture of this size.
pub(crate) fn check_rectangle(
    buffer: &Buffer,
    size: (u32, u32),
    probe: &PixelProbe,
) -> Result<(), Problem> {
    let [x, y] = probe.origin.map(u64::from);
    let [width, height] = probe.size.map(u64::from);
    match x + width <= size.0.into() && y + height <= size.1.into() {
        true => Ok(()),
        false => Err(Problem::OutOfBounds {
            what: format!("a rectangle of {width} x {height} pixels at {x}, {y}"),
            buffer: buffer.name.clone(),
            length: format!("{} x {} pixels", size.0, size.1),
        }),
    }
}

/// Why two buffers can't be compared, as far as the text says.
pub(crate) fn difference(a: &Buffer, b: &Buffer) -> Option<&'static str> {
    let is_known = a.elements.is_some() && b.elements.is_some();
    if !a.ty.same_as(&b.ty) {
        Some("their types differ")
    } else if a.layout != b.layout && a.element != b.element {
        Some("their layouts differ")
    } else if is_known && a.elements != b.elements {
        Some("they have different numbers of elements")
    } else if is_known && a.size != b.size {
        Some("their widths or heights differ")
    } else {
        None
    }
}
