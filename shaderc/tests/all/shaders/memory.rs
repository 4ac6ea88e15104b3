//! Arrays, shared memory, atomics, and what a dispatch is given.
use eitri_shaderc::{Options, front_end};

use super::{check, check_glsl, check_spirv, run};
use crate::support::wgsl;

#[test]
fn arrays_with_dynamic_indices() {
    // A small one becomes selects, a large one scratch.
    for len in [5, 40] {
        check(
            "",
            &format!(
                "var a: array<u32, {len}>;
                 for (var i = 0u; i < {len}u; i++) {{ a[i] = i * i; }}
                 a[x] = 7u;
                 var flags: array<bool, 3>;
                 flags[x % 3u] = true;
                 return a[x - 1u] + a[x] + a[x + 1u] + select(0u, 100u, flags[1]);"
            ),
            &[1, 2, 3],
            &[7 + 4 + 100, 1 + 7 + 9, 4 + 7 + 16],
        );
    }
}

#[test]
fn shared_memory_barriers_and_atomics() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> data: array<atomic<u32>>;
        var<workgroup> sums: array<u32, 64>;
        var<workgroup> total: atomic<i32>;
        var<workgroup> seen: array<vec3<f32>, 4>;
        @compute @workgroup_size(64)
        fn main(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3<u32>,
                @builtin(num_workgroups) groups: vec3<u32>) {
            sums[local] = local + group.x;
            if local < 4u { seen[local] = vec3<f32>(f32(local), 1.0, 2.0); }
            workgroupBarrier();
            for (var step = 32u; step > 0u; step >>= 1u) {
                if local < step { sums[local] += sums[local + step]; }
                workgroupBarrier();
            }
            atomicMax(&total, i32(local));
            workgroupBarrier();
            if local == 0u {
                atomicAdd(&data[0], sums[0]);
                atomicMin(&data[1], sums[0]);
                atomicXor(&data[2], 1u << group.x);
                let old = atomicCompareExchangeWeak(&data[3], 7u, 9u);
                if old.exchanged { atomicAdd(&data[4], 1u); }
                atomicStore(&data[5], u32(atomicLoad(&total)) + u32(seen[3].x + seen[2].z));
                atomicStore(&data[6], groups.x);
            }
        }";
    let first: u32 = (0..64).sum();
    check_spirv(
        &wgsl::compile(source),
        &[100, u32::MAX, 0, 7, 0, 0, 0],
        3,
        &[100 + 3 * first + 64 + 128, first, 7, 9, 1, 63 + 5, 3],
    );
}

#[test]
fn specialisation_constants() {
    // naga resolves overrides itself, so the module is written by hand.
    let spirv = crate::support::spvasm::assemble(
        r#"OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main" %group
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %group BuiltIn WorkgroupId
        OpDecorate %size BuiltIn WorkgroupSize
        OpDecorate %x SpecId 3
        OpDecorate %flag SpecId 5
        OpDecorate %words ArrayStride 4
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 0
        %void = OpTypeVoid
        %bool = OpTypeBool
        %u32 = OpTypeInt 32 0
        %v3 = OpTypeVector %u32 3
        %in_v3 = OpTypePointer Input %v3
        %group = OpVariable %in_v3 Input
        %x = OpSpecConstant %u32 4
        %flag = OpSpecConstantTrue %bool
        %0 = OpConstant %u32 0
        %1 = OpConstant %u32 1
        %size = OpSpecConstantComposite %v3 %x %1 %1
        %more = OpSpecConstantOp %u32 IAdd %x %1
        %chosen = OpSpecConstantOp %u32 Select %flag %more %0
        %words = OpTypeRuntimeArray %u32
        %block = OpTypeStruct %words
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr_u32 = OpTypePointer StorageBuffer %u32
        %out = OpVariable %ptr_block StorageBuffer
        %fn = OpTypeFunction %void
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %p = OpAccessChain %ptr_u32 %out %0 %0
        OpStore %p %chosen
        OpReturn
        OpFunctionEnd"#,
    );
    let value = |constants: &[(u32, u32)]| {
        let options = Options {
            spec_constants: constants.iter().copied().collect(),
            ..Default::default()
        };
        let function = front_end(&spirv, &options).unwrap().function;
        (function.workgroup_size[0], run(&function, &[9], 1)[0])
    };
    assert_eq!(value(&[]), (4, 5));
    assert_eq!(value(&[(3, 16)]), (16, 17));
    assert_eq!(value(&[(3, 16), (5, 0)]), (16, 0));
}

#[test]
fn push_constants_by_constant_and_by_index() {
    check_glsl(
        "#version 450
        layout(local_size_x = 1) in;
        layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
        layout(push_constant) uniform Push { uint first; vec2 pair; uint list[4]; } push;
        void main() {
            uint id = gl_WorkGroupID.x;
            data[id] = push.first + floatBitsToUint(push.pair.y) * 10u + push.list[data[id]] * 100u;
        }",
        &[0, 1, 3],
        3,
        // first at 0, pair at 8, list at 16 with naga's stride of 16
        &[30 + 400, 30 + 800, 30 + 1600],
    );
}

#[test]
fn array_length() {
    check_glsl(
        "#version 450
        layout(local_size_x = 1) in;
        layout(std430, set = 0, binding = 0) buffer Data { uint count; uint pad; uvec2 data[]; };
        void main() { count = uint(data.length()); }",
        &[0, 0, 1, 2, 3, 4, 5],
        1,
        &[2, 0, 1, 2, 3, 4, 5],
    );
}

#[test]
fn atomics_on_floats() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<atomic<f32>>;
        @compute @workgroup_size(20) fn main(@builtin(local_invocation_index) i: u32) {
            let old = atomicAdd(&o[i % 2u], f32(i));
        }";
    let expected = [90.5f32, 100.25].map(f32::to_bits);
    let words = [0.5f32, 0.25].map(f32::to_bits);
    check_spirv(&wgsl::compile(source), &words, 1, &expected);
}
