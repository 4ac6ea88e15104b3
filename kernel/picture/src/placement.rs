//! Placement: where on a screen a picture goes, by which whole factor it is larger or smaller there, and the lines of that screen.

use crate::layout::{Mode, Picture};
use core::fmt;

/// The factor between a picture's pixels and a screen's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// So many pixels of the screen for a pixel of the picture, in both directions.
    Enlarged(usize),
    /// One pixel of the screen for so many of the picture, in both directions: the first of them is shown.
    Shrunk(usize),
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scale::Enlarged(1) => f.write_str("as it is"),
            Scale::Enlarged(by) => write!(f, "enlarged by {by}"),
            Scale::Shrunk(by) => write!(f, "shrunk by {by}"),
        }
    }
}

impl Scale {
    /// How many pixels of a screen so many of a picture are.
    fn on_screen(self, pixels: usize) -> usize {
        match self {
            Scale::Enlarged(by) => pixels * by,
            Scale::Shrunk(by) => pixels.div_ceil(by),
        }
    }

    /// The picture's pixel that is shown at the screen's.
    fn in_picture(self, pixel: usize) -> usize {
        match self {
            Scale::Enlarged(by) => pixel / by,
            Scale::Shrunk(by) => pixel * by,
        }
    }
}

/// Where on a screen a picture goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// First column.
    pub x: usize,
    /// First line.
    pub y: usize,
    /// Columns.
    pub width: usize,
    /// Lines.
    pub height: usize,
    /// The factor.
    pub scale: Scale,
}

impl Placement {
    /// As large as whole factors allow, in the middle.
    pub fn of(picture: &Picture<'_>, mode: &Mode) -> Placement {
        // No side is empty.
        let (across, down) = (mode.width / picture.width(), mode.height / picture.height());
        let scale = match across.min(down) {
            0 => {
                let across = picture.width().div_ceil(mode.width);
                Scale::Shrunk(across.max(picture.height().div_ceil(mode.height)))
            }
            factor => Scale::Enlarged(factor),
        };
        let width = scale.on_screen(picture.width());
        let height = scale.on_screen(picture.height());
        Placement {
            x: (mode.width - width) / 2,
            y: (mode.height - height) / 2,
            width,
            height,
            scale,
        }
    }

    /// The picture's line that is shown at a line of the screen; `None` where the screen is black.
    pub fn source_line(&self, y: usize) -> Option<usize> {
        let inside = y.checked_sub(self.y).filter(|y| *y < self.height)?;
        Some(self.scale.in_picture(inside))
    }
}

/// Makes line `y` of the screen: the picture's pixels, and black beside them. What `line` has behind the screen's last pixel stays.
pub fn row(picture: &Picture<'_>, placement: &Placement, mode: &Mode, y: usize, line: &mut [u8]) {
    let bytes = mode.format.bytes();
    let from = &picture.mode.format;
    let source = placement.source_line(y).map(|y| picture.line(y));
    let black = mode.format.opaque_black().to_le_bytes();
    let mut made = black;
    let mut last = None;
    for (x, pixel) in line.chunks_exact_mut(bytes).take(mode.width).enumerate() {
        let inside = x.checked_sub(placement.x).filter(|x| *x < placement.width);
        let Some((source, inside)) = source.zip(inside) else {
            put(pixel, black);
            continue;
        };
        let column = placement.scale.in_picture(inside);
        if last != Some(column) {
            last = Some(column);
            let begin = column * from.bytes();
            let found = source.get(begin..begin + from.bytes()).unwrap_or(&[]);
            made = mode.format.of_other(from, found);
        }
        put(pixel, made);
    }
}

fn put(pixel: &mut [u8], bytes: [u8; 4]) {
    for (to, from) in pixel.iter_mut().zip(bytes) {
        *to = from;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::format::PixelFormat;
    use std::vec;
    use std::vec::Vec;

    fn placed(picture: (usize, usize), screen: (usize, usize)) -> Placement {
        let bytes = vec![0; picture.0 * picture.1 * 4];
        let picture = Picture::new(
            picture.0,
            picture.1,
            picture.0 * 4,
            PixelFormat::R8G8B8A8,
            &bytes,
        );
        let format = PixelFormat::X8R8G8B8;
        let mode = Mode::new(screen.0, screen.1, screen.0 * 4, format).unwrap();
        Placement::of(&picture.unwrap(), &mode)
    }

    #[track_caller]
    fn check(picture: (usize, usize), expected: (usize, usize, usize, usize), scale: Scale) {
        let found = placed(picture, (100, 60));
        let (x, y, width, height) = expected;
        let expected = Placement {
            x,
            y,
            width,
            height,
            scale,
        };
        assert_eq!(found, expected, "{picture:?} on 100 x 60");
    }

    #[test]
    fn the_largest_whole_factor_fits_both_ways() {
        check((100, 60), (0, 0, 100, 60), Scale::Enlarged(1));
        check((50, 30), (0, 0, 100, 60), Scale::Enlarged(2));
        check((49, 20), (1, 10, 98, 40), Scale::Enlarged(2));
        check((51, 20), (24, 20, 51, 20), Scale::Enlarged(1));
        check((1, 1), (20, 0, 60, 60), Scale::Enlarged(60));
        check((101, 60), (24, 15, 51, 30), Scale::Shrunk(2));
        check((1, 200), (49, 5, 1, 50), Scale::Shrunk(4));
    }

    /// The red components of every line of a screen.
    fn reds(picture: &Picture<'_>, mode: &Mode) -> Vec<Vec<u8>> {
        let placement = Placement::of(picture, mode);
        let lines = (0..mode.height()).map(|y| {
            let mut line = vec![0xAA; mode.stride()];
            row(picture, &placement, mode, y, &mut line);
            let (used, rest) = line.split_at(mode.line_bytes());
            assert!(rest.iter().all(|byte| *byte == 0xAA), "behind line {y}");
            used.chunks_exact(4).map(|pixel| pixel[2]).collect()
        });
        lines.collect()
    }

    #[test]
    fn pixels_become_squares_with_black_around() {
        let bytes = [
            [1, 0, 0, 0],
            [2, 0, 0, 0],
            [9; 4],
            [3, 0, 0, 0],
            [4, 0, 0, 0],
        ];
        let bytes = bytes.as_flattened();
        // The third pixel lies between two lines.
        let picture = Picture::new(2, 2, 12, PixelFormat::R8G8B8A8, bytes).unwrap();
        let mode = Mode::new(5, 5, 24, PixelFormat::X8R8G8B8).unwrap();
        let expected = [
            [1, 1, 2, 2, 0],
            [1, 1, 2, 2, 0],
            [3, 3, 4, 4, 0],
            [3, 3, 4, 4, 0],
            [0, 0, 0, 0, 0],
        ];
        assert_eq!(reds(&picture, &mode), expected);
    }

    #[test]
    fn a_picture_that_is_too_large_is_shown_in_part() {
        let bytes: Vec<u8> = (0..15).flat_map(|n| [n, 0, 0, 0]).collect();
        let picture = Picture::new(5, 3, 20, PixelFormat::R8G8B8A8, &bytes).unwrap();
        let mode = Mode::new(3, 3, 12, PixelFormat::X8R8G8B8).unwrap();
        let expected = [[0, 2, 4], [10, 12, 14], [0, 0, 0]];
        assert_eq!(reds(&picture, &mode), expected);
    }
}
