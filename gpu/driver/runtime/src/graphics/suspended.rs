//! Passes in several parts, by Vulkan's flags SUSPENDING and RESUMING.
//!
//! A part that is suspended keeps what its tiles hold in the attachments, samples, depth and stencil too, whatever their pass does with
//! them at its end; the part that resumes it begins with that. So parts need no memory of their own and may stand in different
//! commands; each costs a store and a load of all attachments.
//! Never: lets a part resolve that is not the last, or clear if it is not the first.

use super::error::GraphicsError;
use super::framebuffer::MOST_COLORS;
use super::rendering::{
    ColorAttachment, DepthAttachment, LoadOp, RenderingInfo, StencilAttachment, StoreOp,
};
use crate::command::{Accesses, CommandError, Recorder};
use crate::error::Error;
use crate::platform::Platform;

/// The colours of a part.
type Colors = heapless::Vec<Option<ColorAttachment>, MOST_COLORS>;

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Begins a part of a pass.
    #[cold]
    pub(super) fn begin_part(&mut self, info: &RenderingInfo<'_>) -> Result<(), Error> {
        if info.resuming {
            // What the part before has left comes back through caches that nothing keeps coherent.
            let written = Accesses::COLOR_WRITE | Accesses::DEPTH_STENCIL_WRITE;
            let read = Accesses::COLOR_READ | Accesses::DEPTH_STENCIL_READ;
            self.barrier(written, read | written)?;
        }
        let Some(colors) = colors(info) else {
            // Too many: it is refused as it is.
            return self.begin_whole(info);
        };
        self.begin_whole(&part(info, &colors))?;
        if let Some(passes) = &mut self.passes {
            passes.suspended = info.suspending;
        }
        Ok(())
    }

    /// Fails if a part of a pass waits to be resumed, and `info` is something else.
    pub(super) fn resumes(&self, info: &RenderingInfo<'_>) -> Result<(), Error> {
        match &self.passes {
            Some(passes) if passes.suspended && !info.resuming => {
                Err(CommandError::from(GraphicsError::NotResumed).into())
            }
            _ => Ok(()),
        }
    }
}

/// What becomes of a load, and of a store.
fn load<C>(info: &RenderingInfo<'_>, load: LoadOp<C>) -> LoadOp<C> {
    if info.resuming { LoadOp::Load } else { load }
}

const fn store(info: &RenderingInfo<'_>, store: StoreOp) -> StoreOp {
    if info.suspending {
        StoreOp::Store
    } else {
        store
    }
}

/// The colours of a part; `None` if there are too many.
fn colors(info: &RenderingInfo<'_>) -> Option<Colors> {
    let mut colors = Colors::new();
    for color in info.colors {
        let part = color.map(|color| ColorAttachment {
            load: load(info, color.load),
            store: store(info, color.store),
            resolve: color.resolve.filter(|_| !info.suspending),
            ..color
        });
        colors.push(part).ok()?;
    }
    Some(colors)
}

/// A part as a pass of its own, with these colours.
fn part<'c>(info: &RenderingInfo<'_>, colors: &'c [Option<ColorAttachment>]) -> RenderingInfo<'c> {
    let RenderingInfo {
        area,
        layers,
        view_mask,
        samples,
        depth,
        stencil,
        depth_resolve,
        stencil_resolve,
        ..
    } = *info;
    RenderingInfo {
        area,
        layers,
        view_mask,
        samples,
        colors,
        depth: depth.map(|depth| DepthAttachment {
            load: load(info, depth.load),
            store: store(info, depth.store),
            ..depth
        }),
        stencil: stencil.map(|stencil| StencilAttachment {
            load: load(info, stencil.load),
            store: store(info, stencil.store),
            ..stencil
        }),
        depth_resolve: depth_resolve.filter(|_| !info.suspending),
        stencil_resolve: stencil_resolve.filter(|_| !info.suspending),
        resuming: false,
        suspending: false,
    }
}
