//! Vertex and fragment shaders from SPIR-V: what becomes of variables, built-ins and the ends of lanes.
use eitri_shaderc::ir::{Op, Output};
use eitri_shaderc::link::Interpolation;
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, ShaderStage, front_end, graphics_front_end};

use crate::support::spvasm::assemble;

pub fn options(stage: ShaderStage) -> Options {
    Options {
        stage,
        check: true,
        ..Options::default()
    }
}

/// A module with one entry point of that stage. `interface` are the ids of its variables.
pub fn module(stage: ShaderStage, interface: &str, declarations: &str, body: &str) -> Vec<u8> {
    let (model, modes) = match stage {
        ShaderStage::Vertex => ("Vertex", ""),
        ShaderStage::Fragment => ("Fragment", "OpExecutionMode %main OriginUpperLeft"),
        ShaderStage::Compute => ("GLCompute", "OpExecutionMode %main LocalSize 1 1 1"),
    };
    assemble(&format!(
        "OpCapability Shader
         OpCapability DerivativeControl
         OpMemoryModel Logical GLSL450
         OpEntryPoint {model} %main \"main\" {interface}
         {modes}
         {declarations}
         {body}"
    ))
}

pub const TYPES: &str = "
    %void = OpTypeVoid
    %bool = OpTypeBool
    %u32 = OpTypeInt 32 0
    %i32 = OpTypeInt 32 1
    %f32 = OpTypeFloat 32
    %v2 = OpTypeVector %f32 2
    %v3 = OpTypeVector %f32 3
    %v4 = OpTypeVector %f32 4
    %fn = OpTypeFunction %void
    %in_f32 = OpTypePointer Input %f32
    %in_u32 = OpTypePointer Input %u32
    %in_i32 = OpTypePointer Input %i32
    %in_v2 = OpTypePointer Input %v2
    %in_v3 = OpTypePointer Input %v3
    %in_v4 = OpTypePointer Input %v4
    %out_f32 = OpTypePointer Output %f32
    %out_u32 = OpTypePointer Output %u32
    %out_v2 = OpTypePointer Output %v2
    %out_v3 = OpTypePointer Output %v3
    %out_v4 = OpTypePointer Output %v4
    %0f = OpConstant %f32 0.0
    %1f = OpConstant %f32 1.0
    %half = OpConstant %f32 0.5
    %0u = OpConstant %u32 0
    %1u = OpConstant %u32 1
    %2u = OpConstant %u32 2
";

/// The lines of the lowered form behind the first label, values by number in order of appearance.
#[track_caller]
pub fn lowered(stage: ShaderStage, spirv: &[u8]) -> Vec<String> {
    let made = front_end(spirv, &options(stage));
    let made = made.unwrap_or_else(|errors| panic!("{errors:?}"));
    lines(&made.function.to_string())
}

pub fn lines(text: &str) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    let code = text.lines().skip_while(|line| !line.ends_with(':'));
    let code = code.map(|line| {
        let mut out = String::new();
        let mut rest = line.trim();
        while let Some(at) = rest.find('%') {
            out += &rest[..at];
            let digits = rest[at + 1..]
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count();
            let name = &rest[at..=at + digits];
            let number = names.iter().position(|known| known == name);
            let number = number.unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            out += &format!("%{number}");
            rest = &rest[at + 1 + digits..];
        }
        out + rest
    });
    code.collect()
}

#[track_caller]
pub fn check(stage: ShaderStage, spirv: &[u8], expected: &str) {
    let got = lowered(stage, spirv);
    let expected: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(got, expected, "{}", got.join("\n"));
}

#[track_caller]
pub fn check_refused(stage: ShaderStage, spirv: &[u8], expected: &str) {
    let errors = front_end(spirv, &options(stage)).expect_err("it is refused");
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(
        errors.iter().any(|error| error.contains(expected)),
        "{errors:?}"
    );
}

#[test]
fn a_vertex_shader_stores_window_coordinates_and_what_it_wrote() {
    let declarations = format!(
        "OpDecorate %at Location 2
         OpDecorate %block Block
         OpMemberDecorate %block 0 BuiltIn Position
         OpMemberDecorate %block 1 BuiltIn PointSize
         OpMemberDecorate %block 2 BuiltIn ClipDistance
         OpDecorate %number BuiltIn InstanceIndex
         OpDecorate %color Location 1
         OpDecorate %color Component 1
         {TYPES}
         %distances = OpTypeArray %f32 %1u
         %block = OpTypeStruct %v4 %f32 %distances
         %out_block = OpTypePointer Output %block
         %out = OpVariable %out_block Output
         %at = OpVariable %in_v4 Input
         %number = OpVariable %in_u32 Input
         %color = OpVariable %out_u32 Output"
    );
    let body = "%main = OpFunction %void 0 %fn
         %l = OpLabel
         %p = OpLoad %v4 %at
         %place = OpAccessChain %out_v4 %out %0u
         OpStore %place %p
         %size = OpAccessChain %out_f32 %out %1u
         OpStore %size %half
         %n = OpLoad %u32 %number
         OpStore %color %n
         OpReturn
         OpFunctionEnd";
    check(
        ShaderStage::Vertex,
        &module(
            ShaderStage::Vertex,
            "%at %out %number %color",
            &declarations,
            body,
        ),
        "b0:
         %0, %1, %2, %3 = attribute.2.float.0.4
         %4 = instance_index
         %5 = uniform.base_instance
         %6 = iadd %4, %5
         %7 = frcp %3
         %8 = fmax %7, -32768.0
         %9 = fmin %8, 32768.0
         %10 = uniform.viewport_scale.x
         %11 = uniform.viewport_offset.x
         %12 = fmul %0, %9
         %13 = ffma %12, %10, %11
         %14 = uniform.viewport_scale.y
         %15 = uniform.viewport_offset.y
         %16 = fmul %1, %9
         %17 = ffma %16, %14, %15
         %18 = uniform.viewport_scale.z
         %19 = uniform.viewport_offset.z
         %20 = fmul %2, %9
         %21 = ffma %20, %18, %19
         output.position %13, %17, %21, %9
         output.point_size 1.0
         output.varying.1.2 0, %6
         return",
    );
}

/// A fragment shader with an input at location 0, decorated, and a colour.
pub fn fragment(decorations: &str, declarations: &str, body: &str) -> Vec<u8> {
    let declarations = format!(
        "OpDecorate %given Location 0
         OpDecorate %color Location 0
         {decorations}
         {TYPES}
         %given = OpVariable %in_v2 Input
         %color = OpVariable %out_v4 Output
         {declarations}"
    );
    let body = format!(
        "%main = OpFunction %void 0 %fn
         %l = OpLabel
         {body}
         OpFunctionEnd"
    );
    module(ShaderStage::Fragment, "%given %color", &declarations, &body)
}

#[test]
fn a_derivative_is_the_difference_in_the_quad() {
    let body = "%v = OpLoad %v2 %given
         %x = OpCompositeExtract %f32 %v 0
         %dx = OpDPdx %f32 %x
         %dy = OpDPdyFine %f32 %x
         %c = OpCompositeConstruct %v4 %dx %dy %0f %1f
         OpStore %color %c
         OpReturn";
    check(
        ShaderStage::Fragment,
        &fragment("", "", body),
        "b0:
         %0, %1 = varying.0.0.2.center
         %2 = quad_swap_x %0
         %3 = lane_id
         %4 = iand %3, 1
         %5 = ine %4, 0
         %6 = select %5, %0, %2
         %7 = select %5, %2, %0
         %8 = fsub exact %6, %7
         %9 = quad_swap_y %0
         %10 = iand %3, 2
         %11 = ine %10, 0
         %12 = select %11, %0, %9
         %13 = select %11, %9, %0
         %14 = fsub exact %12, %13
         output.color.0.0.float %8, %14, 0.0, 1.0
         return",
    );
}

#[test]
fn a_colour_that_is_written_in_part_is_opaque() {
    let body = "%place = OpAccessChain %out_f32 %color %0u
         OpStore %place %half
         OpReturn";
    check(
        ShaderStage::Fragment,
        &fragment("", "", body),
        "b0:
         output.color.0.0.float 0.5, 0.0, 0.0, 1.0
         return",
    );
}

#[test]
fn what_is_not_written_is_not_stored() {
    check(
        ShaderStage::Fragment,
        &fragment("", "", "OpReturn"),
        "b0:
         return",
    );
}

#[test]
fn the_fragment_coordinate_is_at_the_centre_or_at_the_sample() {
    let with = |built_in: &str| {
        format!(
            "OpDecorate %coordinate BuiltIn FragCoord
             {built_in}"
        )
    };
    let body = "%v = OpLoad %v4 %coordinate
         OpStore %color %v
         OpReturn";
    let declarations = "%coordinate = OpVariable %in_v4 Input\n%sample = OpVariable %in_i32 Input";
    check(
        ShaderStage::Fragment,
        &fragment(&with(""), declarations, body),
        "b0:
         %0 = pixel_x
         %1 = u2f %0
         %2 = fadd %1, 0.5
         %3 = pixel_y
         %4 = u2f %3
         %5 = fadd %4, 0.5
         %6 = frag_z
         %7 = frag_w.center
         output.color.0.0.float %2, %5, %6, %7
         return",
    );
    let sampled = "%v = OpLoad %v4 %coordinate
         %s = OpLoad %i32 %sample
         OpStore %color %v
         OpReturn";
    let spirv = fragment(
        &with("OpDecorate %sample BuiltIn SampleId"),
        declarations,
        sampled,
    );
    let made = front_end(&spirv, &options(ShaderStage::Fragment)).unwrap();
    let text = made.function.to_string();
    assert!(text.contains("stage fragment sample_shading"), "{text}");
    assert!(text.contains("sample_x"), "{text}");
}

#[test]
fn both_stages_are_fitted_to_each_other() {
    let declarations = format!(
        "OpDecorate %a Location 0
         OpDecorate %b Location 1
         OpDecorate %c Location 2
         OpDecorate %position BuiltIn Position
         {TYPES}
         %position = OpVariable %out_v4 Output
         %a = OpVariable %out_v4 Output
         %b = OpVariable %out_f32 Output
         %c = OpVariable %out_v3 Output
         %ones = OpConstantComposite %v4 %1f %1f %1f %1f
         %three = OpConstantComposite %v3 %1f %0f %1f"
    );
    let body = "%main = OpFunction %void 0 %fn
         %l = OpLabel
         OpStore %position %ones
         OpStore %a %ones
         OpStore %b %half
         OpStore %c %three
         OpReturn
         OpFunctionEnd";
    let vertex = module(
        ShaderStage::Vertex,
        "%position %a %b %c",
        &declarations,
        body,
    );
    // Reads a.x, c.yz without perspective, and d.x, which nobody writes; not b.
    let declarations = format!(
        "OpDecorate %a Location 0
         OpDecorate %c Location 2
         OpDecorate %c NoPerspective
         OpDecorate %d Location 3
         OpDecorate %color Location 0
         {TYPES}
         %a = OpVariable %in_v4 Input
         %c = OpVariable %in_v3 Input
         %d = OpVariable %in_f32 Input
         %color = OpVariable %out_v4 Output"
    );
    let body = "%main = OpFunction %void 0 %fn
         %l = OpLabel
         %va = OpLoad %v4 %a
         %vc = OpLoad %v3 %c
         %x = OpCompositeExtract %f32 %va 0
         %y = OpCompositeExtract %f32 %vc 1
         %z = OpCompositeExtract %f32 %vc 2
         %w = OpLoad %f32 %d
         %all = OpCompositeConstruct %v4 %x %y %z %w
         OpStore %color %all
         OpReturn
         OpFunctionEnd";
    let fragment = module(
        ShaderStage::Fragment,
        "%a %c %d %color",
        &declarations,
        body,
    );
    // The vertex shader stores constants.
    let options = Options {
        skip: vec!["constant_varyings".to_owned()],
        ..options(ShaderStage::Compute)
    };
    let linked = graphics_front_end((&vertex, &options), Some((&fragment, &options)));
    let linked = linked.unwrap_or_else(|errors| panic!("{errors:?}"));
    let outputs: Vec<Output> = linked
        .vertex
        .function
        .placed_insts()
        .filter_map(|(_, inst)| match linked.vertex.function.inst(inst).op {
            Op::StoreOutput(output) => Some(output),
            _ => None,
        })
        .collect();
    let varying = |location, count| Output::Varying {
        location,
        count,
        relaxed: false,
    };
    assert_eq!(outputs, [Output::Position, varying(0, 1), varying(2, 3)]);
    let text = linked.vertex.function.to_string();
    assert!(
        text.contains("stage vertex window noperspective=4"),
        "{text}"
    );
    let slots = linked.layout.slots.iter();
    let slots: Vec<_> = slots
        .map(|slot| {
            (
                slot.location,
                slot.components,
                slot.interpolation,
                slot.offset,
            )
        })
        .collect();
    // Three words stand at a multiple of the next power of two.
    assert_eq!(
        slots,
        [
            (0, 1, Interpolation::Smooth, 0),
            (2, 3, Interpolation::NoPerspective, 16)
        ]
    );
    assert_eq!(linked.layout.record_bytes, 28);
    let fragment = linked.fragment.expect("it was given").function;
    assert_eq!(
        lines(&fragment.to_string()),
        [
            "b0:",
            "%0 = varying.0.0.1.center",
            "%1, %2 = varying.2.1.2.center",
            "%3 = frag_w.center",
            "%4 = fmul %1, %3",
            "%5 = fmul %2, %3",
            "output.color.0.0.float %0, %4, %5, 0.0",
            "return"
        ]
    );
}

#[test]
fn what_is_not_supported_has_a_name() {
    let cull = fragment(
        "OpDecorate %distances BuiltIn CullDistance",
        "%list = OpTypeArray %f32 %1u
         %in_list = OpTypePointer Input %list
         %distances = OpVariable %in_list Input",
        "%place = OpAccessChain %in_f32 %distances %0u
         %x = OpLoad %f32 %place
         OpReturn",
    );
    check_refused(
        ShaderStage::Fragment,
        &cull,
        "built-in CullDistance (shaderCullDistance)",
    );
}

#[test]
fn a_module_without_the_stage_is_refused() {
    let body = "%main = OpFunction %void 0 %fn
         %l = OpLabel
         OpReturn
         OpFunctionEnd";
    let spirv = module(ShaderStage::Vertex, "", TYPES, body);
    let other = translate(&spirv, &options(ShaderStage::Fragment)).err();
    assert!(other.is_some(), "it has no fragment shader");
}
