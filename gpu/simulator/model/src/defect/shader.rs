//! Defects of the shader cores: registers, arithmetic, memory and flow.

use super::Defects;
use crate::shader::{Alu, Arithmetic, Environment, Lanes, Place, Round, WARP};

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Integer arithmetic.
    Integer,
    /// Shifts, logic and packing.
    Bits,
    /// Comparisons and selects.
    Compare,
    /// Float additions, multiplications, minima and maxima.
    Arithmetic,
    /// Conversions.
    Convert,
    /// Special functions and tables.
    Special,
}

/// What happens to a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// A bit is always 0 in one lane.
    BitZero {
        /// The bit.
        bit: u8,
        /// The lane.
        lane: u8,
    },
    /// A bit is always 1 in every lane.
    BitOne {
        /// The bit.
        bit: u8,
    },
    /// It is so many too large.
    Off {
        /// How many.
        by: u32,
    },
    /// Subnormal 32-bit floats become 0.
    SubnormalsLost,
    /// NaN becomes 0.
    NanLost,
    /// Rounding is toward zero where it should be to nearest.
    Truncated,
}

/// Something in the shader cores that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShaderDefect {
    /// A bit of a register of one lane is always so.
    RegisterBit {
        /// The core.
        core: u8,
        /// The register.
        register: u8,
        /// The lane.
        lane: u8,
        /// The bit.
        bit: u8,
        /// What it is.
        value: bool,
    },
    /// Two registers are one.
    RegistersMixed {
        /// The core.
        core: u8,
        /// One.
        one: u8,
        /// The other.
        other: u8,
    },
    /// A family of operations of one core, or of all.
    Result {
        /// The core.
        core: Option<u8>,
        /// The family.
        family: Family,
        /// What happens to the results.
        damage: Damage,
    },
    /// The high word of 64-bit results has lost its carry: its lowest bit is 0.
    WideCarry,
    /// The next lane's value is read where another was asked for.
    LaneSelect,
    /// Masks of lanes have a lane too many.
    LaneMask,
    /// One lane never branches.
    BranchLane {
        /// The lane.
        lane: u8,
    },
    /// Barriers do not hold anybody.
    BarrierIgnored,
    /// A bit of what is loaded is always 0.
    LoadBit {
        /// The bit of a word.
        bit: u8,
    },
    /// What is loaded does not grow by its sign.
    SignLost,
    /// Stores of a byte or two write a whole word.
    StoreWide,
    /// Atomics give the new value instead of the old one.
    AtomicReturn,
    /// Atomics of a lane get lost.
    AtomicLost {
        /// The lane.
        lane: u8,
    },
    /// A uniform word has a wrong bit.
    UniformBit {
        /// The word.
        word: u8,
        /// The bit.
        bit: u8,
    },
    /// All threads have the memory of the first.
    ScratchShared,
    /// Loads beyond the end of a buffer are made.
    BoundsIgnored,
    /// The core says that it is another.
    CoreId {
        /// The core.
        core: u8,
    },
    /// A preloaded register has a wrong bit.
    Preload {
        /// The register.
        register: u8,
        /// The bit.
        bit: u8,
    },
}

impl Family {
    fn has(self, alu: Alu) -> bool {
        match alu {
            Alu::Move => false,
            Alu::Integer(_) => self == Family::Integer,
            Alu::Bits(_) => self == Family::Bits,
            Alu::Compare(_) => self == Family::Compare,
            Alu::Arithmetic(_) => self == Family::Arithmetic,
            Alu::Convert(_) => self == Family::Convert,
            Alu::Special(_) => self == Family::Special,
        }
    }
}

/// The operation as a unit does it that rounds wrongly.
fn truncated(alu: Alu) -> Alu {
    let wrong = |round| match round {
        Round::NearestEven => Round::Zero,
        other => other,
    };
    match alu {
        Alu::Arithmetic(Arithmetic::Add {
            float,
            round,
            clamp,
            to_half,
        }) => Alu::Arithmetic(Arithmetic::Add {
            float,
            round: wrong(round),
            clamp,
            to_half,
        }),
        Alu::Arithmetic(Arithmetic::Fma {
            float,
            round,
            clamp,
            to_half,
        }) => Alu::Arithmetic(Arithmetic::Fma {
            float,
            round: wrong(round),
            clamp,
            to_half,
        }),
        other => other,
    }
}

impl Damage {
    fn apply(self, result: &mut Lanes) {
        match self {
            Damage::BitZero { bit, lane } => {
                result[usize::from(lane) % WARP] &= !(1 << (bit & 31));
            }
            Damage::BitOne { bit } => result.iter_mut().for_each(|it| *it |= 1 << (bit & 31)),
            Damage::Off { by } => result.iter_mut().for_each(|it| *it = it.wrapping_add(by)),
            Damage::SubnormalsLost => {
                for word in result {
                    if *word & 0x7F80_0000 == 0 {
                        *word &= 0x8000_0000;
                    }
                }
            }
            Damage::NanLost => {
                for word in result {
                    if *word & 0x7FFF_FFFF > 0x7F80_0000 {
                        *word = 0;
                    }
                }
            }
            // Done by the operation itself.
            Damage::Truncated => {}
        }
    }
}

impl Defects {
    /// The damages to results of an operation on a core.
    fn damages(&self, on: u8, alu: Alu) -> impl Iterator<Item = Damage> + '_ {
        self.in_shader().filter_map(move |defect| match defect {
            ShaderDefect::Result {
                core,
                family,
                damage,
            } if core.is_none_or(|core| core == on) && family.has(alu) => Some(damage),
            _ => None,
        })
    }

    /// The operation as this core does it.
    #[cold]
    pub(crate) fn operation(&self, core: u8, alu: Alu) -> Alu {
        match self.damages(core, alu).any(|it| it == Damage::Truncated) {
            true => truncated(alu),
            false => alu,
        }
    }

    /// What becomes of the operation's result.
    #[cold]
    pub(crate) fn damage(&self, core: u8, alu: Alu, result: &mut Lanes) {
        self.damages(core, alu)
            .for_each(|damage| damage.apply(result));
    }

    /// What the register file of a core makes of what was written: `written` has a bit a register.
    #[cold]
    pub(crate) fn wear_registers(&self, on: u8, registers: &mut [Lanes; 64], written: u64) {
        for defect in self.in_shader() {
            match defect {
                ShaderDefect::RegisterBit {
                    core,
                    register,
                    lane,
                    bit,
                    value,
                } if core == on => {
                    let cell = &mut registers[usize::from(register & 63)][usize::from(lane) % WARP];
                    *cell = *cell & !(1 << (bit & 31)) | u32::from(value) << (bit & 31);
                }
                ShaderDefect::RegistersMixed { core, one, other } if core == on => {
                    let (one, other) = (usize::from(one & 63), usize::from(other & 63));
                    match (written >> one & 1 != 0, written >> other & 1 != 0) {
                        (true, _) => registers[other] = registers[one],
                        (false, true) => registers[one] = registers[other],
                        (false, false) => {}
                    }
                }
                _ => {}
            }
        }
    }

    /// What was loaded.
    #[inline]
    pub(crate) fn loaded(&self, value: u128) -> u128 {
        if !self.in_shader {
            return value;
        }
        self.in_shader().fold(value, |value, defect| match defect {
            ShaderDefect::LoadBit { bit } => value & !(1 << (bit & 31)),
            _ => value,
        })
    }

    /// What a job's threads have in common.
    pub(crate) fn wear_launch(&self, environment: &mut Environment) {
        for defect in self.in_shader() {
            match defect {
                ShaderDefect::UniformBit { word, bit } => {
                    if let Some(word) = environment.uniforms.get_mut(usize::from(word)) {
                        *word ^= 1 << (bit & 31);
                    }
                }
                ShaderDefect::ScratchShared => environment.tls_bytes = 0,
                _ => {}
            }
        }
    }

    /// Where a workgroup believes to be.
    pub(crate) fn place(&self, place: Place) -> Place {
        let core = ShaderDefect::CoreId { core: place.core };
        match self.shader_has(core) {
            true => Place {
                core: place.core ^ 1,
            },
            false => place,
        }
    }

    /// What threads begin with.
    pub(crate) fn wear_preloads(&self, registers: &mut [Lanes; 64]) {
        for defect in self.in_shader() {
            if let ShaderDefect::Preload { register, bit } = defect {
                let cells = &mut registers[usize::from(register & 63)];
                cells.iter_mut().for_each(|cell| *cell ^= 1 << (bit & 31));
            }
        }
    }

    /// Whether the cores have this defect.
    #[inline]
    pub(crate) fn shader_has(&self, defect: ShaderDefect) -> bool {
        self.in_shader && self.has(super::Defect::Shader(defect))
    }
}
