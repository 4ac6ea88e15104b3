//! Blending: descriptors of colour targets.
//!
//! Pure.  Facts: hardware/graphics-framebuffer.md 6.1 and 6.2.

use eitri_descriptors::blend::{
    Blend, BlendEquation, BlendFixedFunction, BlendMode, InternalBlend,
};
use eitri_descriptors::blending::fixed_function;
pub use eitri_descriptors::blending::{BlendComponent, BlendFactor, BlendOp, ColorBlend};
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::resource::InternalConversion;
use eitri_descriptors::{Arch, Descriptor, DescriptorError, PixelFormat};

/// A colour target, as its blend descriptor has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TargetBlend {
    pub(crate) words: [u32; 4],
    /// It is written.
    pub(crate) is_on: bool,
    /// All of what was there is replaced.
    pub(crate) replaces: bool,
    /// It blends with the constants: colour, and alpha.
    pub(crate) constants: [bool; 2],
    /// Largest component, in bits.
    pub(crate) widest: u8,
}

/// No target.
pub(crate) const OFF: TargetBlend = TargetBlend {
    words: [0, 0xF012_2122, 0x1B, 0],
    is_on: false,
    replaces: false,
    constants: [false; 2],
    widest: 0,
};

/// A target that a fragment program reads and does not write: loads take the conversion from its descriptor.
pub(crate) fn read_only(format: &VkFormat) -> TargetBlend {
    let [first, second, third, _] = OFF.words;
    let conversion = format.target().map_or(0, |row| row.conversion.0);
    TargetBlend {
        words: [first, second, third, conversion],
        ..OFF
    }
}

/// The blend descriptor of a target, with the constant 0; `None` if the hardware does not have it.
pub(crate) fn target(
    arch: Arch,
    number: u32,
    format: &VkFormat,
    blend: &ColorBlend,
) -> Result<Option<TargetBlend>, DescriptorError> {
    let (Some(row), Some(function)) = (format.target(), fixed_function(format, blend)) else {
        return Ok(None);
    };
    let mode = function.mode;
    if mode == BlendMode::Off {
        return Ok(Some(OFF));
    }
    // Red, green and blue with a one are no order of fixed functions (hardware/graphics-framebuffer.md 6.1).
    let conversion = match mode {
        BlendMode::FixedFunction => PixelFormat(row.conversion.0 & !0xFFF),
        _ => row.conversion,
    };
    let descriptor = Blend {
        load_destination: function.loads,
        enable: true,
        srgb: format.srgb,
        round_to_fb_precision: true,
        equation: BlendEquation {
            rgb: function.rgb,
            alpha: function.alpha,
            color_mask: function.mask.into(),
        },
        internal: InternalBlend {
            shader: None,
            fixed_function: Some(BlendFixedFunction {
                num_comps: 4,
                rt: number,
                conversion: InternalConversion {
                    memory_format: conversion,
                    raw: false,
                },
            }),
            mode,
        },
        ..Blend::default()
    };
    let mut words = [0; 4];
    descriptor.pack(arch, &mut words)?;
    let blendable = row.internal_format().and_then(|row| row.blendable);
    let bits = blendable.map_or([0; 4], |it| it.bits);
    Ok(Some(TargetBlend {
        words,
        is_on: true,
        replaces: mode == BlendMode::Opaque,
        constants: function.constants,
        widest: bits.into_iter().max().unwrap_or(0),
    }))
}

/// The descriptor's constant: a fraction with so many bits, in the upper ones of 16.
pub(crate) fn constant(value: f32, bits: u8) -> u32 {
    let bits = u32::from(bits.min(16));
    let most = (1_u32 << bits).wrapping_sub(1) << 16_u32.wrapping_sub(bits);
    (value.clamp(0.0, 1.0) * most as f32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    use BlendFactor::{
        Constant, DstAlpha, DstColor, One, OneMinusConstant, OneMinusDstAlpha, OneMinusDstColor,
        OneMinusSrcAlpha, OneMinusSrcColor, SrcAlpha, SrcColor, Zero,
    };

    fn format(name: &str) -> &'static VkFormat {
        VkFormat::of_name(Arch::V10, name).expect("a format")
    }

    #[track_caller]
    fn word(color: [BlendFactor; 2], alpha: [BlendFactor; 2], op: BlendOp, expected: u32) {
        let component = |[src, dst]: [BlendFactor; 2]| BlendComponent { src, dst, op };
        let blend = ColorBlend {
            equations: Some([component(color), component(alpha)]),
            write_mask: 0xF,
        };
        let found = target(Arch::V10, 0, format("R8G8B8A8_UNORM"), &blend).expect("packs");
        let found = found.expect("a fixed function").words[1];
        assert_eq!(found, expected, "{color:?} {alpha:?} {op:?}: {found:#x}");
    }

    /// The table of hardware/graphics-framebuffer.md 6.1.
    #[test]
    fn equations_are_as_the_facts_say() {
        let add = |color, expected| word(color, color, BlendOp::Add, expected);
        add([SrcAlpha, OneMinusSrcAlpha], 0xF050_3503);
        word(
            [SrcAlpha, OneMinusSrcAlpha],
            [One, OneMinusSrcAlpha],
            BlendOp::Add,
            0xF0D3_2503,
        );
        add([One, OneMinusSrcAlpha], 0xF0D3_2D32);
        add([One, One], 0xF093_2932);
        add([SrcAlpha, One], 0xF052_3523);
        word(
            [DstColor, Zero],
            [DstAlpha, Zero],
            BlendOp::Add,
            0xF062_1321,
        );
        word(
            [Zero, SrcColor],
            [Zero, SrcAlpha],
            BlendOp::Add,
            0xF053_1231,
        );
        add([DstAlpha, OneMinusDstAlpha], 0xF060_3603);
        add([Constant, OneMinusConstant], 0xF070_3703);
        word([One, One], [One, One], BlendOp::Subtract, 0xF09B_29B2);
        word(
            [One, One],
            [One, One],
            BlendOp::ReverseSubtract,
            0xF093_A93A,
        );
        add([Zero, One], 0xF093_1931);
        add([Zero, Zero], 0xF013_1131);
        let replaced = |name| {
            let blend = ColorBlend::default();
            let found = target(Arch::V10, 0, format(name), &blend).expect("packs");
            found.expect("no blending").words
        };
        // hardware/graphics.md 1.10.
        let words = [0xA00, 0xF012_2122, 0x19, 0xE_D000];
        assert_eq!(replaced("R8G8B8A8_UNORM"), words);
        assert_eq!(replaced("R32G32B32A32_UINT")[2], 0x19);
    }

    #[test]
    fn what_the_hardware_does_not_have_is_told() {
        let found = |name: &str, src, dst, op| {
            let component = BlendComponent { src, dst, op };
            let blend = ColorBlend {
                equations: Some([component; 2]),
                write_mask: 0xF,
            };
            target(Arch::V10, 0, format(name), &blend)
                .expect("packs")
                .is_some()
        };
        let rgba = "R8G8B8A8_UNORM";
        assert!(!found(rgba, One, One, BlendOp::Max));
        assert!(!found(rgba, SrcColor, DstAlpha, BlendOp::Add));
        assert!(found(
            rgba,
            OneMinusDstColor,
            OneMinusDstColor,
            BlendOp::Add
        ));
        assert!(found(rgba, OneMinusSrcColor, SrcColor, BlendOp::Subtract));
        assert!(!found("R16G16B16A16_SFLOAT", DstColor, Zero, BlendOp::Add));
        assert!(found(
            "R16G16B16A16_SFLOAT",
            SrcAlpha,
            OneMinusSrcAlpha,
            BlendOp::Add
        ));
        assert!(!found(
            "R32_SFLOAT",
            SrcAlpha,
            OneMinusSrcAlpha,
            BlendOp::Add
        ));
    }

    #[test]
    fn constants_stand_in_the_upper_bits() {
        assert_eq!(constant(1.0, 8), 0xFF00);
        assert_eq!(constant(0.5, 8), 0x7F80);
        assert_eq!(constant(2.0, 10), 0xFFC0);
    }
}
