//! Texels of buffers.

use super::*;

/// Copies texel i of binding 0, which is read as `sampled` floats or integers, to texel i of binding 1, from 2 texels before the
/// start to 2 beyond the end, and writes how many there are.
fn copies(texel: &str, kind: &str) -> Vec<u8> {
    spvasm::assemble(&format!(
        "OpCapability 1
        OpCapability 46
        OpCapability 47
        OpMemoryModel 0 1
        OpEntryPoint 5 %main \"main\" %id
        OpExecutionMode %main 17 8 1 1
        OpDecorate %id 11 28
        OpDecorate %from 34 0
        OpDecorate %from 33 0
        OpDecorate %to 34 0
        OpDecorate %to 33 1
        OpDecorate %block 2
        OpMemberDecorate %block 0 35 0
        OpDecorate %sizes 34 0
        OpDecorate %sizes 33 2
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %int = OpTypeInt 32 1
        %float = OpTypeFloat 32
        %uvec2 = OpTypeVector %uint 2
        %uvec3 = OpTypeVector %uint 3
        %vec4 = OpTypeVector %{texel} 4
        %input = OpTypePointer 1 %uvec3
        %id = OpVariable %input 1
        %uniform = OpTypeImage %{texel} 5 0 0 0 1 0
        %storage = OpTypeImage %{texel} 5 0 0 0 2 {kind}
        %uniform_p = OpTypePointer 0 %uniform
        %storage_p = OpTypePointer 0 %storage
        %from = OpVariable %uniform_p 0
        %to = OpVariable %storage_p 0
        %block = OpTypeStruct %uvec2
        %block_p = OpTypePointer 12 %block
        %sizes = OpVariable %block_p 12
        %uvec2_p = OpTypePointer 12 %uvec2
        %zero = OpConstant %uint 0
        %two = OpConstant %int 2
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %ids = OpLoad %uvec3 %id
        %x = OpCompositeExtract %uint %ids 0
        %xi = OpBitcast %int %x
        %at = OpISub %int %xi %two
        %source = OpLoad %uniform %from
        %target = OpLoad %storage %to
        %value = OpImageFetch %vec4 %source %at
        OpImageWrite %target %at %value
        %n = OpImageQuerySize %uint %source
        %m = OpImageQuerySize %uint %target
        %both = OpCompositeConstruct %uvec2 %n %m
        %place = OpAccessChain %uvec2_p %sizes %zero
        OpStore %place %both
        OpReturn
        OpFunctionEnd"
    ))
}

#[test]
fn texels_are_converted_by_the_formats_of_their_buffers() {
    // Unknown formats in the shader: the buffers' own count.
    let module = copies("float", "0");
    let from: Vec<u8> = (0..4).flat_map(|i| [i * 60, 255 - i, i, 128]).collect();
    let bound = [
        texel_buffer((0, 0), "R8G8B8A8_UNORM", &from),
        texel_buffer((0, 1), "R32G32B32A32_SFLOAT", &[0; 64]),
        words((0, 2), &[0; 2]),
    ];
    let ran = run(&module, [1; 3], &bound);
    let floats = floats_of(&ran[1]);
    let expected: Vec<f32> = from.iter().map(|byte| f32::from(*byte) / 255.0).collect();
    assert_eq!(floats, expected);
    assert_eq!(words_of(&ran[2]), [4, 4]);
}

#[test]
fn missing_components_are_0_0_0_1_and_outside_nothing_happens() {
    let module = copies("uint", "0");
    let bound = [
        texel_buffer((0, 0), "R16_UINT", &[1, 0, 2, 0, 3, 0]),
        texel_buffer((0, 1), "R32G32B32A32_UINT", &[7; 5 * 16]),
        words((0, 2), &[0; 2]),
    ];
    let ran = run(&module, [1; 3], &bound);
    let rows = [[1, 0, 0, 1], [2, 0, 0, 1], [3, 0, 0, 1], [0; 4], [0; 4]];
    assert_eq!(words_of(&ran[1]), rows.concat());
    assert_eq!(words_of(&ran[2]), [3, 5]);
}

/// Adds the lane's number plus one to texel 1 of a buffer, and where there is no texel; keeps what was there before.
const ATOMICS: &str = "
        OpCapability 1
        OpCapability 47
        OpMemoryModel 0 1
        OpEntryPoint 5 %main \"main\" %id
        OpExecutionMode %main 17 4 1 1
        OpDecorate %id 11 28
        OpDecorate %texels 34 0
        OpDecorate %texels 33 0
        OpDecorate %array 6 4
        OpDecorate %block 2
        OpMemberDecorate %block 0 35 0
        OpDecorate %out 34 0
        OpDecorate %out 33 1
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %uvec3 = OpTypeVector %uint 3
        %input = OpTypePointer 1 %uvec3
        %id = OpVariable %input 1
        %image = OpTypeImage %uint 5 0 0 0 2 33
        %image_p = OpTypePointer 0 %image
        %texels = OpVariable %image_p 0
        %array = OpTypeRuntimeArray %uint
        %block = OpTypeStruct %array
        %block_p = OpTypePointer 12 %block
        %out = OpVariable %block_p 12
        %uint_p = OpTypePointer 12 %uint
        %texel_p = OpTypePointer 11 %uint
        %zero = OpConstant %uint 0
        %one = OpConstant %uint 1
        %nine = OpConstant %uint 9
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %ids = OpLoad %uvec3 %id
        %x = OpCompositeExtract %uint %ids 0
        %more = OpIAdd %uint %x %one
        %there = OpImageTexelPointer %texel_p %texels %one %zero
        %old = OpAtomicIAdd %uint %there %one %zero %more
        %far = OpIAdd %uint %x %nine
        %nowhere = OpImageTexelPointer %texel_p %texels %far %zero
        %none = OpAtomicUMax %uint %nowhere %one %zero %nine
        %place = OpAccessChain %uint_p %out %zero %x
        OpStore %place %none
        OpReturn
        OpFunctionEnd";

#[test]
fn atomics_change_texels_and_give_0_outside() {
    let bound = [
        texel_buffer((0, 0), "R32_UINT", &[5, 0, 0, 0, 100, 0, 0, 0]),
        words((0, 1), &[77; 4]),
    ];
    let ran = run(&spvasm::assemble(ATOMICS), [1; 3], &bound);
    assert_eq!(words_of(&ran[0]), [5, 110]);
    assert_eq!(words_of(&ran[1]), [0; 4]);
}
