//! Switches of all kinds, lowered: every value must still find its target.
use crate::support::spvasm::assemble;
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::ir::{Function, Type};
use eitri_shaderc::pass::Runner;
use eitri_shaderc::pipeline;
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, Target};
use proptest::prelude::*;

/// What the function leaves for each selector, a word each.
fn results(function: &Function, ty: Type, selectors: &[u64]) -> Vec<u32> {
    let bytes = selectors.iter().flat_map(|word| word.to_le_bytes());
    let mut buffers = Buffers::from([
        (
            (0, 0, 0),
            Buffer {
                bytes: bytes.collect(),
            },
        ),
        (
            (0, 1, 0),
            Buffer {
                bytes: vec![0; 4 * selectors.len()],
            },
        ),
    ]);
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 1 << 24,
    };
    interpret(function, &dispatch, &mut buffers).unwrap_or_else(|error| panic!("{ty}: {error}"));
    let words = buffers[&(0, 1, 0)].bytes.as_chunks().0;
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// A switch by values and numbers of targets, of which the last one is the default; target N leaves N.
fn switch(ty: Type, cases: &[(u64, usize)], targets: usize, count: usize) -> Function {
    let mut text = format!(
        "function main\nworkgroup {count} 1 1\nbinding 0 0 storage\nbinding 0 1 storage written\nb0:\n\
         %id = local_id.x\n%from = ishl %id, 3\n%to = ishl %id, 2\n\
         %s = load.buffer.{ty}.align8 @0.0, %from\nswitch %s"
    );
    for (value, target) in cases {
        text += &format!(", {:#x}: b{}", value & ty.mask(), target + 1);
    }
    text += &format!(", default: b{targets}\n");
    let join = targets + 1;
    let used =
        |target: &usize| *target == targets || cases.iter().any(|(_, case)| case + 1 == *target);
    for target in (1..=targets).filter(used) {
        text += &format!("b{target}:\njump b{join}\n");
    }
    let sources: Vec<String> = (1..=targets)
        .filter(used)
        .map(|target| format!("b{target}: {}", target - 1))
        .collect();
    text += &format!("b{join}:\n%r = phi.w32 {}\n", sources.join(", "));
    text += "store.buffer @0.1, %to, %r\nreturn\n";
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Values near each other, near the ends of the range, and anywhere.
fn value() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..24u64,
        1 => (0..4u64).prop_map(|back| u64::MAX - back),
        1 => any::<u64>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_value_finds_its_target(
        ty in prop::sample::select(vec![Type::W8, Type::W16, Type::W32, Type::W64]),
        mut cases in prop::collection::vec((value(), 0..6usize), 0..40),
    ) {
        let mut seen = std::collections::BTreeSet::new();
        cases.retain(|(value, _)| seen.insert(value & ty.mask()));
        let near = cases
            .iter()
            .flat_map(|(value, _)| [-1, 0, 1].map(|step| value.wrapping_add_signed(step) & ty.mask()));
        let selectors: Vec<u64> = near.chain([0, 1, ty.mask()]).collect();
        let expected: Vec<u32> = selectors
            .iter()
            .map(|selector| {
                let case = cases.iter().find(|(value, _)| value & ty.mask() == *selector);
                case.map_or(5, |(_, target)| *target as u32)
            })
            .collect();
        let mut function = switch(ty, &cases, 6, selectors.len());
        prop_assert_eq!(&results(&function, ty, &selectors), &expected);
        let mut runner = Runner::new(Target::default(), &[]);
        pipeline::lower(&mut function, eitri_shaderc::Robust::Off, &mut runner);
        prop_assert_eq!(&results(&function, ty, &selectors), &expected, "{}", function);
    }
}

/// A selector that nothing computes, whose cases have two words each.
#[test]
fn a_constant_of_64_bits_finds_its_case() {
    for (high, expected) in [(0, 7), (1, 8), (2, 9)] {
        let module = format!(
            r#"
            OpCapability Shader
            OpCapability Int64
            OpMemoryModel Logical GLSL450
            OpEntryPoint GLCompute %main "main"
            OpExecutionMode %main LocalSize 1 1 1
            OpDecorate %words ArrayStride 4
            OpDecorate %block Block
            OpMemberDecorate %block 0 Offset 0
            OpDecorate %out DescriptorSet 0
            OpDecorate %out Binding 1
            %void = OpTypeVoid
            %u32 = OpTypeInt 32 0
            %u64 = OpTypeInt 64 0
            %words = OpTypeRuntimeArray %u32
            %block = OpTypeStruct %words
            %ptr_block = OpTypePointer StorageBuffer %block
            %ptr_u32 = OpTypePointer StorageBuffer %u32
            %out = OpVariable %ptr_block StorageBuffer
            %0 = OpConstant %u32 0
            %7 = OpConstant %u32 7
            %8 = OpConstant %u32 8
            %9 = OpConstant %u32 9
            %selector = OpConstant %u64 5 {high}
            %fn = OpTypeFunction %void
            %main = OpFunction %void 0 %fn
            %entry = OpLabel
            OpSelectionMerge %merge 0
            OpSwitch %selector %other 5 0 %low 5 1 %wide
            %low = OpLabel
            OpBranch %merge
            %wide = OpLabel
            OpBranch %merge
            %other = OpLabel
            OpBranch %merge
            %merge = OpLabel
            %result = OpPhi %u32 %7 %low %8 %wide %9 %other
            %at = OpAccessChain %ptr_u32 %out %0 %0
            OpStore %at %result
            OpReturn
            OpFunctionEnd"#
        );
        let translated = translate(&assemble(&module), &Options::default());
        let function = translated
            .unwrap_or_else(|errors| panic!("{}", errors[0]))
            .function;
        let left = results(&function, Type::W64, &[0]);
        assert_eq!(left, [expected], "high word {high}\n{function}");
    }
}
