//! Commands: what a write to `GPU_COMMAND`, `AS_COMMAND` or `PWR_COMMAND` asks for.
//!
//! Guarantees: a command is built from its parts and taken apart again by the same rows.
//! Facts: hardware/csf-mmio.md sections 6 and 15, gpu-mmu.md section 5.

use crate::arch::Arch;
use crate::table::{fields, values};

values! {
    /// Command code in `GPU_COMMAND` bits 7:0.
    GpuCommandCode {
        0 Nop              "nothing";
        1 Reset            "resets the GPU; GPU_IRQ bit 8 when done";
        3 Time             "stops or starts the cycle counter and timestamp propagation (V)";
        4 FlushCaches      "cleans or invalidates caches; GPU_IRQ bit 17 when done; one at a time";
        5 SetProtectedMode "enters protected mode; not for a host with firmware (V)";
        6 FinishHalt       "not for hosts (V)";
        7 ClearFault       "clears GPU_FAULTSTATUS, so that the next fault is recorded";
        8 FlushPaRange     "cleans or invalidates a range of physical addresses; GPU_IRQ bit 20 when done; v12 and later (V)";
    }
    /// How thorough a reset is.
    ResetKind {
        0 Fast "the firmware's way out of protected mode";
        1 Soft "quiesces the bus, then resets everything";
        2 Hard "resets at once; the bus may be left with half-finished transfers";
    }
    /// What to do with a cache.
    FlushMode {
        0 None            "leave alone";
        1 Clean           "write dirty lines back";
        2 Invalidate      "forget lines";
        3 CleanInvalidate "write dirty lines back and forget all";
    }
    /// Command of an address space.
    AsCommand {
        0 Nop      "nothing";
        1 Update   "take TRANSTAB, MEMATTR, TRANSCFG; drop cached translations";
        2 Lock     "stall translations in the LOCKADDR region and finish walks in flight";
        3 Unlock   "release the region; stalled accesses walk again";
        4 FlushPt  "clean and invalidate the L2, then unlock; deprecated after v11";
        5 FlushMem "clean and invalidate all GPU caches, then unlock; deprecated after v11";
    }
    /// Command of the v14 power block.
    PwrCommandCode {
        0x10 PowerUp   "power units of the domain up";
        0x11 PowerDown "power units of the domain down";
        0x20 Delegate  "give the domain to the firmware";
        0x21 Retract   "take the domain back";
        0x30 ResetHard "hard reset (V)";
        0x31 ResetSoft "soft reset";
        0x32 ResetFast "fast reset";
        0xF0 Inspect   "inspect";
    }
    /// Power domain of the v14 power block.
    PwrDomain {
        0  L2     "level-2 cache: never delegated";
        1  Tiler  "tiler";
        8  Shader "shader cores";
        9  Neural "neural engine (V)";
        14 Base   "base";
        15 Stack  "core stacks";
    }
}

fields! {
    /// `GPU_COMMAND`: a code, and a payload whose layout hangs on the code.
    gpu_command {
        7:0   CODE:    GpuCommandCode = "what to do";
        31:8  PAYLOAD: u32            = "with what";
        also
        11:8  RESET:       ResetKind = "RESET: which kind";
        8     TIME_ON:     bool      = "TIME: start rather than stop";
        11:8  FLUSH_L2:    FlushMode = "FLUSH_CACHES: level-2 cache";
        15:12 FLUSH_LSC:   FlushMode = "FLUSH_CACHES: load/store caches";
        19:16 FLUSH_OTHER: FlushMode = "FLUSH_CACHES: read-only caches; only Invalidate makes sense";
        9:8   RANGE_MODE:  FlushMode = "FLUSH_PA_RANGE: what to do";
        12    RANGE_OTHER: bool      = "FLUSH_PA_RANGE: act on read-only caches";
        13    RANGE_LSC:   bool      = "FLUSH_PA_RANGE: act on load/store caches";
        14    RANGE_L2:    bool      = "FLUSH_PA_RANGE: act on the level-2 cache";
    }
    /// `PWR_COMMAND`.
    pwr_command {
        7:0   COMMAND:   PwrCommandCode = "what to do";
        15:8  DOMAIN:    PwrDomain      = "with which domain";
        31:16 SUBDOMAIN: u32            = "bit 0: the ray traversal unit with the shader cores";
    }
}

impl AsCommand {
    /// The first architecture on which a driver must not use the command any more.
    pub const fn deprecated_since(self) -> Option<Arch> {
        match self {
            AsCommand::FlushPt | AsCommand::FlushMem => Some(Arch::V12),
            AsCommand::Nop | AsCommand::Update | AsCommand::Lock | AsCommand::Unlock => None,
        }
    }
}

/// What `FLUSH_CACHES` does with each kind of cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheFlush {
    /// Level-2 cache.
    pub l2: FlushMode,
    /// Load/store caches of the shader cores.
    pub load_store: FlushMode,
    /// Read-only caches.
    pub other: FlushMode,
}

impl CacheFlush {
    /// Everything: after page tables have changed.
    pub const ALL: CacheFlush = CacheFlush {
        l2: FlushMode::CleanInvalidate,
        load_store: FlushMode::CleanInvalidate,
        other: FlushMode::Invalidate,
    };
    /// Writes back what the GPU wrote: after groups were suspended.
    pub const CLEAN: CacheFlush = CacheFlush {
        l2: FlushMode::Clean,
        load_store: FlushMode::Clean,
        other: FlushMode::None,
    };
    /// Load/store caches only: erratum GPU2019-3901.
    pub const LOAD_STORE: CacheFlush = CacheFlush {
        l2: FlushMode::None,
        load_store: FlushMode::CleanInvalidate,
        other: FlushMode::None,
    };
}

/// What `FLUSH_PA_RANGE` does, and with which caches; the range stands in `GPU_COMMAND_ARG0` and `ARG1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeFlush {
    /// What to do.
    pub mode: FlushMode,
    /// With the level-2 cache.
    pub l2: bool,
    /// With the load/store caches of the shader cores.
    pub load_store: bool,
    /// With the read-only caches.
    pub other: bool,
}

/// A command for `GPU_COMMAND`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuCommand {
    /// Nothing.
    Nop,
    /// Resets the GPU.
    Reset(ResetKind),
    /// Starts (`true`) or stops the cycle counter.
    Time(bool),
    /// Cleans or invalidates caches.
    FlushCaches(CacheFlush),
    /// Enters protected mode; not for a host with firmware (V).
    SetProtectedMode,
    /// Not for hosts (V).
    FinishHalt,
    /// Clears the recorded fault.
    ClearFault,
    /// Cleans or invalidates a range of physical addresses: v12 and later (V).
    FlushPaRange(RangeFlush),
}

impl GpuCommand {
    /// The word to write.
    pub fn word(self) -> u32 {
        use gpu_command as layout;
        let with = |code| layout::CODE.word(code);
        match self {
            GpuCommand::Nop => with(GpuCommandCode::Nop),
            GpuCommand::Reset(kind) => layout::RESET.set32(with(GpuCommandCode::Reset), kind),
            GpuCommand::Time(on) => layout::TIME_ON.set32(with(GpuCommandCode::Time), on),
            GpuCommand::FlushCaches(CacheFlush {
                l2,
                load_store,
                other,
            }) => {
                let word = layout::FLUSH_L2.set32(with(GpuCommandCode::FlushCaches), l2);
                let word = layout::FLUSH_LSC.set32(word, load_store);
                layout::FLUSH_OTHER.set32(word, other)
            }
            GpuCommand::SetProtectedMode => with(GpuCommandCode::SetProtectedMode),
            GpuCommand::FinishHalt => with(GpuCommandCode::FinishHalt),
            GpuCommand::ClearFault => with(GpuCommandCode::ClearFault),
            GpuCommand::FlushPaRange(RangeFlush {
                mode,
                l2,
                load_store,
                other,
            }) => {
                let word = layout::RANGE_MODE.set32(with(GpuCommandCode::FlushPaRange), mode);
                let word = layout::RANGE_L2.set32(word, l2);
                let word = layout::RANGE_LSC.set32(word, load_store);
                layout::RANGE_OTHER.set32(word, other)
            }
        }
    }

    /// The command that a word asks for; `None` for codes or payloads that are none of these.
    pub fn decode(word: u32) -> Option<GpuCommand> {
        use gpu_command as layout;
        let command = match layout::CODE.get(word)? {
            GpuCommandCode::Nop => GpuCommand::Nop,
            GpuCommandCode::Reset => GpuCommand::Reset(layout::RESET.get(word)?),
            GpuCommandCode::Time => GpuCommand::Time(layout::TIME_ON.get(word)),
            GpuCommandCode::FlushCaches => GpuCommand::FlushCaches(CacheFlush {
                l2: layout::FLUSH_L2.get(word)?,
                load_store: layout::FLUSH_LSC.get(word)?,
                other: layout::FLUSH_OTHER.get(word)?,
            }),
            GpuCommandCode::SetProtectedMode => GpuCommand::SetProtectedMode,
            GpuCommandCode::FinishHalt => GpuCommand::FinishHalt,
            GpuCommandCode::ClearFault => GpuCommand::ClearFault,
            GpuCommandCode::FlushPaRange => GpuCommand::FlushPaRange(RangeFlush {
                mode: layout::RANGE_MODE.get(word)?,
                l2: layout::RANGE_L2.get(word),
                load_store: layout::RANGE_LSC.get(word),
                other: layout::RANGE_OTHER.get(word),
            }),
        };
        // A payload with bits that the command has no use for is not that command.
        (command.word() == word).then_some(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: GpuCommand, word: u32) {
        assert_eq!(command.word(), word, "{command:?}: {:#x}", command.word());
        assert_eq!(GpuCommand::decode(word), Some(command), "{word:#x}");
    }

    #[test]
    fn the_words_of_the_facts() {
        check(GpuCommand::Reset(ResetKind::Fast), 0x0000_0001);
        check(GpuCommand::Reset(ResetKind::Soft), 0x0000_0101);
        check(GpuCommand::Reset(ResetKind::Hard), 0x0000_0201);
        check(GpuCommand::Time(true), 0x0000_0103);
        check(GpuCommand::Time(false), 0x0000_0003);
        check(GpuCommand::FlushCaches(CacheFlush::CLEAN), 0x0000_1104);
        check(GpuCommand::FlushCaches(CacheFlush::ALL), 0x0002_3304);
        check(GpuCommand::FlushCaches(CacheFlush::LOAD_STORE), 0x0000_3004);
        check(GpuCommand::ClearFault, 0x0000_0007);
        let range = RangeFlush {
            mode: FlushMode::Clean,
            l2: true,
            load_store: true,
            other: false,
        };
        check(GpuCommand::FlushPaRange(range), 0x0000_6108);
    }

    #[test]
    fn other_words_are_no_command() {
        for word in [2, 9, 0x0000_0301, 0x0100_0101, 0x0000_0107, 0xFFFF_FFFF] {
            assert_eq!(GpuCommand::decode(word), None, "{word:#x}");
        }
    }
}
