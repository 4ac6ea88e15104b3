//! Region: a range of physical addresses; and the address of a device's registers.

use core::num::NonZeroUsize;
use core::ptr::NonNull;

/// A range of physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::file::fields::Numbers")
)]
pub struct Region {
    /// First address; a multiple of 4096 in everything that a board states.
    pub base: usize,
    /// Length in bytes; a multiple of 4096 in everything that a board states.
    pub bytes: usize,
}

impl Region {
    /// The region of `bytes` bytes at `base`.
    ///
    /// # Panics
    /// When one of them is no multiple of 4096, or the end is no address.
    pub const fn new(base: usize, bytes: usize) -> Region {
        let region = Region { base, bytes };
        assert!(region.is_whole(4096), "no whole pages");
        assert!(base.checked_add(bytes).is_some(), "no addresses");
        region
    }

    /// The first address after it.
    pub const fn end(self) -> usize {
        self.base + self.bytes
    }

    /// Whether an address lies in it.
    pub const fn contains(self, address: usize) -> bool {
        self.base <= address && address - self.base < self.bytes
    }

    pub(crate) const fn overlaps(self, other: Region) -> bool {
        self.base < other.end() && other.base < self.end()
    }

    pub(crate) const fn is_whole(self, unit: usize) -> bool {
        self.base.is_multiple_of(unit) && self.bytes.is_multiple_of(unit)
    }
}

/// The address of a device's registers: not 0, and a multiple of 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterBase(NonZeroUsize);

impl RegisterBase {
    /// The registers at `address`.
    ///
    /// # Panics
    /// While a board is compiled, when they can't be there:
    ///
    /// ```compile_fail,E0080
    /// const CONSOLE: eitri_boards::RegisterBase = eitri_boards::RegisterBase::new(0x0900_0002);
    /// # let _ = CONSOLE;
    /// ```
    pub const fn new(address: usize) -> RegisterBase {
        assert!(address.is_multiple_of(4), "registers that are not aligned");
        match NonZeroUsize::new(address) {
            Some(address) => RegisterBase(address),
            None => panic!("registers at address 0"),
        }
    }

    /// The registers at an address that is found out when the image runs; none where they can't be there.
    #[cfg(any(feature = "drivers", feature = "files"))]
    pub(crate) fn checked(address: usize) -> Option<RegisterBase> {
        let aligned = address.is_multiple_of(4);
        NonZeroUsize::new(address)
            .filter(|_| aligned)
            .map(RegisterBase)
    }

    /// The address.
    pub const fn address(self) -> usize {
        self.0.get()
    }

    /// The address as a pointer, which is of use only where the registers are mapped.
    pub const fn pointer<T>(self) -> NonNull<T> {
        NonNull::without_provenance(self.0)
    }
}
