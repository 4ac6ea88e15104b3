//! Where inputs of fragment shaders are interpolated.
use eitri_shaderc::ShaderStage;

use crate::graphics::{TYPES, check, fragment, module};

/// Both components of the input as a colour.
const COPY: &str = "%v = OpLoad %v2 %given
     %x = OpCompositeExtract %f32 %v 0
     %y = OpCompositeExtract %f32 %v 1
     %c = OpCompositeConstruct %v4 %x %y %0f %1f
     OpStore %color %c
     OpReturn";

#[test]
fn decorations_say_where_an_input_is_interpolated() {
    for (decorations, expected) in [
        ("", "%0, %1 = varying.0.0.2.center"),
        ("OpDecorate %given Flat", "%0, %1 = varying.0.0.2.flat"),
        (
            "OpDecorate %given Centroid",
            "%0, %1 = varying.0.0.2.centroid",
        ),
        ("OpDecorate %given Sample", "%0, %1 = varying.0.0.2.sample"),
        (
            "OpDecorate %given RelaxedPrecision",
            "%0, %1 = varying.0.0.2.center.relaxed",
        ),
        (
            "OpDecorate %given Component 2",
            "%0, %1 = varying.0.2.2.center",
        ),
    ] {
        let expected = format!("b0:\n{expected}\noutput.color.0.0.float %0, %1, 0.0, 1.0\nreturn");
        check(
            ShaderStage::Fragment,
            &fragment(decorations, "", COPY),
            &expected,
        );
    }
    check(
        ShaderStage::Fragment,
        &fragment(
            "OpDecorate %given NoPerspective\nOpDecorate %given Centroid",
            "",
            COPY,
        ),
        "b0:
         %0, %1 = varying.0.0.2.centroid
         %2 = frag_w.centroid
         %3 = fmul %0, %2
         %4 = fmul %1, %2
         output.color.0.0.float %3, %4, 0.0, 1.0
         return",
    );
}

#[test]
fn an_input_is_interpolated_elsewhere() {
    let glsl = "%glsl = OpExtInstImport \"GLSL.std.450\"";
    let body = "%v = OpExtInst %v2 %glsl 78 %given %offset
         %place = OpAccessChain %in_f32 %given %1u
         %s = OpExtInst %f32 %glsl 77 %place %2u
         %x = OpCompositeExtract %f32 %v 0
         %y = OpCompositeExtract %f32 %v 1
         %c = OpCompositeConstruct %v4 %x %y %s %1f
         OpStore %color %c
         OpReturn";
    check(
        ShaderStage::Fragment,
        &fragment(glsl, "%offset = OpConstantComposite %v2 %half %0f", body),
        "b0:
         %0, %1 = varying.0.0.2.at_offset 0.5, 0.0
         %2 = varying.0.1.1.at_sample 2
         output.color.0.0.float %0, %1, %2, 1.0
         return",
    );
}

#[test]
fn an_element_that_is_chosen_at_run_time_is_interpolated_elsewhere() {
    let declarations = format!(
        "%glsl = OpExtInstImport \"GLSL.std.450\"
         OpDecorate %given Location 0
         OpDecorate %number Location 4
         OpDecorate %number Flat
         OpDecorate %color Location 0
         {TYPES}
         %list = OpTypeArray %f32 %2u
         %in_list = OpTypePointer Input %list
         %given = OpVariable %in_list Input
         %number = OpVariable %in_u32 Input
         %color = OpVariable %out_v4 Output"
    );
    let body = "%main = OpFunction %void 0 %fn
         %l = OpLabel
         %n = OpLoad %u32 %number
         %place = OpAccessChain %in_f32 %given %n
         %x = OpExtInst %f32 %glsl 76 %place
         %c = OpCompositeConstruct %v4 %x %0f %0f %1f
         OpStore %color %c
         OpReturn
         OpFunctionEnd";
    check(
        ShaderStage::Fragment,
        &module(
            ShaderStage::Fragment,
            "%given %number %color",
            &declarations,
            body,
        ),
        "b0:
         %0 = varying.4.0.1.flat
         %1 = ine %0, 0
         %2 = varying.0.0.1.centroid
         %3 = varying.1.0.1.centroid
         %4 = select %1, %3, %2
         output.color.0.0.float %4, 0.0, 0.0, 1.0
         return",
    );
}
