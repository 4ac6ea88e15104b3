//! Facts about the whole program: generation, waves.
//!
//! Facts: hardware/ir3-isa.md 14, 19.

/// The generations that a program can be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gen {
    /// Adreno 6xx.
    A6xx,
}

impl Gen {
    /// The hundreds of its products' numbers.
    pub const fn number(self) -> u32 {
        match self {
            Gen::A6xx => 6,
        }
    }

    pub(crate) const fn from_number(number: u32) -> Option<Gen> {
        match number {
            6 => Some(Gen::A6xx),
            _ => None,
        }
    }
}

/// Lanes of a wave: the thread size of the compute control word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaveSize {
    /// 64 lanes.
    Single,
    /// 128 lanes.
    Double,
}

impl WaveSize {
    /// 64 or 128.
    pub const fn lanes(self) -> u32 {
        match self {
            WaveSize::Single => 64,
            WaveSize::Double => 128,
        }
    }

    pub(crate) const fn from_lanes(lanes: u32) -> Option<WaveSize> {
        match lanes {
            64 => Some(WaveSize::Single),
            128 => Some(WaveSize::Double),
            _ => None,
        }
    }
}
