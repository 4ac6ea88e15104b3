//! Small shaders as machine code on the model, against what their source says.

use crate::{on_model, wgsl};
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch};
use eitri_shaderc::{Compiled, Options, compile};

/// What a shader leaves in binding 0 of set 0, which held `words`.
#[track_caller]
fn run(source: &str, words: &[u32]) -> Vec<u32> {
    run_module(&wgsl::compile(source), words)
}

#[track_caller]
fn run_module(module: &[u8], words: &[u32]) -> Vec<u32> {
    run_compiled(&compiled(module, &Options::default()), words)
}

#[track_caller]
fn compiled(module: &[u8], options: &Options) -> Compiled {
    compile(module, options).expect("it compiles")
}

#[track_caller]
fn run_compiled(compiled: &Compiled, words: &[u32]) -> Vec<u32> {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut buffers = Buffers::from([((0, 0, 0), Buffer { bytes })]);
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 0,
    };
    if let Err(error) = on_model::run(&compiled.program, &dispatch, &mut buffers) {
        panic!("{error}\n{}", compiled.listing);
    }
    let bytes = buffers[&(0, 0, 0)].bytes.chunks_exact(4);
    bytes
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

#[test]
fn of_two_stores_to_one_place_the_later_counts() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn main() {
            o[2] = 1u; o[2] = 2u; o[3] = 3u; o[0] = 4u; o[1] = 5u;
        }";
    assert_eq!(run(source, &[9; 4]), [4, 5, 2, 3]);
    let source = "
        #version 450
        layout(local_size_x = 4) in;
        layout(set = 0, binding = 0, std430) buffer O { uvec4 o[]; };
        void main() {
            uint x = gl_LocalInvocationID.x;
            o[x].z = 9u;
            o[x].z = x;
            o[x].w = 3u; o[x].x = 4u; o[x].y = 5u;
        }";
    let expected: Vec<u32> = (0..4).flat_map(|lane| [4, 5, lane, 3]).collect();
    assert_eq!(run_module(&wgsl::compile_glsl(source), &[0; 16]), expected);
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<vec4u>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_id) l: vec3u) {
            let b = l.x + 1u;
            o[b].z = 1u;
            o[b].z = o[0].x + 2u;
            o[b].w = 3u;
            o[b].x = 4u; o[b].y = 5u;
        }";
    let row = |lane| if lane == 0 { [7; 4] } else { [4, 5, 9, 3] };
    let expected: Vec<u32> = (0..5).flat_map(row).collect();
    assert_eq!(run(source, &[7; 20]), expected);
}

/// A shader that loads element `index`, made of a word `x` of the buffer, of 64 shared words that count from 100.
fn shared_at(index: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
         var<workgroup> s: array<u32, 64>;
         @compute @workgroup_size(16) fn main(@builtin(local_invocation_id) l: vec3u) {{
             for (var i = 0u; i < 4u; i++) {{ s[4u * l.x + i] = 4u * l.x + i + 100u; }}
             workgroupBarrier();
             let x = o[l.x];
             o[l.x] = s[{index}];
         }}"
    )
}

#[test]
fn bits_that_an_index_loses_in_a_shift_are_lost() {
    for index in ["x << 2u", "x * 4u", "(x << 1u) << 1u"] {
        let words: Vec<u32> = (0..16).map(|lane| lane | lane << 30).collect();
        let expected: Vec<u32> = (0..16).map(|lane| 4 * lane + 100).collect();
        assert_eq!(run(&shared_at(index), &words), expected, "{index}");
    }
}

#[test]
fn an_index_that_wraps_lies_where_it_wraps_to() {
    for (index, less) in [
        ("x + 0x40000000u", 1 << 30),
        ("x - 1u", u32::MAX),
        ("x + 3u", 3),
    ] {
        let words: Vec<u32> = (0..16u32).map(|lane| lane.wrapping_sub(less)).collect();
        let expected: Vec<u32> = (100..116).collect();
        assert_eq!(run(&shared_at(index), &words), expected, "{index}");
    }
}

#[test]
fn stores_and_atomics_outside_of_a_buffer_are_dropped() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<atomic<u32>>;
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_id) l: vec3u) {
            let old = atomicAdd(&o[l.x * 1000000u], 5u);
            atomicStore(&o[2u + l.x * 4096u], old);
            atomicStore(&o[l.x * 0x40000000u - 1u], 1u);
        }";
    assert_eq!(run(source, &[3, 9, 9, 9]), [8, 9, 3, 9]);
}

#[test]
fn of_stores_side_by_side_those_inside_are_done() {
    // Four words are one store where all of them fit; here the last row does not.
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_id) l: vec3u) {
            let row = 4u * l.x;
            o[row] = l.x; o[row + 1u] = 11u; o[row + 2u] = 12u; o[row + 3u] = 13u;
        }";
    for words in [1usize, 2, 3, 5, 7, 10, 12, 16] {
        let all: Vec<u32> = (0..4).flat_map(|lane| [lane, 11, 12, 13]).collect();
        assert_eq!(run(source, &vec![0; words]), all[..words], "{words} words");
    }
}

#[test]
fn indices_outside_of_shared_memory_and_variables_stay_inside() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<workgroup> s: array<u32, 8>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_id) l: vec3u) {
            var t: array<u32, 40>;
            let wild = o[l.x];
            s[l.x] = 1u;
            s[l.x + 4u] = 1u;
            workgroupBarrier();
            s[wild] = 1u;
            t[wild] = 1u;
            workgroupBarrier();
            let sum = s[wild] + t[wild];
            o[l.x] = select(0u, 1u, sum <= 2u);
        }";
    assert_eq!(run(source, &[100, 1 << 20, 1 << 30, u32::MAX]), [1; 4]);
}

/// What a thread does on its way out of a loop stands before what the others do next: they would meet there only after
/// all rounds, and a subgroup operation would count all of them.
#[test]
fn threads_leave_a_loop_in_their_own_round() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_id) l: vec3u) {
            var i = 0u;
            loop { if (i == (l.x & 3u)) { o[l.x] = i * 10u; break; } i++; }
            o[l.x] += 1u;
        }";
    let expected: Vec<u32> = (0..16).map(|lane| lane % 4 * 10 + 1).collect();
    assert_eq!(run(source, &[0; 16]), expected);
}

/// The loads of one atomic stay in order, even where the scheduler would rather have them otherwise: with few registers.
#[test]
fn a_later_atomic_load_sees_nothing_older() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<atomic<u32>>;
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_id) l: vec3u) {
            let a = atomicLoad(&o[0]); let b = atomicLoad(&o[1]); let c = atomicLoad(&o[0]);
            atomicStore(&o[l.x + 2u], a + b * 3u + c * 5u);
        }";
    for register_limit in [None, Some(8)] {
        let options = Options {
            register_limit,
            ..Options::default()
        };
        let compiled = compiled(&wgsl::compile(source), &options);
        let listing = compiled.listing.to_string();
        let loads: Vec<&str> = listing
            .lines()
            .filter(|line| line.contains("LD_BUFFER"))
            .collect();
        // Where each load reads; the size of the buffer is a uniform word.
        let places: Vec<&str> = loads
            .iter()
            .filter_map(|line| line.split(',').nth(1))
            .collect();
        assert_eq!(places.len(), 3, "{listing}");
        assert_eq!(places[0], places[2], "{listing}");
        assert_ne!(places[0], places[1], "{listing}");
        let words: Vec<u32> = [2, 7].into_iter().chain([0; 16]).collect();
        assert_eq!(run_compiled(&compiled, &words)[2..], [2 + 21 + 10; 16]);
    }
}

/// A loop is not written out forty times for a variable that has to stay in memory all the same.
#[test]
fn a_variable_that_stays_in_memory_is_filled_by_a_loop() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<private> t: array<u32, 40>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) g: vec3u) {
            for (var i = 0u; i < 40u; i++) { t[i] = o[i] * 3u; }
            var s = 0u; let n = o[0];
            for (var j = 0u; j < n; j++) { s = s + t[(s + j) % 40u]; }
            o[g.x] = s;
        }";
    let compiled = compiled(&wgsl::compile(source), &Options::default());
    let listing = compiled.listing.to_string();
    let stores = listing.matches("STORE").count();
    assert!(stores <= 12, "{stores} stores in\n{listing}");
    let words: Vec<u32> = (0..40).map(|place| place * 7 % 11 + 9).collect();
    let sum = (0..words[0]).fold(0u32, |sum, round| {
        sum + 3 * words[((sum + round) % 40) as usize]
    });
    assert_eq!(run_compiled(&compiled, &words)[0], sum);
}

/// Ninety values that live at once and depend on each other, half of the steps in a branch that some threads take.
#[test]
fn many_living_values_are_spilled_and_come_back() {
    // The checker of registers looks at every value at every place: minutes, in a build with debug assertions.
    match eitri_testdata::long() {
        true => spilled_values_come_back::<1000>(),
        false => spilled_values_come_back::<90>(),
    }
}

/// Computes with so many values that are all needed to the end, with a branch in the middle.
#[track_caller]
fn spilled_values_come_back<const VALUES: usize>() {
    use std::fmt::Write;
    const LANES: u32 = 16;
    let mut random = 1u32;
    let mut next = |bound: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % bound
    };
    let steps: Vec<[usize; 3]> = (0..160)
        .map(|_| [next(VALUES), next(VALUES), next(100_000)])
        .collect();
    let (before, rest) = steps.split_at(80);
    let (inside, after) = rest.split_at(40);

    let write = |steps: &[[usize; 3]]| {
        steps
            .iter()
            .enumerate()
            .fold(String::new(), |mut text, (number, [a, b, k])| {
                let _ = writeln!(text, "v{a} = (v{a} ^ (v{b} * {k}u)) + {number}u;");
                text
            })
    };
    let loads: String = (0..VALUES)
        .map(|value| format!("var v{value} = o[base + {value}u];\n"))
        .collect();
    let stores: String = (0..VALUES)
        .map(|value| format!("o[base + {value}u] = v{value};\n"))
        .collect();
    let last = VALUES - 1;
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size({LANES}) fn main(@builtin(global_invocation_id) g: vec3u) {{
            let base = g.x * {VALUES}u;
            {loads} {} if ((v{last} & 1u) != 0u) {{ {} }} {} {stores}
        }}",
        write(before),
        write(inside),
        write(after)
    );
    let words: Vec<u32> = (0..LANES * VALUES as u32)
        .map(|word| word.wrapping_mul(0x9e37_79b9))
        .collect();
    let mut expected = words.clone();
    for values in expected.chunks_exact_mut(VALUES) {
        let mut step = |steps: &[[usize; 3]]| {
            for (number, &[a, b, k]) in (0u32..).zip(steps) {
                let product = values[b].wrapping_mul(k as u32);
                values[a] = (values[a] ^ product).wrapping_add(number);
            }
            values[VALUES - 1]
        };
        if step(before) & 1 != 0 {
            step(inside);
        }
        step(after);
    }
    let compiled = compiled(&wgsl::compile(&source), &Options::default());
    let statistics = compiled.statistics.valhall();
    let spills = statistics.map_or(0, |statistics| statistics.spills);
    assert!(spills > 0, "the test is to spill");
    assert!(
        run_compiled(&compiled, &words) == expected,
        "{}",
        compiled.listing
    );
}

#[test]
fn atomics_on_words_of_64_bits_give_and_leave_both_halves() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<atomic<u64>>;
        @compute @workgroup_size(20) fn main(@builtin(local_invocation_index) i: u32) {
            let old = atomicAdd(&o[0], 0x100000001lu * u64(i));
            atomicMax(&o[1], u64(i) << 40u);
            atomicXor(&o[2], old);
            if i == 19u { atomicStore(&o[3], atomicExchange(&o[4], 5lu)); }
        }";
    let words: Vec<u32> = (0..10).map(|word| 0xffff_fff0 + word % 2 * 7).collect();
    let wide = |words: &[u32]| -> Vec<u64> {
        let pairs = words.chunks(2);
        pairs
            .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32)
            .collect()
    };
    let (before, after) = (wide(&words), wide(&run(source, &words)));
    assert_eq!(after[0], before[0].wrapping_add(190 * 0x1_0000_0001));
    assert_eq!(after[1], before[1].max(19 << 40));
    assert_eq!([after[3], after[4]], [before[4], 5]);
}

#[test]
fn vectors_of_halves_are_computed() {
    let source = "
        enable f16;
        @group(0) @binding(0) var<storage, read_write> o: array<vec4<f16>>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
            var acc = vec4<f16>(1.0h, -1.0h, 0.5h, 0.0h);
            for (var k = 0u; k < 3u; k++) {
                let x = o[4u * i + k];
                acc = fma(x.wzyx, x.yyyy, acc);
                acc += -x * 2.0h;
            }
            let low = select(vec4<f16>(-20.0h), -abs(acc.wwww), acc.x < 3.0h);
            o[4u * i + 3u] = clamp(acc.yxzw * 0.5h, low, vec4<f16>(50.0h)) + dot(acc, acc.wzyx);
        }";
    // Of numbers that are exact in both.
    let half = |value: f32| match value.to_bits() {
        bits if bits << 1 == 0 => bits >> 16,
        bits => {
            (bits >> 16 & 0x8000) | (bits << 1 >> 24).wrapping_sub(112) << 10 | (bits >> 13 & 0x3ff)
        }
    };
    let float = |half: u32| match half & 0x7fff {
        0 => 0.0,
        bits => f32::from_bits((half & 0x8000) << 16 | (bits + (112 << 10)) << 13),
    };
    let values: Vec<f32> = (0..64u32)
        .map(|number| (number.wrapping_mul(0x9e37_79b9) >> 29) as f32 - 3.0)
        .collect();
    let words: Vec<u32> = values
        .chunks(2)
        .map(|pair| half(pair[0]) | half(pair[1]) << 16)
        .collect();
    let mut expected = values.clone();
    for lane in expected.chunks_mut(16) {
        let mut acc = [1.0, -1.0, 0.5, 0.0];
        for x in lane[..12].chunks(4) {
            acc = std::array::from_fn(|at| x[3 - at] * x[1] + acc[at]);
            acc = std::array::from_fn(|at| acc[at] - x[at] * 2.0);
        }
        let dot: f32 = (0..4).map(|at| acc[at] * acc[3 - at]).sum();
        let low = if acc[0] < 3.0 { -acc[3].abs() } else { -20.0 };
        for (at, from) in [1, 0, 2, 3].into_iter().enumerate() {
            lane[12 + at] = (acc[from] * 0.5f32).max(low).min(50.0) + dot;
        }
    }
    assert!(
        expected.iter().all(|value| float(half(*value)) == *value),
        "the numbers are to be exact: {expected:?}"
    );
    let after: Vec<f32> = run(source, &words)
        .into_iter()
        .flat_map(|word| [float(word & 0xffff), float(word >> 16)])
        .collect();
    assert_eq!(after, expected);
}
