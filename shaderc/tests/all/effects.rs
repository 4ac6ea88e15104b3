//! Which stages may change memory, and the fragment shaders that are tested before they run and again behind.

use crate::graphics::{TYPES, check_refused, module, options};
use eitri_shaderc::ir::DepthClaim;
use eitri_shaderc::{ShaderStage, front_end};

/// What a fragment shader says that is tested twice, and writes a greater depth.
const TWICE: &str = "OpExecutionMode %main EarlyAndLateFragmentTestsAMD
    OpExecutionMode %main DepthReplacing
    OpExecutionMode %main DepthGreater";

/// A shader that stores to a buffer.
fn stores(stage: ShaderStage, modes: &str) -> Vec<u8> {
    let declarations = format!(
        "{modes}
         OpDecorate %block Block
         OpMemberDecorate %block 0 Offset 0
         OpDecorate %buffer DescriptorSet 0
         OpDecorate %buffer Binding 0
         {TYPES}
         %block = OpTypeStruct %f32
         %ptr_block = OpTypePointer StorageBuffer %block
         %ptr = OpTypePointer StorageBuffer %f32
         %buffer = OpVariable %ptr_block StorageBuffer"
    );
    let body = "%main = OpFunction %void 0 %fn
         %l = OpLabel
         %place = OpAccessChain %ptr %buffer %0u
         OpStore %place %half
         OpReturn
         OpFunctionEnd";
    module(stage, "", &declarations, body)
}

#[test]
fn a_vertex_shader_changes_no_memory() {
    let spirv = stores(ShaderStage::Vertex, "");
    check_refused(
        ShaderStage::Vertex,
        &spirv,
        "vertexPipelineStoresAndAtomics",
    );
}

#[test]
fn fragments_that_are_tested_twice_are_tested_with_the_depth_that_is_written() {
    let declarations = format!(
        "{TWICE}
         OpDecorate %depth BuiltIn FragDepth
         {TYPES}
         %depth = OpVariable %out_f32 Output"
    );
    let body = "%main = OpFunction %void 0 %fn
         %l = OpLabel
         OpStore %depth %half
         OpReturn
         OpFunctionEnd";
    let spirv = module(ShaderStage::Fragment, "%depth", &declarations, body);
    let made = front_end(&spirv, &options(ShaderStage::Fragment));
    let function = made.unwrap_or_else(|errors| panic!("{errors:?}")).function;
    let stage = function.stage.fragment().expect("it is a fragment shader");
    assert_eq!(
        (stage.early_tests, stage.depth),
        (false, DepthClaim::Greater)
    );
    let text = function.to_string();
    assert!(text.contains("output.depth"), "{text}");
}

#[test]
fn what_fragments_that_are_tested_twice_change_in_memory_is_refused() {
    let spirv = stores(ShaderStage::Fragment, TWICE);
    check_refused(
        ShaderStage::Fragment,
        &spirv,
        "EarlyAndLateFragmentTestsAMD",
    );
    let (_, once) = TWICE
        .split_once('\n')
        .expect("the first line asks for two tests");
    let made = front_end(
        &stores(ShaderStage::Fragment, once),
        &options(ShaderStage::Fragment),
    );
    assert!(made.is_ok(), "{:?}", made.err());
}
