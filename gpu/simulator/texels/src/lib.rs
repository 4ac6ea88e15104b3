//! Images as the API has them: texel formats by name, texels, and what samplers make of them.
//!
//! The interpreters of IR and of Adreno's instructions share it: neither states facts of hardware here. The model of Mali has
//! formats and filters of its own, from the tables of its hardware.
//!
//! ```
//! use eitri_texels::{Image, Texel, TexelFormat};
//!
//! let format = TexelFormat::of_name("R8G8B8A8_UNORM").ok_or("unknown")?;
//! let mut image = Image::new(format, [4, 2, 1]);
//! let place = Texel { at: [3, 1, 0], ..Texel::default() };
//! image.store(place, [1.0, 0.0, 0.0, 1.0f32].map(f32::to_bits));
//! assert_eq!(image.bytes[28..], [255, 0, 0, 255]);
//! assert_eq!(image.load(Texel { at: [4, 1, 0], ..place }), [0; 4], "outside");
//! # Ok::<(), &str>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod block;
mod format;
pub mod half;
mod image;

pub use block::Block;
pub use format::{Kind, Stored, TexelFormat};
pub use image::{Compare, Image, Sampler, Texel, Wanted, Wrap, gather, sample};
