//! Frames: images that are drawn by turns, and shown one after the other on any [`Screen`].
//!
//! Needs: `no_std` alone.  Guarantees: an image is not given out while it is shown or drawn; frames are shown in the order in which they
//! were handed over, each when it is done and its time has come; one whose commands failed is not shown, is named by the error, and its
//! image comes back.  Never: allocates.
//!
//! ```
//! use core::time::Duration;
//! use eitri_frames::{Frames, Pace};
//! use eitri_runtime::Image;
//!
//! fn sixty_a_second(images: &[Image]) -> Option<Frames> {
//!     let pace = Pace {
//!         interval: Duration::from_nanos(16_666_667),
//!         limit: Duration::from_secs(10),
//!     };
//!     Frames::new(images, pace)
//! }
//! assert!(sixty_a_second(&[]).is_none(), "there are two at least");
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![allow(
    clippy::result_large_err,
    reason = "an error carries the fault of a frame, and there is no heap to put it on"
)]

use core::fmt;
use core::time::Duration;
use eitri_runtime::{Device, Fence, Image, JobFault, Platform, Status};
use heapless::{Deque, Vec};

/// Images that can be held at most.
pub const MOST_IMAGES: usize = 3;
/// Images that there are at least: one is shown while another is drawn.
pub const LEAST_IMAGES: usize = 2;

/// Where frames are shown, and the clock that they keep time with.
pub trait Screen<P: Platform> {
    /// Why an image can't be shown.
    type Error;

    /// Shows an image.
    ///
    /// # Errors
    /// If it can't: what was shown before may still be seen.
    fn show(&mut self, device: &mut Device<'_, '_, P>, image: Image) -> Result<Shown, Self::Error>;

    /// The time on its clock.
    fn now(&self) -> Duration;

    /// Waits until its clock says so.
    fn sleep_until(&mut self, time: Duration);
}

/// How an image is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// As a copy: it is free.
    Copied,
    /// Where it lies: it is read until another is shown so.
    InPlace,
}

/// Why no image is given out, or no frame shown.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameError<E> {
    /// All images have been given out, and none was presented.
    NothingPresented,
    /// The image was not given out.
    NotAcquired(usize),
    /// The commands of a frame have failed: it is not shown.
    Failed {
        /// Its number, from 0 on.
        number: u64,
        /// What was wrong.
        fault: JobFault,
    },
    /// A frame's commands are not known any more, or don't end.
    Lost {
        /// Its number, from 0 on.
        number: u64,
    },
    /// What the screen says.
    Screen(E),
}

impl<E: fmt::Display> fmt::Display for FrameError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::NothingPresented => {
                f.write_str("all images have been acquired, and none was presented")
            }
            FrameError::NotAcquired(index) => write!(f, "image {index} was not acquired"),
            FrameError::Failed { number, fault } => write!(f, "frame {number}: {fault}"),
            FrameError::Lost { number } => write!(f, "frame {number} does not end in its time"),
            FrameError::Screen(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for FrameError<E> {}

/// What an image is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Acquired,
    Queued,
    Shown,
}

/// A frame that was handed over.
#[derive(Clone, Copy, Debug)]
struct Frame {
    index: usize,
    fence: Fence,
}

/// How frames keep time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Time from one frame to the next at least.
    pub interval: Duration,
    /// Longest that a frame may take.
    pub limit: Duration,
}

/// Images that are drawn by turns.
#[derive(Debug)]
pub struct Frames {
    pace: Pace,
    images: Vec<(Image, State), MOST_IMAGES>,
    /// In the order in which they are shown.
    queue: Deque<Frame, MOST_IMAGES>,
    /// When the next one may be shown.
    due: Duration,
    /// Frames that were taken from the queue, those that were shown, and those that were not done when their time had come.
    taken: u64,
    shown: u64,
    late: u64,
}

impl Frames {
    /// Of so many images; `None` unless there are [`LEAST_IMAGES`] to [`MOST_IMAGES`].
    pub fn new(images: &[Image], pace: Pace) -> Option<Frames> {
        if images.len() < LEAST_IMAGES {
            return None;
        }
        let mut all = Vec::new();
        for image in images {
            all.push((*image, State::Free)).ok()?;
        }
        Some(Frames {
            pace,
            images: all,
            queue: Deque::new(),
            due: Duration::ZERO,
            taken: 0,
            shown: 0,
            late: 0,
        })
    }

    /// The images, by index.
    pub fn images(&self) -> impl Iterator<Item = Image> {
        self.images.iter().map(|(image, _)| *image)
    }

    /// Frames that were shown.
    pub const fn shown(&self) -> u64 {
        self.shown
    }

    /// Of those, frames that were not done when their time had come.
    pub const fn late(&self) -> u64 {
        self.late
    }

    /// Gives the index of an image to draw on; shows meanwhile what is to be shown, and waits until an image is free.
    ///
    /// # Errors
    /// If a frame that was handed over failed, or can't be shown; that frame's image is free then. A frame that does not end stays in
    /// the queue: the next call waits for it again.
    pub fn acquire<P: Platform, S: Screen<P>>(
        &mut self,
        device: &mut Device<'_, '_, P>,
        screen: &mut S,
    ) -> Result<usize, FrameError<S::Error>> {
        loop {
            let free = |(_, state): &(Image, State)| *state == State::Free;
            if let Some(index) = self.images.iter().position(free) {
                self.set(index, State::Acquired);
                return Ok(index);
            }
            self.show_next(device, screen)?;
        }
    }

    /// Hands an image over, with the fence of what draws on it.
    ///
    /// # Errors
    /// If the image was not acquired.
    pub fn present<E>(&mut self, index: usize, fence: Fence) -> Result<(), FrameError<E>> {
        match self.images.get(index) {
            Some((_, State::Acquired)) => {}
            _ => return Err(FrameError::NotAcquired(index)),
        }
        self.set(index, State::Queued);
        // There is room: no more frames than images.
        let _ = self.queue.push_back(Frame { index, fence });
        Ok(())
    }

    /// Gives an image back that was acquired, and that nothing draws on: commands for it were refused.
    ///
    /// # Errors
    /// If the image was not acquired.
    pub fn give_back<E>(&mut self, index: usize) -> Result<(), FrameError<E>> {
        match self.images.get(index) {
            Some((_, State::Acquired)) => {
                self.set(index, State::Free);
                Ok(())
            }
            _ => Err(FrameError::NotAcquired(index)),
        }
    }

    /// Shows all that was handed over.
    ///
    /// # Errors
    /// As [`Frames::acquire`].
    pub fn drain<P: Platform, S: Screen<P>>(
        &mut self,
        device: &mut Device<'_, '_, P>,
        screen: &mut S,
    ) -> Result<(), FrameError<S::Error>> {
        while !self.queue.is_empty() {
            self.show_next(device, screen)?;
        }
        Ok(())
    }

    fn set(&mut self, index: usize, state: State) {
        if let Some((_, of)) = self.images.get_mut(index) {
            *of = state;
        }
    }

    /// Waits for the oldest frame and its time, and shows it.
    fn show_next<P: Platform, S: Screen<P>>(
        &mut self,
        device: &mut Device<'_, '_, P>,
        screen: &mut S,
    ) -> Result<(), FrameError<S::Error>> {
        let frame = self.queue.pop_front();
        let frame = frame.ok_or(FrameError::NothingPresented)?;
        let number = self.taken;
        match device.wait(frame.fence, self.pace.limit) {
            Status::Done => {}
            Status::Pending => {
                // The GPU may still draw on it: its image is not given out.
                let _ = self.queue.push_front(frame);
                return Err(FrameError::Lost { number });
            }
            status => {
                // It is no picture, and nobody else waits for it.
                self.set(frame.index, State::Free);
                self.taken = self.taken.saturating_add(1);
                device.discard(frame.fence);
                return Err(match status {
                    Status::Failed(fault) => FrameError::Failed { number, fault },
                    _ => FrameError::Lost { number },
                });
            }
        }
        self.taken = self.taken.saturating_add(1);
        if self.shown > 0 && screen.now() > self.due {
            self.late = self.late.saturating_add(1);
        }
        self.sleep_until_due(device, screen);
        let start = self.due.max(screen.now());
        self.due = start.saturating_add(self.pace.interval);
        self.show(device, screen, frame.index)?;
        self.shown = self.shown.saturating_add(1);
        Ok(())
    }

    /// Sleeps until the next frame may be shown. Frames behind it go on meanwhile.
    fn sleep_until_due<P: Platform, S: Screen<P>>(
        &self,
        device: &mut Device<'_, '_, P>,
        screen: &mut S,
    ) {
        for frame in &self.queue {
            let left = self.due.saturating_sub(screen.now());
            if !left.is_zero() {
                device.wait(frame.fence, left);
            }
        }
        screen.sleep_until(self.due);
    }

    /// Shows an image; one that could not be shown is free, too.
    fn show<P: Platform, S: Screen<P>>(
        &mut self,
        device: &mut Device<'_, '_, P>,
        screen: &mut S,
        index: usize,
    ) -> Result<(), FrameError<S::Error>> {
        let Some((image, _)) = self.images.get(index).copied() else {
            return Err(FrameError::NotAcquired(index));
        };
        self.set(index, State::Free);
        if screen.show(device, image).map_err(FrameError::Screen)? == Shown::InPlace {
            for (_, state) in &mut self.images {
                if *state == State::Shown {
                    *state = State::Free;
                }
            }
            self.set(index, State::Shown);
        }
        Ok(())
    }
}
