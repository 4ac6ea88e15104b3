//! Values of arithmetic and control instructions.
//!
//! Facts: hardware/valhall-isa.md sections 8, 9 and 12.

use super::value;
use crate::arch::{Arch, ArchSet};

value! {
    /// How a result is rounded.
    RoundMode, Rte:
    /// To nearest, ties to even.
    Rte = 0 "",
    /// Toward +infinity.
    Rtp = 1 "rtp",
    /// Toward -infinity.
    Rtn = 2 "rtn",
    /// Toward zero.
    Rtz = 3 "rtz",
    /// To nearest, ties away from zero. Only where the field has three bits.
    Rtna = 4 "round_na",
}

value! {
    /// The range that a float result is clamped to, last of all.
    Clamp, None:
    /// No clamp.
    None = 0 "",
    /// max(x, +0).
    ZeroInf = 1 "clamp_0_inf",
    /// min(max(x, -1), 1).
    MinusOneOne = 2 "clamp_m1_1",
    /// min(max(x, +0), 1).
    ZeroOne = 3 "clamp_0_1",
}

value! {
    /// A comparison.
    Condition, required:
    /// Equal.
    Eq = 0 "eq",
    /// Greater.
    Gt = 1 "gt",
    /// Greater or equal.
    Ge = 2 "ge",
    /// Not equal; true with a NaN.
    Ne = 3 "ne",
    /// Less.
    Lt = 4 "lt",
    /// Less or equal.
    Le = 5 "le",
    /// Floats only: ordered and different.
    Gtlt = 6 "gtlt",
    /// Floats only: a <= b in the total order of IEEE 754.
    Total = 7 "total",
}

value! {
    /// What a comparison gives for true; false is 0.
    ResultType, required:
    /// The integer 1.
    I1 = 0 "i1",
    /// The float 1.0; not for 8-bit lanes.
    F1 = 1 "f1",
    /// All ones.
    M1 = 2 "m1",
    /// ICMP_MULTI only: the ordering itself, -1, 0 or 1.
    Order = 3 "u1",
}

value! {
    /// What MUX tests in its third source.
    Mux, IntZero:
    /// The sign bit.
    Neg = 0 "neg",
    /// Integer zero.
    IntZero = 1 "int_zero",
    /// Float zero of either sign.
    FpZero = 2 "fp_zero",
    /// Every bit on its own.
    Bit = 3 "bit",
}

value! {
    /// The threads that cross-lane instructions work across: aligned blocks of lanes.
    SubgroupSize, Lanes16:
    /// Two lanes.
    Lanes2 = 0 "subgroup2",
    /// Four lanes: a quad.
    Lanes4 = 1 "subgroup4",
    /// Eight lanes.
    Lanes8 = 2 "subgroup8",
    /// Sixteen lanes: the warp.
    Lanes16 = 3 "subgroup16",
}

value! {
    /// How CLPER finds the lane to read.
    LaneOp, None:
    /// The lane named.
    None = 0 "",
    /// Own index xor the lane named.
    Xor = 1 "xor",
    /// For reductions (rule not established).
    Accumulate = 2 "accumulate",
    /// Own index offset by the lane named (direction not established).
    Shift = 3 "shift",
    /// Rotation (rule not established).
    Rotate = 4 "rotate",
    /// Not established.
    Low = 5 "low" [ArchSet::since(Arch::V14)],
    /// Not established.
    LowAlt = 6 "low_alt" [ArchSet::since(Arch::V14)],
    /// Not established.
    Prefix = 7 "prefix" [ArchSet::since(Arch::V14)],
}

value! {
    /// What CLPER gives when the lane to read is not active.
    InactiveResult, Zero:
    /// 0.
    Zero = 0 "zero",
    /// 0xFFFFFFFF.
    Umax = 1 "umax",
    /// 1.
    I1 = 2 "i1",
    /// 0x00010001.
    V2i1 = 3 "v2i1",
    /// 0x80000000.
    Smin = 4 "smin",
    /// 0x7FFFFFFF.
    Smax = 5 "smax",
    /// 0x80008000.
    V2smin = 6 "v2smin",
    /// 0x7FFF7FFF.
    V2smax = 7 "v2smax",
    /// 0x80808080.
    V4smin = 8 "v4smin",
    /// 0x7F7F7F7F.
    V4smax = 9 "v4smax",
    /// 0x3F800000.
    F1 = 10 "f1",
    /// 0x3C003C00.
    V2f1 = 11 "v2f1",
    /// 0xFF800000.
    Infn = 12 "infn",
    /// 0x7F800000.
    Inf = 13 "inf",
    /// 0xFC00FC00.
    V2infn = 14 "v2infn",
    /// 0x7C007C00.
    V2inf = 15 "v2inf",
}

value! {
    /// What FMIN and FMAX do with a NaN.
    MinMaxNan, Suppress:
    /// Return the other operand.
    Suppress = 0 "",
    /// Return NaN.
    Propagate = 1 "nan_propagate",
}

value! {
    /// Infinity mode of LDEXP (serves arctangent; not established). The words are what Mesa 24.1 shows as a swizzle.
    InfMode, None:
    /// The ordinary LDEXP.
    None = 0 "none",
    /// Not established.
    Inf = 1 "inf",
    /// Not established.
    Inf0 = 2 "inf0",
}

value! {
    /// How FREXP splits a number into mantissa and exponent.
    FrexpScale, None:
    /// Mantissa in [0.5, 1).
    None = 0 "",
    /// For square roots: mantissa in [0.25, 1), the exponent counts powers of 4.
    Sqrt = 1 "sqrt",
    /// For logarithms: mantissa in [0.75, 1.5).
    Log = 2 "log",
    /// Both words, which text can say and no hardware takes.
    Both = 3 "sqrt.log",
}

value! {
    /// Which power FPOW_SC_DET prepares (what it computes is not established).
    PowFunction, Pow:
    /// Of any base.
    Pow = 0 "",
    /// Of a base that is not negative.
    Powr = 1 "powr",
}

value! {
    /// What FLUSH does with a NaN.
    FlushNan, required:
    /// Keeps it.
    None = 0 "none",
    /// Gives +0.
    Flush = 1 "flush_nan",
    /// Makes it quiet.
    Quiet = 2 "quiet_nan",
}

value! {
    /// Adjustment of FEXP_TABLE (not established).
    TableAdjust, None:
    /// None.
    None = 0 "",
    /// Low.
    Low = 2 "low",
}

value! {
    /// Which table FLOG_TABLE reads.
    LogTableMode, Reduce:
    /// An estimate r of the reciprocal of the mantissa.
    Reduce = 0 "",
    /// -log2 r.
    Base2 = 1 "base2",
    /// -ln r.
    Natural = 2 "natural",
}

value! {
    /// Precision of FLOG_TABLE (not established).
    LogPrecision, None:
    /// Ordinary.
    None = 0 "",
    /// High.
    High = 1 "high",
    /// Low.
    Low = 2 "low",
}

value! {
    /// Which of the two functions FSINCOS computes.
    SinCos, required:
    /// Cosine.
    Cos = 0 "cos",
    /// Sine.
    Sin = 1 "sin",
}

value! {
    /// What JUMP_EX does with the return stack.
    StackMode, None:
    /// Returns.
    Return = 0 "return",
    /// Calls.
    Call = 1 "call",
    /// Leaves it alone.
    None = 2 "",
    /// Replaces the top.
    Replace = 3 "replace",
}

value! {
    /// The pair of lanes that CLPER_OR combines.
    LanePair, required:
    /// Lanes 0 and 4.
    L04 = 0 "lanes04",
    /// Lanes 1 and 5.
    L15 = 1 "lanes15",
    /// Lanes 2 and 6.
    L26 = 2 "lanes26",
    /// Lanes 3 and 7.
    L37 = 3 "lanes37",
    /// Lanes 8 and 12.
    L8C = 4 "lanes8C",
    /// Lanes 9 and 13.
    L9D = 5 "lanes9D",
    /// Lanes 10 and 14.
    LAE = 6 "lanesAE",
    /// Lanes 11 and 15.
    LBF = 7 "lanesBF",
}
