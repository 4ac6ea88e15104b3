//! Scoreboards: waits, slot selection, stream state, shared slots.
//!
//! Facts: hardware/command-stream.md 3.4.

#[rustfmt::skip]
macro_rules! scoreboard { ($next:ident $($families:ident)* { $($rows:tt)* }) => { $next! { $($families)* { $($rows)*

    /// Blocks until every slot of the mask has drained.
    WAIT Wait 0x03 ALL Scoreboard Blocking {
        wait_mask:      SlotMask[23:16 V10, 31:16 FROM_V11] "the slots to wait for";
        progress_increment;
        wait_mode:      WaitMode[33 FROM_V11]               "whether the mask comes from here or from the stream's state";
    } "WAIT #{wait_mask:x}" .text24("WAIT{progress_increment?.progress_inc} {%wait_list}");

    /// Selects the slots of jobs and of loads and stores, both at once.
    SET_SB_ENTRY SetSbEntry 0x17 ALL Scoreboard Inline {
        endpoint_entry: Slot[3:0] "where jobs count";
        other_entry:    Slot[7:4] "where loads and stores count";
    } "SET_SB_ENTRY #{endpoint_entry}, #{other_entry}";

    /// Picks a drained slot of SB_MASK_STREAM, and blocks until there is one.
    NEXT_SB_ENTRY NextSbEntry 0x1a FROM_V11 Scoreboard Blocking {
        destination:    Reg[55:48]           "the slot"                          .writes();
        sb_type:        SlotSelection[35:32] "the selection that becomes the slot";
        format:         SlotFormat[36]       "how the slot is written";
    } "NEXT_SB_ENTRY.{sb_type}.{format} r{destination}";

    /// Sets an item of the stream's state from a register.
    SET_STATE SetState 0x1b FROM_V11 Scoreboard Inline {
        state:          StreamState[39:32]   "the item";
        source:         Reg[47:40]           "its value"                         .reads();
    } "SET_STATE.{state} r{source}";

    /// Sets an item of the stream's state to a constant.
    SET_STATE_IMM32 SetStateImm32 0x1c FROM_V11 Scoreboard Inline {
        state:          StreamState[39:32]   "the item";
        value:          u32[31:0]            "its value";
    } "SET_STATE_IMM32.{state} #{value}";

    /// Adds 1 to one of the 16 counters that the streams of a group share, when the slots of the mask have drained.
    SHARED_SB_INC SharedSbInc 0x1e FROM_V11 Scoreboard DeferrableShared {
        sb_mask:        SlotMask[31:16]      "slots that must drain before; none: at once";
        shared_entry:   u8[51:48]            "the shared counter";
        progress_increment;
        defer_mode;
    } "SHARED_SB_INC.{defer_mode} #{sb_mask}, #{shared_entry}";

    /// Blocks until a counter that the streams of a group share is not 0, then takes 1 from it: the wait for SHARED_SB_INC.
    SHARED_SB_DEC SharedSbDec 0x1f FROM_V11 Scoreboard Blocking {
        shared_entry:   u8[51:48]            "the shared counter";
        progress_increment;
    } "SHARED_SB_DEC #{shared_entry}";

} } } }
pub(crate) use scoreboard;
