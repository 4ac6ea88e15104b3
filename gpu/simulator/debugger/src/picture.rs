//! Pictures of tiles and attachments: pixels for people.
use eitri_model::TileColor;

/// Pixels of red, green, blue and alpha, row by row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Four bytes for each pixel.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// A picture of so many pixels, each by its place; what has no colour is transparent black.
    pub(crate) fn of(
        [width, height]: [u32; 2],
        mut pixel: impl FnMut([u32; 2]) -> Option<[u8; 4]>,
    ) -> Picture {
        let places = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
        let pixels = places.flat_map(|at| pixel(at).unwrap_or_default());
        Picture {
            width,
            height,
            pixels: pixels.collect(),
        }
    }
}

/// A colour as bytes. Integers above 255 are 255; of bits without a meaning the lowest three bytes are red, green and blue.
pub(crate) fn of_color(color: TileColor) -> [u8; 4] {
    match color {
        TileColor::Floats(parts) => parts.map(of_fraction),
        TileColor::Integers(parts) => parts.map(|part| part.min(255) as u8),
        TileColor::Raw(bits) => {
            let [red, green, blue, ..] = bits.to_le_bytes();
            [red, green, blue, 255]
        }
    }
}

/// A depth as a grey.
pub(crate) fn of_depth(depth: f32) -> [u8; 4] {
    of_stencil(of_fraction(depth))
}

/// A stencil value as a grey.
pub(crate) fn of_stencil(stencil: u8) -> [u8; 4] {
    [stencil, stencil, stencil, 255]
}

/// What is no number becomes 0.
fn of_fraction(value: f32) -> u8 {
    (f64::from(value).clamp(0.0, 1.0) * 255.0).round_ties_even() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_the_nearest_bytes() {
        let of = |parts| of_color(TileColor::Floats(parts));
        assert_eq!(of([0.5, 1.5, -1.0, f32::NAN]), [128, 255, 0, 0]);
        assert_eq!(
            of_color(TileColor::Integers([3, 255, 256, 0])),
            [3, 255, 255, 0]
        );
        assert_eq!(
            of_color(TileColor::Raw(0xffff_0a0b_0c0d)),
            [13, 12, 11, 255]
        );
        assert_eq!(of_depth(1.0), [255, 255, 255, 255]);
    }

    #[test]
    fn pixels_stand_row_by_row() {
        let picture = Picture::of([2, 2], |[x, y]| {
            (x + y != 2).then_some([x as u8, y as u8, 7, 255])
        });
        let rows = [0, 0, 7, 255, 1, 0, 7, 255, 0, 1, 7, 255, 0, 0, 0, 0];
        assert_eq!(picture.pixels, rows);
    }
}
