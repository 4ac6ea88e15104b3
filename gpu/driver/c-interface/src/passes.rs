//! Render passes and their draws.

use crate::draw_handles::{EitriGraphicsPipeline, EitriGraphicsSet, EitriImage};
use crate::handles::{EitriBuffer, Handle};
use crate::memory::{NO_BYTES, array};
use crate::platform::CPlatform;
use crate::record::{EitriRecorder, of_refusal, put};
use crate::status::{EitriStatus, Refusal};
use crate::stencil::byte;
use core::ffi::c_void;
use core::ptr;
use eitri_runtime::{
    ClearColor, ColorAttachment, DepthAttachment, Draw, ImageView, IndexType, LoadOp, RenderPass,
    RenderingInfo, Resolve, StencilAttachment, StoreOp,
};

/// The caller's function that draws.
type DrawFunction = unsafe extern "C" fn(pass: *mut EitriPass, context: *mut c_void);

pub(crate) type CPass = RenderPass<'static, 'static, 'static, 'static, CPlatform>;

/// A pass that is being recorded. Good inside of the function that was given to eitri_cmd_render() alone.
pub struct EitriPass {
    /// Of that function's duration, whatever its type says.
    pass: *mut CPass,
    /// The first refusal: what comes after it is not recorded.
    refusal: Option<Refusal>,
}

impl EitriPass {
    /// Lets the caller's function record a pass; fails with the first refusal.
    ///
    /// # Safety
    /// `draw` may be called with `context`, returns, and keeps no pass.
    pub(crate) unsafe fn record(
        pass: &mut RenderPass<'_, '_, '_, '_, CPlatform>,
        draw: DrawFunction,
        context: *mut c_void,
    ) -> Result<(), Refusal> {
        let mut outer = EitriPass {
            pass: ptr::from_mut(pass).cast(),
            refusal: None,
        };
        // SAFETY: the caller's promise.
        unsafe { draw(&raw mut outer, context) };
        outer.refusal.map_or(Ok(()), Err)
    }
}

/// The attachment holds `clear` at first.
pub const EITRI_LOAD_CLEAR: u32 = 0;
/// The attachment holds what it held.
pub const EITRI_LOAD_LOAD: u32 = 1;
/// The attachment may hold anything at first.
pub const EITRI_LOAD_DONT_CARE: u32 = 2;

/// A colour that a pass renders to.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriColorAttachment {
    /// The image.
    pub image: EitriImage,
    /// Its level.
    pub level: u32,
    /// Its layer.
    pub layer: u32,
    /// EITRI_LOAD_…
    pub load: u32,
    /// Not 0: what is rendered is not kept.
    pub discard: u32,
    /// Red, green, blue and alpha at first, for EITRI_LOAD_CLEAR.
    pub clear: [f32; 4],
    /// An image with one sample that gets the mean of the samples; 0: none.
    pub resolve: EitriImage,
}

/// What a pass renders to. All attachments have the same size and number of samples.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriRendering {
    /// Colours, by location: at most 8.
    pub colors: *const EitriColorAttachment,
    /// How many.
    pub color_count: usize,
    /// Depth; 0: none.
    pub depth: EitriImage,
    /// EITRI_LOAD_…, of depth.
    pub depth_load: u32,
    /// Not 0: depth is not kept.
    pub depth_discard: u32,
    /// Depth at first, for EITRI_LOAD_CLEAR.
    pub depth_clear: f32,
    /// EITRI_PART_…, of a pass in several parts: all have the same attachments, and each but the first resumes the one before. What
    /// the pass loads or clears the first part does, what it resolves the last. 0: the pass is whole.
    pub part: u32,
    /// Stencil; 0: none. The same image as depth where its format has both.
    pub stencil: EitriImage,
    /// EITRI_LOAD_…, of stencil.
    pub stencil_load: u32,
    /// Not 0: stencil is not kept.
    pub stencil_discard: u32,
    /// Stencil at first, for EITRI_LOAD_CLEAR: below 256.
    pub stencil_clear: u32,
}

/// The pass goes on with the one that was suspended last: nothing is loaded or cleared.
pub const EITRI_PART_RESUMING: u32 = 1;
/// The next pass goes on with this one: everything is kept, and nothing resolved.
pub const EITRI_PART_SUSPENDING: u32 = 2;

pub(crate) const MOST_COLORS: usize = 8;

fn load<C>(number: u32, clear: C) -> Result<LoadOp<C>, Refusal> {
    match number {
        EITRI_LOAD_CLEAR => Ok(LoadOp::Clear(clear)),
        EITRI_LOAD_LOAD => Ok(LoadOp::Load),
        EITRI_LOAD_DONT_CARE => Ok(LoadOp::DontCare),
        _ => Err(Refusal::Argument("load is none of EITRI_LOAD_…")),
    }
}

const fn store(discard: u32) -> StoreOp {
    match discard {
        0 => StoreOp::Store,
        _ => StoreOp::DontCare,
    }
}

fn color(from: &EitriColorAttachment) -> Result<ColorAttachment, Refusal> {
    let view = ImageView {
        level: from.level,
        layer: from.layer,
        ..ImageView::of(from.image.own()?)
    };
    let resolve = match from.resolve.id {
        0 => None,
        _ => Some(Resolve::average(ImageView::of(from.resolve.own()?))),
    };
    Ok(ColorAttachment {
        view,
        resolve,
        load: load(from.load, ClearColor::Float(from.clear))?,
        store: store(from.discard),
    })
}

/// Records a render pass: `draw` is called once, with `context`, and calls the eitri_pass_… functions on the pass. Nothing is bound at
/// first; viewport and scissor are all of the attachments. Null: the pass clears alone.
///
/// # Safety
/// `recorder` is what the function that records was given; what `info` leads to has the sizes that it says; `draw` is null, or may be
/// called with `context`, returns, and keeps no pass.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_render(
    recorder: *mut EitriRecorder,
    info: *const EitriRendering,
    draw: Option<unsafe extern "C" fn(pass: *mut EitriPass, context: *mut c_void)>,
    context: *mut c_void,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |recorder| {
            let info = info.as_ref().ok_or(Refusal::Argument("info is null"))?;
            let mut colors = heapless::Vec::<Option<ColorAttachment>, MOST_COLORS>::new();
            for from in array(info.colors, info.color_count, "info.colors is null")? {
                let most = "a pass has 8 colours at most";
                colors
                    .push(Some(color(from)?))
                    .map_err(|_| Refusal::Argument(most))?;
            }
            let depth = match info.depth.id {
                0 => None,
                _ => Some(DepthAttachment {
                    view: ImageView::of(info.depth.own()?),
                    load: load(info.depth_load, info.depth_clear)?,
                    store: store(info.depth_discard),
                }),
            };
            let stencil = match info.stencil.id {
                0 => None,
                _ => Some(StencilAttachment {
                    view: ImageView::of(info.stencil.own()?),
                    load: load(info.stencil_load, byte(info.stencil_clear)?)?,
                    store: store(info.stencil_discard),
                }),
            };
            if info.part & !(EITRI_PART_RESUMING | EITRI_PART_SUSPENDING) != 0 {
                return Err(Refusal::Argument("part has bits that mean nothing"));
            }
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &colors,
                depth,
                stencil,
                resuming: info.part & EITRI_PART_RESUMING != 0,
                suspending: info.part & EITRI_PART_SUSPENDING != 0,
                ..RenderingInfo::default()
            })?;
            if let Some(draw) = draw {
                EitriPass::record(&mut pass, draw, context)?;
            }
            Ok(pass.end_rendering()?)
        })
    }
}

/// Records something of a pass, unless something before was refused.
///
/// # Safety
/// `pass` is null, or what `eitri_cmd_render` gave to the function that is running.
pub(crate) unsafe fn put_in(
    pass: *mut EitriPass,
    work: impl FnOnce(&mut CPass) -> Result<(), Refusal>,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    let Some(outer) = (unsafe { pass.as_mut() }) else {
        return EitriStatus::Argument;
    };
    if outer.refusal.is_none() {
        // SAFETY: it is there while the function runs.
        outer.refusal = work(unsafe { &mut *outer.pass }).err();
    }
    outer.refusal.as_ref().map_or(EitriStatus::Ok, of_refusal)
}

/// Lets each draw that follows begin when the vertices of the one before are through: for eitri_get_failed_pass(), which then knows the
/// draw whose vertices fail or hang. It costs that draws overlap.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_draw_in_turn(pass: *mut EitriPass) -> EitriStatus {
    let work = |it: &mut CPass| {
        it.draw_in_turn()?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}

/// Uses a pipeline for the draws that follow.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_bind_pipeline(
    pass: *mut EitriPass,
    pipeline: EitriGraphicsPipeline,
) -> EitriStatus {
    let work = |it: &mut CPass| {
        it.bind_pipeline(pipeline.own()?)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}

/// Uses a set for the draws that follow.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_bind_set(
    pass: *mut EitriPass,
    set: EitriGraphicsSet,
) -> EitriStatus {
    let work = |it: &mut CPass| {
        it.bind_descriptor_set(set.own()?)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}

/// Uses these push constants, from byte `offset` on, for the draws that follow; both are multiples of 4.
///
/// # Safety
/// `pass` is what the function that draws was given; `data` has so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_push_constants(
    pass: *mut EitriPass,
    offset: usize,
    data: *const c_void,
    bytes: usize,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put_in(pass, |it| {
            it.push_constants(offset, array(data.cast::<u8>(), bytes, NO_BYTES)?)?;
            Ok(())
        })
    }
}

/// Reads the elements of a binding from `offset` on of a buffer.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_bind_vertices(
    pass: *mut EitriPass,
    binding: u32,
    buffer: EitriBuffer,
    offset: u64,
) -> EitriStatus {
    let work = |it: &mut CPass| {
        it.bind_vertex_buffer(binding, buffer.own()?, offset)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}

/// Reads indices of `index_bytes` (1, 2 or 4) from `offset` on of a buffer.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_bind_indices(
    pass: *mut EitriPass,
    buffer: EitriBuffer,
    offset: u64,
    index_bytes: u32,
) -> EitriStatus {
    let work = |it: &mut CPass| {
        let kind = match index_bytes {
            1 => IndexType::Uint8,
            2 => IndexType::Uint16,
            4 => IndexType::Uint32,
            _ => return Err(Refusal::Argument("index_bytes is not 1, 2 or 4")),
        };
        it.bind_index_buffer(buffer.own()?, offset, kind)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}

/// Vertices and instances of a draw.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriDraw {
    /// Vertices, or indices.
    pub count: u32,
    /// Instances; 0 is as 1.
    pub instances: u32,
    /// The first vertex, or the first index.
    pub first: u32,
    /// What is added to each index.
    pub vertex_offset: i32,
    /// The first instance.
    pub first_instance: u32,
    /// Not 0: vertices are those that the indices name.
    pub indexed: u32,
}

/// Draws.
///
/// # Safety
/// `pass` is what the function that draws was given; `draw` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_draw(
    pass: *mut EitriPass,
    draw: *const EitriDraw,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put_in(pass, |it| {
            let from = draw.as_ref().ok_or(Refusal::Argument("draw is null"))?;
            let draw = Draw {
                count: from.count,
                instances: from.instances.max(1),
                first: from.first,
                vertex_offset: from.vertex_offset,
                first_instance: from.first_instance,
            };
            match from.indexed {
                0 => it.draw(draw)?,
                _ => it.draw_indexed(draw)?,
            };
            Ok(())
        })
    }
}
