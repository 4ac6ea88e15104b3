//! Commands, status and faults of the GPU as a whole; time; configuration that must stand before the L2 is on.
//!
//! Facts: hardware/csf-mmio.md sections 4, 6, 8 and 9.

use crate::command::gpu_command;
use crate::fault::fault_access::AccessKind;
use crate::table::{fields, registers, values};

values! {
    /// The bus protocol in `COHERENCY_ENABLE`.
    Coherency {
        0  AceLite "ACE-Lite: the GPU sees the CPU's caches";
        1  Ace     "full ACE (never usable on CSF parts)";
        31 None    "no coherency: caches are kept up by hand";
    }
}

fields! {
    /// `GPU_STATUS`.
    gpu_status {
        0 GPU_ACTIVE:       bool = "the GPU is active";
        1 POWER_ACTIVE:     bool = "the power manager is active";
        2 PRFCNT_ACTIVE:    bool = "performance counters are active (V)";
        4 PAGE_FAULT:       bool = "a page fault is outstanding";
        6 CYCLE_COUNT:      bool = "the cycle counter is active (V)";
        7 PROTECTED_MODE:   bool = "protected mode is active";
        8 DEBUG:            bool = "debugging is enabled";
    }
    /// `GPU_FAULTSTATUS`.
    gpu_faultstatus {
        7:0   EXCEPTION:     u32        = "exception code";
        9:8   ACCESS:        AccessKind = "what kind of access failed";
        10    ADDRESS_VALID: bool       = "GPU_FAULTADDRESS holds the address";
        11    JASID_VALID:   bool       = "JASID holds the address space";
        15:12 JASID:         u32        = "address space of the access";
        31:16 SOURCE:        u32        = "which unit: `fault::FaultSource` reads it (V)";
    }
    /// `L2_CONFIG`.
    l2_config {
        15:12 PBHA:       u32 = "page-based hardware attributes from the MMU (V)";
        23:16 CACHE_SIZE: u32 = "requested slice size, log2 bytes";
        31:24 HASH:       u32 = "requested hash function index";
        also
        24    ASN_HASH_ENABLE: bool = "v11 and later, parts with a custom hash: use ASN_HASH";
    }
    /// `COHERENCY_ENABLE`.
    coherency_enable {
        4:0 PROTOCOL:  Coherency = "protocol index (an index, not a bit of COHERENCY_FEATURES)";
        5   SHAREABLE: bool      = "shareable cache support, from 12.0.1 (V)";
    }
    /// `SHADER_PWRFEATURES`.
    shader_pwrfeatures {
        0 RAY_TRAVERSAL: bool = "power the ray traversal unit with the core";
    }
    /// `CSF_CONFIG`.
    csf_config {
        2 FORCE_COHERENCY: bool = "force the coherency features value";
    }
}

/// What unlocks `PWR_OVERRIDE0` and `PWR_OVERRIDE1` when written to `PWR_KEY`.
pub const PWR_KEY_UNLOCK: u32 = 0x2968_A819;

registers! {
    /// Commands, status, time and configuration.
    block GPU_CONTROL Window 0x000 = "commands, status, faults, time, configuration";
    0x030 GPU_COMMAND             32 W  V10 Modelled gpu_command        "starts a command: code in bits 7:0, payload above";
    0x034 GPU_STATUS              32 R  V10 Modelled gpu_status         "what the GPU is doing";
    0x03C GPU_FAULTSTATUS         32 R  V10 Modelled gpu_faultstatus    "the fault recorded; kept until CLEAR_FAULT";
    0x040 GPU_FAULTADDRESS        64 R  V10 Modelled -                  "address of the recorded fault";
    0x048 L2_CONFIG               32 RW V10 Modelled l2_config          "L2 configuration; lost by a reset, written before the L2 is on";
    0x050 PWR_KEY                 32 W  V10 Known    -                  "0x2968A819 unlocks the two below";
    0x054 PWR_OVERRIDE0           32 RW V10 Known    -                  "implementation specific: leave alone";
    0x058 PWR_OVERRIDE1           32 RW V10 Known    -                  "implementation specific: leave alone";
    0x088 TIMESTAMP_OFFSET        64 RW V10 Modelled -                  "added to the system counter to give TIMESTAMP";
    0x090 CYCLE_COUNT             64 R  V10 Modelled -                  "GPU clock cycles; runs only while enabled";
    0x098 TIMESTAMP               64 R  V10 Modelled -                  "system counter plus offset, at the rate of the CPU's generic timer";
    0x0D0 GPU_COMMAND_ARG0        64 RW V12 Modelled -                  "FLUSH_PA_RANGE: first physical address (V)";
    0x0D8 GPU_COMMAND_ARG1        64 RW V12 Modelled -                  "FLUSH_PA_RANGE: last physical address, inclusive (V)";
    0x188 SHADER_PWRFEATURES      32 RW V12 Known    shader_pwrfeatures "options for host-controlled shader power (V)";
    0x2C0 ASN_HASH [3; 4]         32 RW V11 Modelled -                  "L2 slice hash tables; lost by a reset, written before the L2 is on";
    0x304 COHERENCY_ENABLE        32 RW V10 Modelled coherency_enable   "bus protocol in use; reset value not published, written before each power-on of the L2; AMBA_ENABLE from 12.0.1";
    0x320 SYSC_PBHA_OVERRIDE [4; 4] 32 RW V11 Known  -                  "system-cache hints (V)";
    0x340 SYSC_ALLOC [8; 4]       32 RW V11 Known    -                  "system-cache allocation hints (V)";
    0xF00 CSF_CONFIG              32 RW V10 Known    csf_config         "command-stream front end tuning (V)";
    0xF04 SHADER_CONFIG           32 RW V10 Known    -                  "integration tuning; the reset value is right (V)";
    0xF08 TILER_CONFIG            32 RW V10 Known    -                  "integration tuning; the reset value is right (V)";
    0xF0C L2_MMU_CONFIG           32 RW V10 Known    -                  "integration tuning; the reset value is right (V)";
}
