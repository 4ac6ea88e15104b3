//! Bindings: what the caller must supply.
//!
//! Facts: hardware/compiler-abi.md 1.1 to 1.4 (tables, handles, descriptors a binding).

use eitri_program_file::Access;

/// What kind of resource a binding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingKind {
    /// A storage buffer (SSBO).
    StorageBuffer,
    /// A uniform buffer (UBO).
    UniformBuffer,
    /// Texels of a buffer, only read.
    UniformTexelBuffer,
    /// Texels of a buffer.
    StorageTexelBuffer,
    /// An image that is read and written by texel.
    StorageImage(ImageShape),
    /// An image that is fetched from, or sampled with a sampler of another binding.
    SampledImage(ImageShape),
    /// A sampler.
    Sampler,
    /// An image and, as the descriptor behind it, its sampler.
    CombinedImageSampler(ImageShape),
}

/// What an image looks like to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageShape {
    /// Its coordinates.
    pub dimension: ImageDimension,
    /// Whether it has layers; of cubes: several.
    pub arrayed: bool,
    /// Whether a texel has several samples.
    pub multisampled: bool,
}

/// Coordinates of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageDimension {
    /// One.
    OneD,
    /// Two.
    TwoD,
    /// Three.
    ThreeD,
    /// A direction; a storage image has two coordinates and the number of the face.
    Cube,
}

impl ImageShape {
    /// One image of one sample a texel.
    pub const fn plain(dimension: ImageDimension) -> ImageShape {
        ImageShape {
            dimension,
            arrayed: false,
            multisampled: false,
        }
    }

    const fn to_bits(self) -> u32 {
        let dimension = match self.dimension {
            ImageDimension::OneD => 0,
            ImageDimension::TwoD => 1,
            ImageDimension::ThreeD => 2,
            ImageDimension::Cube => 3,
        };
        dimension | (self.arrayed as u32) << 2 | (self.multisampled as u32) << 3
    }

    /// The shape of four bits.
    const fn from_bits(bits: u32) -> ImageShape {
        ImageShape {
            dimension: match bits & 3 {
                0 => ImageDimension::OneD,
                1 => ImageDimension::TwoD,
                2 => ImageDimension::ThreeD,
                _ => ImageDimension::Cube,
            },
            arrayed: bits & 4 != 0,
            multisampled: bits & 8 != 0,
        }
    }
}

impl BindingKind {
    /// Descriptors of one element of it.
    pub const fn descriptors(self) -> u32 {
        match self {
            BindingKind::CombinedImageSampler(_) => 2,
            _ => 1,
        }
    }

    /// Whether images are sampled or fetched from by it, which takes a sampler of the driver's own, too.
    pub const fn is_texture(self) -> bool {
        matches!(
            self,
            BindingKind::SampledImage(_) | BindingKind::CombinedImageSampler(_)
        )
    }

    /// Its number, and the bits of its shape.
    const fn to_bits(self) -> (u32, u32) {
        match self {
            BindingKind::StorageBuffer => (0, 0),
            BindingKind::UniformBuffer => (1, 0),
            BindingKind::UniformTexelBuffer => (2, 0),
            BindingKind::StorageTexelBuffer => (3, 0),
            BindingKind::StorageImage(shape) => (4, shape.to_bits()),
            BindingKind::SampledImage(shape) => (5, shape.to_bits()),
            BindingKind::Sampler => (6, 0),
            BindingKind::CombinedImageSampler(shape) => (7, shape.to_bits()),
        }
    }

    /// The kind of a number and the bits of its shape.
    const fn from_bits(number: u32, bits: u32) -> Option<BindingKind> {
        if bits > 0xf {
            return None;
        }
        let shape = ImageShape::from_bits(bits);
        let kind = match number {
            0 => BindingKind::StorageBuffer,
            1 => BindingKind::UniformBuffer,
            2 => BindingKind::UniformTexelBuffer,
            3 => BindingKind::StorageTexelBuffer,
            4 => BindingKind::StorageImage(shape),
            5 => BindingKind::SampledImage(shape),
            6 => BindingKind::Sampler,
            7 => BindingKind::CombinedImageSampler(shape),
            _ => return None,
        };
        // A kind without a shape has no bits of one.
        if kind.to_bits().1 == bits {
            Some(kind)
        } else {
            None
        }
    }
}

/// Where a descriptor stands: entry `index` of resource table `table`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DescriptorSlot {
    /// Resource table: 0 is the driver's own, set s is table s + 1. At most [`DescriptorSlot::MAX_TABLE`].
    pub table: u8,
    /// Descriptor in the table, in units of 32 bytes: below 2^24.
    pub index: u32,
}

impl DescriptorSlot {
    /// Highest table that a program may use: above it lie the numbers with a special meaning
    /// (hardware/compiler-abi.md 1.2).
    pub const MAX_TABLE: u8 = 11;

    /// The 32-bit handle by which an instruction names this descriptor (hardware/compiler-abi.md 1.2).
    pub const fn handle(self) -> u32 {
        (self.table as u32) << 24 | (self.index & 0x00FF_FFFF)
    }

    /// The descriptor of a handle; `None` when its table is none that a program may use.
    pub(crate) const fn from_handle(handle: u32) -> Option<DescriptorSlot> {
        let table = (handle >> 24) as u8;
        match table <= DescriptorSlot::MAX_TABLE {
            true => Some(DescriptorSlot {
                table,
                index: handle & 0x00FF_FFFF,
            }),
            false => None,
        }
    }
}

/// One resource that the program uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// Descriptor set of the shader's text.
    pub set: u32,
    /// Binding of the shader's text.
    pub binding: u32,
    /// What it is.
    pub kind: BindingKind,
    /// What is done with it.
    pub access: Access,
    /// Elements of an array binding; their descriptors are consecutive from `slot`, [`BindingKind::descriptors`] each. 1 for
    /// a single resource.
    pub count: u32,
    /// Where the (first) descriptor stands.
    pub slot: DescriptorSlot,
    /// Fewest bytes that the resource must have: the fixed part of its block, without a runtime array.
    pub min_bytes: u32,
}

impl Binding {
    /// Whether a descriptor is one of its own.
    pub(crate) fn has(&self, slot: DescriptorSlot) -> bool {
        let first = self.slot.index;
        // No overflow: a binding's last index is below 2^24, checked by `Binding::from_record`.
        slot.table == self.slot.table
            && (first..first.saturating_add(self.descriptors())).contains(&slot.index)
    }

    /// Descriptors of all its elements.
    pub const fn descriptors(&self) -> u32 {
        self.count.saturating_mul(self.kind.descriptors())
    }

    pub(crate) fn to_record(self) -> [u32; 7] {
        let (number, shape) = self.kind.to_bits();
        let kind = number | shape << 16;
        let access = self.access.number() << 8;
        [
            self.set,
            self.binding,
            kind | access,
            self.count,
            u32::from(self.slot.table),
            self.slot.index,
            self.min_bytes,
        ]
    }

    /// The binding of a record; `None` when a field has no meaning.
    pub(crate) fn from_record(record: [u32; 7]) -> Option<Binding> {
        let [set, binding, kind, count, table, index, min_bytes] = record;
        let access = Access::from_number(kind >> 8 & 0xFF)?;
        let kind = BindingKind::from_bits(kind & 0xFF, kind >> 16)?;
        let table = u8::try_from(table).ok()?;
        let descriptors = count.checked_mul(kind.descriptors())?;
        let last = index.checked_add(descriptors.checked_sub(1)?)?;
        (table <= DescriptorSlot::MAX_TABLE && last < 1 << 24).then_some(Binding {
            set,
            binding,
            kind,
            access,
            count,
            slot: DescriptorSlot { table, index },
            min_bytes,
        })
    }
}
