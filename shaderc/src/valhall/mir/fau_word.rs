//! Uniform words: what fills FAU, the words that a whole dispatch reads without an instruction.
//!
//! Facts: hardware/compiler-abi.md 1.2 (handles), 4 (FAU).
use crate::ir::Axis;
use eitri_program::DrawWord;

/// What fills a word of FAU at dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FauWord {
    /// The push-constant word at this byte offset, a multiple of 4.
    PushConstant(u32),
    /// Number of workgroups of the dispatch.
    NumWorkgroups(Axis),
    /// These bits.
    Constant(u32),
    /// Length in bytes of the buffer that has this handle.
    BufferBytes(u32),
    /// The word of the buffer that has this handle at this byte offset, a multiple of 4.
    BufferWord(u32, u32),
    /// Half of the address of the buffer that has this handle.
    BufferAddress(u32, AddressHalf),
    /// Number of texels of the texel buffer that has this handle.
    TexelCount(u32),
    /// Conversion word of the texel buffer that has this handle.
    TexelFormat(u32),
    /// Half of the address of the program's constant memory.
    DataAddress(AddressHalf),
    /// State of the draw.
    Draw(DrawWord),
    /// What the work with this number comes to.
    Worked(usize),
}

impl FauWord {
    /// The word of a text as `Display` writes it.
    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Option<FauWord> {
        let number = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        let mut draw = DrawWord::ALL.into_iter().map(FauWord::Draw);
        if let Some(word) = draw.find(|word| word.to_string() == text) {
            return Some(word);
        }
        let (kind, argument) = text.split_once(' ').unwrap_or((text, ""));
        if let Some(name) = kind.strip_prefix("num_workgroups.") {
            let axis = Axis::ALL.into_iter().find(|axis| axis.name() == name)?;
            return Some(FauWord::NumWorkgroups(axis));
        }
        if let Some(name) = kind.strip_prefix("address_") {
            return Some(FauWord::BufferAddress(
                number(argument)?,
                AddressHalf::from_name(name)?,
            ));
        }
        match kind {
            "push" => Some(FauWord::PushConstant(number(argument)?)),
            "constant" => Some(FauWord::Constant(number(argument)?)),
            "bytes" => Some(FauWord::BufferBytes(number(argument)?)),
            "word" => {
                let (handle, offset) = argument.split_once(' ')?;
                Some(FauWord::BufferWord(number(handle)?, number(offset)?))
            }
            "texels" => Some(FauWord::TexelCount(number(argument)?)),
            "format" => Some(FauWord::TexelFormat(number(argument)?)),
            "worked" => Some(FauWord::Worked(argument.parse().ok()?)),
            "data" => Some(FauWord::DataAddress(AddressHalf::from_name(argument)?)),
            _ => None,
        }
    }
}

/// One of the two words of a 64-bit address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddressHalf {
    /// Bits 31 to 0.
    Low,
    /// Bits 63 to 32.
    High,
}

impl AddressHalf {
    /// Both, in order.
    pub const ALL: [AddressHalf; 2] = [AddressHalf::Low, AddressHalf::High];

    #[cfg(test)]
    fn from_name(name: &str) -> Option<AddressHalf> {
        AddressHalf::ALL
            .into_iter()
            .find(|half| half.name() == name)
    }

    /// The name in text.
    pub fn name(self) -> &'static str {
        match self {
            AddressHalf::Low => "low",
            AddressHalf::High => "high",
        }
    }
}

impl std::fmt::Display for FauWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FauWord::PushConstant(offset) => write!(f, "push {offset}"),
            FauWord::NumWorkgroups(axis) => write!(f, "num_workgroups.{}", axis.name()),
            FauWord::Constant(bits) => write!(f, "constant {bits:#x}"),
            FauWord::BufferBytes(handle) => write!(f, "bytes {handle:#x}"),
            FauWord::TexelCount(handle) => write!(f, "texels {handle:#x}"),
            FauWord::TexelFormat(handle) => write!(f, "format {handle:#x}"),
            FauWord::BufferWord(handle, offset) => write!(f, "word {handle:#x} {offset}"),
            FauWord::BufferAddress(handle, half) => {
                write!(f, "address_{} {handle:#x}", half.name())
            }
            FauWord::Draw(word) => write!(f, "{word}"),
            FauWord::Worked(number) => write!(f, "worked {number}"),
            FauWord::DataAddress(half) => write!(f, "data {}", half.name()),
        }
    }
}
