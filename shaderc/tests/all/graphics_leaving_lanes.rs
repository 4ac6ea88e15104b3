//! Lanes of fragment shaders that are killed or demoted: what they still do, and where they go.
use eitri_shaderc::interp::{Fragment, Primitive, Resources};
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{ShaderStage, front_end};

use crate::graphics::{check, fragment, lowered, options};
use crate::support::drawing::{Linear, draw_to, floats, shade};

/// The test whether the callee has killed the lane comes of the call, not of what the callee did last.
#[test]
fn what_leaves_behind_a_call_comes_of_the_call() {
    const FUNCTION_CALL: u32 = 57;
    let body = "%called = OpFunctionCall %void %cut
         OpReturn
         OpFunctionEnd
         %cut = OpFunction %void 0 %fn
         %l2 = OpLabel
         %w = OpLoad %v2 %given
         %y = OpCompositeExtract %f32 %w 1
         %low = OpFOrdLessThan %bool %y %0f
         OpSelectionMerge %kept 0
         OpBranchConditional %low %gone %kept
         %gone = OpLabel
         OpKill
         %kept = OpLabel
         OpReturn";
    let spirv = fragment("", "", body);
    let words = spirv.as_chunks().0;
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let mut at = 5;
    while words[at] & 0xffff != FUNCTION_CALL {
        at += (words[at] >> 16) as usize;
    }
    let made = translate(&spirv, &options(ShaderStage::Fragment));
    let function = made.unwrap_or_else(|errors| panic!("{errors:?}")).function;
    let mut insts = function.placed_insts();
    let of_call = insts.any(|(_, inst)| {
        let position = function.position(function.inst(inst).position);
        position.offset as usize == 4 * at
    });
    assert!(
        of_call,
        "no instruction comes of the call at word {at}:\n{function}"
    );
}

#[test]
fn a_killed_lane_helps_and_goes_to_the_end() {
    // In a function that is called, from inside a loop of the caller.
    let body = "OpBranch %head
         %head = OpLabel
         %i = OpPhi %f32 %0f %l %next %tail
         OpLoopMerge %done %tail 0
         OpBranch %body
         %body = OpLabel
         %called = OpFunctionCall %void %cut
         OpBranch %tail
         %tail = OpLabel
         %next = OpFAdd %f32 %i %1f
         %more = OpFOrdLessThan %bool %next %x
         OpBranchConditional %more %head %done
         %done = OpLabel
         %c = OpCompositeConstruct %v4 %i %x %x %x
         OpStore %color %c
         OpReturn
         OpFunctionEnd
         %cut = OpFunction %void 0 %fn
         %l2 = OpLabel
         %w = OpLoad %v2 %given
         %y = OpCompositeExtract %f32 %w 1
         %low = OpFOrdLessThan %bool %y %0f
         OpSelectionMerge %kept 0
         OpBranchConditional %low %gone %kept
         %gone = OpLabel
         OpKill
         %kept = OpLabel
         OpReturn";
    let start = "%v = OpLoad %v2 %given
         %x = OpCompositeExtract %f32 %v 0";
    let spirv = fragment("", "", &format!("{start}\n{body}"));
    for function in [
        translate(&spirv, &options(ShaderStage::Fragment)).map(|made| made.function),
        front_end(&spirv, &options(ShaderStage::Fragment)).map(|made| made.function),
    ] {
        let function = function.unwrap_or_else(|errors| panic!("{errors:?}"));
        let quads = (0..8u32).flat_map(|row| (0..8).map(move |column| [column, row]));
        let quads = quads.map(|[column, row]| {
            [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[dx, dy]| Fragment {
                pixel: [2 * column + dx, 2 * row + dy],
                ..Fragment::default()
            })
        });
        let quads: Vec<[Fragment; 4]> = quads.collect();
        let mut none = Resources::default();
        let pixels = shade(&function, &draw_to([16, 16]), &Linear, &quads, &mut none);
        let given = |pixel: [u32; 2], component: u8| {
            let at = pixel.map(|at| at as f32 + 0.5);
            f32::from_bits(Linear.interpolated(0, component, at))
        };
        let all = (0..16).flat_map(|y| (0..16).map(move |x| [x, y]));
        let kept: Vec<[u32; 2]> = all.filter(|pixel| given(*pixel, 1) >= 0.0).collect();
        assert!((16..240).contains(&kept.len()), "{} are kept", kept.len());
        assert_eq!(pixels.len(), kept.len(), "{function}");
        for pixel in kept {
            let x = given(pixel, 0);
            // As often round as whole numbers are below x, but once at least.
            let rounds = (x.ceil() - 1.0).max(0.0);
            assert_eq!(
                floats(&pixels[&pixel], 0),
                [rounds, x, x, x],
                "at {pixel:?}"
            );
        }
    }
    let got = lowered(ShaderStage::Fragment, &spirv).join("\n");
    assert_eq!(got.matches("demote true").count(), 1, "{got}");
    assert_eq!(got.matches("return").count(), 1, "one end: {got}");
    assert_eq!(got.matches("output.color").count(), 1, "{got}");
}

#[test]
fn whether_a_lane_helps_changes_where_it_is_demoted() {
    let decorations = "OpCapability DemoteToHelperInvocation";
    let body = "OpDemoteToHelperInvocation
         %is = OpIsHelperInvocationEXT %bool
         %x = OpSelect %f32 %is %1f %0f
         %c = OpCompositeConstruct %v4 %x %x %x %x
         OpStore %color %c
         OpReturn";
    check(
        ShaderStage::Fragment,
        &fragment(decorations, "", body),
        "b0:
         demote true
         output.color.0.0.float 1.0, 1.0, 1.0, 1.0
         return",
    );
}
