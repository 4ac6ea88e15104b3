//! Operations: what instructions do, apart from types, widths and modifiers.
//!
//! Facts: hardware/valhall-isa.md sections 9, 11 and 12.

/// How a shift moves bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShiftKind {
    /// Right, zeros in.
    Right,
    /// Left, zeros in.
    Left,
    /// Right, what leaves comes in on the left.
    RotateRight,
    /// Left, what leaves comes in on the right.
    RotateLeft,
    /// Right, copies of the sign in.
    RightArithmetic,
}

/// How two values are joined bit by bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    /// Both.
    And,
    /// Either.
    Or,
    /// Not both alike.
    Xor,
}

/// How a message names what it reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// By an address.
    Address,
    /// By a buffer's handle.
    Buffer,
    /// By an address, with a bound that is checked.
    Checked,
    /// By an address, for as many registers as the range has.
    Multiple,
}

/// Where a varying is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// Between the vertices.
    Interpolated,
    /// At one vertex.
    Flat,
    /// A value that the hardware makes.
    BuiltIn,
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident $({ $($field:ident: $type:ty),* })?;)*) => {
        /// What an instruction does. Whoever gives instructions a meaning matches on this, without a wildcard, so that a new one is seen.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the fields say themselves what they are")]
        pub enum Operation { $($(#[$doc])* $name $({ $($field: $type),* })?,)* }
    };
}

operations! {
    /// Nothing but flow control.
    Nothing;
    /// Branch by an offset.
    Branch;
    /// Branch to a target in a source.
    BranchTo;
    /// Jump, call or return.
    JumpExtended;
    /// Mark a fragment's thread as discarded.
    Discard;

    /// Source 0 as it is.
    Move;
    /// Two halves become one register.
    MakeHalves;
    /// Two bytes and a half become one register.
    MakeBytes;

    /// A narrow integer becomes a wider one.
    Extend { signed: bool };
    /// Integers become floats.
    IntegerToFloat { signed: bool };
    /// Floats become integers.
    FloatToInteger { signed: bool };
    /// A half becomes a float of 32 bits.
    HalfToFloat;
    /// Two floats of 32 bits become halves.
    FloatsToHalves;
    /// Floats become integral.
    RoundToIntegral;

    /// A + B, integers or floats.
    Add;
    /// A - B, integers.
    Subtract;
    /// A * B, integers, low bits.
    Multiply;
    /// A * B, twice as wide.
    MultiplyWide;
    /// (A + B) / 2.
    Average;
    /// |A|.
    Absolute;
    /// A + B + carry.
    AddCarry;
    /// A - B - borrow.
    SubtractBorrow;
    /// A + (B << shift).
    ShiftAdd;
    /// Address + offset, for workgroup memory.
    SegmentAdd;
    /// C + the products of bytes.
    DotProduct;
    /// Leading zeros.
    LeadingZeros;
    /// Bits that are set.
    PopulationCount;
    /// Bits in reverse order.
    ReverseBits;
    /// Product of matrices that the warp holds.
    MatrixMultiply;

    /// Complement.
    Not;
    /// Shift A by B, join with C.
    Shift { kind: ShiftKind, logic: Logic };
    /// A joined with a constant.
    Join { logic: Logic };

    /// One of two values, by a comparison of two others.
    Select;
    /// One of two values, by a third.
    Mux;
    /// A comparison, joined with an earlier one.
    Compare { and: bool };
    /// A comparison that goes on from an earlier one.
    CompareChained;

    /// A * B + C.
    MultiplyAdd;
    /// (A * B + C) * 2^D.
    MultiplyAddScale;
    /// The same; the product is 0 where a factor is.
    MultiplyAddScaleZero;
    /// The same; the product is A where a factor is 0.
    MultiplyAddScaleLeft;
    /// The same in a special mode (not established).
    MultiplyAddScaleSpecial;
    /// A + B scaled near 1.
    AddScaled;
    /// The smaller float.
    Minimum;
    /// The larger float.
    Maximum;
    /// A * 2^B.
    ScaleByPower;
    /// Mantissa.
    Mantissa;
    /// Exponent.
    Exponent;
    /// Exponent as an integer, as ILOGB gives it.
    ExponentInteger;
    /// Exponent as a float, as LOGB gives it.
    ExponentFloat;
    /// Subnormals, infinities, NaNs flushed.
    Flush;
    /// Kind of float.
    Classify;

    /// 1 / A.
    Reciprocal;
    /// 1 / sqrt(A).
    ReciprocalSqrt;
    /// sqrt(A).
    SquareRoot;
    /// log2(m) / (m - 1).
    LogDivided;
    /// log2(A).
    Log;
    /// 2^A from fixed point.
    ExpFixed;
    /// 2^A.
    Exp;
    /// A^B.
    Power;
    /// Sine or cosine from a rest and a quadrant.
    SineCosine;
    /// Table of sines.
    SineTable;
    /// Table of cosines.
    CosineTable;
    /// Companion of the sine tables.
    SineOffset;
    /// Table of powers of 2.
    ExpTable;
    /// Table for logarithms.
    LogTable;
    /// Estimate of 1 / m.
    ReciprocalEstimate;
    /// Estimate of 1 / sqrt(m).
    ReciprocalSqrtEstimate;
    /// Helper of arctangent.
    ArcTangent;
    /// Helper of cube roots.
    CubeRootEstimate;
    /// Helper of powers.
    PowerHelper;
    /// Part of a product.
    ProductSlice;
    /// Largest magnitude of a cube map's coordinates.
    CubeMagnitude;
    /// Face of a cube map.
    CubeFace;
    /// First coordinate on a face.
    CubeS;
    /// Second coordinate on a face.
    CubeT;

    /// One bit a lane.
    LaneMask;
    /// The value of another lane.
    OtherLane;
    /// Values of other lanes, joined.
    OtherLanesOr;

    /// Load.
    Load { from: Access };
    /// Store.
    Store { to: Access };
    /// Load with conversion.
    LoadConverted;
    /// Store with conversion.
    StoreConverted;
    /// Address of a byte of a buffer.
    ByteAddress;
    /// Address of an element of a buffer.
    ElementAddress;
    /// Read and write memory as one.
    Atomic;
    /// The same with an operand of 1.
    AtomicByOne;
    /// Fetch an attribute.
    LoadAttribute;
    /// Fetch a texel of an image.
    LoadTexel;
    /// Address of an attribute.
    AttributeAddress;
    /// Address of a texel.
    TexelAddress;
    /// Load a varying.
    LoadVarying { at: Position };
    /// Read the tile buffer.
    LoadTile;
    /// Write the tile buffer.
    StoreTile;
    /// Alpha test.
    AlphaTest;
    /// Write depth or stencil.
    WriteDepth;
    /// Blend a colour.
    Blend;
    /// Sample a texture.
    Sample;
    /// One texel of a texture.
    FetchTexel;
    /// Four texels of a texture.
    Gather;
    /// Gradient descriptor.
    Gradient;
    /// Two textures.
    SampleTwo;
    /// Weights of a filter.
    FilterWeights;
    /// Wait for the workgroup.
    Barrier;
    /// Read a counter.
    ReadCounter;
    /// Not established.
    System;
    /// Fault on purpose.
    Fault;
}
