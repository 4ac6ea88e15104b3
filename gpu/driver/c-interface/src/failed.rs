//! Where in its render passes a submission failed.

use crate::device::{EitriDevice, done};
use crate::draw_handles::EitriGraphicsPipeline;
use crate::handles::{EitriFence, Handle};
use crate::status::{EitriStatus, Refusal};
use core::ptr;
use eitri_runtime::{DrawsKnownBy, FailedPass, PassPart, Status};

/// The vertices of a pass failed, or its tiler.
pub const EITRI_PASS_VERTICES: u32 = 0;
/// The fragments of a pass failed, or the writing of its tiles.
pub const EITRI_PASS_FRAGMENTS: u32 = 1;

/// No draw can be named: the pass has none there, or what failed is a clear of attachments.
pub const EITRI_DRAWS_UNKNOWN: u32 = 0;
/// The stream stood at an instruction that prepares or begins the draw.
pub const EITRI_DRAWS_BY_INSTRUCTION: u32 = 1;
/// Only these draws have the code that failed.
pub const EITRI_DRAWS_BY_CODE: u32 = 2;
/// Only these draws name the memory whose access failed.
pub const EITRI_DRAWS_BY_ADDRESS: u32 = 3;
/// The pass had begun these draws, and no more is known.
pub const EITRI_DRAWS_BY_ORDER: u32 = 4;

/// The draws before it had ended, and it is the only one that had begun: eitri_pass_draw_in_turn().
pub const EITRI_DRAWS_BY_TURN: u32 = 5;

/// Where in its render passes a submission failed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriFailedPass {
    /// Number of the pass in its submission, from 0 in the order of recording; clears, blits and resolves of images are passes, too.
    pub pass: u32,
    /// How many passes may have failed, from `pass` on: those that ran side by side; 1: it is that pass.
    pub passes: u32,
    /// EITRI_PASS_…
    pub part: u32,
    /// What the draws were concluded from: EITRI_DRAWS_…
    pub draws_known_by: u32,
    /// Number of the first draw that may have failed, from 0 in the order of recording; and of the last.
    pub first_draw: u32,
    /// See `first_draw`.
    pub last_draw: u32,
    /// How many between them may have failed; 1: it is that draw.
    pub draws: u32,
    /// Not 0: `code_part` and `code_offset` say which instruction failed.
    pub has_code: u32,
    /// The shader that it is of: EITRI_PASS_…
    pub code_part: u32,
    /// Bytes from the start of the shader's code.
    pub code_offset: u32,
    /// Not 0: `first_pixel` and `last_pixel` say which pixels were accessed, both in x and y.
    pub has_pixels: u32,
    /// The first pixel.
    pub first_pixel: [u32; 2],
    /// The last pixel.
    pub last_pixel: [u32; 2],
    /// Level of the image.
    pub level: u32,
    /// Layer of the image, or slice.
    pub layer: u32,
    /// The pipeline of the draws, if all have the same; 0: they have several, or it is not known.
    pub pipeline: EitriGraphicsPipeline,
}

const fn part_number(part: PassPart) -> u32 {
    match part {
        PassPart::Vertices => EITRI_PASS_VERTICES,
        PassPart::Fragments => EITRI_PASS_FRAGMENTS,
    }
}

impl From<FailedPass> for EitriFailedPass {
    fn from(it: FailedPass) -> EitriFailedPass {
        let (draws, code, pixels) = (it.draws, it.code, it.pixels);
        let known_by = draws.map_or(EITRI_DRAWS_UNKNOWN, |draws| match draws.by {
            DrawsKnownBy::Instruction => EITRI_DRAWS_BY_INSTRUCTION,
            DrawsKnownBy::Code => EITRI_DRAWS_BY_CODE,
            DrawsKnownBy::Address => EITRI_DRAWS_BY_ADDRESS,
            DrawsKnownBy::Order => EITRI_DRAWS_BY_ORDER,
            DrawsKnownBy::Turn => EITRI_DRAWS_BY_TURN,
        });
        let corner = |corner: [u16; 2]| corner.map(u32::from);
        EitriFailedPass {
            pass: it.pass,
            passes: it.passes,
            part: part_number(it.part),
            draws_known_by: known_by,
            first_draw: draws.map_or(0, |draws| draws.first),
            last_draw: draws.map_or(0, |draws| draws.last),
            draws: draws.map_or(0, |draws| draws.count),
            has_code: code.is_some().into(),
            code_part: code.map_or(0, |code| part_number(code.stage)),
            code_offset: code.map_or(0, |code| code.offset),
            has_pixels: pixels.is_some().into(),
            first_pixel: pixels.map_or([0; 2], |range| corner(range.first)),
            last_pixel: pixels.map_or([0; 2], |range| corner(range.last)),
            level: pixels.map_or(0, |range| range.level.into()),
            layer: pixels.map_or(0, |range| range.layer.into()),
            pipeline: EitriGraphicsPipeline {
                id: it.pipeline.map_or(0, |pipeline| pipeline.to_bits()),
            },
        }
    }
}

/// Tells where in its render passes a failed job failed, before eitri_discard(): EITRI_STATUS_OK if that could be found out, else
/// EITRI_STATUS_GONE. eitri_error_text() of eitri_wait() has the same in words.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `failed` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_get_failed_pass(
    device: *mut EitriDevice,
    fence: EitriFence,
    failed: *mut EitriFailedPass,
) -> EitriStatus {
    let mut found = None;
    let get = |status: Status| match status {
        Status::Failed(fault) => fault.pass,
        Status::Pending | Status::Done | Status::Unknown => None,
    };
    // SAFETY: the caller's promise.
    let answer = unsafe {
        done(device, |it| {
            if failed.is_null() {
                return Err(Refusal::Argument("failed is null"));
            }
            found = get(it.status(fence.own()?));
            Ok(())
        })
    };
    match (answer, found) {
        (EitriStatus::Ok, Some(pass)) => {
            // SAFETY: it is not null, and the caller's promise.
            unsafe { ptr::write(failed, pass.into()) };
            EitriStatus::Ok
        }
        (EitriStatus::Ok, None) => EitriStatus::Gone,
        (refused, _) => refused,
    }
}
