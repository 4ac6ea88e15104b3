//! What arithmetic and control instructions do.
//!
//! Facts: hardware/valhall-isa.md sections 9 and 12.

use super::operation::Operation as O;
use super::{Logic, Meaning, ShiftKind, row};

const fn shift(kind: ShiftKind, logic: Logic) -> O {
    O::Shift { kind, logic }
}

#[rustfmt::skip]
pub(super) const MEANINGS: &[Meaning] = &[
    // Control.
    row("NOP",                O::Nothing,                         "Does nothing but its flow control."),
    row("BRANCHZ",            O::Branch,                          "Goes on at the next instruction + offset if A is not zero; with eq, if it is zero."),
    row("BRANCHZI",           O::BranchTo,                        "Goes on at the address B if A is not zero; with eq, if it is zero."),
    row("JUMP_EX",            O::JumpExtended,                    "Jumps to, calls or returns to the address C:B if A is not zero, with a stack of return addresses."),
    row("DISCARD",            O::Discard,                         "Marks the fragment's thread as discarded if A compares with B."),

    // Moves and packing.
    row("MOV",                O::Move,                            "A as it is."),
    row("MKVEC.v2i16",        O::MakeHalves,                      "A half of A in the low half, a half of B in the high half."),
    row("MKVEC.v2i8",         O::MakeBytes,                       "A byte of A in byte 0, a byte of B in byte 1, the low half of C above them."),

    // Conversions.
    row("V2S16_TO_V2F16",     O::IntegerToFloat { signed: true },  "Each signed half of A as a float, rounded by the round mode."),
    row("V2U16_TO_V2F16",     O::IntegerToFloat { signed: false }, "Each unsigned half of A as a float, rounded by the round mode."),
    row("S32_TO_F32",         O::IntegerToFloat { signed: true },  "The signed integer A as a float, rounded by the round mode."),
    row("U32_TO_F32",         O::IntegerToFloat { signed: false }, "The unsigned integer A as a float, rounded by the round mode."),
    row("S16_TO_S32",         O::Extend { signed: true },          "A half of A, sign-extended."),
    row("S16_TO_F32",         O::IntegerToFloat { signed: true },  "A signed half of A as a float, exact."),
    row("U16_TO_U32",         O::Extend { signed: false },         "A half of A, zero-extended."),
    row("U16_TO_F32",         O::IntegerToFloat { signed: false }, "An unsigned half of A as a float, exact."),
    row("F32_TO_S32",         O::FloatToInteger { signed: true },  "A rounded to an integer by the round mode, then saturated to 32 signed bits; NaN gives 0."),
    row("F32_TO_U32",         O::FloatToInteger { signed: false }, "A rounded to an integer by the round mode, then saturated to 32 unsigned bits; NaN and negative values give 0."),
    row("V2F16_TO_V2S16",     O::FloatToInteger { signed: true },  "Each half of A rounded to an integer by the round mode, then saturated to 16 signed bits; NaN gives 0."),
    row("V2F16_TO_V2U16",     O::FloatToInteger { signed: false }, "Each half of A rounded to an integer by the round mode, then saturated to 16 unsigned bits; NaN and negative values give 0."),
    row("F16_TO_S32",         O::FloatToInteger { signed: true },  "A half of A rounded to a signed integer by the round mode; NaN gives 0."),
    row("F16_TO_U32",         O::FloatToInteger { signed: false }, "A half of A rounded to an unsigned integer by the round mode; NaN and negative values give 0."),
    row("F16_TO_F32",         O::HalfToFloat,                      "A half of A as a float of 32 bits, exact."),
    row("S8_TO_S32",          O::Extend { signed: true },          "A byte of A, sign-extended."),
    row("S8_TO_F32",          O::IntegerToFloat { signed: true },  "A signed byte of A as a float, exact."),
    row("U8_TO_U32",          O::Extend { signed: false },         "A byte of A, zero-extended."),
    row("U8_TO_F32",          O::IntegerToFloat { signed: false }, "An unsigned byte of A as a float, exact."),
    row("V2S8_TO_V2S16",      O::Extend { signed: true },          "Two bytes of A, each sign-extended to a half."),
    row("V2S8_TO_V2F16",      O::IntegerToFloat { signed: true },  "Two signed bytes of A as halves, exact."),
    row("V2U8_TO_V2U16",      O::Extend { signed: false },         "Two bytes of A, each zero-extended to a half."),
    row("V2U8_TO_V2F16",      O::IntegerToFloat { signed: false }, "Two unsigned bytes of A as halves, exact."),
    row("V2F32_TO_V2F16",     O::FloatsToHalves,                   "A in the low half and B in the high half, each clamped, then rounded to 16 bits by the round mode."),
    row("FROUND",             O::RoundToIntegral,                  "A rounded to an integral value by the round mode; a zero keeps its sign."),

    // Integers.
    row("CLZ",                O::LeadingZeros,                    "The number of zeros above the first one of each lane of A; for zero the lane's width, or with mask all ones."),
    row("IABS",               O::Absolute,                        "|A| in each lane; the most negative value stays as it is."),
    row("POPCOUNT",           O::PopulationCount,                 "The number of bits of A that are set."),
    row("BITREV",             O::ReverseBits,                     "The bits of A in reverse order."),
    row("IADD",               O::Add,                             "A + B in each lane, modulo its width; with saturate, clamped to the range of the type."),
    row("ISUB",               O::Subtract,                        "A - B in each lane, modulo its width; with saturate, clamped to the range of the type."),
    row("IADD_IMM",           O::Add,                             "A + constant in each lane, modulo its width."),
    row("IADDC",              O::AddCarry,                        "A + B + C, where C is a carry; with return_carry, the carry out of that sum."),
    row("ISUBB",              O::SubtractBorrow,                  "A - B - C, where C is a borrow; with return_carry, the borrow out of that difference."),
    row("SEG_ADD",            O::SegmentAdd,                      "The address A + B widened to 64 bits, or with neg A - B; for workgroup memory."),
    row("SHADDX",             O::ShiftAdd,                        "A + (B widened to 64 bits << shift), modulo 2^64."),
    row("IMUL",               O::Multiply,                        "The low bits of A * B in each lane; with saturate, the product clamped to the range of the type."),
    row("IMULD",              O::MultiplyWide,                    "The 64-bit product of A and B, parts of 32 bits or less that are widened."),
    row("HADD",               O::Average,                         "(A + B) >> 1 in each lane, without overflow; with rhadd (A + B + 1) >> 1."),
    row("IDP",                O::DotProduct,                      "C + the sum of the products of the four bytes of A and B; with saturate, clamped to 32 bits of the type."),

    // Floats.
    row("FADD",               O::Add,                             "A + B, rounded once by the round mode, then clamped; per lane. A destination narrower than 32 bits takes the sum as f16."),
    row("FADD_IMM",           O::Add,                             "A + constant, rounded to nearest even; per lane."),
    row("FMA",                O::MultiplyAdd,                     "A * B + C, rounded once by the round mode, then clamped; per lane. A destination narrower than 32 bits takes the result as f16."),
    row("FMIN",               O::Minimum,                         "The smaller of A and B, then clamped; per lane. -0 is smaller than +0; of a NaN and a number the number, or with nan_propagate NaN."),
    row("FMAX",               O::Maximum,                         "The larger of A and B, then clamped; per lane. +0 is larger than -0; of a NaN and a number the number, or with nan_propagate NaN."),
    row("LDEXP",              O::ScaleByPower,                    "A * 2^B with an integer B, rounded where the result is subnormal; per lane."),
    row("FMA_RSCALE",         O::MultiplyAddScale,                "(A * B + C) * 2^D with an integer D, rounded once, then clamped."),
    row("FMA_RSCALE_N",       O::MultiplyAddScaleZero,            "(A * B + C) * 2^D, rounded once, then clamped; the product is 0 if A or B is 0, even against infinity or NaN."),
    row("FMA_RSCALE_LEFT",    O::MultiplyAddScaleLeft,            "(A * B + C) * 2^D, rounded once, then clamped; the product is A if A or B is 0."),
    row("FMA_RSCALE_SCALE16", O::MultiplyAddScaleSpecial,         "(A * B + C) * 2^D in the mode that Arm calls n_add; its exact rule is not established."),
    row("FADD_LSCALE",        O::AddScaled,                       "A + B scaled by a power of two to a magnitude in [0.75, 1.5), rounded once, then clamped."),
    row("FREXPM",             O::Mantissa,                        "The mantissa of A with its sign, in [0.5, 1); with sqrt in [0.25, 1), with log in [0.75, 1.5)."),
    row("FREXPE",             O::Exponent,                        "The exponent e of A as an integer, so that A = mantissa * 2^e (with sqrt, 4^e); with neg_result, -e."),
    row("FPCLASS",            O::Classify,                        "A word that classifies A; its bits are not established."),
    row("FLUSH",              O::Flush,                           "A; its subnormals become zero with ftz, its infinities the largest number with flush_inf, its NaNs as nan_mode says."),
    row("ILOGB",              O::ExponentInteger,                 "The exponent of A as an integer."),
    row("LOGB",               O::ExponentFloat,                   "The exponent of A as a float."),
    row("FMUL_SLICE",         O::ProductSlice,                    "A part of A * B for products of higher precision; not established."),
    row("FMUL_CSLICE",        O::ProductSlice,                    "A part of A * B, A a half, for products of higher precision; not established."),

    // Special functions.
    row("FRCP",               O::Reciprocal,                      "1 / A, to less than one unit in the last place."),
    row("FRSQ",               O::ReciprocalSqrt,                  "1 / sqrt(A), to about one unit in the last place."),
    row("FLOGD",              O::LogDivided,                      "log2(m) / (m - 1), where m is A scaled by a power of two into [0.75, 1.5)."),
    row("FLOG_TABLE",         O::LogTable,                        "A coarse table over the mantissa m of A: an estimate r of 1 / m, or -log2(r), or -ln(r)."),
    row("FRCP_APPROX",        O::ReciprocalEstimate,              "An estimate of 1 / m, where m is the mantissa of A, for Newton steps."),
    row("FRSQ_APPROX",        O::ReciprocalSqrtEstimate,          "An estimate of 1 / sqrt(m), where m is A scaled by a power of four, for Newton steps."),
    row("FSIN_TABLE",         O::SineTable,                       "sin((A & 63) * pi / 32), where A is taken as bits."),
    row("FCOS_TABLE",         O::CosineTable,                     "cos((A & 63) * pi / 32), where A is taken as bits."),
    row("FSINCOS_OFFSET",     O::SineOffset,                      "The offset that goes with FSIN_TABLE and FCOS_TABLE of A; not established."),
    row("FEXP_TABLE",         O::ExpTable,                        "2^((A & 15) / 16)."),
    row("FEXP",               O::ExpFixed,                        "2^(A / 2^24), where A is signed fixed point with 24 fraction bits and B the same value as a float, which rules NaN and overflow."),
    row("FATAN_ASSIST",       O::ArcTangent,                      "A helper of atan2(A, B); with second, the table that goes with it; not established."),
    row("FRCBRT_APPROX_A",    O::CubeRootEstimate,                "The first step of an estimate of 1 / cbrt(A); not established."),
    row("FRCBRT_APPROX_B",    O::CubeRootEstimate,                "The second step of an estimate of 1 / cbrt(A); not established."),
    row("FRCBRT_APPROX_C",    O::CubeRootEstimate,                "The third step of an estimate of 1 / cbrt(A); not established."),
    row("FPOW_SC_DET",        O::PowerHelper,                     "Finds the special cases of A^B; not established."),
    row("FPOW_SC_APPLY",      O::PowerHelper,                     "Applies the special cases B of a power to A; not established."),
    row("FPOW",               O::Power,                           "A^B; its accuracy is not established."),
    row("FLOG",               O::Log,                             "log2(A); its accuracy is not established."),
    row("FEXPF",              O::Exp,                             "2^A; its accuracy is not established."),
    row("FSQRT",              O::SquareRoot,                      "sqrt(A); its accuracy is not established."),
    row("FSINCOS",            O::SineCosine,                      "The sine or cosine of the rest A of an angle in the quadrant B & 3."),
    row("CUBEFACE1",          O::CubeMagnitude,                   "The largest of |A|, |B|, |C| (x, y, z); 1 if it is infinite, 2 if it is below the smallest normal number, NaN if any is."),
    row("CUBEFACE2",          O::CubeFace,                        "The face of a cube map that (A, B, C) = (x, y, z) points at, in bits 29..31, and bit 16 if the largest magnitude is infinite."),
    row("CUBE_SSEL",          O::CubeS,                           "The numerator of s on the face C of a cube map, from z = A and x = B."),
    row("CUBE_TSEL",          O::CubeT,                           "The numerator of t on the face C of a cube map, from y = A and z = B."),

    // Bits.
    row("NOT_OLD",            O::Not,                                          "The complement of A."),
    row("LSHIFT_AND",         shift(ShiftKind::Left, Logic::And),              "(A << B) and C, per lane; with not_result, its complement."),
    row("LSHIFT_OR",          shift(ShiftKind::Left, Logic::Or),               "(A << B) or C, per lane; with not_result, its complement."),
    row("LSHIFT_XOR",         shift(ShiftKind::Left, Logic::Xor),              "(A << B) exclusive or C, per lane; with not_result, its complement."),
    row("RSHIFT_AND",         shift(ShiftKind::Right, Logic::And),             "(A >> B, zeros in) and C, per lane; with not_result, its complement."),
    row("RSHIFT_OR",          shift(ShiftKind::Right, Logic::Or),              "(A >> B, zeros in) or C, per lane; with not_result, its complement."),
    row("RSHIFT_XOR",         shift(ShiftKind::Right, Logic::Xor),             "(A >> B, zeros in) exclusive or C, per lane; with not_result, its complement."),
    row("ARSHIFT_AND",        shift(ShiftKind::RightArithmetic, Logic::And),   "(A >> B, signs in) and C, per lane; with not_result, its complement."),
    row("ARSHIFT_OR",         shift(ShiftKind::RightArithmetic, Logic::Or),    "(A >> B, signs in) or C, per lane; with not_result, its complement."),
    row("ARSHIFT_XOR",        shift(ShiftKind::RightArithmetic, Logic::Xor),   "(A >> B, signs in) exclusive or C, per lane; with not_result, its complement."),
    row("RROT_AND",           shift(ShiftKind::RotateRight, Logic::And),       "(A rotated right by B) and C, per lane; with not_result, its complement."),
    row("RROT_OR",            shift(ShiftKind::RotateRight, Logic::Or),        "(A rotated right by B) or C, per lane; with not_result, its complement."),
    row("RROT_XOR",           shift(ShiftKind::RotateRight, Logic::Xor),       "(A rotated right by B) exclusive or C, per lane; with not_result, its complement."),
    row("LROT_AND",           shift(ShiftKind::RotateLeft, Logic::And),        "(A rotated left by B) and C, per lane; with not_result, its complement."),
    row("LROT_OR",            shift(ShiftKind::RotateLeft, Logic::Or),         "(A rotated left by B) or C, per lane; with not_result, its complement."),
    row("LROT_XOR",           shift(ShiftKind::RotateLeft, Logic::Xor),        "(A rotated left by B) exclusive or C, per lane; with not_result, its complement."),
    row("AND_IMM",            O::Join { logic: Logic::And },                   "A and constant."),
    row("OR_IMM",             O::Join { logic: Logic::Or },                    "A or constant."),
    row("XOR_IMM",            O::Join { logic: Logic::Xor },                   "A exclusive or constant."),

    // Selects and compares.
    row("CSEL",               O::Select,                          "C where A compares with B, D elsewhere; per lane."),
    row("MUX",                O::Mux,                             "A where C is negative, zero or a float zero (as the mode says), B elsewhere; with bit, (A and C) or (B and not C); per lane."),
    row("ICMP_OR",            O::Compare { and: false },          "True where A compares with B or C is not 0; per lane. True is 1, 1.0 or all ones by the result type."),
    row("ICMP_AND",           O::Compare { and: true },           "True where A compares with B and C is not 0; per lane. True is 1, 1.0 or all ones by the result type."),
    row("ICMP_MULTI",         O::CompareChained,                  "True where the order of A and B, or where they are equal the sign of C, meets the condition; with u1, that order as -1, 0 or 1."),
    row("FCMP_OR",            O::Compare { and: false },          "True where A compares with B or C is not 0; per lane. True is 1, 1.0 or all ones by the result type."),
    row("FCMP_AND",           O::Compare { and: true },           "True where A compares with B and C is not 0; per lane. True is 1, 1.0 or all ones by the result type."),

    // Lanes.
    row("WMASK",              O::LaneMask,                        "One bit for each thread of the subgroup that takes part and whose A is not 0."),
    row("CLPER",              O::OtherLane,                       "A of another thread of the subgroup, which B names as the lane operation says; the inactive result if that thread takes no part."),
    row("CLPER_OR",           O::OtherLanesOr,                    "Joins A of a pair of threads; not established."),
    row("MMUL",               O::MatrixMultiply,                  "A * B + C on matrices that the threads of the warp hold together; which thread holds what is not established."),
];
