//! The 32 constants that a source can name without a uniform.
//!
//! Facts: hardware/valhall-isa.md section 2.1.

use crate::arch::Arch;

/// An entry of the constant table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constant(u8);

#[rustfmt::skip]
const VALUES: [u32; 32] = [
    0x0000_0000, 0xFFFF_FFFF, 0x7FFF_FFFF, 0xFAFC_FDFE,  0x0100_0000, 0x8000_2000, 0x7060_5030, 0xC0B0_A090,
    0x0302_0100, 0x0706_0504, 0x0B0A_0908, 0x0F0E_0D0C,  0x1312_1110, 0x1716_1514, 0x1B1A_1918, 0x1F1E_1D1C,
    0x3F80_0000, 0x3DCC_CCCD, 0x3EA2_F983, 0x3F31_7218,  0x4049_0FDB, 0x0000_0000, 0x477F_FF00, 0x5C00_5BF8,
    0x2E66_0000, 0x3400_0000, 0x3800_0000, 0x3C00_0000,  0x4000_0000, 0x4400_0000, 0x4800_0000, 0x4248_0000,
];

/// The entry that has another value since v11: a second zero before.
const CHANGED: u8 = 21;
const CHANGED_SINCE_V11: u32 = 0x2724_28E0;

impl Constant {
    /// The constant 0.
    pub const ZERO: Self = Self(0);
    /// All ones; the integer -1.
    pub const ONES: Self = Self(1);
    /// The float 1.0.
    pub const ONE_F32: Self = Self(16);
    /// Number of entries.
    pub const COUNT: u8 = 32;

    /// Entry `index`, or `None` above 31.
    pub const fn new(index: u8) -> Option<Self> {
        if index < Self::COUNT {
            Some(Self(index))
        } else {
            None
        }
    }

    /// The entry that the low five bits of `bits` name.
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self((bits & 31) as u8)
    }

    /// The lowest entry that holds `value`.
    pub const fn find(value: u32, arch: Arch) -> Option<Self> {
        let mut index = 0;
        while index < Self::COUNT {
            if Self(index).value(arch) == value {
                return Some(Self(index));
            }
            index += 1;
        }
        None
    }

    /// Its number, 0 to 31.
    pub const fn index(self) -> u8 {
        self.0
    }

    /// What it holds.
    pub const fn value(self, arch: Arch) -> u32 {
        if self.0 == CHANGED && arch as u8 >= Arch::V11 as u8 {
            CHANGED_SINCE_V11
        } else {
            VALUES[self.0 as usize]
        }
    }
}
