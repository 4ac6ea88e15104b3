//! Varyings that lie at one place for all lanes: their numbers are converted once, and each lane's weights serve all components.
//!
//! Guarantees: values are those of components that are evaluated one by one.

use super::super::float::{wide16, wide32};
use super::super::stage::Geometry;
use super::varying::{Stored, Value};
use super::vertices::VertexBits;
use crate::raster::Point;
use eitri_isa::values::{RegisterFormat, SourceFormat};

/// A varying whose stored bits are known, those of all lanes.
pub(super) struct SharedVarying {
    bits: VertexBits,
    /// The numbers that the bits are, but of a flat varying.
    numbers: [[f64; 3]; 4],
}

impl SharedVarying {
    pub(super) fn of(format: SourceFormat, bits: VertexBits) -> SharedVarying {
        let numbers = bits.map(|bits| {
            bits.map(|bits| match format {
                SourceFormat::F32 => wide32(bits),
                _ => wide16(bits as u16),
            })
        });
        SharedVarying { bits, numbers }
    }

    /// Its components at a point.
    pub(super) fn evaluate(
        &self,
        geometry: &Geometry,
        (stored, register): (Stored, RegisterFormat),
        point: Point,
        values: &mut [Value],
    ) {
        if stored.is_flat() {
            let vertex = geometry.provoking;
            for (value, bits) in values.iter_mut().zip(&self.bits) {
                *value = stored.flat(bits.get(vertex).copied().unwrap_or(0), register);
            }
            return;
        }
        let Some(primitive) = &geometry.primitive else {
            values.fill(Value::Number(0.0));
            return;
        };
        let vertices = geometry.vertices.min(3);
        let weights = primitive.weights(point);
        let total = weights.perspective_total();
        for (value, numbers) in values.iter_mut().zip(&self.numbers) {
            let number = weights.perspective_over(&numbers[..vertices], total);
            *value = Value::Number(number);
        }
    }
}
