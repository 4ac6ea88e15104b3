//! Descriptors of parts of memory, packed once for a device: what is left to say are an address and a number of bytes.
//!
//! A draw writes several of them. Where their fields stand is found out from the table of descriptors, not said here.
//! Facts: hardware/descriptors.md sections 4 and 5, through [`eitri_descriptors`].

use super::framebuffer_words::PARAMETER_WORDS;
use super::resource_tables::doubles;
use crate::resource::{RESOURCE_WORDS, buffer, resource};
use eitri_descriptors::framebuffer::FramebufferParameters;
use eitri_descriptors::{Aligned, Arch, Descriptor, DescriptorError};

/// Double words of an entry of a resource table, and of a buffer's descriptor.
const ENTRY: usize = RESOURCE_WORDS / 2;
const BUFFER: usize = 4;

/// Descriptors that draws write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartShapes {
    /// An entry of a resource table.
    pub(super) entry: PartShape<ENTRY>,
    /// A buffer.
    pub(super) buffer: PartShape<BUFFER>,
    /// The double word of a framebuffer's parameters that is the address of the tiler's context.
    pub(super) tiler: usize,
}

impl PartShapes {
    /// Those of a generation.
    ///
    /// # Errors
    /// If there are no such descriptors.
    pub(crate) fn new(arch: Arch) -> Result<PartShapes, DescriptorError> {
        Ok(PartShapes {
            entry: PartShape::new(|at, bytes| Ok(doubles(&resource(arch, at, bytes)?)))?,
            buffer: PartShape::new(|at, bytes| Ok(doubles(&buffer(arch, at, bytes)?)))?,
            tiler: tiler_word(arch)?,
        })
    }
}

/// Where parameters of a framebuffer differ that have another tiler context.
fn tiler_word(arch: Arch) -> Result<usize, DescriptorError> {
    let (zero, other) = (parameters(arch, 0)?, parameters(arch, TILER)?);
    Ok(Field::between(&zero, &other, TILER).word)
}

/// Parameters of a framebuffer with a tiler context.
fn parameters(arch: Arch, tiler: u64) -> Result<[u64; PARAMETER_WORDS / 2], DescriptorError> {
    let parameters = FramebufferParameters {
        tiler: Aligned::new(tiler).unwrap_or_default(),
        // The least that there is.
        width: 1,
        height: 1,
        sample_count: 1,
        render_target_count: 1,
        effective_tile_size: 256,
        color_buffer_allocation: 1024,
        ..FramebufferParameters::default()
    };
    let mut words = [0; PARAMETER_WORDS];
    parameters.pack(arch, &mut words)?;
    Ok(doubles(&words))
}

/// The address of a tiler context, to find it.
const TILER: u64 = 1 << 40;

/// A descriptor of a part of memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartShape<const N: usize> {
    zero: [u64; N],
    address: Field,
    bytes: Field,
}

/// Where a field stands: its double word, and the bit there.
#[derive(Clone, Copy, Debug, Default)]
struct Field {
    word: usize,
    shift: u32,
}

impl Field {
    /// The field in which `value`, a power of two, stands where two descriptors differ.
    fn between<const N: usize>(zero: &[u64; N], other: &[u64; N], value: u64) -> Field {
        let mut words = zero.iter().zip(other).map(|(zero, other)| zero ^ other);
        let found = words.position(|different| different != 0);
        let word = found.unwrap_or(0);
        let different =
            zero.get(word).copied().unwrap_or(0) ^ other.get(word).copied().unwrap_or(0);
        let shift = different.trailing_zeros();
        Field {
            word,
            shift: shift.saturating_sub(value.trailing_zeros()),
        }
    }

    #[inline(always)]
    fn set<const N: usize>(self, words: &mut [u64; N], value: u64) {
        if let Some(word) = words.get_mut(self.word) {
            *word |= value.wrapping_shl(self.shift);
        }
    }
}

impl<const N: usize> PartShape<N> {
    fn new(
        pack: impl Fn(u64, u32) -> Result<[u64; N], DescriptorError>,
    ) -> Result<PartShape<N>, DescriptorError> {
        const ADDRESS: u64 = 1 << 40;
        const BYTES: u32 = 1 << 12;
        let zero = pack(0, 0)?;
        Ok(PartShape {
            zero,
            address: Field::between(&zero, &pack(ADDRESS, 0)?, ADDRESS),
            bytes: Field::between(&zero, &pack(0, BYTES)?, BYTES.into()),
        })
    }

    /// The descriptor of `bytes` at `address`, which the driver's own mappings have.
    #[inline(always)]
    pub(super) fn with(&self, address: u64, bytes: u32) -> [u64; N] {
        let mut words = self.zero;
        self.address.set(&mut words, address);
        self.bytes.set(&mut words, bytes.into());
        words
    }
}

impl PartShape<ENTRY> {
    /// The entry that has no address yet, with one.
    #[inline(always)]
    pub(super) const fn at(&self, [low, high]: [u64; ENTRY], address: u64) -> [u64; ENTRY] {
        let address = address.wrapping_shl(self.address.shift);
        match self.address.word {
            0 => [low | address, high],
            _ => [low, high | address],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of the double word is the address: writing it changes nothing else.
    #[test]
    fn the_address_of_a_tiler_context_is_a_double_word() {
        for arch in Arch::ALL {
            let Ok(shapes) = PartShapes::new(arch) else {
                continue;
            };
            for tiler in [0, 1 << 40, u64::MAX << 6] {
                let word = parameters(arch, tiler).map(|words| words[shapes.tiler]);
                assert_eq!(word, Ok(tiler), "{arch:?}");
            }
        }
    }

    #[test]
    fn a_descriptor_is_what_the_table_packs() {
        for arch in Arch::ALL {
            let Ok(shapes) = PartShapes::new(arch) else {
                continue;
            };
            for (address, bytes) in [(0, 0), (0x1000, 64), (0x8123_4567_89C0, u32::MAX)] {
                let entry = resource(arch, address, bytes).expect("packs");
                assert_eq!(
                    shapes.entry.with(address, bytes),
                    doubles(&entry),
                    "{arch:?}"
                );
                let nowhere = shapes.entry.with(0, bytes);
                assert_eq!(
                    shapes.entry.at(nowhere, address),
                    doubles(&entry),
                    "{arch:?}"
                );
                let words = buffer(arch, address, bytes).expect("packs");
                assert_eq!(
                    shapes.buffer.with(address, bytes),
                    doubles(&words),
                    "{arch:?}"
                );
            }
        }
    }
}
