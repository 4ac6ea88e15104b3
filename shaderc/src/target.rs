//! What is compiled for: every pass is handed one.
//!
//! Passes over IR ask it what they need to know of the machine, and know none by its name. Which back end makes the code,
//! and of what generation, is in [`Target::machine`].
//!
//! Facts: hardware/compiler-abi.md 1.2 (tables), 4 (uniform words); hardware/ir3-isa.md 4 (half registers),
//! 12 (bindless bases, elements), 14 (const file).
use eitri_ir3_isa::Gen;
use eitri_ir3_isa::device::{self, Device};
use eitri_isa::Arch;

use crate::ir::{Alu, Lanes, Space, Type};
use crate::pass::PassRow;

/// What a program may use at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// 32-bit words that are the same for a whole dispatch and read without an instruction.
    pub uniform_words: u32,
    /// Bytes at the start of a uniform buffer of which words can be such words by a name in the IR; none where the back end
    /// finds them itself.
    pub uniform_buffer_reach: u32,
    /// Bytes of push constants, a multiple of 4.
    pub push_constant_bytes: u32,
    /// Bytes of memory that a workgroup shares.
    pub shared_bytes: u32,
    /// Descriptor sets; their numbers are less.
    pub descriptor_sets: u32,
    /// Descriptors of a set.
    pub descriptors: u32,
}

/// What makes the code, and of which generation it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    /// [`crate::valhall`], for this architecture.
    Valhall(Arch),
    /// [`crate::ir3`], for this device.
    Ir3(Device),
}

impl Machine {
    /// A word of a program as text; none if it is no instruction of the machine.
    pub(crate) fn instruction_text(&self, word: u64) -> Option<String> {
        match self {
            Machine::Valhall(arch) => crate::valhall::instruction_text(word, *arch),
            Machine::Ir3(_) => crate::ir3::instruction_text(word),
        }
    }

    /// The passes of its back end, for the list that users see; those over IR are [`crate::pipeline::rows`].
    pub fn passes(&self) -> &'static [PassRow] {
        match self {
            Machine::Valhall(_) => crate::valhall::PASSES,
            Machine::Ir3(_) => crate::ir3::PASSES,
        }
    }
}

/// The machine, as far as passes ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The back end.
    pub machine: Machine,
    /// The product's name, if one was named.
    pub product: Option<&'static str>,
    /// Lanes of a subgroup.
    pub lanes: Lanes,
    /// What it has of everything.
    pub limits: Limits,
}

/// The subgroups of Valhall are its warps.
pub(crate) const WARP: Lanes = Lanes::DEFAULT;

/// Subgroups of IR3 are its waves.
const WAVE: Lanes = match Lanes::new(device::WAVE) {
    Some(lanes) => lanes,
    None => WARP,
};

/// What is done on 16 bits where there are registers of that size. The rest needs more bits on the way, as sines do, or is
/// not stated for that width.
#[rustfmt::skip]
const HALVES: &[Alu] = &[
    Alu::IAdd, Alu::ISub, Alu::IMul, Alu::INeg, Alu::IAbs,
    Alu::SMin, Alu::SMax, Alu::UMin, Alu::UMax,
    Alu::IAnd, Alu::IOr, Alu::IXor, Alu::INot, Alu::BitSelect, Alu::BitCount,
    Alu::IShl, Alu::UShr, Alu::SShr,
    Alu::IEq, Alu::INe, Alu::SLt, Alu::SGe, Alu::ULt, Alu::UGe,
    Alu::FEq, Alu::FNe, Alu::FLt, Alu::FGe,
    Alu::Select,
    Alu::FAdd, Alu::FSub, Alu::FMul, Alu::FFma, Alu::FNeg, Alu::FAbs, Alu::FMin, Alu::FMax, Alu::FSat,
    Alu::FFloor, Alu::FCeil, Alu::FTrunc, Alu::FRoundEven,
    Alu::FRcp, Alu::FRsq, Alu::FExp2, Alu::FLog2,
    Alu::U2U16, Alu::U2U32, Alu::S2S32, Alu::F2F16, Alu::F2F32,
];

/// What a6xx is without more of a name: a device that has everything.
const USUAL_A6XX: &str = "a660";

impl Target {
    /// A Mali of that architecture.
    pub const fn valhall(arch: Arch) -> Target {
        Target {
            machine: Machine::Valhall(arch),
            product: None,
            lanes: WARP,
            limits: Limits {
                uniform_words: 128,
                uniform_buffer_reach: eitri_program::FauWord::BUFFER_REACH,
                push_constant_bytes: 256,
                shared_bytes: 32 * 1024,
                // A set's table is one more than its number, and tables from 12 on have other meanings.
                descriptor_sets: 11,
                descriptors: 1 << 20,
            },
        }
    }

    /// The Mali that has this name.
    pub const fn valhall_product(arch: Arch, product: &'static str) -> Target {
        Target {
            product: Some(product),
            ..Target::valhall(arch)
        }
    }

    /// An Adreno.
    pub const fn ir3(device: Device) -> Target {
        Target {
            machine: Machine::Ir3(device),
            product: Some(device.name),
            lanes: WAVE,
            limits: Limits {
                // Half of the const file of a compute program, in vectors of 4.
                uniform_words: 512,
                uniform_buffer_reach: 0,
                push_constant_bytes: 256,
                shared_bytes: device.parts.local_kib as u32 * 1024,
                descriptor_sets: 5,
                descriptors: 1 << 16,
            },
        }
    }

    /// The Adreno of a6xx that has this name: that of a device, or `a6xx` for one that has everything.
    pub fn ir3_named(name: &str) -> Option<Target> {
        let name = match name.eq_ignore_ascii_case("a6xx") {
            true => USUAL_A6XX,
            false => name,
        };
        let device = device::find(name)?;
        (device.generation == Gen::A6xx).then(|| Target::ir3(*device))
    }
}

impl Default for Target {
    /// Mali-G610.
    fn default() -> Self {
        Target::valhall_product(Arch::V10, "Mali-G610")
    }
}

impl Target {
    /// Whether the back end has an operation at a width, so that no pass need take it apart.
    pub fn has(&self, alu: Alu, width: Type) -> bool {
        match width {
            Type::Bool | Type::W32 => true,
            Type::W64 => matches!(
                alu,
                Alu::Pack64 | Alu::Low64 | Alu::High64 | Alu::IAdd | Alu::ISub
            ),
            Type::W16 => self.has_halves() && HALVES.contains(&alu),
            Type::W8 | Type::Resource => false,
        }
    }

    /// Whether a value of 16 bits has a register of its size. Then the operations that [`Target::has`] names stay at that
    /// width; else all are done on words.
    pub fn has_halves(&self) -> bool {
        matches!(self.machine, Machine::Ir3(_))
    }

    /// Whether accesses to this memory give and take elements of this type as values of that type, and not as words.
    pub fn has_access(&self, space: Space, elem: Type) -> bool {
        match elem {
            Type::W32 => true,
            // Of buffers a descriptor says how large an element is: words.
            Type::W16 => {
                self.has_halves() && matches!(space, Space::Global | Space::Shared | Space::Scratch)
            }
            Type::W8 | Type::W64 | Type::Bool | Type::Resource => false,
        }
    }

    /// Whether an operation on the two halves of a word costs less than two on one half each.
    pub fn pairs_halves(&self) -> bool {
        matches!(self.machine, Machine::Valhall(_))
    }

    /// Whether it has `Op::Scan` and `LaneOp::First`. Elsewhere what they give is made of ballots and shuffles, which are
    /// quicker where a lane reads another one's register at once.
    pub fn has_scans(&self) -> bool {
        matches!(self.machine, Machine::Ir3(_))
    }
}
