//! Machine code knows the lines of its source.

use std::collections::BTreeSet;

use crate::support::spvasm::assemble;
use eitri_program::Arch;
use eitri_shaderc::{Options, Target, compile};

/// Sums and stores of words, each on a line of its own.
const MODULE: &str = r#"
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main" %id
    OpExecutionMode %main LocalSize 4 1 1
    %file = OpString "sums.comp"
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %words ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %out DescriptorSet 0
    OpDecorate %out Binding 0
    %void = OpTypeVoid
    %u32 = OpTypeInt 32 0
    %v3 = OpTypeVector %u32 3
    %in_v3 = OpTypePointer Input %v3
    %id = OpVariable %in_v3 Input
    %words = OpTypeRuntimeArray %u32
    %block = OpTypeStruct %words
    %ptr_block = OpTypePointer StorageBuffer %block
    %ptr_u32 = OpTypePointer StorageBuffer %u32
    %out = OpVariable %ptr_block StorageBuffer
    %0 = OpConstant %u32 0
    %3 = OpConstant %u32 3
    %5 = OpConstant %u32 5
    %fn = OpTypeFunction %void
    %main = OpFunction %void 0 %fn
    %entry = OpLabel
    OpLine %file 10 1
    %all = OpLoad %v3 %id
    %x = OpCompositeExtract %u32 %all 0
    %at = OpAccessChain %ptr_u32 %out %0 %x
    OpLine %file 20 1
    %word = OpLoad %u32 %at
    OpLine %file 30 1
    %sum = OpIAdd %u32 %word %3
    %product = OpBitwiseXor %u32 %sum %x
    OpLine %file 40 1
    OpStore %at %product
    OpLine %file 50 1
    OpReturn
    OpFunctionEnd"#;

#[test]
fn each_instruction_has_the_line_of_what_it_was_made_of() {
    let adreno = Target::ir3_named("a6xx").expect("it is one");
    for target in [Target::valhall(Arch::V10), adreno] {
        let options = Options {
            target,
            ..Options::default()
        };
        let made = compile(&assemble(MODULE), &options).unwrap_or_else(|errors| panic!("{errors}"));
        let found: BTreeSet<(&str, u32)> = made.listing.sources().flatten().collect();
        let lines: Vec<u32> = found.iter().map(|(_, line)| *line).collect();
        assert!(
            found.iter().all(|(file, _)| *file == "sums.comp"),
            "{found:?}"
        );
        for line in [20, 30, 40] {
            assert!(
                lines.contains(&line),
                "no instruction of line {line}, but of {lines:?}:\n{}",
                made.listing
            );
        }
    }
}
