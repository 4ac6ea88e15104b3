//! Telling a person of diagnoses and notes as they come.

use super::Diagnosis;
use crate::clock::Nanoseconds;
use crate::gpu::Gpu;
use alloc::vec::Vec;
use core::fmt;

/// How long after it was told a diagnosis is told again, if it has come again: whoever meets it later, in another process, sees it
/// too, and a loop does not fill a screen.
const PAUSE: Nanoseconds = 100_000_000;

/// What was told of one diagnosis.
#[derive(Clone, Copy, Debug)]
struct Told {
    count: u64,
    time: Nanoseconds,
}

/// Tells of diagnoses: of each at once, and again with its count when it comes again. Notes are told once.
#[derive(Clone, Debug, Default)]
pub struct Teller {
    diagnoses: Vec<Told>,
    notes: usize,
}

/// Something to tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct News<'d> {
    /// What it is about.
    pub diagnosis: &'d Diagnosis,
    /// Whether it was told before.
    pub again: bool,
}

impl Teller {
    /// Tells what has come since the last call.
    pub fn tell(&mut self, gpu: &Gpu, mut say: impl FnMut(News<'_>)) {
        let (diagnoses, notes) = (gpu.diagnoses(), gpu.notes());
        // They were cleared meanwhile.
        self.diagnoses.truncate(diagnoses.len());
        self.notes = self.notes.min(notes.len());
        for (index, diagnosis) in diagnoses.iter().enumerate() {
            let now = Told {
                count: diagnosis.count,
                time: diagnosis.last,
            };
            let again = match self.diagnoses.get_mut(index) {
                None => {
                    self.diagnoses.push(now);
                    false
                }
                Some(told) => {
                    let due = now.time >= told.time.saturating_add(PAUSE);
                    if now.count <= told.count || !due {
                        continue;
                    }
                    *told = now;
                    true
                }
            };
            say(News { diagnosis, again });
        }
        for diagnosis in notes.iter().skip(self.notes) {
            let again = false;
            say(News { diagnosis, again });
        }
        self.notes = notes.len();
    }
}

impl fmt::Display for News<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnosis {
            count,
            last,
            misuse,
            ..
        } = self.diagnosis;
        let kind = if misuse.is_note() {
            "note"
        } else {
            "diagnosis"
        };
        match self.again {
            true => write!(f, "{kind}: {last} ns: again, {count} times: {misuse}"),
            false => write!(f, "{kind}: {}", self.diagnosis),
        }
    }
}
