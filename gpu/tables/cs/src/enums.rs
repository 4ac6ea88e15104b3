//! The named values of fields, one table a field type.
//!
//! Guarantees: a code with no name here is undefined and is refused.  Columns: Rust's name, the bits, the facts' name,
//! the word in an instruction's text, a note.  Facts: hardware/command-stream.md 3 and 5.1 (words).

use crate::field::{EnumInfo, EnumValue, FieldKind, Sentence, Value};

macro_rules! enums {
    ($(
        $(#[doc = $note:literal])* $name:ident $fact:literal {
            $( $(#[$attribute:ident])? $value:ident = $code:literal $value_fact:literal $word:literal $value_note:literal; )*
        }
    )*) => {
        $(
            $(#[doc = $note])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            pub enum $name {
                $( $(#[$attribute])? #[doc = $value_note] $value = $code, )*
            }

            impl $name {
                /// Its names, bits and notes.
                pub const INFO: EnumInfo = EnumInfo {
                    name: $fact,
                    note: Sentence::new(concat!($($note),*).trim_ascii()),
                    values: if cfg!(feature = "text") {
                        &[$( EnumValue { code: $code, name: $value_fact, word: $word, note: $value_note } ),*]
                    } else {
                        &[]
                    },
                };
            }

            impl Value for $name {
                const KIND: FieldKind = FieldKind::Enum(&$name::INFO);

                #[inline]
                fn to_bits(self) -> u64 {
                    self as u64
                }

                #[inline]
                fn from_bits(bits: u64, _: u8) -> Option<$name> {
                    match bits {
                        $( $code => Some($name::$value), )*
                        _ => None,
                    }
                }
            }
        )*

        /// Every set of named values.
        pub const ENUMS: &[&EnumInfo] = &[$( &$name::INFO ),*];
    };
}

#[rustfmt::skip]
enums! {
    /// How a value compares: against zero, signed (BRANCH), or against a register, unsigned (SYNC_WAIT).
    Condition "cs_condition" {
        #[default]
        LessEqual    = 0 "LEQUAL"  "le"     "less or equal";
        Greater      = 1 "GREATER" "gt"     "greater";
        Equal        = 2 "EQUAL"   "eq"     "equal";
        NotEqual     = 3 "NEQUAL"  "ne"     "not equal";
        Less         = 4 "LESS"    "lt"     "less";
        GreaterEqual = 5 "GEQUAL"  "ge"     "greater or equal";
        Always       = 6 "ALWAYS"  "always" "without looking at the value";
    }

    /// The axis along which tasks of a compute job are cut.
    TaskAxis "task_axis" {
        #[default]
        X = 0 "X" "x_axis" "along X";
        Y = 1 "Y" "y_axis" "along Y; a task has all of X";
        Z = 2 "Z" "z_axis" "along Z; a task has all of X and Y";
    }

    /// The order in which a fragment job takes its tiles.
    TileOrder "tile_render_order" {
        #[default]
        ZOrder            = 0 "Z_ORDER"            "zorder"         "Z order";
        Horizontal        = 1 "HORIZONTAL"         "horizontal"     "row by row";
        Vertical          = 2 "VERTICAL"           "vertical"       "column by column";
        ReverseHorizontal = 5 "REVERSE_HORIZONTAL" "rev_horizontal" "row by row, from the end";
        ReverseVertical   = 6 "REVERSE_VERTICAL"   "rev_vertical"   "column by column, from the end";
    }

    /// The pipeline stage that a job counts as.
    PipelineStage "idvs_pipeline_stage" {
        #[default]
        Internal               = 0 "INTERNAL"     "internal"     "plain compute";
        Compute                = 1 "COMPUTE"      "compute"      "compute";
        Vertex                 = 2 "VERTEX"       "vertex"       "vertex shading";
        TessellationControl    = 3 "TESS_CONTROL" "tess_control" "tessellation control";
        TessellationEvaluation = 4 "TESS_EVAL"    "tess_eval"    "tessellation evaluation";
        Geometry               = 5 "GEOMETRY"     "geometry"     "geometry shading";
    }

    /// When RUN_IDVS2 shades the parts of a vertex.
    ShadingMode "idvs_shading_mode" {
        #[default]
        Early    = 0 "EARLY"    "early"    "whole vertices, before culling";
        Deferred = 1 "DEFERRED" "deferred" "positions first, the rest after culling";
    }

    /// What FLUSH_CACHE2 does with the L2 or the load/store cache.
    FlushMode "cs_flush_mode" {
        #[default]
        None               = 0 "NONE"                 "nop"              "nothing";
        Clean              = 1 "CLEAN"                "clean"            "writes changed lines back";
        CleanAndInvalidate = 3 "CLEAN_AND_INVALIDATE" "clean_invalidate" "writes changed lines back and drops all";
    }

    /// What FLUSH_CACHE2 does with the read-only first-level caches.
    OtherFlushMode "cs_other_flush_mode" {
        #[default]
        None       = 0 "NONE"       "nop_other"        "nothing";
        Invalidate = 2 "INVALIDATE" "invalidate_other" "drops all";
    }

    /// Whom a sync-object write wakes.
    SyncScope "cs_sync_scope" {
        #[default]
        System = 0 "SYSTEM" "system" "other groups too, and the host by an interrupt";
        Csg    = 2 "CSG"    "csg"    "waiting streams of the same group only";
    }

    /// What SYNC_WAIT does when the object's error word is set.
    ErrorReject "cs_sync_error_reject" {
        #[default]
        Inherit = 0 "INHERIT" "inherit" "takes the error over: CS_INHERIT_FAULT";
        Reject  = 1 "REJECT"  "reject"  "leaves the error where it is";
    }

    /// Where the wait mask and the slot of a deferred operation come from.
    DeferMode "cs_defer_mode" {
        #[default]
        Immediate = 0 "DEFER_IMMEDIATE" "defer_immediate" "from the instruction";
        Indirect  = 1 "DEFER_INDIRECT"  "defer_indirect"  "from the stream's state: SB_MASK_WAIT and SB_SEL_DEFERRED";
    }

    /// Where the mask of a WAIT comes from.
    WaitMode "cs_wait_mode" {
        #[default]
        Immediate = 0 "IMMEDIATE" "immediate" "from the instruction";
        Indirect  = 1 "INDIRECT"  "indirect"  "from the stream's state: SB_MASK_WAIT";
    }

    /// The truth table of LOGIC_OP32: bit 0 is the result for a=1 b=1, bit 1 for a=1 b=0, bit 2 for a=0 b=1, bit 3 for a=0 b=0.
    LogicOp "cs_logic_op" {
        #[default]
        Clear   =  0 "CLEAR"    "CLEAR"    "0";
        And     =  1 "AND"      "AND"      "a & b";
        AndANb  =  2 "AND_A_NB" "AND_A_NB" "a & ~b";
        MovA    =  3 "MOV_A"    "MOV_A"    "a";
        AndNaB  =  4 "AND_NA_B" "AND_NA_B" "~a & b";
        MovB    =  5 "MOV_B"    "MOV_B"    "b";
        Xor     =  6 "XOR"      "XOR"      "a ^ b";
        Or      =  7 "OR"       "OR"       "a | b";
        Nor     =  8 "NOR"      "NOR"      "~(a | b)";
        Xnor    =  9 "XNOR"     "XNOR"     "~(a ^ b)";
        NotB    = 10 "NOT_B"    "NOT_B"    "~b";
        OrANb   = 11 "OR_A_NB"  "OR_A_NB"  "a | ~b";
        NotA    = 12 "NOT_A"    "NOT_A"    "~a";
        OrNaB   = 13 "OR_NA_B"  "OR_NA_B"  "~a | b";
        Nand    = 14 "NAND"     "NAND"     "~(a & b)";
        Set     = 15 "SET"      "SET"      "all ones";
    }

    /// How LOGIC_OP32 reads its second source.
    LogicIndex "cs_logic_op_index" {
        #[default]
        Direct = 0 "DIRECT" "direct" "b = source 1";
        Index  = 1 "INDEX"  "index"  "b = 1 << source 1";
    }

    /// The slot selection that NEXT_SB_ENTRY changes.
    SlotSelection "cs_scoreboard_type" {
        #[default]
        NoChange = 0 "NO_CHANGE" "no_change" "none";
        Endpoint = 1 "ENDPOINT"  "endpoint"  "the slot of jobs";
        Other    = 2 "OTHER"     "other"     "the slot of loads and stores";
        Deferred = 3 "DEFERRED"  "deferred"  "the slot of indirectly deferred operations";
    }

    /// How NEXT_SB_ENTRY reports the slot.
    SlotFormat "cs_next_sb_entry_format" {
        #[default]
        Index = 0 "INDEX" "index" "its number";
        Mask  = 1 "MASK"  "mask"  "1 << its number";
    }

    /// An item of a stream's state.
    StreamState "cs_set_state_type" {
        #[default]
        SelectEndpoint = 0 "SB_SEL_ENDPOINT" "sb_sel_endpoint" "slot number: where jobs count";
        SelectOther    = 1 "SB_SEL_OTHER"    "sb_sel_other"    "slot number: where loads and stores count";
        SelectDeferred = 2 "SB_SEL_DEFERRED" "sb_sel_deferred" "slot number: where indirectly deferred operations count";
        MaskStream     = 8 "SB_MASK_STREAM"  "sb_mask_stream"  "mask of slots that NEXT_SB_ENTRY may return";
        MaskWait       = 9 "SB_MASK_WAIT"    "sb_mask_wait"    "mask of WAIT indirect and of DEFER_INDIRECT";
    }

    /// The value that STORE_STATE writes.
    StoredState "cs_state" {
        #[default]
        Timestamp     = 0 "TIMESTAMP"      "SYSTEM_TIMESTAMP" "system timestamp, in ticks of the timestamp clock";
        CycleCount    = 1 "CYCLE_COUNT"    "CYCLE_COUNT"      "GPU cycles, if the kernel keeps the counter running";
        DisjointCount = 2 "DISJOINT_COUNT" "DISJOINT_COUNT"   "events that make cycle counts incomparable";
        ErrorStatus   = 3 "ERROR_STATUS"   "ERROR_STATE"      "error status of this stream";
    }

    /// The counter of the heap context that HEAP_OPERATION moves.
    HeapOperationKind "cs_heap_operation" {
        #[default]
        VertexTilerStarted   = 0 "VERTEX_TILER_STARTED"   "vt_start" "a render pass starts tiling";
        VertexTilerCompleted = 1 "VERTEX_TILER_COMPLETED" "vt_end"   "its tiling is over";
        FragmentCompleted    = 3 "FRAGMENT_COMPLETED"     "frag_end" "its fragment work is over";
    }

    /// The exception that a handler is for.
    ExceptionType "cs_exception_type" {
        #[default]
        TilerOutOfMemory = 2 "TILER_OOM" "tiler_oom" "the tiler is out of memory";
    }

    /// The kind of primitive that a draw makes.
    DrawMode "draw_mode" {
        #[default]
        None          =  0 "NONE"           "none"           "none";
        Points        =  1 "POINTS"         "points"         "points";
        Lines         =  2 "LINES"          "lines"          "lines";
        LineStrip     =  4 "LINE_STRIP"     "line_strip"     "a strip of lines";
        LineLoop      =  6 "LINE_LOOP"      "line_loop"      "a closed strip of lines";
        Triangles     =  8 "TRIANGLES"      "triangles"      "triangles";
        TriangleStrip = 10 "TRIANGLE_STRIP" "triangle_strip" "a strip of triangles";
        TriangleFan   = 12 "TRIANGLE_FAN"   "triangle_fan"   "a fan of triangles";
        Polygon       = 13 "POLYGON"        "polygon"        "a polygon";
        Quads         = 14 "QUADS"          "quads"          "quads";
    }

    /// The kind of indices that a draw reads.
    IndexType "index_type" {
        #[default]
        None   = 0 "NONE"   "none"   "not indexed";
        Uint8  = 1 "UINT8"  "uint8"  "8 bits";
        Uint16 = 2 "UINT16" "uint16" "16 bits";
        Uint32 = 3 "UINT32" "uint32" "32 bits";
    }

    /// The kind of point sizes that a draw reads.
    PointSizeFormat "point_size_array_format" {
        #[default]
        None = 0 "NONE" "none" "one size for all";
        Fp16 = 2 "FP16" "fp16" "an array of 16-bit floats";
        Fp32 = 3 "FP32" "fp32" "an array of 32-bit floats";
    }

    /// What the position record of a vertex holds.
    PositionFifoFormat "fifo_format" {
        #[default]
        Auto     = 0 "AUTO"     "auto"     "what the draw needs";
        Basic    = 1 "BASIC"    "basic"    "the position";
        Extended = 2 "EXTENDED" "extended" "the position and more";
    }

    /// How many pixels, X by Y, share one run of the fragment shader.
    ShadingRate "vrs_draw_rate" {
        #[default]
        One       =  0 "1X1" "1x1" "1 by 1";
        OneByTwo  =  1 "1X2" "1x2" "1 by 2";
        OneByFour =  2 "1X4" "1x4" "1 by 4";
        TwoByOne  =  4 "2X1" "2x1" "2 by 1";
        Two       =  5 "2X2" "2x2" "2 by 2";
        TwoByFour =  6 "2X4" "2x4" "2 by 4";
        FourByOne =  8 "4X1" "4x1" "4 by 1";
        FourByTwo =  9 "4X2" "4x2" "4 by 2";
        Four      = 10 "4X4" "4x4" "4 by 4";
    }

    /// How two shading rates become one.
    ShadingRateCombiner "vrs_combiner" {
        #[default]
        Keep     = 0 "KEEP"    "keep"    "the first";
        Replace  = 1 "REPLACE" "replace" "the second";
        Minimum  = 2 "MIN"     "min"     "the smaller";
        Maximum  = 3 "MAX"     "max"     "the larger";
        Multiply = 4 "MUL"     "mul"     "the product";
    }
}

impl Condition {
    /// The condition that holds when this one does not; `None` for [`Condition::Always`].
    pub const fn inverse(self) -> Option<Condition> {
        Some(match self {
            Condition::LessEqual => Condition::Greater,
            Condition::Greater => Condition::LessEqual,
            Condition::Equal => Condition::NotEqual,
            Condition::NotEqual => Condition::Equal,
            Condition::Less => Condition::GreaterEqual,
            Condition::GreaterEqual => Condition::Less,
            Condition::Always => return None,
        })
    }
}

impl LogicOp {
    /// The truth table applied to every bit of `a` and `b`.
    pub const fn apply(self, a: u32, b: u32) -> u32 {
        let both = [a & b, a & !b, !a & b, !a & !b];
        let mut result = 0;
        let mut row = 0;
        while row < 4 {
            if self as u8 >> row & 1 != 0 {
                result |= both[row];
            }
            row += 1;
        }
        result
    }
}
