//! The operations that lanes of a subgroup do together: one table, one row an operation.
//!
//! Needs: nothing.  Guarantees: names, operands and results come from here; what they give is in `interp/lanes`.
//! All else that subgroups offer is made of these.  Facts: hardware/compiler-isel.md 8.
use super::Kind;

/// Lanes that run together and know of one another: a subgroup. A workgroup's invocations fill subgroups in the order of
/// their index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes(u32);

impl Lanes {
    /// What a function has that says nothing else.
    pub const DEFAULT: Lanes = Lanes(16);

    /// A subgroup of so many lanes: a power of two from a quad to what has a bit each in a word.
    pub const fn new(count: u32) -> Option<Lanes> {
        match count {
            4 | 8 | 16 | 32 => Some(Lanes(count)),
            _ => None,
        }
    }

    /// How many there are.
    pub const fn count(self) -> u32 {
        self.0
    }

    /// The highest number of one, which is also a mask of the bits that number a lane.
    pub const fn last(self) -> u32 {
        self.0 - 1
    }

    /// A bit for each.
    pub const fn mask(self) -> u32 {
        u32::MAX >> (32 - self.0)
    }
}

macro_rules! lanes {
    ($( $variant:ident $name:literal ($($arg:ident),*) -> $result:ident $doc:literal; )*) => {
        /// An operation of all lanes that run it together: it may not be run by more, fewer or others of them.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum LaneOp { $( #[doc = $doc] $variant, )* }

        impl LaneOp {
            /// All of them, in the order of the table.
            pub const ALL: &'static [LaneOp] = &[$(LaneOp::$variant,)*];

            /// The name in the text form.
            pub fn name(self) -> &'static str {
                match self { $(LaneOp::$variant => $name,)* }
            }

            /// What it reads, operand by operand.
            pub fn operands(self) -> &'static [Kind] {
                match self { $(LaneOp::$variant => &[$(Kind::$arg),*],)* }
            }

            /// What it gives.
            pub fn result(self) -> Kind {
                match self { $(LaneOp::$variant => Kind::$result,)* }
            }
        }
    };
}

#[rustfmt::skip]
lanes! {
    // A lane that doesn't run the operation, or that there isn't, gives zero.
    Ballot      "ballot"       (B)      -> W32 "A bit for each lane that runs this with a true operand.";
    Shuffle     "shuffle"      (T, W32) -> T   "a of lane b, which must be less than their number.";
    ShuffleXor  "shuffle_xor"  (T, W32) -> T   "a of the lane whose number is the own one xor b, which must be less than that number.";
}
