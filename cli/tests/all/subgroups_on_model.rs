//! Subgroup operations as machine code on the model and on the interpreter, among lanes that have parted.

use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, compile};

use crate::{on_model, wgsl};

/// Invocations of the workgroup: the last warp is not full.
const INVOCATIONS: usize = 40;
const LANES: usize = 16;
/// Words that each invocation writes.
const RESULTS: usize = 24;

/// Whether an invocation takes the branch in which everything is computed.
fn is_there(invocation: usize) -> bool {
    invocation * 7 % 5 != 2
}

fn value(invocation: usize) -> u32 {
    (invocation as u32 + 3).wrapping_mul(0x9e37_79b9) >> 7
}

const SOURCE: &str = "
    @group(0) @binding(0) var<storage, read_write> o: array<u32>;
    @compute @workgroup_size(40) fn main(
        @builtin(local_invocation_index) i: u32,
        @builtin(subgroup_invocation_id) lane: u32,
        @builtin(subgroup_size) size: u32,
        @builtin(subgroup_id) group: u32,
    ) {
        let v = ((i + 3u) * 0x9e3779b9u) >> 7u;
        let at = i * 24u;
        if ((i * 7u) % 5u != 2u) {
            o[at] = subgroupBallot(true).x;
            o[at + 1u] = subgroupBallot((v & 4u) != 0u).x;
            o[at + 2u] = u32(subgroupAll((v & 4u) != 0u)) + 2u * u32(subgroupAny((v & 64u) != 0u));
            o[at + 3u] = subgroupAdd(v);
            o[at + 4u] = subgroupMul(v | 1u);
            o[at + 5u] = subgroupMin(v);
            o[at + 6u] = subgroupMax(v);
            o[at + 7u] = subgroupAnd(v);
            o[at + 8u] = subgroupOr(v);
            o[at + 9u] = subgroupXor(v);
            o[at + 10u] = subgroupInclusiveAdd(v);
            o[at + 11u] = subgroupExclusiveAdd(v);
            o[at + 12u] = subgroupInclusiveMul(v | 1u);
            o[at + 13u] = subgroupExclusiveMul(v | 1u);
            o[at + 14u] = subgroupBroadcastFirst(v);
            o[at + 15u] = subgroupShuffle(v, (lane * 5u) & 15u);
            o[at + 16u] = subgroupShuffleXor(v, 5u);
            o[at + 17u] = subgroupShuffleUp(v, 1u);
            o[at + 18u] = subgroupShuffleDown(v, 1u);
            o[at + 19u] = quadSwapX(v);
            o[at + 20u] = quadSwapDiagonal(v);
            o[at + 21u] = u32(subgroupAdd(f32(lane)));
            o[at + 22u] = bitcast<u32>(subgroupMin(i32(v) - 1000000));
            o[at + 23u] = size * 100u + group;
        }
        workgroupBarrier();
        o[at] = o[at] + (subgroupBallot(true).x << 16u);
    }";

/// What an invocation writes; none where the shader's result is any value.
fn expected(invocation: usize) -> [Option<u32>; RESULTS] {
    let warp = invocation / LANES * LANES;
    let lanes: Vec<usize> = (warp..(warp + LANES).min(INVOCATIONS)).collect();
    let here: Vec<usize> = lanes
        .iter()
        .copied()
        .filter(|lane| is_there(*lane))
        .collect();
    let mask = |of: &[usize]| of.iter().fold(0u32, |mask, lane| mask | 1 << (lane - warp));
    let after = mask(&lanes) << 16;
    if !is_there(invocation) {
        let mut results = [Some(0); RESULTS];
        results[0] = Some(after);
        return results;
    }
    let fold = |of: &[usize], start: u32, each: fn(u32, u32) -> u32| {
        of.iter().fold(start, |sum, lane| each(sum, value(*lane)))
    };
    let product = |of: &[usize]| {
        of.iter()
            .fold(1u32, |all, lane| all.wrapping_mul(value(*lane) | 1))
    };
    let with: Vec<usize> = here
        .iter()
        .copied()
        .filter(|lane| *lane <= invocation)
        .collect();
    let before: Vec<usize> = here
        .iter()
        .copied()
        .filter(|lane| *lane < invocation)
        .collect();
    let add = |of: &[usize]| fold(of, 0, u32::wrapping_add);
    let lane = invocation - warp;
    let from = |lane: Option<usize>| {
        let source = warp + lane?;
        here.contains(&source).then(|| value(source))
    };
    let bits = |bit: u32| {
        let set: Vec<usize> = here
            .iter()
            .copied()
            .filter(|lane| value(*lane) & bit != 0)
            .collect();
        set
    };
    let least = here
        .iter()
        .map(|lane| value(*lane).cast_signed() - 1_000_000)
        .min();
    [
        Some(mask(&here) + after),
        Some(mask(&bits(4))),
        Some(u32::from(bits(4).len() == here.len()) + 2 * u32::from(!bits(64).is_empty())),
        Some(add(&here)),
        Some(product(&here)),
        Some(fold(&here, u32::MAX, u32::min)),
        Some(fold(&here, 0, u32::max)),
        Some(fold(&here, u32::MAX, |a, b| a & b)),
        Some(fold(&here, 0, |a, b| a | b)),
        Some(fold(&here, 0, |a, b| a ^ b)),
        Some(add(&with)),
        Some(add(&before)),
        Some(product(&with)),
        Some(product(&before)),
        Some(value(here[0])),
        from(Some(lane * 5 % LANES)),
        from(Some(lane ^ 5)),
        from(lane.checked_sub(1)),
        from(Some(lane + 1).filter(|lane| *lane < LANES)),
        from(Some(lane ^ 1)),
        from(Some(lane ^ 3)),
        Some(here.iter().map(|lane| (lane - warp) as u32).sum()),
        least.map(i32::cast_unsigned),
        Some(1600 + (invocation / LANES) as u32),
    ]
}

#[track_caller]
fn check(on: &str, buffers: &Buffers) {
    let words: Vec<u32> = buffers[&(0, 0, 0)]
        .bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    for invocation in 0..INVOCATIONS {
        for (number, expected) in expected(invocation).into_iter().enumerate() {
            let got = words[invocation * RESULTS + number];
            assert!(
                expected.is_none_or(|expected| expected == got),
                "{on}: invocation {invocation}, result {number}: got {got:#x}, expected {expected:x?}"
            );
        }
    }
}

#[test]
fn lanes_that_are_together_compute_together() {
    let module = wgsl::compile(SOURCE);
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 1 << 20,
    };
    let bytes = vec![0; 4 * INVOCATIONS * RESULTS];
    let before = Buffers::from([((0, 0, 0), Buffer { bytes })]);

    let mut buffers = before.clone();
    let function = translate(&module, &Options::default())
        .expect("it is translated")
        .function;
    interpret(&function, &dispatch, &mut buffers).expect("it runs");
    check("the interpreter", &buffers);

    let mut buffers = before;
    let compiled = compile(&module, &Options::default()).expect("it compiles");
    if let Err(error) = on_model::run(&compiled.program, &dispatch, &mut buffers) {
        panic!("{error}\n{}", compiled.listing);
    }
    check("the model", &buffers);
}
