//! Whole buffers: same bytes, root of the mean square difference, distance of histograms. Language reference, section 11.3.

use crate::types::{Element, Number};

/// The first byte at which two buffers differ, and how many bytes do; a missing byte differs from any.
pub fn same_bytes(a: &[u8], b: &[u8]) -> Option<(usize, usize)> {
    let pairs = a.iter().zip(b);
    let extra = a.len().abs_diff(b.len());
    let differing = pairs.clone().filter(|(a, b)| a != b).count() + extra;
    let first = a.iter().zip(b).position(|(a, b)| a != b);
    (differing != 0).then(|| (first.unwrap_or(a.len().min(b.len())), differing))
}

/// The root of the mean square difference of all components; 0 for empty buffers.
pub fn rmse(element: &Element, a: &[u8], b: &[u8]) -> f64 {
    let elements = a
        .chunks_exact(element.stride)
        .zip(b.chunks_exact(element.stride));
    let mut sum = 0.0;
    let mut count = 0u64;
    for (a, b) in elements {
        for component in &element.components {
            let value = |bytes: &[u8]| {
                component
                    .scalar
                    .load(bytes.get(component.offset..).unwrap_or(&[]))
            };
            // The difference of integers is exact: 53 bits are not enough for those of 64.
            let difference = match (value(a), value(b)) {
                (Number::Signed(a), Number::Signed(b)) => (i128::from(a) - i128::from(b)) as f64,
                (Number::Unsigned(a), Number::Unsigned(b)) => {
                    (i128::from(a) - i128::from(b)) as f64
                }
                (a, b) => a.as_f64() - b.as_f64(),
            };
            sum += difference * difference;
            count += 1;
        }
    }
    match count {
        0 => 0.0,
        count => libm::sqrt(sum / count as f64),
    }
}

/// The earth mover's distance between the histograms of each of four channels of bytes: the largest.
pub fn histogram_distance(a: &[u8], b: &[u8]) -> f64 {
    const BINS: usize = 256;
    let histograms = |bytes: &[u8]| {
        let mut bins = vec![[0u64; BINS]; 4];
        for pixel in bytes.as_chunks::<4>().0 {
            for (bins, value) in bins.iter_mut().zip(pixel) {
                // A byte is less than the number of bins.
                if let Some(bin) = bins.get_mut(usize::from(*value)) {
                    *bin += 1;
                }
            }
        }
        bins
    };
    let pixels = |bytes: &[u8]| (bytes.len() / 4).max(1) as f64;
    let (pixels_a, pixels_b) = (pixels(a), pixels(b));
    let channels = histograms(a).into_iter().zip(histograms(b));
    let distances = channels.map(|(a, b)| {
        let mut moved = 0.0;
        let mut total = 0.0;
        for (a, b) in a.iter().zip(&b) {
            moved += *a as f64 / pixels_a - *b as f64 / pixels_b;
            total += f64::abs(moved);
        }
        total / BINS as f64
    });
    distances.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Layout, Numeric, Type};

    #[test]
    fn bytes_are_the_same_or_differ_somewhere() {
        assert_eq!(same_bytes(&[1, 2], &[1, 2]), None);
        assert_eq!(same_bytes(&[1, 2, 3], &[1, 9, 9]), Some((1, 2)));
        assert_eq!(same_bytes(&[1, 2], &[1]), Some((1, 1)));
    }

    #[test]
    fn rmse_skips_padding_and_has_a_sign() {
        let element = Type::Numeric(Numeric::named("vec3<uint8>").unwrap());
        let element = element.element(Layout::Std430).unwrap();
        // Differences 3, -4, 0; the fourth byte is padding.
        let difference = rmse(&element, &[5, 0, 7, 1], &[2, 4, 7, 200]);
        assert!(
            (difference - (25.0f64 / 3.0).sqrt()).abs() < 1e-12,
            "{difference}"
        );
        assert_eq!(rmse(&element, &[], &[]), 0.0);
    }

    #[test]
    fn histograms_are_as_far_apart_as_their_values() {
        let pixel = |value: u8| [value, 0, 0, 255].repeat(10);
        assert_eq!(histogram_distance(&pixel(7), &pixel(7)), 0.0);
        let far = histogram_distance(&pixel(0), &pixel(64));
        assert!((far - 0.25).abs() < 1e-12, "{far}");
    }
}
