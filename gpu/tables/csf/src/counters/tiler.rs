//! Counters of the tiler: primitives, position and varying shading.
//!
//! Facts: hardware/csf-perfcnt.md sections 4 and 5, data/perfcnt.json.

use super::BlockKind::Tiler;
use super::Unit::{Beats, Cycles, Primitives, Requests, Unnamed};
use super::on::{ALL, FROM_V11, FROM_V12, FROM_V13, TO_V12, V10};
use super::{Counter, row};

#[rustfmt::skip]
pub(super) const TILER: &[Counter] = &[
//  block     index name                        where     unit        shift counts
    row(Tiler,   4, "TILER_ACTIVE",             ALL,      Cycles,     0, "Tiler active cycles"),
    row(Tiler,   6, "TRIANGLES",                ALL,      Primitives, 0, "Triangle primitives"),
    row(Tiler,   7, "LINES",                    ALL,      Primitives, 0, "Line primitives"),
    row(Tiler,   8, "POINTS",                   ALL,      Primitives, 0, "Point primitives"),
    row(Tiler,   9, "FRONT_FACING",             ALL,      Primitives, 0, "Visible front-facing primitives"),
    row(Tiler,  10, "BACK_FACING",              ALL,      Primitives, 0, "Visible back-facing primitives"),
    row(Tiler,  11, "PRIM_VISIBLE",             ALL,      Primitives, 0, "Visible primitives"),
    row(Tiler,  12, "PRIM_CULLED",              V10,      Primitives, 0, "Facing or XY plane test culled primitives"),
    row(Tiler,  12, "PRIM_FACE_CULLED",         FROM_V11, Primitives, 0, "Facing test culled primitives"),
    row(Tiler,  13, "PRIM_CLIPPED",             V10,      Primitives, 0, "Z plane culled primitives"),
    row(Tiler,  13, "PRIM_FRUSTUM_CULLED",      FROM_V11, Primitives, 0, "Frustum test culled primitives"),
    row(Tiler,  14, "PRIM_SAT_CULLED",          V10,      Primitives, 0, "Sample test culled primitives"),
    row(Tiler,  14, "PRIM_SAMPLE_CULLED",       FROM_V11, Unnamed,    0, ""),
    row(Tiler,  17, "BUS_READ",                 ALL,      Beats,      0, "Output internal read beats"),
    row(Tiler,  21, "IDVS_POS_SHAD_REQ",        TO_V12,   Requests,   0, "Tiler position shading requests"),
    row(Tiler,  21, "POS_SHADER_WARPS",         FROM_V13, Unnamed,    0, ""),
    row(Tiler,  22, "POS_SHADER_PARTIAL_WARPS", FROM_V13, Requests,   0, "Partial tiler position shading requests"),
    row(Tiler,  23, "IDVS_POS_SHAD_STALL",      TO_V12,   Cycles,     0, "Tiler position shading stall cycles"),
    row(Tiler,  23, "POS_SHADER_STALL",         FROM_V13, Unnamed,    0, ""),
    row(Tiler,  24, "IDVS_POS_FIFO_FULL",       TO_V12,   Cycles,     0, "Tiler position FIFO full cycles"),
    row(Tiler,  24, "POS_FIFO_FULL",            FROM_V13, Unnamed,    0, ""),
    row(Tiler,  26, "VCACHE_HIT",               TO_V12,   Requests,   0, "Position cache hit requests"),
    row(Tiler,  26, "VCACHE_HIT",               FROM_V13, Requests,   4, "Position cache hit requests"),
    row(Tiler,  27, "VCACHE_MISS",              V10,      Requests,   0, "Position cache miss requests"),
    row(Tiler,  34, "IDVS_VBU_HIT",             TO_V12,   Requests,   0, "Varying cache hits"),
    row(Tiler,  34, "VBU_HIT",                  FROM_V13, Unnamed,    4, ""),
    row(Tiler,  35, "IDVS_VBU_MISS",            TO_V12,   Requests,   0, "Varying cache misses"),
    row(Tiler,  36, "VAR_SHADER_WARPS",         FROM_V13, Unnamed,    0, ""),
    row(Tiler,  37, "IDVS_VAR_SHAD_REQ",        TO_V12,   Requests,   0, "Tiler varying shading requests"),
    row(Tiler,  37, "VAR_SHADER_PARTIAL_WARPS", FROM_V13, Requests,   0, "Partial tiler varying shading requests"),
    row(Tiler,  38, "IDVS_VAR_SHAD_STALL",      TO_V12,   Cycles,     0, "Tiler varying shading stall cycles"),
    row(Tiler,  38, "VAR_SHADER_STALL",         FROM_V13, Unnamed,    0, ""),
    row(Tiler,  64, "PRIMASSY_POS_SHADER_WAIT", FROM_V12, Cycles,     0, "Primitive assembly position shading stall cycles"),
    row(Tiler,  70, "PRIM_SCISSOR_CULLED",      FROM_V12, Primitives, 0, "Scissor test culled primitives"),
    row(Tiler,  71, "PRIM_VISIBLE_DVS",         FROM_V12, Primitives, 0, "Visible primitives using DVS"),
];
