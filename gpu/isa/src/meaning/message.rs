//! What messages do.
//!
//! Facts: hardware/valhall-isa.md section 11.

use super::Meaning;

#[rustfmt::skip]
pub(super) const MEANINGS: &[Meaning] = &[
    // Memory.
    ("LOAD",                 "loads from address A + offset"),
    ("STORE",                "stores to address A + offset"),
    ("LD_BUFFER",            "loads from byte offset A of the buffer with handle B"),
    ("LEA_PKA",              "address of byte offset A of the buffer with handle B"),
    ("LEA_BUF",              "address of element A of the buffer with handle B"),
    ("LEA_BUF_IMM",          "address of element A of the buffer with an immediate handle"),
    ("LD_CVT",               "loads components from address A, converted as descriptor B says"),
    ("ST_CVT",               "stores components to address A, converted as descriptor B says"),
    ("LD_MULTI",             "not established"),
    ("ST_MULTI",             "not established"),
    ("LD_CHECKED_IMM",       "loads from address A with a check against B (details not established)"),
    ("ST_CHECKED_IMM",       "stores to address A with a check against B (details not established)"),
    ("LD_CHECKED",           "not established"),
    ("ST_CHECKED",           "not established"),
    ("LD_GCLK",              "reads a 64-bit counter"),

    // Atomics.
    ("ATOM",                 "memory at address A + offset becomes memory op value"),
    ("ATOM_RETURN",          "the same, and returns the old value; compare exchanges only if memory holds the expected value"),
    ("ATOM1_RETURN",         "memory at address A + offset becomes memory op 1; returns the old value if it is wanted"),

    // Attributes and images.
    ("LD_ATTR",              "attribute C of vertex A and instance B"),
    ("LD_ATTR_IMM",          "attribute of an immediate handle, of vertex A and instance B"),
    ("LD_TEX",               "unfiltered texel of image C at the coordinates A and B"),
    ("LD_TEX_IMM",           "unfiltered texel of the image of an immediate handle at the coordinates A and B"),
    ("LEA_ATTR",             "address and conversion descriptor of attribute C of vertex A and instance B"),
    ("LEA_ATTR_IMM",         "the same of the attribute of an immediate handle"),
    ("LEA_TEX",              "address and conversion descriptor of the texel of image C at the coordinates A and B"),
    ("LEA_TEX_IMM",          "the same of the image of an immediate handle"),

    // Varyings.
    ("LD_VAR",               "varying with handle B at position A"),
    ("LD_VAR_IMM",           "varying of an immediate handle at position A"),
    ("LD_VAR_FLAT",          "varying with handle A, not interpolated"),
    ("LD_VAR_FLAT_IMM",      "varying of an immediate handle, not interpolated"),
    ("LD_VAR_BUF",           "varying at byte offset B of the vertex packet, at position A"),
    ("LD_VAR_BUF_IMM",       "varying at an immediate byte offset of the vertex packet, at position A"),
    ("LD_VAR_BUF_FLAT",      "varying at byte offset A of the vertex packet, not interpolated"),
    ("LD_VAR_BUF_FLAT_IMM",  "varying at an immediate byte offset of the vertex packet, not interpolated"),
    ("LD_VAR_SPECIAL",       "built-in varying: 0 point coordinate, 2 fragment w, 3 fragment z"),

    // Fragment output.
    ("LD_TILE",              "reads the tile buffer at pixel A, coverage B, converted as descriptor C says"),
    ("ST_TILE",              "writes the tile buffer at pixel A, coverage B, converted as descriptor C says"),
    ("ATEST",                "coverage A after alpha test B; C is the datum of the test"),
    ("ZS_EMIT",              "writes depth A and stencil B for coverage C, and tests late"),
    ("BLEND",                "blends a colour into the render target of descriptor A with coverage B, or goes on to the blend shader"),

    // Textures.
    ("TEX_SINGLE",           "filtered sample of the texture of handle A"),
    ("TEX_FETCH",            "one texel, unfiltered, at integer coordinates"),
    ("TEX_GATHER",           "one component of four texels"),
    ("TEX_GRADIENT",         "gradient descriptor, or the level of detail, for coordinates or derivatives"),
    ("TEX_DUAL",             "two textures at the same coordinates (not used by Mesa)"),
    ("TEX_WEIGHTS",          "not established"),
    ("VAR_TEX_SINGLE",       "loads a varying by handle B and samples the texture of handle A with it"),
    ("VAR_TEX_GATHER",       "loads a varying by handle B and gathers from the texture of handle A with it"),
    ("VAR_TEX_GRADIENT",     "loads a varying by handle B and gives its gradient descriptor for the texture of handle A"),
    ("VAR_TEX_DUAL",         "loads a varying by handle B and samples two textures with it"),
    ("VAR_TEX_BUF_SINGLE",   "loads the varying at byte offset B and samples the texture of handle A with it"),
    ("VAR_TEX_BUF_GATHER",   "loads the varying at byte offset B and gathers from the texture of handle A with it"),
    ("VAR_TEX_BUF_GRADIENT", "loads the varying at byte offset B and gives its gradient descriptor for the texture of handle A"),
    ("VAR_TEX_BUF_DUAL",     "loads the varying at byte offset B and samples two textures with it"),

    // Others.
    ("BARRIER",              "waits until the whole workgroup is there, and orders its memory accesses"),
    ("DOORBELL",             "not established"),
    ("EUREKA",               "not established"),
    ("KABOOM",               "raises a fault on purpose"),
];
