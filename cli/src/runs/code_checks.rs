//! Machine code under the checkers while the model executes it: what was found, as it is told everywhere.

use crate::input::check_arguments::{CheckArguments, Wanted};
use crate::outcome::{Failure, Status};
use crate::output::findings::{self, Sources};
use crate::output::streams::talk;
use crate::reports::timeline::Both;
use crate::runs::checking;
use crate::runs::known_lines::KnownLines;
use eitri_checks::Finding;
use eitri_code_checks::{Checker, Found};
use eitri_isa::Arch;
use eitri_model::Sink;

/// The checkers of machine code of one run.
#[derive(Debug)]
pub(crate) struct CodeChecks {
    checker: Checker,
    wanted: Wanted,
}

impl CodeChecks {
    /// Checkers of a generation's instructions; none if nothing is wanted of them.
    pub(crate) fn new(wanted: Wanted, arch: Arch) -> Option<CodeChecks> {
        (wanted != Wanted::Nothing).then(|| CodeChecks {
            checker: Checker::new(arch),
            wanted,
        })
    }

    /// What the model is to report to, with another one that it reports to.
    pub(crate) fn sink(&self, other: Option<Box<dyn Sink>>) -> Box<dyn Sink> {
        match other {
            None => self.checker.sink(),
            Some(other) => Box::new(Both(self.checker.sink(), other)),
        }
    }

    /// What was found, now that nothing more comes.
    pub(crate) fn finish(&self, lines: &KnownLines) -> CodeChecked {
        let Found {
            mut findings,
            instructions,
            cut,
        } = self.checker.finish();
        for (finding, instructions) in findings.iter_mut().zip(&instructions) {
            let places = finding.places.iter_mut().chain(&mut finding.related);
            for (place, (entry, address)) in places.zip(instructions) {
                place.place = lines.of_offset(address.wrapping_sub(*entry));
                if place.place.is_some() {
                    // Beside the line the instruction is not printed by itself.
                    place.text += &format!(", at {}", place.instruction);
                }
            }
        }
        CodeChecked {
            findings: checking::wanted_of(findings, &self.wanted),
            cut,
        }
    }
}

/// What was found of machine code.
#[derive(Debug)]
pub(crate) struct CodeChecked {
    /// The findings that are wanted.
    pub(crate) findings: Vec<Finding>,
    /// How many jobs were not checked to their end.
    cut: u64,
}

impl CodeChecked {
    /// Tells what was found of `subject`, on standard error and in the files that are asked for; whether there are errors.
    pub(crate) fn tell(
        &self,
        subject: &str,
        arguments: &CheckArguments,
    ) -> Result<Status, Failure> {
        self.show(subject);
        checking::settle(subject, arguments, &self.findings)
    }

    /// Shows what was found of `subject` on standard error.
    pub(crate) fn show(&self, subject: &str) {
        findings::show(&self.findings, &mut Sources::beside(subject));
        if let Some(line) = self.cut_line() {
            talk!("{line}");
        }
    }

    /// What is told of jobs that were not checked to their end.
    pub(crate) fn cut_line(&self) -> Option<String> {
        let cut = self.cut;
        (cut != 0).then(|| {
            format!(
                "not checked: {cut} jobs access more memory than the checkers of machine code follow (docs/checks.md)"
            )
        })
    }
}
