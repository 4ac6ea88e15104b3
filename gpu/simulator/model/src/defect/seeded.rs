//! Seeded faults: GPUs with one broken thing each, which a test suite for hardware must tell from a good one.

use super::{Damage, Defect, DrawDefect, Family, Line, ShaderDefect, Slow, State};
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

const fn state(name: &'static str, of: State, bit: u8, value: bool) -> Seeded {
    part(name, Defect::StateBit { of, bit, value })
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

    // The state of draws: stuck bits of registers and descriptors as they are taken.
    state("stencil-compare-bit-0-low",       State::DepthStencil(0), 4, false),
    state("stencil-compare-bit-0-high",      State::DepthStencil(0), 4, true),
    state("stencil-compare-bit-1-low",       State::DepthStencil(0), 5, false),
    state("stencil-compare-bit-1-high",      State::DepthStencil(0), 5, true),
    state("stencil-compare-bit-2-low",       State::DepthStencil(0), 6, false),
    state("stencil-compare-bit-2-high",      State::DepthStencil(0), 6, true),
    state("stencil-fail-bit-0-high",         State::DepthStencil(0), 7, true),
    state("stencil-fail-bit-1-low",          State::DepthStencil(0), 8, false),
    state("stencil-fail-bit-2-high",         State::DepthStencil(0), 9, true),
    state("stencil-depth-fail-bit-0-high",   State::DepthStencil(0), 10, true),
    state("stencil-depth-fail-bit-1-low",    State::DepthStencil(0), 11, false),
    state("stencil-depth-fail-bit-2-high",   State::DepthStencil(0), 12, true),
    state("stencil-pass-bit-0-low",          State::DepthStencil(0), 13, false),
    state("stencil-pass-bit-0-high",         State::DepthStencil(0), 13, true),
    state("stencil-pass-bit-1-low",          State::DepthStencil(0), 14, false),
    state("stencil-pass-bit-1-high",         State::DepthStencil(0), 14, true),
    state("stencil-pass-bit-2-low",          State::DepthStencil(0), 15, false),
    state("stencil-pass-bit-2-high",         State::DepthStencil(0), 15, true),
    state("stencil-back-compare-bit-0-low",  State::DepthStencil(0), 16, false),
    state("stencil-back-pass-bit-0-high",    State::DepthStencil(0), 25, true),
    state("stencil-back-pass-bit-1-low",     State::DepthStencil(0), 26, false),
    state("stencil-back-pass-bit-2-high",    State::DepthStencil(0), 27, true),
    state("stencil-test-off",                State::DepthStencil(0), 31, false),
    state("stencil-write-mask-bit-0-low",    State::DepthStencil(1), 0, false),
    state("stencil-write-mask-bit-1-low",    State::DepthStencil(1), 1, false),
    state("stencil-write-mask-bit-2-low",    State::DepthStencil(1), 2, false),
    state("stencil-write-mask-bit-3-low",    State::DepthStencil(1), 3, false),
    state("stencil-write-mask-bit-4-low",    State::DepthStencil(1), 4, false),
    state("stencil-write-mask-bit-5-low",    State::DepthStencil(1), 5, false),
    state("stencil-write-mask-bit-6-low",    State::DepthStencil(1), 6, false),
    state("stencil-write-mask-bit-7-low",    State::DepthStencil(1), 7, false),
    state("stencil-write-mask-bit-4-high",   State::DepthStencil(1), 4, true),
    state("stencil-write-mask-bit-7-high",   State::DepthStencil(1), 7, true),
    state("stencil-value-mask-bit-0-high",   State::DepthStencil(1), 16, true),
    state("stencil-value-mask-bit-3-high",   State::DepthStencil(1), 19, true),
    state("stencil-value-mask-bit-4-high",   State::DepthStencil(1), 20, true),
    state("stencil-value-mask-bit-7-high",   State::DepthStencil(1), 23, true),
    state("stencil-value-mask-bit-0-low",    State::DepthStencil(1), 16, false),
    state("stencil-value-mask-bit-1-low",    State::DepthStencil(1), 17, false),
    state("stencil-reference-bit-2-low",     State::DepthStencil(2), 2, false),
    state("stencil-reference-bit-3-low",     State::DepthStencil(2), 3, false),
    state("stencil-reference-bit-4-low",     State::DepthStencil(2), 4, false),
    state("stencil-reference-bit-5-low",     State::DepthStencil(2), 5, false),
    state("stencil-reference-bit-0-high",    State::DepthStencil(2), 0, true),
    state("stencil-reference-bit-1-high",    State::DepthStencil(2), 1, true),
    state("stencil-reference-bit-6-high",    State::DepthStencil(2), 6, true),
    state("stencil-reference-bit-7-high",    State::DepthStencil(2), 7, true),
    state("depth-cull-off",                  State::DepthStencil(4), 22, false),
    state("depth-not-written",               State::DepthStencil(4), 27, false),
    state("depth-always-written",            State::DepthStencil(4), 27, true),
    state("depth-bias-off",                  State::DepthStencil(4), 28, false),
    state("depth-compare-bit-0-low",         State::DepthStencil(4), 29, false),
    state("depth-compare-bit-0-high",        State::DepthStencil(4), 29, true),
    state("depth-compare-bit-1-low",         State::DepthStencil(4), 30, false),
    state("depth-compare-bit-1-high",        State::DepthStencil(4), 30, true),
    state("depth-compare-bit-2-low",         State::DepthStencil(4), 31, false),
    state("depth-compare-bit-2-high",        State::DepthStencil(4), 31, true),
    state("depth-bias-units-bit",            State::DepthStencil(5), 25, false),
    state("depth-bias-factor-bit",           State::DepthStencil(6), 24, false),
    state("blend-off",                       State::Blend(0), 9, false),
    state("blend-constant-bit",              State::Blend(0), 29, false),
    state("blend-a-0-low",                   State::Blend(1), 0, false),
    state("blend-a-1-low",                   State::Blend(1), 1, false),
    state("blend-b-0-low",                   State::Blend(1), 4, false),
    state("blend-b-1-low",                   State::Blend(1), 5, false),
    state("blend-c-0-low",                   State::Blend(1), 8, false),
    state("blend-c-1-low",                   State::Blend(1), 9, false),
    state("blend-c-2-low",                   State::Blend(1), 10, false),
    state("blend-c-inverted-low",            State::Blend(1), 11, false),
    state("blend-c-inverted-high",           State::Blend(1), 11, true),
    state("blend-a-negated",                 State::Blend(1), 3, true),
    state("blend-b-negated",                 State::Blend(1), 7, true),
    state("blend-mask-r-low",                State::Blend(1), 28, false),
    state("blend-mask-r-high",               State::Blend(1), 28, true),
    state("blend-mask-g-low",                State::Blend(1), 29, false),
    state("blend-mask-g-high",               State::Blend(1), 29, true),
    state("blend-mask-b-low",                State::Blend(1), 30, false),
    state("blend-mask-b-high",               State::Blend(1), 30, true),
    state("blend-mask-a-low",                State::Blend(1), 31, false),
    state("blend-mask-a-high",               State::Blend(1), 31, true),
    state("vertex-count-bit",                State::Register(33), 2, false),
    state("instance-count-bit",              State::Register(34), 2, false),
    state("first-index-bit",                 State::Register(35), 2, false),
    state("vertex-offset-bit",               State::Register(36), 2, false),
    state("scissor-left-bit",                State::Register(42), 0, false),
    state("scissor-top-bit",                 State::Register(42), 16, false),
    state("scissor-right-bit",               State::Register(43), 1, false),
    state("scissor-bottom-bit",              State::Register(43), 20, false),
    state("topology-bit",                    State::Register(56), 1, false),
    state("index-type-bit-0",                State::Register(56), 8, false),
    state("index-type-bit-1",                State::Register(56), 9, false),
    state("restart-ignored",                 State::Register(56), 19, false),
    state("front-face-low",                  State::Register(57), 16, false),
    state("front-face-high",                 State::Register(57), 16, true),
    state("cull-front-ignored",              State::Register(57), 17, false),
    state("cull-front-always",               State::Register(57), 17, true),
    state("cull-back-ignored",               State::Register(57), 18, false),
    state("cull-back-always",                State::Register(57), 18, true),
    state("multisampling-off",               State::Register(57), 19, false),
    state("alpha-to-coverage-off",           State::Register(57), 22, false),
    state("occlusion-not-counted",           State::Register(57), 14, false),
    state("occlusion-mode-bit",              State::Register(57), 15, false),
    state("sample-0-lost",                   State::Register(58), 0, false),
    state("sample-1-unmasked",               State::Register(58), 1, true),
    state("sample-3-lost",                   State::Register(58), 3, false),
    state("sample-7-lost",                   State::Register(58), 7, false),
    state("sample-15-lost",                  State::Register(58), 15, false),

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
