//! The register window: which register an access reaches, whether it may, and what it does.
//!
//! One row a register that does something; the tables of `eitri_csf` say which exist, who may access them and which bits
//! are reserved. A register without a row is known but not modelled.
//!
//! Facts: hardware/csf-mmio.md 2 to 13, gpu-mmu.md 2.

use crate::diagnosis::RegisterMisuse;
use crate::gpu::Gpu;
use eitri_csf::registers::address_space as aspace;
use eitri_csf::registers::doorbell::{DOORBELL, LATEST_FLUSH};
use eitri_csf::registers::interrupts::{GPU_IRQ, InterruptBlock, JOB_IRQ, MMU_IRQ};
use eitri_csf::registers::power::Domain;
use eitri_csf::registers::{Found, at_offset, control, identity, mcu};
use eitri_csf::table::{Access, Mark, Register, Since};

/// A write to one word of a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    /// Which one of a repeated register.
    pub(crate) index: u32,
    pub(crate) value: u32,
    /// Whether it is the high word of a 64-bit register.
    pub(crate) high: bool,
}

impl Write {
    /// The word in its place of the 64 bits.
    fn placed(self) -> u64 {
        u64::from(self.value) << if self.high { 32 } else { 0 }
    }

    /// `old` with this word replaced.
    pub(crate) fn into(self, old: u64) -> u64 {
        let mask = 0xffff_ffffu64 << if self.high { 32 } else { 0 };
        old & !mask | self.placed()
    }
}

type Reader = fn(&mut Gpu, u32) -> u64;
type Writer = fn(&mut Gpu, Write);

/// What a register does.
struct Row {
    register: Register,
    read: Option<Reader>,
    write: Option<Writer>,
}

const fn constant(register: Register, read: Reader) -> Row {
    Row {
        register,
        read: Some(read),
        write: None,
    }
}

const fn read_only(register: Register, read: Reader) -> Row {
    Row {
        register,
        read: Some(read),
        write: None,
    }
}

const fn write_only(register: Register, write: Writer) -> Row {
    Row {
        register,
        read: None,
        write: Some(write),
    }
}

const fn both(register: Register, read: Reader, write: Writer) -> Row {
    Row {
        register,
        read: Some(read),
        write: Some(write),
    }
}

#[rustfmt::skip]
static ROWS: &[Row] = &[
    constant(identity::GPU_ID,                    |gpu, _| gpu.product().part.gpu_id.0.into()),
    constant(identity::L2_FEATURES,               |gpu, _| gpu.product().part.l2_features.into()),
    constant(identity::CORE_FEATURES,             |gpu, _| gpu.product().core_features().into()),
    constant(identity::TILER_FEATURES,            |gpu, _| gpu.product().part.tiler_features.into()),
    constant(identity::MEM_FEATURES,              |gpu, _| gpu.product().part.mem_features.into()),
    constant(identity::MMU_FEATURES,              |gpu, _| gpu.product().part.mmu_features.into()),
    constant(identity::AS_PRESENT,                |gpu, _| gpu.product().part.as_present.into()),
    constant(identity::CSF_ID,                    |gpu, _| gpu.product().part.limits.csf_id.into()),
    constant(identity::GPU_FEATURES,              |gpu, _| gpu.product().gpu_features),
    constant(identity::PRFCNT_FEATURES,           |gpu, _| gpu.product().prfcnt_features().into()),
    constant(identity::THREAD_MAX_THREADS,        |gpu, _| gpu.product().part.limits.max_threads.into()),
    constant(identity::THREAD_MAX_WORKGROUP_SIZE, |gpu, _| gpu.product().part.limits.max_workgroup.into()),
    constant(identity::THREAD_MAX_BARRIER_SIZE,   |gpu, _| gpu.product().part.limits.max_barrier.into()),
    constant(identity::THREAD_FEATURES,           |gpu, _| gpu.product().part.limits.thread_features.into()),
    constant(identity::TEXTURE_FEATURES,          |gpu, n| gpu.product().part.limits.texture_features[n as usize % 4].into()),
    constant(identity::SHADER_PRESENT,            |gpu, _| gpu.product().part.shader_present),
    constant(identity::TILER_PRESENT,             |gpu, _| gpu.product().part.tiler_present),
    constant(identity::L2_PRESENT,                |gpu, _| gpu.product().part.l2_present),
    constant(identity::STACK_PRESENT,             |_, _| 0),
    constant(identity::REVIDR,                    |_, _| 0),
    constant(identity::COHERENCY_FEATURES,        |gpu, _| gpu.product().part.limits.coherency_features.into()),
    constant(identity::THREAD_TLS_ALLOC,          |_, _| 0),

    write_only(control::GPU_COMMAND,      |gpu, write| gpu.command(write.value)),
    both(control::GPU_COMMAND_ARG0,      |gpu, _| gpu.control.range[0],          |gpu, write| gpu.write_flush_range(0, write)),
    both(control::GPU_COMMAND_ARG1,      |gpu, _| gpu.control.range[1],          |gpu, write| gpu.write_flush_range(1, write)),
    read_only(control::GPU_STATUS,        |gpu, _| gpu.status().into()),
    read_only(control::GPU_FAULTSTATUS,   |gpu, _| gpu.fabric.gpu_fault.map_or(0, |fault| fault.status.into())),
    read_only(control::GPU_FAULTADDRESS,  |gpu, _| gpu.fabric.gpu_fault.map_or(0, |fault| fault.address)),
    both(control::L2_CONFIG,              |gpu, _| gpu.control.l2_config.into(),          Gpu::write_l2_config),
    both(control::ASN_HASH,               |gpu, n| gpu.control.hash[n as usize % 3].into(), Gpu::write_hash),
    both(control::TIMESTAMP_OFFSET,       |gpu, _| gpu.fabric.clock.timestamp_offset,     Gpu::write_timestamp_offset),
    read_only(control::CYCLE_COUNT,       |gpu, _| gpu.fabric.clock.cycles()),
    read_only(control::TIMESTAMP,         |gpu, _| gpu.fabric.clock.timestamp()),
    both(control::COHERENCY_ENABLE,       |gpu, _| gpu.control.coherency().into(),        Gpu::write_coherency),

    read_only(Domain::L2.ready(),          |gpu, _| gpu.power.ready(Domain::L2)),
    read_only(Domain::Tiler.ready(),       |gpu, _| gpu.power.ready(Domain::Tiler)),
    read_only(Domain::Shader.ready(),      |gpu, _| gpu.power.ready(Domain::Shader)),
    read_only(Domain::L2.transition(),     |gpu, _| gpu.power.changing(Domain::L2)),
    read_only(Domain::Tiler.transition(),  |gpu, _| gpu.power.changing(Domain::Tiler)),
    read_only(Domain::Shader.transition(), |gpu, _| gpu.power.changing(Domain::Shader)),
    read_only(Domain::L2.active(),         |gpu, _| gpu.active_units(Domain::L2)),
    read_only(Domain::Tiler.active(),      |_, _| 0),
    read_only(Domain::Shader.active(),     |gpu, _| gpu.active_units(Domain::Shader)),
    write_only(Domain::L2.power_on(),      |gpu, write| gpu.write_power(Domain::L2, true, write.placed())),
    write_only(Domain::Tiler.power_on(),   |gpu, write| gpu.write_power(Domain::Tiler, true, write.placed())),
    write_only(Domain::Shader.power_on(),  |gpu, write| gpu.write_power(Domain::Shader, true, write.placed())),
    write_only(Domain::L2.power_off(),     |gpu, write| gpu.write_power(Domain::L2, false, write.placed())),
    write_only(Domain::Tiler.power_off(),  |gpu, write| gpu.write_power(Domain::Tiler, false, write.placed())),
    write_only(Domain::Shader.power_off(), |gpu, write| gpu.write_power(Domain::Shader, false, write.placed())),

    both(mcu::MCU_CONTROL,      |gpu, _| gpu.mcu.request().into(), |gpu, write| gpu.write_mcu_control(write.value)),
    read_only(mcu::MCU_STATUS,  |gpu, _| gpu.mcu.status().into()),

    both(aspace::AS_TRANSTAB,            |gpu, n| gpu.space(n).programmed.transtab, Gpu::write_transtab),
    both(aspace::AS_MEMATTR,             |gpu, n| gpu.space(n).programmed.memattr,  Gpu::write_memattr),
    both(aspace::AS_LOCKADDR,            |gpu, n| gpu.space(n).lockaddr,            Gpu::write_lockaddr),
    both(aspace::AS_TRANSCFG,            |gpu, n| gpu.space(n).programmed.transcfg, Gpu::write_transcfg),
    write_only(aspace::AS_COMMAND,       Gpu::write_as_command),
    read_only(aspace::AS_FAULTSTATUS,    |gpu, n| gpu.as_fault_status(n).into()),
    read_only(aspace::AS_FAULTADDRESS,   |gpu, n| gpu.space(n).fault.map_or(0, |fault| fault.address)),
    read_only(aspace::AS_STATUS,         |gpu, n| gpu.space(n).pending.is_some().into()),
    read_only(aspace::AS_FAULTEXTRA,     |_, _| 0),

    read_only(LATEST_FLUSH, |gpu, _| gpu.read_latest_flush().into()),
    write_only(DOORBELL,    Gpu::write_doorbell),
];

/// A read of the word at `offset`.
pub(crate) fn read(gpu: &mut Gpu, offset: u32) -> u32 {
    let Some(found) = find(gpu, offset, None) else {
        return 0;
    };
    let Found {
        register,
        index,
        high_word,
    } = found;
    if register.access == Access::W {
        gpu.report(RegisterMisuse::ReadOfWriteOnly {
            name: register.name,
            offset,
        });
        return 0;
    }
    if let Some(value) = read_interrupt(gpu, &register) {
        return value;
    }
    let Some(read) = row(&register).and_then(|row| row.read) else {
        not_modelled(gpu, &register, offset);
        return 0;
    };
    let value = read(gpu, index);
    (value >> if high_word { 32 } else { 0 }) as u32
}

/// A write of `value` to the word at `offset`.
pub(crate) fn write(gpu: &mut Gpu, offset: u32, value: u32) {
    let Some(found) = find(gpu, offset, Some(value)) else {
        return;
    };
    let register = found.register;
    let name = register.name;
    if !register.access.writable() {
        gpu.report(RegisterMisuse::WriteToReadOnly {
            name,
            offset,
            value,
        });
        return;
    }
    let write = Write {
        index: found.index,
        value,
        high: found.high_word,
    };
    if write_interrupt(gpu, &register, value) {
        return;
    }
    let reserved = (register.reserved_bits() & write.placed()) >> if write.high { 32 } else { 0 };
    // Commands and doorbells have their own diagnoses for words that mean nothing.
    let judged_elsewhere = register == control::GPU_COMMAND || register == DOORBELL;
    if reserved != 0 && !judged_elsewhere {
        gpu.report(RegisterMisuse::ReservedBits {
            name,
            value,
            reserved: reserved as u32,
        });
    }
    match row(&register).and_then(|row| row.write) {
        Some(effect) => effect(gpu, write),
        None => not_modelled(gpu, &register, offset),
    }
}

fn row(register: &Register) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.register == *register)
}

/// The register at `offset`, if the product has one; reports what is wrong with the access otherwise.
fn find(gpu: &mut Gpu, offset: u32, value: Option<u32>) -> Option<Found> {
    if !offset.is_multiple_of(4) {
        gpu.report(RegisterMisuse::Unaligned { offset });
        return None;
    }
    let Some(found) = at_offset(offset) else {
        gpu.report(match value {
            Some(value) => RegisterMisuse::UnknownWrite { offset, value },
            None => RegisterMisuse::UnknownRead { offset },
        });
        return None;
    };
    let exists = match found.register.since {
        Since::Arch(arch) => arch <= gpu.product().arch(),
        Since::Interface(..) => true,
    };
    // GPU_FEATURES reads as 0 before it came: probing it is no misuse.
    let probe = value.is_none() && found.register == identity::GPU_FEATURES;
    if !exists && !probe {
        gpu.report(RegisterMisuse::NotInArchitecture {
            name: found.register.name,
            offset,
        });
        return None;
    }
    Some(found)
}

fn not_modelled(gpu: &mut Gpu, register: &Register, offset: u32) {
    debug_assert!(register.mark == Mark::Known || row(register).is_some() || offset >= 0x800);
    gpu.report(RegisterMisuse::NotModelled {
        name: register.name,
        offset,
    });
}

/// The interrupt block that a register belongs to.
fn interrupt_block<'a>(
    gpu: &'a mut Gpu,
    register: &Register,
) -> Option<(InterruptBlock, &'a mut crate::irq::IrqBlock)> {
    let owns = |block: InterruptBlock| {
        [block.rawstat, block.clear, block.mask, block.status].contains(register)
    };
    let irq = &mut gpu.fabric.irq;
    if owns(JOB_IRQ) {
        Some((JOB_IRQ, &mut irq.job))
    } else if owns(MMU_IRQ) {
        Some((MMU_IRQ, &mut irq.mmu))
    } else if owns(GPU_IRQ) {
        Some((GPU_IRQ, &mut irq.gpu))
    } else {
        None
    }
}

fn read_interrupt(gpu: &mut Gpu, register: &Register) -> Option<u32> {
    let (names, block) = interrupt_block(gpu, register)?;
    Some(if *register == names.rawstat {
        block.raw()
    } else if *register == names.mask {
        block.mask()
    } else {
        block.status()
    })
}

fn write_interrupt(gpu: &mut Gpu, register: &Register, value: u32) -> bool {
    let Some((names, block)) = interrupt_block(gpu, register) else {
        return false;
    };
    if *register == names.rawstat {
        block.raise(value);
        let unknown = register.reserved_bits() as u32 & value;
        if unknown != 0 {
            gpu.report(RegisterMisuse::IrqBitsUnknown {
                name: register.name,
                bits: unknown,
            });
        }
    } else if *register == names.clear {
        block.clear(value);
    } else if *register == names.mask {
        block.set_mask(value);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_csf::registers::BLOCKS;

    /// The tables mark what a model must act on: each of those has a row here, and each row fits its access.
    #[test]
    fn every_modelled_register_has_a_row() {
        let interrupts = [JOB_IRQ, MMU_IRQ, GPU_IRQ];
        for register in BLOCKS.iter().flat_map(|block| block.registers) {
            let later = match register.since {
                Since::Arch(arch) => arch > eitri_csf::arch::Arch::V11,
                Since::Interface(..) => false,
            };
            let handled = interrupts
                .iter()
                .any(|it| [it.rawstat, it.clear, it.mask, it.status].contains(register));
            if register.mark != Mark::Modelled || later || handled {
                continue;
            }
            let Some(row) = row(register) else {
                panic!("{} has no row", register.name);
            };
            assert_eq!(
                row.read.is_some(),
                register.access.readable(),
                "{}",
                register.name
            );
            assert_eq!(
                row.write.is_some(),
                register.access.writable(),
                "{}",
                register.name
            );
        }
    }
}
