//! Blending: how colours are mixed with those that are there.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// How colours are mixed with those that are there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Blend {
    /// The constant colour of factors.
    pub constants: [f32; 4],
    /// The logic operation, in place of mixing.
    pub logic_op: Option<LogicOp>,
    /// By colour attachment. Those that are missing are written as they come.
    pub attachments: Vec<BlendAttachment>,
}

/// How one attachment's colours are mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlendAttachment {
    /// Of red, green and blue; nothing is mixed without.
    pub color: Option<BlendEquation>,
    /// Of alpha; by default the same.
    pub alpha: Option<BlendEquation>,
    /// The components that are written.
    #[serde(default)]
    pub write: WriteMask,
}

/// Source factor, destination factor, operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlendEquation(pub BlendFactor, pub BlendFactor, pub BlendOp);

/// What a colour is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum BlendFactor {
    Zero,
    One,
    SrcColor,
    OneMinusSrcColor,
    DstColor,
    OneMinusDstColor,
    SrcAlpha,
    OneMinusSrcAlpha,
    DstAlpha,
    OneMinusDstAlpha,
    ConstantColor,
    OneMinusConstantColor,
    ConstantAlpha,
    OneMinusConstantAlpha,
    SrcAlphaSaturate,
    Src1Color,
    OneMinusSrc1Color,
    Src1Alpha,
    OneMinusSrc1Alpha,
}

/// How two products are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum BlendOp {
    Add,
    Subtract,
    ReverseSubtract,
    Min,
    Max,
}

/// An operation on bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are Vulkan's")]
pub enum LogicOp {
    Clear,
    And,
    AndReverse,
    Copy,
    AndInverted,
    NoOp,
    Xor,
    Or,
    Nor,
    Equivalent,
    Invert,
    OrReverse,
    CopyInverted,
    OrInverted,
    Nand,
    Set,
}

/// The components that are written, red in bit 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WriteMask(pub u8);

impl Default for WriteMask {
    fn default() -> WriteMask {
        WriteMask(0xF)
    }
}

impl TryFrom<String> for WriteMask {
    type Error = String;

    fn try_from(text: String) -> Result<WriteMask, String> {
        let mut mask = 0;
        for letter in text.chars() {
            let bit = "rgba".find(letter);
            let bit = bit.ok_or_else(|| format!("`{text}` has other letters than `rgba`"))?;
            mask |= 1 << bit;
        }
        Ok(WriteMask(mask))
    }
}

impl From<WriteMask> for String {
    fn from(mask: WriteMask) -> String {
        let letters = "rgba".chars().enumerate();
        let written = letters.filter(|(bit, _)| mask.0 >> bit & 1 != 0);
        written.map(|(_, letter)| letter).collect()
    }
}
