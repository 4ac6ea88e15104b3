//! The size of a workgroup that constants give.
use eitri_shaderc::{Options, front_end};

use crate::support::spvasm::assemble;

/// The mode names constants, of which one is specialised. The other entry point has a size of its own.
#[test]
fn constants_that_the_mode_names_are_the_size() {
    let module = assemble(
        r#"
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpEntryPoint GLCompute %small "small"
        OpExecutionMode %small LocalSize 1 1 1
        OpExecutionModeId %main LocalSizeId %four %one %two
        OpDecorate %two SpecId 3
        %void = OpTypeVoid
        %u32 = OpTypeInt 32 0
        %four = OpConstant %u32 4
        %one = OpConstant %u32 1
        %two = OpSpecConstant %u32 2
        %fn = OpTypeFunction %void
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        OpReturn
        OpFunctionEnd
        %small = OpFunction %void 0 %fn
        %start = OpLabel
        OpReturn
        OpFunctionEnd"#,
    );
    let size = |given: &[(u32, u32)]| {
        let options = Options {
            entry: Some("main".into()),
            spec_constants: given.iter().copied().collect(),
            ..Options::default()
        };
        let lowered = front_end(&module, &options);
        let lowered = lowered.unwrap_or_else(|errors| panic!("{}", errors[0]));
        lowered.function.workgroup_size
    };
    assert_eq!(size(&[]), [4, 1, 2]);
    assert_eq!(size(&[(3, 6)]), [4, 1, 6], "the third one is specialised");
}

/// Of two entry points, one has a size that no constant can have. It is refused where the constant stands, and the other one
/// has nothing to do with it.
#[test]
fn a_constant_of_the_size_is_the_entry_points_own() {
    let module = assemble(
        r#"
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpEntryPoint GLCompute %small "small"
        OpExecutionModeId %main LocalSizeId %computed %one %one
        OpExecutionModeId %small LocalSizeId %one %one %one
        %void = OpTypeVoid
        %u32 = OpTypeInt 32 0
        %one = OpConstant %u32 1
        %computed = OpSpecConstantOp %u32 PtrAccessChain %one %one
        %fn = OpTypeFunction %void
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        OpReturn
        OpFunctionEnd
        %small = OpFunction %void 0 %fn
        %start = OpLabel
        OpReturn
        OpFunctionEnd"#,
    );
    let refusals = |entry: &str| {
        let options = Options {
            entry: Some(entry.into()),
            ..Options::default()
        };
        let lowered = front_end(&module, &options);
        let errors = lowered.map_or_else(|errors| errors, |_| vec![]);
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        refusals("main"),
        [
            "OpSpecConstantOp %3 (byte 168): use: OpSpecConstantOp of OpPtrAccessChain is not supported"
        ]
    );
    assert!(refusals("small").is_empty());
}
