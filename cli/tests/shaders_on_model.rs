//! Small shaders as machine code on the model, against what their source says.

mod on_model;
#[path = "../../shaderc/tests/all/support/wgsl.rs"]
mod wgsl;

use eitri_shaderc::interp::{Buffer, Buffers, Dispatch};
use eitri_shaderc::{Options, compile};

/// What a shader leaves in binding 0 of set 0, which held `words`.
#[track_caller]
fn run(source: &str, words: &[u32]) -> Vec<u32> {
    run_module(&wgsl::compile(source), words)
}

#[track_caller]
fn run_module(module: &[u8], words: &[u32]) -> Vec<u32> {
    let compiled = compile(module, &Options::default()).expect("it compiles");
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

#[test]
fn bits_that_an_index_loses_in_a_shift_are_lost() {
    for index in ["x << 2u", "x * 4u", "(x << 1u) << 1u"] {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
             var<workgroup> s: array<u32, 64>;
             @compute @workgroup_size(16) fn main(@builtin(local_invocation_id) l: vec3u) {{
                 for (var i = 0u; i < 4u; i++) {{ s[4u * l.x + i] = 4u * l.x + i + 100u; }}
                 workgroupBarrier();
                 let x = o[l.x];
                 o[l.x] = s[{index}];
             }}"
        );
        let words: Vec<u32> = (0..16).map(|lane| lane | lane << 30).collect();
        let expected: Vec<u32> = (0..16).map(|lane| 4 * lane + 100).collect();
        assert_eq!(run(&source, &words), expected, "{index}");
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
