//! Draws in turn: each begins when the vertices of the one before are through, and is counted then, so that one that fails or hangs is
//! known by its number.
//!
//! Facts: hardware/command-stream.md 1.8 and 1.9.

use super::lane::{ONE, TEMPORARY};
use super::pass::RenderPass;
use super::tiler_page::{BASE, MARKS, PAGE};
use crate::command::Recorder;
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::SubQueue;
use eitri_cs::enums::SyncScope;
use eitri_cs::instr::{SyncAdd64, SyncSet64};

const STREAM: SubQueue = SubQueue::VertexTiler;

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Lets each draw of the pass from here on begin when the vertices of the one before are through. A draw whose vertices fail or
    /// hang is known then ([`crate::DrawsKnownBy::Turn`]), whatever the GPU says of it. It is for finding what is wrong: draws do not
    /// overlap, and each costs three instructions more. Draws of one secondary are known together.
    ///
    /// # Errors
    /// If there is no memory or no place in the storage for more commands.
    pub fn draw_in_turn(&mut self) -> Result<&mut Self, Error> {
        self.recorder.begin_marks()?;
        self.state.in_turn = true;
        // No draw repeats one that was not counted.
        self.state.last = None;
        Ok(self)
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Lets the count of draws begin, once for all passes of the commands.
    fn begin_marks(&mut self) -> Result<(), Error> {
        if self.passes.as_ref().is_none_or(|passes| passes.marks) {
            return Ok(());
        }
        self.open_lane(STREAM)?;
        self.in_lane(STREAM, |it| {
            it.add_to(TEMPORARY, PAGE, MARKS)?;
            it.push(SyncSet64 {
                address: TEMPORARY,
                data: BASE,
                scope: SyncScope::Csg,
                ..SyncSet64::default()
            })
        })?;
        if let Some(passes) = &mut self.passes {
            passes.marks = true;
        }
        Ok(())
    }

    /// Waits until the draws that were begun are through, and counts one.
    pub(super) fn mark_draw(&mut self) -> Result<(), Error> {
        self.in_lane(STREAM, |it| {
            let slots = it.slots_of_iterator(STREAM);
            it.wait_slots(slots)?;
            it.add_to(TEMPORARY, PAGE, MARKS)?;
            it.push(SyncAdd64 {
                address: TEMPORARY,
                data: ONE,
                scope: SyncScope::Csg,
                ..SyncAdd64::default()
            })
        })
    }
}
