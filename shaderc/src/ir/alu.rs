//! The operations without memory or side effects: one table, one row an operation.
//!
//! Needs: nothing.  Guarantees: names, operand and result kinds, the widths at which an operation exists, and which
//! operations a back end must know all come from here; what they compute is in `interp/eval`, once.
//! Facts: hardware/compiler-isel.md 4, 5, 6 and 15.
use super::Type;

/// How an operation reads an operand or what it gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An integer of either sign. All operands and results of kinds I and F of one instruction have the same width.
    I,
    /// A float of that width.
    F,
    /// A boolean.
    B,
    /// A resource.
    R,
    /// A word, a boolean or a resource; all operands and results of this kind of one instruction have the same type.
    T,
    /// An integer of any width, whatever the others have.
    N,
    /// An integer of 8 bits.
    W8,
    /// An integer of 16 bits.
    W16,
    /// An integer of 32 bits.
    W32,
    /// An integer of 64 bits.
    W64,
    /// A binary16.
    F16,
    /// A binary32.
    F32,
    /// Two binary16 in a word, the first in the low half.
    H2,
    /// Two integers of 16 bits in a word, the first in the low half.
    I2,
}

impl Kind {
    /// The type of values of this kind, unless the instruction decides.
    pub fn ty(self) -> Option<Type> {
        match self {
            Kind::I | Kind::F | Kind::T | Kind::N => None,
            Kind::B => Some(Type::Bool),
            Kind::R => Some(Type::Resource),
            Kind::W8 => Some(Type::W8),
            Kind::W16 | Kind::F16 => Some(Type::W16),
            Kind::W32 | Kind::F32 | Kind::H2 | Kind::I2 => Some(Type::W32),
            Kind::W64 => Some(Type::W64),
        }
    }

    /// Whether the type is that which all such operands and results of the instruction have.
    pub fn is_common(self) -> bool {
        matches!(self, Kind::I | Kind::F | Kind::T)
    }

    /// Whether it is read as a float.
    pub fn is_float(self) -> bool {
        matches!(self, Kind::F | Kind::F16 | Kind::F32)
    }

    /// Whether it is read as an integer.
    pub fn is_integer(self) -> bool {
        match self {
            Kind::I | Kind::N | Kind::W8 | Kind::W16 | Kind::W32 | Kind::W64 | Kind::I2 => true,
            Kind::F | Kind::B | Kind::R | Kind::T | Kind::F16 | Kind::F32 | Kind::H2 => false,
        }
    }
}

/// At which widths an operation exists: those of its operands and results of kinds I and F.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Widths {
    /// 8, 16, 32 and 64 bits.
    All,
    /// 16 and 32 bits.
    Float,
    /// 32 bits.
    Word,
    /// It has no such operands or results.
    None,
}

impl Widths {
    /// Whether that width is among them.
    pub fn has(self, ty: Type) -> bool {
        match self {
            Widths::All => ty.is_word(),
            Widths::Float => matches!(ty, Type::W16 | Type::W32),
            Widths::Word => ty == Type::W32,
            Widths::None => false,
        }
    }
}

/// Who must know an operation, at the widths that the target has.
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
    ($( $variant:ident $name:literal ($($arg:ident),*) -> $result:ident $widths:ident $level:ident $swap:ident $doc:literal; )*) => {
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

            /// At which widths it exists.
            pub fn widths(self) -> Widths {
                match self { $(Alu::$variant => Widths::$widths,)* }
            }

            /// Whether a back end sees it.
            pub fn level(self) -> Level {
                match self { $(Alu::$variant => Level::$level,)* }
            }

            /// Whether operands 0 and 1 may change places.
            #[inline]
            pub fn commutes(self) -> bool {
                matches!(match self { $(Alu::$variant => Swap::$swap,)* }, Swap::Yes)
            }
        }
    };
}

#[rustfmt::skip]
alu! {
    // Integers: all results modulo 2^width.
    IAdd        "iadd"          (I, I)               -> I   All   Low  Yes "a + b";
    ISub        "isub"          (I, I)               -> I   All   Low  No  "a - b";
    IMul        "imul"          (I, I)               -> I   All   Low  Yes "Low half of a * b.";
    UMulHigh    "umul_high"     (I, I)               -> I   All   Low  Yes "High half of the unsigned product.";
    SMulHigh    "smul_high"     (I, I)               -> I   All   Low  Yes "High half of the signed product.";
    INeg        "ineg"          (I)                  -> I   All   Low  No  "0 - a";
    IAbs        "iabs"          (I)                  -> I   All   Low  No  "Absolute value; of the least integer, itself.";
    SMin        "smin"          (I, I)               -> I   All   Low  Yes "Signed minimum.";
    SMax        "smax"          (I, I)               -> I   All   Low  Yes "Signed maximum.";
    UMin        "umin"          (I, I)               -> I   All   Low  Yes "Unsigned minimum.";
    UMax        "umax"          (I, I)               -> I   All   Low  Yes "Unsigned maximum.";
    UDiv        "udiv"          (I, I)               -> I   All   High No  "Unsigned quotient; by zero, some value.";
    UMod        "umod"          (I, I)               -> I   All   High No  "Unsigned remainder; by zero, some value.";
    SDiv        "sdiv"          (I, I)               -> I   All   High No  "Signed quotient towards zero; by zero, some value.";
    SRem        "srem"          (I, I)               -> I   All   High No  "Signed remainder with the dividend's sign.";
    SMod        "smod"          (I, I)               -> I   All   High No  "Signed remainder with the divisor's sign.";
    SSign       "ssign"         (I)                  -> I   All   High No  "-1, 0 or 1";
    UDot4x8     "udot4x8"       (I, I, I)            -> I   Word  Low  Yes "c + sum of the four products of unsigned bytes, modulo 2^32.";
    SDot4x8     "sdot4x8"       (I, I, I)            -> I   Word  Low  Yes "c + sum of the four products of signed bytes, modulo 2^32.";
    // Bits. A shift takes its amount modulo the width.
    IAnd        "iand"          (I, I)               -> I   All   Low  Yes "Bitwise and.";
    IOr         "ior"           (I, I)               -> I   All   Low  Yes "Bitwise or.";
    IXor        "ixor"          (I, I)               -> I   All   Low  Yes "Bitwise exclusive or.";
    INot        "inot"          (I)                  -> I   All   Low  No  "Bitwise not.";
    IShl        "ishl"          (I, W32)             -> I   All   Low  No  "a << (b mod width)";
    UShr        "ushr"          (I, W32)             -> I   All   Low  No  "a >> (b mod width), zeros shifted in.";
    SShr        "sshr"          (I, W32)             -> I   All   Low  No  "a >> (b mod width), the sign shifted in.";
    RotL        "rotl"          (I, W32)             -> I   Word  Low  No  "a rotated left by b mod width.";
    BitSelect   "bit_select"    (I, I, I)            -> I   All   Low  No  "(b & a) | (c & ~a): bits of b where a is set, else of c.";
    BitCount    "bit_count"     (I)                  -> W32 All   Low  No  "Number of set bits.";
    BitReverse  "bit_reverse"   (I)                  -> I   All   Low  No  "Bit 0 becomes the highest.";
    Clz         "clz"           (I)                  -> W32 All   Low  No  "Leading zeros; the width for 0.";
    FindLsb     "find_lsb"      (I)                  -> W32 All   High No  "Number of the lowest set bit; -1 for 0.";
    UFindMsb    "ufind_msb"     (I)                  -> W32 All   High No  "Number of the highest set bit; -1 for 0.";
    SFindMsb    "sfind_msb"     (I)                  -> W32 All   High No  "Highest bit that differs from the sign; -1 for 0 and -1.";
    BitInsert   "bit_insert"    (I, I, W32, W32)     -> I   All   High No  "a with d low bits of b put at bit c. c + d > width: some value.";
    UBitExtract "ubit_extract"  (I, W32, W32)        -> I   All   High No  "c bits of a from bit b, zeros above. b + c > width: some value.";
    SBitExtract "sbit_extract"  (I, W32, W32)        -> I   All   High No  "c bits of a from bit b, sign above. b + c > width: some value.";
    // Comparisons.
    IEq         "ieq"           (I, I)               -> B   All   Low  Yes "a == b";
    INe         "ine"           (I, I)               -> B   All   Low  Yes "a != b";
    SLt         "slt"           (I, I)               -> B   All   Low  No  "a < b, signed.";
    SGe         "sge"           (I, I)               -> B   All   Low  No  "a >= b, signed.";
    ULt         "ult"           (I, I)               -> B   All   Low  No  "a < b, unsigned.";
    UGe         "uge"           (I, I)               -> B   All   Low  No  "a >= b, unsigned.";
    REq         "req"           (R, R)               -> B   None  Low  Yes "a and b are the same element of one binding.";
    FEq         "feq"           (F, F)               -> B   Float Low  Yes "a == b; false for NaN.";
    FNe         "fne"           (F, F)               -> B   Float Low  Yes "not (a == b); true for NaN.";
    FLt         "flt"           (F, F)               -> B   Float Low  No  "a < b; false for NaN.";
    FGe         "fge"           (F, F)               -> B   Float Low  No  "a >= b; false for NaN.";
    // Booleans and selection.
    BAnd        "band"          (B, B)               -> B   None  Low  Yes "a and b";
    BOr         "bor"           (B, B)               -> B   None  Low  Yes "a or b";
    BXor        "bxor"          (B, B)               -> B   None  Low  Yes "a differs from b";
    BNot        "bnot"          (B)                  -> B   None  Low  No  "not a";
    Select      "select"        (B, T, T)            -> T   None  Low  No  "a ? b : c";
    B2I         "b2i"           (B)                  -> W32 None  Low  No  "a ? 1 : 0";
    B2F         "b2f"           (B)                  -> F32 None  Low  No  "a ? 1.0 : 0.0";
    // Floats: round to nearest even, denormals kept. Min and max give the operand that isn't NaN and take -0 < +0.
    FAdd        "fadd"          (F, F)               -> F   Float Low  Yes "a + b";
    FSub        "fsub"          (F, F)               -> F   Float Low  No  "a - b";
    FMul        "fmul"          (F, F)               -> F   Float Low  Yes "a * b";
    FFma        "ffma"          (F, F, F)            -> F   Float Low  Yes "a * b + c with one rounding.";
    FNeg        "fneg"          (F)                  -> F   Float Low  No  "The sign bit inverted.";
    FAbs        "fabs"          (F)                  -> F   Float Low  No  "The sign bit cleared.";
    FMin        "fmin"          (F, F)               -> F   Float Low  Yes "Minimum.";
    FMax        "fmax"          (F, F)               -> F   Float Low  Yes "Maximum.";
    FSat        "fsat"          (F)                  -> F   Float Low  No  "fmin(fmax(a, 0.0), 1.0); 0.0 for NaN and -0.0.";
    FFloor      "ffloor"        (F)                  -> F   Float Low  No  "Rounded towards minus infinity.";
    FCeil       "fceil"         (F)                  -> F   Float Low  No  "Rounded towards plus infinity.";
    FTrunc      "ftrunc"        (F)                  -> F   Float Low  No  "Rounded towards zero.";
    FRoundEven  "fround_even"   (F)                  -> F   Float Low  No  "Rounded to nearest, ties to even.";
    FRcp        "frcp"          (F)                  -> F   Float Low  No  "1 / a, within 1 ulp.";
    FRsq        "frsq"          (F)                  -> F   Float Low  No  "1 / sqrt(a), within 2 ulp.";
    FExp2       "fexp2"         (F)                  -> F   Float Low  No  "2 to the power a, within 3 + 2 |a| ulp.";
    FLog2       "flog2"         (F)                  -> F   Float Low  No  "Logarithm to base 2, within 3 ulp; 2^-21 between 0.5 and 2.";
    FSin        "fsin"          (F)                  -> F   Float Low  No  "Sine of a in radians, within 2^-11 for |a| <= pi.";
    FCos        "fcos"          (F)                  -> F   Float Low  No  "Cosine of a in radians, within 2^-11 for |a| <= pi.";
    FLdexp      "fldexp"        (F, W32)             -> F   Float Low  No  "a * 2^b.";
    FrexpMant   "frexp_mant"    (F)                  -> F   Float Low  No  "Mantissa in [0.5, 1) with a's sign; of 0, infinity, NaN: itself.";
    FrexpExp    "frexp_exp"     (F)                  -> W32 Float Low  No  "Exponent to that mantissa; 0 for 0, some value for infinity and NaN.";
    FDiv        "fdiv"          (F, F)               -> F   Float High No  "a / b, within 2.5 ulp.";
    FSqrt       "fsqrt"         (F)                  -> F   Float High No  "Square root, within what 1 / inversesqrt has.";
    FFract      "ffract"        (F)                  -> F   Float High No  "a - floor(a)";
    FSign       "fsign"         (F)                  -> F   Float High No  "-1.0, 0.0 or 1.0; some value for NaN.";
    FMod        "fmod"          (F, F)               -> F   Float High No  "a - b * floor(a / b)";
    FRem        "frem"          (F, F)               -> F   Float High No  "a - b * trunc(a / b)";
    // Conversions. From float: towards zero, saturating, NaN gives 0. To float: to nearest even.
    F2I         "f2i"           (F32)                -> W32 None  Low  No  "To a signed integer.";
    F2U         "f2u"           (F32)                -> W32 None  Low  No  "To an unsigned integer.";
    I2F         "i2f"           (W32)                -> F32 None  Low  No  "From a signed integer.";
    U2F         "u2f"           (W32)                -> F32 None  Low  No  "From an unsigned integer.";
    PackHalf    "pack_half"     (F32, F32)           -> W32 None  Low  No  "Two binary16, a in the low half; to nearest even.";
    HalfLow     "half_low"      (W32)                -> F32 None  Low  No  "The binary16 in the low half.";
    HalfHigh    "half_high"     (W32)                -> F32 None  Low  No  "The binary16 in the high half.";
    // Two binary16 at once.
    Pack16      "pack16"        (W32, W32)           -> W32 None  Low  No  "The low half of a below the low half of b.";
    FAdd2       "fadd2"         (H2, H2)             -> H2  None  Low  Yes "a + b in each half.";
    FMul2       "fmul2"         (H2, H2)             -> H2  None  Low  Yes "a * b in each half.";
    FFma2       "ffma2"         (H2, H2, H2)         -> H2  None  Low  Yes "a * b + c with one rounding, in each half.";
    FMin2       "fmin2"         (H2, H2)             -> H2  None  Low  Yes "Minimum in each half.";
    FMax2       "fmax2"         (H2, H2)             -> H2  None  Low  Yes "Maximum in each half.";
    FSat2       "fsat2"         (H2)                 -> H2  None  Low  No  "fmin(fmax(a, 0.0), 1.0) in each half.";
    // Two integers of 16 bits at once. A shift takes each amount modulo 16, a comparison gives ones in a half or zeros.
    IAdd2       "iadd2"         (I2, I2)             -> I2  None  Low  Yes "a + b in each half.";
    ISub2       "isub2"         (I2, I2)             -> I2  None  Low  No  "a - b in each half.";
    IMul2       "imul2"         (I2, I2)             -> I2  None  Low  Yes "Low half of a * b in each half.";
    IAbs2       "iabs2"         (I2)                 -> I2  None  Low  No  "Absolute value in each half; of the least integer, itself.";
    SMin2       "smin2"         (I2, I2)             -> I2  None  Low  Yes "Signed minimum in each half.";
    SMax2       "smax2"         (I2, I2)             -> I2  None  Low  Yes "Signed maximum in each half.";
    UMin2       "umin2"         (I2, I2)             -> I2  None  Low  Yes "Unsigned minimum in each half.";
    UMax2       "umax2"         (I2, I2)             -> I2  None  Low  Yes "Unsigned maximum in each half.";
    IShl2       "ishl2"         (I2, I2)             -> I2  None  Low  No  "a << b in each half.";
    UShr2       "ushr2"         (I2, I2)             -> I2  None  Low  No  "a >> b in each half, zeros shifted in.";
    SShr2       "sshr2"         (I2, I2)             -> I2  None  Low  No  "a >> b in each half, the sign shifted in.";
    IEq2        "ieq2"          (I2, I2)             -> I2  None  Low  Yes "a == b in each half.";
    SLt2        "slt2"          (I2, I2)             -> I2  None  Low  No  "a < b in each half, signed.";
    ULt2        "ult2"          (I2, I2)             -> I2  None  Low  No  "a < b in each half, unsigned.";
    FQuantize16 "fquantize16"   (F32)                -> F32 None  High No  "To binary16 and back, binary16's denormals flushed to zero.";
    // Between widths. From the low bits of a word, or all of it extended.
    U2U8        "u2u8"          (N)                  -> W8  None  High No  "To 8 bits: cut off, or with zeros above.";
    U2U16       "u2u16"         (N)                  -> W16 None  High No  "To 16 bits: cut off, or with zeros above.";
    U2U32       "u2u32"         (N)                  -> W32 None  High No  "To 32 bits: cut off, or with zeros above.";
    U2U64       "u2u64"         (N)                  -> W64 None  High No  "To 64 bits: cut off, or with zeros above.";
    S2S16       "s2s16"         (N)                  -> W16 None  High No  "To 16 bits: cut off, or with the sign above.";
    S2S32       "s2s32"         (N)                  -> W32 None  High No  "To 32 bits: cut off, or with the sign above.";
    S2S64       "s2s64"         (N)                  -> W64 None  High No  "To 64 bits: cut off, or with the sign above.";
    Pack64      "pack64"        (W32, W32)           -> W64 None  Low  No  "a below b.";
    Low64       "low64"         (W64)                -> W32 None  Low  No  "The low half.";
    High64      "high64"        (W64)                -> W32 None  Low  No  "The high half.";
    F2F16       "f2f16"         (F32)                -> F16 None  High No  "To binary16; to nearest even.";
    F2F32       "f2f32"         (F16)                -> F32 None  High No  "From binary16.";
    F2S64       "f2s64"         (F32)                -> W64 None  High No  "To a signed integer.";
    F2U64       "f2u64"         (F32)                -> W64 None  High No  "To an unsigned integer.";
    S64ToF      "s64_to_f"      (W64)                -> F32 None  High No  "From a signed integer.";
    U64ToF      "u64_to_f"      (W64)                -> F32 None  High No  "From an unsigned integer.";
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
