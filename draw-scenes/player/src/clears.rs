//! Clears within passes.

use crate::pass::rect;
use alloc::vec::Vec;
use eitri_drawing::state::Color;
use eitri_drawing::{AttachmentClear, ClearRect, ClearValue};
use eitri_job::WorkError;
use eitri_runtime::{ClearAttachment, ClearColor, ClearRect as MadeRect, Platform, RenderPass};

/// Clears rectangles of attachments.
pub(crate) fn clear<P: Platform>(
    pass: &mut RenderPass<'_, '_, '_, '_, P>,
    attachments: &[AttachmentClear],
    rects: &[ClearRect],
) -> Result<(), WorkError> {
    let attachments: Vec<ClearAttachment> = attachments.iter().map(attachment).collect();
    let rects = rects.iter().map(|it| MadeRect {
        rect: rect(it.rect),
        layer: it.layer,
        layers: it.layers,
    });
    let rects: Vec<MadeRect> = rects.collect();
    pass.clear_attachments(&attachments, &rects)?;
    Ok(())
}

fn attachment(clear: &AttachmentClear) -> ClearAttachment {
    match clear.value {
        ClearValue::Depth(depth) => ClearAttachment::Depth(depth),
        // Stencil values have 8 bits.
        ClearValue::Stencil(stencil) => ClearAttachment::Stencil(stencil as u8),
        ClearValue::Color(color) => ClearAttachment::Color {
            location: clear.index,
            color: match color {
                Color::Float(color) => ClearColor::Float(color),
                Color::Int(color) => ClearColor::Int(color),
                Color::Uint(color) => ClearColor::Uint(color),
            },
        },
    }
}
