//! A module may hold entry points of several stages: only what the one that is compiled comes to matters.
use eitri_program::{BindingKind, Program};
use eitri_shaderc::{Options, compile};

use crate::support::spvasm::assemble;

/// Two compute shaders, whose resources stand at the same binding, and a fragment shader.
const MODULE: &str = r#"
    OpCapability Shader
    OpCapability DerivativeControl
    OpCapability SampleRateShading
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %first "first" %id
    OpEntryPoint GLCompute %second "second"
    OpEntryPoint Fragment %picture "picture" %color
    OpExecutionMode %first LocalSize 4 1 1
    OpExecutionMode %second LocalSize 8 1 1
    OpExecutionMode %picture OriginUpperLeft
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %color Location 0
    OpDecorate %words ArrayStride 4
    OpDecorate %blocks Block
    %blocks = OpDecorationGroup
    OpGroupDecorate %blocks %block %vector
    OpDecorate %starts Offset 0
    %starts = OpDecorationGroup
    OpGroupMemberDecorate %starts %block 0 %vector 0
    OpDecorate %out DescriptorSet 0
    OpDecorate %out Binding 0
    OpDecorate %in DescriptorSet 0
    OpDecorate %in Binding 0
    OpDecorate %result DescriptorSet 0
    OpDecorate %result Binding 1
    %void = OpTypeVoid
    %u32 = OpTypeInt 32 0
    %f32 = OpTypeFloat 32
    %v3 = OpTypeVector %u32 3
    %in_v3 = OpTypePointer Input %v3
    %id = OpVariable %in_v3 Input
    %out_f32 = OpTypePointer Output %f32
    %color = OpVariable %out_f32 Output
    %words = OpTypeRuntimeArray %u32
    %block = OpTypeStruct %words
    %vector = OpTypeStruct %v3
    %ptr_block = OpTypePointer StorageBuffer %block
    %ptr_vector = OpTypePointer Uniform %vector
    %ptr_u32 = OpTypePointer StorageBuffer %u32
    %uniform_u32 = OpTypePointer Uniform %u32
    %out = OpVariable %ptr_block StorageBuffer
    %result = OpVariable %ptr_block StorageBuffer
    %in = OpVariable %ptr_vector Uniform
    %ptr_table = OpTypePointer Workgroup %f32
    %table = OpVariable %ptr_table Workgroup
    %0 = OpConstant %u32 0
    %1 = OpConstant %u32 1
    %1f = OpConstant %f32 1.0
    %fn = OpTypeFunction %void
    %first = OpFunction %void 0 %fn
    %l1 = OpLabel
    %called = OpFunctionCall %void %helper
    OpReturn
    OpFunctionEnd
    %second = OpFunction %void 0 %fn
    %l2 = OpLabel
    %from = OpAccessChain %uniform_u32 %in %0 %1
    %value = OpLoad %u32 %from
    %there = OpAccessChain %ptr_u32 %result %0 %1
    OpStore %there %value
    OpStore %table %1f
    OpReturn
    OpFunctionEnd
    %picture = OpFunction %void 0 %fn
    %l3 = OpLabel
    %slope = OpDPdxFine %f32 %1f
    OpStore %color %slope
    OpReturn
    OpFunctionEnd
    %helper = OpFunction %void 0 %fn
    %l4 = OpLabel
    %all = OpLoad %v3 %id
    %mine = OpCompositeExtract %u32 %all 0
    %here = OpAccessChain %ptr_u32 %out %0 %mine
    OpStore %here %mine
    OpReturn
    OpFunctionEnd
"#;

/// Kinds of the bindings of an entry point's program, invocations of a workgroup, bytes of shared memory.
#[track_caller]
fn compiled(entry: &str) -> (Vec<(u32, BindingKind)>, u32, u32) {
    let options = Options {
        entry: Some(entry.to_owned()),
        ..Options::default()
    };
    let compiled = compile(&assemble(MODULE), &options);
    let compiled = compiled.unwrap_or_else(|errors| panic!("{entry}: {errors}"));
    let program = Program::parse(&compiled.program).unwrap();
    let bindings = program.bindings();
    let kinds = bindings.map(|binding| (binding.binding, binding.kind));
    (
        kinds.collect(),
        program.workgroup().invocations(),
        program.shared_bytes(),
    )
}

#[test]
fn each_has_its_own_resources() {
    let (storage, uniform) = (BindingKind::StorageBuffer, BindingKind::UniformBuffer);
    assert_eq!(compiled("first"), (vec![(0, storage)], 4, 0));
    // Shared memory comes in whole vectors.
    let of_second = vec![(0, uniform), (1, storage)];
    assert_eq!(compiled("second"), (of_second, 8, 16));
}

/// Who binds resources goes by what is declared, so a shader that is alone keeps what it does not use.
#[test]
fn the_only_entry_point_has_all_that_is_declared() {
    let start = MODULE.find("%fn = OpTypeFunction").unwrap();
    let body = "%fn = OpTypeFunction %void
        %first = OpFunction %void 0 %fn
        %l1 = OpLabel
        %there = OpAccessChain %ptr_u32 %result %0 %1
        OpStore %there %1
        OpReturn
        OpFunctionEnd";
    let kept = MODULE[..start].lines().filter(|line| {
        let of_others = ["%second", "%picture", "%in ", "Derivative", "SampleRate"];
        !of_others.iter().any(|word| line.contains(word))
    });
    let module = kept.collect::<Vec<_>>().join("\n") + body;
    let compiled = compile(&assemble(&module), &Options::default());
    let compiled = compiled.unwrap_or_else(|errors| panic!("{errors}"));
    let program = Program::parse(&compiled.program).unwrap();
    let bindings: Vec<u32> = program.bindings().map(|binding| binding.binding).collect();
    assert_eq!(bindings, [0, 1]);
}

#[test]
fn an_entry_point_of_another_stage_is_refused() {
    let options = Options {
        entry: Some("picture".to_owned()),
        ..Options::default()
    };
    let errors = compile(&assemble(MODULE), &options).unwrap_err();
    let text = errors.to_string();
    assert!(
        text.contains("execution model Fragment is not supported"),
        "{text}"
    );
}

/// What optimisers are told says nothing of results; a quad has its own votes.
#[test]
fn hints_and_votes_of_quads_are_read() {
    let module = MODULE
        .replace(
            "OpCapability DerivativeControl",
            "OpCapability DerivativeControl
             OpCapability ExpectAssumeKHR
             OpCapability GroupNonUniform
             OpCapability GroupNonUniformVote
             OpCapability QuadControlKHR",
        )
        .replace(
            "OpStore %here %mine",
            "%odd = OpINotEqual %bool %mine %0
             %likely = OpExpectKHR %bool %odd %odd
             OpAssumeTrueKHR %likely
             %vote = OpGroupNonUniformQuadAllKHR %bool %likely
             %bit = OpSelect %u32 %vote %1 %0
             OpStore %here %bit",
        )
        .replace(
            "%void = OpTypeVoid",
            "%void = OpTypeVoid\n%bool = OpTypeBool",
        );
    let options = Options {
        entry: Some("first".to_owned()),
        ..Options::default()
    };
    let compiled = compile(&assemble(&module), &options);
    assert!(compiled.is_ok(), "{}", compiled.unwrap_err());
}
