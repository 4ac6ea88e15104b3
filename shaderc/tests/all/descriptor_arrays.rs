//! Arrays of descriptors: what is told of an element that is chosen at run time.
use eitri_shaderc::Options;
use eitri_shaderc::spirv::translate;

use crate::support::spvasm::assemble;

/// Lanes may choose different elements where something is decorated so, and only there.
#[test]
fn elements_may_differ_between_lanes_where_the_module_says_so() {
    for decorated in [false, true] {
        let decoration = match decorated {
            true => "OpDecorate %place NonUniform",
            false => "",
        };
        let text = format!(
            r#"
            OpCapability Shader
            OpMemoryModel Logical GLSL450
            OpEntryPoint GLCompute %main "main" %id
            OpExecutionMode %main LocalSize 4 1 1
            OpDecorate %id BuiltIn GlobalInvocationId
            OpDecorate %words ArrayStride 4
            OpDecorate %block Block
            OpMemberDecorate %block 0 Offset 0
            OpDecorate %out DescriptorSet 0
            OpDecorate %out Binding 0
            {decoration}
            %void = OpTypeVoid
            %u32 = OpTypeInt 32 0
            %v3 = OpTypeVector %u32 3
            %in_v3 = OpTypePointer Input %v3
            %id = OpVariable %in_v3 Input
            %words = OpTypeRuntimeArray %u32
            %block = OpTypeStruct %words
            %c0 = OpConstant %u32 0
            %c4 = OpConstant %u32 4
            %blocks = OpTypeArray %block %c4
            %ptr_blocks = OpTypePointer StorageBuffer %blocks
            %ptr_u32 = OpTypePointer StorageBuffer %u32
            %out = OpVariable %ptr_blocks StorageBuffer
            %fn = OpTypeFunction %void
            %main = OpFunction %void 0 %fn
            %entry = OpLabel
            %all = OpLoad %v3 %id
            %x = OpCompositeExtract %u32 %all 0
            %place = OpAccessChain %ptr_u32 %out %x %c0 %c0
            OpStore %place %x
            OpReturn
            OpFunctionEnd"#
        );
        let translated = translate(&assemble(&text), &Options::default());
        let function = translated
            .unwrap_or_else(|errors| panic!("{}", errors[0]))
            .function;
        let [binding] = function.bindings.as_slice() else {
            panic!("there is one binding\n{function}");
        };
        assert_eq!((binding.count, binding.non_uniform), (4, decorated));
    }
}
