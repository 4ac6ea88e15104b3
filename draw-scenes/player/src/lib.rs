//! Plays a drawing on a GPU: makes its resources and pipelines, records its steps, reads its results.
//!
//! A host and an image call the same function, [`play`]; only the platform and the sink differ. The steps of a drawing are one
//! command buffer, with a barrier between each two, so that the driver's own order is what makes the results right.
//!
//! Needs: the runtime, `eitri-drawing`, `eitri-job`.  Never: knows which platform it runs on.
//!
//! ```
//! use eitri_descriptors::Arch;
//! use eitri_player::format;
//!
//! // Formats have Vulkan's names in lower case, as scenes write them.
//! let found = format(Arch::V10, "r8g8b8a8_unorm").map(|format| format.block_bytes);
//! assert_eq!(found, Some(4));
//! assert!(format(Arch::V10, "r8g8b8a8_urnorm").is_none());
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![allow(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen; a drawing fails once"
)]

extern crate alloc;

mod clears;
mod formats;
mod graphics;
mod image_steps;
mod pass;
mod readback;
mod resources;
mod sets;
mod steps;
mod stepwise;

pub use formats::{format, image_info, sampler_info};
pub use graphics::{color_blends, unsupported};
pub use stepwise::{BetweenParts, Read};

use alloc::vec::Vec;
use core::cell::RefCell;
use core::time::Duration;
use eitri_drawing::Drawing;
use eitri_job::result::Sink;
use eitri_job::{
    CoreDump, Ended, Failure, Saved, Session, Wants, Work, WorkError, run_unread, run_work,
};
use eitri_runtime::{Platform, QueueConfig, Reporter, TilerHeapConfig};

/// Most objects of the driver that a drawing makes.
const OBJECTS: usize = 1024;

/// Plays a drawing on `platform`, which is given back: the result stream, with a buffer for each result, goes to `sink`, steps of the
/// bring-up also to `reporter`.
///
/// # Errors
/// Only when the sink fails: then the stream is void. Whatever else goes wrong is in the stream.
pub fn play<'d, P: Platform, S: Sink>(
    platform: P,
    firmware: &'d [u8],
    drawing: &Drawing<'d>,
    reporter: &mut dyn Reporter,
    sink: &mut S,
) -> (P, Result<Ended, S::Error>) {
    let work = Playing {
        firmware,
        drawing,
        how: How::Once,
    };
    run_work::<P, S, OBJECTS>(platform, &work, reporter, sink)
}

/// Plays a drawing on `platform`, which is given back, for who wants the results in its own memory.
pub fn play_here<P: Platform>(
    platform: P,
    firmware: &[u8],
    drawing: &Drawing<'_>,
    reporter: &mut dyn Reporter,
) -> (P, Result<Vec<Saved>, Failure>) {
    // What is borrowed for different times lives as long as the shorter one.
    let drawing: &Drawing<'_> = drawing;
    let work = Playing {
        firmware,
        drawing,
        how: How::Once,
    };
    run_unread::<P, OBJECTS>(platform, &work, reporter)
}

/// Plays a drawing again and again, each time with the next of its frames, and begins anew behind the last: `each` gets the results of
/// every picture, until it says that it has enough. A drawing without frames is played once.
///
/// # Errors
/// As [`play`]. The stream has the results of the last picture.
pub fn play_frames<'d, P: Platform, S: Sink>(
    platform: P,
    firmware: &'d [u8],
    drawing: &Drawing<'d>,
    reporter: &mut dyn Reporter,
    sink: &mut S,
    each: EachPicture<'_>,
) -> (P, Result<Ended, S::Error>) {
    let work = Playing {
        firmware,
        drawing,
        how: How::Frames(RefCell::new(each)),
    };
    run_work::<P, S, OBJECTS>(platform, &work, reporter, sink)
}

/// Gets the results of every picture, until it says that it has enough.
type EachPicture<'p> = &'p mut dyn FnMut(&[Saved]) -> bool;

/// As [`play_here`], in parts: `watcher` is told before each of them.
pub fn play_in_parts<P: Platform>(
    platform: P,
    firmware: &[u8],
    drawing: &Drawing<'_>,
    watcher: &mut dyn BetweenParts,
) -> (P, Result<Vec<Saved>, Failure>) {
    let drawing: &Drawing<'_> = drawing;
    let work = Playing {
        firmware,
        drawing,
        how: How::InParts(RefCell::new(watcher)),
    };
    run_unread::<P, OBJECTS>(platform, &work, &mut ())
}

/// How a drawing is played.
enum How<'p> {
    /// Once.
    Once,
    /// Again and again: who gets each picture.
    Frames(RefCell<EachPicture<'p>>),
    /// In parts: who is told between them.
    InParts(RefCell<&'p mut dyn BetweenParts>),
}

/// A drawing as work.
struct Playing<'p, 'd> {
    firmware: &'d [u8],
    drawing: &'p Drawing<'d>,
    how: How<'p>,
}

impl<'d> Work<'d> for Playing<'_, 'd> {
    fn firmware(&self) -> &'d [u8] {
        self.firmware
    }

    fn wants(&self) -> Wants {
        Wants {
            dump: match self.drawing.dump {
                true => CoreDump::OnFailure,
                false => CoreDump::Never,
            },
            counters: false,
        }
    }

    fn run<P: Platform>(
        &self,
        session: &mut Session<'_, '_, 'd, '_, P>,
    ) -> Result<Vec<Saved>, WorkError> {
        let drawing = self.drawing;
        let device = &mut *session.device;
        let queue = device.create_queue(QueueConfig::default())?;
        let space = device.space(queue)?;
        if drawing.has_passes() {
            let heap = device.create_tiler_heap(space, TilerHeapConfig::default())?;
            device.bind_tiler_heap(queue, heap)?;
        }
        let made = resources::make(device, space, drawing)?;
        let sets = sets::make(device, drawing, &made)?;
        let commands = device.create_command_buffer(space)?;
        if let How::InParts(watcher) = &self.how {
            let watcher = &mut **watcher.borrow_mut();
            let drawn = (drawing, &made, &sets);
            stepwise::run(session, (queue, commands), drawn, watcher)?;
            return readback::read(session.device, drawing, &made);
        }
        steps::record(device, commands, drawing, &drawing.steps, &made, &sets)?;
        let mut frames = drawing.frames.iter().cycle();
        loop {
            let fence = session.device.submit(queue, commands)?;
            session.wait(fence, Duration::from_millis(drawing.limit_ms.into()))?;
            let results = readback::read(session.device, drawing, &made)?;
            let wanted = match &self.how {
                How::Frames(each) => (each.borrow_mut())(&results),
                How::Once | How::InParts(_) => false,
            };
            let Some(frame) = frames.next().filter(|_| wanted) else {
                return Ok(results);
            };
            let buffer = made.buffer(frame.buffer)?;
            session.device.write_buffer(buffer, 0, frame.data)?;
        }
    }
}

/// A drawing that refers to what it does not have: the plan of a drawing never does.
fn missing(what: &str) -> WorkError {
    WorkError::Refused(alloc::format!("the drawing has no such {what}"))
}
