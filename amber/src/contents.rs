//! What a buffer holds before the first command: language reference, section 7.

#[cfg(feature = "host")]
mod files;

#[cfg(feature = "host")]
pub(crate) use files::read;
#[cfg(feature = "host")]
pub use files::{ContentsError, Files, FillError};

use crate::literal::Literal;
use crate::script::{Buffer, Contents};
use crate::types::Element;
use alloc::vec::Vec;

/// The first bytes of a buffer; none where nothing gives it a size. A file has been read before: [`read`].
pub(crate) fn initial(buffer: &Buffer) -> Vec<u8> {
    if let Contents::Bytes(bytes) = &buffer.contents {
        return bytes.clone();
    }
    let Some(elements) = buffer.elements else {
        return Vec::new();
    };
    // The parser has bounded the length by MAX_BYTES.
    let elements = usize::try_from(elements).unwrap_or(0);
    let mut bytes = vec![0; elements.saturating_mul(buffer.element.stride)];
    match &buffer.contents {
        Contents::None | Contents::File { .. } | Contents::Bytes(_) => {}
        Contents::Data(values) => store(&buffer.element, values.iter().copied(), 0, &mut bytes),
        Contents::Fill(value) => {
            let count = elements.saturating_mul(buffer.element.components.len());
            store(
                &buffer.element,
                core::iter::repeat_n(*value, count),
                0,
                &mut bytes,
            );
        }
        Contents::Series { from, by } => {
            store(
                &buffer.element,
                series(&buffer.element, *from, *by).take(elements),
                0,
                &mut bytes,
            );
        }
    }
    bytes
}

/// `from`, `from + by`, `from + 2 by` ...: integers modulo 2^64, floats added up in double precision.
fn series(element: &Element, from: Literal, by: Literal) -> impl Iterator<Item = Literal> {
    let is_float = element
        .components
        .iter()
        .any(|component| component.scalar.is_float());
    let bits = |literal: Literal| literal.as_bits().unwrap_or(literal.as_f64() as i64 as u64);
    let (mut sum, step) = (from.as_f64(), by.as_f64());
    let (mut bits_sum, bits_step) = (bits(from), bits(by));
    core::iter::repeat_with(move || {
        let value = match is_float {
            true => Literal::Float(sum),
            false => Literal::Hex(bits_sum),
        };
        sum += step;
        bits_sum = bits_sum.wrapping_add(bits_step);
        value
    })
}

/// Stores values one component after the other from byte `offset` on; what is beyond the end is lost.
pub(crate) fn store(
    element: &Element,
    values: impl Iterator<Item = Literal>,
    offset: usize,
    bytes: &mut [u8],
) {
    for (index, value) in values.enumerate() {
        let Some((scalar, at)) = element.place(index) else {
            return;
        };
        let start = offset.saturating_add(at);
        if let Some(to) = bytes.get_mut(start..start.saturating_add(scalar.bytes())) {
            scalar.store(value, to);
        }
    }
}

#[cfg(all(test, feature = "host"))]
mod tests;
