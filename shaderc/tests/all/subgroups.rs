//! Subgroups of Adreno's 64 lanes, among lanes that have parted: the interpreter of the IR, and machine code.

use crate::support::subgroups::{buffers, check, source};
use crate::support::{on_ir3, spvasm, wgsl};
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, Target, compile};

const LANES: usize = 64;

fn options(device: &str) -> Options {
    Options {
        target: Target::ir3_named(device).expect("it is one"),
        ..Options::default()
    }
}

fn dispatch() -> Dispatch {
    Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 1 << 22,
    }
}

/// Runs a module on the interpreter of the IR and as machine code of devices with and without exchange in quads.
fn run(module: &[u8], before: &Buffers, check: impl Fn(&str, &Buffers)) {
    let mut after = before.clone();
    let translated = translate(module, &options("a660")).expect("it is translated");
    interpret(&translated.function, &dispatch(), &mut after).expect("it runs");
    check("the interpreter", &after);
    for device in ["a660", "a610"] {
        let mut after = before.clone();
        let compiled = compile(module, &options(device)).expect("it compiles");
        if let Err(error) = on_ir3::run(&compiled.program, &dispatch(), &mut after) {
            panic!("{error}\n{}", compiled.listing);
        }
        check(device, &after);
    }
}

#[test]
fn lanes_that_are_together_compute_together() {
    let module = wgsl::compile(&source(LANES));
    run(&module, &buffers(), |on, after| check(on, LANES, after));
}

/// Invocations of the module below.
const INVOCATIONS: usize = 100;
/// Words that each writes.
const RESULTS: usize = 40;

/// Each result as an instruction, its type and the words that it is written as. Group operations are numbers: to reduce, to
/// scan with and without the own value, and to reduce clusters.
const OPERATIONS: &[(&str, &str, usize)] = &[
    ("OpLoad %uvec4 %eq", "uvec4", 4),
    ("OpLoad %uvec4 %ge", "uvec4", 4),
    ("OpLoad %uvec4 %gt", "uvec4", 4),
    ("OpLoad %uvec4 %le", "uvec4", 4),
    ("OpLoad %uvec4 %lt", "uvec4", 4),
    ("OpGroupNonUniformInverseBallot %bool %c3 %mask", "bool", 1),
    (
        "OpGroupNonUniformBallotBitExtract %bool %c3 %mask %other",
        "bool",
        1,
    ),
    ("OpGroupNonUniformBallotBitCount %u32 %c3 0 %mask", "u32", 1),
    ("OpGroupNonUniformBallotBitCount %u32 %c3 1 %mask", "u32", 1),
    ("OpGroupNonUniformBallotBitCount %u32 %c3 2 %mask", "u32", 1),
    ("OpGroupNonUniformBallotFindLSB %u32 %c3 %mask", "u32", 1),
    ("OpGroupNonUniformBallotFindMSB %u32 %c3 %mask", "u32", 1),
    ("OpGroupNonUniformElect %bool %c3", "bool", 1),
    ("OpGroupNonUniformAllEqual %bool %c3 %i", "bool", 1),
    ("OpGroupNonUniformIAdd %u32 %c3 3 %i %c4", "u32", 1),
    ("OpGroupNonUniformIAdd %u32 %c3 3 %i %c32", "u32", 1),
    ("OpGroupNonUniformIAdd %u32 %c3 3 %i %c64", "u32", 1),
    ("OpGroupNonUniformLogicalXor %bool %c3 1 %odd", "bool", 1),
    ("OpGroupNonUniformLogicalAnd %bool %c3 2 %odd", "bool", 1),
    ("OpGroupNonUniformBroadcast %u32 %c3 %i %c4", "u32", 1),
];

fn module() -> Vec<u8> {
    let mut body = String::new();
    let mut at = 0;
    for (number, (operation, ty, words)) in OPERATIONS.iter().enumerate() {
        body += &format!("%v{number} = {operation}\n");
        for word in 0..*words {
            let value = format!("%w{at}");
            body += &match *ty {
                "uvec4" => format!("{value} = OpCompositeExtract %u32 %v{number} {word}\n"),
                "bool" => format!("{value} = OpSelect %u32 %v{number} %c1 %c0\n"),
                _ => format!("{value} = OpCopyObject %u32 %v{number}\n"),
            };
            body += &format!(
                "%a{at} = OpIAdd %u32 %base %k{at}
                 %p{at} = OpAccessChain %pword %out %c0 %a{at}
                 OpStore %p{at} {value}\n"
            );
            at += 1;
        }
    }
    let places: String = (0..at)
        .map(|place| format!("%k{place} = OpConstant %u32 {place}\n"))
        .collect();
    let built_ins = [
        ("eq", "SubgroupEqMask"),
        ("ge", "SubgroupGeMask"),
        ("gt", "SubgroupGtMask"),
        ("le", "SubgroupLeMask"),
        ("lt", "SubgroupLtMask"),
    ];
    let names: String = built_ins.map(|(name, _)| format!(" %{name}")).concat();
    let decorations = built_ins.map(|(name, what)| format!("OpDecorate %{name} BuiltIn {what}\n"));
    let variables = built_ins.map(|(name, _)| format!("%{name} = OpVariable %pin4 Input\n"));
    spvasm::assemble(&format!(
        "OpCapability Shader
        OpCapability GroupNonUniform
        OpCapability GroupNonUniformVote
        OpCapability GroupNonUniformArithmetic
        OpCapability GroupNonUniformBallot
        OpCapability GroupNonUniformClustered
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %index{names}
        OpExecutionMode %main LocalSize {INVOCATIONS} 1 1
        OpDecorate %index BuiltIn LocalInvocationIndex
        {}
        OpDecorate %words ArrayStride 4
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 0
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %bool = OpTypeBool
        %u32 = OpTypeInt 32 0
        %uvec4 = OpTypeVector %u32 4
        %words = OpTypeRuntimeArray %u32
        %block = OpTypeStruct %words
        %pblock = OpTypePointer StorageBuffer %block
        %pword = OpTypePointer StorageBuffer %u32
        %pin = OpTypePointer Input %u32
        %pin4 = OpTypePointer Input %uvec4
        %out = OpVariable %pblock StorageBuffer
        %index = OpVariable %pin Input
        {}
        %c0 = OpConstant %u32 0
        %c1 = OpConstant %u32 1
        %c3 = OpConstant %u32 3
        %c4 = OpConstant %u32 4
        %c5 = OpConstant %u32 5
        %c7 = OpConstant %u32 7
        %c32 = OpConstant %u32 32
        %c63 = OpConstant %u32 63
        %c64 = OpConstant %u32 64
        %row = OpConstant %u32 {RESULTS}
        {places}
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %i = OpLoad %u32 %index
        %base = OpIMul %u32 %i %row
        %seven = OpIMul %u32 %i %c7
        %rest = OpUMod %u32 %seven %c5
        %here = OpINotEqual %bool %rest %c3
        %other = OpBitwiseAnd %u32 %seven %c63
        OpSelectionMerge %end 0
        OpBranchConditional %here %inside %end
        %inside = OpLabel
        %bit = OpBitwiseAnd %u32 %rest %c1
        %odd = OpIEqual %bool %bit %c1
        %mask = OpGroupNonUniformBallot %uvec4 %c3 %odd
        {body}
        OpBranch %end
        %end = OpLabel
        OpReturn
        OpFunctionEnd",
        decorations.concat(),
        variables.concat(),
    ))
}

/// What an invocation writes.
fn expected(invocation: usize) -> Vec<u32> {
    let first = invocation / LANES * LANES;
    let lane = (invocation - first) as u32;
    let rest = |invocation: usize| invocation * 7 % 5;
    let odd = |invocation: usize| rest(invocation) % 2 == 1;
    let lanes = first..(first + LANES).min(INVOCATIONS);
    let here: Vec<usize> = lanes.filter(|lane| rest(*lane) != 3).collect();
    if !here.contains(&invocation) {
        return vec![0; 35];
    }
    let ballot = here.iter().filter(|other| odd(**other));
    let ballot = ballot.fold(0u64, |mask, other| mask | 1 << (other - first));
    let (own, below) = (1u64 << lane, (1u64 << lane) - 1);
    let mut words = vec![];
    let masks = [own, !below, !(below | own), below | own, below];
    for mask in masks {
        words.extend([mask as u32, (mask >> 32) as u32, 0, 0]);
    }
    let cluster = |size: usize| -> u32 {
        let own = here
            .iter()
            .filter(|other| **other / size == invocation / size);
        own.map(|other| *other as u32).sum()
    };
    let until = |last: usize| here.iter().filter(move |other| **other <= last);
    words.extend([
        (ballot & own != 0).into(),
        ((ballot >> ((invocation * 7) % LANES)) & 1) as u32,
        ballot.count_ones(),
        (ballot & (below | own)).count_ones(),
        (ballot & below).count_ones(),
        ballot.trailing_zeros(),
        63 - ballot.leading_zeros(),
        (here[0] == invocation).into(),
        0,
        cluster(4),
        cluster(32),
        cluster(64),
        (until(invocation).filter(|other| odd(**other)).count() % 2) as u32,
        until(invocation)
            .filter(|other| **other != invocation)
            .all(|other| odd(*other))
            .into(),
    ]);
    // A lane that isn't here gives zero.
    words.push(match here.contains(&(first + 4)) {
        true => first as u32 + 4,
        false => 0,
    });
    words
}

#[test]
fn masks_have_a_bit_for_each_of_64_lanes() {
    let bytes = vec![0; 4 * INVOCATIONS * RESULTS];
    let before = Buffers::from([((0, 0, 0), Buffer { bytes })]);
    run(&module(), &before, |on, after| {
        let words: Vec<u32> = after[&(0, 0, 0)]
            .bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        for invocation in 0..INVOCATIONS {
            for (number, expected) in expected(invocation).into_iter().enumerate() {
                let got = words[invocation * RESULTS + number];
                assert_eq!(
                    got, expected,
                    "{on}: invocation {invocation}, word {number}"
                );
            }
        }
    });
}
