//! What a graphics pipeline does with colours, as the compiler is told it.

use eitri_descriptors::Arch;
use eitri_descriptors::formats::VkFormat;
use eitri_drawing::state::{self, Blend, Multisample};
use eitri_shaderc::color_state::{ColorState, ColorTarget, LogicOp};

/// The state of a pipeline whose colours have these formats.
pub(crate) fn color_state<'n>(
    arch: Arch,
    blend: &Blend,
    multisample: &Multisample,
    formats: impl Iterator<Item = Option<&'n str>>,
) -> ColorState {
    let blends = eitri_player::color_blends(blend);
    let targets = formats.enumerate().map(|(location, name)| {
        Some(ColorTarget {
            format: VkFormat::of_name(arch, name?)?,
            blend: blends.get(location).copied().unwrap_or_default(),
        })
    });
    ColorState {
        targets: targets.collect(),
        locations: Vec::new(),
        inputs: Vec::new(),
        logic_op: blend.logic_op.map(logic_op),
        alpha_to_one: multisample.alpha_to_one,
        no_alpha_to_coverage: !multisample.alpha_to_coverage,
        constants: Some(blend.constants.map(f32::to_bits)),
        samples: multisample.samples,
    }
}

fn logic_op(op: state::LogicOp) -> LogicOp {
    match op {
        state::LogicOp::Clear => LogicOp::Clear,
        state::LogicOp::And => LogicOp::And,
        state::LogicOp::AndReverse => LogicOp::AndReverse,
        state::LogicOp::Copy => LogicOp::Copy,
        state::LogicOp::AndInverted => LogicOp::AndInverted,
        state::LogicOp::NoOp => LogicOp::NoOp,
        state::LogicOp::Xor => LogicOp::Xor,
        state::LogicOp::Or => LogicOp::Or,
        state::LogicOp::Nor => LogicOp::Nor,
        state::LogicOp::Equivalent => LogicOp::Equivalent,
        state::LogicOp::Invert => LogicOp::Invert,
        state::LogicOp::OrReverse => LogicOp::OrReverse,
        state::LogicOp::CopyInverted => LogicOp::CopyInverted,
        state::LogicOp::OrInverted => LogicOp::OrInverted,
        state::LogicOp::Nand => LogicOp::Nand,
        state::LogicOp::Set => LogicOp::Set,
    }
}
