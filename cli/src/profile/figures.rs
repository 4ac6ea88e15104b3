//! Figures: what is counted of an instruction, and of several together.
//!
//! Facts: cycles go by the rates of `eitri_isa::rates`, as the model's virtual time does.

use crate::reports::report::Cycles;
use eitri_isa::rates::Rates;
use eitri_isa::row::Unit;
use eitri_isa::{Arch, DecodeError, Instr};
use eitri_model::CYCLE_PARTS;

/// Slots of the scoreboard.
pub(crate) const SLOTS: usize = 8;

/// What was seen of an instruction at one address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(super) word: u64,
    pub(super) warps: u64,
    pub(super) lanes: u64,
    pub(super) live: u64,
    pub(super) diverged: u64,
    pub(super) waits: [u64; SLOTS],
    /// Parts of a cycle that warps waited for each slot.
    pub(super) waited: [u64; SLOTS],
    pub(super) messages: u64,
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) lines: u64,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    /// How often a warp executed it; of several instructions, the one that was executed most.
    pub(crate) times: u64,
    /// Instructions that were executed, each once a warp.
    pub(crate) executed: u64,
    /// The same once a lane.
    pub(crate) lanes: u64,
    /// Lanes that had not ended: those that could have taken part.
    pub(crate) live: u64,
    /// Instructions that not all of these executed.
    pub(crate) diverged: u64,
    /// How often a warp waited for a slot with a message outstanding.
    pub(crate) waits: [u64; SLOTS],
    /// For how many cycles warps waited so, each as if it were alone on its core.
    pub(crate) wait_cycles: [f64; SLOTS],
    /// Messages that were sent.
    pub(crate) messages: u64,
    /// Bytes that lanes read from memory and wrote there, each lane counted.
    pub(crate) read: u64,
    pub(crate) written: u64,
    /// Lines of the cache that messages touched.
    pub(crate) lines: u64,
    /// Cycles of a core's units.
    pub(crate) cycles: Cycles,
    /// Cycles of each instruction in the unit that executes it, all added up.
    pub(crate) cost: f64,
    /// Most registers that hold a value which is read later.
    pub(crate) registers: u32,
}

impl Figures {
    /// The figures of an instruction.
    ///
    /// # Errors
    /// For a word that is no instruction.
    pub(super) fn of(seen: &Seen, arch: Arch) -> Result<Figures, DecodeError> {
        let instr = Instr::decode(seen.word, arch)?;
        let mut cycles = Cycles::of(&instr, arch).times(seen.warps as f64);
        if instr.issue(arch).0 == Unit::Ls {
            cycles.load_store = seen.lines as f64 / f64::from(Rates::of(arch).messages);
        }
        Ok(Figures {
            times: seen.warps,
            executed: seen.warps,
            lanes: seen.lanes,
            live: seen.live,
            diverged: seen.diverged,
            waits: seen.waits,
            wait_cycles: seen.waited.map(|parts| parts as f64 / CYCLE_PARTS as f64),
            messages: seen.messages,
            read: seen.read,
            written: seen.written,
            lines: seen.lines,
            cycles,
            cost: cycles.most(),
            registers: 0,
        })
    }

    /// Adds those of other instructions.
    pub(crate) fn add(&mut self, other: &Figures) {
        self.times = self.times.max(other.times);
        self.executed += other.executed;
        self.lanes += other.lanes;
        self.live += other.live;
        self.diverged += other.diverged;
        for (all, own) in self.waits.iter_mut().zip(other.waits) {
            *all += own;
        }
        for (all, own) in self.wait_cycles.iter_mut().zip(other.wait_cycles) {
            *all += own;
        }
        self.messages += other.messages;
        self.read += other.read;
        self.written += other.written;
        self.lines += other.lines;
        self.cycles.add(&other.cycles);
        self.cost += other.cost;
        self.registers = self.registers.max(other.registers);
    }

    /// Adds those of the same instruction, executed for something else: it was executed so often more.
    pub(crate) fn add_same(&mut self, other: &Figures) {
        let times = self.times + other.times;
        self.add(other);
        self.times = times;
    }

    /// The sum of several.
    pub(crate) fn sum<'f>(all: impl IntoIterator<Item = &'f Figures>) -> Figures {
        let mut sum = Figures::default();
        all.into_iter().for_each(|figures| sum.add(figures));
        sum
    }

    /// Lanes that took part, of the 16 of a warp, in the mean.
    pub(crate) fn mean_lanes(&self) -> f64 {
        ratio(self.lanes, self.executed)
    }

    /// Instructions that not all lanes executed which could have, in percent.
    pub(crate) fn diverged_percent(&self) -> f64 {
        100.0 * ratio(self.diverged, self.executed)
    }

    /// Waits for any slot.
    pub(crate) fn waited(&self) -> u64 {
        self.waits.iter().sum()
    }

    /// Cycles that warps waited for any slot.
    pub(crate) fn waited_cycles(&self) -> f64 {
        self.wait_cycles.iter().sum()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.read + self.written
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64
}
