//! Fidelity: how far a result of the model can be trusted.
//!
//! The model does what the facts say. Where they bound an error, infer a rule or are silent, its result may differ from a board's.
//! Each such place is a row ([`Inexact`]). With [`crate::Config::fidelity`] the model counts what is executed, notes which rows it
//! meets, and follows the values that rest on them: through registers and memory, of whole warps, to a branch, an address, memory or a
//! pixel.
//!
//! What is followed is a superset: a message of sixteen lanes is one value, and one byte that rests on a row makes what is loaded with
//! it rest on it too. So what is told to be exact is. Not followed: values that a program only chooses to compute by a branch (the
//! branch is told), uniform words, descriptors, and what the rasteriser makes of positions (varyings are).
//!
//! While a program is followed it is interpreted, instruction by instruction: some ten times slower.

mod flow;
mod inexact;
mod instructions;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use eitri_isa::{Arch, Instr};
use flow::MemoryMarks;
pub(crate) use flow::RegisterMarks;
pub use inexact::{Inexact, InexactSet, Kind, Row, WITHOUT_VALUE};
pub(crate) use instructions::by_values;
use instructions::of_instruction;

/// What a value that is not exact has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// A branch, a jump or a discard that it decides.
    pub branch: bool,
    /// The address of an access, or a resource's handle.
    pub address: bool,
    /// Memory that a shader has stored to.
    pub memory: bool,
    /// A fragment's colour, depth or coverage.
    pub pixel: bool,
    /// A register of a command stream.
    pub stream: bool,
}

impl Reached {
    /// What is reached, by name.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.branch, "branch"),
            (self.address, "address"),
            (self.memory, "memory"),
            (self.pixel, "pixel"),
            (self.stream, "stream"),
        ];
        all.into_iter().filter_map(|(is, name)| is.then_some(name))
    }
}

/// What a row that was met came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// How often: once for each warp's instruction, each stream's instruction, each access of a register, or each primitive.
    pub count: u64,
    /// The first instruction of a shader that met it: its address and its word.
    pub first: Option<(u64, u64)>,
    /// What values that rest on it have reached.
    pub reached: Reached,
}

/// A word that warps have executed.
#[derive(Clone, Copy, Debug)]
struct Executed {
    count: u64,
    /// What it is; `None` where the hardware may take it for something else.
    instr: Option<Instr>,
    /// Rows that it rests on, whatever its operands hold.
    rests_on: InexactSet,
}

impl Executed {
    fn of(word: u64, arch: Arch) -> Executed {
        let instr = Instr::decode(word, arch).ok();
        Executed {
            count: 0,
            instr,
            // The model executes a word that does not decode only if bits above a half are all that is wrong.
            rests_on: instr.map_or(InexactSet::of(Inexact::BitsAboveHalves), |instr| {
                of_instruction(&instr)
            }),
        }
    }
}

/// What was executed so far, and what of it is not exact.
#[derive(Clone, Debug, Default)]
pub struct Fidelity(Option<Box<Collected>>);

/// While it is asked for.
#[derive(Clone, Debug, Default)]
struct Collected {
    shader: BTreeMap<u64, Executed>,
    streams: BTreeMap<&'static str, u64>,
    reads: BTreeMap<u32, u64>,
    writes: BTreeMap<u32, u64>,
    met: BTreeMap<Inexact, Met>,
    not_modelled: u64,
    memory: MemoryMarks,
    /// Of the message that is being sent: what its stores carry, and what its loads have met.
    stored: InexactSet,
    loaded: InexactSet,
    /// The words that lanes of an atomic have read, to see whether another one reads them.
    atomics: Vec<u64>,
    is_atomic: bool,
}

impl Fidelity {
    pub(crate) fn new(is_on: bool) -> Fidelity {
        Fidelity(is_on.then(Box::default))
    }

    /// Whether anything is followed.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// How often each word was executed by warps, and the rows that it rests on whatever its operands are.
    pub fn words(&self) -> impl Iterator<Item = (u64, u64, InexactSet)> {
        let words = self.0.iter().flat_map(|all| &all.shader);
        words.map(|(word, executed)| (*word, executed.count, executed.rests_on))
    }

    /// How often each kind of instruction was executed by command streams.
    pub fn streams(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = self.0.iter().flat_map(|all| &all.streams);
        all.map(|(name, count)| (*name, *count))
    }

    /// How often each register was read, by its byte offset in the window.
    pub fn reads(&self) -> impl Iterator<Item = (u32, u64)> {
        let all = self.0.iter().flat_map(|all| &all.reads);
        all.map(|(offset, count)| (*offset, *count))
    }

    /// The same of writes.
    pub fn writes(&self) -> impl Iterator<Item = (u32, u64)> {
        let all = self.0.iter().flat_map(|all| &all.writes);
        all.map(|(offset, count)| (*offset, *count))
    }

    /// What was met.
    pub fn met(&self) -> impl Iterator<Item = (Inexact, Met)> {
        let all = self.0.iter().flat_map(|all| &all.met);
        all.map(|(one, met)| (*one, *met))
    }

    /// How often something was asked for that is not modelled; each is a diagnosis too, and ended its program.
    pub fn not_modelled(&self) -> u64 {
        self.0.as_ref().map_or(0, |all| all.not_modelled)
    }

    /// The model has come to a place where a row says what it does.
    #[inline]
    pub(crate) fn meet(&mut self, one: Inexact) {
        if let Some(all) = &mut self.0 {
            all.met.entry(one).or_default().count += 1;
            all.loaded.add(InexactSet::of(one));
        }
    }

    /// As [`Fidelity::meet`], of what decides pixels by itself: no register carries it on.
    #[inline]
    pub(crate) fn meet_for_pixels(&mut self, one: Inexact) {
        if let Some(all) = &mut self.0 {
            let met = all.met.entry(one).or_default();
            met.count += 1;
            met.reached.pixel = true;
        }
    }

    /// Something is asked for that is not modelled.
    pub(crate) fn refused(&mut self) {
        if let Some(all) = &mut self.0 {
            all.not_modelled += 1;
        }
    }

    /// A command stream executes an instruction.
    pub(crate) fn stream(&mut self, name: &'static str) {
        if let Some(all) = &mut self.0 {
            *all.streams.entry(name).or_default() += 1;
        }
    }

    /// A command stream has loaded these bytes into its registers.
    pub(crate) fn stream_loads(&mut self, physical: u64, bytes: u64) {
        if let Some(all) = &mut self.0 {
            let marks = all.memory.of(physical, bytes);
            all.reach(marks, |reached| reached.stream = true);
        }
    }

    /// The host accesses a register.
    pub(crate) fn register(&mut self, offset: u32, write: bool) {
        if let Some(all) = &mut self.0 {
            let accesses = if write {
                &mut all.writes
            } else {
                &mut all.reads
            };
            *accesses.entry(offset).or_default() += 1;
        }
    }

    /// The host reads what a register's row says.
    pub(crate) fn meet_in_register(&mut self, one: Inexact) {
        if let Some(all) = &mut self.0 {
            all.met.entry(one).or_default().count += 1;
        }
    }

    /// What a warp's instruction rests on by its word, and what it is.
    pub(crate) fn rests_on(&mut self, word: u64, arch: Arch) -> (InexactSet, Option<Instr>) {
        let Some(all) = &mut self.0 else {
            return (InexactSet::EMPTY, None);
        };
        let entry = all.shader.entry(word);
        let executed = entry.or_insert_with(|| Executed::of(word, arch));
        (executed.rests_on, executed.instr)
    }

    /// A message is about to be sent, whose stores carry what `stored` says.
    pub(crate) fn begin_message(&mut self, stored: InexactSet, is_atomic: bool) {
        if let Some(all) = &mut self.0 {
            all.stored = stored;
            all.loaded = InexactSet::EMPTY;
            all.is_atomic = is_atomic;
            all.atomics.clear();
        }
    }

    /// The message being sent reads or writes memory.
    #[inline]
    pub(crate) fn touch(&mut self, physical: u64, bytes: u64, write: bool) {
        if let Some(all) = &mut self.0 {
            all.touch(physical, bytes, write);
        }
    }

    /// The message was sent: what its results rest on beside its sources.
    pub(crate) fn end_message(&mut self) -> InexactSet {
        match &mut self.0 {
            Some(all) => {
                all.stored = InexactSet::EMPTY;
                core::mem::take(&mut all.loaded)
            }
            None => InexactSet::EMPTY,
        }
    }

    /// A warp's instruction at `address` is executed; it meets `met` by what it is.
    pub(crate) fn executed(&mut self, word: u64, address: u64, met: InexactSet) {
        let Some(all) = &mut self.0 else { return };
        if let Some(executed) = all.shader.get_mut(&word) {
            executed.count += 1;
        }
        self.met_by_values(met, word, address);
    }

    /// A warp's instruction at `address` has met `met`.
    pub(crate) fn met_by_values(&mut self, met: InexactSet, word: u64, address: u64) {
        let Some(all) = &mut self.0 else { return };
        for one in met.iter() {
            let met = all.met.entry(one).or_default();
            met.count += 1;
            met.first.get_or_insert((address, word));
        }
    }

    /// What a message has met is the instruction's at `address`.
    pub(crate) fn met_at(&mut self, met: InexactSet, word: u64, address: u64) {
        let Some(all) = &mut self.0 else { return };
        for one in met.iter() {
            if let Some(met) = all.met.get_mut(&one) {
                met.first.get_or_insert((address, word));
            }
        }
    }

    /// Values that rest on `marks` have come somewhere.
    pub(crate) fn reach(&mut self, marks: InexactSet, note: impl Fn(&mut Reached)) {
        if let Some(all) = &mut self.0 {
            all.reach(marks, note);
        }
    }
}

impl Collected {
    fn touch(&mut self, physical: u64, bytes: u64, write: bool) {
        if self.is_atomic && !write {
            if self.atomics.contains(&physical) {
                self.met.entry(Inexact::LaneOrder).or_default().count += 1;
                self.loaded.add(InexactSet::of(Inexact::LaneOrder));
            }
            self.atomics.push(physical);
        }
        if !write {
            let marks = self.memory.of(physical, bytes);
            self.loaded.add(marks);
            return;
        }
        // What an atomic leaves behind rests on what was there, too.
        let carried = match self.is_atomic {
            true => self.stored.union(self.memory.of(physical, bytes)),
            false => self.stored,
        };
        self.memory.set(physical, bytes, carried);
        self.reach(carried, |reached| reached.memory = true);
    }

    fn reach(&mut self, marks: InexactSet, note: impl Fn(&mut Reached)) {
        for one in marks.iter() {
            note(&mut self.met.entry(one).or_default().reached);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(fidelity: &Fidelity, one: Inexact) -> Reached {
        let found = fidelity.met().find(|(met, _)| *met == one);
        found.map_or(Reached::default(), |(_, met)| met.reached)
    }

    #[test]
    fn what_is_stored_is_carried_on_by_loads_until_it_is_overwritten() {
        let mut fidelity = Fidelity::new(true);
        let nan = InexactSet::of(Inexact::NanPayload);
        fidelity.begin_message(nan, false);
        fidelity.touch(0x1004, 4, true);
        fidelity.end_message();
        assert!(reached(&fidelity, Inexact::NanPayload).memory);
        let mut load = |address| {
            fidelity.begin_message(InexactSet::EMPTY, false);
            fidelity.touch(address, 4, false);
            fidelity.end_message()
        };
        assert_eq!(load(0x1004), nan);
        assert_eq!(load(0x1007), nan);
        assert_eq!(load(0x1008), InexactSet::EMPTY);
        assert_eq!(load(0x1000), InexactSet::EMPTY);
        fidelity.begin_message(InexactSet::EMPTY, false);
        fidelity.touch(0x1000, 16, true);
        fidelity.end_message();
        fidelity.begin_message(InexactSet::EMPTY, false);
        fidelity.touch(0x1004, 4, false);
        assert_eq!(fidelity.end_message(), InexactSet::EMPTY);
    }

    #[test]
    fn lanes_that_meet_in_an_atomic_are_in_an_order_that_nobody_knows() {
        let mut fidelity = Fidelity::new(true);
        fidelity.begin_message(InexactSet::EMPTY, true);
        for address in [0x40, 0x44] {
            fidelity.touch(address, 4, false);
            fidelity.touch(address, 4, true);
        }
        assert!(fidelity.end_message().is_empty());
        fidelity.begin_message(InexactSet::EMPTY, true);
        for _ in 0..2 {
            fidelity.touch(0x40, 4, false);
            fidelity.touch(0x40, 4, true);
        }
        assert!(fidelity.end_message().contains(Inexact::LaneOrder));
    }

    #[test]
    fn nothing_is_collected_unless_it_is_asked_for() {
        let mut fidelity = Fidelity::new(false);
        fidelity.meet(Inexact::WarpId);
        fidelity.stream("NOP");
        fidelity.register(0, false);
        assert_eq!(fidelity.met().count() + fidelity.streams().count(), 0);
        assert_eq!(fidelity.reads().count(), 0);
    }
}
