//! Instructions of indirect draws, encoded and checked once for a device.
//!
//! Pure.  Facts: hardware/command-stream.md 3.2 and 3.3, graphics-draw.md 3.1 and 3.13.

use super::super::encoded::{merged_draw, split_draw};
use super::super::lane::{TEMPORARY, all_iterators};
use super::super::registers::DrawRegisters;
use super::COPIED;
use eitri_cs::builder::{BuildFault, Checked, Config, Load32, Load64, WithNumber};
use eitri_cs::enums::Condition;
use eitri_cs::instr::{AddImm32, AddImm64, Branch, LoadMultiple, StoreMultiple, Umin32, Wait};
use eitri_cs::{Arch, Pair, Reg, RegMask, d, r};

/// Registers that no job reads: how many draws are left, the number of the draw, and how many copies are.
const LEFT: Reg = r!(68);
const DRAW: Reg = r!(69);
const COPIES: Reg = r!(80);
/// A word on its way; and what multiplying needs.
const WORD: Reg = r!(70);
const TRIED: Reg = r!(71);
const BASE: Reg = r!(72);
const PRODUCT: Reg = r!(73);
const REST: Reg = r!(81);
/// Where the next copies are: of uniforms of positions or all of vertices, of those of varyings, and of inputs.
const AT: [Pair; COPIED] = [d!(74), d!(76), d!(78)];

const SIGN: u32 = 1 << 31;

/// The instructions.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct EncodedIndirect {
    /// The loads of where the parameters are, or their count, and of the count to [`WORD`].
    pub(super) address: Load64,
    pub(super) load_count: Checked,
    /// Leaves no more draws than the count says.
    pub(super) limit: Checked,
    /// How many draws are left, and the number of the draw.
    pub(super) left: Load32,
    pub(super) first_draw: Checked,
    pub(super) next_draw: Checked,
    pub(super) one_less: Checked,
    /// Branches over the draws if none are left; and back if some are.
    pub(super) unless_none: WithNumber,
    pub(super) while_some: WithNumber,
    /// Loads the parameters of a draw, and of an indexed one, and goes on to the next ones.
    pub(super) load: [Checked; 2],
    pub(super) next_parameters: WithNumber,
    pub(super) no_first_instance: Checked,
    /// A draw with its number in a register, without a program of varyings and with one.
    pub(super) run: [Checked; 2],
    /// By what is copied.
    pub(super) copied: [OfCopied; COPIED],
    /// How many copies are not used yet, and one less; passes over what follows if there are some.
    pub(super) copies: Load32,
    pub(super) one_copy_less: Checked,
    pub(super) while_copies: WithNumber,
    pub(super) wait_for_iterators: Checked,
    /// Stores the first vertex, or the first instance, into copies of uniforms.
    pub(super) store_base: [[WithNumber; 2]; 2],
    pub(super) multiply: OfMultiplication,
}

/// Instructions for what is copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfCopied {
    /// Where the address of a copy is, and the draw's register for it.
    pub(super) at: Pair,
    pub(super) register: Pair,
    /// Go on from one copy to the next: the address, and the draw's register.
    pub(super) next_at: WithNumber,
    pub(super) next_register: WithNumber,
}

/// Instructions that multiply the first instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfMultiplication {
    /// Keeps the first instance, which the draw's register loses.
    pub(super) keep_base: Checked,
    pub(super) zero: Checked,
    /// Passes over the multiplication if there is nothing to multiply.
    pub(super) unless_zero: WithNumber,
    pub(super) begin: Checked,
    /// Passes over two instructions if the highest bit is not set; takes it away.
    pub(super) unless_negative: Checked,
    pub(super) take_sign: Checked,
    /// Tries to take a bit away, passes over two instructions if it is not set, takes it away.
    pub(super) attempt: WithNumber,
    pub(super) unless_less: Checked,
    pub(super) take: Checked,
    pub(super) add: WithNumber,
    /// Adds the offset of an attribute, and stores the sum into its copy.
    pub(super) offset: WithNumber,
    pub(super) store: WithNumber,
}

/// The sum of a register and a number.
fn add(destination: Reg, source: Reg, number: u32) -> AddImm32 {
    AddImm32 {
        destination,
        source,
        immediate: number as i32,
    }
}

/// The same with the number still to be said.
fn add_later(config: &Config, destination: Reg, source: Reg) -> Result<WithNumber, BuildFault> {
    WithNumber::new(config, |number| AddImm32 {
        immediate: number.into(),
        ..add(destination, source, 0)
    })
}

fn add_to(config: &Config, pair: Pair) -> Result<WithNumber, BuildFault> {
    WithNumber::new(config, |number| AddImm64 {
        destination: pair,
        source: pair,
        immediate: number.into(),
    })
}

fn branch_later(
    config: &Config,
    condition: Condition,
    value: Reg,
) -> Result<WithNumber, BuildFault> {
    WithNumber::new(config, |offset| Branch {
        condition,
        value,
        offset,
    })
}

fn store_later(config: &Config, from: Reg, address: Pair) -> Result<WithNumber, BuildFault> {
    WithNumber::new(config, |offset| StoreMultiple {
        base_register: from,
        mask: RegMask::first(1),
        address,
        offset,
    })
}

/// The parameters at [`TEMPORARY`], into registers from `base` on.
const fn load(base_register: Reg, mask: RegMask) -> LoadMultiple {
    LoadMultiple {
        base_register,
        mask,
        address: TEMPORARY,
        offset: 0,
    }
}

impl EncodedIndirect {
    /// For streams of a configuration.
    ///
    /// # Errors
    /// If a stream does not have them.
    pub(in super::super) fn new(config: &Config) -> Result<EncodedIndirect, BuildFault> {
        let registers = DrawRegisters::of(config.arch);
        let count = Reg::new(registers.count);
        let run = |varies| match config.arch < Arch::V12 {
            true => config.checked(eitri_cs::instr::RunIdvs {
                draw_id_register_enable: true,
                draw_id: DRAW,
                ..split_draw(varies)
            }),
            false => config.checked(eitri_cs::instr::RunIdvs2 {
                draw_id_register_enable: true,
                draw_id: DRAW,
                ..merged_draw()
            }),
        };
        let vertex_uniforms = registers.vertex_uniforms;
        // Without a program of varyings nothing of the second is copied.
        let varying_uniforms = registers.varying_uniforms.unwrap_or(vertex_uniforms);
        let [first, second, inputs] = AT;
        let copied = |at, register| OfCopied::new(config, at, register);
        let stores = |at| {
            let [vertex, instance] =
                [registers.vertex_offset, registers.instance_offset].map(Reg::new);
            Ok::<_, BuildFault>([
                store_later(config, vertex, at)?,
                store_later(config, instance, at)?,
            ])
        };
        Ok(EncodedIndirect {
            address: Load64::new(config, TEMPORARY)?,
            load_count: config.checked(load(WORD, RegMask::first(1)))?,
            limit: config.checked(Umin32 {
                destination: LEFT,
                source_1: LEFT,
                source_0: WORD,
            })?,
            left: Load32::new(config, LEFT)?,
            first_draw: Load32::new(config, DRAW)?.with(0),
            next_draw: config.checked(add(DRAW, DRAW, 1))?,
            one_less: config.checked(add(LEFT, LEFT, u32::MAX))?,
            unless_none: branch_later(config, Condition::Equal, LEFT)?,
            while_some: branch_later(config, Condition::NotEqual, LEFT)?,
            // A draw without indices has no first index.
            load: [
                config.checked(load(count, RegMask::new(0b11011)))?,
                config.checked(load(count, RegMask::new(0b11111)))?,
            ],
            next_parameters: add_to(config, TEMPORARY)?,
            no_first_instance: Load32::new(config, Reg::new(registers.instance_offset))?.with(0),
            run: [run(false)?, run(true)?],
            copied: [
                copied(first, vertex_uniforms)?,
                copied(second, varying_uniforms)?,
                copied(inputs, registers.vertex_resources)?,
            ],
            copies: Load32::new(config, COPIES)?,
            one_copy_less: config.checked(add(COPIES, COPIES, u32::MAX))?,
            while_copies: branch_later(config, Condition::NotEqual, COPIES)?,
            wait_for_iterators: config.checked(Wait {
                wait_mask: all_iterators(),
                ..Wait::default()
            })?,
            store_base: [stores(first)?, stores(second)?],
            multiply: OfMultiplication::new(config, Reg::new(registers.instance_offset), inputs)?,
        })
    }
}

impl OfCopied {
    fn new(config: &Config, at: Pair, register: u8) -> Result<OfCopied, BuildFault> {
        let register = Pair::new(register).unwrap_or(Pair::ZERO);
        Ok(OfCopied {
            at,
            register,
            next_at: add_to(config, at)?,
            next_register: add_to(config, register)?,
        })
    }
}

impl OfMultiplication {
    fn new(config: &Config, instance: Reg, inputs: Pair) -> Result<OfMultiplication, BuildFault> {
        let over_two = |condition, value| {
            config.checked(Branch {
                condition,
                value,
                offset: 2,
            })
        };
        Ok(OfMultiplication {
            keep_base: config.checked(add(BASE, instance, 0))?,
            zero: Load32::new(config, PRODUCT)?.with(0),
            unless_zero: branch_later(config, Condition::Equal, BASE)?,
            begin: config.checked(add(REST, BASE, 0))?,
            unless_negative: over_two(Condition::GreaterEqual, REST)?,
            take_sign: config.checked(add(REST, REST, SIGN))?,
            attempt: add_later(config, TRIED, REST)?,
            unless_less: over_two(Condition::Less, TRIED)?,
            take: config.checked(add(REST, TRIED, 0))?,
            add: add_later(config, PRODUCT, PRODUCT)?,
            offset: add_later(config, WORD, PRODUCT)?,
            store: store_later(config, WORD, inputs)?,
        })
    }
}

const _: () = assert!(TEMPORARY.low().number() == 66);
