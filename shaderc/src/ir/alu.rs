//! The operations without memory or side effects: one table, one row an operation.
//!
//! Needs: nothing.  Guarantees: names, operand and result kinds, and which operations a back end must know all come
//! from here; what they compute is in `interp/alu`, once.  Facts: hardware/compiler-isel.md 4, 6 and 15.
use super::Type;

/// How an operation reads an operand or what it gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A word as an integer of either sign.
    I,
    /// A word as binary32.
    F,
    /// A boolean.
    B,
    /// A word or a boolean; all operands and results of this kind of one instruction have the same type.
    T,
}

impl Kind {
    /// The type of values of this kind, unless the instruction decides.
    pub fn ty(self) -> Option<Type> {
        match self {
            Kind::I | Kind::F => Some(Type::W32),
            Kind::B => Some(Type::Bool),
            Kind::T => None,
        }
    }
}

/// Who must know an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Stays until the back end, which must be able to select it.
    Low,
    /// A pass in `lower` replaces it by others.
    High,
}

/// Whether the first two operands may change places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Swap {
    /// They may.
    Yes,
    /// They may not.
    No,
}

macro_rules! alu {
    ($( $variant:ident $name:literal ($($arg:ident),*) -> $result:ident $level:ident $swap:ident $doc:literal; )*) => {
        /// An operation on scalars: pure, never trapping, one result.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Alu { $( #[doc = $doc] $variant, )* }

        impl Alu {
            /// All operations, in the order of the table.
            pub const ALL: &'static [Alu] = &[$(Alu::$variant,)*];

            /// The name in the text form.
            pub fn name(self) -> &'static str {
                match self { $(Alu::$variant => $name,)* }
            }

            /// What it reads, operand by operand.
            pub fn operands(self) -> &'static [Kind] {
                match self { $(Alu::$variant => &[$(Kind::$arg),*],)* }
            }

            /// What it gives.
            pub fn result(self) -> Kind {
                match self { $(Alu::$variant => Kind::$result,)* }
            }

            /// Whether a back end sees it.
            pub fn level(self) -> Level {
                match self { $(Alu::$variant => Level::$level,)* }
            }

            /// Whether operands 0 and 1 may change places.
            pub fn commutes(self) -> bool {
                matches!(match self { $(Alu::$variant => Swap::$swap,)* }, Swap::Yes)
            }
        }
    };
}

#[rustfmt::skip]
alu! {
    // Integers: all results modulo 2^32.
    IAdd        "iadd"         (I, I)    -> I Low  Yes "a + b";
    ISub        "isub"         (I, I)    -> I Low  No  "a - b";
    IMul        "imul"         (I, I)    -> I Low  Yes "Low word of a * b.";
    UMulHigh    "umul_high"    (I, I)    -> I Low  Yes "High word of the unsigned product.";
    SMulHigh    "smul_high"    (I, I)    -> I Low  Yes "High word of the signed product.";
    INeg        "ineg"         (I)       -> I Low  No  "0 - a";
    IAbs        "iabs"         (I)       -> I Low  No  "Absolute value; of the least integer, itself.";
    SMin        "smin"         (I, I)    -> I Low  Yes "Signed minimum.";
    SMax        "smax"         (I, I)    -> I Low  Yes "Signed maximum.";
    UMin        "umin"         (I, I)    -> I Low  Yes "Unsigned minimum.";
    UMax        "umax"         (I, I)    -> I Low  Yes "Unsigned maximum.";
    UDiv        "udiv"         (I, I)    -> I High No  "Unsigned quotient; by zero, some value.";
    UMod        "umod"         (I, I)    -> I High No  "Unsigned remainder; by zero, some value.";
    SDiv        "sdiv"         (I, I)    -> I High No  "Signed quotient towards zero; by zero, some value.";
    SRem        "srem"         (I, I)    -> I High No  "Signed remainder with the dividend's sign.";
    SMod        "smod"         (I, I)    -> I High No  "Signed remainder with the divisor's sign.";
    SSign       "ssign"        (I)       -> I High No  "-1, 0 or 1";
    UDot4x8     "udot4x8"      (I, I, I) -> I Low  Yes "c + sum of the four products of unsigned bytes, modulo 2^32.";
    SDot4x8     "sdot4x8"      (I, I, I) -> I Low  Yes "c + sum of the four products of signed bytes, modulo 2^32.";
    // Bits. A shift takes the low five bits of its amount.
    IAnd        "iand"         (I, I)    -> I Low  Yes "Bitwise and.";
    IOr         "ior"          (I, I)    -> I Low  Yes "Bitwise or.";
    IXor        "ixor"         (I, I)    -> I Low  Yes "Bitwise exclusive or.";
    INot        "inot"         (I)       -> I Low  No  "Bitwise not.";
    IShl        "ishl"         (I, I)    -> I Low  No  "a << (b & 31)";
    UShr        "ushr"         (I, I)    -> I Low  No  "a >> (b & 31), zeros shifted in.";
    SShr        "sshr"         (I, I)    -> I Low  No  "a >> (b & 31), the sign shifted in.";
    RotL        "rotl"         (I, I)    -> I Low  No  "a rotated left by b & 31.";
    BitSelect   "bit_select"   (I, I, I) -> I Low  No  "(b & a) | (c & ~a): bits of b where a is set, else of c.";
    BitCount    "bit_count"    (I)       -> I Low  No  "Number of set bits.";
    BitReverse  "bit_reverse"  (I)       -> I Low  No  "Bit 0 becomes bit 31.";
    Clz         "clz"          (I)       -> I Low  No  "Leading zeros; 32 for 0.";
    FindLsb     "find_lsb"     (I)       -> I High No  "Number of the lowest set bit; -1 for 0.";
    UFindMsb    "ufind_msb"    (I)       -> I High No  "Number of the highest set bit; -1 for 0.";
    SFindMsb    "sfind_msb"    (I)       -> I High No  "Highest bit that differs from the sign; -1 for 0 and -1.";
    BitInsert   "bit_insert"   (I, I, I, I) -> I High No "a with d low bits of b put at bit c. c + d > 32: some value.";
    UBitExtract "ubit_extract" (I, I, I) -> I High No  "c bits of a from bit b, zeros above. b + c > 32: some value.";
    SBitExtract "sbit_extract" (I, I, I) -> I High No  "c bits of a from bit b, sign above. b + c > 32: some value.";
    // Comparisons.
    IEq         "ieq"          (I, I)    -> B Low  Yes "a == b";
    INe         "ine"          (I, I)    -> B Low  Yes "a != b";
    SLt         "slt"          (I, I)    -> B Low  No  "a < b, signed.";
    SGe         "sge"          (I, I)    -> B Low  No  "a >= b, signed.";
    ULt         "ult"          (I, I)    -> B Low  No  "a < b, unsigned.";
    UGe         "uge"          (I, I)    -> B Low  No  "a >= b, unsigned.";
    FEq         "feq"          (F, F)    -> B Low  Yes "a == b; false for NaN.";
    FNe         "fne"          (F, F)    -> B Low  Yes "not (a == b); true for NaN.";
    FLt         "flt"          (F, F)    -> B Low  No  "a < b; false for NaN.";
    FGe         "fge"          (F, F)    -> B Low  No  "a >= b; false for NaN.";
    // Booleans and selection.
    BAnd        "band"         (B, B)    -> B Low  Yes "a and b";
    BOr         "bor"          (B, B)    -> B Low  Yes "a or b";
    BXor        "bxor"         (B, B)    -> B Low  Yes "a differs from b";
    BNot        "bnot"         (B)       -> B Low  No  "not a";
    Select      "select"       (B, T, T) -> T Low  No  "a ? b : c";
    B2I         "b2i"          (B)       -> I Low  No  "a ? 1 : 0";
    B2F         "b2f"          (B)       -> F Low  No  "a ? 1.0 : 0.0";
    // Floats: round to nearest even, denormals kept. Min and max give the operand that isn't NaN and take -0 < +0.
    FAdd        "fadd"         (F, F)    -> F Low  Yes "a + b";
    FSub        "fsub"         (F, F)    -> F Low  No  "a - b";
    FMul        "fmul"         (F, F)    -> F Low  Yes "a * b";
    FFma        "ffma"         (F, F, F) -> F Low  Yes "a * b + c with one rounding.";
    FNeg        "fneg"         (F)       -> F Low  No  "The sign bit inverted.";
    FAbs        "fabs"         (F)       -> F Low  No  "The sign bit cleared.";
    FMin        "fmin"         (F, F)    -> F Low  Yes "Minimum.";
    FMax        "fmax"         (F, F)    -> F Low  Yes "Maximum.";
    FSat        "fsat"         (F)       -> F Low  No  "fmin(fmax(a, 0.0), 1.0); 0.0 for NaN and -0.0.";
    FFloor      "ffloor"       (F)       -> F Low  No  "Rounded towards minus infinity.";
    FCeil       "fceil"        (F)       -> F Low  No  "Rounded towards plus infinity.";
    FTrunc      "ftrunc"       (F)       -> F Low  No  "Rounded towards zero.";
    FRoundEven  "fround_even"  (F)       -> F Low  No  "Rounded to nearest, ties to even.";
    FRcp        "frcp"         (F)       -> F Low  No  "1 / a, within 1 ulp.";
    FRsq        "frsq"         (F)       -> F Low  No  "1 / sqrt(a), within 2 ulp.";
    FExp2       "fexp2"        (F)       -> F Low  No  "2 to the power a, within 3 + 2 |a| ulp.";
    FLog2       "flog2"        (F)       -> F Low  No  "Logarithm to base 2, within 3 ulp; 2^-21 between 0.5 and 2.";
    FSin        "fsin"         (F)       -> F Low  No  "Sine of a in radians, within 2^-11 for |a| <= pi.";
    FCos        "fcos"         (F)       -> F Low  No  "Cosine of a in radians, within 2^-11 for |a| <= pi.";
    FLdexp      "fldexp"       (F, I)    -> F Low  No  "a * 2^b.";
    FrexpMant   "frexp_mant"   (F)       -> F Low  No  "Mantissa in [0.5, 1) with a's sign; of 0, infinity, NaN: itself.";
    FrexpExp    "frexp_exp"    (F)       -> I Low  No  "Exponent to that mantissa; 0 for 0, some value for infinity and NaN.";
    FDiv        "fdiv"         (F, F)    -> F High No  "a / b, within 2.5 ulp.";
    FSqrt       "fsqrt"        (F)       -> F High No  "Square root, within what 1 / inversesqrt has.";
    FFract      "ffract"       (F)       -> F High No  "a - floor(a)";
    FSign       "fsign"        (F)       -> F High No  "-1.0, 0.0 or 1.0; some value for NaN.";
    FMod        "fmod"         (F, F)    -> F High No  "a - b * floor(a / b)";
    FRem        "frem"         (F, F)    -> F High No  "a - b * trunc(a / b)";
    // Conversions. From float: towards zero, saturating, NaN gives 0. To float: to nearest even.
    F2I         "f2i"          (F)       -> I Low  No  "To a signed integer.";
    F2U         "f2u"          (F)       -> I Low  No  "To an unsigned integer.";
    I2F         "i2f"          (I)       -> F Low  No  "From a signed integer.";
    U2F         "u2f"          (I)       -> F Low  No  "From an unsigned integer.";
    PackHalf    "pack_half"    (F, F)    -> I Low  No  "Two binary16, a in the low half; to nearest even.";
    HalfLow     "half_low"     (I)       -> F Low  No  "The binary16 in the low half.";
    HalfHigh    "half_high"    (I)       -> F Low  No  "The binary16 in the high half.";
    FQuantize16 "fquantize16"  (F)       -> F High No  "To binary16 and back, binary16's denormals flushed to zero.";
}

impl Alu {
    /// The operation of that name.
    pub fn from_name(name: &str) -> Option<Alu> {
        Alu::ALL.iter().copied().find(|alu| alu.name() == name)
    }
}

impl std::fmt::Display for Alu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
