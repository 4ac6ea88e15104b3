//! Subgroup operations among lanes that have parted: a shader, and what it gives, worked out by hand.

use eitri_shaderc::interp::{Buffer, Buffers};

/// Invocations of the workgroup: the last subgroup is not full.
const INVOCATIONS: usize = 100;
/// Words that each invocation writes.
const RESULTS: usize = 28;

/// Whether an invocation takes the branch in which everything is computed.
fn is_there(invocation: usize) -> bool {
    invocation * 7 % 5 != 2
}

fn value(invocation: usize) -> u32 {
    (invocation as u32 + 3).wrapping_mul(0x9e37_79b9) >> 7
}

/// The shader, for subgroups of so many lanes.
pub fn source(lanes: usize) -> String {
    SOURCE.replace("LAST", &(lanes - 1).to_string())
}

const SOURCE: &str = "
    @group(0) @binding(0) var<storage, read_write> o: array<u32>;
    @compute @workgroup_size(100) fn main(
        @builtin(local_invocation_index) i: u32,
        @builtin(subgroup_invocation_id) lane: u32,
        @builtin(subgroup_size) size: u32,
        @builtin(subgroup_id) group: u32,
    ) {
        let v = ((i + 3u) * 0x9e3779b9u) >> 7u;
        let at = i * 28u;
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
            o[at + 15u] = subgroupShuffle(v, (lane * 5u) & LASTu);
            o[at + 16u] = subgroupShuffleXor(v, 5u);
            o[at + 17u] = subgroupShuffleUp(v, 1u);
            o[at + 18u] = subgroupShuffleDown(v, 1u);
            o[at + 19u] = quadSwapX(v);
            o[at + 20u] = quadSwapDiagonal(v);
            o[at + 21u] = u32(subgroupAdd(f32(lane)));
            o[at + 22u] = bitcast<u32>(subgroupMin(i32(v) - 1000000));
            o[at + 23u] = size * 100u + group;
            o[at + 24u] = subgroupBallot(true).y;
            o[at + 25u] = subgroupBallot((v & 4u) != 0u).y;
        }
        workgroupBarrier();
        o[at + 26u] = subgroupBallot(true).x;
        o[at + 27u] = subgroupBallot(true).y;
    }";

/// What an invocation writes; none where the shader's result is any value.
fn expected(lanes: usize, invocation: usize) -> [Option<u32>; RESULTS] {
    let warp = invocation / lanes * lanes;
    let all: Vec<usize> = (warp..(warp + lanes).min(INVOCATIONS)).collect();
    let here: Vec<usize> = all.iter().copied().filter(|lane| is_there(*lane)).collect();
    let mask = |of: &[usize], word: u32| {
        let bits = of.iter().fold(0u64, |mask, lane| mask | 1 << (lane - warp));
        Some((bits >> (32 * word)) as u32)
    };
    let after = [0, 1].map(|word| mask(&all, word));
    if !is_there(invocation) {
        let mut results = [Some(0); RESULTS];
        results[26..].copy_from_slice(&after);
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
        mask(&here, 0),
        mask(&bits(4), 0),
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
        from(Some(lane * 5 % lanes)),
        from(Some(lane ^ 5)),
        from(lane.checked_sub(1)),
        from(Some(lane + 1).filter(|lane| *lane < lanes)),
        from(Some(lane ^ 1)),
        from(Some(lane ^ 3)),
        Some(here.iter().map(|lane| (lane - warp) as u32).sum()),
        least.map(i32::cast_unsigned),
        Some((lanes * 100 + invocation / lanes) as u32),
        mask(&here, 1),
        mask(&bits(4), 1),
        after[0],
        after[1],
    ]
}

/// The buffer before.
pub fn buffers() -> Buffers {
    let bytes = vec![0; 4 * INVOCATIONS * RESULTS];
    Buffers::from([((0, 0, 0), Buffer { bytes })])
}

/// Compares the buffer after, of subgroups of so many lanes.
#[track_caller]
pub fn check(on: &str, lanes: usize, buffers: &Buffers) {
    let words: Vec<u32> = buffers[&(0, 0, 0)]
        .bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    for invocation in 0..INVOCATIONS {
        for (number, expected) in expected(lanes, invocation).into_iter().enumerate() {
            let got = words[invocation * RESULTS + number];
            assert!(
                expected.is_none_or(|expected| expected == got),
                "{on}: invocation {invocation}, result {number}: got {got:#x}, expected {expected:x?}"
            );
        }
    }
}
