//! A worker: executes workgroups ahead of their turn, on a fabric apart and a view of memory.

use super::super::compute::whole_turn;
use super::super::launch::Launch;
use super::super::workgroup::{Turned, Workgroup};
use super::log::{Ends, Log, Turn};
use super::view::View;
use crate::activity::CoreActivity;
use crate::fabric::Fabric;
use crate::fabric::recording::Origin;
use crate::memory::Snapshot;
use crate::shader::{Memory, Program};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Where a workgroup begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// As the resident one at this place stands.
    Resident(usize),
    /// At its entry: its number, and the core that is expected to take it.
    Entry(u64, u8),
}

/// What all workers share.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) launch: &'a Launch,
    pub(super) resident: &'a [Workgroup],
    pub(super) program: &'a Program,
    pub(super) memory_unit: &'a Memory,
    pub(super) origin: Origin<'a>,
    pub(super) memory: Snapshot<'a>,
    pub(super) starts: &'a [Start],
    /// Most turns of each.
    pub(super) turns: usize,
    /// The start that is taken next, and entries of all logs so far.
    pub(super) next: &'a AtomicUsize,
    pub(super) entries: &'a AtomicUsize,
}

/// Entries of all logs of a window from which on no turn is added: some 60 MB.
const MOST_ENTRIES: usize = 1 << 20;

/// A workgroup that was executed ahead.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) number: u64,
    pub(super) core: u8,
    /// Whether it would do something else on another core.
    pub(super) depends_on_core: bool,
    pub(super) log: Log,
}

/// What a worker works with.
struct Desk<'a> {
    fabric: Fabric,
    memory_unit: Memory,
    view: View<'a>,
}

impl<'a> Desk<'a> {
    fn of(plan: &Plan<'a>) -> Desk<'a> {
        Desk {
            fabric: plan.origin.recorder(),
            memory_unit: plan.memory_unit.clone(),
            view: View::new(plan.memory),
        }
    }
}

impl<'a> Plan<'a> {
    /// The workgroup that begins so, and its core.
    fn workgroup(&self, start: Start) -> Option<(Workgroup, u8)> {
        match start {
            Start::Resident(place) => {
                let group = self.resident.get(place)?.clone();
                let core = group.place().core;
                Some((group, core))
            }
            Start::Entry(number, core) => {
                let id = self.launch.grid.workgroup(number)?;
                Some((Workgroup::new(self.launch, core, number, id), core))
            }
        }
    }

    /// Executes workgroups as long as there are some that nobody has taken. `program` is the worker's own.
    pub(super) fn work(&self, program: &mut Program) -> Vec<Done> {
        let mut done = Vec::new();
        let mut desk = None;
        while let Some(start) = self.starts.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if self.is_full() {
                break;
            }
            let Some((group, core)) = self.workgroup(*start) else {
                continue;
            };
            let number = group.number();
            let at = desk.get_or_insert_with(|| Desk::of(self));
            let log = self.execute(at, program, group);
            if at.fabric.is_recording_spoiled() {
                // What it knows by now one thread might not.
                desk = None;
                *program = self.program.clone();
            }
            done.push(Done {
                number,
                core,
                depends_on_core: program.depends_on_core(),
                log,
            });
        }
        done
    }

    fn is_full(&self) -> bool {
        self.entries.load(Ordering::Relaxed) >= MOST_ENTRIES
    }

    fn execute(&self, desk: &mut Desk<'a>, program: &mut Program, mut group: Workgroup) -> Log {
        let core = group.place().core;
        let mut log = Log::default();
        if desk.view.is_large() {
            desk.view = View::new(self.memory);
        }
        desk.view.forget();
        while log.turns.len() < self.turns && !self.is_full() && !desk.view.is_large() {
            let fabric = &mut desk.fabric;
            *fabric.activity.core(core) = CoreActivity::default();
            fabric.activity.clear_slices();
            let first = fabric.recording().translations.len();
            group.forget_ran();
            let (executed, turned) = group.run(
                &self.launch.environment,
                program,
                &mut desk.memory_unit,
                fabric,
                &mut desk.view,
                whole_turn(),
            );
            let refused = matches!(turned, Turned::Refused(_));
            if refused || fabric.is_recording_spoiled() {
                fabric.spoil_recording();
                break;
            }
            let activity = *fabric.activity.core(core);
            let translated = fabric.activity.translations();
            desk.view.take_accesses(&mut log.reads, &mut log.writes);
            let recording = fabric.recording();
            recording.pages_since(first, &mut log.pages);
            let ended = turned == Turned::Ended;
            log.turns.push(Turn {
                executed,
                ended,
                warps: if ended { Vec::new() } else { group.ran() },
                next: group.next(),
                activity,
                translated,
                ends: Ends {
                    translations: recording.translations.len(),
                    pages: log.pages.len(),
                    lines: recording.lines.len(),
                    reads: log.reads.len(),
                    writes: log.writes.len(),
                },
            });
            let entries = |ends: &Ends| ends.translations + ends.lines + ends.reads + ends.writes;
            let begins = entries(&log.begins(log.turns.len() - 1));
            let added = log.turns.last().map_or(0, |turn| entries(&turn.ends)) - begins;
            self.entries.fetch_add(added, Ordering::Relaxed);
            if ended {
                break;
            }
        }
        let recording = desk.fabric.recording();
        log.translations = core::mem::take(&mut recording.translations);
        log.lines = core::mem::take(&mut recording.lines);
        log
    }
}
