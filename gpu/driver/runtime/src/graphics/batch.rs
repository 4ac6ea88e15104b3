//! Batches: instructions of a lane that are put together first and written in one go.
//!
//! A pass consists of a few steps in each lane. Each step written by itself would change over to the lane, ask for room and count
//! what it has written.
//! Guarantees: instructions of a batch stay in one block, so they may branch among each other.

use super::framebuffer::MOST_LAYERS;
use crate::command::Recorder;
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::SubQueue;
use eitri_cs::builder::Checked;
use heapless::Vec;

/// Instructions of a batch at most: a pass has up to 20, and four for each layer.
const MOST: usize = 32 + 4 * MOST_LAYERS as usize;

/// Instructions that are not written yet.
pub(super) struct Batch {
    words: Vec<u64, MOST>,
}

impl Batch {
    /// None. It is large: it stays where it is made.
    #[inline(always)]
    pub(super) const fn new() -> Batch {
        Batch { words: Vec::new() }
    }

    /// Adds an instruction.
    #[inline(always)]
    pub(super) fn put(&mut self, it: Checked) {
        let fits = self.words.push(it.word());
        debug_assert!(fits.is_ok(), "passes have no more layers");
    }

    /// Adds several.
    #[inline(always)]
    pub(super) fn put_all<const N: usize>(&mut self, all: [Checked; N]) {
        for it in all {
            self.put(it);
        }
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Makes room for a batch in a lane, which there is: what it loads into registers they will hold.
    pub(super) fn room_for_batch(&mut self, stream: SubQueue) -> Result<(), Error> {
        self.make_room_in(stream, MOST as u32)
    }

    /// Makes room for so many instructions in one block of a lane, which there is.
    #[inline]
    pub(super) fn make_room_in(&mut self, stream: SubQueue, count: u32) -> Result<(), Error> {
        let passes = self.passes.as_mut();
        let writer = passes.and_then(|passes| passes.writer(stream, &mut self.writer));
        match writer.is_some_and(|writer| writer.has_room(count)) {
            true => Ok(()),
            false => self.in_lane(stream, |it| it.make_room(count)),
        }
    }

    /// Appends a batch to its lane; it is empty then.
    pub(super) fn write_batch(&mut self, stream: SubQueue, batch: &mut Batch) -> Result<(), Error> {
        let words = &batch.words;
        let (platform, count) = (&mut self.device.hw.platform, words.len() as u32);
        let passes = self.passes.as_mut();
        let writer = passes.and_then(|passes| passes.writer(stream, &mut self.writer));
        match writer.filter(|writer| writer.has_room(count)) {
            Some(writer) => writer.put_words(platform, words),
            None => self.in_lane(stream, |it| it.put_words(&batch.words))?,
        }
        batch.words.clear();
        Ok(())
    }
}
