//! A module may hold entry points of several stages: only what the one that is compiled comes to matters.
use eitri_program::{BindingKind, Program};
use eitri_shaderc::{Bindings, Options, compile};
use rspirv::spirv::MemoryAccess;

use crate::support::spvasm::assemble;

/// Two compute shaders, whose resources stand at the same binding, and a fragment shader.
const MODULE: &str = r#"
    OpCapability Shader
    OpCapability DerivativeControl
    OpCapability SampleRateShading
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %first "first" %id
    OpEntryPoint GLCompute %second "second"
    OpEntryPoint Fragment %picture "picture" %color
    OpExecutionMode %first LocalSize 4 1 1
    OpExecutionMode %second LocalSize 8 1 1
    OpExecutionMode %picture OriginUpperLeft
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %color Location 0
    OpDecorate %words ArrayStride 4
    OpDecorate %blocks Block
    %blocks = OpDecorationGroup
    OpGroupDecorate %blocks %block %vector
    OpDecorate %starts Offset 0
    %starts = OpDecorationGroup
    OpGroupMemberDecorate %starts %block 0 %vector 0
    OpDecorate %out DescriptorSet 0
    OpDecorate %out Binding 0
    OpDecorate %in DescriptorSet 0
    OpDecorate %in Binding 0
    OpDecorate %result DescriptorSet 0
    OpDecorate %result Binding 1
    %void = OpTypeVoid
    %u32 = OpTypeInt 32 0
    %f32 = OpTypeFloat 32
    %v3 = OpTypeVector %u32 3
    %in_v3 = OpTypePointer Input %v3
    %id = OpVariable %in_v3 Input
    %out_f32 = OpTypePointer Output %f32
    %color = OpVariable %out_f32 Output
    %words = OpTypeRuntimeArray %u32
    %block = OpTypeStruct %words
    %vector = OpTypeStruct %v3
    %ptr_block = OpTypePointer StorageBuffer %block
    %ptr_vector = OpTypePointer Uniform %vector
    %ptr_u32 = OpTypePointer StorageBuffer %u32
    %uniform_u32 = OpTypePointer Uniform %u32
    %out = OpVariable %ptr_block StorageBuffer
    %result = OpVariable %ptr_block StorageBuffer
    %in = OpVariable %ptr_vector Uniform
    %ptr_table = OpTypePointer Workgroup %f32
    %table = OpVariable %ptr_table Workgroup
    %0 = OpConstant %u32 0
    %1 = OpConstant %u32 1
    %1f = OpConstant %f32 1.0
    %fn = OpTypeFunction %void
    %first = OpFunction %void 0 %fn
    %l1 = OpLabel
    %called = OpFunctionCall %void %helper
    OpReturn
    OpFunctionEnd
    %second = OpFunction %void 0 %fn
    %l2 = OpLabel
    %from = OpAccessChain %uniform_u32 %in %0 %1
    %value = OpLoad %u32 %from
    %there = OpAccessChain %ptr_u32 %result %0 %1
    OpStore %there %value
    OpStore %table %1f
    OpReturn
    OpFunctionEnd
    %picture = OpFunction %void 0 %fn
    %l3 = OpLabel
    %slope = OpDPdxFine %f32 %1f
    OpStore %color %slope
    OpReturn
    OpFunctionEnd
    %helper = OpFunction %void 0 %fn
    %l4 = OpLabel
    %all = OpLoad %v3 %id
    %mine = OpCompositeExtract %u32 %all 0
    %here = OpAccessChain %ptr_u32 %out %0 %mine
    OpStore %here %mine
    OpReturn
    OpFunctionEnd
"#;

/// Kinds of the bindings of an entry point's program, invocations of a workgroup, bytes of shared memory.
#[track_caller]
fn compiled(entry: &str) -> (Vec<(u32, BindingKind)>, u32, u32) {
    let options = Options {
        entry: Some(entry.to_owned()),
        ..Options::default()
    };
    let compiled = compile(&assemble(MODULE), &options);
    let compiled = compiled.unwrap_or_else(|errors| panic!("{entry}: {errors}"));
    let program = Program::parse(&compiled.program).unwrap();
    let bindings = program.bindings();
    let kinds = bindings.map(|binding| (binding.binding, binding.kind));
    (
        kinds.collect(),
        program.workgroup().invocations(),
        program.shared_bytes(),
    )
}

#[test]
fn each_has_its_own_resources() {
    let (storage, uniform) = (BindingKind::StorageBuffer, BindingKind::UniformBuffer);
    assert_eq!(compiled("first"), (vec![(0, storage)], 4, 0));
    // Shared memory comes in whole vectors.
    let of_second = vec![(0, uniform), (1, storage)];
    assert_eq!(compiled("second"), (of_second, 8, 16));
}

/// Who binds resources goes by what is declared, so a shader that is alone keeps what it does not use.
#[test]
fn the_only_entry_point_has_all_that_is_declared() {
    let start = MODULE.find("%fn = OpTypeFunction").unwrap();
    let body = "%fn = OpTypeFunction %void
        %first = OpFunction %void 0 %fn
        %l1 = OpLabel
        %there = OpAccessChain %ptr_u32 %result %0 %1
        OpStore %there %1
        OpReturn
        OpFunctionEnd";
    let kept = MODULE[..start].lines().filter(|line| {
        let of_others = ["%second", "%picture", "%in ", "Derivative", "SampleRate"];
        !of_others.iter().any(|word| line.contains(word))
    });
    let module = kept.collect::<Vec<_>>().join("\n") + body;
    let module = assemble(&module);
    let bindings = |bindings: Bindings| -> Vec<u32> {
        let options = Options {
            bindings,
            ..Options::default()
        };
        let compiled = compile(&module, &options);
        let compiled = compiled.unwrap_or_else(|errors| panic!("{errors}"));
        let program = Program::parse(&compiled.program).unwrap();
        program.bindings().map(|binding| binding.binding).collect()
    };
    assert_eq!(bindings(Bindings::Declared), [0, 1]);
    assert_eq!(bindings(Bindings::Used), [1], "or what its functions name");
}

#[test]
fn an_entry_point_of_another_stage_is_refused() {
    let options = Options {
        entry: Some("picture".to_owned()),
        ..Options::default()
    };
    let errors = compile(&assemble(MODULE), &options).unwrap_err();
    let text = errors.to_string();
    assert!(
        text.contains("execution model Fragment is not supported"),
        "{text}"
    );
}

/// What optimisers are told says nothing of results; a quad has its own votes.
#[test]
fn hints_and_votes_of_quads_are_read() {
    let module = MODULE
        .replace(
            "OpCapability DerivativeControl",
            "OpCapability DerivativeControl
             OpCapability ExpectAssumeKHR
             OpCapability GroupNonUniform
             OpCapability GroupNonUniformVote
             OpCapability QuadControlKHR",
        )
        .replace(
            "OpStore %here %mine",
            "%odd = OpINotEqual %bool %mine %0
             %likely = OpExpectKHR %bool %odd %odd
             OpAssumeTrueKHR %likely
             %vote = OpGroupNonUniformQuadAllKHR %bool %likely
             %bit = OpSelect %u32 %vote %1 %0
             OpStore %here %bit",
        )
        .replace(
            "%void = OpTypeVoid",
            "%void = OpTypeVoid\n%bool = OpTypeBool",
        );
    let options = Options {
        entry: Some("first".to_owned()),
        ..Options::default()
    };
    let compiled = compile(&assemble(&module), &options);
    assert!(compiled.is_ok(), "{}", compiled.unwrap_err());
}

/// Something that isn't supported, by what a module needs for it.
struct Foreign {
    capabilities: &'static str,
    declarations: &'static str,
    body: &'static str,
    /// What is said of it in a compute shader, but for offsets.
    refusal: &'static str,
}

#[rustfmt::skip]
const FOREIGN: &[Foreign] = &[
    Foreign {
        capabilities: "OpCapability Float64",
        declarations: "%f64 = OpTypeFloat 64
                       %half = OpConstant %f64 0 1071644672
                       %halves = OpTypeVector %f64 2
                       %two_halves = OpConstantComposite %halves %half %half",
        body: "%twice = OpFAdd %halves %two_halves %two_halves",
        refusal: "a.slang:7: OpFAdd: capability Float64 (`f64`, `double`) is not supported",
    },
    Foreign {
        capabilities: "OpCapability InputAttachment
                       OpCapability InputAttachmentArrayDynamicIndexing",
        declarations: "%image = OpTypeImage %f32 6 0 0 0 2 0
                       %images = OpTypeArray %image %1
                       %ptr_images = OpTypePointer UniformConstant %images
                       %ptr_image = OpTypePointer UniformConstant %image
                       %resource = OpVariable %ptr_images UniformConstant
                       %v4 = OpTypeVector %f32 4
                       %v2 = OpTypeVector %u32 2
                       %here_always = OpConstantComposite %v2 %0 %0",
        body: "%place = OpAccessChain %ptr_image %resource %0
               %input = OpLoad %image %place
               %texel = OpImageRead %v4 %input %here_always",
        refusal: "a.slang:7: OpImageRead: capability InputAttachment (`subpassInput`) is not supported",
    },
    Foreign {
        capabilities: "OpCapability Int64
                       OpCapability Int64ImageEXT",
        declarations: "%u64 = OpTypeInt 64 0
                       %image = OpTypeImage %u64 1 0 0 0 2 41
                       %ptr_image = OpTypePointer UniformConstant %image
                       %resource = OpVariable %ptr_image UniformConstant",
        body: "%input = OpLoad %image %resource",
        refusal: "a.slang:7: OpLoad: capability Int64ImageEXT (`r64uint`, `r64ui`) is not supported",
    },
    Foreign {
        capabilities: "OpCapability RayQueryKHR",
        declarations: "%scene = OpTypeAccelerationStructureKHR
                       %ptr_scene = OpTypePointer UniformConstant %scene
                       %the_scene = OpVariable %ptr_scene UniformConstant
                       %query = OpTypeRayQueryKHR
                       %ptr_query = OpTypePointer Private %query
                       %the_query = OpVariable %ptr_query Private",
        body: "%loaded = OpLoad %scene %the_scene
               %more = OpRayQueryProceedKHR %u32 %the_query",
        refusal: "a.slang:7: OpLoad: capability RayQueryKHR (`ray_query`, `rayQueryEXT`) is not supported",
    },
    Foreign {
        capabilities: "OpCapability Float16
                       OpCapability AtomicFloat32MinMaxEXT
                       OpCapability AtomicFloat16MinMaxEXT",
        declarations: "%f16 = OpTypeFloat 16
                       %1h = OpConstant %f16 15360
                       %ptr_half = OpTypePointer Workgroup %f16
                       %least = OpVariable %ptr_half Workgroup",
        body: "%before = OpAtomicFMinEXT %f16 %least %1 %0 %1h",
        refusal: "a.slang:7: OpAtomicFMinEXT: capability AtomicFloat16MinMaxEXT (`atomicMin`, `atomicMax` of `float16_t`) is not supported",
    },
    Foreign {
        capabilities: "OpCapability CooperativeMatrixKHR",
        declarations: "%3 = OpConstant %u32 3
                       %8 = OpConstant %u32 8
                       %matrix = OpTypeCooperativeMatrixKHR %f32 %3 %8 %8 %0
                       %ones = OpConstantComposite %matrix %1f",
        body: "%twos = OpFAdd %matrix %ones %ones",
        refusal: "a.slang:7: OpFAdd: capability CooperativeMatrixKHR (`coop_mat8x8`, `coopmat`) is not supported",
    },
    // An image that no compute shader has; the capability alone is never refused.
    Foreign {
        capabilities: "OpCapability TileImageColorReadAccessEXT",
        declarations: "%image = OpTypeImage %f32 4173 0 0 0 2 0
                       %ptr_image = OpTypePointer TileImageEXT %image
                       %resource = OpVariable %ptr_image TileImageEXT
                       %v4 = OpTypeVector %f32 4",
        body: "%input = OpLoad %image %resource
               %texel = OpColorAttachmentReadEXT %v4 %input",
        refusal: "OpTypeImage: type an image of DimTileImageDataEXT is not supported",
    },
    // No capability tells of it.
    Foreign {
        capabilities: "%amd = OpExtInstImport \"SPV_AMD_shader_ballot\"",
        declarations: "",
        body: "%swizzled = OpExtInst %u32 %amd 3 %1 %1",
        refusal: "OpExtInstImport: instruction set SPV_AMD_shader_ballot is not supported",
    },
    Foreign {
        capabilities: "",
        declarations: "%many = OpConstant %u32 20000
                       %table_of_many = OpTypeArray %u32 %many
                       %nulls = OpConstantNull %table_of_many",
        body: "%some = OpCompositeExtract %u32 %nulls 7",
        refusal: "OpConstantNull: size: a constant of that size is not supported",
    },
    Foreign {
        capabilities: "OpCapability MinLod",
        declarations: "%image = OpTypeImage %f32 1 0 0 0 1 0
                       %sampled = OpTypeSampledImage %image
                       %ptr_sampled = OpTypePointer UniformConstant %sampled
                       %resource = OpVariable %ptr_sampled UniformConstant
                       %v4 = OpTypeVector %f32 4
                       %v2 = OpTypeVector %f32 2
                       %here_always = OpConstantComposite %v2 %1f %1f",
        body: "%input = OpLoad %sampled %resource
               %texel = OpImageSampleImplicitLod %v4 %input %here_always 128 %1f",
        refusal: "a.slang:7: OpImageSampleImplicitLod: use: a least level where there are no derivatives is not supported",
    },
];

/// A place in the functions of `MODULE`.
const IN_FRAGMENT: &str = "OpStore %color %slope";
const IN_COMPUTE: &str = "OpStore %here %mine";

impl Foreign {
    /// The module that has it at those places.
    fn at(&self, places: &[&str]) -> String {
        let body = format!("OpLine %file 7 0\n{}\nOpNoLine", self.body);
        let mut module = MODULE
            .replace(
                "OpMemoryModel",
                &format!("{}\nOpMemoryModel", self.capabilities),
            )
            .replace(
                "OpDecorate %id",
                "%file = OpString \"a.slang\"
                 OpDecorate %resource Binding 7
                 OpDecorate %id",
            )
            .replace(
                "%fn = OpTypeFunction",
                &format!("{}\n%fn = OpTypeFunction", self.declarations),
            );
        for (number, place) in places.iter().enumerate() {
            // Each result is another one.
            let results = self.body.lines().filter_map(|line| line.split_once(" = "));
            let body = results.fold(body.clone(), |body, (result, _)| {
                let result = result.trim();
                body.replace(result, &format!("{result}_{number}"))
            });
            module = module.replace(place, &format!("{body}\n{place}"));
        }
        module
    }
}

/// What is said of the compute shader `first`, without offsets and ids.
fn refusal(module: &str) -> Option<String> {
    let options = Options {
        entry: Some("first".to_owned()),
        ..Options::default()
    };
    let text = compile(&assemble(module), &options).err()?.to_string();
    let lines = text.lines().map(|line| {
        let (place, what) = line.split_once(" (byte ").unwrap_or((line, ""));
        let place = place.split(" %").next().unwrap_or(place);
        let what = what.split_once(')').map_or("", |(_, what)| what);
        format!("{place}{what}")
    });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn what_only_another_entry_point_needs_is_no_reason_to_refuse() {
    for foreign in FOREIGN {
        let module = foreign.at(&[IN_FRAGMENT]);
        assert_eq!(refusal(&module), None, "{}", foreign.body);
    }
}

#[test]
fn what_the_entry_point_needs_is_refused_whoever_else_needs_it() {
    for foreign in FOREIGN {
        let lines = foreign.refusal.lines().map(str::trim);
        let expected = lines.collect::<Vec<_>>().join("\n");
        for places in [&[IN_COMPUTE][..], &[IN_COMPUTE, IN_FRAGMENT]] {
            let module = foreign.at(places);
            assert_eq!(refusal(&module), Some(expected.clone()), "{}", foreign.body);
        }
    }
}

/// A function that nobody calls is as little a reason; a capability that nothing at all asks for is believed.
#[test]
fn a_function_that_is_not_called_needs_nothing() {
    for foreign in FOREIGN
        .iter()
        .filter(|foreign| !foreign.declarations.contains("OpVariable"))
    {
        let module = foreign.at(&[IN_FRAGMENT]);
        let others = ["OpEntryPoint GLCompute %second", "OpEntryPoint Fragment"];
        let modes = ["OpExecutionMode %second", "OpExecutionMode %picture"];
        let lines = module.lines().filter(|line| {
            let of_others = others.iter().chain(&modes);
            !of_others
                .clone()
                .any(|start| line.trim().starts_with(start))
        });
        // Two buffers at one binding are for two entry points.
        let module = lines.collect::<Vec<_>>().join("\n");
        let module = module.replace("OpDecorate %in Binding 0", "OpDecorate %in Binding 2");
        assert_eq!(refusal(&module), None, "{}", foreign.body);
    }
}

/// As spirv-opt leaves it.
#[test]
fn debug_information_may_stand_behind_the_end_of_a_block() {
    let module = MODULE
        .replace(
            "OpMemoryModel",
            "%debug = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"
             OpMemoryModel",
        )
        .replace(
            "OpFunctionEnd",
            "%SCOPE = OpExtInst %void %debug 24
             OpFunctionEnd",
        );
    let mut parts = module.split("%SCOPE");
    let mut numbered = parts.next().unwrap().to_owned();
    for (number, part) in parts.enumerate() {
        numbered += &format!("%scope{number}{part}");
    }
    assert_eq!(refusal(&numbered), None);
}

/// Reach goes by ids: a number that happens to look like one is none.
#[test]
fn numbers_are_no_ids() {
    // Whatever the number of the unsupported type, some constant and some alignment are equal to it.
    let numbers: String = (1..60)
        .map(|number| {
            format!(
                "%n{number} = OpConstant %u32 {number}
                 %s{number} = OpSpecConstantOp %u32 CompositeExtract %zeros {}\n",
                number % 3
            )
        })
        .collect();
    let loads: String = (1..60)
        .map(|number| {
            format!(
                "%sum{number} = OpIAdd %u32 %n{number} %s{number}
                 %same{number} = OpLoad %v3 %id 2 {number}\n"
            )
        })
        .collect();
    let module = FOREIGN[0].at(&[IN_FRAGMENT]);
    let module = module
        .replace(
            "%fn = OpTypeFunction",
            &format!("%zeros = OpConstantNull %v3\n{numbers}\n%fn = OpTypeFunction"),
        )
        .replace(IN_COMPUTE, &format!("{loads}\n{IN_COMPUTE}"));
    assert_eq!(refusal(&module), None);
}

/// Which of several is meant must be said; what one of them needs isn't refused before.
#[test]
fn an_entry_point_must_be_chosen_first() {
    let module = FOREIGN[0].at(&[IN_FRAGMENT]);
    let errors = compile(&assemble(&module), &Options::default()).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "no compute entry point, or more than one; the module has first, second"
    );
}

/// The scopes of memory accesses are ids like any other: behind the number of an alignment, and each of two.
#[test]
fn scopes_of_memory_accesses_are_the_entry_points_own() {
    const BEFORE: &str = "%all = OpLoad %v3 %id";
    let module = MODULE
        .replace(
            "OpMemoryModel Logical GLSL450",
            "OpCapability VulkanMemoryModel
             OpCapability VulkanMemoryModelDeviceScope
             OpMemoryModel Logical Vulkan",
        )
        .replace(
            "%fn = OpTypeFunction",
            "%scope = OpSpecConstantOp %u32 PtrAccessChain %1 %1
             %fn = OpTypeFunction",
        );
    assert_eq!(refusal(&module), None, "nobody names the scope");
    let available = MemoryAccess::MAKE_POINTER_AVAILABLE | MemoryAccess::NON_PRIVATE_POINTER;
    let visible = MemoryAccess::MAKE_POINTER_VISIBLE | MemoryAccess::NON_PRIVATE_POINTER;
    for (access, mask, parameters) in [
        ("%word = OpLoad %u32 %place", visible, "%scope"),
        (
            "%word = OpLoad %u32 %place",
            visible | MemoryAccess::ALIGNED,
            "4 %scope",
        ),
        ("OpStore %place %0", available, "%scope"),
        (
            "OpCopyMemory %place %place",
            available | visible,
            "%1 %scope",
        ),
    ] {
        let mask = mask.bits();
        let access = format!(
            "%place = OpAccessChain %ptr_u32 %out %0 %0
             {access} {mask} {parameters}
             {BEFORE}"
        );
        let refused =
            "OpSpecConstantOp: use: OpSpecConstantOp of OpPtrAccessChain is not supported";
        assert_eq!(
            refusal(&module.replace(BEFORE, &access)).as_deref(),
            Some(refused),
            "{access}"
        );
    }
}
