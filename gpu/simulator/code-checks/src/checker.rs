//! The checker: what the model reports becomes findings.
//!
//! Guarantees: bounded memory; findings of the same instructions are one, with a count.

use crate::job::{Invocation, Job};
use eitri_checks::code_race::{self, Act, Certainty, Memory};
use eitri_checks::{Finding, Level, Related, Rule};
use eitri_isa::{Arch, Instr, Syntax};
use eitri_model::{
    Decides, Event, JobKind, MemorySort, Nanoseconds, Sink, UndefinedUse, WarpAccess,
    WorkgroupPlace, WorkgroupStep,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Jobs that are checked at a time at most.
const JOBS: usize = 16;
/// Findings that are kept at most.
const FINDINGS: usize = 1 << 12;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// In the order in which it was found.
    pub findings: Vec<Finding>,
    /// Of each finding, the instructions of its places and of what is related: where the threads of the job begin, and the address.
    pub instructions: Vec<[(u64, u64); 2]>,
    /// Jobs of which some accesses were not checked, because they access more memory than is followed.
    pub cut: u64,
}

/// What makes two findings the same: rule, level, instructions.
type Key = (Rule, Level, (u64, u64), (u64, u64));

#[derive(Debug)]
struct State {
    arch: Arch,
    jobs: BTreeMap<u64, Job>,
    found: Found,
    known: HashMap<Key, usize>,
}

/// Checks machine code while a model runs.
#[derive(Clone, Debug)]
pub struct Checker(Rc<RefCell<State>>);

/// The end of a checker that the model holds.
struct Listener(Rc<RefCell<State>>);

impl Checker {
    /// A checker of instructions of a generation.
    pub fn new(arch: Arch) -> Checker {
        Checker(Rc::new(RefCell::new(State {
            arch,
            jobs: BTreeMap::new(),
            found: Found::default(),
            known: HashMap::new(),
        })))
    }

    /// What the model is to report to.
    pub fn sink(&self) -> Box<dyn Sink> {
        Box::new(Listener(Rc::clone(&self.0)))
    }

    /// How many findings there are of jobs that have ended, so that who asks often sees when there are more.
    pub fn count(&self) -> usize {
        self.0.borrow().found.findings.len()
    }

    /// What was found so far of jobs that have ended.
    pub fn found(&self) -> Found {
        self.0.borrow().found.clone()
    }

    /// What was found, also of jobs that have not ended: nothing more comes.
    pub fn finish(&self) -> Found {
        let state = &mut *self.0.borrow_mut();
        for (_, job) in std::mem::take(&mut state.jobs) {
            state.end(&job);
        }
        state.found.clone()
    }
}

impl Sink for Listener {
    fn event(&mut self, _: Nanoseconds, event: Event) {
        match event {
            Event::JobStarted {
                kind: JobKind::Compute,
                number,
                size: [x, y, _],
                ..
            } => self.0.borrow_mut().job(number).size = [x, y],
            Event::JobEnded { number, .. } => {
                let state = &mut *self.0.borrow_mut();
                if let Some(job) = state.jobs.remove(&number) {
                    state.end(&job);
                }
            }
            _ => {}
        }
    }

    fn wants_instructions(&self) -> bool {
        false
    }

    fn wants_accesses(&self) -> bool {
        true
    }

    fn workgroup(&mut self, place: WorkgroupPlace, step: WorkgroupStep) {
        let state = &mut *self.0.borrow_mut();
        state.job(place.job).workgroup(place, step);
    }

    fn accesses(&mut self, access: &WarpAccess<'_>) {
        let state = &mut *self.0.borrow_mut();
        state.job(access.workgroup.job).accesses(access);
    }

    fn undefined(&mut self, used: &UndefinedUse) {
        self.0.borrow_mut().undefined(used);
    }
}

impl State {
    fn job(&mut self, number: u64) -> &mut Job {
        if self.jobs.len() >= JOBS && !self.jobs.contains_key(&number) {
            // It has never ended: the GPU was reset.
            if let Some((_, job)) = self.jobs.pop_first() {
                self.end(&job);
            }
        }
        self.jobs.entry(number).or_default()
    }

    /// A job has ended: its races are found.
    fn end(&mut self, job: &Job) {
        self.found.cut += u64::from(job.is_cut());
        for race in job.races() {
            let level = match race.certainty {
                Certainty::Certain => Level::Error,
                Certainty::Likely => Level::Warning,
                Certainty::Doubtful => Level::Note,
            };
            let instructions = [race.first, race.second].map(|party| job.instruction(party.site));
            let [first, second] = instructions;
            let key = (Rule::Race, level, first, second);
            if self.is_known(key, race.count) {
                continue;
            }
            let places = [race.first, race.second].map(|party| {
                let invocation = job.invocation(party.group, party.warp, party.lane);
                let done = done(party.act, invocation);
                self.related(done, job.instruction(party.site), job.entry)
            });
            let (space, place) = match race.memory {
                Memory::Shared => {
                    let [x, y, z] = job.invocation(race.second.group, 0, 0).workgroup;
                    let place = format!(
                        "byte {:#x} of the shared memory of workgroup ({x}, {y}, {z})",
                        race.start
                    );
                    ("shared", place)
                }
                Memory::Global => ("global", format!("address {:#x}", race.start)),
            };
            let finding = Finding {
                rule: Rule::Race,
                level,
                message: format!(
                    "data race on {place}: nothing orders these accesses{}",
                    doubt(&race)
                ),
                places: places.to_vec(),
                related: vec![],
                space: Some(space),
                variable: None,
                binding: None,
                count: race.count,
            };
            self.add(key, finding, [(job.entry, first.0), (job.entry, second.0)]);
        }
    }

    fn undefined(&mut self, used: &UndefinedUse) {
        let key = (
            Rule::Uninit,
            Level::Error,
            used.instruction,
            used.load.instruction,
        );
        if self.is_known(key, 1) {
            return;
        }
        let job = used.workgroup.job;
        let entry = self.jobs.get(&job).map_or(0, |job| job.entry);
        let invocation = |thread: u32| Invocation {
            workgroup: used.workgroup.id,
            warp: thread / 16,
            lane: thread % 16,
        };
        let (space, memory) = match used.load.sort {
            MemorySort::Shared => ("shared", "the shared memory of the workgroup"),
            MemorySort::Scratch => ("scratch", "the scratch memory of the invocation"),
            MemorySort::Global => ("global", "memory"),
        };
        let decides = match used.decides {
            Decides::Branch => "where the invocation goes on",
            Decides::Address => "an address or an index",
            Decides::Store => "what is stored to global memory",
            Decides::Atomic => "what an atomic leaves in global memory",
        };
        let loaded = format!("read by {}", name(invocation(used.load.thread)));
        let decided = format!("decides {decides}, in {}", name(invocation(used.thread)));
        let finding = Finding {
            rule: Rule::Uninit,
            level: Level::Error,
            message: format!(
                "nobody has written byte {:#x} of {memory} (address {:#x}), which decides {decides}",
                used.load.offset, used.load.address
            ),
            places: vec![self.related(loaded, used.load.instruction, entry)],
            related: vec![self.related(decided, used.instruction, entry)],
            space: Some(space),
            variable: None,
            binding: None,
            count: 1,
        };
        let loaded = (entry, used.load.instruction.0);
        self.add(key, finding, [loaded, (entry, used.instruction.0)]);
    }

    fn is_known(&mut self, key: Key, count: u64) -> bool {
        let Some(known) = self.known.get(&key) else {
            return false;
        };
        if let Some(finding) = self.found.findings.get_mut(*known) {
            finding.count += count;
        }
        true
    }

    fn add(&mut self, key: Key, finding: Finding, instructions: [(u64, u64); 2]) {
        if self.found.findings.len() < FINDINGS {
            self.known.insert(key, self.found.findings.len());
            self.found.findings.push(finding);
            self.found.instructions.push(instructions);
        }
    }

    fn related(&self, text: String, (address, word): (u64, u64), entry: u64) -> Related {
        let code = match Instr::decode(word, self.arch) {
            Ok(instr) => instr.display(self.arch, Syntax::Mesa24).to_string(),
            Err(_) => format!("{word:016x}"),
        };
        let at = match address.checked_sub(entry) {
            Some(offset) if entry != 0 => format!("{entry:#x}+{offset:#x}"),
            _ => format!("{address:#x}"),
        };
        Related {
            text,
            place: None,
            instruction: format!("{at}: {}", code.trim_end()),
        }
    }
}

fn name(invocation: Invocation) -> String {
    let [x, y, z] = invocation.workgroup;
    let Invocation { warp, lane, .. } = invocation;
    let number = warp * 16 + lane;
    format!("invocation {number} (lane {lane} of warp {warp}) in workgroup ({x}, {y}, {z})")
}

fn done(act: Act, invocation: Invocation) -> String {
    let act = match act {
        Act::Read => "read",
        Act::Write => "write",
        Act::Atomic => "atomic",
    };
    format!("{act} by {}", name(invocation))
}

/// What makes a race less than an error.
fn doubt(race: &code_race::Race) -> &'static str {
    match (race.certainty, race.same_value) {
        (Certainty::Certain, _) => "",
        (_, true) => "; both store the same value",
        (_, false) => "; machine code does not tell whether they are atomic in the source",
    }
}
