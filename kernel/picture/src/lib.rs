//! Pictures and screens: pixel formats, and a picture's pixels on a screen of another size and format.
//!
//! A [`Picture`] is what somebody drew; a [`Mode`] says how a screen's memory is read. [`Placement`] enlarges or shrinks the picture
//! by a whole factor and centres it; [`row`] makes one line of the screen.
//!
//! Needs: no allocator.  Guarantees: nothing is read or written outside of what it is given.  Never: touches a device.
//!
//! ```
//! use eitri_picture::{Mode, Picture, PixelFormat, Placement, row};
//!
//! let red = [255, 0, 0, 255];
//! let picture = Picture::new(1, 1, 4, PixelFormat::R8G8B8A8, &red)?;
//! let mode = Mode::new(3, 2, 12, PixelFormat::X8R8G8B8)?;
//! let placement = Placement::of(&picture, &mode);
//! let mut line = [0; 12];
//! row(&picture, &placement, &mode, 0, &mut line);
//! assert_eq!(line, [0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 0, 255], "blue first, and the third pixel is black");
//! # Ok::<(), eitri_picture::LayoutError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod format;
mod layout;
mod placement;

pub use format::PixelFormat;
pub use layout::{LayoutError, Mode, Picture};
pub use placement::{Placement, Scale, row};
