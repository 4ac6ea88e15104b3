//! Instructions of GLSL.std.450 whose operands don't go together are refused.
use eitri_shaderc::{Options, compile};
use rspirv::spirv::GlslStd450Op as Glsl;

use crate::support::spvasm::assemble;

/// A module that stores the result of an instruction, which has the type `ty`, if that is a float.
fn module(glsl: Glsl, ty: &str, operands: &str) -> Vec<u8> {
    let store = match ty {
        "%f32" => "OpStore %p %x",
        _ => "",
    };
    assemble(&format!(
        r#"
        OpCapability Shader
        %glsl = OpExtInstImport "GLSL.std.450"
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 0
        %void = OpTypeVoid
        %bool = OpTypeBool
        %u32 = OpTypeInt 32 0
        %f32 = OpTypeFloat 32
        %v2 = OpTypeVector %f32 2
        %v3 = OpTypeVector %f32 3
        %v4 = OpTypeVector %f32 4
        %m23 = OpTypeMatrix %v3 2
        %block = OpTypeStruct %f32
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr_f32 = OpTypePointer StorageBuffer %f32
        %out = OpVariable %ptr_block StorageBuffer
        %zero = OpConstant %u32 0
        %one = OpConstant %f32 1.0
        %two = OpConstantComposite %v2 %one %one
        %three = OpConstantComposite %v3 %one %one %one
        %four = OpConstantComposite %v4 %one %one %one %one
        %six = OpConstantComposite %m23 %three %three
        %yes = OpConstantTrue %bool
        %fn = OpTypeFunction %void
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %p = OpAccessChain %ptr_f32 %out %zero
        %x = OpExtInst {ty} %glsl {} {operands}
        {store}
        OpReturn
        OpFunctionEnd"#,
        glsl as u32
    ))
}

#[test]
fn vectors_have_the_same_length() {
    let cases = [
        (Glsl::Distance, "%f32", "%two %two", "%two %three"),
        (Glsl::Cross, "%v3", "%three %three", "%three %two"),
        (
            Glsl::FaceForward,
            "%v2",
            "%two %two %two",
            "%two %two %three",
        ),
        (Glsl::Reflect, "%v2", "%two %two", "%two %three"),
        (Glsl::Refract, "%v2", "%two %two %one", "%two %three %one"),
        (Glsl::FMin, "%v2", "%two %two", "%two %three"),
        (Glsl::FMix, "%v2", "%two %two %two", "%two %two %one"),
    ];
    for (glsl, ty, right, wrong) in cases {
        check(glsl, ty, right, wrong);
    }
}

#[test]
fn operands_have_the_form_that_the_instruction_wants() {
    let cases = [
        // Of two or four components, there is no product that is a vector.
        (Glsl::Cross, "%v3", "%three %three", "%two %two"),
        (Glsl::Cross, "%v3", "%three %three", "%four %four"),
        (Glsl::Refract, "%v2", "%two %two %one", "%two %two %two"),
        (Glsl::Refract, "%v2", "%two %two %one", "%two %two"),
        (Glsl::FaceForward, "%v2", "%two %two %two", "%two %two"),
        (Glsl::Distance, "%f32", "%two %two", "%two"),
        (Glsl::FMin, "%f32", "%one %one", "%one"),
        (Glsl::FAbs, "%f32", "%one", "%yes"),
        (Glsl::PackHalf2x16, "%u32", "%two", "%three"),
        (Glsl::PackUnorm4x8, "%u32", "%four", "%two"),
    ];
    for (glsl, ty, right, wrong) in cases {
        check(glsl, ty, right, wrong);
    }
}

#[test]
fn matrices_with_a_determinant_are_square() {
    let error = compile(
        &module(Glsl::Determinant, "%f32", "%six"),
        &Options::default(),
    );
    let error = error
        .expect_err("a matrix of two columns and three rows")
        .to_string();
    assert!(error.ends_with("the types don't go together"), "{error}");
}

#[track_caller]
fn check(glsl: Glsl, ty: &str, right: &str, wrong: &str) {
    if let Err(error) = compile(&module(glsl, ty, right), &Options::default()) {
        panic!("{glsl:?} of {right}: {error}");
    }
    match compile(&module(glsl, ty, wrong), &Options::default()) {
        Ok(_) => panic!("{glsl:?} of {wrong} compiles"),
        Err(error) => {
            let error = error.to_string();
            let ends = "the types don't go together";
            assert!(error.ends_with(ends), "{glsl:?} of {wrong}: {error}");
        }
    }
}
