//! Memory: registers from memory and back, and the stream's state into memory.
//!
//! Memory is packed: a hole in the mask skips a register, not a word.  Facts: hardware/command-stream.md 3.2.

#[rustfmt::skip]
macro_rules! memory { ($next:ident $($families:ident)* { $($rows:tt)* }) => { $next! { $($families)* { $($rows)*

    /// Loads up to 16 registers from consecutive 32-bit words; valid once the other slot has drained.
    LOAD_MULTIPLE LoadMultiple 0x14 ALL Memory Other {
        base_register: Reg[55:48]     "the register of mask bit 0"    .writes() .masked_by("mask");
        mask:          RegMask[31:16] "the registers to load";
        address;
        offset;
    } "LOAD_MULTIPLE {%regs}, {%mem}";

    /// Stores up to 16 registers into consecutive 32-bit words; they are read at issue, so the next instruction may write them.
    STORE_MULTIPLE StoreMultiple 0x15 ALL Memory Other {
        base_register: Reg[55:48]     "the register of mask bit 0"    .reads() .masked_by("mask");
        mask:          RegMask[31:16] "the registers to store";
        address;
        offset;
    } "STORE_MULTIPLE {%mem}, {%regs}";

    /// Writes a 64-bit value of the stream or the GPU to memory.
    STORE_STATE StoreState 0x28 ALL Memory Deferrable {
        state:         StoredState[33:32 V10, 39:32 FROM_V11] "the value to store";
        address;
        offset;
        wait_mask;
        signal_slot;
        defer_mode;
    } "STORE_STATE.{state}<.{defer_mode}> d{address}, #{offset}, #{wait_mask:x}, #{signal_slot}";

} } } }
pub(crate) use memory;
