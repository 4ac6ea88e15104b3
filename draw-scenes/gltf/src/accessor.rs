//! Accessors: numbers in buffers, of any type, dense and sparse, as floats or as indices.
//!
//! Facts: glTF 2.0, "Accessors", "Sparse Accessors", "Animations" (how normalised integers become floats).

use crate::error::Fault;
use crate::file::Buffers;
use gltf::accessor::sparse::IndexType;
use gltf::accessor::{Accessor, DataType, Dimensions};
use gltf::buffer::View;

/// Most elements of an accessor.
const MAX_COUNT: usize = 1 << 24;

/// The elements of an accessor as floats, `N` each.
pub(crate) fn floats<const N: usize>(
    buffers: &Buffers<'_>,
    accessor: &Accessor<'_>,
) -> Result<Vec<[f32; N]>, Fault> {
    let elements = Elements::read(buffers, accessor, N)?;
    let number = number(accessor.data_type(), accessor.normalized());
    let width = accessor.data_type().size();
    let element = |element: &[u8]| {
        let mut parts = element.chunks_exact(width).map(number);
        std::array::from_fn(|_| parts.next().unwrap_or(0.0))
    };
    let floats: Vec<[f32; N]> = elements
        .bytes
        .chunks_exact(width * N)
        .map(element)
        .collect();
    match floats.iter().flatten().all(|number| number.is_finite()) {
        true => Ok(floats),
        false => Err(fault(accessor, "holds a number that is not finite")),
    }
}

/// Numbers of elements of an accessor: 3 or 4 of colours.
pub(crate) fn width(accessor: &Accessor<'_>) -> usize {
    accessor.dimensions().multiplicity()
}

/// The elements of an accessor as indices.
pub(crate) fn indices(buffers: &Buffers<'_>, accessor: &Accessor<'_>) -> Result<Vec<u32>, Fault> {
    let elements = Elements::read(buffers, accessor, 1)?;
    match accessor.data_type() {
        DataType::U8 | DataType::U16 | DataType::U32 => {}
        _ => return Err(fault(accessor, "holds no indices")),
    }
    let width = accessor.data_type().size();
    Ok(elements.bytes.chunks_exact(width).map(unsigned).collect())
}

/// Elements one after the other, without gaps.
struct Elements {
    bytes: Vec<u8>,
}

impl Elements {
    fn read(
        buffers: &Buffers<'_>,
        accessor: &Accessor<'_>,
        wanted: usize,
    ) -> Result<Elements, Fault> {
        let found = width(accessor);
        // Columns of matrices have gaps, which nothing that is drawn has.
        let is_vector = !matches!(
            accessor.dimensions(),
            Dimensions::Mat2 | Dimensions::Mat3 | Dimensions::Mat4
        );
        if found != wanted || !is_vector {
            let what = format!("has {found} numbers an element, not {wanted}");
            return Err(fault(accessor, &what));
        }
        let (count, size) = (accessor.count(), accessor.size());
        if count > MAX_COUNT {
            return Err(fault(accessor, "has too many elements"));
        }
        let mut bytes = match accessor.view() {
            Some(view) => dense(buffers, &view, accessor.offset(), (count, size))?
                .ok_or_else(|| fault(accessor, "ends behind its buffer view"))?,
            // Without a view it is zero, but for what is sparse.
            None => vec![0; count * size],
        };
        if let Some(sparse) = accessor.sparse() {
            let short = || {
                fault(
                    accessor,
                    "has sparse parts that end behind their buffer view",
                )
            };
            let (places, values) = (sparse.indices(), sparse.values());
            let wide = match places.index_type() {
                IndexType::U8 => 1,
                IndexType::U16 => 2,
                IndexType::U32 => 4,
            };
            let count = sparse.count();
            if count > MAX_COUNT {
                return Err(fault(accessor, "has too many sparse elements"));
            }
            let at = dense(buffers, &places.view(), places.offset(), (count, wide))?;
            let at = at.ok_or_else(short)?;
            let new = dense(buffers, &values.view(), values.offset(), (count, size))?;
            let new = new.ok_or_else(short)?;
            for (index, value) in at.chunks_exact(wide).zip(new.chunks_exact(size)) {
                let start = (unsigned(index) as usize).saturating_mul(size);
                let place = bytes.get_mut(start..start.saturating_add(size));
                let place = place
                    .ok_or_else(|| fault(accessor, "has a sparse index behind its last element"))?;
                place.copy_from_slice(value);
            }
        }
        Ok(Elements { bytes })
    }
}

/// `count` elements of `size` bytes in a view; nothing if they leave it.
fn dense(
    buffers: &Buffers<'_>,
    view: &View<'_>,
    offset: usize,
    (count, size): (usize, usize),
) -> Result<Option<Vec<u8>>, Fault> {
    let bytes = buffers.view(view)?;
    let stride = view.stride().unwrap_or(size);
    let element = |index: usize| {
        let start = index.checked_mul(stride)?.checked_add(offset)?;
        bytes.get(start..start.checked_add(size)?)
    };
    let elements: Option<Vec<&[u8]>> = (0..count).map(element).collect();
    Ok(elements.map(|elements| elements.concat()))
}

fn fault(accessor: &Accessor<'_>, what: &str) -> Fault {
    Fault::invalid(format!("accessors[{}] {what}", accessor.index()))
}

/// An integer of up to four bytes.
fn unsigned(bytes: &[u8]) -> u32 {
    let parts = bytes.iter().rev();
    parts.fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// How a number of a type becomes a float.
fn number(kind: DataType, normalised: bool) -> fn(&[u8]) -> f32 {
    match (kind, normalised) {
        (DataType::F32, _) => |bytes| f32::from_bits(unsigned(bytes)),
        (DataType::I8, false) => |bytes| f32::from(unsigned(bytes) as u8 as i8),
        (DataType::I16, false) => |bytes| f32::from(unsigned(bytes) as u16 as i16),
        (DataType::I8, true) => |bytes| (f32::from(unsigned(bytes) as u8 as i8) / 127.0).max(-1.0),
        (DataType::I16, true) => {
            |bytes| (f32::from(unsigned(bytes) as u16 as i16) / 32767.0).max(-1.0)
        }
        (DataType::U8, true) => |bytes| unsigned(bytes) as f32 / 255.0,
        (DataType::U16, true) => |bytes| unsigned(bytes) as f32 / 65535.0,
        (DataType::U8 | DataType::U16 | DataType::U32, _) => |bytes| unsigned(bytes) as f32,
    }
}
