//! What the fields of an instruction may say, and how text spells it.
//!
//! Facts: hardware/data/ir3-isa.json, "enums"; hardware/ir3-isa.md sections 4, 6 and 12.

use core::fmt;

/// A value of a field and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The field's bits.
    pub value: u32,
    /// What the text says; empty for the usual case.
    pub text: &'static str,
}

/// Enums that have a value of a field each, with their table of names.
macro_rules! values {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $value:literal $text:literal;)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant = $value,)*
        }

        impl $name {
            /// All of them, in the order of their bits.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
            /// Bits and texts.
            pub const NAMES: &'static [Name] = &[$(Name { value: $value, text: $text },)*];

            /// The value that the field's bits stand for; `None` if they are reserved.
            pub const fn from_bits(bits: u32) -> Option<Self> {
                match bits {
                    $($value => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The field's bits.
            pub const fn bits(self) -> u32 {
                self as u32
            }

            /// What the text says.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    )*};
}

values! {
    /// The type of a value that is moved, converted, loaded or stored.
    Type {
        /// 16-bit float.
        F16 = 0 "f16";
        /// 32-bit float.
        F32 = 1 "f32";
        /// 16 bits, unsigned.
        U16 = 2 "u16";
        /// 32 bits, unsigned.
        U32 = 3 "u32";
        /// 16 bits, signed.
        S16 = 4 "s16";
        /// 32 bits, signed.
        S32 = 5 "s32";
        /// 8 bits in a half register, unsigned.
        U8 = 6 "u8";
        /// 8 bits in a half register, signed.
        S8 = 7 "s8";
    }

    /// What a comparison asks.
    Cond {
        /// Less.
        Lt = 0 "lt";
        /// Less or equal.
        Le = 1 "le";
        /// Greater.
        Gt = 2 "gt";
        /// Greater or equal.
        Ge = 3 "ge";
        /// Equal.
        Eq = 4 "eq";
        /// Not equal.
        Ne = 5 "ne";
    }

    /// How a conversion rounds.
    Round {
        /// Toward zero.
        Zero = 0 "";
        /// To the nearest, ties to even.
        Even = 1 "(even)";
        /// Toward positive infinity.
        Up = 2 "(pos_infinity)";
        /// Toward negative infinity.
        Down = 3 "(neg_infinity)";
    }

    /// A constant of the table of floats.
    FloatConst {
        /// 0.
        Zero = 0 "(0.0)";
        /// 0.5.
        Half = 1 "(0.5)";
        /// 1.
        One = 2 "(1.0)";
        /// 2.
        Two = 3 "(2.0)";
        /// Euler's number.
        E = 4 "(e)";
        /// Pi.
        Pi = 5 "(pi)";
        /// 1 / pi.
        InvPi = 6 "(1/pi)";
        /// The natural logarithm of 2.
        InvLog2E = 7 "(1/log2(e))";
        /// The binary logarithm of e.
        Log2E = 8 "(log2(e))";
        /// The decimal logarithm of 2.
        InvLog2Of10 = 9 "(1/log2(10))";
        /// The binary logarithm of 10.
        Log2Of10 = 10 "(log2(10))";
        /// 4.
        Four = 11 "(4.0)";
    }

    /// Sign modifiers of a source of categories 2 and 4.
    AbsNeg {
        /// As it is.
        None = 0 "";
        /// Negated.
        Neg = 1 "(neg)";
        /// Without its sign.
        Abs = 2 "(abs)";
        /// Without its sign, then negated.
        AbsNeg = 3 "(absneg)";
    }

    /// How many times more an instruction runs.
    Repeat {
        /// Once in all.
        R0 = 0 "";
        /// Twice in all.
        R1 = 1 "(rpt1)";
        /// Three times in all.
        R2 = 2 "(rpt2)";
        /// Four times in all.
        R3 = 3 "(rpt3)";
        /// Five times in all: nop alone.
        R4 = 4 "(rpt4)";
        /// Six times in all: nop alone.
        R5 = 5 "(rpt5)";
    }

    /// A component of a vector of four.
    Comp {
        /// The first.
        X = 0 "x";
        /// The second.
        Y = 1 "y";
        /// The third.
        Z = 2 "z";
        /// The fourth.
        W = 3 "w";
    }

    /// Where the index of a resource is.
    IndexMode {
        /// In the instruction, 8 bits.
        Imm = 0 "imm";
        /// In a register, the same in all active lanes.
        Uniform = 1 "uniform";
        /// In a register, may differ between lanes.
        NonUniform = 2 "nonuniform";
    }

    /// Where a texture instruction finds its texture and sampler.
    DescMode {
        /// Half registers (sampler, texture), uniform.
        Uniform = 0 "uniform";
        /// Registers (texture, sampler), uniform; sampler base in a1.x.
        BindlessA1Uniform = 1 "bindless_a1_uniform";
        /// Registers (texture, sampler).
        BindlessNonUniform = 2 "bindless_nonuniform";
        /// Registers (texture, sampler); sampler base in a1.x.
        BindlessA1NonUniform = 3 "bindless_a1_nonuniform";
        /// Half registers (sampler, texture).
        NonUniform = 4 "nonuniform";
        /// Registers (texture, sampler), uniform.
        BindlessUniform = 5 "bindless_uniform";
        /// In the instruction: sampler in bits 0..3, texture in bits 4..7, one common base.
        BindlessImm = 6 "bindless_imm";
        /// In the instruction and a1.x.
        BindlessA1Imm = 7 "bindless_a1_imm";
    }

    /// Signedness of the bytes of dp2acc and dp4acc.
    DotSign {
        /// Both unsigned.
        Unsigned = 0 ".unsigned";
        /// The first signed, the second unsigned.
        Mixed = 1 ".mixed";
    }

    /// Which bytes dp2acc takes.
    DotPack {
        /// 0 and 1.
        Low = 0 ".low";
        /// 2 and 3.
        High = 1 ".high";
    }

    /// How long `sleep` waits.
    SleepLen {
        /// Short.
        Short = 0 ".s";
        /// About twenty times as long.
        Long = 1 ".l";
    }

    /// Which caches an operation on data caches means.
    CacheScope {
        /// The shared one.
        Shared = 0 ".shr";
        /// All.
        All = 1 ".all";
    }

    /// Type of the value of an alias.
    AliasType {
        /// 16 bits.
        B16 = 0 "b16";
        /// 32 bits.
        B32 = 1 "b32";
    }

    /// What an alias stands for.
    AliasKind {
        /// A register.
        Gpr = 0 "GPR";
        /// A constant.
        Const = 1 "CONST";
        /// An immediate.
        Imm = 2 "IMMED";
    }
}

/// Which instructions an alias is for; two values are spelled alike.
pub const ALIAS_SCOPES: &[Name] = &[
    Name {
        value: 0,
        text: "tex",
    },
    Name {
        value: 2,
        text: "tex",
    },
    Name {
        value: 3,
        text: "rt",
    },
    Name {
        value: 4,
        text: "mem",
    },
];

/// Which components a texture instruction writes: bit n for component n.
#[rustfmt::skip]
pub const WRITE_MASKS: &[Name] = &[
    Name { value:  0, text: "" },   Name { value:  1, text: "x" },   Name { value:  2, text: "y" },   Name { value:  3, text: "xy" },
    Name { value:  4, text: "z" },  Name { value:  5, text: "xz" },  Name { value:  6, text: "yz" },  Name { value:  7, text: "xyz" },
    Name { value:  8, text: "w" },  Name { value:  9, text: "xw" },  Name { value: 10, text: "yw" },  Name { value: 11, text: "xyw" },
    Name { value: 12, text: "zw" }, Name { value: 13, text: "xzw" }, Name { value: 14, text: "yzw" }, Name { value: 15, text: "xyzw" },
];

impl Type {
    /// The register width that holds it: 8-bit values sit in half registers.
    pub const fn width(self) -> Width {
        match self {
            Self::F32 | Self::U32 | Self::S32 => Width::Full,
            _ => Width::Half,
        }
    }

    /// Its size in bits.
    pub const fn bits_wide(self) -> u32 {
        match self {
            Self::F32 | Self::U32 | Self::S32 => 32,
            Self::F16 | Self::U16 | Self::S16 => 16,
            Self::U8 | Self::S8 => 8,
        }
    }

    /// True for floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32)
    }

    /// True for signed integers.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32)
    }
}

impl FloatConst {
    /// The bits of the value as a 32-bit float.
    pub const fn f32_bits(self) -> u32 {
        self.both().0
    }

    /// The bits of the value as a 16-bit float.
    pub const fn f16_bits(self) -> u16 {
        self.both().1
    }

    const fn both(self) -> (u32, u16) {
        match self {
            Self::Zero => (0x0000_0000, 0x0000),
            Self::Half => (0x3f00_0000, 0x3800),
            Self::One => (0x3f80_0000, 0x3c00),
            Self::Two => (0x4000_0000, 0x4000),
            Self::E => (0x402d_f854, 0x4170),
            Self::Pi => (0x4049_0fdb, 0x4248),
            Self::InvPi => (0x3ea2_f983, 0x3518),
            Self::InvLog2E => (0x3f31_7218, 0x398c),
            Self::Log2E => (0x3fb8_aa3b, 0x3dc5),
            Self::InvLog2Of10 => (0x3e9a_209b, 0x34d1),
            Self::Log2Of10 => (0x4054_9a78, 0x42a5),
            Self::Four => (0x4080_0000, 0x4400),
        }
    }
}

impl DescMode {
    /// True if descriptors are found by set and index, not by slot.
    pub const fn bindless(self) -> bool {
        !matches!(self, Self::Uniform | Self::NonUniform)
    }

    /// True if a1.x is read.
    pub const fn reads_a1(self) -> bool {
        matches!(
            self,
            Self::BindlessA1Uniform | Self::BindlessA1NonUniform | Self::BindlessA1Imm
        )
    }

    /// True if registers say which descriptor is meant.
    pub const fn indirect(self) -> bool {
        !matches!(self, Self::BindlessImm | Self::BindlessA1Imm)
    }

    /// True for the forms that text calls uniform.
    pub const fn uniform(self) -> bool {
        matches!(
            self,
            Self::Uniform | Self::BindlessA1Uniform | Self::BindlessUniform
        )
    }

    /// True for the forms that text calls nonuniform.
    pub const fn nonuniform(self) -> bool {
        matches!(
            self,
            Self::NonUniform | Self::BindlessA1NonUniform | Self::BindlessNonUniform
        )
    }
}

/// How wide a register, or a value in it, is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 16 bits.
    Half,
    /// 32 bits.
    Full,
}

impl Width {
    /// Half if `half`.
    pub const fn half_if(half: bool) -> Self {
        if half { Self::Half } else { Self::Full }
    }

    /// True for 16 bits.
    pub const fn is_half(self) -> bool {
        matches!(self, Self::Half)
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Half => Self::Full,
            Self::Full => Self::Half,
        }
    }

    /// Its size in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Half => 16,
            Self::Full => 32,
        }
    }

    /// What text puts before a register of this width.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Half => "h",
            Self::Full => "",
        }
    }
}
