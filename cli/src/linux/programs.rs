//! Programs: what the shader cores executed, by program, in the figures of `eitri bench code`.
//!
//! A program is known by where its first job began to execute, or, among those of one job, by where code begins behind the end of
//! other code: programs are aligned, and zeros follow each. Groups that start later may have other code at the same addresses:
//! these are programs of their own unless all code that both executed is the same.

use crate::reports::executed::{Executed, Place};
use eitri_csf::interface::group::CsgState;
use eitri_isa::row::Kind;
use eitri_isa::{Arch, Instr};
use eitri_model::{Event, Nanoseconds, Sink};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{self, Write};
use std::rc::Rc;

/// What code of a program is aligned to.
const ALIGNMENT: u64 = 128;
/// Least bytes of zeros between two programs.
const GAP: u64 = 16;
/// Version of the JSON's shape.
const SCHEMA: u32 = 1;

/// Counts while the model runs.
#[derive(Debug, Default)]
pub(super) struct Programs(Rc<RefCell<Counts>>);

/// The end of it that the model holds.
struct Listener(Rc<RefCell<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    /// What was counted before each further start of a group.
    earlier: Vec<Period>,
    now: Period,
    /// A job has begun, and no warp of it has executed anything yet.
    begins: bool,
}

/// The time between two starts of groups.
#[derive(Debug, Default)]
struct Period {
    /// Jobs that began at an address.
    jobs: BTreeMap<u64, u64>,
    /// By address and word.
    places: HashMap<(u64, u64), Place>,
}

/// A program and how often it was executed.
#[derive(Debug, Default)]
struct Program {
    /// Where it begins.
    entry: u64,
    /// Jobs that began with it.
    jobs: u64,
    /// By address and word.
    places: BTreeMap<(u64, u64), Place>,
}

impl Sink for Listener {
    fn event(&mut self, _: Nanoseconds, event: Event) {
        self.0.borrow_mut().event(event);
    }
}

impl Counts {
    fn event(&mut self, event: Event) {
        match event {
            Event::Group {
                state: CsgState::Start,
                ..
            } if !self.now.places.is_empty() => {
                self.earlier.push(std::mem::take(&mut self.now));
            }
            Event::JobStarted { .. } => self.begins = true,
            Event::Shader {
                address,
                word,
                lanes,
                ..
            } => {
                if self.begins {
                    self.begins = false;
                    *self.now.jobs.entry(address).or_default() += 1;
                }
                let place = self.now.places.entry((address, word)).or_default();
                place.note(word, lanes);
            }
            _ => {}
        }
    }

    fn programs(&self, arch: Arch) -> Vec<Program> {
        let mut programs: Vec<Program> = Vec::new();
        for period in self.earlier.iter().chain([&self.now]) {
            for program in period.programs(arch) {
                match programs.iter_mut().find(|other| other.is_same(&program)) {
                    Some(other) => other.join(program),
                    None => programs.push(program),
                }
            }
        }
        programs
    }
}

impl Period {
    /// Where programs begin: where jobs began, and where aligned code lies behind the end of other code.
    fn entries(&self, arch: Arch) -> BTreeSet<u64> {
        let mut entries: BTreeSet<u64> = self.jobs.keys().copied().collect();
        let words: BTreeMap<u64, u64> = self.places.keys().copied().collect();
        // A job that began before its group was watched.
        entries.extend(words.keys().next());
        let pairs = words.iter().zip(words.keys().skip(1));
        let behind_ends = pairs.filter(|&((&address, &word), &next)| {
            let ends = Instr::decode(word, arch).is_ok_and(|instr| may_be_last(&instr));
            ends && next.is_multiple_of(ALIGNMENT) && next - address >= 8 + GAP
        });
        entries.extend(behind_ends.map(|(_, next)| next));
        entries
    }

    /// Each instruction is part of the program that begins last before it.
    fn programs(&self, arch: Arch) -> impl Iterator<Item = Program> {
        let entries = self.entries(arch);
        let mut programs: BTreeMap<u64, Program> = BTreeMap::new();
        for (&(address, word), place) in &self.places {
            let Some(&entry) = entries.range(..=address).next_back() else {
                continue;
            };
            let program = programs.entry(entry).or_insert_with(|| Program {
                entry,
                jobs: self.jobs.get(&entry).copied().unwrap_or(0),
                places: BTreeMap::new(),
            });
            program.places.insert((address, word), *place);
        }
        programs.into_values()
    }
}

/// Whether an instruction ends a thread, or may leave the program for the blend shader behind it.
fn may_be_last(instr: &Instr) -> bool {
    instr.flow.ends_thread() || matches!(instr.row().kind, Kind::Blend | Kind::Branch)
}

impl Program {
    /// Whether the two begin at one address and have the same code, as far as both were executed.
    fn is_same(&self, other: &Program) -> bool {
        let agrees = |&(address, word): &(u64, u64)| {
            let mut here = self.places.range((address, 0)..=(address, u64::MAX));
            here.clone().next().is_none() || here.any(|((_, own), _)| *own == word)
        };
        self.entry == other.entry && other.places.keys().all(agrees)
    }

    /// Instructions from its first one to the last that was executed.
    fn length(&self) -> u64 {
        let last = self.places.keys().next_back();
        last.map_or(0, |(address, _)| (address - self.entry) / 8 + 1)
    }

    /// Its length, what its executed code costs when each instruction counts once, and what was executed.
    fn json(&self, arch: Arch) -> Option<Value> {
        let once: Vec<Place> = self.places.values().map(Place::once).collect();
        let code = Executed::of(&once, arch).ok()?;
        let executed = Executed::of(self.places.values(), arch).ok()?;
        let warps = self.places.values().next().map_or(0, Place::warps);
        Some(json!({
            "entry": format!("{:#x}", self.entry), "jobs": self.jobs, "warps": warps,
            "length": self.length(), "code": code.json(), "executed": executed.json(),
        }))
    }

    fn join(&mut self, other: Program) {
        self.jobs += other.jobs;
        for (key, place) in other.places {
            self.places.entry(key).or_default().join(place);
        }
    }
}

impl Programs {
    /// What the model is to tell its events.
    pub(super) fn sink(&self) -> Box<dyn Sink> {
        Box::new(Listener(Rc::clone(&self.0)))
    }

    /// The programs in the order of their addresses.
    pub(super) fn json(&self, arch: Arch) -> Value {
        let programs = self.0.borrow().programs(arch);
        let rows = programs.iter().filter_map(|program| program.json(arch));
        json!({ "schema": SCHEMA, "programs": rows.collect::<Vec<_>>() })
    }

    /// A line a program, the one with most cycles first, and a line for all.
    pub(super) fn table(&self, arch: Arch) -> String {
        let mut rows = Vec::new();
        let mut table = String::new();
        let programs = self.0.borrow().programs(arch);
        if programs.is_empty() {
            return "no shader program was executed".to_owned();
        }
        for program in &programs {
            match Executed::of(program.places.values(), arch) {
                Ok(executed) => rows.push((program, executed)),
                // Writing to a string does not fail.
                Err(error) => {
                    let _ = writeln!(table, "program at {:#x}: {error}", program.entry);
                }
            }
        }
        rows.sort_by(|(_, a), (_, b)| b.cycles().total_cmp(&a.cycles()));
        for (program, executed) in &rows {
            let (entry, jobs) = (program.entry, program.jobs);
            let _ = writeln!(
                table,
                "program at {entry:#x}: {jobs} jobs, {}",
                Figures(executed)
            );
        }
        let places = programs.iter().flat_map(|program| program.places.values());
        if let Ok(all) = Executed::of(places, arch) {
            let jobs: u64 = programs.iter().map(|program| program.jobs).sum();
            let count = programs.len();
            let _ = write!(table, "{count} programs: {jobs} jobs, {}", Figures(&all));
        }
        table
    }
}

/// Figures in words.
struct Figures<'e>(&'e Executed);

impl fmt::Display for Figures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures(executed) = self;
        write!(
            f,
            "{} instructions, {} lane instructions, {} messages, {} cycles, {} clocks",
            executed.instructions,
            executed.lane_instructions,
            executed.messages.total(),
            executed.cycles(),
            executed.clocks()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_isa::Syntax;
    use eitri_model::JobKind;

    fn word(text: &str) -> u64 {
        let instr = Instr::parse(text, Arch::V10, Syntax::Mesa24).unwrap();
        instr.encode(Arch::V10).unwrap()
    }

    fn start() -> Event {
        let state = CsgState::Start;
        Event::Group { group: 0, state }
    }

    fn job() -> Event {
        Event::JobStarted {
            group: 0,
            stream: 0,
            number: 1,
            kind: JobKind::Compute,
            size: [1; 3],
        }
    }

    fn shader(address: u64, text: &str) -> Event {
        Event::Shader {
            address,
            word: word(text),
            lanes: 0xF,
            live: 0xF,
            waits: 0,
        }
    }

    fn counted(events: &[Event]) -> Counts {
        let mut counts = Counts::default();
        for event in events {
            counts.event(*event);
        }
        counts
    }

    const ADD: &str = "FADD.f32 r0, r1, r2";
    const END: &str = "NOP.end";
    const LOAD: &str = "LOAD.i32.unsigned.slot0 @r0, ^r2, offset:0";

    #[test]
    fn a_program_is_where_its_jobs_begin() {
        let events = [
            start(),
            job(),
            shader(0x1000, ADD),
            shader(0x1008, LOAD),
            job(),
            shader(0x1080, ADD),
            job(),
            shader(0x1000, ADD),
        ];
        let programs = counted(&events).programs(Arch::V10);
        let found: Vec<_> = programs.iter().map(|it| (it.entry, it.jobs)).collect();
        assert_eq!(found, [(0x1000, 2), (0x1080, 1)]);
        let first = Executed::of(programs[0].places.values(), Arch::V10).unwrap();
        assert_eq!((first.instructions, first.lane_instructions), (3, 12));
        assert_eq!(first.messages.total(), 1);
    }

    #[test]
    fn other_code_of_a_later_group_is_another_program() {
        let again = [
            start(),
            job(),
            shader(0x1000, ADD),
            start(),
            job(),
            shader(0x1000, ADD),
        ];
        assert_eq!(counted(&again).programs(Arch::V10).len(), 1);
        let other = [
            start(),
            job(),
            shader(0x1000, ADD),
            start(),
            job(),
            shader(0x1000, LOAD),
        ];
        assert_eq!(counted(&other).programs(Arch::V10).len(), 2);
    }

    #[test]
    fn programs_of_one_job_are_told_apart_by_their_ends() {
        let events = [
            start(),
            job(),
            shader(0x1000, ADD),
            shader(0x1008, LOAD),
            // Not aligned, then aligned but without an end before it.
            shader(0x1040, END),
            shader(0x1080, ADD),
            shader(0x1088, ADD),
            shader(0x1100, END),
        ];
        let programs = counted(&events).programs(Arch::V10);
        let found: Vec<_> = programs.iter().map(|it| (it.entry, it.jobs)).collect();
        assert_eq!(found, [(0x1000, 1), (0x1080, 0)]);
        let row = programs[0].json(Arch::V10).unwrap();
        assert_eq!(row["length"], 9);
        assert_eq!(row["code"]["load_store"], 1);
        assert_eq!(row["executed"]["instructions"], 3);
    }

    #[test]
    fn the_table_ends_with_the_sum() {
        let programs = Programs::default();
        let mut sink = programs.sink();
        for event in [start(), job(), shader(0x1000, ADD), shader(0x1008, LOAD)] {
            sink.event(0, event);
        }
        let table = programs.table(Arch::V10);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 2, "{table}");
        assert!(lines[0].starts_with("program at 0x1000: 1 jobs, 2 instructions, 8 lane instructions, 1 messages, 1 cycles"), "{table}");
        assert!(
            lines[1].starts_with("1 programs: 1 jobs, 2 instructions"),
            "{table}"
        );
    }
}
