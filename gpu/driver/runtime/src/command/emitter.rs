//! Emitting: instructions straight into a block of commands, where room was made for them.
//!
//! Needs: room (see [`super::recorder::Recorder::emit`]).  Guarantees: a register is loaded only when its value changes.

use super::words::{Change, EncodedInstructions, Grid, LoadedRegisters, Narrow, Wide};
use crate::platform::{PhysicalAddress, Platform};
use crate::vm::GpuAddress;
use eitri_cs::builder::Checked;

/// Registers that every dispatch of a pipeline has alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct PipelineState {
    /// The shader's descriptor.
    pub(super) shader: GpuAddress,
    /// The descriptor of local storage.
    pub(super) storage: GpuAddress,
    /// The workgroup size register.
    pub(super) workgroup: u32,
}

/// Appends instructions.
pub(super) struct Emitter<'a, P> {
    platform: &'a mut P,
    pub(super) words: &'a EncodedInstructions,
    known: &'a mut LoadedRegisters,
    at: PhysicalAddress,
}

impl<'a, P: Platform> Emitter<'a, P> {
    /// From `at` on.
    pub(super) const fn new(
        platform: &'a mut P,
        words: &'a EncodedInstructions,
        known: &'a mut LoadedRegisters,
        at: PhysicalAddress,
    ) -> Emitter<'a, P> {
        Emitter {
            platform,
            words,
            known,
            at,
        }
    }

    /// Where it has ended.
    pub(super) const fn end(&self) -> PhysicalAddress {
        self.at
    }

    /// Appends an instruction.
    #[inline(always)]
    pub(super) fn put(&mut self, it: Checked) {
        self.platform.store64(self.at, it.word());
        self.at = self.at.offset(8);
    }

    /// Loads the state of a pipeline's jobs as far as it has changed: six instructions at most.
    pub(super) fn state(&mut self, pipeline: &PipelineState) {
        self.code(pipeline.shader, pipeline.storage);
        self.narrow(Narrow::AttributeOffset, 0);
        self.narrow(Narrow::WorkgroupSize, pipeline.workgroup);
    }

    /// Loads where the descriptors of a pipeline's shader and local storage are.
    #[inline(never)]
    pub(super) fn code(&mut self, shader: GpuAddress, storage: GpuAddress) {
        let (shader, storage) = (shader.0, storage.0);
        if self.known.change_code(shader, storage) {
            let shader = self.words.wide(Wide::Program).with_address(shader);
            let storage = self.words.wide(Wide::Storage).with_address(storage);
            let both = [shader.word(), storage.word()];
            self.platform.write_words(self.at, &both);
            self.at = self.at.offset(16);
        }
    }

    /// Loads state of the next job, if it has changed: two instructions at most.
    #[inline]
    pub(super) fn wide(&mut self, what: Wide, value: u64) {
        match self.known.change_wide(what, value) {
            Change::Nothing => {}
            Change::Low => self.put(self.words.low(what).with(value as u32)),
            Change::All => self.load_wide(what, value),
        }
    }

    /// The same, and then an instruction.
    #[inline]
    pub(super) fn wide_and(&mut self, what: Wide, value: u64, then: Checked) {
        match self.known.change_wide(what, value) {
            Change::Nothing => {}
            Change::Low => {
                let low = self.words.low(what).with(value as u32);
                let both = [low.word(), then.word()];
                self.platform.write_words(self.at, &both);
                self.at = self.at.offset(16);
                return;
            }
            Change::All => self.load_wide(what, value),
        }
        self.put(then);
    }

    #[inline(never)]
    fn load_wide(&mut self, what: Wide, value: u64) {
        let (first, second) = self.words.wide(what).with(value);
        self.put(first);
        if let Some(second) = second {
            self.put(second);
        }
    }

    /// The same, one instruction at most.
    #[inline(always)]
    pub(super) fn narrow(&mut self, what: Narrow, value: u32) {
        if self.known.change_narrow(what, value) {
            self.put(self.words.narrow(what).with(value));
        }
    }

    /// The same, three instructions at most.
    #[inline(always)]
    pub(super) fn grid(&mut self, what: Grid, values: [u32; 3]) {
        if !self.known.has_grid(what, values) {
            self.load_grid(what, values);
        }
    }

    #[inline(never)]
    fn load_grid(&mut self, what: Grid, values: [u32; 3]) {
        let changed = self.known.change_grid(what, values);
        let loads = self.words.grid(what).iter().zip(values).zip(changed);
        for ((load, value), changed) in loads {
            if changed {
                self.put(load.with(value));
            }
        }
    }
}
