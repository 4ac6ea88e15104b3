//! FAU steps: what is computed of a FAU word before it is put there, once for a dispatch and not by every warp.

use crate::fau::FauWord;

/// Changes a word of the FAU list. The steps of one word are taken in the order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FauStep {
    /// Number of the word in the list: one that [`FauWord::takes_steps`].
    pub word: u8,
    /// What is done.
    pub op: FauOp,
    /// What it is done with, on the right.
    pub operand: FauOperand,
}

/// The other operand of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FauOperand {
    /// This value.
    Constant(u32),
    /// The push-constant word at this byte offset: a multiple of 4, inside the program's push constants.
    PushConstant(u32),
}

macro_rules! ops {
    ($($variant:ident = $code:literal: $doc:literal, |$a:ident, $b:ident| $made:expr;)*) => {
        /// An operation on two words. What does not fit into 32 bits is lost.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FauOp { $( #[doc = $doc] $variant = $code, )* }

        impl FauOp {
            /// All of them.
            pub const ALL: &[FauOp] = &[$(FauOp::$variant,)*];

            /// The operation that has a number in a record.
            #[inline]
            pub const fn of_number(number: u8) -> Option<FauOp> {
                match number {
                    $($code => Some(FauOp::$variant),)*
                    _ => None,
                }
            }

            /// Does it.
            #[inline]
            pub fn apply(self, a: u32, b: u32) -> u32 {
                match self { $(FauOp::$variant => { let ($a, $b) = (a, b); $made })* }
            }
        }
    };
}

#[rustfmt::skip]
ops! {
    Add              = 0: "a + b",                        |a, b| a.wrapping_add(b);
    Subtract         = 1: "a - b",                        |a, b| a.wrapping_sub(b);
    Multiply         = 2: "a * b",                        |a, b| a.wrapping_mul(b);
    And              = 3: "Bits of both.",                |a, b| a & b;
    Or               = 4: "Bits of either.",              |a, b| a | b;
    Xor              = 5: "Bits of one alone.",           |a, b| a ^ b;
    ShiftLeft        = 6: "a << b % 32",                  |a, b| a.wrapping_shl(b);
    ShiftRight       = 7: "a >> b % 32, without a sign",  |a, b| a.wrapping_shr(b);
    ShiftRightSigned = 8: "a >> b % 32, of a number with a sign", |a, b| a.cast_signed().wrapping_shr(b).cast_unsigned();
    Min              = 9: "The smaller one, without a sign",      |a, b| a.min(b);
    Max              = 10: "The larger one, without a sign",      |a, b| a.max(b);
    MinSigned        = 11: "The smaller one, of numbers with signs", |a, b| a.cast_signed().min(b.cast_signed()).cast_unsigned();
    MaxSigned        = 12: "The larger one, of numbers with signs",  |a, b| a.cast_signed().max(b.cast_signed()).cast_unsigned();
}

/// Where the first word of a record has the operation, and whether the operand is a push constant.
const OP_SHIFT: u32 = 8;
const PUSH: u32 = 1 << 16;

impl FauStep {
    /// Word, operation and operand, as the blob holds them.
    pub(crate) fn to_record(self) -> [u32; 2] {
        let (push, operand) = match self.operand {
            FauOperand::Constant(value) => (0, value),
            FauOperand::PushConstant(offset) => (PUSH, offset),
        };
        let what = u32::from(self.word) | (self.op as u32) << OP_SHIFT | push;
        [what, operand]
    }

    /// The step of a record; `None` when it means nothing.
    pub(crate) fn from_record([what, operand]: [u32; 2], push_bytes: u32) -> Option<FauStep> {
        let code = (what & !PUSH) >> OP_SHIFT;
        let operand = match what & PUSH {
            0 => FauOperand::Constant(operand),
            _ if operand.is_multiple_of(4) && operand < push_bytes => {
                FauOperand::PushConstant(operand)
            }
            _ => return None,
        };
        Some(FauStep {
            word: (what & 0xff) as u8,
            op: FauOp::of_number(u8::try_from(code).ok()?)?,
            operand,
        })
    }
}

impl FauWord {
    /// Whether steps may change it: what it is is known when the dispatch is recorded, and is a number.
    pub fn takes_steps(self) -> bool {
        matches!(
            self,
            FauWord::Constant(_)
                | FauWord::PushConstant { .. }
                | FauWord::BufferBytes { .. }
                | FauWord::TexelCount { .. }
        )
    }
}
