//! Names of jobs: what a person calls them, counted by kind.

use eitri_model::JobKind;
use std::collections::BTreeMap;

/// The names of the jobs of a process, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct JobNames {
    names: BTreeMap<u64, String>,
    counts: BTreeMap<&'static str, u32>,
}

impl JobNames {
    /// Names a job that begins: by its kind, how many of that kind there were, and its size. A job that is begun again, as after a
    /// stall, keeps its name.
    pub(crate) fn begin(&mut self, number: u64, kind: JobKind, size: [u32; 3]) -> String {
        if let Some(known) = self.names.get(&number) {
            return known.clone();
        }
        let noun = noun(kind);
        let count = self.counts.entry(noun).or_default();
        *count += 1;
        let name = format!("{noun} {count}{}", extent(kind, size));
        self.names.insert(number, name.clone());
        name
    }

    /// The name of a job.
    pub(crate) fn of(&self, number: u64) -> String {
        let known = self.names.get(&number);
        known.cloned().unwrap_or_else(|| format!("job {number}"))
    }
}

/// What a person calls a job of a kind.
fn noun(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Compute => "dispatch",
        JobKind::Draw | JobKind::Fullscreen => "draw",
        JobKind::Fragment => "pass",
    }
}

/// How large it is.
fn extent(kind: JobKind, [x, y, z]: [u32; 3]) -> String {
    let plural = |number: u32| if number == 1 { "" } else { "s" };
    match kind {
        JobKind::Compute => format!(": {x}x{y}x{z} workgroups"),
        JobKind::Draw if y == 1 => format!(": {x} vert{}", if x == 1 { "ex" } else { "ices" }),
        JobKind::Draw => format!(": {x} vertices, {y} instances"),
        JobKind::Fullscreen => ": fullscreen".to_owned(),
        JobKind::Fragment => format!(": {x} tile{}", plural(x)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_counted_by_what_they_are() {
        let mut names = JobNames::default();
        let named = [
            (4, JobKind::Draw, [36, 1, 1]),
            (5, JobKind::Draw, [3, 8, 1]),
            (6, JobKind::Fragment, [1, 1, 1]),
            (5, JobKind::Draw, [3, 8, 1]),
            (7, JobKind::Compute, [4, 2, 1]),
            (8, JobKind::Fullscreen, [1, 1, 1]),
        ]
        .map(|(number, kind, size)| names.begin(number, kind, size));
        assert_eq!(
            named,
            [
                "draw 1: 36 vertices",
                "draw 2: 3 vertices, 8 instances",
                "pass 1: 1 tile",
                "draw 2: 3 vertices, 8 instances",
                "dispatch 1: 4x2x1 workgroups",
                "draw 3: fullscreen"
            ]
        );
        assert_eq!(names.of(6), "pass 1: 1 tile");
        assert_eq!(names.of(9), "job 9");
    }
}
