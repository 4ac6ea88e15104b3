//! Attachments of a pass: which of their texels hold something, from the load to the store.
//!
//! Needs: fragments in the order of draws.  Guarantees: a texel that may have been written counts as written; samples of a pixel are
//! one texel.

use super::written::Written;
use eitri_drawing::state::{
    BlendAttachment, BlendEquation, BlendFactor, BlendOp, CompareOp, LoadOp, LogicOp, Rect,
    StencilOp, StoreOp,
};
use eitri_drawing::{
    Attachment, AttachmentClear, ClearRect, ClearValue, Drawing, GraphicsPipeline, Pass, View,
};

/// An attachment.
#[derive(Clone, Debug)]
pub(super) struct Target<'d> {
    pub(super) view: &'d View,
    attachment: &'d Attachment,
    width: usize,
    /// By layer, its texels.
    layers: Vec<Vec<bool>>,
    area: Rect,
    /// The pass goes on in another part.
    suspending: bool,
}

impl<'d> Target<'d> {
    fn new(
        drawing: &'d Drawing<'_>,
        pass: &Pass<'_>,
        attachment: &'d Attachment,
        written: &Written,
    ) -> Option<Target<'d>> {
        let view = drawing.views.get(attachment.view.index())?;
        let views = u32::BITS - pass.view_mask.leading_zeros();
        let mut width = 0;
        let mut layers = vec![];
        for layer in 0..pass.layers.max(views).max(1) {
            let (across, texels) = written.texels(view.image, view.level, view.layer + layer)?;
            width = across;
            layers.push(texels.to_vec());
        }
        let mut target = Target {
            view,
            attachment,
            width,
            layers,
            area: pass.area,
            suspending: pass.part.suspending,
        };
        match attachment.load {
            // What the part before has left.
            _ if pass.part.resuming => {}
            LoadOp::Load => {}
            LoadOp::Clear => target.fill(pass.area, true),
            LoadOp::DontCare => target.fill(pass.area, false),
        }
        Some(target)
    }

    fn fill(&mut self, rect: Rect, value: bool) {
        for layer in 0..self.layers.len() {
            self.fill_layer(layer, rect, value);
        }
    }

    fn fill_layer(&mut self, layer: usize, rect: Rect, value: bool) {
        let width = self.width;
        let Some(texels) = self.layers.get_mut(layer).filter(|_| width > 0) else {
            return;
        };
        let [left, top] = [rect.x, rect.y].map(|at| usize::try_from(at).unwrap_or(0));
        for row in texels
            .chunks_mut(width)
            .skip(top)
            .take(rect.height as usize)
        {
            let right = left.saturating_add(rect.width as usize).min(row.len());
            if let Some(part) = row.get_mut(left..right) {
                part.fill(value);
            }
        }
    }

    /// Whether a pixel holds something. What lies outside does.
    pub(super) fn holds(&self, layer: u32, [x, y]: [u32; 2]) -> bool {
        let texels = self.layers.get(layer as usize);
        let texel = texels.and_then(|it| it.get(y as usize * self.width + x as usize));
        texel.copied().unwrap_or(true)
    }

    /// A pixel is written.
    pub(super) fn write(&mut self, layer: u32, [x, y]: [u32; 2]) {
        let (width, layer) = (self.width, self.layers.get_mut(layer as usize));
        if let Some(texel) = layer.and_then(|it| it.get_mut(y as usize * width + x as usize)) {
            *texel = true;
        }
    }

    /// All pixels of the area are written.
    pub(super) fn write_all(&mut self) {
        self.fill(self.area, true);
    }

    /// What the image holds behind the pass.
    fn end(mut self, drawing: &Drawing<'_>, written: &mut Written) {
        if let Some((view, _)) = self.attachment.resolve.filter(|_| !self.suspending)
            && let Some(view) = drawing.views.get(view.index())
        {
            for (layer, texels) in (view.layer..).zip(&self.layers) {
                written.set_texels(view.image, view.level, layer, texels);
            }
        }
        if self.attachment.store == StoreOp::DontCare && !self.suspending {
            self.fill(self.area, false);
        }
        for (layer, texels) in (self.view.layer..).zip(&self.layers) {
            written.set_texels(self.view.image, self.view.level, layer, texels);
        }
    }
}

/// The attachments of a pass.
#[derive(Clone, Debug)]
pub(super) struct Targets<'d> {
    pub(super) colors: Vec<Option<Target<'d>>>,
    pub(super) depth: Option<Target<'d>>,
    pub(super) stencil: Option<Target<'d>>,
}

impl<'d> Targets<'d> {
    pub(super) fn new(
        drawing: &'d Drawing<'_>,
        pass: &'d Pass<'_>,
        written: &Written,
    ) -> Targets<'d> {
        let target = |attachment| Target::new(drawing, pass, attachment, written);
        let colors = pass.colors.iter();
        Targets {
            colors: colors.map(|it| it.as_ref().and_then(target)).collect(),
            depth: pass.depth.as_ref().and_then(target),
            stencil: pass.stencil.as_ref().and_then(target),
        }
    }

    /// Rectangles are cleared.
    pub(super) fn clear(&mut self, attachments: &[AttachmentClear], rects: &[ClearRect]) {
        for clear in attachments {
            let target = match clear.value {
                ClearValue::Color(_) => self
                    .colors
                    .get_mut(clear.index as usize)
                    .and_then(Option::as_mut),
                ClearValue::Depth(_) => self.depth.as_mut(),
                ClearValue::Stencil(_) => self.stencil.as_mut(),
            };
            let Some(target) = target else { continue };
            for rect in rects {
                for layer in rect.layer..rect.layer.saturating_add(rect.layers) {
                    target.fill_layer(layer as usize, rect.rect, true);
                }
            }
        }
    }

    /// The pass ends.
    pub(super) fn end(self, drawing: &Drawing<'_>, written: &mut Written) {
        let colors = self.colors.into_iter().flatten();
        // Depth and stencil of one image are stored alike, or the one that is keeps the texel written.
        for target in colors.chain(self.stencil).chain(self.depth) {
            target.end(drawing, written);
        }
    }
}

/// What a draw does with an attachment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Use {
    /// The word for reading it.
    pub(super) reads: Option<&'static str>,
    pub(super) writes: bool,
}

/// What a pipeline does with a colour.
pub(super) fn color_use(pipeline: &GraphicsPipeline, target: usize) -> Use {
    let blend = pipeline.blend.attachments.get(target);
    let writes = blend.is_none_or(|blend| blend.write.0 != 0);
    let logic = pipeline.blend.logic_op.is_some_and(|op| {
        !matches!(
            op,
            LogicOp::Clear | LogicOp::Copy | LogicOp::CopyInverted | LogicOp::Set | LogicOp::NoOp
        )
    });
    let reads = match blend {
        _ if logic => Some("a logic operation reads"),
        Some(blend) if writes && blends(blend) => Some("blending reads"),
        _ => None,
    };
    Use { reads, writes }
}

fn blends(blend: &BlendAttachment) -> bool {
    let alpha = blend.alpha.or(blend.color);
    let color = blend.color.filter(|_| blend.write.0 & 7 != 0);
    let alpha = alpha.filter(|_| blend.write.0 & 8 != 0);
    [color, alpha].into_iter().flatten().any(reads_target)
}

/// Whether an equation reads the attachment.
fn reads_target(BlendEquation(source, target, op): BlendEquation) -> bool {
    let names = |factor| {
        matches!(
            factor,
            BlendFactor::DstColor
                | BlendFactor::OneMinusDstColor
                | BlendFactor::DstAlpha
                | BlendFactor::OneMinusDstAlpha
                | BlendFactor::SrcAlphaSaturate
        )
    };
    matches!(op, BlendOp::Min | BlendOp::Max) || target != BlendFactor::Zero || names(source)
}

/// What a pipeline does with the depth.
pub(super) fn depth_use(pipeline: &GraphicsPipeline) -> Use {
    let Some(depth) = pipeline.depth.filter(|depth| depth.test) else {
        return Use::default();
    };
    let compares = !matches!(depth.compare, CompareOp::Always | CompareOp::Never);
    Use {
        reads: compares.then_some("the depth test reads"),
        writes: depth.write,
    }
}

/// What a pipeline does with the stencil value.
pub(super) fn stencil_use(pipeline: &GraphicsPipeline) -> Use {
    let Some(stencil) = pipeline.stencil else {
        return Use::default();
    };
    let faces = [stencil.front, stencil.back.unwrap_or(stencil.front)];
    let compares = faces.iter().any(|face| {
        face.compare_mask & 0xff != 0
            && !matches!(face.compare, CompareOp::Always | CompareOp::Never)
    });
    let changes = |op| !matches!(op, StencilOp::Keep);
    let writes = faces.iter().any(|face| {
        face.write_mask & 0xff != 0
            && [face.fail, face.depth_fail, face.pass]
                .into_iter()
                .any(changes)
    });
    Use {
        reads: compares.then_some("the stencil test reads"),
        writes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_equation_reads_the_attachment_by_its_factors() {
        let reads = |source, target, op| reads_target(BlendEquation(source, target, op));
        use BlendFactor::{DstAlpha, One, OneMinusSrcAlpha, SrcAlpha, Zero};
        assert!(!reads(One, Zero, BlendOp::Add));
        assert!(!reads(SrcAlpha, Zero, BlendOp::Subtract));
        assert!(reads(SrcAlpha, OneMinusSrcAlpha, BlendOp::Add));
        assert!(reads(DstAlpha, Zero, BlendOp::Add));
        assert!(reads(One, Zero, BlendOp::Max));
    }
}
