//! FAU words: what the runtime puts into the fast-access uniforms at dispatch.
//!
//! Facts: hardware/compiler-abi.md 4.

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
}

const CONSTANT: u32 = 0;
const PUSH_CONSTANT: u32 = 1;
const NUM_WORKGROUPS: u32 = 2;

impl FauWord {
    /// Kind and value, as the blob holds them.
    pub(crate) fn to_record(self) -> [u32; 2] {
        match self {
            FauWord::Constant(value) => [CONSTANT, value],
            FauWord::PushConstant { offset } => [PUSH_CONSTANT, offset],
            FauWord::NumWorkgroups(axis) => [NUM_WORKGROUPS, axis.index() as u32],
        }
    }

    /// The word of a record; `None` when kind or value means nothing.
    pub(crate) fn from_record([kind, value]: [u32; 2], push_bytes: u32) -> Option<FauWord> {
        match kind {
            CONSTANT => Some(FauWord::Constant(value)),
            PUSH_CONSTANT => (value % 4 == 0 && value < push_bytes)
                .then_some(FauWord::PushConstant { offset: value }),
            NUM_WORKGROUPS => Axis::ALL
                .get(value as usize)
                .map(|axis| FauWord::NumWorkgroups(*axis)),
            _ => None,
        }
    }
}
