//! Modules that nest deeper than any shader: compiled or refused, without an overflow of the stack.
use std::fmt::Write as _;

use eitri_shaderc::{Options, front_end};

use crate::support::spvasm::assemble;

const HEAD: &str = r#"
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    OpDecorate %words ArrayStride 4
    OpDecorate %block BufferBlock
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %out DescriptorSet 0
    OpDecorate %out Binding 0
    %void = OpTypeVoid
    %fn = OpTypeFunction %void
    %u32 = OpTypeInt 32 0
    %bool = OpTypeBool
    %words = OpTypeRuntimeArray %u32
    %block = OpTypeStruct %words
    %ptr_block = OpTypePointer Uniform %block
    %ptr_u32 = OpTypePointer Uniform %u32
    %out = OpVariable %ptr_block Uniform
    %0 = OpConstant %u32 0
    %1 = OpConstant %u32 1
    %main = OpFunction %void 0 %fn
    %entry = OpLabel
    %p = OpAccessChain %ptr_u32 %out %0 %0
    %i = OpLoad %u32 %p
"#;

/// Compiles `depth` constructs, each inside the one before: how it begins and how it ends.
fn check(depth: usize, begin: impl Fn(usize) -> String, end: impl Fn(usize) -> String) {
    let mut text = String::from(HEAD);
    for number in 0..depth {
        text.push_str(&begin(number));
    }
    text.push_str("OpStore %p %1\n");
    for number in (0..depth).rev() {
        text.push_str(&end(number));
    }
    let _ = writeln!(text, "OpReturn\nOpFunctionEnd");
    // Either is an answer.
    match front_end(&assemble(&text), &Options::default()) {
        Ok(lowered) => assert!(lowered.function.layout.len() > depth),
        Err(errors) => assert!(errors[0].to_string().contains("size"), "{}", errors[0]),
    }
}

#[test]
fn loops_in_loops() {
    let depth = if eitri_testdata::long() { 10_000 } else { 700 };
    check(
        depth,
        |k| {
            format!(
                "OpBranch %h{k}\n%h{k} = OpLabel\n%i{k} = OpLoad %u32 %p\n\
                 %q{k} = OpINotEqual %bool %i{k} %0\nOpLoopMerge %m{k} %c{k} 0\n\
                 OpBranchConditional %q{k} %t{k} %m{k}\n%t{k} = OpLabel\n"
            )
        },
        |k| format!("OpBranch %c{k}\n%c{k} = OpLabel\nOpBranch %h{k}\n%m{k} = OpLabel\n"),
    );
}

#[test]
fn branches_in_branches() {
    let depth = if eitri_testdata::long() { 20_000 } else { 500 };
    check(
        depth,
        |k| {
            format!(
                "%q{k} = OpINotEqual %bool %i %0\nOpSelectionMerge %m{k} 0\n\
                 OpBranchConditional %q{k} %t{k} %m{k}\n%t{k} = OpLabel\n"
            )
        },
        |k| format!("OpBranch %m{k}\n%m{k} = OpLabel\n"),
    );
}
