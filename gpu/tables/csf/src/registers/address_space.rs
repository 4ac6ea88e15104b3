//! The sixteen address spaces of the MMU: where tables lie, how they are walked, commands, faults.
//!
//! `TRANSTAB`, `MEMATTR` and `TRANSCFG` take effect at the UPDATE command, not when written.
//! Facts: hardware/gpu-mmu.md sections 2 to 5 and 8.

use crate::command::AsCommand;
use crate::fault::fault_access::AccessKind;
use crate::table::{fields, registers, values};

values! {
    /// How an address space translates (`AS_TRANSCFG` bits 3:0).
    TranslationMode {
        1 Unmapped   "every access faults";
        2 Identity   "virtual is physical (deprecated)";
        6 Aarch64K4  "AArch64 stage 1 tables, 4 KiB granule";
        8 Aarch64K64 "AArch64 stage 1 tables, 64 KiB granule";
    }
    /// Memory type of table walks.
    WalkMemory {
        0 Invalid      "not valid for use";
        1 NonCacheable "walks bypass caches";
        2 WriteBack    "walks use write-back caches";
    }
    /// Shareability of table walks.
    WalkShareability {
        0 None  "not shareable";
        2 Outer "outer shareable";
        3 Inner "inner shareable";
    }
    /// Memory type of an attribute byte.
    MemoryType {
        0 Shared       "shared";
        1 NonCacheable "non-cacheable";
        2 WriteBack    "write-back";
        3 Fault        "any access gives MEMORY_ATTRIBUTE_FAULT";
    }
    /// Coherency of an attribute byte.
    MemoryCoherency {
        0 GpuInner       "inner shareable means inside the GPU; system coherency through outer";
        1 CpuInner       "inner shareable means the CPU's inner domain";
        2 CpuInnerShader "as CpuInner, plus shader coherency";
    }
    /// Allocation policy of an attribute byte.
    AllocationPolicy {
        2 Implementation "implementation's choice; the allocate bits are ignored";
        3 AsBits         "as the allocate bits say";
    }
}

fields! {
    /// `AS_TRANSCFG`.
    transcfg {
        3:0   MODE:                 TranslationMode  = "how to translate";
        10:6  INPUT_SIZE:           u32              = "55 minus the bits of a virtual address: 7 is 48 bits; 0 is not valid";
        18:14 OUTPUT_SIZE:          u32              = "limit of the output size; 0 is none";
        22    CONCATENATED:         bool             = "concatenated start tables";
        25:24 WALK_MEMORY:          WalkMemory       = "memory type of walks";
        29:28 WALK_SHAREABILITY:    WalkShareability = "shareability of walks";
        30    WALK_READ_ALLOCATE:   bool             = "walks allocate in caches on reads";
        33    IGNORE_HIERARCHICAL:  bool             = "ignore permissions in table entries";
        34    NO_ACCESS_FLAG_FAULT: bool             = "no faults from a clear access flag";
        35    WRITE_IMPLIES_XN:     bool             = "writable implies never executable";
        36    READ_IMPLIES_EXECUTE: bool             = "readable implies executable";
        63:60 PBHA:                 u32              = "page-based hardware attributes for walks";
    }
    /// One byte of `AS_MEMATTR`: the attributes for one attribute index.
    memattr_byte {
        0   WRITE_ALLOCATE: bool             = "allocate on write";
        1   READ_ALLOCATE:  bool             = "allocate on read";
        3:2 POLICY:         AllocationPolicy = "allocation policy";
        5:4 COHERENCY:      MemoryCoherency  = "coherency";
        7:6 TYPE:           MemoryType       = "memory type";
    }
    /// `AS_MEMATTR`: a byte an attribute index, each laid out as [`memattr_byte`].
    memattr {
        7:0   INDEX_0: u32 = "attributes for index 0";
        15:8  INDEX_1: u32 = "attributes for index 1";
        23:16 INDEX_2: u32 = "attributes for index 2";
        31:24 INDEX_3: u32 = "attributes for index 3";
        39:32 INDEX_4: u32 = "attributes for index 4";
        47:40 INDEX_5: u32 = "attributes for index 5";
        55:48 INDEX_6: u32 = "attributes for index 6";
        63:56 INDEX_7: u32 = "attributes for index 7";
    }
    /// `AS_LOCKADDR`.
    lockaddr {
        5:0   SIZE: u32 = "log2 of the region's bytes, minus one; smallest 14 (32 KiB) on v10 and v11";
        63:12 BASE: u64 = "address of the region / 4096; bits below its size are ignored";
        also
        9:6   SKIP_LEVELS: u32 = "newer vendor headers: table levels to skip in a flush; leave 0 (V)";
    }
    /// `AS_COMMAND`.
    as_command {
        7:0 COMMAND: AsCommand = "what to do";
    }
    /// `AS_FAULTSTATUS`.
    as_faultstatus {
        7:0   EXCEPTION:    u32        = "exception code";
        9:8   ACCESS:       AccessKind = "what kind of access failed";
        10    DECODE_FAULT: bool       = "decode fault rather than slave fault (undocumented)";
        31:16 SOURCE:       u32        = "which unit: `fault::FaultSource` reads it (V)";
    }
    /// `AS_STATUS`.
    as_status {
        0 ACTIVE:   bool = "a command is in progress";
        1 INTERNAL: bool = "internal activity";
    }
}

registers! {
    /// Address spaces.
    block ADDRESS_SPACE Window 0x2400 = "sixteen address spaces; 0 is the firmware's";
    0x00 AS_TRANSTAB     [16; 0x40] 64 RW V10 Modelled -              "physical address of the root table, 16-byte aligned at least";
    0x08 AS_MEMATTR      [16; 0x40] 64 RW V10 Modelled memattr        "eight attribute bytes, chosen by an entry's attribute index";
    0x10 AS_LOCKADDR     [16; 0x40] 64 RW V10 Modelled lockaddr       "region for LOCK";
    0x18 AS_COMMAND      [16; 0x40] 32 W  V10 Modelled as_command     "starts a command; AS_STATUS must be idle";
    0x1C AS_FAULTSTATUS  [16; 0x40] 32 R  V10 Modelled as_faultstatus "the first fault since the interrupt bit was cleared";
    0x20 AS_FAULTADDRESS [16; 0x40] 64 R  V10 Modelled -              "virtual address of the fault";
    0x28 AS_STATUS       [16; 0x40] 32 R  V10 Modelled as_status      "whether a command is in progress";
    0x30 AS_TRANSCFG     [16; 0x40] 64 RW V10 Modelled transcfg       "how to translate";
    0x38 AS_FAULTEXTRA   [16; 0x40] 64 R  V10 Known    -              "further data of the fault, undocumented";
}
