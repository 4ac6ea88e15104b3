//! Events: set, reset and waited for, by the host and by commands of any queue of a space.
//!
//! An event is a sync object of 32 bits in a page of its own: 1 when it is set. The host and a job must not change the same event
//! at the same time.
//! Facts: hardware/command-stream.md sections 1.9, 3.5 and 6.17, csf-scheduling.md 3.7.

use super::recorder::Recorder;
use super::words;
use crate::device::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{Event, Space};
use crate::platform::Platform;
use crate::vm::Protection;
use eitri_cs::enums::{Condition, ErrorReject, SyncScope};
use eitri_cs::instr::{SyncSet32, SyncWait32};
use eitri_cs::{Slot, SlotMask};

const WHAT: Thing = Thing::Event;

/// Bytes of a 32-bit sync object: the value, and whether who set it had failed.
const SYNC32_BYTES: u64 = 8;

impl<P: Platform> Device<'_, '_, P> {
    /// Makes an event, which is not set.
    ///
    /// # Errors
    /// If there is no memory or no place in the storage for it.
    pub fn create_event(&mut self, space: Space) -> Result<Event, Error> {
        let bytes = SYNC32_BYTES;
        let key = self.create_object(space, "an event", bytes, Protection::Shared, Kind::Event)?;
        Ok(Event(key))
    }

    /// Destroys an event.
    ///
    /// # Errors
    /// If a job in flight uses it: then it stays. Or if it can't be unmapped, which costs the device.
    pub fn destroy_event(&mut self, event: Event) -> Result<(), Error> {
        self.destroy_object(event.0, WHAT)
    }

    /// Sets an event. Commands that wait for it go on.
    ///
    /// # Errors
    /// If it was destroyed.
    pub fn set_event(&mut self, event: Event) -> Result<(), Error> {
        self.flush_for_waiters(event.0, WHAT)?;
        self.store_event(event, 1)?;
        self.wake_waiters();
        Ok(())
    }

    /// Resets an event.
    ///
    /// # Errors
    /// If it was destroyed.
    pub fn reset_event(&mut self, event: Event) -> Result<(), Error> {
        self.store_event(event, 0)
    }

    /// Whether an event is set.
    ///
    /// # Errors
    /// If it was destroyed.
    pub fn event_status(&mut self, event: Event) -> Result<bool, Error> {
        let at = self.object(event.0, WHAT)?.mapping.memory();
        self.hw.platform.invalidate(at.span(SYNC32_BYTES));
        let value = self.hw.platform.load32(at);
        // What was done before it was set is seen by whoever reads after this.
        self.hw.platform.observe();
        Ok(value != 0)
    }

    fn store_event(&mut self, event: Event, value: u32) -> Result<(), Error> {
        let at = self.object(event.0, WHAT)?.mapping.memory();
        // A cache may hold an old value of the GPU's.
        self.hw.platform.invalidate(at.span(SYNC32_BYTES));
        self.hw.platform.store64(at, value.into());
        self.hw.platform.clean(at.span(SYNC32_BYTES));
        self.hw.platform.publish();
        Ok(())
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Sets an event when all commands before are done. Nobody waits for that here.
    ///
    /// # Errors
    /// If the event was destroyed, is in another space, or there is no place for the reference or memory for more commands.
    pub fn set_event(&mut self, event: Event) -> Result<&mut Self, Error> {
        self.change_event(event, 1)
    }

    /// Resets an event when all commands before are done.
    ///
    /// # Errors
    /// As [`Recorder::set_event`].
    pub fn reset_event(&mut self, event: Event) -> Result<&mut Self, Error> {
        self.change_event(event, 0)
    }

    /// Lets no command that comes after begin before an event is set. An event whose setter failed fails this job too.
    ///
    /// # Errors
    /// As [`Recorder::set_event`].
    pub fn wait_event(&mut self, event: Event) -> Result<&mut Self, Error> {
        self.refer_event(event)?;
        self.load_wide(|words| words.value, 0)?;
        self.push(SyncWait32 {
            address: words::ADDRESS,
            data: words::VALUE.low(),
            condition: Condition::Greater,
            error_reject: ErrorReject::Inherit,
        })?;
        // Whoever has set it may have written texels.
        self.texels_changed();
        Ok(self)
    }

    fn change_event(&mut self, event: Event, value: u64) -> Result<&mut Self, Error> {
        self.refer_event(event)?;
        self.load_wide(|words| words.value, value)?;
        self.signal(SlotMask::NONE)?;
        Ok(self)
    }

    fn refer_event(&mut self, event: Event) -> Result<(), Error> {
        self.refer(event.0, WHAT)?;
        let address = self.device.object(event.0, WHAT)?.mapping.address();
        self.load_wide(|words| words.address, address.0)
    }

    /// Sets the sync object at [`words::ADDRESS`] to [`words::VALUE`] when all that came before is done, and what counts on the
    /// slots of `also`.
    pub(super) fn signal(&mut self, also: SlotMask) -> Result<(), Error> {
        let mut wait_mask = self.busy();
        let deferred = wait_mask != SlotMask::NONE;
        if deferred {
            wait_mask = wait_mask | also;
        } else {
            // What is done in line would overtake what was deferred.
            self.wait_for_signals()?;
        }
        self.push(SyncSet32 {
            address: words::ADDRESS,
            data: words::VALUE.low(),
            scope: SyncScope::System,
            error_propagate: true,
            wait_mask,
            signal_slot: if deferred {
                words::SIGNALS
            } else {
                Slot::default()
            },
            ..SyncSet32::default()
        })?;
        self.running.signals |= deferred;
        Ok(())
    }
}
