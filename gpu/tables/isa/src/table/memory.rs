//! Rows: loads, stores, buffers, conversions in memory, counters.
//!
//! Facts: hardware/valhall-isa.md sections 11.2 to 11.4, 11.6 and 11.12.

#[rustfmt::skip]
macro_rules! memory {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest
            //instruction name             26            op    secondary    unit kind    type archs  dest staging         sources         immediates              modifiers
            LdBufferI8    "LD_BUFFER.i8"   "LD_PKA.i8"   0x06a [width(0x0)] Ls   Load    I8   ALL    None [W_MEMORY12]    [A32, B32]      []                      [ACCESS_NOT26, LOAD_LANE_8, UNSIGNED, SLOT];
            LdBufferI16   "LD_BUFFER.i16"  "LD_PKA.i16"  0x06a [width(0x1)] Ls   Load    I16  ALL    None [W_MEMORY12]    [A32, B32]      []                      [ACCESS_NOT26, LOAD_LANE_16, UNSIGNED, SLOT];
            LdBufferI24   "LD_BUFFER.i24"  "LD_PKA.i24"  0x06a [width(0x2)] Ls   Load    I24  ALL    None [W_MEMORY1]     [A32, B32]      []                      [ACCESS_NOT26, LOAD_LANE_24, UNSIGNED_SET, SLOT];
            LdBufferI32   "LD_BUFFER.i32"  "LD_PKA.i32"  0x06a [width(0x3)] Ls   Load    I32  ALL    None [W_MEMORY12]    [A32, B32]      []                      [ACCESS_NOT26, LOAD_LANE_32, UNSIGNED, SLOT];
            LdBufferI48   "LD_BUFFER.i48"  "LD_PKA.i48"  0x06a [width(0x4)] Ls   Load    I48  ALL    None [W_MEMORY2]     [A32, B32]      []                      [ACCESS_NOT26, LOAD_LANE_48, UNSIGNED_SET, SLOT];
            LdBufferI64   "LD_BUFFER.i64"  "LD_PKA.i64"  0x06a [width(0x5)] Ls   Load    I64  ALL    None [W_MEMORY2]     [A32, B32]      []                      [ACCESS_NOT26, LOAD_LANE_64, UNSIGNED_SET, SLOT];
            LdBufferI96   "LD_BUFFER.i96"  "LD_PKA.i96"  0x06a [width(0x6)] Ls   Load    I96  ALL    None [W_MEMORY3]     [A32, B32]      []                      [ACCESS_NOT26, LOAD_LANE_96, UNSIGNED_SET, SLOT];
            LdBufferI128  "LD_BUFFER.i128" "LD_PKA.i128" 0x06a [width(0x7)] Ls   Load    I128 ALL    None [W_MEMORY4]     [A32, B32]      []                      [ACCESS_NOT26, LOAD_LANE_128, UNSIGNED_SET, SLOT];
            LeaBufImm     "LEA_BUF_IMM"    =             0x05e []           Ls   Address I32  ALL    None [W2]            [A32]           [TABLE_AT8, INDEX_AT12] [SLOT];
            LoadI8        "LOAD.i8"        =             0x060 [width(0x0)] Ls   Load    I8   ALL    None [W_MEMORY12]    [A64]           [OFFSET16]              [ACCESS, LOAD_LANE_8, UNSIGNED, SLOT];
            LoadI16       "LOAD.i16"       =             0x060 [width(0x1)] Ls   Load    I16  ALL    None [W_MEMORY12]    [A64]           [OFFSET16]              [ACCESS, LOAD_LANE_16, UNSIGNED, SLOT];
            LoadI24       "LOAD.i24"       =             0x060 [width(0x2)] Ls   Load    I24  ALL    None [W_MEMORY1]     [A64]           [OFFSET16]              [ACCESS, LOAD_LANE_24, UNSIGNED_SET, SLOT];
            LoadI32       "LOAD.i32"       =             0x060 [width(0x3)] Ls   Load    I32  ALL    None [W_MEMORY12]    [A64]           [OFFSET16]              [ACCESS, LOAD_LANE_32, UNSIGNED, SLOT];
            LoadI48       "LOAD.i48"       =             0x060 [width(0x4)] Ls   Load    I48  ALL    None [W_MEMORY2]     [A64]           [OFFSET16]              [ACCESS, LOAD_LANE_48, UNSIGNED_SET, SLOT];
            LoadI64       "LOAD.i64"       =             0x060 [width(0x5)] Ls   Load    I64  ALL    None [W_MEMORY2]     [A64]           [OFFSET16]              [ACCESS, LOAD_LANE_64, UNSIGNED_SET, SLOT];
            LoadI96       "LOAD.i96"       =             0x060 [width(0x6)] Ls   Load    I96  ALL    None [W_MEMORY3]     [A64]           [OFFSET16]              [ACCESS, LOAD_LANE_96, UNSIGNED_SET, SLOT];
            LoadI128      "LOAD.i128"      =             0x060 [width(0x7)] Ls   Load    I128 ALL    None [W_MEMORY4]     [A64]           [OFFSET16]              [ACCESS, LOAD_LANE_128, UNSIGNED_SET, SLOT];
            StoreI8       "STORE.i8"       =             0x061 [width(0x0)] Ls   Store   I8   ALL    None [R_MEMORY1]     [A64]           [OFFSET16]              [ACCESS, STORE_LANE_8, SLOT];
            StoreI16      "STORE.i16"      =             0x061 [width(0x1)] Ls   Store   I16  ALL    None [R_MEMORY1]     [A64]           [OFFSET16]              [ACCESS, STORE_LANE_16, SLOT];
            StoreI24      "STORE.i24"      =             0x061 [width(0x2)] Ls   Store   I24  ALL    None [R_MEMORY1]     [A64]           [OFFSET16]              [ACCESS, SLOT];
            StoreI32      "STORE.i32"      =             0x061 [width(0x3)] Ls   Store   I32  ALL    None [R_MEMORY1]     [A64]           [OFFSET16]              [ACCESS, SLOT];
            StoreI48      "STORE.i48"      =             0x061 [width(0x4)] Ls   Store   I48  ALL    None [R_MEMORY2]     [A64]           [OFFSET16]              [ACCESS, SLOT];
            StoreI64      "STORE.i64"      =             0x061 [width(0x5)] Ls   Store   I64  ALL    None [R_MEMORY2]     [A64]           [OFFSET16]              [ACCESS, SLOT];
            StoreI96      "STORE.i96"      =             0x061 [width(0x6)] Ls   Store   I96  ALL    None [R_MEMORY3]     [A64]           [OFFSET16]              [ACCESS, SLOT];
            StoreI128     "STORE.i128"     =             0x061 [width(0x7)] Ls   Store   I128 ALL    None [R_MEMORY4]     [A64]           [OFFSET16]              [ACCESS, SLOT];
            StCvt         "ST_CVT"         =             0x071 []           Ls   Store   I32  ALL    None [R_VECTOR]      [A64, B32_AT16] [OFFSET8]               [SLOT, ACCESS_AT37, VECTOR_SIZE, REGISTER_FORMAT];
            LdGclkU64     "LD_GCLK.u64"    "LD_GCLK_U64" 0x044 []           Ls   Clock   U64  ALL    None [W2]            []              []                      [SLOT, GCLK_SOURCE];
            LeaBuf        "LEA_BUF"        =             0x06e []           Ls   Address I32  ALL    None [W2]            [A32, B32]      []                      [SLOT];
            LeaPka        "LEA_PKA"        =             0x06b []           Ls   Address I32  ALL    None [W2]            [A32, B32]      []                      [SLOT];
            LdCvt         "LD_CVT"         =             0x070 []           Ls   Load    I32  ALL    None [W_VECTOR]      [A64, B32_AT16] [OFFSET8]               [ACCESS_AT37, REGISTER_FORMAT, VECTOR_SIZE, SLOT];
            LdMulti       "LD_MULTI"       -             0x062 []           Ls   Load    None V14_ON None [W_MULTI]       [A64]           [OFFSET16]              [ACCESS, SLOT];
            StMulti       "ST_MULTI"       -             0x063 []           Ls   Store   None V14_ON None [R_MULTI]       [A64]           [OFFSET16]              [ACCESS, SLOT];
            LdCheckedImm  "LD_CHECKED_IMM" -             0x072 []           Ls   Load    None V12_ON None [W_CHECKED]     [A64, B32_AT16] [OFFSET12]              [ACCESS, MEMORY_WIDTH, OOB_IGNORE, SLOT]          .layouts(CHECKED_LOAD_IMM);
            StCheckedImm  "ST_CHECKED_IMM" -             0x073 []           Ls   Store   None V12_ON None [R_CHECKED_IMM] [A64, B32_AT16] [OFFSET12]              [ACCESS, MEMORY_WIDTH, SLOT]                      .layouts(CHECKED_STORE_IMM);
            LdChecked     "LD_CHECKED"     -             0x172 []           Ls   Load    None V12_ON None [W_CHECKED]     [A64, B32, C32] []                      [ACCESS, MEMORY_WIDTH, OOB_IGNORE, SLOT]          .layouts(CHECKED_LOAD);
            StChecked     "ST_CHECKED"     -             0x173 []           Ls   Store   None V12_ON None [R_CHECKED]     [A64, B32, C32] []                      [ACCESS, MEMORY_WIDTH, SLOT]                      .layouts(CHECKED_STORE);
        }
    };
}
pub(crate) use memory;
