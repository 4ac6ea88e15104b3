//! The microcontroller (MCU) that runs the firmware: start, stop, state.
//!
//! Facts: hardware/csf-mmio.md sections 11 and 16.5 to 16.7.

use crate::table::{fields, registers, values};

values! {
    /// What the host asks of the MCU (`MCU_CONTROL`).
    McuRequest {
        0 Disable "stop at once; groups are lost, shared memory is kept";
        1 Enable  "run";
        2 Auto    "run, and boot again after a fast reset: what hosts use";
    }
    /// What the MCU is doing (`MCU_STATUS`).
    McuState {
        0 Disabled "not running";
        1 Enabled  "running";
        2 Halted   "stopped in an orderly way by the firmware, or asleep";
        3 Fatal    "crashed: bad image, bad mapping, bus error, or a fault in address space 0";
    }
}

fields! {
    /// `MCU_CONTROL`.
    mcu_control {
        1:0 REQUEST:        McuRequest = "what the MCU is to do";
        31  DOORBELLS_HELD: bool       = "reads 1 while doorbells are held off because the MCU sleeps (V)";
    }
    /// `MCU_STATUS`.
    mcu_status {
        1:0 STATE: McuState = "what the MCU is doing";
    }
}

registers! {
    /// MCU control.
    block MCU Window 0x700 = "start, stop and state of the firmware's microcontroller";
    0x00 MCU_CONTROL 32 RW V10 Modelled mcu_control "starts and stops the MCU; needs address space 0 and a powered L2";
    0x04 MCU_STATUS  32 R  V10 Modelled mcu_status  "state of the MCU; halting has no other acknowledgement";
}
