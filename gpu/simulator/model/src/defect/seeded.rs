//! Seeded faults: GPUs with one broken thing each, which a test suite for hardware must tell from a good one.

use super::{Damage, Defect, DrawDefect, Family, Line, ShaderDefect, Slow};
use crate::config::Config;
use crate::injection::Injection;
use crate::mmu::AccessKind;
use eitri_csf::registers::address_space::{AS_FAULTADDRESS, AS_FAULTSTATUS};
use eitri_csf::registers::control::{CYCLE_COUNT, TIMESTAMP, TIMESTAMP_OFFSET};
use eitri_csf::registers::identity::{
    AS_PRESENT, CSF_ID, GPU_ID, L2_FEATURES, L2_PRESENT, MEM_FEATURES, MMU_FEATURES,
    SHADER_PRESENT, TEXTURE_FEATURES, THREAD_FEATURES, THREAD_MAX_THREADS, TILER_FEATURES,
};
use eitri_csf::registers::interrupts::{
    GPU_IRQ_CLEAR, GPU_IRQ_MASK, GPU_IRQ_RAWSTAT, JOB_IRQ_CLEAR, JOB_IRQ_MASK, MMU_IRQ_CLEAR,
    MMU_IRQ_MASK, MMU_IRQ_STATUS,
};
use eitri_csf::registers::power::Domain;
use eitri_csf::table::Register;

/// What is broken in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A part.
    Part(Defect),
    /// Something that happens, from the start.
    Event(Injection),
}

/// A GPU with one broken thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeded {
    /// Its name.
    pub name: &'static str,
    /// What is broken.
    pub broken: Broken,
}

impl Seeded {
    /// The configuration of this GPU, if that of a good one is `config`.
    pub fn config(&self, mut config: Config) -> Config {
        match self.broken {
            Broken::Part(defect) => config.defects.push(defect),
            Broken::Event(injection) => config.injections.push(injection),
        }
        config
    }
}

const fn part(name: &'static str, defect: Defect) -> Seeded {
    Seeded {
        name,
        broken: Broken::Part(defect),
    }
}

const fn event(name: &'static str, injection: Injection) -> Seeded {
    Seeded {
        name,
        broken: Broken::Event(injection),
    }
}

const fn cores(name: &'static str, defect: ShaderDefect) -> Seeded {
    part(name, Defect::Shader(defect))
}

const fn draws(name: &'static str, defect: DrawDefect) -> Seeded {
    part(name, Defect::Draw(defect))
}

/// A bit of the low word of a register.
const fn bit(register: Register, bit: u8, value: bool) -> Defect {
    Defect::RegisterBit {
        offset: register.offset,
        bit,
        value,
    }
}

const fn lost(register: Register) -> Defect {
    Defect::WriteLost {
        offset: register.offset,
    }
}

const fn result(core: Option<u8>, family: Family, damage: Damage) -> ShaderDefect {
    ShaderDefect::Result {
        core,
        family,
        damage,
    }
}

const fn register_bit(core: u8, register: u8, lane: u8, bit: u8, value: bool) -> ShaderDefect {
    ShaderDefect::RegisterBit {
        core,
        register,
        lane,
        bit,
        value,
    }
}

/// The GPUs: made for a Mali-G610, whose cores are 0, 2, 16 and 18.
#[rustfmt::skip]
pub static SEEDED: &[Seeded] = &[
    // What it says of itself.
    part("gpu-id-product-bit",        bit(GPU_ID, 16, false)),
    part("gpu-id-nothing-answers",    Defect::RegisterBit { offset: GPU_ID.offset, bit: 31, value: false }),
    part("shader-present-missing",    bit(SHADER_PRESENT, 2, false)),
    part("shader-present-invented",   bit(SHADER_PRESENT, 5, true)),
    part("l2-present-missing",        bit(L2_PRESENT, 0, false)),
    part("l2-features-line",          bit(L2_FEATURES, 0, true)),
    part("tiler-features-bit",        bit(TILER_FEATURES, 8, true)),
    part("mem-features-slices",       bit(MEM_FEATURES, 10, true)),
    part("mmu-features-bits",         bit(MMU_FEATURES, 4, false)),
    part("as-present-bit",            bit(AS_PRESENT, 3, false)),
    part("csf-id-bit",                bit(CSF_ID, 5, true)),
    part("thread-max-bit",            bit(THREAD_MAX_THREADS, 11, false)),
    part("thread-features-bit",       bit(THREAD_FEATURES, 24, true)),
    part("texture-features-bit",      bit(TEXTURE_FEATURES, 31, false)),
    part("register-bit-writable",     bit(TIMESTAMP_OFFSET, 7, true)),
    part("register-write-lost",       lost(TIMESTAMP_OFFSET)),

    // Clocks.
    part("clock-slow",                Defect::Slow(Slow::Clock)),
    part("timestamp-half",            Defect::Slow(Slow::Timestamp)),
    part("timestamp-stands",          Defect::Slow(Slow::NoTimestamp)),
    part("timestamp-bit",             bit(TIMESTAMP, 9, true)),
    part("cycle-count-bit",           bit(CYCLE_COUNT, 18, true)),

    // Interrupts.
    part("job-line-open",             Defect::LineStuck { line: Line::Job, high: false }),
    part("mmu-line-open",             Defect::LineStuck { line: Line::Mmu, high: false }),
    part("gpu-line-open",             Defect::LineStuck { line: Line::Gpu, high: false }),
    part("job-line-high",             Defect::LineStuck { line: Line::Job, high: true }),
    part("gpu-line-high",             Defect::LineStuck { line: Line::Gpu, high: true }),
    part("job-source-lost",           Defect::SourceLost { line: Line::Job, bits: 1 << 31 }),
    part("mmu-source-lost",           Defect::SourceLost { line: Line::Mmu, bits: 1 << 1 }),
    part("reset-interrupt-lost",      Defect::SourceLost { line: Line::Gpu, bits: 1 << 8 }),
    part("power-interrupt-lost",      Defect::SourceLost { line: Line::Gpu, bits: 1 << 9 }),
    part("flush-interrupt-lost",      Defect::SourceLost { line: Line::Gpu, bits: 1 << 17 }),
    part("job-mask-lost",             lost(JOB_IRQ_MASK)),
    part("mmu-mask-lost",             lost(MMU_IRQ_MASK)),
    part("gpu-mask-lost",             lost(GPU_IRQ_MASK)),
    part("job-clear-lost",            lost(JOB_IRQ_CLEAR)),
    part("mmu-clear-lost",            lost(MMU_IRQ_CLEAR)),
    part("gpu-clear-lost",            lost(GPU_IRQ_CLEAR)),
    part("gpu-rawstat-bit",           bit(GPU_IRQ_RAWSTAT, 0, true)),
    part("mmu-status-bit",            bit(MMU_IRQ_STATUS, 1, true)),

    // Power, reset, caches.
    part("l2-no-power",               Defect::NoPower { domain: Domain::L2, units: 1 }),
    part("l2-stays-on",               Defect::StaysOn { domain: Domain::L2, units: 1 }),
    event("l2-power-stuck",           Injection::L2PowerStuck),
    part("power-slow",                Defect::Slow(Slow::Power)),
    event("reset-never-ends",         Injection::ResetNeverCompletes),
    part("reset-slow",                Defect::Slow(Slow::Reset)),
    event("flush-never-ends",         Injection::FlushNeverCompletes),
    part("flush-slow",                Defect::Slow(Slow::Flush)),
    part("flush-does-nothing",        Defect::FlushDoesNothing),
    part("flush-not-counted",         Defect::FlushNotCounted),
    part("line-not-cleaned",          Defect::CleanMissesLines),
    part("line-not-coherent",         Defect::InvalidateMissesLines),
    part("texels-stale",              Defect::OthersNotInvalidated),
    part("line-byte-lost",            Defect::LineByteLost { byte: 37 }),

    // The MMU.
    event("space-stuck",              Injection::AddressSpaceStuck { space: 1 }),
    part("space-slow",                Defect::Slow(Slow::AddressSpace)),
    part("address-bit-12",            Defect::AddressBitIgnored { bit: 12 }),
    part("address-bit-21",            Defect::AddressBitIgnored { bit: 21 }),
    part("address-bit-27",            Defect::AddressBitIgnored { bit: 27 }),
    part("gibibyte-unmapped",         Defect::NoGibibytes),
    part("write-allowed",             Defect::PermissionIgnored { kind: AccessKind::Write }),
    part("execution-allowed",         Defect::PermissionIgnored { kind: AccessKind::Execute }),
    part("translations-stale",        Defect::StaleTranslations),
    part("spaces-mixed",              Defect::SpacesMixed { from: 2, to: 1 }),
    part("fault-address-bit",         Defect::RegisterBit { offset: AS_FAULTADDRESS.at(1).offset, bit: 14, value: false }),
    part("fault-kind-bit",            Defect::RegisterBit { offset: AS_FAULTSTATUS.at(1).offset, bit: 8, value: false }),
    event("page-fault",               Injection::PageFault { space: 1 }),
    event("bus-error",                Injection::BusError { space: 1 }),

    // The firmware and its streams.
    event("boot-never-ends",          Injection::BootNeverCompletes),
    event("boot-fails",               Injection::BootFails),
    event("firmware-crash",           Injection::McuCrash),
    event("halt-ignored",             Injection::HaltIgnored),
    event("ping-ignored",             Injection::PingIgnored),
    event("suspend-ignored",          Injection::SuspendIgnored),
    event("terminate-ignored",        Injection::TerminateIgnored),
    event("stream-fault",             Injection::StreamFault { exception: 0x4b }),
    event("stream-fatal",             Injection::StreamFatal { exception: 0x40 }),
    event("gpu-fault",                Injection::GpuFault { exception: 0x80 }),
    part("scoreboard-not-waited",     Defect::ScoreboardWaitIgnored),
    part("sync-not-waited",           Defect::SyncWaitIgnored),
    part("sync-never-ends",           Defect::SyncWaitNeverEnds),
    part("stream-register-bit",       Defect::StreamRegisterBit { register: 40, bit: 6 }),
    part("priorities-ignored",        Defect::PrioritiesIgnored),
    part("endpoints-ignored",         Defect::EndpointsIgnored),

    // The shader cores.
    event("cores-no-power",           Injection::ShaderPowerStuck),
    part("core-dead",                 Defect::NoPower { domain: Domain::Shader, units: 1 << 2 }),
    part("core-hangs",                Defect::CoreHangs { core: 16 }),
    part("core-skips-workgroups",     Defect::CoreSkipsWorkgroups { core: 18, every: 4 }),
    event("jobs-hang",                Injection::JobsHang),
    event("job-fault",                Injection::JobFault { exception: 0x58 }),
    cores("core-id-wrong",            ShaderDefect::CoreId { core: 2 }),
    cores("register-bit-zero",        register_bit(2, 17, 5, 9, false)),
    cores("register-bit-one",         register_bit(18, 61, 15, 31, true)),
    cores("register-first-bit",       register_bit(0, 0, 0, 0, true)),
    cores("registers-mixed",          ShaderDefect::RegistersMixed { core: 16, one: 9, other: 41 }),
    cores("rounding-wrong",           result(Some(16), Family::Arithmetic, Damage::Truncated)),
    cores("subnormals-lost",          result(None, Family::Arithmetic, Damage::SubnormalsLost)),
    cores("nan-lost",                 result(Some(2), Family::Arithmetic, Damage::NanLost)),
    cores("adder-lane",               result(Some(0), Family::Integer, Damage::BitZero { bit: 16, lane: 7 })),
    cores("shifter-bit",              result(Some(18), Family::Bits, Damage::BitOne { bit: 30 })),
    cores("comparator-off",           result(None, Family::Compare, Damage::Off { by: 1 })),
    cores("conversion-off",           result(Some(2), Family::Convert, Damage::Off { by: 1 })),
    cores("special-off",              result(None, Family::Special, Damage::Off { by: 4 })),
    cores("wide-carry-lost",          ShaderDefect::WideCarry),
    cores("lane-select-wrong",        ShaderDefect::LaneSelect),
    cores("lane-mask-wrong",          ShaderDefect::LaneMask),
    cores("branch-lane",              ShaderDefect::BranchLane { lane: 11 }),
    cores("barrier-ignored",          ShaderDefect::BarrierIgnored),
    cores("load-bit",                 ShaderDefect::LoadBit { bit: 13 }),
    cores("sign-lost",                ShaderDefect::SignLost),
    cores("store-wide",               ShaderDefect::StoreWide),
    cores("atomic-return-new",        ShaderDefect::AtomicReturn),
    cores("atomic-lost",              ShaderDefect::AtomicLost { lane: 3 }),
    cores("uniform-bit",              ShaderDefect::UniformBit { word: 4, bit: 20 }),
    cores("scratch-shared",           ShaderDefect::ScratchShared),
    cores("bounds-ignored",           ShaderDefect::BoundsIgnored),
    cores("preload-workgroup",        ShaderDefect::Preload { register: 57, bit: 1 }),
    cores("preload-thread",           ShaderDefect::Preload { register: 60, bit: 3 }),

    // Draws.
    draws("samples-shifted",          DrawDefect::SamplesShifted),
    draws("tie-rule-turned",          DrawDefect::TieRuleTurned),
    draws("depth-not-tested",         DrawDefect::DepthNotTested),
    draws("colors-not-interpolated",  DrawDefect::NotInterpolated),
    draws("blend-constant-lost",      DrawDefect::BlendConstantLost),
    draws("one-target-of-several",    DrawDefect::OneTarget),
    draws("tiles-not-written",        DrawDefect::TilesNotWritten { core: 2 }),
    draws("added-chunks-forgotten",   DrawDefect::AddedChunksForgotten),
    draws("used-chunks-forgotten",    DrawDefect::UsedChunksForgotten),

    // Performance counters.
    event("counters-ignored",         Injection::CountersIgnored),
    event("sample-lost",              Injection::SampleLost),
    part("counter-stands",            Defect::CounterStandsStill { name: "COMPUTE_WARPS" }),
    part("counter-drifts",            Defect::CounterDrifts { name: "LS_MEM_READ_FULL" }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own() {
        assert!(SEEDED.len() >= 60, "{}", SEEDED.len());
        for (index, row) in SEEDED.iter().enumerate() {
            let again = SEEDED.iter().skip(index + 1).find(|it| it.name == row.name);
            assert_eq!(again, None, "{}", row.name);
            let config = row.config(Config::default());
            assert_eq!(config.defects.len() + config.injections.len(), 1);
        }
    }
}
