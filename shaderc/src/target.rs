//! What is compiled for: every pass is handed one.
//!
//! Facts: hardware/compiler-optimization.md 3 (rates), hardware/compiler-abi.md 1.2 (tables), 4 (uniform words).
use eitri_isa::Arch;

use crate::ir::{Alu, Type};

/// How much each unit of a core does in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rates {
    /// Lanes of multiply and add of floats.
    pub fma: u32,
    /// Lanes of conversions, comparisons and integer addition.
    pub cvt: u32,
    /// Lanes of special functions, integer multiplication and shifts.
    pub sfu: u32,
    /// Messages to memory.
    pub messages: u32,
    /// Texels.
    pub texels: u32,
}

/// What a program may use at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// 32-bit words that are the same for a whole dispatch and read without an instruction.
    pub uniform_words: u32,
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
    /// Architecture version.
    pub arch: Arch,
    /// The product's name, if one was named.
    pub product: Option<&'static str>,
    /// What its units do in a cycle.
    pub rates: Rates,
    /// What it has of everything.
    pub limits: Limits,
}

impl Target {
    /// A machine of that architecture, with the rates of its usual product.
    pub const fn new(arch: Arch) -> Target {
        // FACT: only the multiply-add rate of v12 and v13 is published (hardware/compiler-optimization.md 3), nothing of
        // v11; all else is taken to be as in Mali-G610. They weigh costs against each other and decide nothing that must
        // be right. Settled by timing an arithmetic loop of each unit on a board of each generation.
        let fma = match arch {
            Arch::V12 | Arch::V13 | Arch::V14 => 128,
            Arch::V9 | Arch::V10 | Arch::V11 => 64,
        };
        Target {
            arch,
            product: None,
            rates: Rates {
                fma,
                cvt: 64,
                sfu: 16,
                messages: 1,
                texels: 8,
            },
            limits: Limits {
                uniform_words: 128,
                push_constant_bytes: 256,
                shared_bytes: 32 * 1024,
                // A set's table is one more than its number, and tables from 12 on have other meanings.
                descriptor_sets: 11,
                descriptors: 1 << 20,
            },
        }
    }

    /// The machine that has this name.
    pub const fn of_product(arch: Arch, product: &'static str) -> Target {
        Target {
            product: Some(product),
            ..Target::new(arch)
        }
    }
}

impl Default for Target {
    /// Mali-G610.
    fn default() -> Self {
        Target::of_product(Arch::V10, "Mali-G610")
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
            Type::W8 | Type::W16 | Type::Resource => false,
        }
    }
}
