//! Fields: where the parts of an instruction lie in its word, and how they are read.
//!
//! A field has the name that the facts give it; text templates name fields in braces.
//! Facts: hardware/data/ir3-isa.json, "fields" and "operands".

use crate::values::Name;

/// Names of what a text template mentions, and of what else a word holds.
macro_rules! fields {
    ($($(#[$doc:meta])* $field:ident $name:literal;)*) => {
        /// A field of an instruction, or a value that text derives from fields.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Field {
            $($(#[$doc])* $field,)*
        }

        impl Field {
            /// Its name in the tables.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$field => $name,)*
                }
            }

            /// The field called `name`.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$field),)*
                    _ => None,
                }
            }
        }
    };
}

fields! {
    // Flags of all categories.
    /// Waits for all long-latency results.
    Sy "SY";
    /// Waits for all short-latency results.
    Ss "SS";
    /// Lanes that wait here join.
    Jp "JP";
    /// Ends helper lanes.
    Eq "EQ";
    /// Last use of a0.x before it is written again.
    Ul "UL";
    /// Saturates the result.
    Sat "SAT";
    /// Halving add, or last varying read.
    Ei "EI";
    /// How often the instruction repeats.
    Repeat "REPEAT";

    // Operands.
    /// The source of moves, of category 4 and of simple stores.
    Src "SRC";
    /// Source 0 of multiple moves.
    Src0 "SRC0";
    /// Source 1.
    Src1 "SRC1";
    /// Source 2.
    Src2 "SRC2";
    /// Source 3.
    Src3 "SRC3";
    /// The destination.
    Dst "DST";
    /// Destination 0 of multiple moves.
    Dst0 "DST0";
    /// Destination 1.
    Dst1 "DST1";
    /// Destination 2.
    Dst2 "DST2";
    /// Destination 3.
    Dst3 "DST3";
    /// The resource.
    Ssbo "SSBO";
    /// The sampler.
    Samp "SAMP";
    /// The texture.
    Tex "TEX";

    // Modifiers of operands.
    /// Advances the source of a move or of category 4 in a repeated instruction.
    SrcR "SRC_R";
    /// Advances source 1, or bit 0 of the count of idle slots.
    Src1R "SRC1_R";
    /// Advances source 2, or bit 1 of the count of idle slots.
    Src2R "SRC2_R";
    /// Advances source 3.
    Src3R "SRC3_R";
    /// Negates source 1.
    Src1Neg "SRC1_NEG";
    /// Negates source 2.
    Src2Neg "SRC2_NEG";
    /// Negates source 3.
    Src3Neg "SRC3_NEG";
    /// The source is not read again.
    Last "LAST";
    /// Sources are 32 bits wide.
    Full "FULL";
    /// The destination has the other width than the sources.
    DstConv "DST_CONV";
    /// The destination is 32 bits wide.
    DstFull "DST_FULL";
    /// The destination is relative to a0.x.
    DstRel "DST_REL";
    /// The source is an immediate.
    SrcIm "SRC_IM";
    /// Source 1 is an immediate.
    Src1Im "SRC1_IM";
    /// Source 2 is an immediate.
    Src2Im "SRC2_IM";
    /// Source 3 is an immediate.
    Src3Im "SRC3_IM";
    /// The resource is an immediate.
    SsboIm "SSBO_IM";
    /// The address is a pair of constants.
    Src1Const "SRC1_CONST";

    // Types and modes.
    /// Type of what is loaded, stored or sampled.
    Type "TYPE";
    /// Type of the source.
    SrcType "SRC_TYPE";
    /// Type of the destination.
    DstType "DST_TYPE";
    /// Rounding of a conversion.
    Round "ROUND";
    /// What is compared.
    Cond "COND";
    /// Signedness of dp2acc and dp4acc.
    SrcSign "SRC_SIGN";
    /// Bytes of dp2acc.
    SrcPack "SRC_PACK";

    // Flow.
    /// The branch target, relative to the branch.
    Immed "IMMED";
    /// First component of p0.
    Comp1 "COMP1";
    /// Second component of p0.
    Comp2 "COMP2";
    /// Inverts the first condition.
    Inv1 "INV1";
    /// Inverts the second condition.
    Inv2 "INV2";
    /// Number of a per-draw condition.
    Index "INDEX";
    /// Cluster size as its power, or the flag `w` of a fence.
    W "W";

    // Texture.
    /// Components written.
    WrMask "WRMASK";
    /// Three-component coordinates.
    D3 "3D";
    /// Array.
    A "A";
    /// Shadow.
    S "S";
    /// Offsets.
    O "O";
    /// Projector, or second half of a fine derivative.
    P "P";
    /// The descriptor is indirect or bindless.
    S2enBindless "S2EN_BINDLESS";
    /// Where the descriptor is.
    DescMode "DESC_MODE";
    /// High bits of the base.
    BaseHi "BASE_HI";

    // Memory.
    /// Base of bindless descriptors: the set.
    Base "BASE";
    /// Descriptors are found by set and index.
    Bindless "BINDLESS";
    /// Where the index of the resource is.
    Mode "MODE";
    /// Components of a vector access.
    Size "SIZE";
    /// Less one: components of an access by descriptor.
    TypeSizeMinusOne "TYPE_SIZE_MINUS_ONE";
    /// Less one: coordinates.
    DMinusOne "D_MINUS_ONE";
    /// Formatted access.
    Typed "TYPED";
    /// Offset of an address.
    Off "OFF";
    /// High bits of the offset.
    OffHi "OFF_HI";
    /// Low bits of the offset.
    OffLo "OFF_LO";
    /// The offset of a store lies in the word's place of a destination.
    DstOff "DST_OFF";
    /// First component of `ldc`.
    Offset "OFFSET";
    /// Shift of the offset register of `ldg.a` and `stg.a`, beyond dwords.
    Src2AddDwordShift "SRC2_ADD_DWORD_SHIFT";
    /// Less one: vec4 that `ldc.k` loads.
    LoadSizeMinusOne "LOAD_SIZE_MINUS_ONE";
    /// High bits of a place in the const file.
    DstHi "DST_HI";
    /// Low bits of a place in the const file.
    DstLo "DST_LO";

    // Barriers and caches.
    /// Global memory.
    G "G";
    /// Local side.
    L "L";
    /// Reads.
    R "R";
    /// Length of a wait.
    Duration "DURATION";
    /// Which instructions an alias is for.
    Scope "SCOPE";
    /// What an alias stands for.
    SrcRegType "SRC_REG_TYPE";
    /// Not known.
    Unk "UNK";

    // What text derives.
    /// The mnemonic.
    Name "NAME";
    /// `h` if sources are halves.
    Half "HALF";
    /// `h` if the destination is a half.
    DstHalf "DST_HALF";
    /// `h` if the data are halves.
    TypeHalf "TYPE_HALF";
    /// Idle slots after the instruction.
    Nop "NOP";
    /// Cluster size.
    ClusterSize "CLUSTER_SIZE";
    /// Coordinates.
    D "D";
    /// Components of an access by descriptor.
    TypeSize "TYPE_SIZE";
    /// vec4 that `ldc.k` loads.
    LoadSize "LOAD_SIZE";
    /// Shift of the offset register of `ldg.a`, in bits.
    Src2ByteShift "SRC2_BYTE_SHIFT";
    /// Shift of the offset register of `stg.a`, in bits.
    DstByteShift "DST_BYTE_SHIFT";
    /// `.s2en` for indirect descriptors.
    S2en "S2EN";
    /// `.uniform`.
    Uniform "UNIFORM";
    /// `.nonuniform`.
    NonUniform "NONUNIFORM";
    /// `, a1.x` if that is read.
    A1 "A1";
}

/// How the bits of a field are read, and how text spells them.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// One bit; text has the word if it is set.
    Flag(&'static str),
    /// One bit that text shows by other means, or not at all.
    Bit,
    /// One of several values with a text each; others are reserved.
    Enum(&'static [Name]),
    /// Unsigned, decimal.
    Uint,
    /// Signed, decimal.
    Int,
    /// Signed: written with its sign, and not at all if 0.
    Offset,
    /// Unsigned: written with a plus sign, and not at all if 0.
    UOffset,
    /// A branch target, relative to the branch, in instructions.
    Branch,
    /// An operand with an encoding of its own.
    Operand(Form),
}

/// Whether a source of category 6 is an immediate instead of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    /// If the field is set.
    By(Field),
    /// If the mode says that the index is in the instruction.
    ByMode,
    /// Always.
    Always,
}

/// The encoding of an operand. The names are those of the facts' "operands".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A register.
    Gpr8,
    /// Destination of a move: a register, or relative.
    MovDst8,
    /// Register source of a move.
    MovGpr8,
    /// Constant source of a move.
    MovConst11,
    /// Relative register source of a move.
    MovRelGpr10,
    /// Relative constant source of a move.
    MovRelConst10,
    /// Immediate source of a move.
    MovImm32,
    /// Source of a multiple move.
    MultiSrc8,
    /// Destination of a multiple move.
    MultiDst8,
    /// Source of categories 2 and 4; the field advances it.
    AluSrc16(Field),
    /// Source 1 or 3 of category 3, with constants.
    MadSrc13,
    /// Source 1 or 3 of category 3, with immediates in the place of constants.
    MadImm13,
    /// First source of a texture instruction, if it has one.
    TexSrc1,
    /// Second source of a texture instruction, if it has one.
    TexSrc2,
    /// Descriptor of a texture instruction: registers or immediates.
    TexSrc3,
    /// Sampler of a texture instruction, if it has one.
    TexSamp4,
    /// Texture of a texture instruction, if it has one.
    TexTex7,
    /// Type of a texture instruction, if it has one.
    TexType3,
    /// Base of bindless texture descriptors, the low bit.
    TexBase1,
    /// Base of bindless descriptors, if the access is bindless.
    MemBase3,
    /// Register or immediate.
    MemSrc8(Immediate),
    /// Pair of registers, or of constants if source 1 is marked so.
    MemAddr8,
    /// Typed or untyped.
    MemTyped1,
    /// Place in the const file, plain or added to a1.x.
    ConstDst9,
    /// What an alias stands for.
    AliasSrc,
}

/// A field in the word: bits `low` to `high`, both included.
#[derive(Clone, Copy, Debug)]
pub struct FieldSpec {
    /// Its name.
    pub field: Field,
    /// Its lowest bit.
    pub low: u8,
    /// Its highest bit.
    pub high: u8,
    /// How it is read.
    pub kind: Kind,
}

impl FieldSpec {
    /// How many bits it has.
    pub const fn width(&self) -> u32 {
        (self.high - self.low + 1) as u32
    }

    /// Its bits in the word.
    pub const fn mask(&self) -> u64 {
        ((1 << self.width()) - 1) << self.low
    }

    /// Its value in `word`.
    pub const fn extract(&self, word: u64) -> u32 {
        ((word & self.mask()) >> self.low) as u32
    }

    /// `value` in its place, with what does not fit cut off.
    pub const fn place(&self, value: u32) -> u64 {
        ((value as u64) << self.low) & self.mask()
    }

    /// `value` in its place; `None` if it does not fit. Fields with a sign take negative values.
    pub fn insert(&self, value: i64) -> Option<u64> {
        let (least, greatest) = self.range();
        (least <= value && value <= greatest).then(|| self.place(value as u32))
    }

    /// Least and greatest value.
    pub const fn range(&self) -> (i64, i64) {
        let bits = self.width();
        if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }

    /// Its value in `word`, with its sign if it has one.
    pub const fn read(&self, word: u64) -> i64 {
        let value = self.extract(word);
        if self.is_signed() {
            sign_extend(value, self.width()) as i64
        } else {
            value as i64
        }
    }

    const fn is_signed(&self) -> bool {
        matches!(self.kind, Kind::Int | Kind::Offset | Kind::Branch)
    }
}

/// The low `width` bits of `value` as a signed number.
pub(crate) const fn sign_extend(value: u32, width: u32) -> i32 {
    let shift = 32 - width;
    ((value << shift) as i32) >> shift
}
