//! What the GPU is: identification, features, and which units exist. All constants.
//!
//! Readable as soon as the clocks run: no reset and no power is needed.
//! Facts: hardware/csf-mmio.md sections 4 and 5.

use crate::table::{fields, registers};

fields! {
    /// `GPU_ID`.
    gpu_id {
        3:0   STATUS:         u32 = "release status";
        11:4  VERSION_MINOR:  u32 = "minor revision: the p of rNpM";
        15:12 VERSION_MAJOR:  u32 = "major revision: the r of rNpM";
        19:16 PRODUCT:        u32 = "product within the architecture";
        23:20 ARCH_PATCH:     u32 = "architecture, patch";
        27:24 ARCH_MINOR:     u32 = "architecture, minor: selects the firmware image";
        31:28 ARCH_MAJOR:     u32 = "architecture, major";
    }
    /// `L2_FEATURES`.
    l2_features {
        7:0   LINE_SIZE:     u32 = "log2 of the bytes in a cache line";
        15:8  ASSOCIATIVITY: u32 = "log2 of the number of ways";
        23:16 CACHE_SIZE:    u32 = "log2 of the bytes in one slice";
        31:24 BUS_WIDTH:     u32 = "log2 of the bits of the external bus";
    }
    /// `CORE_FEATURES`.
    core_features {
        7:0 VARIANT: u32 = "shader core variant; expect 0 before 10.10";
    }
    /// `TILER_FEATURES`.
    tiler_features {
        5:0  BIN_SIZE:   u32 = "log2 of the bin size";
        11:8 MAX_LEVELS: u32 = "most hierarchy levels active at once";
    }
    /// `MEM_FEATURES`.
    mem_features {
        0    COHERENT_CORE_GROUP:  bool = "core group is coherent";
        1    COHERENT_SUPER_GROUP: bool = "super-group is coherent";
        11:8 L2_SLICES_MINUS_1:    u32  = "number of L2 slices, minus one";
    }
    /// `MMU_FEATURES`.
    mmu_features {
        7:0  VA_BITS: u32 = "bits of a virtual address";
        15:8 PA_BITS: u32 = "bits of a physical address";
    }
    /// `CSF_ID`.
    csf_id {
        3:0   MCU_REVISION:  u32 = "microcontroller, revision";
        9:4   MCU_MINOR:     u32 = "microcontroller, minor";
        15:10 MCU_MAJOR:     u32 = "microcontroller, major";
        19:16 CSHW_REVISION: u32 = "command-stream hardware, revision";
        25:20 CSHW_MINOR:    u32 = "command-stream hardware, minor";
        31:26 CSHW_MAJOR:    u32 = "command-stream hardware, major";
    }
    /// `GPU_FEATURES`.
    gpu_features {
        2 RAY_INTERSECTION: bool = "ray intersection in shaders";
        3 SHARED_SCOREBOARDS: bool = "shared scoreboard entries: SHARED_SB_INC and SHARED_SB_DEC";
        4 NEURAL:           bool = "neural engine (V)";
        5 RAY_TRAVERSAL:    bool = "ray traversal unit (RTU)";
    }
    /// `PRFCNT_FEATURES`.
    prfcnt_features {
        7:0 BLOCK_SIZE: u32 = "size of a counter block, in units of 256 bytes";
    }
    /// `THREAD_FEATURES`.
    thread_features {
        21:0  REGISTERS:  u32 = "registers per core";
        23:22 TECHNOLOGY: u32 = "implementation technology";
        31:24 TASK_QUEUE: u32 = "compute tasks that may queue";
    }
    /// `COHERENCY_FEATURES`.
    coherency_features {
        0 ACE_LITE:  bool = "can speak ACE-Lite";
        1 ACE:       bool = "can speak ACE (never usable on CSF parts)";
        5 SHAREABLE: bool = "shareable cache support, from 12.0.1 (V)";
    }
}

registers! {
    /// Identification and features.
    block GPU_IDENTITY Window 0x000 = "what the GPU is: constants, readable before reset and power-up";
    0x000 GPU_ID                    32 C V10 Modelled gpu_id             "architecture, product and revision; 0 means there is no GPU";
    0x004 L2_FEATURES               32 C V10 Modelled l2_features        "level-2 cache: line, ways, slice, bus";
    0x008 CORE_FEATURES             32 C V10 Modelled core_features      "shader core variant";
    0x00C TILER_FEATURES            32 C V10 Modelled tiler_features     "tiler: bin size, hierarchy levels";
    0x010 MEM_FEATURES              32 C V10 Modelled mem_features       "coherency inside the GPU, number of L2 slices";
    0x014 MMU_FEATURES              32 C V10 Modelled mmu_features       "address widths";
    0x018 AS_PRESENT                32 C V10 Modelled -                  "bit n: address space n exists";
    0x01C CSF_ID                    32 C V10 Modelled csf_id             "versions of the microcontroller and the command-stream hardware";
    0x060 GPU_FEATURES              64 C V11 Modelled gpu_features       "optional units; reads as 0 on v10";
    0x068 PRFCNT_FEATURES           32 C V11 Modelled prfcnt_features    "performance counter block size; v10 has 256 bytes (V)";
    0x0A0 THREAD_MAX_THREADS        32 C V10 Modelled -                  "threads per core";
    0x0A4 THREAD_MAX_WORKGROUP_SIZE 32 C V10 Modelled -                  "threads per workgroup";
    0x0A8 THREAD_MAX_BARRIER_SIZE   32 C V10 Modelled -                  "threads that may meet at a barrier";
    0x0AC THREAD_FEATURES           32 C V10 Modelled thread_features    "registers per core, queued tasks";
    0x0B0 TEXTURE_FEATURES [4; 4]   32 C V10 Modelled -                  "a bit per compressed texture format";
    0x0C0 DOORBELL_FEATURES         32 C V11 Known    -                  "contents not established (V) (?)";
    0x100 SHADER_PRESENT            64 C V10 Modelled -                  "a bit per shader core; may have holes, may be narrowed by a fuse of the SoC";
    0x110 TILER_PRESENT             64 C V10 Modelled -                  "a bit per tiler";
    0x120 L2_PRESENT                64 C V10 Modelled -                  "a bit per L2 cache";
    0x280 REVIDR                    32 C V10 Modelled -                  "implementation revision";
    0x300 COHERENCY_FEATURES        32 C V10 Modelled coherency_features "bus protocols the GPU can speak; AMBA_FEATURES from 12.0.1";
    0x310 THREAD_TLS_ALLOC          32 C V10 Known    -                  "threads per core to size thread-local storage for; 0: use THREAD_MAX_THREADS (V)";
    0x708 MCU_FEATURES              32 C V12 Known    -                  "contents not established (V) (?)";
    0xE00 STACK_PRESENT             64 C V10 Known    -                  "a bit per core stack; 0 where the domain is absent (V)";
}
