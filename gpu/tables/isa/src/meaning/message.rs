//! What messages do.
//!
//! Facts: hardware/valhall-isa.md section 11.

use super::operation::Operation as O;
use super::{Access, Meaning, Position, row};

#[rustfmt::skip]
pub(super) const MEANINGS: &[Meaning] = &[
    // Memory.
    row("LOAD",                 O::Load { from: Access::Address },      "Loads from address A + offset; lane and unsigned say where a narrow value goes and how it is widened."),
    row("STORE",                O::Store { to: Access::Address },       "Stores to address A + offset."),
    row("LD_BUFFER",            O::Load { from: Access::Buffer },       "Loads from byte offset A of the buffer with handle B; lane and unsigned as in LOAD."),
    row("LEA_PKA",              O::ByteAddress,                         "The 64-bit address of byte offset A of the buffer with handle B."),
    row("LEA_BUF",              O::ElementAddress,                      "The 64-bit address of element A of the buffer with handle B."),
    row("LEA_BUF_IMM",          O::ElementAddress,                      "The 64-bit address of element A of the buffer that table and index name."),
    row("LD_CVT",               O::LoadConverted,                       "Loads components from address A + offset, converted from the format in descriptor B to the register format."),
    row("ST_CVT",               O::StoreConverted,                      "Stores components to address A + offset, converted from the register format to the format in descriptor B."),
    row("LD_MULTI",             O::Load { from: Access::Multiple },     "Loads 1 to 64 registers from address A + offset."),
    row("ST_MULTI",             O::Store { to: Access::Multiple },      "Stores 1 to 64 registers to address A + offset."),
    row("LD_CHECKED_IMM",       O::Load { from: Access::Checked },      "Loads from address A + offset, if the offset is below the bound B."),
    row("ST_CHECKED_IMM",       O::Store { to: Access::Checked },       "Stores to address A + offset, if the offset is below the bound B."),
    row("LD_CHECKED",           O::Load { from: Access::Checked },      "Loads from address A + byte offset B, if that is below the bound C; which source is which is inferred."),
    row("ST_CHECKED",           O::Store { to: Access::Checked },       "Stores to address A + byte offset B, if that is below the bound C; which source is which is inferred."),
    row("LD_GCLK",              O::ReadCounter,                         "Reads a 64-bit counter: cycles, or the system's timestamp."),

    // Atomics.
    row("ATOM",                 O::Atomic,                              "Memory at address A + offset becomes memory op the operand, as one access."),
    row("ATOM_RETURN",          O::Atomic,                              "Memory at address A + offset becomes memory op the operand, as one access, and its old value is returned; compare exchanges only if memory holds the expected value."),
    row("ATOM1",                O::AtomicByOne,                         "Memory at address A + offset becomes memory op 1, as one access."),
    row("ATOM1_RETURN",         O::AtomicByOne,                         "Memory at address A + offset becomes memory op 1, as one access, and its old value is returned."),

    // Attributes and images.
    row("LD_ATTR",              O::LoadAttribute,                       "Fetches attribute C of vertex A and instance B, converted to the register format."),
    row("LD_ATTR_IMM",          O::LoadAttribute,                       "Fetches the attribute that table and index name, of vertex A and instance B, converted to the register format."),
    row("LD_TEX",               O::LoadTexel,                           "Fetches the texel of image C at the coordinates A (x, y) and B, unfiltered, converted to the register format."),
    row("LD_TEX_IMM",           O::LoadTexel,                           "Fetches the texel of the image that table and index name at the coordinates A (x, y) and B, unfiltered, converted to the register format."),
    row("LEA_ATTR",             O::AttributeAddress,                    "The address and the conversion descriptor of attribute C of vertex A and instance B."),
    row("LEA_ATTR_IMM",         O::AttributeAddress,                    "The address and the conversion descriptor of the attribute that table and index name, of vertex A and instance B."),
    row("LEA_TEX",              O::TexelAddress,                        "The address and the conversion descriptor of the texel of image C at the coordinates A (x, y) and B."),
    row("LEA_TEX_IMM",          O::TexelAddress,                        "The address and the conversion descriptor of the texel of the image that table and index name at the coordinates A (x, y) and B."),

    // Varyings.
    row("LD_VAR",               O::LoadVarying { at: Position::Interpolated }, "Loads the varying with handle B, interpolated at position A."),
    row("LD_VAR_IMM",           O::LoadVarying { at: Position::Interpolated }, "Loads the varying that table and index name, interpolated at position A."),
    row("LD_VAR_FLAT",          O::LoadVarying { at: Position::Flat },         "Loads the varying with handle A of one vertex, not interpolated."),
    row("LD_VAR_FLAT_IMM",      O::LoadVarying { at: Position::Flat },         "Loads the varying that table and index name of one vertex, not interpolated."),
    row("LD_VAR_BUF",           O::LoadVarying { at: Position::Interpolated }, "Loads the varying at byte offset B of the vertex packet, interpolated at position A; flat formats are not interpolated."),
    row("LD_VAR_BUF_IMM",       O::LoadVarying { at: Position::Interpolated }, "Loads the varying at byte offset index of the vertex packet, interpolated at position A; flat formats are not interpolated."),
    row("LD_VAR_BUF_FLAT",      O::LoadVarying { at: Position::Flat },         "Loads the varying at byte offset A of the packet of one vertex, not interpolated."),
    row("LD_VAR_BUF_FLAT_IMM",  O::LoadVarying { at: Position::Flat },         "Loads the varying at byte offset index of the packet of one vertex, not interpolated."),
    row("LD_VAR_SPECIAL",       O::LoadVarying { at: Position::BuiltIn },      "Loads the built-in varying index (0 point coordinate, 1 barycentric, 2 fragment w, 3 fragment z) at position A."),

    // Fragment output.
    row("LD_TILE",              O::LoadTile,                            "Reads the tile buffer at pixel A with coverage B, converted as descriptor C says."),
    row("ST_TILE",              O::StoreTile,                           "Writes the tile buffer at pixel A with coverage B, converted as descriptor C says."),
    row("ATEST",                O::AlphaTest,                           "The coverage that is left of A after discards and the alpha-to-coverage of alpha B; C is the datum of the test."),
    row("ZS_EMIT",              O::WriteDepth,                          "Writes depth A and stencil B for coverage C, tests late, and gives the coverage that is left."),
    row("BLEND",                O::Blend,                               "Blends a colour into the render target of descriptor A with coverage B and skips target instructions, or goes on to the blend shader."),

    // Textures.
    row("TEX_SINGLE",           O::Sample,                              "A filtered sample of the texture and sampler that handle A names."),
    row("TEX_FETCH",            O::FetchTexel,                          "One texel of the texture that handle A names, at integer coordinates, unfiltered."),
    row("TEX_GATHER",           O::Gather,                              "One component of the four texels that a linear filter would read, of the texture and sampler that handle A names."),
    row("TEX_GRADIENT",         O::Gradient,                            "The gradient descriptor for coordinates or derivatives, of the texture and sampler that handle A names; its low half is the level of detail."),
    row("TEX_DUAL",             O::SampleTwo,                           "Filtered samples of two textures at the same coordinates; the second handle is not established."),
    row("TEX_WEIGHTS",          O::FilterWeights,                       "Weights of a 2x2 filter; not established."),
    row("VAR_TEX_SINGLE",       O::Sample,                              "Loads the varying with handle B and samples the texture of handle A at it."),
    row("VAR_TEX_GATHER",       O::Gather,                              "Loads the varying with handle B and gathers from the texture of handle A at it."),
    row("VAR_TEX_GRADIENT",     O::Gradient,                            "Loads the varying with handle B and gives its gradient descriptor for the texture of handle A."),
    row("VAR_TEX_DUAL",         O::SampleTwo,                           "Loads the varying with handle B and samples two textures at it."),
    row("VAR_TEX_BUF_SINGLE",   O::Sample,                              "Loads the varying at byte offset B of the vertex packet and samples the texture of handle A at it."),
    row("VAR_TEX_BUF_GATHER",   O::Gather,                              "Loads the varying at byte offset B of the vertex packet and gathers from the texture of handle A at it."),
    row("VAR_TEX_BUF_GRADIENT", O::Gradient,                            "Loads the varying at byte offset B of the vertex packet and gives its gradient descriptor for the texture of handle A."),
    row("VAR_TEX_BUF_DUAL",     O::SampleTwo,                           "Loads the varying at byte offset B of the vertex packet and samples two textures at it."),

    // Others.
    row("BARRIER",              O::Barrier,                             "Waits until the whole workgroup is there, and orders its memory accesses."),
    row("DOORBELL",             O::System,                              "A message to the system; not established."),
    row("EUREKA",               O::System,                              "A message to the system; not established."),
    row("KABOOM",               O::Fault,                               "Raises a fault on purpose."),
];
