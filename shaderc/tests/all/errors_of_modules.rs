//! Refusals of modules: what is none, capabilities, entry points and their modes.
use eitri_shaderc::{Options, SpecIds, compile};

use crate::errors::{PREAMBLE, check, check_bytes};
use crate::support::spvasm::assemble;

#[test]
fn what_is_no_module() {
    let options = Options::default();
    check_bytes(
        b"",
        &options,
        "not a SPIR-V module: 0 bytes are no whole module",
    );
    check_bytes(
        &[0; 20],
        &options,
        "not a SPIR-V module: it begins with 0x00000000, not 0x07230203",
    );
    let mut bytes = assemble("OpCapability Shader");
    bytes[6] = 9;
    check_bytes(
        &bytes,
        &options,
        "not a SPIR-V module: version 9.3 is unknown",
    );
    let mut bytes = assemble("OpCapability Shader");
    bytes[22] = 0;
    check_bytes(
        &bytes,
        &options,
        "not a SPIR-V module: the instruction at byte 20 has an impossible length",
    );
    bytes[22] = 2;
    bytes[20] = 0xfe;
    bytes[21] = 0xff;
    check_bytes(
        &bytes,
        &options,
        "not a SPIR-V module: the instruction at byte 20 has the unknown opcode 65534",
    );
}

#[test]
fn all_unsupported_capabilities_at_once() {
    check(
        "OpCapability Shader
         OpCapability Float64
         OpCapability Pipes",
        "OpCapability: capability Float64 (`f64`, `double`) is not supported\n\
         OpCapability: capability Pipes is not supported",
    );
}

#[test]
fn what_needs_a_capability_is_named_as_the_source_does() {
    let module = r#"OpCapability Shader
         OpCapability Float64
         OpCapability ShaderClockKHR
         OpCapability ComputeDerivativeGroupLinearKHR
         OpCapability RayQueryKHR
         OpMemoryModel Logical GLSL450
         OpEntryPoint GLCompute %main "main"
         OpExecutionMode %main LocalSize 4 1 1
         %file = OpString "a.comp"
         %void = OpTypeVoid
         %u32 = OpTypeInt 32 0
         %f32 = OpTypeFloat 32
         %f64 = OpTypeFloat 64
         %pair = OpTypeVector %f64 2
         %1 = OpConstant %u32 1
         %1f = OpConstant %f32 1.0
         %fn = OpTypeFunction %void
         %main = OpFunction %void 0 %fn
         %entry = OpLabel
         OpLine %file 3 7
         %wide = OpFConvert %f64 %1f
         OpLine %file 4 0
         %two = OpCompositeConstruct %pair %wide %wide
         OpLine %file 5 0
         %slope = OpDPdx %f32 %1f
         %time = OpReadClockKHR %u32 %1
         OpReturn
         OpFunctionEnd"#;
    check(
        module,
        "a.comp:3:7: OpFConvert %12: capability Float64 (`f64`, `double`) is not supported\n\
         a.comp:5: OpReadClockKHR %15: capability ShaderClockKHR (`clockARB`, `clockRealtimeEXT`) is not supported\n\
         a.comp:5: OpDPdx %14: capability ComputeDerivativeGroupLinearKHR (`dpdx`, `dFdx`, `texture`) is not supported\n\
         OpCapability: capability RayQueryKHR (`ray_query`, `rayQueryEXT`) is not supported",
    );
    // Words are known without lines too.
    let lines = module.lines();
    let without: Vec<&str> = lines.filter(|line| !line.contains("OpLine")).collect();
    check(
        &without.join("\n"),
        "OpFConvert %12: capability Float64 (`f64`, `double`) is not supported\n\
         OpReadClockKHR %15: capability ShaderClockKHR (`clockARB`, `clockRealtimeEXT`) is not supported\n\
         OpDPdx %14: capability ComputeDerivativeGroupLinearKHR (`dpdx`, `dFdx`, `texture`) is not supported\n\
         OpCapability: capability RayQueryKHR (`ray_query`, `rayQueryEXT`) is not supported",
    );
}

#[test]
fn entry_points() {
    let body = "
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        OpReturn
        OpFunctionEnd";
    let bytes = assemble(&format!("{PREAMBLE}{body}"));
    let options = Options {
        entry: Some("other".into()),
        ..Default::default()
    };
    check_bytes(
        &bytes,
        &options,
        "no compute entry point `other`; the module has main",
    );
    check(
        &format!("{PREAMBLE}{body}").replace("GLCompute", "Fragment"),
        "OpEntryPoint: execution model Fragment is not supported",
    );
    check(
        "OpCapability Shader
         OpMemoryModel Logical GLSL450",
        "no compute entry point, or more than one; the module has none",
    );
    check(
        &format!("{PREAMBLE}{body}").replace("LocalSize 4 1 1", "LocalSize 4 0 1"),
        "OpEntryPoint: the workgroup size must be positive",
    );
    check(
        &format!("{PREAMBLE}{body}").replace("LocalSize 4 1 1", "LocalSize 1024 2 1"),
        "OpEntryPoint: size: a workgroup of 2048 is not supported",
    );
    // It takes nothing, and gives nothing.
    for (ty, result, parameter, end) in [
        ("%u32", "%u32", "", "OpReturnValue %1"),
        (
            "%void %u32",
            "%void",
            "%given = OpFunctionParameter %u32",
            "OpReturn",
        ),
    ] {
        check(
            &format!(
                "{PREAMBLE}
                %other_fn = OpTypeFunction {ty}
                %main = OpFunction {result} 0 %other_fn
                {parameter}
                %entry = OpLabel
                {end}
                OpFunctionEnd"
            ),
            "OpFunction %1: the types don't go together",
        );
    }
    let options = Options {
        spec_constants: [(7, 1), (9, 1)].into(),
        spec_ids: SpecIds::Declared,
        ..Default::default()
    };
    check_bytes(
        &bytes,
        &options,
        "no specialisation constant has SpecId 7\nno specialisation constant has SpecId 9",
    );
    // As in Vulkan, they do nothing where nobody has typed them.
    let options = Options {
        spec_ids: SpecIds::Any,
        ..options
    };
    let ignored = compile(&bytes, &options).unwrap_or_else(|errors| panic!("{errors}"));
    let without = compile(&bytes, &Options::default()).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(ignored.program, without.program);
}

#[test]
fn models_and_modes() {
    let body = "%p = OpAccessChain %ptr_u32 %out %0 %1
        %all = OpLoad %v3 %id
        OpReturn";
    let module = format!(
        "{PREAMBLE}
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        {body}
        OpFunctionEnd"
    );
    check(
        &module.replace(
            "OpMemoryModel Logical GLSL450",
            "OpMemoryModel Physical64 OpenCL",
        ),
        "OpMemoryModel: model Physical64 is not supported",
    );
    check(
        &module.replace("LocalSize 4 1 1", "DerivativeGroupQuadsKHR"),
        "OpExecutionMode: execution mode DerivativeGroupQuadsKHR is not supported",
    );
    check(
        &module.replace("BuiltIn GlobalInvocationId", "BuiltIn DeviceIndex"),
        "OpVariable %2: built-in DeviceIndex is not supported",
    );
    check(
        &module.replace("OpTypeInt 32 0", "OpTypeInt 24 0"),
        "OpTypeInt %9: type 24-bit integer is not supported",
    );
    check(
        &module.replace("OpMemberDecorate %block 0 Offset 0", ""),
        "OpVariable %6: the type lacks Offset",
    );
    check(
        &module.replace(
            "OpDecorate %words ArrayStride 4",
            "OpDecorate %words ArrayStride 2",
        ),
        "OpAccessChain %22: use: ArrayStride 2, no multiple of 4 is not supported",
    );
}

/// A set has so many descriptors, whatever other sets have.
#[test]
fn descriptors_of_a_set_are_limited() {
    let module = |set: u32, length: u32| {
        let preamble = PREAMBLE.replace(
            "%out = OpVariable",
            &format!(
                "%length = OpConstant %u32 {length}
                 %blocks = OpTypeArray %block %length
                 %ptr_blocks = OpTypePointer StorageBuffer %blocks
                 %many = OpVariable %ptr_blocks StorageBuffer
                 %out = OpVariable"
            ),
        );
        let preamble = preamble.replace(
            "OpDecorate %out Binding 0",
            &format!(
                "OpDecorate %out Binding 1
                 OpDecorate %many DescriptorSet {set}
                 OpDecorate %many Binding 0"
            ),
        );
        let module = format!(
            "{preamble}
            %main = OpFunction %void 0 %fn
            %entry = OpLabel
            OpReturn
            OpFunctionEnd"
        );
        let compiled = compile(&assemble(&module), &Options::default());
        compiled.map_or_else(|errors| errors.to_string(), |_| String::new())
    };
    let most = Options::default().target.limits.descriptors;
    assert_eq!(module(0, most - 1), "");
    let refused = module(0, most);
    assert!(
        refused.ends_with("size: that many descriptors in a set is not supported"),
        "{refused}"
    );
    assert_eq!(module(1, most), "");
}

/// Members and elements are values: of pointers those that may vary.
#[test]
fn types_are_made_of_values() {
    let pointer = "use: a pointer inside a type is not supported";
    let mismatch = "the types don't go together";
    for (part, expected) in [
        ("%u32", ""),
        ("%ptr_u32", ""),
        ("%in_v3", pointer),
        ("%void", mismatch),
        ("%fn", mismatch),
    ] {
        for whole in [
            format!("OpTypeStruct %u32 {part}"),
            format!("OpTypeArray {part} %2"),
            format!("OpTypeRuntimeArray {part}"),
        ] {
            let module = format!(
                "{PREAMBLE}
                %whole = {whole}
                %main = OpFunction %void 0 %fn
                %entry = OpLabel
                OpReturn
                OpFunctionEnd"
            );
            let compiled = compile(&assemble(&module), &Options::default());
            let told = compiled.map_or_else(|errors| errors.to_string(), |_| String::new());
            let (_, what) = told.split_once("): ").unwrap_or(("", &told));
            assert_eq!(what, expected, "{whole}");
        }
    }
}
