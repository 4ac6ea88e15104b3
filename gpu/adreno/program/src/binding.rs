//! Bindings: what the caller must supply.
//!
//! Facts: hardware/ir3-isa.md 12 (bindless: a set's base, and a descriptor's index in units of 64 bytes).

use crate::DESCRIPTOR_SETS;
use eitri_program_file::Access;

/// What kind of resource a binding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingKind {
    /// A storage buffer: reached as an image/buffer descriptor (`ldib.b`, `stib.b`, `atomic.b`, `resinfo.b`).
    StorageBuffer,
    /// A uniform buffer: reached by `ldc`.
    UniformBuffer,
    /// A buffer of texels that are read: reached as a texture (`isam`, `getbuf`).
    UniformTexelBuffer,
    /// A buffer of texels: reached as a storage buffer is, with a format.
    StorageTexelBuffer,
    /// An image: reached as a storage buffer is, with a format.
    StorageImage,
    /// An image that is read: reached as a texture (`isam`, `isaml`, `saml`, `getsize`).
    SampledImage,
    /// A sampler (`saml`).
    Sampler,
    /// Both: the descriptor of the image, and behind it that of the sampler.
    CombinedImageSampler,
}

impl BindingKind {
    /// All of them; the place of each is its number in a record.
    pub const ALL: [BindingKind; 8] = [
        BindingKind::StorageBuffer,
        BindingKind::UniformBuffer,
        BindingKind::UniformTexelBuffer,
        BindingKind::StorageTexelBuffer,
        BindingKind::StorageImage,
        BindingKind::SampledImage,
        BindingKind::Sampler,
        BindingKind::CombinedImageSampler,
    ];

    /// Descriptors that each element has, one behind the other.
    pub const fn descriptors(self) -> u32 {
        match self {
            BindingKind::CombinedImageSampler => 2,
            _ => 1,
        }
    }

    const fn number(self) -> u32 {
        // Variants count from 0 in the order of `ALL`.
        self as u32
    }

    fn from_number(number: u32) -> Option<BindingKind> {
        BindingKind::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// One resource that the program uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// Descriptor set of the shader's text, which is the number of the bindless base.
    pub set: u32,
    /// Binding of the shader's text.
    pub binding: u32,
    /// What it is.
    pub kind: BindingKind,
    /// What is done with it.
    pub access: Access,
    /// Elements of an array binding; their descriptors are consecutive from `descriptor`, [`BindingKind::descriptors`] each. 1
    /// for a single resource.
    pub count: u32,
    /// Where its (first) descriptor stands in the set, in descriptors of 64 bytes.
    pub descriptor: u32,
    /// Fewest bytes that the resource must have: the fixed part of its block, without a runtime array.
    pub min_bytes: u32,
}

impl Binding {
    pub(crate) fn to_record(self) -> [u32; 6] {
        [
            self.set,
            self.binding,
            self.kind.number() | self.access.number() << 8,
            self.count,
            self.descriptor,
            self.min_bytes,
        ]
    }

    /// The binding of a record; `None` when a field has no meaning.
    pub(crate) fn from_record(record: [u32; 6]) -> Option<Binding> {
        let [set, binding, kind, count, descriptor, min_bytes] = record;
        let access = Access::from_number(kind >> 8)?;
        let kind = BindingKind::from_number(kind & 0xFF)?;
        let end = descriptor.checked_add(count.checked_mul(kind.descriptors())?)?;
        (set < DESCRIPTOR_SETS && count > 0 && end <= 1 << 24).then_some(Binding {
            set,
            binding,
            kind,
            access,
            count,
            descriptor,
            min_bytes,
        })
    }
}
