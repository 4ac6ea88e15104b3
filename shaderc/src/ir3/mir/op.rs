//! Operations: the instructions that the compiler emits, one row each.
//!
//! What an instruction *is* (category, encoding, delays) stands in the tables of `eitri-ir3-isa`; here is only which of
//! them there are, by shorter names, and what passes over machine IR ask.
//! Facts: hardware/ir3-isa.md 13 (sequences of lanes), 16.

/// What an instruction reads, as far as legal operands depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Shape {
    /// Nothing, or what is not a source.
    Flow,
    /// One source of any kind.
    Move,
    /// One or two sources, immediates are integers.
    Integer,
    /// One or two sources, immediates are floats.
    Float,
    /// Three sources, the second a register.
    Three,
    /// Three sources, the second a register, the others registers or immediates.
    Shift,
    /// Registers only.
    Registers,
    /// An access: addresses in registers, where a descriptor or an offset may be an immediate.
    Memory,
}

/// What an instruction does beside writing its words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Effect {
    /// Nothing: the same words give the same.
    Pure,
    /// It reads memory.
    Load,
    /// It writes memory, or both.
    Store,
    /// It orders memory or lanes.
    Order,
    /// Lanes do it together.
    Lanes,
    /// It sends lanes elsewhere.
    Flow,
}

macro_rules! ops {
    ($($variant:ident $name:literal $shape:ident $effect:ident,)*) => {
        /// An operation that the compiler can emit.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub(crate) enum Op { $($variant,)* }

        impl Op {
            /// All of them.
            #[cfg(test)]
            pub(crate) const ALL: &[Op] = &[$(Op::$variant,)*];

            /// Its name in the text of machine IR.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Op::$variant => $name,)* }
            }

            /// What it may read.
            pub(crate) fn shape(self) -> Shape {
                match self { $(Op::$variant => Shape::$shape,)* }
            }

            /// What it does beside writing its words.
            pub(crate) fn effect(self) -> Effect {
                match self { $(Op::$variant => Effect::$effect,)* }
            }
        }
    };
}

#[rustfmt::skip]
ops! {
    // variant  name          shape     effect
    Nop         "nop"         Flow      Flow,
    End         "end"         Flow      Flow,
    Jump        "jump"        Flow      Flow,
    Branch      "br"          Flow      Flow,
    BranchAll   "ball"        Flow      Flow,
    // All lanes but the lowest go to the target.
    BranchOthers "getone"     Flow      Flow,

    Move        "mov"         Move      Pure,
    // Out of a shared register into each lane's, and out of the lowest active lane's into a shared one.
    ReadShared  "mov"         Move      Pure,
    WriteShared "mov"         Registers Lanes,
    // A bit for each active lane, into two shared registers.
    ActiveMask  "movmsk"      Flow      Lanes,

    AddF        "add.f"       Float     Pure,
    MinF        "min.f"       Float     Pure,
    MaxF        "max.f"       Float     Pure,
    MulF        "mul.f"       Float     Pure,
    CmpsF       "cmps.f"      Float     Pure,
    AbsNegF     "absneg.f"    Float     Pure,
    FloorF      "floor.f"     Float     Pure,
    CeilF       "ceil.f"      Float     Pure,
    RndneF      "rndne.f"     Float     Pure,
    TruncF      "trunc.f"     Float     Pure,

    AddU        "add.u"       Integer   Pure,
    SubU        "sub.u"       Integer   Pure,
    MinU        "min.u"       Integer   Pure,
    MinS        "min.s"       Integer   Pure,
    MaxU        "max.u"       Integer   Pure,
    MaxS        "max.s"       Integer   Pure,
    AbsNegS     "absneg.s"    Integer   Pure,
    CmpsU       "cmps.u"      Integer   Pure,
    CmpsS       "cmps.s"      Integer   Pure,
    AndB        "and.b"       Integer   Pure,
    OrB         "or.b"        Integer   Pure,
    NotB        "not.b"       Integer   Pure,
    XorB        "xor.b"       Integer   Pure,
    MulU24      "mul.u24"     Integer   Pure,
    MulS24      "mul.s24"     Integer   Pure,
    MullU       "mull.u"      Integer   Pure,
    BfrevB      "bfrev.b"     Integer   Pure,
    ClzB        "clz.b"       Integer   Pure,
    ShlB        "shl.b"       Integer   Pure,
    ShrB        "shr.b"       Integer   Pure,
    AshrB       "ashr.b"      Integer   Pure,
    CbitsB      "cbits.b"     Integer   Pure,

    MadshM16    "madsh.m16"   Three     Pure,
    MadU24      "mad.u24"     Three     Pure,
    MadF16      "mad.f16"     Three     Pure,
    MadF32      "mad.f32"     Three     Pure,
    SelB16      "sel.b16"     Three     Pure,
    SelB32      "sel.b32"     Three     Pure,
    ShrM        "shrm"        Shift     Pure,
    ShlM        "shlm"        Shift     Pure,
    ShrG        "shrg"        Shift     Pure,
    ShlG        "shlg"        Shift     Pure,
    AndG        "andg"        Shift     Pure,
    Dp4U        "dp4acc.unsigned" Registers Pure,
    Dp4Mixed    "dp4acc.mixed" Registers Pure,

    Rcp         "rcp"         Registers Pure,
    Rsq         "rsq"         Registers Pure,
    Log2        "log2"        Registers Pure,
    Exp2        "exp2"        Registers Pure,
    HalfRsq     "hrsq"        Registers Pure,
    HalfLog2    "hlog2"       Registers Pure,
    HalfExp2    "hexp2"       Registers Pure,
    Sin         "sin"         Registers Pure,
    Cos         "cos"         Registers Pure,

    // Flipping bit 0, bit 1, or both of the lane's number.
    QuadX       "quad_shuffle.horiz" Registers Lanes,
    QuadY       "quad_shuffle.vert"  Registers Lanes,
    QuadXY      "quad_shuffle.diag"  Registers Lanes,

    // Descriptor last: an immediate, or a register.
    LoadBuffer  "ldib.b"      Memory    Load,
    StoreBuffer "stib.b"      Memory    Store,
    AtomicBuffer "atomic.b"   Memory    Store,
    BufferSize  "resinfo.b"   Memory    Load,
    // Texels by coordinates: of what is stored to by typed accesses, else through the texture unit.
    LoadTexel   "ldib.b.typed" Memory    Load,
    StoreTexel  "stib.b.typed" Memory    Store,
    AtomicTexel "atomic.b.typed" Memory    Store,
    ImageSize   "resinfo.b.image" Memory    Load,
    FetchTexel  "isam"        Memory    Load,
    FetchLevel  "isaml"       Memory    Load,
    SampleLevel "saml"        Memory    Load,
    TextureSize "getsize"     Memory    Load,
    TexelCount  "getbuf"      Memory    Load,
    LoadUniform "ldc"         Memory    Load,
    LoadLocal   "ldl"         Memory    Load,
    StoreLocal  "stl"         Memory    Store,
    AtomicLocal "atomic"      Memory    Store,
    LoadPrivate "ldp"         Memory    Load,
    StorePrivate "stp"        Memory    Store,
    LoadGlobal  "ldg"         Memory    Load,
    LoadGlobalAt "ldg.a"      Memory    Load,
    StoreGlobal "stg"         Memory    Store,
    AtomicGlobal "atomic.g"   Memory    Store,

    Barrier     "bar"         Flow      Order,
    Fence       "fence"       Flow      Order,

    // Keeps the place of a copy between two values of one spill slot; gone after allocation.
    Note        "note"        Flow      Flow,

    // Become moves, branches and loops in `expand_lanes`.
    Active      "active"      Flow      Lanes,
    Ballot      "ballot"      Registers Lanes,
    First       "first"       Registers Lanes,
    ReadLane    "read_lane"   Registers Lanes,
    Shuffle     "shuffle"     Registers Lanes,
    Scan        "scan"        Registers Lanes,
}

impl Op {
    /// Whether it changes an element by descriptor: its result and its data are one vector.
    pub(crate) fn is_descriptor_atomic(self) -> bool {
        matches!(self, Op::AtomicBuffer | Op::AtomicTexel)
    }

    /// Whether it stands for a sequence in which lanes work together, until `expand_lanes`.
    pub(crate) fn is_sequence(self) -> bool {
        matches!(
            self,
            Op::Active | Op::Ballot | Op::First | Op::ReadLane | Op::Shuffle | Op::Scan
        )
    }
}

/// Types of elements and of the two sides of a move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Type {
    F16,
    F32,
    U16,
    U32,
    S16,
    S32,
    U8,
    S8,
}

impl Type {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Type; 8] = [
        Type::F16,
        Type::F32,
        Type::U16,
        Type::U32,
        Type::S16,
        Type::S32,
        Type::U8,
        Type::S8,
    ];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Type::F16 => "f16",
            Type::F32 => "f32",
            Type::U16 => "u16",
            Type::U32 => "u32",
            Type::S16 => "s16",
            Type::S32 => "s32",
            Type::U8 => "u8",
            Type::S8 => "s8",
        }
    }

    /// Whether it is held in a half register.
    pub(crate) fn is_half(self) -> bool {
        !matches!(self, Type::F32 | Type::U32 | Type::S32)
    }
}

/// Conditions of compares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Condition {
    Lt,
    Ge,
    Eq,
    Ne,
}

impl Condition {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Condition; 4] =
        [Condition::Lt, Condition::Ge, Condition::Eq, Condition::Ne];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Condition::Lt => "lt",
            Condition::Ge => "ge",
            Condition::Eq => "eq",
            Condition::Ne => "ne",
        }
    }
}

/// What an atomic does to the element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum AtomicKind {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
}

impl AtomicKind {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [AtomicKind; 8] = [
        AtomicKind::Add,
        AtomicKind::Min,
        AtomicKind::Max,
        AtomicKind::And,
        AtomicKind::Or,
        AtomicKind::Xor,
        AtomicKind::Exchange,
        AtomicKind::CompareExchange,
    ];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            AtomicKind::Add => "add",
            AtomicKind::Min => "min",
            AtomicKind::Max => "max",
            AtomicKind::And => "and",
            AtomicKind::Or => "or",
            AtomicKind::Xor => "xor",
            AtomicKind::Exchange => "xchg",
            AtomicKind::CompareExchange => "cmpxchg",
        }
    }
}
