//! Images, their views, and samplers.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Dimensions of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum ImageType {
    #[serde(rename = "1d")]
    D1,
    #[serde(rename = "2d")]
    D2,
    #[serde(rename = "3d")]
    D3,
}

/// A use of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum Usage {
    Color,
    DepthStencil,
    Sampled,
    Storage,
    Input,
}

/// A part of a texel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum Aspect {
    #[default]
    Color,
    Depth,
    Stencil,
    DepthStencil,
}

/// What a view makes of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum ViewType {
    #[serde(rename = "1d")]
    D1,
    #[serde(rename = "2d")]
    D2,
    #[serde(rename = "3d")]
    D3,
    #[serde(rename = "cube")]
    Cube,
    #[serde(rename = "1d_array")]
    D1Array,
    #[serde(rename = "2d_array")]
    D2Array,
    #[serde(rename = "cube_array")]
    CubeArray,
}

/// Where the components of a view come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Swizzle(pub [Component; 4]);

/// Where one component comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Component {
    Red,
    Green,
    Blue,
    Alpha,
    Zero,
    One,
}

impl Swizzle {
    const IDENTITY: [Component; 4] = [
        Component::Red,
        Component::Green,
        Component::Blue,
        Component::Alpha,
    ];
}

impl Default for Swizzle {
    fn default() -> Swizzle {
        Swizzle(Swizzle::IDENTITY)
    }
}

impl From<Swizzle> for String {
    fn from(swizzle: Swizzle) -> String {
        let letters = swizzle.0.map(|component| match component {
            Component::Red => 'r',
            Component::Green => 'g',
            Component::Blue => 'b',
            Component::Alpha => 'a',
            Component::Zero => '0',
            Component::One => '1',
        });
        letters.into_iter().collect()
    }
}

impl TryFrom<String> for Swizzle {
    type Error = String;

    fn try_from(text: String) -> Result<Swizzle, String> {
        let bad = || format!("`{text}` is not four of `r g b a 0 1 =`");
        let letters: [char; 4] = text
            .chars()
            .collect::<Vec<_>>()
            .try_into()
            .map_err(|_| bad())?;
        let mut components = Swizzle::IDENTITY;
        for (component, letter) in components.iter_mut().zip(letters) {
            *component = match letter {
                'r' => Component::Red,
                'g' => Component::Green,
                'b' => Component::Blue,
                'a' => Component::Alpha,
                '0' => Component::Zero,
                '1' => Component::One,
                '=' => *component,
                _ => return Err(bad()),
            };
        }
        Ok(Swizzle(components))
    }
}

/// How texels are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum Filter {
    #[default]
    Nearest,
    Linear,
}

/// What coordinates outside of an image read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum AddressMode {
    Repeat,
    MirroredRepeat,
    #[default]
    ClampToEdge,
    ClampToBorder,
    MirrorClampToEdge,
}

/// A border colour that has a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum Border {
    #[default]
    FloatTransparentBlack,
    IntTransparentBlack,
    FloatOpaqueBlack,
    IntOpaqueBlack,
    FloatOpaqueWhite,
    IntOpaqueWhite,
}

/// A colour, by the type of its components.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Color {
    /// Reals.
    Float([f32; 4]),
    /// Integers with a sign.
    Int([i32; 4]),
    /// Integers without one.
    Uint([u32; 4]),
}

impl Color {
    /// The four words that stand for it.
    pub fn words(self) -> [u32; 4] {
        match self {
            Color::Float(color) => color.map(f32::to_bits),
            Color::Int(color) => color.map(|component| component as u32),
            Color::Uint(color) => color,
        }
    }
}
