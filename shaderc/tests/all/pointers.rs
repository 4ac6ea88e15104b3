//! Pointers as values: physical addresses, and pointers into buffers and shared memory that are chosen at run time.
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, address, interpret};
use eitri_shaderc::ir::Function;
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, compile, front_end};

use crate::support::spvasm::assemble;

/// Runs a function of one invocation on two buffers; what they hold afterwards.
#[track_caller]
fn run(function: &Function, words: &[&[u32]; 2]) -> [Vec<u32>; 2] {
    let mut buffers = Buffers::new();
    for (binding, words) in words.iter().enumerate() {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        buffers.insert((0, binding as u32, 0), Buffer { bytes });
    }
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 1 << 16,
    };
    interpret(function, &dispatch, &mut buffers)
        .unwrap_or_else(|trap| panic!("{trap}\n{function}"));
    [0, 1].map(|binding| {
        let bytes = buffers[&(0, binding, 0)].bytes.chunks(4);
        bytes
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    })
}

/// Runs at both ends of the pipeline, and compiles to machine code.
#[track_caller]
pub(crate) fn check(text: &str, words: &[&[u32]; 2], expected: &[&[u32]; 2]) {
    let spirv = assemble(text);
    let function = translate(&spirv, &Options::default())
        .unwrap_or_else(|errors| panic!("{}", errors[0]))
        .function;
    assert_eq!(run(&function, words), *expected, "translated\n{function}");
    let lowered = front_end(&spirv, &Options::default()).unwrap().function;
    assert_eq!(run(&lowered, words), *expected, "lowered\n{lowered}");
    compile(&spirv, &Options::default()).unwrap_or_else(|errors| panic!("{errors}"));
}

#[test]
fn a_list_is_walked_by_addresses() {
    let text = r#"
        OpCapability Shader
        OpCapability Int64
        OpCapability PhysicalStorageBufferAddresses
        OpMemoryModel PhysicalStorageBuffer64 GLSL450
        OpEntryPoint GLCompute %main "main"
        OpExecutionMode %main LocalSize 1 1 1
        OpMemberDecorate %node 0 Offset 0
        OpMemberDecorate %node 1 Offset 8
        OpDecorate %node Block
        OpMemberDecorate %list 0 Offset 0
        OpMemberDecorate %list 1 Offset 8
        OpDecorate %list Block
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 0
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %u32 = OpTypeInt 32 0
        %u64 = OpTypeInt 64 0
        %bool = OpTypeBool
        OpTypeForwardPointer %ptr_node PhysicalStorageBuffer
        %node = OpTypeStruct %u32 %ptr_node
        %ptr_node = OpTypePointer PhysicalStorageBuffer %node
        %ptr_value = OpTypePointer PhysicalStorageBuffer %u32
        %ptr_next = OpTypePointer PhysicalStorageBuffer %ptr_node
        %list = OpTypeStruct %ptr_node %u32
        %ptr_list = OpTypePointer StorageBuffer %list
        %ptr_head = OpTypePointer StorageBuffer %ptr_node
        %ptr_sum = OpTypePointer StorageBuffer %u32
        %out = OpVariable %ptr_list StorageBuffer
        %0 = OpConstant %u32 0
        %1 = OpConstant %u32 1
        %none = OpConstant %u64 0 0
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %at_head = OpAccessChain %ptr_head %out %0
        %head = OpLoad %ptr_node %at_head
        OpBranch %header
        %header = OpLabel
        %p = OpPhi %ptr_node %head %entry %next %body
        %sum = OpPhi %u32 %0 %entry %more %body
        %number = OpConvertPtrToU %u64 %p
        %go_on = OpINotEqual %bool %number %none
        OpLoopMerge %done %body 0
        OpBranchConditional %go_on %body %done
        %body = OpLabel
        %at_value = OpAccessChain %ptr_value %p %0
        %value = OpLoad %u32 %at_value 2 4
        OpStore %at_value %sum 2 4
        %at_next = OpAccessChain %ptr_next %p %1
        %next = OpLoad %ptr_node %at_next 2 8
        %more = OpIAdd %u32 %sum %value
        OpBranch %header
        %done = OpLabel
        %at_sum = OpAccessChain %ptr_sum %out %1
        OpStore %at_sum %sum
        OpReturn
        OpFunctionEnd
    "#;
    // Three nodes in one buffer, of 16 bytes each, after the 16 of the list.
    let node = |number: u64| address(0) + 16 + 16 * number;
    let [n0, n1, n2] = [0, 1, 2].map(|number| {
        let at = node(number);
        [at as u32, (at >> 32) as u32]
    });
    let words = [
        n1[0], n1[1], 0, 0, //
        100, 0, n2[0], n2[1], //
        20, 0, n0[0], n0[1], //
        3, 0, 0, 0,
    ];
    let mut expected = words;
    expected[2] = 123;
    // Each node is left with the sum before it.
    (expected[4], expected[8], expected[12]) = (20, 0, 120);
    // The second buffer isn't there for the shader.
    check(text, &[&words, &[]], &[&expected, &[]]);
}

const TWO_BUFFERS: &str = r#"
        OpCapability Shader
        OpCapability VariablePointers
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %array ArrayStride 4
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %block Block
        OpDecorate %a DescriptorSet 0
        OpDecorate %a Binding 0
        OpDecorate %b DescriptorSet 0
        OpDecorate %b Binding 1
        OpDecorate %ptr_word ArrayStride 4
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %u32 = OpTypeInt 32 0
        %bool = OpTypeBool
        %array = OpTypeRuntimeArray %u32
        %block = OpTypeStruct %array
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr_word = OpTypePointer StorageBuffer %u32
        %a = OpVariable %ptr_block StorageBuffer
        %b = OpVariable %ptr_block StorageBuffer
        %0 = OpConstant %u32 0
        %1 = OpConstant %u32 1
        %2 = OpConstant %u32 2
        %3 = OpConstant %u32 3
        %9 = OpConstant %u32 9
"#;

#[test]
fn one_of_two_buffers_is_chosen_and_walked() {
    let text = r#"
        %ptr_var = OpTypePointer Function %ptr_word
        %choose = OpTypeFunction %ptr_word %bool
        %pick = OpFunction %ptr_word 0 %choose
        %which = OpFunctionParameter %bool
        %pick_entry = OpLabel
        %pick_a = OpAccessChain %ptr_word %a %0 %1
        %pick_b = OpAccessChain %ptr_word %b %0 %1
        %picked = OpSelect %ptr_word %which %pick_a %pick_b
        OpReturnValue %picked
        OpFunctionEnd
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %held = OpVariable %ptr_var Function
        %first = OpAccessChain %ptr_word %a %0 %0
        %word = OpLoad %u32 %first
        %large = OpUGreaterThan %bool %word %9
        %start = OpFunctionCall %ptr_word %pick %large
        OpStore %held %start
        OpBranch %header
        %header = OpLabel
        %p = OpPhi %ptr_word %start %entry %next %body
        %n = OpPhi %u32 %0 %entry %n1 %body
        %go_on = OpULessThan %bool %n %2
        OpLoopMerge %done %body 0
        OpBranchConditional %go_on %body %done
        %body = OpLabel
        %old = OpLoad %u32 %p
        %new = OpIAdd %u32 %old %word
        OpStore %p %new
        %next = OpPtrAccessChain %ptr_word %p %1
        %n1 = OpIAdd %u32 %n %1
        OpBranch %header
        %done = OpLabel
        %again = OpLoad %ptr_word %held
        %steps = OpPtrDiff %u32 %p %again
        %same = OpPtrEqual %bool %start %again
        %other = OpAccessChain %ptr_word %b %0 %1
        %is_b = OpPtrEqual %bool %again %other
        %x = OpSelect %u32 %same %steps %9
        %y = OpSelect %u32 %is_b %3 %0
        %z = OpIAdd %u32 %x %y
        OpStore %first %z
        OpReturn
        OpFunctionEnd
    "#;
    let text = format!("{TWO_BUFFERS}{text}");
    check(
        &text,
        &[&[10, 1, 2, 3], &[5, 6, 7, 8]],
        &[&[2, 11, 12, 3], &[5, 6, 7, 8]],
    );
    check(
        &text,
        &[&[8, 1, 2, 3], &[5, 6, 7, 8]],
        &[&[5, 1, 2, 3], &[5, 14, 15, 8]],
    );
}

#[test]
fn an_array_holds_pointers_to_two_buffers() {
    let text = r#"
        %pair = OpTypeArray %ptr_word %2
        %ptr_pair = OpTypePointer Function %pair
        %ptr_held = OpTypePointer Function %ptr_word
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %both = OpVariable %ptr_pair Function
        %held_a = OpAccessChain %ptr_held %both %0
        %held_b = OpAccessChain %ptr_held %both %1
        %in_a = OpAccessChain %ptr_word %a %0 %1
        %in_b = OpAccessChain %ptr_word %b %0 %2
        OpStore %held_a %in_a
        OpStore %held_b %in_b
        OpBranch %header
        %header = OpLabel
        %n = OpPhi %u32 %0 %entry %n1 %body
        %p = OpLoad %ptr_word %held_a
        %q = OpLoad %ptr_word %held_b
        %go_on = OpULessThan %bool %n %3
        OpLoopMerge %done %body 0
        OpBranchConditional %go_on %body %done
        %body = OpLabel
        %old = OpLoad %u32 %p
        %new = OpIAdd %u32 %old %9
        OpStore %p %new
        OpStore %held_a %q
        OpStore %held_b %p
        %n1 = OpIAdd %u32 %n %1
        OpBranch %header
        %done = OpLabel
        OpReturn
        OpFunctionEnd
    "#;
    check(
        &format!("{TWO_BUFFERS}{text}"),
        &[&[1, 2, 3, 4], &[5, 6, 7, 8]],
        &[&[1, 20, 3, 4], &[5, 6, 16, 8]],
    );
}

#[test]
fn pointers_to_matrices_are_compared() {
    let text = r#"
        OpCapability Shader
        OpCapability VariablePointersStorageBuffer
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main" %a %b
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %in Block
        OpMemberDecorate %in 0 ColMajor
        OpMemberDecorate %in 0 Offset 0
        OpMemberDecorate %in 0 MatrixStride 8
        OpMemberDecorate %in 1 RowMajor
        OpMemberDecorate %in 1 Offset 16
        OpMemberDecorate %in 1 MatrixStride 8
        OpDecorate %out Block
        OpMemberDecorate %out 0 Offset 0
        OpDecorate %words ArrayStride 4
        OpDecorate %a DescriptorSet 0
        OpDecorate %a Binding 0
        OpDecorate %b DescriptorSet 0
        OpDecorate %b Binding 1
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %u32 = OpTypeInt 32 0
        %f32 = OpTypeFloat 32
        %bool = OpTypeBool
        %v2 = OpTypeVector %f32 2
        %mat = OpTypeMatrix %v2 2
        %in = OpTypeStruct %mat %mat
        %words = OpTypeRuntimeArray %u32
        %out = OpTypeStruct %words
        %ptr_in = OpTypePointer StorageBuffer %in
        %ptr_out = OpTypePointer StorageBuffer %out
        %ptr_mat = OpTypePointer StorageBuffer %mat
        %ptr_v2 = OpTypePointer StorageBuffer %v2
        %ptr_word = OpTypePointer StorageBuffer %u32
        %a = OpVariable %ptr_in StorageBuffer
        %b = OpVariable %ptr_out StorageBuffer
        %0 = OpConstant %u32 0
        %1 = OpConstant %u32 1
        %2 = OpConstant %u32 2
        %3 = OpConstant %u32 3
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %first = OpAccessChain %ptr_mat %a %0
        %second = OpAccessChain %ptr_mat %a %1
        %column = OpAccessChain %ptr_v2 %a %1 %0
        %next = OpAccessChain %ptr_v2 %a %1 %1
        %x = OpPtrEqual %bool %first %second
        %y = OpPtrEqual %bool %second %second
        %z = OpPtrNotEqual %bool %column %next
        %xv = OpSelect %u32 %x %1 %0
        %yv = OpSelect %u32 %y %1 %0
        %zv = OpSelect %u32 %z %1 %0
        %xo = OpAccessChain %ptr_word %b %0 %0
        %yo = OpAccessChain %ptr_word %b %0 %1
        %zo = OpAccessChain %ptr_word %b %0 %2
        OpStore %xo %xv
        OpStore %yo %yv
        OpStore %zo %zv
        OpReturn
        OpFunctionEnd
    "#;
    let input = [0; 8];
    check(text, &[&input, &[9, 9, 9]], &[&input, &[0, 1, 1]]);
}

#[test]
fn pointers_into_shared_memory_are_chosen() {
    let text = r#"
        %len = OpConstant %u32 4
        %words = OpTypeArray %u32 %len
        %ptr_words = OpTypePointer Workgroup %words
        %ptr_shared = OpTypePointer Workgroup %u32
        %left = OpVariable %ptr_words Workgroup
        %right = OpVariable %ptr_words Workgroup
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %first = OpAccessChain %ptr_word %a %0 %0
        %word = OpLoad %u32 %first
        %index = OpBitwiseAnd %u32 %word %3
        %large = OpUGreaterThan %bool %word %9
        %in_left = OpAccessChain %ptr_shared %left %index
        %in_right = OpAccessChain %ptr_shared %right %1
        OpStore %in_left %3
        OpStore %in_right %9
        %p = OpSelect %ptr_shared %large %in_left %in_right
        %old = OpLoad %u32 %p
        %sum = OpIAdd %u32 %old %word
        OpStore %p %sum
        %l = OpLoad %u32 %in_left
        %r = OpLoad %u32 %in_right
        %second = OpAccessChain %ptr_word %b %0 %0
        OpStore %first %l
        OpStore %second %r
        OpReturn
        OpFunctionEnd
    "#;
    let text = format!("{TWO_BUFFERS}{text}");
    check(&text, &[&[14, 0], &[0, 0]], &[&[17, 0], &[9, 0]]);
    check(&text, &[&[6, 0], &[0, 0]], &[&[3, 0], &[15, 0]]);
}

#[test]
fn what_cannot_vary_is_refused_by_name() {
    let text = r#"
        %ptr_private = OpTypePointer Private %u32
        %x = OpVariable %ptr_private Private
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %first = OpAccessChain %ptr_word %a %0 %0
        %word = OpLoad %u32 %first
        %large = OpUGreaterThan %bool %word %9
        %p = OpSelect %ptr_private %large %x %x
        OpReturn
        OpFunctionEnd
    "#;
    let errors = compile(
        &assemble(&format!("{TWO_BUFFERS}{text}")),
        &Options::default(),
    );
    let message = errors.unwrap_err().to_string();
    assert!(message.contains("OpSelect of such pointers"), "{message}");
}

#[test]
fn a_constant_index_past_a_matrix_or_vector_compiles_where_it_never_runs() {
    // The branch is not taken: out[0] keeps what it has, out[1] shows that the rest ran.
    let text = r#"
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %words ArrayStride 4
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %block Block
        OpDecorate %in DescriptorSet 0
        OpDecorate %in Binding 0
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 1
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %u32 = OpTypeInt 32 0
        %f32 = OpTypeFloat 32
        %bool = OpTypeBool
        %vec2 = OpTypeVector %f32 2
        %mat2 = OpTypeMatrix %vec2 2
        %words = OpTypeRuntimeArray %f32
        %block = OpTypeStruct %words
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr_word = OpTypePointer StorageBuffer %f32
        %ptr_mat = OpTypePointer Function %mat2
        %ptr_own = OpTypePointer Function %f32
        %in = OpVariable %ptr_block StorageBuffer
        %out = OpVariable %ptr_block StorageBuffer
        %0 = OpConstant %u32 0
        %1 = OpConstant %u32 1
        %3 = OpConstant %u32 3
        %7 = OpConstant %u32 7
        %one = OpConstant %f32 1.0
        %main = OpFunction %void 0 %fn
        %entry = OpLabel
        %m = OpVariable %ptr_mat Function
        %at_in = OpAccessChain %ptr_word %in %0 %0
        %word = OpLoad %f32 %at_in
        %large = OpFOrdGreaterThan %bool %word %one
        OpSelectionMerge %end 0
        OpBranchConditional %large %then %end
        %then = OpLabel
        %past = OpAccessChain %ptr_own %m %3 %7
        OpStore %past %one
        %read = OpLoad %f32 %past
        %at_first = OpAccessChain %ptr_word %out %0 %0
        OpStore %at_first %read
        OpBranch %end
        %end = OpLabel
        %at_out = OpAccessChain %ptr_word %out %0 %1
        OpStore %at_out %one
        OpReturn
        OpFunctionEnd
    "#;
    let one = 1.0f32.to_bits();
    check(text, &[&[0], &[5, 5]], &[&[0], &[5, one]]);
}
