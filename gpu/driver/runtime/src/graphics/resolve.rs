//! Resolves at the end of a pass: several samples become one.
//!
//! The fixed function writes a mean, or the first sample, in place of the samples. Whatever else there is (samples that are stored as
//! well, formats without a mean, depth and stencil) is resolved by a pass of its own behind the first, which reads the samples.
//! Facts: hardware/graphics-framebuffer.md 5.9.

use super::error::{Attachment, GraphicsError, Unsupported};
use super::framebuffer::MOST_COLORS;
use super::output_code::Kind;
use super::rendering::{ImageView, Rect, Resolve, ResolveMode};
use super::surface::surface;
use super::texels::{TexelSource, Transform};
use crate::command::{Accesses, Recorder};
use crate::error::Error;
use crate::platform::Platform;
use eitri_descriptors::framebuffer::Msaa;

/// Most attachments of a pass that are resolved behind it.
pub(super) const MOST_RESOLVES: usize = MOST_COLORS + 2;

/// A resolve behind a pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeferredResolve {
    attachment: Attachment,
    from: ImageView,
    to: Resolve,
}

/// How the fixed function resolves samples that are not stored; `None` if it can't.
pub(super) fn fixed_function(mode: ResolveMode, kind: Kind, averages: bool) -> Option<Msaa> {
    match (mode, kind) {
        (ResolveMode::SampleZero, _) => Some(Msaa::Single),
        (ResolveMode::Average, Kind::Float) if averages => Some(Msaa::Average),
        _ => None,
    }
}

impl DeferredResolve {
    /// A resolve of values of a kind.
    ///
    /// # Errors
    /// If no such resolve is possible, as Vulkan has it: means of integers, the least or greatest of colours.
    pub(super) fn new(
        attachment: Attachment,
        from: ImageView,
        to: Resolve,
        kind: Kind,
    ) -> Result<DeferredResolve, GraphicsError> {
        let is_color = matches!(attachment, Attachment::Color(_));
        let possible = match to.mode {
            ResolveMode::SampleZero => true,
            ResolveMode::Average => kind == Kind::Float,
            ResolveMode::Min | ResolveMode::Max => !is_color,
        };
        if !possible {
            return Err(GraphicsError::Unsupported {
                what: Unsupported::ResolveMode,
                target: Some(attachment),
            });
        }
        Ok(DeferredResolve {
            attachment,
            from,
            to,
        })
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Resolves what a pass has written, in its area and of each of its layers.
    pub(super) fn resolve_behind(&mut self) -> Result<(), Error> {
        let framebuffer = self.framebuffer();
        if !framebuffer.has_deferred() {
            return Ok(());
        }
        // Passes that resolve have framebuffers of their own.
        let (all, layers) = (framebuffer.deferred(), framebuffer.layers);
        let [x, y, width, height] = framebuffer.asked_area();
        let written = Accesses::COLOR_WRITE | Accesses::DEPTH_STENCIL_WRITE;
        let read = Accesses::COLOR_READ | Accesses::DEPTH_STENCIL_READ;
        self.barrier(written, read)?;
        let area = Rect {
            x: i32::try_from(x).unwrap_or(i32::MAX),
            y: i32::try_from(y).unwrap_or(i32::MAX),
            width,
            height,
        };
        for it in &all {
            for layer in 0..layers {
                let at_layer = |view: ImageView| ImageView {
                    layer: view.layer.saturating_add(layer),
                    ..view
                };
                let source = TexelSource {
                    surface: surface(self.device, at_layer(it.from), it.attachment)?,
                    transform: Transform::Offset([0; 2]),
                    mode: it.to.mode,
                    target: it.attachment,
                };
                self.write_texels(source, at_layer(it.to.view), area)?;
            }
        }
        Ok(())
    }
}
