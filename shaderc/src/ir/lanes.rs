//! The operations that lanes of a subgroup do together: one table, one row an operation.
//!
//! Needs: nothing.  Guarantees: names, operands and results come from here; what they give is in `interp/lanes`.
//! All else that subgroups offer is made of these.  Facts: hardware/compiler-isel.md 8.
use super::stage::Stages;
use super::{Alu, Kind, Type};

/// Lanes that run together and know of one another: a subgroup. A workgroup's invocations fill subgroups in the order of
/// their index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes(u32);

impl Lanes {
    /// What a function has that says nothing else.
    pub const DEFAULT: Lanes = Lanes(16);

    /// A subgroup of so many lanes: a power of two from a quad to 64.
    pub const fn new(count: u32) -> Option<Lanes> {
        match count {
            4 | 8 | 16 | 32 | 64 => Some(Lanes(count)),
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

    /// Words that have a bit for each.
    pub const fn mask_words(self) -> u8 {
        self.0.div_ceil(32) as u8
    }

    /// A bit for each of those whose bits are in one word of a mask.
    pub const fn mask(self) -> u32 {
        match self.0 {
            0..32 => u32::MAX >> (32 - self.0),
            _ => u32::MAX,
        }
    }
}

/// Whose values an operation of lanes reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Among {
    /// Those of lanes of its subgroup.
    Subgroup,
    /// Those of the other lanes of its quad, which run for it if need be.
    Quad,
}

macro_rules! lanes {
    ($( $variant:ident $name:literal ($($arg:ident),*) -> $result:ident $stages:ident $among:ident $doc:literal; )*) => {
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

            /// Which stages have it.
            pub fn stages(self) -> Stages {
                match self { $(LaneOp::$variant => Stages::$stages,)* }
            }

            /// Whose values it reads.
            pub fn among(self) -> Among {
                match self { $(LaneOp::$variant => Among::$among,)* }
            }
        }
    };
}

#[rustfmt::skip]
lanes! {
    // A lane that doesn't run the operation, or that there isn't, gives zero. Ballots have more than one result: `Op::Ballot`.
    First       "first"        (T)      -> T   TOGETHER Subgroup "a of the lowest lane that runs this.";
    Shuffle     "shuffle"      (T, W32) -> T   TOGETHER Subgroup "a of lane b, which must be less than their number.";
    ShuffleXor  "shuffle_xor"  (T, W32) -> T   TOGETHER Subgroup "a of the lane whose number is the own one xor b, which must be less than that number.";
    QuadSwapX   "quad_swap_x"  (T)      -> T   FRAGMENT Quad     "a of the lane beside the own one in the quad: its number xor 1.";
    QuadSwapY   "quad_swap_y"  (T)      -> T   FRAGMENT Quad     "a of the lane above or below the own one in the quad: its number xor 2.";
}

/// What a lane gets of the values of all lanes that run a scan together, which are combined in the order of the lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScanForm {
    /// Of all lanes.
    Reduce,
    /// Of the lanes up to its own.
    Inclusive,
    /// Of the lanes below its own, after what changes nothing.
    Exclusive,
}

impl ScanForm {
    /// All of them, with their names in the text form.
    pub const ALL: [(ScanForm, &'static str); 3] = [
        (ScanForm::Reduce, "reduce"),
        (ScanForm::Inclusive, "inclusive"),
        (ScanForm::Exclusive, "exclusive"),
    ];

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        let mut all = ScanForm::ALL.iter();
        all.find(|(form, _)| *form == self)
            .map_or("?", |(_, name)| name)
    }
}

macro_rules! combines {
    ($( $variant:ident $alu:ident $doc:literal; )*) => {
        /// How a scan combines two words.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Combine { $( #[doc = $doc] $variant, )* }

        impl Combine {
            /// All of them, in the order of the table.
            pub const ALL: &'static [Combine] = &[$(Combine::$variant,)*];

            /// The operation on words that it is, which also has its name.
            pub fn alu(self) -> Alu {
                match self { $(Combine::$variant => Alu::$alu,)* }
            }
        }
    };
}

#[rustfmt::skip]
combines! {
    IAdd  IAdd  "The sum.";
    IMul  IMul  "The product.";
    FAdd  FAdd  "The sum of floats.";
    FMul  FMul  "The product of floats.";
    SMin  SMin  "The least signed integer.";
    SMax  SMax  "The greatest signed integer.";
    UMin  UMin  "The least integer.";
    UMax  UMax  "The greatest integer.";
    FMin  FMin  "The least float.";
    FMax  FMax  "The greatest float.";
    And   IAnd  "The bits that all have.";
    Or    IOr   "The bits that any has.";
    Xor   IXor  "The bits that an odd number has.";
}

impl Combine {
    /// What changes nothing, as a value of a type.
    pub fn neutral(self, ty: Type) -> u64 {
        let half = ty == Type::W16;
        match self {
            // The sum of no numbers but minus zeros is minus zero.
            Combine::IAdd | Combine::FAdd | Combine::UMax | Combine::Or | Combine::Xor => 0,
            Combine::IMul => 1,
            Combine::UMin | Combine::And => ty.mask(),
            Combine::SMin => ty.mask() >> 1,
            Combine::SMax => 1 << (ty.bits() - 1),
            Combine::FMul if half => 0x3c00,
            Combine::FMul => f32::to_bits(1.0).into(),
            Combine::FMin if half => 0x7c00,
            Combine::FMin => f32::INFINITY.to_bits().into(),
            Combine::FMax if half => 0xfc00,
            Combine::FMax => f32::NEG_INFINITY.to_bits().into(),
        }
    }
}
