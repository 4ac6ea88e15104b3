//! Vectors whose components are chosen at run time, and vectors of truth values in memory.
use crate::pointers::check;

/// A module that reads three words of a buffer as %n, %a and %b, and stores words at places of another.
fn module(body: &str, stored: [&str; 3]) -> String {
    let stores: String = (0..)
        .zip(stored)
        .map(|(place, value)| {
            format!(
                "%to{place} = OpAccessChain %ptr_u32 %out %c0 %c{place}\nOpStore %to{place} %{value}\n"
            )
        })
        .collect();
    format!(
        r#"
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %words ArrayStride 4
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %in DescriptorSet 0
        OpDecorate %in Binding 0
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 1
        %void = OpTypeVoid
        %bool = OpTypeBool
        %bool2 = OpTypeVector %bool 2
        %u32 = OpTypeInt 32 0
        %v3 = OpTypeVector %u32 3
        %words = OpTypeRuntimeArray %u32
        %block = OpTypeStruct %words
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr_u32 = OpTypePointer StorageBuffer %u32
        %in = OpVariable %ptr_block StorageBuffer
        %out = OpVariable %ptr_block StorageBuffer
        %c0 = OpConstant %u32 0
        %c1 = OpConstant %u32 1
        %c2 = OpConstant %u32 2
        %c3 = OpConstant %u32 3
        %pairs = OpTypeArray %bool2 %c3
        %ptr_pairs = OpTypePointer Private %pairs
        %ptr_pair = OpTypePointer Private %bool2
        %kept = OpVariable %ptr_pairs Private
        %fn = OpTypeFunction %void
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %p0 = OpAccessChain %ptr_u32 %in %c0 %c0
        %p1 = OpAccessChain %ptr_u32 %in %c0 %c1
        %p2 = OpAccessChain %ptr_u32 %in %c0 %c2
        %n = OpLoad %u32 %p0
        %a = OpLoad %u32 %p1
        %b = OpLoad %u32 %p2
        {body}
        {stores}
        OpReturn
        OpFunctionEnd"#
    )
}

#[test]
fn a_component_is_inserted_where_an_index_says() {
    let body = "
        %old = OpCompositeConstruct %v3 %a %a %a
        %new = OpVectorInsertDynamic %v3 %old %b %n
        %x = OpCompositeExtract %u32 %new 0
        %y = OpCompositeExtract %u32 %new 1
        %z = OpCompositeExtract %u32 %new 2";
    for n in 0..3 {
        let mut expected = [7; 3];
        expected[n] = 9;
        let words = [n as u32, 7, 9];
        let text = module(body, ["x", "y", "z"]);
        check(&text, &[&words, &[0; 3]], &[&words, &expected]);
    }
}

#[test]
fn truth_values_are_kept_in_variables() {
    let body = "
        %less = OpULessThan %bool %a %b
        %more = OpUGreaterThan %bool %a %b
        %pair = OpCompositeConstruct %bool2 %less %more
        %none = OpCompositeConstruct %bool2 %more %more
        %first = OpAccessChain %ptr_pair %kept %c0
        OpStore %first %none
        %place = OpAccessChain %ptr_pair %kept %n
        OpStore %place %pair
        %again = OpAccessChain %ptr_pair %kept %n
        %found = OpLoad %bool2 %again
        %x = OpCompositeExtract %bool %found 0
        %y = OpCompositeExtract %bool %found 1
        %xw = OpSelect %u32 %x %c1 %c2
        %yw = OpSelect %u32 %y %c1 %c2
        %other = OpLoad %bool2 %first
        %z = OpCompositeExtract %bool %other 0
        %zw = OpSelect %u32 %z %c1 %c2";
    for (words, expected) in [
        ([1, 7, 9], [1, 2, 2]),
        ([2, 9, 7], [2, 1, 1]),
        ([1, 7, 7], [2, 2, 2]),
    ] {
        let text = module(body, ["xw", "yw", "zw"]);
        check(&text, &[&words, &[0; 3]], &[&words, &expected]);
    }
}
