//! What fragment shaders have of the attachments of a pass, and what a vertex shader clips by.
use eitri_program::GraphicsProgram;
use eitri_shaderc::color_state::{ColorState, InputPlace};
use eitri_shaderc::{Options, ShaderStage, compile_graphics, front_end, graphics_front_end};

use crate::graphics::{TYPES, fragment, lines, module, options};

/// A vertex shader that stores two clip distances.
fn clipping_vertex() -> Vec<u8> {
    let declarations = format!(
        "OpDecorate %distances BuiltIn ClipDistance
         OpDecorate %at BuiltIn Position
         OpDecorate %given Location 0
         {TYPES}
         %list = OpTypeArray %f32 %2u
         %out_list = OpTypePointer Output %list
         %distances = OpVariable %out_list Output
         %at = OpVariable %out_v4 Output
         %given = OpVariable %in_v4 Input"
    );
    let body = "%main = OpFunction %void 0 %fn
         %l = OpLabel
         %p = OpLoad %v4 %given
         OpStore %at %p
         %x = OpCompositeExtract %f32 %p 0
         %y = OpCompositeExtract %f32 %p 1
         %first = OpAccessChain %out_f32 %distances %0u
         OpStore %first %x
         %second = OpAccessChain %out_f32 %distances %1u
         OpStore %second %y
         OpReturn
         OpFunctionEnd";
    module(
        ShaderStage::Vertex,
        "%distances %at %given",
        &declarations,
        body,
    )
}

#[test]
fn fragments_with_a_negative_clip_distance_are_discarded() {
    let spirv = clipping_vertex();
    let options = options(ShaderStage::Vertex);
    let color = fragment(
        "",
        "",
        "%white = OpCompositeConstruct %v4 %1f %1f %1f %1f
         OpStore %color %white
         OpReturn",
    );
    let made = graphics_front_end((&spirv, &options), Some((&color, &options)));
    let made = made.unwrap_or_else(|errors| panic!("{errors:?}"));
    let fragment = made.fragment.expect("it was given").function;
    assert_eq!(
        lines(&fragment.to_string()),
        [
            "b0:",
            "%0, %1 = varying.32.0.2.center",
            "%2 = flt %0, 0.0",
            "%3 = flt %1, 0.0",
            "%4 = bor %2, %3",
            "demote %4",
            "output.color.0.0.float 1.0, 1.0, 1.0, 1.0",
            "return"
        ]
    );
    let vertex = made.vertex.function.to_string();
    assert!(vertex.contains("output.varying.32.2"), "{vertex}");
    let alone = graphics_front_end((&spirv, &options), None);
    let errors = alone.expect_err("nobody would clip");
    let text = errors[0].to_string();
    assert!(
        text.contains("clip distances without a fragment shader"),
        "{text}"
    );
}

/// A fragment shader that reads input attachment 1.
fn input_attachment() -> Vec<u8> {
    fragment(
        "OpDecorate %attachment DescriptorSet 0
         OpDecorate %attachment Binding 3
         OpDecorate %attachment InputAttachmentIndex 1",
        "%v2i = OpTypeVector %i32 2
         %image = OpTypeImage %f32 6 0 0 0 2 0
         %ptr_image = OpTypePointer UniformConstant %image
         %attachment = OpVariable %ptr_image UniformConstant
         %0i = OpConstant %i32 0
         %origin = OpConstantComposite %v2i %0i %0i",
        "%loaded = OpLoad %image %attachment
         %texel = OpImageRead %v4 %loaded %origin
         OpStore %color %texel
         OpReturn",
    )
}

#[test]
fn an_input_attachment_that_is_a_colour_is_read_from_the_tile() {
    let spirv = input_attachment();
    let made = |colors: ColorState| {
        let options = Options {
            colors,
            ..options(ShaderStage::Fragment)
        };
        let made = front_end(&spirv, &options);
        let made = made.unwrap_or_else(|errors| panic!("{errors:?}"));
        lines(&made.function.to_string())
    };
    let tile = made(ColorState {
        inputs: vec![None, Some(InputPlace::Color(4))],
        ..ColorState::default()
    });
    assert_eq!(
        tile,
        [
            "b0:",
            "%0, %1, %2, %3 = tile.4.float 0",
            "output.color.0.0.float %0, %1, %2, %3",
            "return"
        ]
    );
    let image = made(ColorState::default());
    assert_eq!(
        image,
        [
            "b0:",
            "%0 = pixel_x",
            "%1 = pixel_y",
            "%2, %3, %4, %5 = image.fetch.2d.constant @0.3, %0, %1, 0",
            "output.color.0.0.float %2, %3, %4, %5",
            "return"
        ]
    );
}

#[test]
fn depth_and_stencil_are_read_from_the_tile() {
    let spirv = input_attachment();
    let options = Options {
        colors: ColorState {
            inputs: vec![None, Some(InputPlace::DepthStencil)],
            ..ColorState::default()
        },
        ..options(ShaderStage::Fragment)
    };
    let made = front_end(&spirv, &options);
    let made = made.unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(
        lines(&made.function.to_string()),
        [
            "b0:",
            "%0 = tile.depth 0",
            "output.color.0.0.float %0, 0.0, 0.0, 1.0",
            "return"
        ]
    );
    let vertex = clipping_vertex();
    let made = compile_graphics((&vertex, &options), Some((&spirv, &options)));
    let made = made.unwrap_or_else(|errors| panic!("{errors}"));
    let bytes = made.fragment.expect("it was given").program;
    let program = GraphicsProgram::parse(&bytes).expect("the compiler made it");
    let facts = program.fragment_facts().expect("a fragment program");
    let reads = (facts.reads_tile_depth, facts.reads_tile_stencil);
    assert_eq!((program.tile_reads(), reads), (0, (true, false)));
}

#[test]
fn colours_go_to_the_targets_of_their_locations() {
    let spirv = input_attachment();
    let vertex = clipping_vertex();
    let options = Options {
        colors: ColorState {
            locations: vec![Some(2)],
            inputs: vec![None, Some(InputPlace::Color(0))],
            ..ColorState::default()
        },
        ..options(ShaderStage::Fragment)
    };
    let made = compile_graphics((&vertex, &options), Some((&spirv, &options)));
    let made = made.unwrap_or_else(|errors| panic!("{errors}"));
    let bytes = made.fragment.expect("it was given").program;
    let program = GraphicsProgram::parse(&bytes).expect("the compiler made it");
    let targets: Vec<u8> = program.outputs().map(|output| output.target).collect();
    assert_eq!((targets, program.tile_reads()), (vec![2], 1));
    let facts = program.fragment_facts().expect("a fragment program");
    assert!(
        facts.wait_before_test && facts.can_discard,
        "{:?}",
        facts.names().collect::<Vec<_>>()
    );
}
