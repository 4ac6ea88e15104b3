//! Profiles: what each source line, each line of the IR and each instruction cost when it ran on the model, and what bounded each
//! dispatch, draw and pass.
//!
//! `record` listens to the model; [`Profile::new`] brings what it heard to the programs that were compiled (`program`) and to the jobs
//! that ran (`job`); the others write it: `text` for people, `json` for programs, `speedscope`, `callgrind` and `pprof` for viewers. The
//! page is `pages::profile`.
//!
//! Guarantees: what is counted of all instructions together is what the device's own counters say.  Never: a second cost model: rates
//! are those of `eitri_isa::rates`, times of units and jobs those of the model.

mod callgrind;
mod figures;
mod job;
mod json;
mod pprof;
mod program;
mod record;
mod sample;
mod speedscope;
mod text;

use crate::reports::executed::located;
use eitri_isa::{Arch, DecodeError};
use eitri_model::JobKind;
pub(crate) use figures::Figures;
pub(crate) use job::{DrawShare, Gpu, Job, Load, Stage};
pub(crate) use program::{Code, CountedLine, Instruction, Program, SourcePlace};
pub(crate) use record::Recorder;
use record::{Recorded, RecordedJob, Share};
use std::collections::{BTreeMap, BTreeSet};
pub(crate) use text::{LEGEND, Table, View};

/// A source file.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// As debug information names it.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What was found out.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// What was profiled.
    pub(crate) title: String,
    pub(crate) gpu: Gpu,
    pub(crate) programs: Vec<Program>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) sources: Vec<Source>,
    /// What was executed of code that is none of the programs.
    pub(crate) unknown: Figures,
}

impl Profile {
    /// Brings what was recorded to the programs that it ran.
    ///
    /// # Errors
    /// A word that was executed and is no instruction.
    pub(crate) fn new(
        title: &str,
        recorder: &Recorder,
        codes: &[Code],
        (gpu, arch): (Gpu, Arch),
        mut read: impl FnMut(&str) -> Option<String>,
    ) -> Result<Profile, DecodeError> {
        let recorded = recorder.recorded();
        let places = Places::new(&recorded, codes);
        let names = job_names(&recorded.jobs);
        let jobs = recorded.jobs.iter();
        let jobs = jobs.map(|job| made(job, &recorded, &names, (&places, codes, arch)));
        let jobs: Vec<Job> = jobs.collect::<Result<_, _>>()?;
        let programs: Vec<Program> = codes
            .iter()
            .enumerate()
            .map(|(number, code)| Program::new(code, &figures_of(&jobs, number, code), arch))
            .collect();
        let files: BTreeSet<&str> = programs
            .iter()
            .flat_map(|program| &program.instructions)
            .filter_map(|instruction| Some(instruction.source.as_ref()?.0.as_str()))
            .collect();
        let sources = files.into_iter().filter_map(|path| {
            let text = read(path)?;
            let path = path.to_owned();
            Some(Source { path, text })
        });
        let sources = sources.collect();
        let stages = jobs.iter().flat_map(|job| &job.stages);
        let unknown = stages.filter(|stage| stage.program.is_none());
        Ok(Profile {
            title: title.to_owned(),
            gpu,
            unknown: Figures::sum(unknown.map(|stage| &stage.total)),
            programs,
            jobs,
            sources,
        })
    }

    /// The text of a line of a source.
    pub(crate) fn line(&self, (path, line): &SourcePlace) -> Option<&str> {
        let source = self.sources.iter().find(|source| source.path == *path)?;
        let index = usize::try_from(*line).ok()?.checked_sub(1)?;
        source.text.lines().nth(index)
    }

    /// What was counted of all instructions.
    pub(crate) fn total(&self) -> Figures {
        let mut total = Figures::sum(self.programs.iter().map(|program| &program.total));
        total.add(&self.unknown);
        total
    }

    /// The names of the programs that ran for a job, for who shows the job elsewhere.
    pub(crate) fn title_of(&self, job: &Job) -> String {
        let programs = job.stages.iter().filter_map(|stage| stage.program);
        let mut names: Vec<&str> = programs.map(|it| self.programs[it].name.as_str()).collect();
        names.dedup();
        names.join(", ")
    }
}

/// Where programs lie in the GPU's memory.
struct Places {
    /// First address, the program, and the address behind its last word.
    programs: BTreeMap<u64, (usize, u64)>,
}

impl Places {
    fn new(recorded: &Recorded, codes: &[Code]) -> Places {
        let seen = recorded.shares.iter().flat_map(|share| &share.seen);
        let words = seen.map(|(at, seen)| (*at, seen.word)).collect();
        let programs: Vec<&[u64]> = codes.iter().map(|code| code.words.as_slice()).collect();
        let found = located(&programs, &words).into_iter();
        let found = found.map(|(start, program)| {
            let end = start + 8 * programs[program].len() as u64;
            (start, (program, end))
        });
        Places {
            programs: found.collect(),
        }
    }

    /// The program that an address lies in, and the number of its instruction there.
    fn find(&self, address: u64) -> Option<(usize, usize)> {
        let (start, (program, end)) = self.programs.range(..=address).next_back()?;
        let number = usize::try_from((address - start) / 8).ok()?;
        (address < *end).then_some((*program, number))
    }
}

/// The names of jobs, by their numbers.
fn job_names(jobs: &[RecordedJob]) -> BTreeMap<u64, String> {
    let jobs = jobs.iter();
    jobs.map(|job| (job.number, job.name.clone())).collect()
}

/// What a job is called among others of its kind.
fn kind(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Compute => "dispatch",
        JobKind::Draw | JobKind::Fullscreen => "draw",
        JobKind::Fragment => "pass",
    }
}

fn made(
    job: &RecordedJob,
    recorded: &Recorded,
    names: &BTreeMap<u64, String>,
    known: (&Places, &[Code], Arch),
) -> Result<Job, DecodeError> {
    let own = recorded
        .shares
        .iter()
        .filter(|share| share.job == job.number);
    let own: Vec<&Share> = own.collect();
    let mut load = Load::default();
    for share in &own {
        load.add(&load_of(share));
    }
    let mut draws = vec![];
    if job.kind == JobKind::Fragment {
        for share in &own {
            let draw = DrawShare {
                name: names.get(&share.draw).cloned(),
                load: load_of(share),
                stages: stages(&[share], known)?,
            };
            if !draw.stages.is_empty() || draw.load.used_cores() != 0 {
                draws.push(draw);
            }
        }
    }
    Ok(Job {
        number: job.number,
        kind: kind(job.kind),
        name: job.name.clone(),
        begun_ns: job.begun,
        nanoseconds: job.ended.map(|ended| ended.saturating_sub(job.begun)),
        load,
        stages: stages(&own, known)?,
        draws,
    })
}

fn load_of(share: &Share) -> Load {
    Load {
        cores: share.busy.clone(),
        external_bytes: share.external_bytes,
    }
}

/// What was executed in some shares, by program.
fn stages(
    shares: &[&Share],
    (places, codes, arch): (&Places, &[Code], Arch),
) -> Result<Vec<Stage>, DecodeError> {
    let mut stages: BTreeMap<Option<usize>, Stage> = BTreeMap::new();
    for (&address, seen) in shares.iter().flat_map(|share| &share.seen) {
        let place = places.find(address);
        let program = place.map(|(program, _)| program);
        let stage = stages.entry(program).or_insert_with(|| {
            let length = program.map_or(0, |program| codes[program].words.len());
            Stage {
                program,
                total: Figures::default(),
                instructions: vec![Figures::default(); length],
            }
        });
        let figures = Figures::of(seen, arch)?;
        stage.total.add(&figures);
        let own = place.and_then(|(_, number)| stage.instructions.get_mut(number));
        if let Some(own) = own {
            // The same program may run for several draws of a pass.
            own.add_same(&figures);
        }
    }
    Ok(stages.into_values().collect())
}

/// The figures of a program's instructions, of all jobs together.
fn figures_of(jobs: &[Job], program: usize, code: &Code) -> Vec<Figures> {
    let mut all = vec![Figures::default(); code.words.len()];
    let stages = jobs.iter().flat_map(|job| &job.stages);
    for stage in stages.filter(|stage| stage.program == Some(program)) {
        for (sum, own) in all.iter_mut().zip(&stage.instructions) {
            sum.add_same(own);
        }
    }
    all
}
