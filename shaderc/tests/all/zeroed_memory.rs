//! Shared memory that a module wants to be zero at first.
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, compile, front_end};

use crate::support::spvasm::assemble;

/// Four invocations copy eight words, which nobody has written.
const COPY: &str = r#"
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main" %local
    OpExecutionMode %main LocalSize 4 1 1
    OpDecorate %local BuiltIn LocalInvocationIndex
    OpDecorate %words ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %out DescriptorSet 0
    OpDecorate %out Binding 0
    %void = OpTypeVoid
    %u32 = OpTypeInt 32 0
    %in_u32 = OpTypePointer Input %u32
    %local = OpVariable %in_u32 Input
    %0 = OpConstant %u32 0
    %4 = OpConstant %u32 4
    %8 = OpConstant %u32 8
    %table = OpTypeArray %u32 %8
    %ptr_table = OpTypePointer Workgroup %table
    %ptr_shared = OpTypePointer Workgroup %u32
    %nulls = OpConstantNull %table
    %shared = OpVariable %ptr_table Workgroup %nulls
    %words = OpTypeRuntimeArray %u32
    %block = OpTypeStruct %words
    %ptr_block = OpTypePointer StorageBuffer %block
    %ptr_u32 = OpTypePointer StorageBuffer %u32
    %out = OpVariable %ptr_block StorageBuffer
    %fn = OpTypeFunction %void
    %main = OpFunction %void 0 %fn
    %entry = OpLabel
    %low = OpLoad %u32 %local
    %high = OpIAdd %u32 %low %4
    %from_low = OpAccessChain %ptr_shared %shared %low
    %from_high = OpAccessChain %ptr_shared %shared %high
    %first = OpLoad %u32 %from_low
    %second = OpLoad %u32 %from_high
    %to_low = OpAccessChain %ptr_u32 %out %0 %low
    %to_high = OpAccessChain %ptr_u32 %out %0 %high
    OpStore %to_low %first
    OpStore %to_high %second
    OpReturn
    OpFunctionEnd"#;

#[test]
fn shared_memory_with_an_initializer_is_zero_at_first() {
    let module = assemble(COPY);
    let translated = translate(&module, &Options::default());
    let translated = translated.unwrap_or_else(|errors| panic!("{}", errors[0]));
    let lowered = front_end(&module, &Options::default());
    let lowered = lowered.unwrap_or_else(|errors| panic!("{}", errors[0]));
    for function in [translated.function, lowered.function] {
        let bytes = vec![0xff; 32];
        let mut buffers = Buffers::from([((0, 0, 0), Buffer { bytes })]);
        let dispatch = Dispatch {
            groups: [1; 3],
            push_constants: vec![],
            step_limit: 10_000,
        };
        interpret(&function, &dispatch, &mut buffers)
            .unwrap_or_else(|trap| panic!("{trap}\n{function}"));
        assert_eq!(buffers[&(0, 0, 0)].bytes, [0; 32], "{function}");
    }
    compile(&module, &Options::default()).unwrap_or_else(|errors| panic!("{errors}"));
}
