//! Results: contents of images and buffers when everything is done.

use crate::image_steps::{aspect_of, slice_bytes};
use crate::missing;
use crate::resources::{Made, parts};
use alloc::vec;
use alloc::vec::Vec;
use eitri_drawing::{Drawing, Readback};
use eitri_job::{Saved, WorkError};
use eitri_runtime::{Device, ImagePart, Platform};

/// Reads the results of a drawing; the first number of a result's place is its own.
pub(crate) fn read<P: Platform>(
    device: &mut Device<'_, '_, P>,
    drawing: &Drawing<'_>,
    made: &Made<'_>,
) -> Result<Vec<Saved>, WorkError> {
    let results = (0..).zip(&drawing.results);
    let saved = results.map(|(number, result)| {
        let bytes = one(device, made, result)?;
        let place = (number, 0, 0);
        Ok(Saved { place, bytes })
    });
    saved.collect()
}

/// Reads what one place holds.
pub(crate) fn one<P: Platform>(
    device: &mut Device<'_, '_, P>,
    made: &Made<'_>,
    result: &Readback,
) -> Result<Vec<u8>, WorkError> {
    match *result {
        Readback::Image {
            image,
            aspect,
            level,
            layer,
            layers,
        } => {
            let (image, info) = made.image(image)?;
            let part_bytes = slice_bytes(&info, aspect, level);
            let aspect = aspect_of(aspect);
            let mut bytes = Vec::new();
            for part in parts(&info, level, layer, layers) {
                let start = bytes.len();
                bytes.resize(start.saturating_add(part_bytes), 0);
                let here = bytes.get_mut(start..).unwrap_or(&mut []);
                device.read_image(image, ImagePart { aspect, ..part }, here)?;
            }
            Ok(bytes)
        }
        Readback::Buffer(range) => {
            let length = usize::try_from(range.bytes).unwrap_or(usize::MAX);
            let mut bytes = vec![0; length];
            device.read_buffer(made.buffer(range.buffer)?, range.offset, &mut bytes)?;
            Ok(bytes)
        }
        Readback::Query(query) => {
            let (pool, _) = made.query(query)?;
            let mut results = [None];
            device.query_results(pool, query.0, &mut results)?;
            let [result] = results;
            let result: u64 = result.ok_or_else(|| missing("result of a query"))?;
            Ok(result.to_le_bytes().to_vec())
        }
    }
}
