//! FAU words: what the runtime puts into the fast-access uniforms at dispatch.
//!
//! Facts: hardware/compiler-abi.md 4.

use crate::binding::DescriptorSlot;
use crate::header::Stage;

/// One of the three directions of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The first, fastest one.
    X,
    /// The second one.
    Y,
    /// The third, slowest one.
    Z,
}

impl Axis {
    /// All three, in order.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// 0, 1 or 2.
    pub const fn index(self) -> usize {
        match self {
            Axis::X => 0,
            Axis::Y => 1,
            Axis::Z => 2,
        }
    }
}

/// One of the two words of a 64-bit address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressHalf {
    /// Bits 31 to 0.
    Low,
    /// Bits 63 to 32.
    High,
}

impl AddressHalf {
    /// That half of an address.
    pub const fn of(self, address: u64) -> u32 {
        match self {
            AddressHalf::Low => address as u32,
            AddressHalf::High => (address >> 32) as u32,
        }
    }
}

/// Content of one 32-bit FAU word; word n of the list is read as `u`n by the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FauWord {
    /// This value, known to the compiler.
    Constant(u32),
    /// The push-constant word at this byte offset: a multiple of 4, inside the program's push constants.
    PushConstant {
        /// Bytes from the start of the push constants.
        offset: u32,
    },
    /// Workgroups of the dispatch along an axis.
    NumWorkgroups(Axis),
    /// Half of the address of the buffer whose descriptor stands there when the dispatch is recorded.
    BufferAddress {
        /// One of a binding's descriptors.
        slot: DescriptorSlot,
        /// Which half.
        half: AddressHalf,
    },
    /// Length in bytes of the buffer whose descriptor stands there when the dispatch is recorded.
    BufferBytes {
        /// One of a binding's descriptors.
        slot: DescriptorSlot,
    },
    /// The word at a place of the buffer whose descriptor stands there when the dispatch is recorded, as it is when the
    /// dispatch runs; 0 outside of the buffer.
    BufferWord {
        /// One of a binding's descriptors.
        slot: DescriptorSlot,
        /// Bytes from the start of the buffer: a multiple of 4, less than 64 MiB.
        offset: u32,
    },
    /// Number of texels of the texel buffer whose descriptor stands there when the dispatch is recorded.
    TexelCount {
        /// One of a binding's descriptors.
        slot: DescriptorSlot,
    },
    /// Conversion word of the texel buffer whose descriptor stands there when the dispatch is recorded.
    TexelFormat {
        /// One of a binding's descriptors.
        slot: DescriptorSlot,
    },
    /// Half of the address of the program's data.
    DataAddress(AddressHalf),
    /// State of a draw; only in stages of graphics.
    Draw(DrawWord),
}

/// A word of the state of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DrawWord {
    /// Factor of the viewport transform along an axis, as a float: half the width, half the height, the depth range.
    ViewportScale(Axis),
    /// What the transform adds along an axis, as a float: the centre, and the nearest depth.
    ViewportOffset(Axis),
    /// First vertex of a draw, or what is added to each index.
    FirstVertex,
    /// First instance of a draw.
    BaseInstance,
    /// Component 0 to 3 of the blend constants, as a float. The first four words of each fragment entry point are these, in
    /// order: blend shaders read them there (hardware/compiler-abi.md 3.7).
    BlendConstant(u8),
    /// The view that is drawn to, by its bit in the view mask; 0 without multiview.
    ViewIndex,
}

impl DrawWord {
    /// All of them; their places are their numbers in the blob.
    pub const ALL: [DrawWord; 13] = [
        DrawWord::ViewportScale(Axis::X),
        DrawWord::ViewportScale(Axis::Y),
        DrawWord::ViewportScale(Axis::Z),
        DrawWord::ViewportOffset(Axis::X),
        DrawWord::ViewportOffset(Axis::Y),
        DrawWord::ViewportOffset(Axis::Z),
        DrawWord::FirstVertex,
        DrawWord::BaseInstance,
        DrawWord::BlendConstant(0),
        DrawWord::BlendConstant(1),
        DrawWord::BlendConstant(2),
        DrawWord::BlendConstant(3),
        DrawWord::ViewIndex,
    ];

    /// Its number in the blob; one that nothing has for a component that is none.
    const fn number(self) -> u32 {
        match self {
            DrawWord::ViewportScale(axis) => axis.index() as u32,
            DrawWord::ViewportOffset(axis) => 3 + axis.index() as u32,
            DrawWord::FirstVertex => 6,
            DrawWord::BaseInstance => 7,
            // Behind the components 0 to 3.
            DrawWord::ViewIndex => 12,
            DrawWord::BlendConstant(component) if component < 4 => 8 + component as u32,
            DrawWord::BlendConstant(_) => u32::MAX,
        }
    }
}

impl core::fmt::Display for DrawWord {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let name = |axis: Axis| match axis {
            Axis::X => "x",
            Axis::Y => "y",
            Axis::Z => "z",
        };
        match self {
            DrawWord::ViewportScale(axis) => write!(f, "viewport_scale.{}", name(*axis)),
            DrawWord::ViewportOffset(axis) => write!(f, "viewport_offset.{}", name(*axis)),
            DrawWord::FirstVertex => f.write_str("first_vertex"),
            DrawWord::ViewIndex => f.write_str("view_index"),
            DrawWord::BaseInstance => f.write_str("base_instance"),
            DrawWord::BlendConstant(component) => write!(f, "blend_constant.{component}"),
        }
    }
}

/// Numbers of the kinds in the blob.
#[rustfmt::skip]
mod kind {
    pub(super) const CONSTANT:            u32 = 0;
    pub(super) const PUSH_CONSTANT:       u32 = 1;
    pub(super) const NUM_WORKGROUPS:      u32 = 2;
    pub(super) const BUFFER_ADDRESS_LOW:  u32 = 3;
    pub(super) const BUFFER_ADDRESS_HIGH: u32 = 4;
    pub(super) const BUFFER_BYTES:        u32 = 5;
    pub(super) const DATA_ADDRESS_LOW:    u32 = 6;
    pub(super) const DATA_ADDRESS_HIGH:   u32 = 7;
    pub(super) const TEXEL_COUNT:         u32 = 8;
    pub(super) const TEXEL_FORMAT:        u32 = 9;
    pub(super) const BUFFER_WORD:         u32 = 10;
    pub(super) const DRAW:                u32 = 11;

    /// Where the kind of a buffer's word is followed by the number of the word.
    pub(super) const NUMBER_SHIFT:        u32 = 8;
}

impl FauWord {
    /// Offsets of [`FauWord::BufferWord`] are less.
    pub const BUFFER_REACH: u32 = 1 << 26;

    /// Kind and value, as the blob holds them.
    pub(crate) fn to_record(self) -> [u32; 2] {
        match self {
            FauWord::Constant(value) => [kind::CONSTANT, value],
            FauWord::PushConstant { offset } => [kind::PUSH_CONSTANT, offset],
            FauWord::NumWorkgroups(axis) => [kind::NUM_WORKGROUPS, axis.index() as u32],
            FauWord::BufferAddress { slot, half } => match half {
                AddressHalf::Low => [kind::BUFFER_ADDRESS_LOW, slot.handle()],
                AddressHalf::High => [kind::BUFFER_ADDRESS_HIGH, slot.handle()],
            },
            FauWord::BufferBytes { slot } => [kind::BUFFER_BYTES, slot.handle()],
            FauWord::BufferWord { slot, offset } => {
                let number = offset / 4;
                let kind = match offset % 4 == 0 && offset < FauWord::BUFFER_REACH {
                    true => number << kind::NUMBER_SHIFT | kind::BUFFER_WORD,
                    // Nothing means that: the encoder refuses the program.
                    false => u32::MAX,
                };
                [kind, slot.handle()]
            }
            FauWord::TexelCount { slot } => [kind::TEXEL_COUNT, slot.handle()],
            FauWord::TexelFormat { slot } => [kind::TEXEL_FORMAT, slot.handle()],
            FauWord::DataAddress(AddressHalf::Low) => [kind::DATA_ADDRESS_LOW, 0],
            FauWord::DataAddress(AddressHalf::High) => [kind::DATA_ADDRESS_HIGH, 0],
            FauWord::Draw(word) => [kind::DRAW, word.number()],
        }
    }

    /// The word of a record; `None` when kind or value means nothing.
    pub(crate) fn from_record([kind, value]: [u32; 2], push_bytes: u32) -> Option<FauWord> {
        let slot = DescriptorSlot::from_handle(value);
        let address = |half| Some(FauWord::BufferAddress { slot: slot?, half });
        let data = |half| (value == 0).then_some(FauWord::DataAddress(half));
        match kind {
            kind::CONSTANT => Some(FauWord::Constant(value)),
            kind::PUSH_CONSTANT => (value % 4 == 0 && value < push_bytes)
                .then_some(FauWord::PushConstant { offset: value }),
            kind::NUM_WORKGROUPS => Axis::ALL
                .get(value as usize)
                .map(|axis| FauWord::NumWorkgroups(*axis)),
            kind::BUFFER_ADDRESS_LOW => address(AddressHalf::Low),
            kind::BUFFER_ADDRESS_HIGH => address(AddressHalf::High),
            kind::BUFFER_BYTES => Some(FauWord::BufferBytes { slot: slot? }),
            kind::TEXEL_COUNT => Some(FauWord::TexelCount { slot: slot? }),
            kind::TEXEL_FORMAT => Some(FauWord::TexelFormat { slot: slot? }),
            kind::DATA_ADDRESS_LOW => data(AddressHalf::Low),
            kind::DATA_ADDRESS_HIGH => data(AddressHalf::High),
            kind::DRAW => DrawWord::ALL
                .get(value as usize)
                .map(|word| FauWord::Draw(*word)),
            _ if kind & ((1 << kind::NUMBER_SHIFT) - 1) == kind::BUFFER_WORD => {
                let offset = (kind >> kind::NUMBER_SHIFT) * 4;
                Some(FauWord::BufferWord {
                    slot: slot?,
                    offset,
                })
            }
            _ => None,
        }
    }

    /// Whether a stage has it.
    pub(crate) fn is_of(self, stage: Stage) -> bool {
        match self {
            FauWord::NumWorkgroups(_) => stage == Stage::Compute,
            FauWord::Draw(DrawWord::BlendConstant(_)) => stage == Stage::Fragment,
            FauWord::Draw(_) => stage == Stage::Vertex,
            _ => true,
        }
    }

    /// The descriptor that it is about.
    pub(crate) fn slot(self) -> Option<DescriptorSlot> {
        match self {
            FauWord::BufferAddress { slot, .. }
            | FauWord::BufferBytes { slot }
            | FauWord::BufferWord { slot, .. }
            | FauWord::TexelCount { slot }
            | FauWord::TexelFormat { slot } => Some(slot),
            FauWord::Constant(_)
            | FauWord::PushConstant { .. }
            | FauWord::NumWorkgroups(_)
            | FauWord::DataAddress(_)
            | FauWord::Draw(_) => None,
        }
    }
}
