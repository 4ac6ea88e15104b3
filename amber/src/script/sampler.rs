//! Samplers of a script.

use super::state::CompareOperation;
use crate::words::words;
use alloc::borrow::ToOwned;
use alloc::string::String;
use serde::{Deserialize, Serialize};

words! {
    /// How texels become a color.
    Filter, "a filter":
    Nearest = "nearest",
    Linear  = "linear",
}

words! {
    /// What is beyond an image's edge.
    AddressMode, "an address mode":
    Repeat            = "repeat",
    MirroredRepeat    = "mirrored_repeat",
    ClampToEdge       = "clamp_to_edge",
    ClampToBorder     = "clamp_to_border",
    MirrorClampToEdge = "mirror_clamp_to_edge" | "mirrored_clamp_to_edge",
}

words! {
    /// The color of a border.
    BorderColor, "a border color":
    FloatTransparentBlack = "float_transparent_black",
    FloatOpaqueBlack      = "float_opaque_black",
    FloatOpaqueWhite      = "float_opaque_white",
    IntTransparentBlack   = "int_transparent_black",
    IntOpaqueBlack        = "int_opaque_black",
    IntOpaqueWhite        = "int_opaque_white",
}

/// A sampler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampler {
    /// Its name.
    pub name: String,
    /// Where a texel covers several pixels.
    pub magnify: Filter,
    /// Where a pixel covers several texels.
    pub minify: Filter,
    /// Along u, v and w.
    pub address: [AddressMode; 3],
    /// Of [`AddressMode::ClampToBorder`].
    pub border: BorderColor,
    /// Smallest level of detail.
    pub min_lod: f64,
    /// Largest level of detail.
    pub max_lod: f64,
    /// Coordinates go from 0 to 1, not from 0 to the size.
    pub normalized: bool,
    /// The comparison, where it is on.
    pub compare: bool,
    /// With what a comparison compares.
    pub operation: CompareOperation,
}

impl Sampler {
    /// A sampler with the defaults of the language reference, section 8.
    pub fn new(name: &str) -> Sampler {
        Sampler {
            name: name.to_owned(),
            magnify: Filter::Nearest,
            minify: Filter::Nearest,
            address: [AddressMode::Repeat; 3],
            border: BorderColor::FloatTransparentBlack,
            min_lod: 0.0,
            max_lod: 1.0,
            normalized: true,
            compare: false,
            operation: CompareOperation::Never,
        }
    }
}
