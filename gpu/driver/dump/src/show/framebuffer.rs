//! Framebuffers and what tiling leaves for them: descriptors, targets, the tiler's context and heap.
//!
//! Facts: hardware/graphics-framebuffer.md 1 to 4, graphics.md 2.2 (heap), 1.2 (how they lie one behind the other).

use super::entry::Entry;
use super::job::Job;
use alloc::format;
use eitri_cs::staging::FramebufferPointer;
use eitri_descriptors::Descriptor;
use eitri_descriptors::framebuffer::{Framebuffer, ZsCrcExtension};
use eitri_descriptors::target::RenderTarget;
use eitri_descriptors::tiler::{TilerContext, TilerHeap};

/// Bytes of a framebuffer, and of what follows it.
const FRAMEBUFFER_BYTES: u64 = 128;
const PART_BYTES: u64 = 64;

/// What a tagged pointer to a framebuffer leads to.
pub(super) fn framebuffer(job: &Job<'_, '_>, value: u64, entry: &mut Entry) {
    let pointer = match FramebufferPointer::unpack(value, job.arch) {
        Ok(pointer) => pointer,
        Err(error) => return entry.note("no framebuffer", error),
    };
    let mut at = pointer.address_shr_6 << 6;
    let mut part = Entry::heading("framebuffer");
    let words = job.described::<32>(Framebuffer::LAYOUT, at, &mut part);
    let tiler_context = words.and_then(|words| Framebuffer::unpack_at(job.arch, &words, 0).ok());
    entry.push(part);
    at = at.saturating_add(FRAMEBUFFER_BYTES);
    if pointer.zs_crc_extension_present {
        let mut part = Entry::heading("depth, stencil and checksums");
        job.described::<16>(ZsCrcExtension::LAYOUT, at, &mut part);
        entry.push(part);
        at = at.saturating_add(PART_BYTES);
    }
    for target in 0..=u64::from(pointer.render_target_count_minus_1) {
        let mut part = Entry::heading(format!("target {target}"));
        let at = at.saturating_add(target * PART_BYTES);
        job.described::<16>(RenderTarget::LAYOUT, at, &mut part);
        entry.push(part);
    }
    if let Some(context) = tiler_context.map(|framebuffer| framebuffer.parameters.tiler.get())
        && context != 0
    {
        let mut part = Entry::new("tiler context", format!("{context:#x}"));
        tiler(job, context, &mut part);
        entry.push(part);
    }
}

/// What the address of a tiler context leads to.
pub(super) fn tiler(job: &Job<'_, '_>, address: u64, entry: &mut Entry) {
    let Some(words) = job.described::<32>(TilerContext::LAYOUT, address, entry) else {
        return;
    };
    if let Ok(context) = TilerContext::unpack_at(job.arch, &words, 0) {
        let mut heap = Entry::new("heap", format!("{:#x}", context.heap.get()));
        job.described::<8>(TilerHeap::LAYOUT, context.heap.get(), &mut heap);
        entry.push(heap);
    }
}
