//! Colours: how they are blended, which channels are written, and the formats of targets.

use super::canvas::{RGBA8, SIDE, check, cleared, format_of, on_canvas, rectangle, strip};
use super::{BLUE, BLUE_WORD, HEAP, START};
use crate::bench::Bench;
use crate::result::{Verdict, failed};
use alloc::vec;
use eitri_draw_programs::Shader;
use eitri_runtime::{
    BlendComponent, BlendFactor, BlendOp, ColorBlend, Draw, GraphicsPipelineInfo, ImageInfo,
    ImagePart, Platform, Tiling,
};

/// The new colour, the one that is there, and the constant.
const NEW: [f32; 4] = [0.8, 0.4, 0.2, 0.6];
const OLD: [f32; 4] = [0.2, 0.6, 0.4, 0.8];
const CONSTANT: f32 = 0.25;

/// A factor of a channel, by Vulkan's rules.
fn factor(factor: BlendFactor, channel: usize) -> f32 {
    let at = |color: [f32; 4], channel: usize| color.get(channel).copied().unwrap_or_default();
    match factor {
        BlendFactor::Zero => 0.0,
        BlendFactor::SrcColor => at(NEW, channel),
        BlendFactor::OneMinusSrcColor => 1.0 - at(NEW, channel),
        BlendFactor::DstColor => at(OLD, channel),
        BlendFactor::OneMinusDstColor => 1.0 - at(OLD, channel),
        BlendFactor::SrcAlpha => at(NEW, 3),
        BlendFactor::OneMinusSrcAlpha => 1.0 - at(NEW, 3),
        BlendFactor::DstAlpha => at(OLD, 3),
        BlendFactor::OneMinusDstAlpha => 1.0 - at(OLD, 3),
        BlendFactor::Constant => CONSTANT,
        BlendFactor::OneMinusConstant => 1.0 - CONSTANT,
        _ => 1.0,
    }
}

fn word(color: [f32; 4]) -> u32 {
    u32::from_le_bytes(color.map(|channel| (channel.clamp(0.0, 1.0) * 255.0 + 0.5) as u8))
}

/// The left half is blended.
pub(super) fn blend<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    src: BlendFactor,
    dst: BlendFactor,
    op: BlendOp,
) -> Verdict {
    let equation = BlendComponent { src, dst, op };
    let blend = ColorBlend {
        equations: Some([equation; 2]),
        ..ColorBlend::default()
    };
    let mut channels = 0..4;
    let blended = NEW.map(|new| {
        let channel = channels.next().unwrap_or_default();
        let old = OLD.get(channel).copied().unwrap_or_default();
        let (new, old) = (new * factor(src, channel), old * factor(dst, channel));
        match op {
            BlendOp::Subtract => new - old,
            BlendOp::ReverseSubtract => old - new,
            _ => new + old,
        }
    });
    on_canvas(it, HEAP, |it, canvas| {
        let info = GraphicsPipelineInfo {
            blends: &[blend],
            blend_constants: [CONSTANT; 4],
            ..strip()
        };
        let pipeline = canvas.pipeline(it, Shader::Color, &info)?;
        let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        let left = canvas.vertices(it, &rectangle(START, [0.0, 1.0], 0.5, NEW))?;
        canvas.draw(
            it,
            (&[cleared(image, OLD)], None),
            &[(pipeline, left, Draw::of(4))],
        )?;
        check(it, (image, "the blended half"), 1, |x, _| {
            match x < SIDE / 2 {
                true => word(blended),
                false => word(OLD),
            }
        })
    })
}

/// The left half is drawn with all channels of a half, of which some are written.
pub(super) fn mask<P: Platform>(it: &mut Bench<'_, '_, '_, P>, mask: u8) -> Verdict {
    let blend = ColorBlend {
        equations: None,
        write_mask: mask,
    };
    let channels = (0..4).filter(|channel| mask >> channel & 1 != 0);
    let written = channels.fold(0, |word, channel| word | 0xFF << (8 * channel));
    on_canvas(it, HEAP, |it, canvas| {
        let info = GraphicsPipelineInfo {
            blends: &[blend],
            ..strip()
        };
        let pipeline = canvas.pipeline(it, Shader::Color, &info)?;
        let image = canvas.image(it, RGBA8, Tiling::UInterleaved)?;
        let color = [128.0 / 255.0; 4];
        let left = canvas.vertices(it, &rectangle(START, [0.0, 1.0], 0.5, color))?;
        canvas.draw(
            it,
            (&[cleared(image, BLUE)], None),
            &[(pipeline, left, Draw::of(4))],
        )?;
        check(it, (image, "the half that is drawn"), 0, |x, _| {
            match x < SIDE / 2 {
                true => 0x8080_8080 & written | BLUE_WORD & !written,
                false => BLUE_WORD,
            }
        })
    })
}

/// A target's format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub(super) format: &'static str,
    pub(super) color: [f32; 4],
    pub(super) bytes: &'static [u8],
}

/// A target of zeros, whose left half is drawn.
pub(super) fn format<P: Platform>(it: &mut Bench<'_, '_, '_, P>, row: &Format) -> Verdict {
    on_canvas(it, HEAP, |it, canvas| {
        let format = format_of(it, row.format)?;
        let info = GraphicsPipelineInfo {
            colors: &[Some(format)],
            ..strip()
        };
        let pipeline = canvas.pipeline(it, Shader::Color, &info)?;
        let left = canvas.vertices(it, &rectangle(START, [0.0, 1.0], 0.5, row.color))?;
        for tiling in [Tiling::Linear, Tiling::UInterleaved] {
            let image = ImageInfo {
                tiling,
                ..ImageInfo::two_d(format, SIDE, SIDE)
            };
            let image = canvas.image_of(it, image)?;
            canvas.draw(
                it,
                (&[cleared(image, [0.0; 4])], None),
                &[(pipeline, left, Draw::of(4))],
            )?;
            let size = row.bytes.len();
            let mut found = vec![0; size * (SIDE * SIDE) as usize];
            it.device
                .read_image(image, ImagePart::default(), &mut found)?;
            for (number, found) in (0..).zip(found.chunks(size)) {
                let (x, y) = (number % SIDE, number / SIDE);
                let zeros = vec![0; size];
                let wanted = if x < SIDE / 2 { row.bytes } else { &zeros };
                let near = |(is, wanted): (&u8, &u8)| is.abs_diff(*wanted) <= 1;
                if !found.iter().zip(wanted).all(near) {
                    return Err(failed!(
                        "{tiling:?} {}: pixel {x}, {y} is {found:02x?}, expected {wanted:02x?}",
                        row.format
                    ));
                }
            }
        }
        Ok(())
    })
}
