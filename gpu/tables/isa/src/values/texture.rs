//! Values of texture messages.
//!
//! Facts: hardware/valhall-isa.md section 11.10.

use super::value;
use crate::arch::{Arch, ArchSet};

value! {
    /// Number of coordinates.
    Dimension, required:
    /// One.
    D1 = 0 "1d",
    /// Two.
    D2 = 1 "2d",
    /// Three.
    D3 = 2 "3d",
    /// A cube map.
    Cube = 3 "cube",
}

value! {
    /// How the level of detail is found.
    LodMode, required:
    /// Level 0.
    Zero = 0 "zero",
    /// From differences across the quad.
    Computed = 1 "computed",
    /// The same, whatever the descriptor says.
    ComputedForceDelta = 3 "computed_force_delta" [ArchSet::since(Arch::V10)],
    /// From the payload.
    Explicit = 4 "explicit",
    /// Computed, plus a bias in the payload.
    ComputedBias = 5 "computed_bias",
    /// From a gradient descriptor in the payload.
    Grdesc = 6 "grdesc",
    /// Computed with a bias, whatever the descriptor says.
    ComputedBiasForceDelta = 7 "computed_bias_force_delta" [ArchSet::since(Arch::V10)],
}

value! {
    /// Type of the result's components, for people: the hardware follows the texture's format.
    RegisterType, required:
    /// Not said; newer compilers write this always. The word is what Mesa's tools print for it.
    Format = 0 "reserved",
    /// Float.
    Float = 1 "f",
    /// Unsigned.
    Unsigned = 2 "u",
    /// Signed.
    Signed = 3 "s",
}

value! {
    /// Width of the result's components.
    RegisterWidth, required:
    /// 16 bits, two components a register.
    W16 = 0 "16",
    /// 32 bits.
    W32 = 1 "32",
}

value! {
    /// Width of the components of TEX_DUAL's second result.
    SecondaryWidth, required:
    /// 16 bits.
    W16 = 0 "16",
    /// 32 bits.
    W32 = 1 "32",
}

value! {
    /// Width of VAR_TEX results; of VAR_TEX_DUAL the primary's, then the secondary's.
    VaryingWidth, required:
    /// 16 bits; a secondary result too.
    W16 = 0 "16",
    /// 32 bits; a secondary result has 16.
    W32 = 1 "32",
    /// DUAL alone: 16 bits, the secondary result 32.
    W16And32 = 2 "16.32",
    /// DUAL alone: 32 bits, the secondary result too.
    W32And32 = 3 "32.32",
}

value! {
    /// Format of VAR_TEX_BUF's varying in memory.
    VaryingFormat, F32:
    /// 32-bit floats.
    F32 = 0 "",
    /// 16-bit floats (v10 and later).
    F16 = 1 "src_f16",
}

value! {
    /// The component that a gather fetches.
    FetchComponent, required:
    /// Red.
    R = 0 "gather4_r",
    /// Green.
    G = 1 "gather4_g",
    /// Blue.
    B = 2 "gather4_b",
    /// Alpha.
    A = 3 "gather4_a",
}

value! {
    /// The components that are returned, packed in this order.
    WriteMask, Rgba:
    /// Red.
    R = 1 "r",
    /// Green.
    G = 2 "g",
    /// Red, green.
    Rg = 3 "rg",
    /// Blue.
    B = 4 "b",
    /// Red, blue.
    Rb = 5 "rb",
    /// Green, blue.
    Gb = 6 "gb",
    /// Red, green, blue.
    Rgb = 7 "rgb",
    /// Alpha.
    A = 8 "a",
    /// Red, alpha.
    Ra = 9 "ra",
    /// Green, alpha.
    Ga = 10 "ga",
    /// Red, green, alpha.
    Rga = 11 "rga",
    /// Blue, alpha.
    Ba = 12 "ba",
    /// Red, blue, alpha.
    Rba = 13 "rba",
    /// Green, blue, alpha.
    Gba = 14 "gba",
    /// All four.
    Rgba = 15 "rgba",
}

impl WriteMask {
    /// One bit a component, red in bit 0.
    pub const fn bits(self) -> u8 {
        self as u8 + 1
    }

    /// The mask of these bits; `None` for none or more than four.
    pub fn from_bits(bits: u8) -> Option<Self> {
        <Self as super::Value>::ALL
            .get(usize::from(bits).checked_sub(1)?)
            .copied()
    }

    /// How many components it has, 1 to 4.
    pub const fn components(self) -> u8 {
        self.bits().count_ones() as u8
    }
}

value! {
    /// Where VAR_TEX samples its varying, and what it does with the barycentric coordinates.
    SampleUpdate, required:
    /// Centre; compute and keep.
    CenterStore = 0 "center_store",
    /// Centroid; compute and keep.
    CentroidStore = 1 "centroid_store",
    /// Sample; compute and keep.
    SampleStore = 2 "sample_store",
    /// Explicit; compute and keep.
    ExplicitStore = 3 "explicit_store",
    /// Centre; what is kept is undefined afterwards.
    CenterClobber = 4 "center_clobber",
    /// Sample; what is kept is undefined afterwards.
    SampleClobber = 6 "sample_clobber",
    /// Use those kept.
    Retrieve = 7 "retrieve",
}
