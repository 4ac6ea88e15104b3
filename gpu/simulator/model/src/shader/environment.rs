//! What all threads of a program share: uniforms, resources, thread storage, float policy, blend words.
//!
//! Facts: hardware/descriptors.md 3 to 5, 11, 12; valhall-isa.md 2.2, 11.3.

use super::float::FloatPolicy;
use super::instruction::From;
use super::lanes::{Lanes, WARP, WideLanes};
use super::warp::Warp;
use crate::diagnosis::{Journal, Misuse, ShaderMisuse};
use crate::trace::OwnMemory;
use eitri_isa::{Half, Special};

/// The environment of a workgroup's threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) space: u8,
    pub(crate) policy: FloatPolicy,
    /// Registers that the program has, a bit a register.
    pub(crate) allocated: u64,
    pub(crate) uniforms: alloc::vec::Vec<u32>,
    /// Address of the resource tables and how many there are.
    pub(crate) resources: u64,
    pub(crate) resource_count: u32,
    /// Base of thread-local storage on core 0, and bytes a thread.
    pub(crate) tls_base: u64,
    pub(crate) tls_bytes: u64,
    /// Threads for which a core has storage.
    pub(crate) threads_per_core: u64,
    /// Base of workgroup memory on core 0, bytes of an instance, and instances a core.
    pub(crate) wls_base: u64,
    pub(crate) wls_bytes: u64,
    pub(crate) wls_instances: u64,
    /// Words 2 and 3 of the draw's BLEND descriptors, by their place.
    pub(crate) blend_words: alloc::vec::Vec<u64>,
    /// Address of the table of sample positions.
    pub(crate) sample_positions: u64,
    /// What a merged vertex program is to store: bit 0 positions, bit 1 attributes, bit 2 varyings.
    pub(crate) shader_output: u32,
}

/// A workgroup's place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) core: u8,
}

impl Environment {
    /// A word of the uniforms; beyond their count they read as 0.
    #[inline]
    pub(super) fn uniform(&self, journal: &mut Journal, address: u64, index: u8) -> u32 {
        self.uniforms
            .get(usize::from(index))
            .copied()
            .unwrap_or_else(|| {
                let uniform = index.into();
                let misuse = ShaderMisuse::UniformOutOfRange { uniform };
                journal.report(Misuse::Shader { address, misuse });
                0
            })
    }

    /// The memory of a workgroup and its threads at a place.
    pub(crate) fn own_memory(&self, place: Place) -> OwnMemory {
        let core = u64::from(place.core);
        let range = |base: u64, before: u64, bytes: u64| {
            let start = base.wrapping_add(before);
            start..start.saturating_add(bytes)
        };
        let instance = core.wrapping_mul(self.wls_instances);
        let storage = self.threads_per_core.saturating_mul(self.tls_bytes);
        OwnMemory {
            shared: range(
                self.wls_base,
                instance.wrapping_mul(self.wls_bytes),
                self.wls_bytes,
            ),
            scratch: range(self.tls_base, core.wrapping_mul(storage), storage),
        }
    }

    /// What a 32-bit source reads.
    #[inline]
    pub(crate) fn fetch(
        &self,
        journal: &mut Journal,
        warp: &Warp,
        place: Place,
        from: From,
    ) -> Lanes {
        match from {
            From::Nothing => [0; WARP],
            From::Register(register) => warp.registers[usize::from(register & 63)],
            From::Constant(value) => [value; WARP],
            From::Uniform(index) => [self.uniform(journal, warp.pc, index); WARP],
            From::Special(special, half) => {
                let shift = if half == Half::W1 { 32 } else { 0 };
                self.special(warp, place, special)
                    .map(|value| (value >> shift) as u32)
            }
        }
    }

    /// What a 64-bit source reads.
    #[inline]
    pub(crate) fn fetch_wide(
        &self,
        journal: &mut Journal,
        warp: &Warp,
        place: Place,
        from: From,
        one_word: bool,
    ) -> WideLanes {
        let join = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        match from {
            From::Nothing => [0; WARP],
            From::Register(register) => {
                let low = &warp.registers[usize::from(register & 63)];
                if one_word {
                    return low.map(u64::from);
                }
                let high = &warp.registers[usize::from((register + 1) & 63)];
                core::array::from_fn(|lane| join(low[lane], high[lane]))
            }
            From::Constant(value) => [value.into(); WARP],
            From::Uniform(index) => {
                let low = self.uniform(journal, warp.pc, index);
                if one_word {
                    return [low.into(); WARP];
                }
                let high = self.uniform(journal, warp.pc, index | 1);
                [join(low, high); WARP]
            }
            From::Special(special, half) => {
                let shift = if one_word && half == Half::W1 { 32 } else { 0 };
                self.special(warp, place, special)
                    .map(|value| value >> shift)
            }
        }
    }

    /// Where a workgroup's memory begins.
    pub(super) fn workgroup_memory(&self, place: Place) -> u64 {
        let instance = u64::from(place.core) * self.wls_instances;
        self.wls_base.wrapping_add(instance * self.wls_bytes)
    }

    /// Where the memory of a warp's first thread begins, and the bytes of a thread.
    pub(super) fn thread_memory(&self, warp: &Warp, place: Place) -> (u64, u64) {
        let first = u64::from(place.core) * self.threads_per_core;
        let thread = first + u64::from(warp.first_thread);
        let base = self.tls_base.wrapping_add(thread * self.tls_bytes);
        (base, self.tls_bytes)
    }

    /// A special value in each lane.
    fn special(&self, warp: &Warp, place: Place, special: Special) -> WideLanes {
        match special {
            Special::LaneId => core::array::from_fn(|lane| lane as u64),
            Special::CoreId => [place.core.into(); WARP],
            Special::ProgramCounter => [warp.pc.wrapping_add(8); WARP],
            Special::ResourceTablePointer => {
                [self.resources | u64::from(self.resource_count & 0x3f); WARP]
            }
            Special::WorkgroupLocalPointer => [self.workgroup_memory(place); WARP],
            Special::ThreadLocalPointer => {
                let (first, bytes) = self.thread_memory(warp, place);
                core::array::from_fn(|lane| first.wrapping_add(lane as u64 * bytes))
            }
            // FACT: how warp_id is split into the warp's number and the number of warps is not established
            // (hardware/valhall-isa.md 2.2); the warp's number in its workgroup stands low, and nothing else. Settled by a
            // shader on any board that stores warp_id.
            Special::WarpId => [u64::from(warp.first_thread) / WARP as u64; WARP],
            Special::BlendDescriptor(target) => {
                let words = self.blend_words.get(usize::from(target.index()));
                [words.copied().unwrap_or(0); WARP]
            }
            Special::ShaderOutput => [self.shader_output.into(); WARP],
            Special::Sample => [self.sample_positions; WARP],
            // The datum of ATEST is the model's own and empty; nothing is known of the others.
            Special::FramebufferSize | Special::AtestDatum | Special::PrepassState => [0; WARP],
        }
    }
}
