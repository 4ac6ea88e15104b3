//! Buffers and images of a script.

use crate::literal::Literal;
use crate::types::{Element, Layout, Type};
use crate::words::words;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

words! {
    /// How a file holds a buffer's contents.
    FileKind, "a kind of file":
    Text   = "TEXT",
    Binary = "BINARY",
    Png    = "PNG",
}

words! {
    /// Dimensions of an image.
    Dimension, "an image dimension":
    One   = "DIM_1D",
    Two   = "DIM_2D",
    Three = "DIM_3D",
}

/// What a buffer starts with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Contents {
    /// Nothing: zeros, once it is bound.
    None,
    /// A value for each component.
    Data(Vec<Literal>),
    /// One value for every component.
    Fill(Literal),
    /// A value more for each element.
    Series {
        /// The first.
        from: Literal,
        /// The difference between neighbors.
        by: Literal,
    },
    /// Bytes that a file held.
    Bytes(Vec<u8>),
    /// A file beside the script, or a virtual one.
    File {
        /// How it holds the contents.
        kind: FileKind,
        /// Its path.
        path: String,
    },
}

/// A buffer or an image.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub ty: Type,
    /// How they lie.
    pub layout: Layout,
    /// Where their components lie.
    pub element: Element,
    /// What it starts with.
    pub contents: Contents,
    /// Elements; none before something gives it a size.
    pub elements: Option<u64>,
    /// Width and height in pixels: 1 and 1 for what is no picture. An attachment has those that the last pipeline gave it.
    pub size: (u32, u32),
    /// Slices of a 3D image.
    pub depth: u32,
    /// For an `IMAGE`.
    pub dimension: Option<Dimension>,
    /// Levels of detail.
    pub mip_levels: u32,
    /// Samples a texel.
    pub samples: u32,
}

impl Buffer {
    /// Bytes of its elements, if something has given it a size.
    pub fn bytes(&self) -> Option<u64> {
        self.elements?.checked_mul(self.element.stride as u64)
    }
}
