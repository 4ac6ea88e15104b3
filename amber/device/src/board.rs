//! A suite on one machine: script by script, each with a line of its own.

use crate::{Case, Content, DeviceError, Jobs, Request, Verdict, tap};
use alloc::string::String;
use alloc::vec::Vec;
use eitri_amber::run::Memory;
use eitri_drawing::Drawing;
use eitri_drawing::suite::{self, SuiteError};
use eitri_job::{Failure, Job, Resource, Saved, Wants};

/// How many scripts of a suite ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those that passed.
    pub passed: usize,
    /// Those that did not.
    pub failed: usize,
    /// Those that the hardware can't run.
    pub skipped: usize,
}

/// A GPU that runs jobs, one after the other, each from power-off.
pub trait Machine {
    /// Runs one, and gives the memory of the resources that were to be saved.
    ///
    /// # Errors
    /// Why it failed.
    fn run(&mut self, job: &Job<'_>) -> Result<Vec<Saved>, Failure>;

    /// Plays a drawing with this firmware, and gives its results.
    ///
    /// # Errors
    /// Why it failed.
    fn play(&mut self, firmware: &[u8], drawing: &Drawing<'_>) -> Result<Vec<Saved>, Failure>;
}

/// Runs a suite on a GPU, from script `first` (from 1) on; `say` gets each piece of the report, which is TAP.
///
/// # Errors
/// If the bytes are no suite, or one of its cases is none: the report then lacks its end.
// Nothing here is generic, so that an image with other scripts costs no more than a link.
pub fn run_suite(
    machine: &mut dyn Machine,
    bytes: &[u8],
    first: usize,
    say: &mut dyn FnMut(&str),
) -> Result<Counts, SuiteError> {
    let suite = suite::read::<Case>(bytes)?;
    let mut counts = Counts::default();
    say(&tap::start(suite.entries.len()));
    for (number, case) in (1..).zip(suite.entries) {
        if number < first {
            continue;
        }
        let case = case?;
        let verdict = run_case(machine, suite.firmware, &case);
        let count = match verdict {
            Verdict::Pass => &mut counts.passed,
            Verdict::Fail(_) => &mut counts.failed,
            Verdict::Skip(_) => &mut counts.skipped,
        };
        *count = count.saturating_add(1);
        say(&tap::result(number, &case.name, &verdict));
    }
    let Counts {
        passed,
        failed,
        skipped,
    } = counts;
    say(&tap::end(&format!(
        "{passed} passed, {failed} failed, {skipped} skipped"
    )));
    Ok(counts)
}

/// Runs one case of a suite on a GPU with this firmware.
pub fn run_case(machine: &mut dyn Machine, firmware: &[u8], case: &Case) -> Verdict {
    let verdict = match &case.content {
        Content::Settled(verdict) => verdict.clone(),
        Content::Script(compiled) => {
            let mut jobs = OnMachine { machine, firmware };
            let mut memory = Memory::new(&compiled.plan);
            match crate::run(compiled, &mut jobs, &mut memory) {
                Ok(()) => Verdict::Pass,
                Err(stopped) => stopped.verdict,
            }
        }
    };
    match case.must_fail {
        true => verdict.inverted(),
        false => verdict,
    }
}

/// The stable name of a script among tests: `amber.`, and its path without what lines of results can't have.
///
/// ```
/// assert_eq!(eitri_amber_device::test_name("cts/add, twice.amber"), "amber.cts.add__twice");
/// ```
pub fn test_name(script: &str) -> String {
    let path = script.strip_suffix(".amber").unwrap_or(script);
    let word = |character: char| match character {
        '/' => '.',
        '-' | '.' | '_' => character,
        letter if letter.is_ascii_alphanumeric() => letter,
        _ => '_',
    };
    let path = path.trim_start_matches(['/', '.']);
    String::from("amber.") + &path.chars().map(word).collect::<String>()
}

/// Jobs on a machine.
struct OnMachine<'m, 'f> {
    machine: &'m mut dyn Machine,
    firmware: &'f [u8],
}

impl Jobs for OnMachine<'_, '_> {
    fn run(&mut self, request: &Request<'_>) -> Result<Vec<Saved>, String> {
        let resources: Vec<Resource<'_>> = request
            .resources
            .iter()
            .map(|resource| Resource {
                set: resource.place.0,
                binding: resource.place.1,
                element: resource.place.2,
                content: resource.content,
                // Buffers of a script are far below 4 GiB.
                bytes: u32::try_from(resource.bytes.len()).unwrap_or(u32::MAX),
                data: &resource.bytes,
                save: resource.save,
                part: resource.part,
            })
            .collect();
        let job = Job {
            program: request.program,
            firmware: self.firmware,
            push_constants: &request.push_constants,
            groups: request.groups,
            limit_ms: u32::try_from(request.limit.as_millis()).unwrap_or(u32::MAX),
            wants: Wants::default(),
            resources: &resources,
        };
        let outcome = self.machine.run(&job);
        outcome.map_err(|failure| format!("the job failed: {}", failure.text))
    }

    fn play(&mut self, drawing: &Drawing<'_>) -> Result<Vec<Saved>, DeviceError> {
        let outcome = self.machine.play(self.firmware, drawing);
        outcome.map_err(DeviceError::of_drawing)
    }
}
