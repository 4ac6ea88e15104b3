//! Vectors that were computed elsewhere, as tests read them, and which test runs each family of them on the whole device.
//!
//! Facts: data/graphics-vectors.json, graphics-vectors2.json, compression-vectors.json; `about` in them explains the members.

#![allow(dead_code, reason = "each test binary uses another part")]

pub mod formats;

use serde_json::Value;

pub const FIRST: &str = "graphics-vectors.json";
pub const SECOND: &str = "graphics-vectors2.json";
pub const BLOCKS: &str = "compression-vectors.json";

/// The file as a whole.
pub fn file(name: &str) -> Value {
    let text =
        std::fs::read_to_string(eitri_testdata::kept(name)).expect("testdata keeps the file");
    serde_json::from_str(&text).expect("the vectors are JSON")
}

/// The vectors of a family, of which there is at least one.
pub fn list(name: &str, family: &str) -> Vec<Value> {
    let vectors = file(name)[family].as_array().cloned().unwrap_or_default();
    assert!(!vectors.is_empty(), "{name} has no {family}");
    vectors
}

/// Bits as hexadecimal text.
pub fn bits(value: &Value) -> u32 {
    let digits = value.as_str().expect("bits as text");
    u32::from_str_radix(digits.trim_start_matches("0x"), 16).expect("hexadecimal digits")
}

/// A number: bits of a float as text, or the number itself.
pub fn float(value: &Value) -> f32 {
    match value.as_str() {
        Some(_) => f32::from_bits(bits(value)),
        None => value.as_f64().expect("a number") as f32,
    }
}

/// A number: decimal digits as text, or the number itself.
pub fn decimal(value: &Value) -> f64 {
    match value.as_str() {
        Some(digits) => digits.parse().expect("digits"),
        None => value.as_f64().expect("a number"),
    }
}

pub fn number(value: &Value) -> u32 {
    let number = value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no number"));
    u32::try_from(number).expect("32 bits")
}

pub fn integer(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("{value} is no integer"))
}

/// A list of numbers.
pub fn numbers(value: &Value) -> Vec<u32> {
    value
        .as_array()
        .expect("a list")
        .iter()
        .map(number)
        .collect()
}

/// A family of vectors, and the tests that run each of its members on the whole device: folder, file and name.
pub struct Family {
    pub file: &'static str,
    pub name: &'static str,
    pub tests: &'static [(&'static str, &'static str)],
}

const fn family(
    file: &'static str,
    name: &'static str,
    tests: &'static [(&'static str, &'static str)],
) -> Family {
    Family { file, name, tests }
}

/// All families. Each member is run by descriptors, streams, and programs that the model executes.
#[rustfmt::skip]
pub static FAMILIES: &[Family] = &[
    // Values to codes, by ST_CVT and by BLEND with write-back; codes to values, by TEX_FETCH, LD_CVT and LD_ATTR.
    family(FIRST, "f32_to_half", &[("dispatch/format_vectors", "stored_halves_are_those_of_every_vector"), ("dispatch/format_vectors", "halves_are_rounded_both_ways_as_every_vector"), ("passes/format_vectors", "drawn_halves_are_those_of_every_vector")]),
    family(FIRST, "f32_to_uf11_uf10", &[("dispatch/format_vectors", "stored_floats_without_sign_are_those_of_every_vector"), ("passes/format_vectors", "drawn_floats_without_sign_are_those_of_every_vector")]),
    family(FIRST, "uf11_to_f32", &[("dispatch/format_vectors", "loaded_floats_without_sign_are_those_of_every_vector")]),
    family(FIRST, "rgb_to_e5b9g9r9", &[("dispatch/format_vectors", "stored_colours_share_the_exponent_of_every_vector"), ("passes/format_vectors", "drawn_colours_share_the_exponent_of_every_vector")]),
    family(FIRST, "unorm_encode", &[("dispatch/format_vectors", "stored_fractions_have_the_codes_of_every_vector"), ("passes/format_vectors", "drawn_fractions_have_the_codes_of_every_vector")]),
    family(FIRST, "snorm_encode", &[("dispatch/format_vectors", "stored_fractions_have_the_codes_of_every_vector"), ("passes/format_vectors", "drawn_fractions_have_the_codes_of_every_vector")]),
    family(FIRST, "unorm_decode", &[("dispatch/format_vectors", "loaded_fractions_have_the_values_of_every_vector")]),
    family(FIRST, "srgb8_decode", &[("dispatch/format_vectors", "fetched_srgb_codes_have_the_values_of_every_vector")]),
    family(FIRST, "srgb8_encode", &[("passes/format_vectors", "drawn_srgb_colours_have_the_codes_of_every_vector")]),
    // Memory, by the texture unit and by stores to images.
    family(FIRST, "u_interleaved_address", &[("dispatch/layout_vectors", "texels_of_tiles_are_where_every_vector_has_them"), ("dispatch/layout_vectors", "stored_texels_of_tiles_are_where_every_vector_has_them")]),
    family(FIRST, "image_layout", &[("dispatch/layout_vectors", "levels_and_layers_are_where_every_vector_has_them")]),
    family(SECOND, "image_layout_64k", &[("dispatch/layout_vectors", "blocks_of_64_kib_are_where_every_vector_has_them")]),
    family(FIRST, "afbc_header", &[("dispatch/afbc_vectors", "headers_lead_to_the_subblocks_of_every_vector")]),
    // Vertices and primitives.
    family(FIRST, "attribute_npot_divisor", &[("dispatch/attribute_vectors", "instances_are_divided_as_every_vector")]),
    family(FIRST, "primitive_assembly", &[("passes/assembly_vectors", "drawn_primitives_have_the_corners_of_every_vector"), ("passes/assembly_vectors", "first_and_last_corners_provoke_as_every_vector_lists_them")]),
    // Coverage, depth, interpolation: what draws leave in their targets.
    family(FIRST, "triangle_coverage", &[("passes/vectors", "drawn_triangles_cover_the_samples_of_every_vector")]),
    family(SECOND, "point_coverage", &[("passes/vectors", "drawn_points_cover_the_samples_of_every_vector")]),
    family(FIRST, "barycentric", &[("passes/vectors", "drawn_depths_and_ws_agree_with_every_vector"), ("passes/varyings", "varyings_agree_with_every_vector")]),
    family(SECOND, "depth_bias", &[("passes/vectors", "biased_depths_agree_with_every_vector")]),
    family(FIRST, "depth_quantise", &[("passes/stored_vectors", "depths_are_quantised_as_every_vector")]),
    family(FIRST, "stencil_op", &[("passes/stored_vectors", "stencil_changes_as_every_vector")]),
    family(SECOND, "alpha_to_coverage_4x", &[("passes/vectors", "alpha_covers_the_samples_of_every_vector")]),
    // The tile.
    family(FIRST, "blend_rgba8", &[("passes/blend_vectors", "every_pair_of_factors_blends_as_the_vectors_say")]),
    family(SECOND, "blend_words", &[("passes/blend_vectors", "equations_blend_as_every_vector")]),
    family(FIRST, "tile_size", &[("passes/size_vectors", "passes_with_the_tiles_of_every_vector_are_whole")]),
    family(FIRST, "hierarchy_mask", &[("passes/size_vectors", "triangles_are_in_the_bins_of_every_vector")]),
    // The texture unit.
    family(SECOND, "texture_linear", &[("dispatch/texture_vectors", "filters_and_gathers_agree_with_every_vector")]),
    family(FIRST, "wrap", &[("dispatch/texture_vectors", "coordinates_wrap_as_every_vector")]),
    family(FIRST, "cube_face", &[("dispatch/cube_vectors", "directions_have_the_face_and_place_of_every_vector")]),
    family(SECOND, "cube_seam", &[("dispatch/cube_vectors", "taps_beyond_the_edges_of_faces_agree_with_every_vector")]),
    family(SECOND, "lod", &[("dispatch/texture_vectors", "levels_of_quads_agree_with_every_vector")]),
    family(BLOCKS, "vectors", &[("dispatch/block_vectors", "every_texel_of_every_vector_is_fetched")]),
];
