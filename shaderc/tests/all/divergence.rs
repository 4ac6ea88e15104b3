//! Subgroup operations in divergent control flow: random programs against an oracle that runs lanes in lock step.
//!
//! Held are the front end, the function after every pass of the pipeline, and Adreno's machine code. Mali's machine code
//! is held by the command's tests, which have the model.
use crate::support::divergent_program::{Outputs, Program, generate, outputs};
use crate::support::{on_ir3, spvasm};
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::ir::Function;
use eitri_shaderc::pass::Runner;
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, Robust, Target, compile, pipeline};

const MALI_LANES: u32 = 16;
const ADRENO_LANES: u32 = 64;

fn options(lanes: u32) -> Options {
    match lanes {
        ADRENO_LANES => Options {
            target: Target::ir3_named("a6xx").expect("it is one"),
            ..Options::default()
        },
        _ => Options::default(),
    }
}

/// What a function leaves, by the interpreter of the IR.
fn run(program: &Program, function: &Function) -> Result<Outputs, String> {
    let mut buffers = program.buffers();
    let dispatch = program.dispatch();
    interpret(function, &dispatch, &mut buffers).map_err(|trap| trap.to_string())?;
    Ok(outputs(&buffers))
}

/// Compares the function of a program after translation and after each pass.
fn check_passes(program: &Program, expected: &Outputs, lanes: u32) -> Result<(), String> {
    let options = options(lanes);
    let module = spvasm::assemble(&program.spirv());
    let translated = translate(&module, &options).map_err(|errors| format!("{errors:?}"))?;
    let mut function = translated.function;
    let check = |after: &str, function: &Function| match run(program, function) {
        Err(trap) => Err(format!("after {after}: {trap}\n{function}")),
        Ok(got) => match expected.difference(&got) {
            None => Ok(()),
            Some(difference) => Err(format!("after {after}: {difference}\n{function}")),
        },
    };
    check("translation", &function)?;
    let mut before = function.to_string();
    let mut result = Ok(());
    let mut observer = |pass: &'static str, function: &Function| {
        let after = function.to_string();
        if result.is_err() || after == before {
            return;
        }
        result = check(pass, function).map_err(|wrong| format!("{wrong}\nwas\n{before}"));
        before = after;
    };
    let mut runner = Runner::observed(options.target, &mut observer);
    pipeline::lower(&mut function, Robust::Off, &mut runner);
    result
}

/// Compares machine code of Adreno.
fn check_on_adreno(program: &Program, expected: &Outputs) -> Result<(), String> {
    let module = spvasm::assemble(&program.spirv());
    let compiled = compile(&module, &options(ADRENO_LANES)).map_err(|error| error.to_string())?;
    let mut buffers = program.buffers();
    on_ir3::run(&compiled.program, &program.dispatch(), &mut buffers)
        .map_err(|error| format!("{error}\n{}", compiled.listing))?;
    match expected.difference(&outputs(&buffers)) {
        Some(difference) => Err(format!("{difference}\n{}", compiled.listing)),
        None => Ok(()),
    }
}

/// Runs seeds; those that fail are named, the first with all that is known of it.
fn run_seeds(
    seeds: std::ops::Range<u64>,
    lanes: u32,
    check: impl Fn(&Program, &Outputs) -> Result<(), String>,
) {
    let (mut compared, mut failures) = (0, vec![]);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let program = generate(seed, lanes);
        let Some(expected) = program.expected() else {
            // Nested loops of too many rounds.
            continue;
        };
        compared += 1;
        if let Err(error) = check(&program, &expected) {
            failures.push((seed, error));
        }
    }
    let first_lines: Vec<String> = failures
        .iter()
        .map(|(seed, error)| format!("{seed}: {}", error.lines().next().unwrap_or_default()))
        .collect();
    if let Some((seed, error)) = failures.first() {
        let list = first_lines.join("\n");
        panic!("of {count} seeds for {lanes} lanes fail\n{list}\n{seed} in full: {error}");
    }
    assert!(compared * 10 > count * 9, "only {compared} of {count} end");
}

/// Holds each pass against programs for a machine with so many lanes.
fn hold_passes(lanes: u32) {
    // Some of these have shown defects before.
    let seeds = if eitri_testdata::long() {
        0..3_000
    } else {
        30..54
    };
    run_seeds(seeds, lanes, |program, expected| {
        check_passes(program, expected, lanes)
    });
}

#[test]
fn every_pass_for_mali_keeps_together_what_is_together() {
    hold_passes(MALI_LANES);
}

#[test]
fn every_pass_for_adreno_keeps_together_what_is_together() {
    hold_passes(ADRENO_LANES);
}

#[test]
fn adreno_runs_together_what_is_together() {
    let seeds = if eitri_testdata::long() {
        0..1_000
    } else {
        18..44
    };
    run_seeds(seeds, ADRENO_LANES, check_on_adreno);
}

/// A called function that counts the lanes with the same key: the first lane's equals return from its loop together. The
/// loop's merge is reached only where a constant says so, and nothing returns there.
const ONE_RETURN_IN_A_LOOP: &str = "
    OpCapability Shader
    OpCapability GroupNonUniform
    OpCapability GroupNonUniformArithmetic
    OpCapability GroupNonUniformBallot
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main \"main\" %lane
    OpExecutionMode %main LocalSize LANES 1 1
    OpDecorate %lane BuiltIn SubgroupLocalInvocationId
    OpDecorate %words ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %buffer DescriptorSet 0
    OpDecorate %buffer Binding 0
    OpDecorate %leaves SpecId 0
    %void = OpTypeVoid
    %u32 = OpTypeInt 32 0
    %bool = OpTypeBool
    %words = OpTypeRuntimeArray %u32
    %block = OpTypeStruct %words
    %pblock = OpTypePointer StorageBuffer %block
    %pword = OpTypePointer StorageBuffer %u32
    %pin = OpTypePointer Input %u32
    %mainfn = OpTypeFunction %void
    %countfn = OpTypeFunction %u32 %u32
    %k0 = OpConstant %u32 0
    %k1 = OpConstant %u32 1
    %k3 = OpConstant %u32 3
    %leaves = OpSpecConstantFalse %bool
    %buffer = OpVariable %pblock StorageBuffer
    %lane = OpVariable %pin Input
    %count = OpFunction %u32 0 %countfn
    %key = OpFunctionParameter %u32
    %start = OpLabel
    OpBranch %header
    %header = OpLabel
    OpLoopMerge %merge %next 0
    OpBranch %body
    %body = OpLabel
    %first = OpGroupNonUniformBroadcastFirst %u32 %k3 %key
    %same = OpIEqual %bool %first %key
    OpSelectionMerge %other 0
    OpBranchConditional %same %found %other
    %found = OpLabel
    %sum = OpGroupNonUniformIAdd %u32 %k3 0 %k1
    OpReturnValue %sum
    %other = OpLabel
    OpBranchConditional %leaves %merge %next
    %next = OpLabel
    OpBranch %header
    %merge = OpLabel
    OpUnreachable
    OpFunctionEnd
    %main = OpFunction %void 0 %mainfn
    %entry = OpLabel
    %own = OpLoad %u32 %lane
    %low = OpBitwiseAnd %u32 %own %k3
    %result = OpFunctionCall %u32 %count %low
    %place = OpAccessChain %pword %buffer %k0 %own
    OpStore %place %result
    OpReturn
    OpFunctionEnd
";

#[test]
fn lanes_that_return_from_a_loop_in_different_rounds_stay_apart() {
    for lanes in [MALI_LANES, ADRENO_LANES] {
        let module = spvasm::assemble(&ONE_RETURN_IN_A_LOOP.replace("LANES", &lanes.to_string()));
        let options = options(lanes);
        let dispatch = Dispatch {
            groups: [1; 3],
            push_constants: vec![],
            step_limit: 1 << 20,
        };
        let buffers = || {
            let bytes = vec![0; 4 * lanes as usize];
            Buffers::from([((0, 0, 0), Buffer { bytes })])
        };
        // Each key is that of a quarter of the lanes.
        let expected: Vec<u8> = (0..lanes).flat_map(|_| (lanes / 4).to_le_bytes()).collect();
        let mut function = translate(&module, &options).expect("it is valid").function;
        let mut runner = Runner::new(options.target, &[]);
        pipeline::lower(&mut function, Robust::Off, &mut runner);
        let mut after = buffers();
        interpret(&function, &dispatch, &mut after)
            .unwrap_or_else(|trap| panic!("{trap}\n{function}"));
        assert_eq!(after[&(0, 0, 0)].bytes, expected, "{function}");
        if lanes == ADRENO_LANES {
            let compiled = compile(&module, &options).expect("it compiles");
            let mut after = buffers();
            on_ir3::run(&compiled.program, &dispatch, &mut after)
                .unwrap_or_else(|error| panic!("{error}\n{}", compiled.listing));
            assert_eq!(after[&(0, 0, 0)].bytes, expected, "{}", compiled.listing);
        }
    }
}
