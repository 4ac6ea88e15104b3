//! Layouts: how many lines of how many pixels lie where in memory, of a picture and of a screen.

use crate::format::PixelFormat;
use core::fmt;

/// Most pixels of a side: more than any screen has, and few enough that no product of sizes wraps.
const MOST_PIXELS: usize = 1 << 15;

/// Why there is no such picture or screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// A side has no pixels, or too many.
    Size {
        /// Pixels of a line.
        width: usize,
        /// Lines.
        height: usize,
    },
    /// A line does not fit between the begin of one and the next.
    Stride {
        /// Bytes from one line to the next.
        stride: usize,
        /// Bytes of a line.
        line: usize,
    },
    /// There is not so much memory.
    Memory {
        /// Bytes that there are.
        bytes: usize,
        /// Bytes of all lines.
        needed: usize,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::Size { width, height } => write!(
                f,
                "{width} x {height} pixels: a side has 1 to {MOST_PIXELS}"
            ),
            LayoutError::Stride { stride, line } => write!(
                f,
                "a stride of {stride} bytes, but a line has {line} bytes; at most four times as many are allowed"
            ),
            LayoutError::Memory { bytes, needed } => {
                write!(f, "{bytes} bytes of memory, but all lines need {needed}")
            }
        }
    }
}

impl core::error::Error for LayoutError {}

/// How a screen's memory is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    pub(crate) width: usize,
    pub(crate) height: usize,
    stride: usize,
    pub(crate) format: PixelFormat,
}

impl Mode {
    /// A mode of so many pixels; `stride` is the bytes from one line to the next.
    ///
    /// # Errors
    /// When a side is empty or too long, or the stride is less than a line, or more than four lines, which is a wrong number.
    pub fn new(
        width: usize,
        height: usize,
        stride: usize,
        format: PixelFormat,
    ) -> Result<Mode, LayoutError> {
        let sides = 1..=MOST_PIXELS;
        if !sides.contains(&width) || !sides.contains(&height) {
            return Err(LayoutError::Size { width, height });
        }
        let line = width * format.bytes();
        if stride < line || stride > 4 * line {
            return Err(LayoutError::Stride { stride, line });
        }
        Ok(Mode {
            width,
            height,
            stride,
            format,
        })
    }

    /// Pixels of a line.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Lines.
    pub const fn height(&self) -> usize {
        self.height
    }

    /// Bytes from one line to the next.
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// Bytes of a line.
    pub const fn line_bytes(&self) -> usize {
        self.width * self.format.bytes()
    }

    /// Bytes of all lines; behind the last one nothing is read.
    pub const fn bytes(&self) -> usize {
        (self.height - 1) * self.stride + self.line_bytes()
    }

    /// Checks that memory has room for it.
    ///
    /// # Errors
    /// When it has not.
    pub fn fits(&self, bytes: usize) -> Result<(), LayoutError> {
        let needed = self.bytes();
        if bytes < needed {
            return Err(LayoutError::Memory { bytes, needed });
        }
        Ok(())
    }
}

/// A picture in memory.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'p> {
    pub(crate) mode: Mode,
    bytes: &'p [u8],
}

impl<'p> Picture<'p> {
    /// A picture of so many pixels; `stride` is the bytes from one line to the next.
    ///
    /// # Errors
    /// As for [`Mode::new`], and when there are fewer bytes.
    pub fn new(
        width: usize,
        height: usize,
        stride: usize,
        format: PixelFormat,
        bytes: &'p [u8],
    ) -> Result<Picture<'p>, LayoutError> {
        let mode = Mode::new(width, height, stride, format)?;
        mode.fits(bytes.len())?;
        Ok(Picture { mode, bytes })
    }

    /// Pixels of a line.
    pub const fn width(&self) -> usize {
        self.mode.width
    }

    /// Lines.
    pub const fn height(&self) -> usize {
        self.mode.height
    }

    /// A line; none behind the last one.
    pub(crate) fn line(&self, y: usize) -> &'p [u8] {
        let begin = y.saturating_mul(self.mode.stride);
        let end = begin.saturating_add(self.mode.line_bytes());
        self.bytes.get(begin..end).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: PixelFormat = PixelFormat::R8G8B8A8;

    #[test]
    fn wrong_strides_are_refused() {
        let mode = |stride| Mode::new(10, 4, stride, FORMAT);
        for stride in [0, 39, 161, usize::MAX] {
            let error = LayoutError::Stride { stride, line: 40 };
            assert_eq!(mode(stride), Err(error), "stride {stride}");
        }
        for stride in [40, 64, 160] {
            assert_eq!(mode(stride).unwrap().bytes(), 3 * stride + 40);
        }
    }

    #[test]
    fn empty_and_endless_sides_are_refused() {
        for (width, height) in [(0, 1), (1, 0), (MOST_PIXELS + 1, 1), (1, usize::MAX)] {
            let error = LayoutError::Size { width, height };
            assert_eq!(Mode::new(width, height, 4, FORMAT), Err(error));
        }
    }

    #[test]
    fn a_picture_has_all_of_its_bytes() {
        let bytes = [0; 100];
        let picture = |bytes| Picture::new(10, 2, 60, FORMAT, bytes);
        assert!(
            picture(&bytes).is_ok(),
            "nothing is read behind the last line"
        );
        let error = LayoutError::Memory {
            bytes: 99,
            needed: 100,
        };
        assert_eq!(picture(&bytes[..99]).unwrap_err(), error);
    }
}
