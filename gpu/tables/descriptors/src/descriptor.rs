//! Typed structures: what the tables' macros give every one of them.

use crate::arch::Arch;
use crate::error::{DescriptorError, FieldError};
use crate::row::Layout;

/// Words of the largest structure: 128 bytes.
const MOST_WORDS: usize = 32;

/// A structure in GPU memory.
pub trait Descriptor: Copy + PartialEq + Default {
    /// Its table.
    const LAYOUT: &'static Layout;

    /// ORs the fields into the words of an outer structure, from bit `base` on.
    ///
    /// # Errors
    /// The first field that can't take its value.
    fn pack_at(&self, arch: Arch, words: &mut [u32], base: u32) -> Result<(), FieldError>;

    /// Reads the fields from bit `base` on.
    ///
    /// # Errors
    /// The first field whose bits mean nothing.
    fn unpack_at(arch: Arch, words: &[u32], base: u32) -> Result<Self, FieldError>;

    /// Packs into the first words of `out`, little endian once stored, and gives the number of bytes.
    ///
    /// Words are cleared first; what lies behind the structure stays.
    ///
    /// # Errors
    /// [`DescriptorError::NotInArch`], [`DescriptorError::Length`], or the field that can't take its value.
    #[inline]
    fn pack(&self, arch: Arch, out: &mut [u32]) -> Result<usize, DescriptorError> {
        let (structure, bytes) = (Self::LAYOUT.name, size(Self::LAYOUT, arch)?);
        // Fields are put together here, where the compiler sees all indices, and stored in one go.
        let mut words = [0; MOST_WORDS];
        if let Err(error) = self.pack_at(arch, &mut words, 0) {
            return Err(DescriptorError::Field { structure, error });
        }
        let (needed, found) = (bytes, out.len() * 4);
        match (
            out.get_mut(..bytes.div_ceil(4)),
            words.get(..bytes.div_ceil(4)),
        ) {
            (Some(out), Some(words)) => out.copy_from_slice(words),
            _ => {
                return Err(DescriptorError::Length {
                    structure,
                    needed,
                    found,
                });
            }
        }
        Ok(bytes)
    }

    /// Reads a structure from the first words of `words`, and refuses bits that no field covers.
    ///
    /// # Errors
    /// A [`DescriptorError`] that names the field, or the reserved bits.
    fn unpack(arch: Arch, words: &[u32]) -> Result<Self, DescriptorError> {
        let bytes = size(Self::LAYOUT, arch)?;
        check_reserved(Self::LAYOUT, arch, words, bytes)?;
        Self::unpack_at(arch, words, 0).map_err(|error| DescriptorError::Field {
            structure: Self::LAYOUT.name,
            error,
        })
    }
}

/// Bytes of a structure.
#[inline(always)]
pub(crate) fn size(layout: &Layout, arch: Arch) -> Result<usize, DescriptorError> {
    match layout.size(arch) {
        Some(bytes) => Ok(bytes as usize),
        None => Err(DescriptorError::NotInArch {
            structure: layout.name,
            arch,
        }),
    }
}

/// Refuses too few words, and bits that no field covers.
pub(crate) fn check_reserved(
    layout: &Layout,
    arch: Arch,
    words: &[u32],
    bytes: usize,
) -> Result<(), DescriptorError> {
    let structure = layout.name;
    let found = words.len() * 4;
    let Some(words) = words.get(..bytes.div_ceil(4)) else {
        let needed = bytes;
        return Err(DescriptorError::Length {
            structure,
            needed,
            found,
        });
    };
    for (word, value) in (0..).zip(words) {
        let bits = value & !layout.covered(arch, word);
        if bits != 0 {
            return Err(DescriptorError::Reserved {
                structure,
                word,
                bits,
            });
        }
    }
    Ok(())
}
