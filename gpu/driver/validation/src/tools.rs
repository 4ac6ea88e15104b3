//! Tools: shaders that tests of memory, queues and counters use, each for several.
//!
//! u0 and u1 hold the buffer's address, u2 to u5 what each says.  Facts: hardware/valhall-isa.md 6, 11 (11.4 to 11.6: texels).

use crate::programs::{ImageUse, NoProgram, Source};
use alloc::vec::Vec;
use eitri_csf::Arch;

/// A shader that tests share.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) source: Source<'static>,
}

const fn tool(name: &'static str, text: &'static str) -> Tool {
    Tool {
        name,
        source: Source::new(text),
    }
}

/// Stores u5 plus its number at u2:u3 plus its number times u4.
pub(crate) const STORE_AT: &str = "store-at";
/// Loads from u2:u3 plus its number times u4, and stores that to its word of the buffer.
pub(crate) const LOAD_AT: &str = "load-at";
/// Goes on at u2:u3.
pub(crate) const JUMP_TO: &str = "jump-to";
/// Copies 16 bytes of each thread from the buffer to u2 bytes behind.
pub(crate) const COPY: &str = "copy";
/// One thread follows offsets in the buffer from u2 on, u4 times, and stores where it is to u3.
pub(crate) const CHASE: &str = "chase";
/// Doubles its word and adds u2.
pub(crate) const DOUBLE_ADD: &str = "double-add";
/// Stores its word over and over, and never ends.
pub(crate) const FOREVER: &str = "forever";
/// Stores u2 plus its number as a texel of the image with the handle u3, by row of 16: by the load/store unit.
pub(crate) const STORE_TEXEL: &str = "store-texel";
/// Fetches that texel, by the texture unit, and stores it to its word of the buffer.
pub(crate) const FETCH_TEXEL: &str = "fetch-texel";

/// The program of one of them.
///
/// # Errors
/// When the architecture has no such instructions, or there is no tool of that name.
pub(crate) fn build(name: &'static str, arch: Arch) -> Result<Vec<u8>, NoProgram> {
    let found = ALL.iter().find(|tool| tool.name == name);
    let found = found.ok_or_else(|| NoProgram(name.into()))?;
    found.source.build(arch)
}

/// All of them.
pub(crate) static ALL: &[Tool] = &[
    tool(
        STORE_AT,
        "IMUL.i32 r5, r60, u4
         IADD.u32 r6, r5, u2
         MOV.i32 r7, u3
         IADD.u32 r4, r60, u5
         STORE.i32.slot0 @r4, r6, offset:0
         NOP.wait0
         NOP.end",
    ),
    tool(
        LOAD_AT,
        "IMUL.i32 r5, r60, u4
         IADD.u32 r6, r5, u2
         MOV.i32 r7, u3
         LOAD.i32.unsigned.slot0.w0 @r4, r6, offset:0
         SHADDX.u64 r0, u0, r60.w0, shift:0x2
         NOP.wait0
         STORE.i32.slot0 @r4, r0, offset:0
         NOP.wait0
         NOP.end",
    ),
    tool(
        JUMP_TO,
        "MOV.i32 r4, u2
         BRANCHZI.eq.absolute 0x0, r4
         NOP.end",
    ),
    Tool {
        name: COPY,
        source: Source {
            threads: 64,
            ..Source::new(
                "SHADDX.u64 r0, u0, r60.w0, shift:0x4
                 LOAD.i128.unsigned.slot0 @r4:r5:r6:r7, r0, offset:0
                 SHADDX.u64 r2, r0, u2.w0, shift:0x0
                 NOP.wait0
                 STORE.i128.slot0 @r4:r5:r6:r7, r2, offset:0
                 NOP.wait0
                 NOP.end",
            )
        },
    },
    Tool {
        name: CHASE,
        source: Source {
            threads: 1,
            ..Source::new(
                "MOV.i32 r4, u2
                 MOV.i32 r5, u4
                 next:
                 SHADDX.u64 r6, u0, r4.w0, shift:0x0
                 LOAD.i32.unsigned.slot0.w0 @r4, r6, offset:0
                 IADD_IMM.i32 r5, r5, #0xFFFFFFFF
                 NOP.wait0
                 BRANCHZ.reconverge r5, offset:next
                 MOV.i32 r8, u3
                 SHADDX.u64 r6, u0, r8.w0, shift:0x0
                 STORE.i32.slot0 @r4, r6, offset:0
                 NOP.wait0
                 NOP.end",
            )
        },
    },
    tool(
        DOUBLE_ADD,
        "SHADDX.u64 r0, u0, r60.w0, shift:0x2
         LOAD.i32.unsigned.slot0.w0 @r4, r0, offset:0
         NOP.wait0
         IADD.u32 r4, r4, r4
         IADD.u32 r4, r4, u2
         STORE.i32.slot0 @r4, r0, offset:0
         NOP.wait0
         NOP.end",
    ),
    tool(
        FOREVER,
        "SHADDX.u64 r0, u0, r60.w0, shift:0x2
         again:
         STORE.i32.slot0 @r60, r0, offset:0
         NOP.wait0
         BRANCHZ.eq.reconverge 0x0, offset:again
         NOP.end",
    ),
    Tool {
        name: STORE_TEXEL,
        source: Source {
            image: Some(ImageUse::Stored),
            ..Source::new(
                "MOV.i32 r4, lane_id.w0
                 IADD_IMM.i32 r5, 0x0, #16
                 LSHIFT_OR.i32 r4, r57, r5.b00, r4
                 MOV.i32 r6, u3
                 IADD.u32 r8, r60, u2
                 LEA_TEX.slot0.wait0 @r12:r13:r14, r4, 0x0, r6
                 ST_CVT.auto.slot0 @r8, r12, r14, offset:0x0
                 NOP.wait0
                 NOP.end",
            )
        },
    },
    Tool {
        name: FETCH_TEXEL,
        source: Source {
            image: Some(ImageUse::Fetched),
            ..Source::new(
                "MOV.i32 r4, lane_id.w0
                 MOV.i32 r5, r57
                 MOV.i32 r6, 0x0
                 MOV.i32 r7, u3
                 TEX_FETCH.slot0.reserved.32.r.2d.wide_indices @r8, @r4:r5, r6
                 SHADDX.u64 r0, u0, r60.w0, shift:0x2
                 NOP.wait0
                 STORE.i32.slot0 @r8, r0, offset:0
                 NOP.wait0
                 NOP.end",
            )
        },
    },
];
