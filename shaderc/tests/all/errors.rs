//! Every refusal of what stands in functions, provoked, with the message as the user sees it.
use eitri_shaderc::{Options, compile};

use crate::support::spvasm::assemble;

/// Everything before the functions of a module that stores to a buffer.
pub const PREAMBLE: &str = r#"
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main" %id
    OpExecutionMode %main LocalSize 4 1 1
    %file = OpString "a.comp"
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %words ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %out DescriptorSet 0
    OpDecorate %out Binding 0
    %void = OpTypeVoid
    %bool = OpTypeBool
    %u32 = OpTypeInt 32 0
    %f32 = OpTypeFloat 32
    %v3 = OpTypeVector %u32 3
    %in_v3 = OpTypePointer Input %v3
    %id = OpVariable %in_v3 Input
    %words = OpTypeRuntimeArray %u32
    %block = OpTypeStruct %words
    %ptr_block = OpTypePointer StorageBuffer %block
    %ptr_u32 = OpTypePointer StorageBuffer %u32
    %out = OpVariable %ptr_block StorageBuffer
    %0 = OpConstant %u32 0
    %1 = OpConstant %u32 1
    %2 = OpConstant %u32 2
    %1f = OpConstant %f32 1.0
    %yes = OpConstantTrue %bool
    %fn = OpTypeFunction %void
"#;

/// The body of `main` that is wrong somewhere.
#[track_caller]
fn check_body(body: &str, expected: &str) {
    check(
        &format!(
            "{PREAMBLE}
            %main = OpFunction %void 0 %fn
            %entry = OpLabel
            {body}
            OpFunctionEnd"
        ),
        expected,
    );
}

#[track_caller]
pub fn check(module: &str, expected: &str) {
    check_bytes(&assemble(module), &Options::default(), expected);
}

#[track_caller]
pub fn check_bytes(bytes: &[u8], options: &Options, expected: &str) {
    let errors = compile(bytes, options).expect_err("it compiles");
    // Offsets are checked by one test; elsewhere they would only make texts hard to change.
    let text = errors.to_string();
    let mut plain = String::new();
    for (number, part) in text.split(" (byte ").enumerate() {
        plain += match number {
            0 => part,
            _ => part.split_once(')').map_or(part, |(_, rest)| rest),
        };
    }
    assert_eq!(plain, expected);
}

#[test]
fn the_preamble_is_right() {
    let module = format!(
        "{PREAMBLE}
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %p = OpAccessChain %ptr_u32 %out %0 %1
        OpStore %p %2
        OpReturn
        OpFunctionEnd"
    );
    compile(&assemble(&module), &Options::default()).unwrap();
}

#[test]
fn errors_say_where() {
    let module = format!(
        "{PREAMBLE}
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        OpLine %file 17 3
        %sum = OpIAdd %u32 %1 %1f
        OpReturn
        OpFunctionEnd"
    );
    let bytes = assemble(&module);
    let errors = compile(&bytes, &Options::default()).unwrap_err();
    let offset = bytes.len() - 4 * (1 + 1 + 5);
    assert_eq!(
        errors.to_string(),
        format!("a.comp:17:3: OpIAdd %22 (byte {offset}): the types don't go together")
    );
}

/// Truth values have no form in a buffer, alone or in a vector.
#[test]
fn buffers_hold_no_truth_values() {
    for (element, refused) in [("%v3", false), ("%bool", true), ("%bool2", true)] {
        let preamble = PREAMBLE.replace(
            "%words = OpTypeRuntimeArray %u32",
            &format!(
                "%bool2 = OpTypeVector %bool 2
                 %words = OpTypeRuntimeArray {element}
                 %ptr_element = OpTypePointer StorageBuffer {element}"
            ),
        );
        let module = format!(
            "{preamble}
            %main = OpFunction %void 0 %fn
            %entry = OpLabel
            %p = OpAccessChain %ptr_element %out %0 %1
            %x = OpLoad {element} %p
            OpStore %p %x
            OpReturn
            OpFunctionEnd"
        );
        let compiled = compile(&assemble(&module), &Options::default());
        let told = compiled.map_or_else(|errors| errors.to_string(), |_| String::new());
        let found = told.contains("the types don't go together");
        assert_eq!(found, refused, "{element}: {told}");
    }
}

/// What specialisation constants are computed of has the types that the operation takes.
#[test]
fn computed_constants_have_their_types() {
    for (computed, result) in [
        ("OpSpecConstantOp %u32 CompositeExtract %three 1", true),
        ("OpSpecConstantOp %f32 CompositeExtract %three 1", false),
        ("OpSpecConstantOp %v3 CompositeInsert %1 %three 1", true),
        ("OpSpecConstantOp %v3 CompositeInsert %1f %three 1", false),
        ("OpSpecConstantOp %u32 Select %yes %1 %2", true),
        ("OpSpecConstantOp %u32 Select %yes %1f %2", false),
        ("OpSpecConstantOp %u32 Select %yes %1 %1f", false),
    ] {
        let module = format!(
            "{PREAMBLE}
            %three = OpConstantComposite %v3 %0 %1 %2
            %computed = {computed}
            %main = OpFunction %void 0 %fn
            %entry = OpLabel
            OpReturn
            OpFunctionEnd"
        );
        let compiled = compile(&assemble(&module), &Options::default());
        let told = compiled.map_or_else(|errors| errors.to_string(), |_| String::new());
        let refused = told.contains("the types don't go together");
        assert_eq!(refused, !result, "{computed}: {told}");
    }
}

/// Lines of `NonSemantic.Shader.DebugInfo.100` are those of constants, and hold until another or none is said.
#[test]
fn lines_of_debug_information_count_as_those_of_op_line() {
    let place = |lines: &str| {
        let module = PREAMBLE.replace(
            "OpMemoryModel",
            "%info = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"\nOpMemoryModel",
        );
        let module = format!(
            "{module}
            %seventeen = OpConstant %u32 17
            %source = OpExtInst %void %info 35 %file
            %main = OpFunction %void 0 %fn
            %entry = OpLabel
            {lines}
            %sum = OpIAdd %u32 %1 %1f
            OpReturn
            OpFunctionEnd"
        );
        let errors = compile(&assemble(&module), &Options::default()).unwrap_err();
        let text = errors.to_string();
        text.split(" (byte").next().unwrap().to_owned()
    };
    let line = "%line = OpExtInst %void %info 103 %source %seventeen %seventeen %1 %1";
    let told = place(line);
    assert!(told.starts_with("a.comp:17:1: OpIAdd"), "{told}");
    let told = place(&format!("{line}\n%none = OpExtInst %void %info 104"));
    assert!(told.starts_with("OpIAdd"), "{told}");
    // What it does not understand is passed over.
    let told = place("%line = OpExtInst %void %info 103 %1 %source %1");
    assert!(told.starts_with("OpIAdd"), "{told}");
}

#[test]
fn bodies() {
    check_body(
        "%x = OpIAdd %u32 %1 %nothing
         OpReturn",
        "OpIAdd %22: %23 is not defined before",
    );
    check_body(
        "%x = OpIAdd %u32 %1 %u32
         OpReturn",
        "OpIAdd %22: %9 must be a value that is defined before",
    );
    check_body(
        "%x = OpIAdd %u32 %1 %1
         %x = OpIAdd %u32 %1 %1
         OpReturn",
        "OpIAdd %22: %22 is defined a second time",
    );
    let mut bytes = assemble(&format!(
        "{PREAMBLE}
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        OpReturn
        OpFunctionEnd"
    ));
    // The bound: ids begin at 1.
    bytes[12] = 5;
    check_bytes(
        &bytes,
        &Options::default(),
        "OpTypeVoid: %7 is not below 5, the bound in the header",
    );
    check_body(
        "%x = OpCompositeExtract %u32 %1 4
         OpReturn",
        "OpCompositeExtract %22: the index 4 is out of range",
    );
    check_body(
        "%x = OpDPdx %f32 %1f
         OpReturn",
        "OpDPdx %22: instruction OpDPdx is not supported",
    );
    check_body(
        "%v = OpCompositeConstruct %v3 %1 %1 %1
         %x = OpVectorInsertDynamic %v3 %v %yes %1
         OpReturn",
        "OpVectorInsertDynamic %23: the types don't go together",
    );
    check_body(
        "OpBranch %main",
        "OpBranch: %1 must be a block of this function",
    );
    check_body(
        "%x = OpFunctionCall %void %main
         OpReturn",
        "OpFunction %1: the function calls itself",
    );
    check_body(
        "OpReturnValue %1",
        "OpReturnValue: the types don't go together",
    );
    check_body("", "OpFunction %1: this is never ended");
    check_body(
        "OpReturn
         OpReturn",
        "OpReturn: may not stand here",
    );
    check_body(
        "OpControlBarrier %1 %1 %0
         OpReturn",
        "OpControlBarrier: scope Device of a barrier is not supported",
    );
    check_body("OpIAdd", "OpIAdd: an operand is missing");
    check(
        &format!("{PREAMBLE} %sum = OpIAdd %u32 %1 %1"),
        "OpIAdd %21: may not stand here",
    );
}

#[test]
fn signed_zeros_are_kept_on_demand() {
    // x + 0 is +0 for -0: a rewriting to x is allowed only without the execution mode.
    let module = format!(
        "{PREAMBLE}
        %0f = OpConstant %f32 0.0
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %p = OpAccessChain %ptr_u32 %out %0 %0
        %x = OpLoad %u32 %p
        %xf = OpBitcast %f32 %x
        %y = OpFAdd %f32 %xf %0f
        %z = OpBitcast %u32 %y
        OpStore %p %z
        OpReturn
        OpFunctionEnd"
    );
    let sums = |module: &str| {
        let lowered = eitri_shaderc::front_end(&assemble(module), &Options::default()).unwrap();
        lowered.function.to_string().matches("fadd").count()
    };
    assert_eq!(sums(&module), 0);
    let strict = module
        .replace(
            "OpCapability Shader",
            "OpCapability Shader\nOpCapability SignedZeroInfNanPreserve",
        )
        .replace(
            "OpExecutionMode %main",
            "OpExecutionMode %main SignedZeroInfNanPreserve 32\nOpExecutionMode %main",
        );
    assert_eq!(sums(&strict), 1);
}

#[test]
fn floats_have_no_atomics() {
    let module = format!(
        "{PREAMBLE}
        %floats = OpTypePointer Workgroup %f32
        %sum = OpVariable %floats Workgroup
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %old = OpAtomicIAdd %f32 %sum %1 %0 %1f
        OpReturn
        OpFunctionEnd"
    );
    check(
        &module,
        "OpAtomicIAdd %24: use: an atomic on floats is not supported",
    );
}

#[test]
fn values_that_are_not_defined_on_every_path() {
    check_body(
        "OpSelectionMerge %join 0
         OpBranchConditional %less %then %join
         %then = OpLabel
         %x = OpIAdd %u32 %1 %1
         OpBranch %join
         %join = OpLabel
         %y = OpIAdd %u32 %x %1
         OpReturn"
            .replace(
                "OpSelectionMerge",
                "%pid = OpLoad %v3 %id
                 %pidx = OpCompositeExtract %u32 %pid 0
                 %less = OpULessThan %bool %pidx %2
                 OpSelectionMerge",
            )
            .as_str(),
        "values or control flow are impossible\n  \
         b3: `%8 = iadd %7, 1`: %7 isn't defined on every path to here",
    );
}

#[test]
fn a_jump_into_a_loop() {
    check_body(
        "%pid = OpLoad %v3 %id
         %x = OpCompositeExtract %u32 %pid 0
         %less = OpULessThan %bool %x %2
         OpSelectionMerge %end 0
         OpBranchConditional %less %a %b
         %a = OpLabel
         OpBranch %b
         %b = OpLabel
         OpBranchConditional %less %a %end
         %end = OpLabel
         OpReturn",
        "values or control flow are impossible\n  \
         b2: enters the loop of b3 from the side\n  \
         b2: goes up to b3, which doesn't dominate this block",
    );
}

#[test]
fn limits() {
    // Calls nested deeper than is inlined.
    let mut module = PREAMBLE.to_owned();
    for level in 0..60 {
        module += &format!(
            "%func{level} = OpFunction %void 0 %fn
             %l{level} = OpLabel
             %c{level} = OpFunctionCall %void %func{}
             OpReturn
             OpFunctionEnd\n",
            level + 1
        );
    }
    module += "%func60 = OpFunction %void 0 %fn
        %l60 = OpLabel
        OpReturn
        OpFunctionEnd
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %c = OpFunctionCall %void %func0
        OpReturn
        OpFunctionEnd";
    let errors = compile(&assemble(&module), &Options::default()).unwrap_err();
    let text = errors.to_string();
    assert!(
        text.ends_with("size: calls nested more than 48 deep is not supported"),
        "{text}"
    );
    // Types nested without end.
    let mut module = PREAMBLE.to_owned();
    module += "%t0 = OpTypeStruct %u32\n";
    for level in 1..50 {
        module += &format!("%t{level} = OpTypeStruct %t{}\n", level - 1);
    }
    let errors = compile(&assemble(&module), &Options::default()).unwrap_err();
    let text = errors.to_string();
    assert!(
        text.ends_with("size: a type nested more than 32 deep is not supported"),
        "{text}"
    );
}

#[test]
fn all_that_is_not_supported_is_told_at_once() {
    // What is made of a result that isn't there is no error of its own, and the same thing is told once.
    check_body(
        "%a = OpDPdx %f32 %1f
        %b = OpFwidth %f32 %a
        %c = OpFAdd %f32 %a %b
        %d = OpDPdx %f32 %c
        %e = OpReadClockKHR %u32 %1
        %p = OpAccessChain %ptr_u32 %out %0 %1
        OpStore %p %e
        OpReturn",
        "OpDPdx %22: instruction OpDPdx is not supported\n\
         OpFwidth %23: instruction OpFwidth is not supported\n\
         OpReadClockKHR %26: instruction OpReadClockKHR is not supported",
    );
}

/// A module whose buffers are an array without a length; `main` stores to the second.
fn unsized_array() -> Vec<u8> {
    let array = "%blocks = OpTypeRuntimeArray %block
        %ptr_blocks = OpTypePointer StorageBuffer %blocks
        %out = OpVariable %ptr_blocks StorageBuffer";
    let preamble = PREAMBLE
        .replace("%out = OpVariable %ptr_block StorageBuffer", array)
        .replace(
            "OpCapability Shader",
            "OpCapability Shader\nOpCapability RuntimeDescriptorArray",
        );
    assemble(&format!(
        "{preamble}
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %p = OpAccessChain %ptr_u32 %out %1 %0 %1
        OpStore %p %2
        OpReturn
        OpFunctionEnd"
    ))
}

#[test]
fn an_array_of_descriptors_needs_a_length() {
    let text = compile(&unsized_array(), &Options::default())
        .unwrap_err()
        .to_string();
    let wanted =
        "use: an array of descriptors without a length (set 0, binding 0) is not supported";
    assert!(
        text.ends_with(wanted) && text.lines().count() == 1,
        "{text}"
    );
    let options = Options {
        descriptor_counts: [((0, 0), 2)].into(),
        ..Options::default()
    };
    compile(&unsized_array(), &options).unwrap();
}

#[test]
fn what_prints_is_left_out_with_a_warning() {
    let module = format!(
        "{}
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        OpLine %file 7 3
        %printed = OpExtInst %void %printf 1 %file
        OpReturn
        OpFunctionEnd",
        PREAMBLE.replace(
            "OpMemoryModel",
            "OpExtension \"SPV_KHR_non_semantic_info\"
            %printf = OpExtInstImport \"NonSemantic.DebugPrintf\"
            OpMemoryModel"
        )
    );
    let compiled = compile(&assemble(&module), &Options::default()).unwrap();
    let warnings: Vec<String> = compiled.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("a.comp:7:3: OpExtInst"),
        "{warnings:?}"
    );
    assert!(warnings[0].ends_with("`debugPrintfEXT` prints nothing here: it is left out"));
}
