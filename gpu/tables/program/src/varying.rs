//! What goes into a stage and comes out of it: attributes, varyings, colours.
//!
//! Facts: hardware/graphics-compiler.md 1.2 (attributes), 2 (varyings), 4 (colours).

/// What the components of an attribute or of a colour are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// Floats of 32 bits, which normalised formats are converted to.
    Float,
    /// Floats of 16 bits.
    Half,
    /// Integers with a sign, of 32 bits.
    Int,
    /// Integers without a sign, of 32 bits.
    Uint,
}

impl NumberKind {
    const ALL: [NumberKind; 4] = [
        NumberKind::Float,
        NumberKind::Half,
        NumberKind::Int,
        NumberKind::Uint,
    ];

    const fn number(self) -> u32 {
        match self {
            NumberKind::Float => 0,
            NumberKind::Half => 1,
            NumberKind::Int => 2,
            NumberKind::Uint => 3,
        }
    }
}

/// Where a record of attributes, outputs and varyings has its bytes.
const SECOND: u32 = 8;
const THIRD: u32 = 16;

/// Byte `shift / 8` of a word.
const fn byte(word: u32, shift: u32) -> u8 {
    (word >> shift & 0xff) as u8
}

/// Components 1 to 4.
fn components(number: u8) -> Option<u8> {
    (1..=4).contains(&number).then_some(number)
}

/// An input of a vertex shader. Its descriptor is entry `location` of table 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attribute {
    /// Location in the shader's text: below [`Attribute::MAX_LOCATIONS`].
    pub location: u8,
    /// Components that it reads, from the first on: 1 to 4.
    pub components: u8,
    /// What they are.
    pub kind: NumberKind,
}

impl Attribute {
    /// Locations that there are (hardware/compiler-abi.md 1.3).
    pub const MAX_LOCATIONS: u8 = 16;

    pub(crate) fn to_record(self) -> [u32; 1] {
        let [location, components] = [self.location, self.components].map(u32::from);
        [location | components << SECOND | self.kind.number() << THIRD]
    }

    /// The attribute of a record; `None` when a field has no meaning.
    pub(crate) fn from_record([word]: [u32; 1]) -> Option<Attribute> {
        let location = byte(word, 0);
        Some(Attribute {
            location: (location < Attribute::MAX_LOCATIONS).then_some(location)?,
            components: components(byte(word, SECOND))?,
            kind: *NumberKind::ALL.get((word >> THIRD) as usize)?,
        })
    }
}

/// A colour that a fragment shader writes: always four components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColorOutput {
    /// Render target: below [`ColorOutput::MAX_TARGETS`].
    pub target: u8,
    /// What the components are.
    pub kind: NumberKind,
    /// The shader has blended it with what is there, and masked it: the target must be written as it comes, all channels.
    pub blended: bool,
}

impl ColorOutput {
    /// Render targets that there are.
    pub const MAX_TARGETS: u8 = 8;

    pub(crate) fn to_record(self) -> [u32; 1] {
        let blended = u32::from(self.blended) << THIRD;
        [u32::from(self.target) | self.kind.number() << SECOND | blended]
    }

    /// The output of a record; `None` when a field has no meaning.
    pub(crate) fn from_record([word]: [u32; 1]) -> Option<ColorOutput> {
        let target = byte(word, 0);
        Some(ColorOutput {
            target: (target < ColorOutput::MAX_TARGETS).then_some(target)?,
            kind: *NumberKind::ALL.get(usize::from(byte(word, SECOND)))?,
            blended: match word >> THIRD {
                0 => false,
                1 => true,
                _ => return None,
            },
        })
    }
}

/// How large the components of a varying are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VaryingSize {
    /// 16 bits: floats of less precision.
    Half,
    /// 32 bits.
    Word,
}

impl VaryingSize {
    /// Bytes of a component.
    pub const fn bytes(self) -> u32 {
        match self {
            VaryingSize::Half => 2,
            VaryingSize::Word => 4,
        }
    }
}

/// What a fragment shader makes of the values of the vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Interpolated with perspective; or nothing is said, by the vertex shader.
    Smooth,
    /// The provoking vertex's.
    Flat,
    /// Interpolated in the framebuffer: the vertex shader has multiplied them by w.
    NoPerspective,
}

impl Interpolation {
    const ALL: [Interpolation; 3] = [
        Interpolation::Smooth,
        Interpolation::Flat,
        Interpolation::NoPerspective,
    ];

    const fn number(self) -> u32 {
        match self {
            Interpolation::Smooth => 0,
            Interpolation::Flat => 1,
            Interpolation::NoPerspective => 2,
        }
    }
}

/// What a location of the interface between vertex and fragment shader has in the record of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Varying {
    /// Location in the shaders' texts.
    pub location: u8,
    /// Components, from the first on: 1 to 4.
    pub components: u8,
    /// How large they are.
    pub size: VaryingSize,
    /// What becomes of them.
    pub interpolation: Interpolation,
    /// Bytes from the start of the record: a multiple of a component's.
    pub offset: u16,
}

/// Where the first word of a varying's record has its interpolation.
const FOURTH: u32 = 24;

impl Varying {
    /// Bytes that it takes.
    pub const fn bytes(self) -> u32 {
        self.components as u32 * self.size.bytes()
    }

    /// The byte behind its last, from the start of the record.
    pub const fn end(self) -> u32 {
        self.offset as u32 + self.bytes()
    }

    /// Whether both are at the same place, and as large.
    pub fn fits(self, other: Varying) -> bool {
        self.location == other.location && self.offset == other.offset && self.size == other.size
    }

    pub(crate) fn to_record(self) -> [u32; 2] {
        let [location, components] = [self.location, self.components].map(u32::from);
        let size = u32::from(self.size == VaryingSize::Half);
        let interpolation = self.interpolation.number();
        [
            location | components << SECOND | size << THIRD | interpolation << FOURTH,
            self.offset.into(),
        ]
    }

    /// The varying of a record; `None` when a field has no meaning, or it leaves a record of that length.
    pub(crate) fn from_record([word, offset]: [u32; 2], record_bytes: u32) -> Option<Varying> {
        let varying = Varying {
            location: byte(word, 0),
            components: components(byte(word, SECOND))?,
            size: match byte(word, THIRD) {
                0 => VaryingSize::Word,
                1 => VaryingSize::Half,
                _ => return None,
            },
            interpolation: *Interpolation::ALL.get(usize::from(byte(word, FOURTH)))?,
            offset: u16::try_from(offset).ok()?,
        };
        let aligned = offset.is_multiple_of(varying.size.bytes());
        (aligned && varying.end() <= record_bytes).then_some(varying)
    }
}
