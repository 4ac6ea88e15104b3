//! Lowering: towards the form that the back end receives, one file a pass.
//!
//! Facts: hardware/compiler-isel.md 4; hardware/compiler-lowering.md 3 and 5; hardware/compiler-ir.md 3.3, 4.1, 4.7;
//! hardware/graphics-compiler.md 1.2, 2.4.
pub(crate) mod access_sizes;
pub(crate) mod bit_fields;
pub(crate) mod blend_colors;
mod change_types;
pub(crate) mod clip_distances;
pub(crate) mod critical_edges;
pub(crate) mod cube_gradients;
pub(crate) mod division;
pub(crate) mod explicit_derivatives;
pub(crate) mod floats;
pub(crate) mod guard_image_atomics;
pub(crate) mod guard_texel_buffers;
pub(crate) mod indirect_variables;
pub(crate) mod least_levels;
pub(crate) mod narrow_words;
pub(crate) mod non_uniform;
pub(crate) mod operand_order;
pub(crate) mod perspective;
pub(crate) mod promote_variables;
pub(crate) mod robust_access;
pub(crate) mod switches;
pub(crate) mod texel_counts;
pub(crate) mod wide_words;
pub(crate) mod window_position;
