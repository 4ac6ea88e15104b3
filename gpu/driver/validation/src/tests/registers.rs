//! The constant registers against the product table, and the ones that keep what is written.
//!
//! Facts: hardware/csf-mmio.md 4 and 5.

use crate::raw::Raw;
use crate::result::{Trouble, Verdict, failed, skipped};
use eitri_csf::Arch;
use eitri_csf::command::GpuCommand;
use eitri_csf::product::{GpuId, PARTS, Part};
use eitri_csf::registers::BLOCKS;
use eitri_csf::registers::control::{GPU_FAULTSTATUS, TIMESTAMP_OFFSET, gpu_faultstatus};
use eitri_csf::registers::identity::{
    AS_PRESENT, COHERENCY_FEATURES, CSF_ID, GPU_FEATURES, GPU_ID, L2_FEATURES, L2_PRESENT,
    MEM_FEATURES, MMU_FEATURES, SHADER_PRESENT, TEXTURE_FEATURES, THREAD_FEATURES,
    THREAD_MAX_BARRIER_SIZE, THREAD_MAX_THREADS, THREAD_MAX_WORKGROUP_SIZE, TILER_FEATURES,
    TILER_PRESENT, l2_features, mmu_features, thread_features,
};
use eitri_csf::table::{Access, Register, Since};
use eitri_runtime::Platform;

fn is_registers<P: Platform>(it: &mut Raw<'_, P>, register: Register, wanted: u64) -> Verdict {
    let value = it.read(register);
    match value == wanted {
        true => Ok(()),
        false => Err(failed!(
            "{} ({:#x}) = {value:#x}, expected {wanted:#x}: bits {:#x} differ",
            register.name,
            register.offset,
            value ^ wanted
        )),
    }
}

/// Which GPU it is: that of the board, and one of the product table.
pub(crate) fn identity<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    let id = GpuId(it.read(GPU_ID) as u32);
    if id.0 == 0 || id.0 == u32::MAX {
        return Err(failed!(
            "GPU_ID (0x0) = {:#x}: nothing answers. Is its power domain on, its clock running, the window's address right?",
            id.0
        ));
    }
    if let Some(wanted) = it.setup.expected.gpu_id {
        is_registers(it, GPU_ID, wanted.into())?;
    }
    let cores = it.read(SHADER_PRESENT).count_ones();
    let features = match id.arch() {
        Some(arch) if arch > Arch::V10 => it.read(GPU_FEATURES),
        _ => 0,
    };
    match id.product(cores, features) {
        Some(_) => Ok(()),
        None => Err(failed!(
            "GPU_ID (0x0) = {:#x}: {id} is no known product",
            id.0
        )),
    }
}

/// Which units there are.
pub(crate) fn units<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    if let Some(wanted) = it.setup.expected.cores {
        is_registers(it, SHADER_PRESENT, wanted)?;
    }
    for register in [SHADER_PRESENT, TILER_PRESENT, L2_PRESENT, AS_PRESENT] {
        if it.read(register) & 1 == 0 && register != SHADER_PRESENT {
            return Err(failed!("{}: unit 0 is missing", register.name));
        }
    }
    let cores = it.read(SHADER_PRESENT);
    match cores {
        0 => Err(failed!("SHADER_PRESENT = 0: there are no cores")),
        _ => Ok(()),
    }
}

/// The features of a part that was read out before, each register of it.
pub(crate) fn features<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    let id = GpuId(it.read(GPU_ID) as u32);
    let Some(part) = PARTS.iter().find(|part| part.gpu_id == id) else {
        return sane_features(it);
    };
    let Part {
        l2_features,
        tiler_features,
        mem_features,
        mmu_features,
        as_present,
        l2_present,
        tiler_present,
        limits,
        ..
    } = *part;
    #[rustfmt::skip]
    let rows = [
        (L2_FEATURES,               l2_features.into()),
        (TILER_FEATURES,            tiler_features.into()),
        (MEM_FEATURES,              mem_features.into()),
        (MMU_FEATURES,              mmu_features.into()),
        (AS_PRESENT,                as_present.into()),
        (L2_PRESENT,                l2_present),
        (TILER_PRESENT,             tiler_present),
        (CSF_ID,                    limits.csf_id.into()),
        (THREAD_MAX_THREADS,        limits.max_threads.into()),
        (THREAD_MAX_WORKGROUP_SIZE, limits.max_workgroup.into()),
        (THREAD_MAX_BARRIER_SIZE,   limits.max_barrier.into()),
        (THREAD_FEATURES,           limits.thread_features.into()),
        (COHERENCY_FEATURES,        limits.coherency_features.into()),
        // The others of the four were not read out.
        (TEXTURE_FEATURES.at(0),    limits.texture_features[0].into()),
    ];
    rows.into_iter()
        .try_for_each(|(register, wanted)| is_registers(it, register, wanted))
}

/// Of a part that nobody has read out: what every GPU of the kind has.
fn sane_features<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    let mmu = it.read(MMU_FEATURES);
    let (virtual_bits, physical_bits) = (
        mmu_features::VA_BITS.get(mmu),
        mmu_features::PA_BITS.get(mmu),
    );
    let line = l2_features::LINE_SIZE.get(it.read(L2_FEATURES));
    let threads = it.read(THREAD_MAX_THREADS);
    let registers = thread_features::REGISTERS.get(it.read(THREAD_FEATURES));
    let workgroup = it.read(THREAD_MAX_WORKGROUP_SIZE);
    #[rustfmt::skip]
    let checks = [
        ("MMU_FEATURES: virtual address bits",  u64::from(virtual_bits),   40..=48),
        ("MMU_FEATURES: physical address bits", u64::from(physical_bits),  32..=48),
        ("L2_FEATURES: log2 of a line's bytes", u64::from(line),            6..=7),
        ("THREAD_MAX_THREADS",                  threads,                  256..=8192),
        ("THREAD_FEATURES: registers",          u64::from(registers),    4096..=0x2_0000),
        ("THREAD_MAX_WORKGROUP_SIZE",           workgroup,                128..=threads.max(128)),
    ];
    for (what, value, range) in checks {
        if !range.contains(&value) {
            return Err(failed!("{what} = {value}, expected {range:?}"));
        }
    }
    Ok(())
}

/// Constants stay what they are, however often they are read.
pub(crate) fn stable<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    let Some(arch) = it.arch() else {
        return Err(skipped!("the architecture is not known"));
    };
    let there = |register: &&Register| match register.since {
        Since::Arch(since) => since <= arch,
        Since::Interface(..) => false,
    };
    let constants = BLOCKS
        .iter()
        .flat_map(|block| block.registers)
        .filter(there)
        .filter(|register| register.access == Access::C)
        .filter(|register| register.mark == eitri_csf::table::Mark::Modelled);
    for register in constants {
        let first = it.read(*register);
        for _ in 0..8 {
            let again = it.read(*register);
            if again != first {
                let name = register.name;
                return Err(failed!(
                    "{name} was {first:#x} and is {again:#x}: unstable clock or power?"
                ));
            }
        }
    }
    Ok(())
}

/// A command that does nothing does nothing: no fault is recorded, and none was before.
pub(crate) fn command<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    it.command(GpuCommand::Nop);
    let status = it.read(GPU_FAULTSTATUS);
    it.command(GpuCommand::ClearFault);
    match gpu_faultstatus::EXCEPTION.get(status) {
        0 => Ok(()),
        code => Err(failed!(
            "GPU_FAULTSTATUS = {status:#x} after a command that does nothing: exception {code:#x}"
        )),
    }
}

/// A register that can be written keeps each bit.
pub(crate) fn writable<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    let before = it.read(TIMESTAMP_OFFSET);
    let patterns = [0, u64::MAX, 0x5555_5555_5555_5555, 0xAAAA_AAAA_AAAA_AAAA];
    let walking = (0..64).map(|bit| 1 << bit);
    let mut outcome: Result<(), Trouble> = Ok(());
    for pattern in patterns.into_iter().chain(walking) {
        it.write(TIMESTAMP_OFFSET, pattern);
        outcome = is_registers(it, TIMESTAMP_OFFSET, pattern);
        if outcome.is_err() {
            break;
        }
    }
    it.write(TIMESTAMP_OFFSET, before);
    outcome
}
