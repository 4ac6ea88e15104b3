//! Pages that no driver needs: command-stream hardware for post-mortem reads, counters for power models.
//!
//! Facts: hardware/csf-mmio.md section 14. All (V); most contents are undocumented.

use crate::table::{fields, registers};

fields! {
    /// `CSHW_FEATURES`.
    cshw_features {
        5:0 INTERFACES: u32 = "number of hardware stream interfaces";
    }
    /// `CSHWIF_CONFIG`.
    cshwif_config {
        3:0 JASID: u32 = "address space of the stream";
    }
}

registers! {
    /// Command-stream hardware.
    block CSHW Window 0x30000 = "command-stream hardware, read after a crash; three iterators, up to four stream interfaces (v10 to v12)";
    0x0004 CSHW_FEATURES                    32 R V10 Known cshw_features "how many stream interfaces there are";
    0x1000 ITERATOR_CONTROL      [3; 0x1000] 32 R V10 Known -            "compute, fragment, tiler iterator: control";
    0x1004 ITERATOR_STATUS       [3; 0x1000] 32 R V10 Known -            "iterator: status";
    0x1008 ITERATOR_JASID        [3; 0x1000] 32 R V10 Known -            "iterator: address space";
    0x10A0 ITERATOR_BLOCKED_SB   [3; 0x1000] 32 R V10 Known -            "iterator: blocked scoreboard entry";
    0x10A4 ITERATOR_EP_EVENT     [3; 0x1000] 32 R V10 Known -            "iterator: endpoint event status";
    0x10D0 ITERATOR_IRQ_RAWSTAT  [3; 0x1000] 32 R V10 Known -            "iterator: latched interrupt sources";
    0x10DC ITERATOR_IRQ_STATUS   [3; 0x1000] 32 R V10 Known -            "iterator: interrupt status";
    0x10E0 ITERATOR_FAULTSTATUS  [3; 0x1000] 32 R V10 Known -            "iterator: fault status";
    0x10E8 ITERATOR_FAULTADDRESS [3; 0x1000] 64 R V10 Known -            "iterator: fault address";
    0x4000 CSHWIF_CMD_PTR        [4; 0x100]  64 R V10 Known -            "stream interface: command pointer";
    0x4008 CSHWIF_CMD_END        [4; 0x100]  64 R V10 Known -            "stream interface: end of commands";
    0x4024 CSHWIF_STATUS         [4; 0x100]  32 R V10 Known -            "stream interface: status";
    0x4028 CSHWIF_ITER_COMPUTE   [4; 0x100]  32 R V10 Known -            "stream interface: compute iterator";
    0x402C CSHWIF_ITER_FRAGMENT  [4; 0x100]  32 R V10 Known -            "stream interface: fragment iterator";
    0x4030 CSHWIF_ITER_TILER     [4; 0x100]  32 R V10 Known -            "stream interface: tiler iterator";
    0x4034 CSHWIF_CONFIG         [4; 0x100]  32 R V10 Known cshwif_config "stream interface: configuration";
    0x4060 CSHWIF_EMULATED       [4; 0x100]  64 R V10 Known -            "stream interface: instruction that firmware emulates";
    0x4074 CSHWIF_WAIT_STATUS    [4; 0x100]  32 R V10 Known -            "stream interface: what it waits for";
    0x4078 CSHWIF_SB_SET_SELECT  [4; 0x100]  32 R V10 Known -            "stream interface: scoreboard set";
    0x407C CSHWIF_SB_SELECT      [4; 0x100]  32 R V10 Known -            "stream interface: scoreboard";
    0x4080 CSHWIF_CMD_COUNTER    [4; 0x100]  32 R V10 Known -            "stream interface: command counter";
    0x4098 CSHWIF_EVENT_RAWSTAT  [4; 0x100]  32 R V10 Known -            "stream interface: latched events";
    0x40A4 CSHWIF_EVENT_IRQ      [4; 0x100]  32 R V10 Known -            "stream interface: event interrupt status";
    0x40AC CSHWIF_EVENT_HALT     [4; 0x100]  32 R V10 Known -            "stream interface: event halt status";
    0x40B0 CSHWIF_FAULTSTATUS    [4; 0x100]  32 R V10 Known -            "stream interface: fault status";
    0x40B8 CSHWIF_FAULTADDRESS   [4; 0x100]  64 R V10 Known -            "stream interface: fault address";
}

registers! {
    /// Counters for power models.
    block IPA_CONTROL Window 0x40000 = "counters for power models; not needed for operation";
    0x000 IPA_COMMAND            32 W  V10 Known - "starts a command";
    0x004 IPA_STATUS             32 R  V10 Known - "status";
    0x008 IPA_TIMER              32 RW V10 Known - "sampling period";
    0x010 IPA_SELECT_CSHW        64 RW V10 Known - "which counters, 8 of 8 bits: command-stream hardware";
    0x018 IPA_SELECT_MEMSYS      64 RW V10 Known - "which counters, 8 of 8 bits: memory system";
    0x020 IPA_SELECT_TILER       64 RW V10 Known - "which counters, 8 of 8 bits: tiler";
    0x028 IPA_SELECT_SHADER      64 RW V10 Known - "which counters, 8 of 8 bits: shader cores";
    0x100 IPA_VALUE_CSHW [8; 8]   64 R V10 Known - "counter values: command-stream hardware";
    0x140 IPA_VALUE_MEMSYS [8; 8] 64 R V10 Known - "counter values: memory system";
    0x180 IPA_VALUE_TILER [8; 8]  64 R V10 Known - "counter values: tiler";
    0x1C0 IPA_VALUE_SHADER [8; 8] 64 R V10 Known - "counter values: shader cores";
}
