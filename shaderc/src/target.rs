//! What is compiled for: every pass is handed one.
//!
//! Passes over IR ask it what they need to know of the machine, and know none by its name. Which back end makes the code,
//! and of what generation, is in [`Target::machine`]; the back end answers.

use eitri_ir3_isa::Gen;
use eitri_ir3_isa::device::{self, Device};
use eitri_isa::Arch;

pub use crate::back_end::Machine;
use crate::ir::{Alu, Lanes, Space, Type};

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

/// What a6xx is without more of a name: a device that has everything.
const USUAL_A6XX: &str = "a660";

impl Target {
    /// A machine, without the name of a product.
    fn of(machine: Machine) -> Target {
        let back_end = machine.back_end();
        Target {
            machine,
            product: None,
            lanes: back_end.lanes(),
            limits: back_end.limits(),
        }
    }

    /// A Mali of that architecture.
    pub fn valhall(arch: Arch) -> Target {
        Target::of(Machine::Valhall(arch))
    }

    /// The Mali that has this name.
    pub fn valhall_product(arch: Arch, product: &'static str) -> Target {
        Target {
            product: Some(product),
            ..Target::valhall(arch)
        }
    }

    /// An Adreno.
    pub fn ir3(device: Device) -> Target {
        Target {
            product: Some(device.name),
            ..Target::of(Machine::Ir3(device))
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
            Type::W16 => self.machine.back_end().halves().contains(&alu),
            Type::W8 | Type::Resource => false,
        }
    }

    /// Whether a value of 16 bits has a register of its size. Then the operations that [`Target::has`] names stay at that
    /// width; else all are done on words.
    pub fn has_halves(&self) -> bool {
        !self.machine.back_end().halves().is_empty()
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
        self.machine.back_end().pairs_halves()
    }

    /// Whether what is computed of uniform words alone takes no instruction: whoever records the dispatch works it out.
    pub fn works_out_uniforms(&self) -> bool {
        self.machine.back_end().works_out_uniforms()
    }

    /// Whether it has `Op::Scan` and `LaneOp::First`. Elsewhere what they give is made of ballots and shuffles, which are
    /// quicker where a lane reads another one's register at once.
    pub fn has_scans(&self) -> bool {
        self.machine.back_end().has_scans()
    }
}
