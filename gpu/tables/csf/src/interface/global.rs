//! The global blocks: power, timers, ping, halt, and the doorbells of group slots.
//!
//! Facts: hardware/csf-firmware.md sections 8, 8.1 and 12.

use crate::table::{fields, registers, values};

values! {
    /// `GLB_REQ.STATE`, interface 4.1 and later.
    GlbState: Level {
        0 Active  "run";
        1 Halt    "stop in an orderly way";
        2 Sleep   "sleep until a doorbell";
        3 Suspend "suspend";
    }
    /// What a timer counts.
    TimerSource {
        0 Timestamp  "system timestamp";
        1 CycleCount "GPU cycle counter";
    }
}

/// `GLB_HALT_STATUS` after an orderly stop.
pub const HALT_STATUS_OK: u32 = 0;
/// `GLB_HALT_STATUS` after a panic of the firmware, by Linux's numbers; the vendor's are others, so print it raw.
pub const HALT_STATUS_PANIC: u32 = 0x4E;
/// `GLB_HALT_STATUS` after the firmware's watchdog has struck, by Linux's numbers.
pub const HALT_STATUS_WATCHDOG: u32 = 0x4F;

fields! {
    /// `GLB_REQ`, `GLB_ACK`, `GLB_ACK_IRQ_MASK`.
    glb_req {
        0     HALT:                   Level  = "interface before 4.1: stop in an orderly way; shown by MCU_STATUS, not by ACK";
        1     CFG_PROGRESS_TIMER:     Toggle = "take PROGRESS_TIMER";
        2     CFG_ALLOC_EN:           Toggle = "take ALLOC_EN";
        3     CFG_PWROFF_TIMER:       Toggle = "take PWROFF_TIMER";
        4     PROTM_ENTER:            Toggle = "enter protected mode";
        5     PRFCNT_ENABLE:          Level  = "performance counters on; mirrored in ACK";
        6     PRFCNT_SAMPLE:          Toggle = "take a sample";
        7     COUNTER_ENABLE:         Level  = "cycle counter and timestamp propagation on; mirrored in ACK";
        8     PING:                   Toggle = "answer only; in protected mode it forces an exit";
        9     FIRMWARE_CONFIG_UPDATE: Toggle = "read configuration items and trace pointers again";
        10    IDLE_ENABLE:            Level  = "idle events on; IDLE_TIMER is read when this becomes 1; mirrored in ACK";
        11    ITER_TRACE_ENABLE:      Level  = "iterator trace on, only with GLB_FEATURES b4; mirrored in ACK (V)";
        14:12 STATE:                  GlbState = "interface 4.1 and later: the state wanted; ACK shows the state reached";
        16    CFG_EVICTION_TIMER:     Toggle = "take EVICTION_TIMER (V)";
        20    INACTIVE_COMPUTE:       Event  = "the compute iterator went inactive";
        21    INACTIVE_FRAGMENT:      Event  = "the fragment iterator went inactive";
        22    INACTIVE_TILER:         Event  = "the tiler iterator went inactive";
        23    PROTM_EXIT:             Event  = "protected mode was left";
        24    PRFCNT_THRESHOLD:       Event  = "the sample ring is half full";
        25    PRFCNT_OVERFLOW:        Event  = "the sample ring is full and samples were lost";
        26    IDLE_EVENT:             Event  = "all groups have been idle for IDLE_TIMER";
        27    FATAL:                  Event  = "the firmware has failed (ACK only) (V)";
        30    DEBUG_CSF:              Event  = "debug request by the firmware (V)";
        31    DEBUG_HOST:             Toggle = "debug request by the host (V)";
        also
        12    SLEEP:                  Toggle = "interface before 4.1: sleep until a doorbell (V)";
    }
    /// A timer value: its unit is 1024 ticks of the source, unless a config word says "not scaled".
    timer {
        30:0 VALUE:  u32         = "1024 ticks of the source";
        31   SOURCE: TimerSource = "what is counted";
    }
    /// A word that configures a timer.
    timer_config {
        0 NOT_SCALED: bool = "the value counts single ticks";
        9 AUTO_SLEEP: bool = "IDLE_TIMER only: the firmware goes to sleep by itself";
    }
    /// `GLB_PRFCNT_JASID`.
    prfcnt_jasid {
        3:0 JASID: u32 = "address space of the counter buffer";
    }
    /// `GLB_PRFCNT_CONFIG`.
    prfcnt_config {
        7:0 SAMPLES: u32 = "samples in the ring";
        9:8 SET:     u32 = "which set of counters";
    }
    /// `GLB_PRFCNT_STATUS`.
    prfcnt_status {
        0 FAILED:    bool = "sampling failed";
        1 POWER_ON:  bool = "the sample is affected by a power-on";
        2 POWER_OFF: bool = "the sample is affected by a power-off";
        3 PROTECTED: bool = "the sample is affected by protected mode";
    }
    /// `GLB_DEBUG_REQ`, `GLB_DEBUG_ACK`.
    debug_req {
        4     WRITE: Toggle = "write a firmware address: DEBUG_ARG_IN 0 and 1";
        5     READ:  Toggle = "read a firmware address: DEBUG_ARG_IN 0, result in DEBUG_ARG_OUT 0";
        23    RUN:   Toggle = "run MODE";
        31:24 MODE:  u32    = "0 none, 1 core dump";
    }
}

registers! {
    /// Global input, written by the host.
    block GLB_INPUT Shared 0 = "global requests of the host";
    0x000 GLB_REQ                   32 RW V10 Modelled glb_req       "requests, and acknowledgements of events";
    0x004 GLB_ACK_IRQ_MASK          32 RW V10 Modelled glb_req       "which changes of GLB_ACK raise the global interrupt";
    0x008 GLB_DB_REQ                32 RW V10 Modelled -             "bit g: doorbell for group slot g, toggled against GLB_DB_ACK";
    0x010 GLB_PROGRESS_TIMER        32 RW V10 Modelled -             "GPU cycles / 1024 without progress before an event; 0 is off";
    0x014 GLB_PWROFF_TIMER          32 RW V10 Modelled timer         "delay before idle shader cores and tiler are powered off; 0 is never";
    0x018 GLB_ALLOC_EN              64 RW V10 Modelled -             "shader cores that may be given to groups";
    0x020 GLB_PROTM_COHERENCY       32 RW V10 Known    -             "COHERENCY_ENABLE while in protected mode";
    0x024 GLB_PRFCNT_JASID          32 RW V10 Modelled prfcnt_jasid  "address space of the counter buffer";
    0x028 GLB_PRFCNT_BASE           64 RW V10 Modelled -             "address of the counter buffer";
    0x030 GLB_PRFCNT_EXTRACT        32 RW V10 Modelled -             "samples that the host has taken";
    0x040 GLB_PRFCNT_CONFIG         32 RW V10 Modelled prfcnt_config "size of the ring, set of counters";
    0x044 GLB_PRFCNT_CSG_SELECT     32 RW V10 Known    -             "which groups are counted";
    0x048 GLB_PRFCNT_FW_EN          32 RW V10 Known    -             "firmware counters, 4 a bit";
    0x04C GLB_PRFCNT_CSG_EN         32 RW V10 Known    -             "group counters, 4 a bit";
    0x050 GLB_PRFCNT_CSF_EN         32 RW V10 Modelled -             "front-end counters, 4 a bit";
    0x054 GLB_PRFCNT_SHADER_EN      32 RW V10 Modelled -             "shader core counters, 4 a bit";
    0x058 GLB_PRFCNT_TILER_EN       32 RW V10 Modelled -             "tiler counters, 4 a bit";
    0x05C GLB_PRFCNT_MMU_L2_EN      32 RW V10 Modelled -             "MMU and L2 counters, 4 a bit";
    0x080 GLB_IDLE_TIMER            32 RW V10 Modelled timer         "how long all groups are idle before IDLE_EVENT; 0 is at once";
    0x084 GLB_IDLE_TIMER_CONFIG     32 RW V10 Known    timer_config  "unit of IDLE_TIMER (V)";
    0x088 GLB_PWROFF_TIMER_CONFIG   32 RW V10 Known    timer_config  "unit of PWROFF_TIMER (V)";
    0x090 GLB_EVICTION_TIMER        32 RW V10 Known    timer         "time for work to leave its cores (V)";
    0x094 GLB_EVICTION_TIMER_CONFIG 32 RW V10 Known    timer_config  "unit of EVICTION_TIMER (V)";
    0xFE0 GLB_DEBUG_ARG_IN  [4; 4]  32 RW V10 Known    -             "arguments of a debug request (V)";
    0xFF8 GLB_DEBUG_ACK_IRQ_MASK    32 RW V10 Known    debug_req     "which changes of GLB_DEBUG_ACK interrupt (V)";
    0xFFC GLB_DEBUG_REQ             32 RW V10 Known    debug_req     "debug requests (V)";
}

registers! {
    /// Global output, written by the firmware.
    block GLB_OUTPUT Shared 0 = "global answers of the firmware";
    0x000 GLB_ACK                   32 R V10 Modelled glb_req       "answers to GLB_REQ, and events";
    0x008 GLB_DB_ACK                32 R V10 Modelled -             "bit g: the doorbell of slot g was seen";
    0x010 GLB_HALT_STATUS           32 R V10 Modelled -             "why the MCU stopped; sources disagree about the numbers: print raw";
    0x014 GLB_PRFCNT_STATUS         32 R V10 Modelled prfcnt_status "state of sampling";
    0x018 GLB_PRFCNT_INSERT         32 R V10 Modelled -             "samples that the firmware has taken";
    0xFE0 GLB_DEBUG_ARG_OUT [4; 4]  32 R V10 Known    -             "results of a debug request (V)";
    0xFFC GLB_DEBUG_ACK             32 R V10 Known    debug_req     "answers to debug requests (V)";
}

/// `GLB_*_TIMER` for a time in microseconds on a source that runs at `hertz`; rounded up, at most the largest value.
pub fn timer_word(microseconds: u64, hertz: u64, source: TimerSource) -> u32 {
    const UNIT: u64 = 1_000_000 * 1024;
    // What is more than 64 bits is more than the field's largest value, too.
    let ticks = microseconds.saturating_mul(hertz);
    let value = ticks.div_ceil(UNIT).min(0x7FFF_FFFF) as u32;
    timer::SOURCE.set32(value, source)
}

/// The timer value for a source whose frequency is not known: the longest time.
pub fn timer_longest() -> u32 {
    timer::SOURCE.set32(0x7FFF_FFFF, TimerSource::CycleCount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timer_words_of_the_facts() {
        let system = |us| timer_word(us, 24_000_000, TimerSource::Timestamp);
        let cycles = |us| timer_word(us, 1_000_000_000, TimerSource::CycleCount);
        assert_eq!((system(800), system(10_000)), (19, 235));
        assert_eq!((cycles(800), cycles(10_000)), (0x8000_030E, 0x8000_2626));
        assert_eq!(
            timer_word(u64::MAX, u64::MAX, TimerSource::Timestamp),
            0x7FFF_FFFF
        );
    }
}
