//! Barriers and fences of SPIR-V: which memories they order.
use eitri_shaderc::Options;
use eitri_shaderc::ir::Function;
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::spirv::translate;

use crate::support::spvasm::assemble;

const PREAMBLE: &str = r#"
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 64 1 1
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %buffer DescriptorSet 0
    OpDecorate %buffer Binding 0
    %void = OpTypeVoid
    %u32 = OpTypeInt 32 0
    %block = OpTypeStruct %u32
    %ptr_block = OpTypePointer StorageBuffer %block
    %ptr_u32 = OpTypePointer StorageBuffer %u32
    %ptr_shared = OpTypePointer Workgroup %u32
    %buffer = OpVariable %ptr_block StorageBuffer
    %shared = OpVariable %ptr_shared Workgroup
    %0 = OpConstant %u32 0
    %device = OpConstant %u32 1
    %workgroup = OpConstant %u32 2
    %subgroup = OpConstant %u32 3
    %invocation = OpConstant %u32 4
    %acquire_shared = OpConstant %u32 258
    %release_shared = OpConstant %u32 260
    %relaxed_shared = OpConstant %u32 256
    %order_nothing = OpConstant %u32 8
    %order_shared = OpConstant %u32 264
    %order_buffers = OpConstant %u32 72
    %order_images = OpConstant %u32 2056
    %order_groups = OpConstant %u32 520
    %order_subgroup = OpConstant %u32 136
    %order_both = OpConstant %u32 2376
    %fn = OpTypeFunction %void
    %main = OpFunction %void 0 %fn
    %entry = OpLabel
    %place = OpAccessChain %ptr_u32 %buffer %0
"#;

/// The accesses, fences and barriers of a function by name, in order.
fn told(function: &Function) -> String {
    let text = function.to_string();
    let names = text.lines().filter_map(|line| {
        let line = line.split_once(" = ").map_or(line, |(_, rest)| rest);
        let name = line.trim().split(' ').next()?;
        let heads = ["load", "store", "atomic", "fence", "barrier"];
        let told = heads.contains(&name.split('.').next()?);
        told.then(|| name.trim_end_matches(".align16"))
    });
    names.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(body: &str, expected: &str) {
    let text = format!("{PREAMBLE}{body}\nOpReturn\nOpFunctionEnd");
    let translated = translate(&assemble(&text), &Options::default());
    let function = translated
        .unwrap_or_else(|errors| panic!("{}", errors[0]))
        .function;
    assert_eq!(told(&function), expected, "\n{function}");
}

#[test]
fn a_barrier_orders_all_memories() {
    for semantics in ["order_both", "order_shared", "relaxed_shared", "0"] {
        let barrier = format!("OpControlBarrier %workgroup %workgroup %{semantics}");
        check(&barrier, "barrier");
    }
}

#[test]
fn a_fence_orders_the_memories_that_it_names() {
    for (semantics, expected) in [
        ("order_both", "fence"),
        ("order_shared", "fence.shared"),
        ("order_buffers", "fence.buffers"),
        ("order_images", "fence.buffers"),
        ("relaxed_shared", ""),
        ("order_nothing", ""),
    ] {
        check(&format!("OpMemoryBarrier %device %{semantics}"), expected);
    }
    check("OpMemoryBarrier %invocation %order_both", "");
    check(
        "OpControlBarrier %subgroup %subgroup %order_shared",
        "fence.shared",
    );
}

#[test]
fn an_atomic_orders_what_it_names_and_its_own_memory() {
    check(
        "%a = OpAtomicIAdd %u32 %shared %workgroup %order_shared %0",
        "fence.shared atomic.add.shared fence.shared",
    );
    check(
        "%a = OpAtomicLoad %u32 %shared %workgroup %acquire_shared
         OpAtomicStore %shared %workgroup %release_shared %a",
        "load.shared.atomic fence.shared fence.shared store.shared.atomic",
    );
    check(
        "%a = OpAtomicLoad %u32 %shared %workgroup %relaxed_shared",
        "load.shared.atomic",
    );
    // What is shared may be read only when the atomic has seen that it may.
    check(
        "%a = OpAtomicLoad %u32 %place %workgroup %acquire_shared
         %b = OpLoad %u32 %shared",
        "load.buffer.atomic fence load.shared",
    );
}

#[test]
fn a_volatile_member_is_accessed_each_time() {
    let body = "%a = OpLoad %u32 %place
         OpStore %place %a
         OpReturn
         OpFunctionEnd";
    let plain = format!("{PREAMBLE}{body}");
    let offset = "OpMemberDecorate %block 0 Offset 0";
    let volatile = plain.replace(
        offset,
        &format!("{offset}\n OpMemberDecorate %block 0 Volatile"),
    );
    for (text, expected) in [
        (plain, "load.buffer store.buffer"),
        (volatile, "load.buffer.volatile store.buffer.volatile"),
    ] {
        let translated = translate(&assemble(&text), &Options::default());
        let function = translated
            .unwrap_or_else(|errors| panic!("{}", errors[0]))
            .function;
        assert_eq!(told(&function), expected, "\n{function}");
    }
}

#[test]
fn the_text_form_says_which_memories_are_ordered() {
    let all = "fence fence.buffers fence.shared fence.none barrier";
    let lines = all.replace(' ', "\n  ");
    let function = parse(&format!("b0:\n  {lines}\n  return")).unwrap();
    assert_eq!(told(&function), all);
    let error = parse("b0:\n  fence.textures\n  return").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2: no operation has this name: `fence.textures`"
    );
}

/// The generator word of a header, and naga's.
const GENERATOR: std::ops::Range<usize> = 8..12;
const NAGA: u32 = 28;

/// A barrier of a subgroup with these memories, in a module that naga has written; the refusal, if it is refused.
fn by_naga(semantics: &str) -> Result<String, String> {
    let barrier = format!("OpControlBarrier %subgroup %device %{semantics}");
    let text = format!("{PREAMBLE}{barrier}\nOpReturn\nOpFunctionEnd");
    let mut module = assemble(&text);
    module[GENERATOR].copy_from_slice(&NAGA.to_le_bytes());
    match translate(&module, &Options::default()) {
        Ok(translated) => Ok(told(&translated.function)),
        Err(errors) => Err(errors[0].to_string()),
    }
}

#[test]
fn a_barrier_that_naga_may_have_narrowed_is_refused() {
    for semantics in [
        "order_both",
        "order_shared",
        "order_buffers",
        "order_images",
    ] {
        let error = by_naga(semantics).unwrap_err();
        for part in ["OpControlBarrier", "naga", "GLSL's barrier()"] {
            assert!(error.contains(part), "no {part:?} in {error}");
        }
        // Other tools mean what they write.
        let names = ["fence", "fence.shared", "fence.buffers"];
        let barrier = format!("OpControlBarrier %subgroup %device %{semantics}");
        let text = format!("{PREAMBLE}{barrier}\nOpReturn\nOpFunctionEnd");
        let translated = translate(&assemble(&text), &Options::default()).unwrap();
        assert!(names.contains(&told(&translated.function).as_str()));
    }
    assert_eq!(by_naga("order_subgroup").as_deref(), Ok("fence"));
}
