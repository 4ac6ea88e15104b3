//! The profile as speedscope reads it: stacks of job, program, line and instruction, weighed by cycles, instructions and bytes.
//!
//! The form is that of <https://www.speedscope.app/file-format-schema.json>.

use super::sample::{Sample, millicycles};
use super::{Figures, Profile};
use serde_json::{Value, json};
use std::collections::HashMap;

/// A way to weigh samples: a name, a unit of speedscope's, and the weight.
type Weight = (&'static str, &'static str, fn(&Figures) -> f64);

/// How samples are weighed.
const WEIGHTS: &[Weight] = &[
    ("cycles, each instruction by its unit", "none", |it| {
        millicycles(it.cost) as f64 / 1000.0
    }),
    ("instructions, once a warp", "none", |it| it.executed as f64),
    ("bytes that lanes read and write", "bytes", |it| {
        it.bytes() as f64
    }),
    ("lines of the cache", "none", |it| it.lines as f64),
    ("waits for messages", "none", |it| it.waited() as f64),
    ("cycles in waits", "none", Figures::waited_cycles),
];

/// The frames of all stacks, each once.
#[derive(Default)]
struct Frames {
    values: Vec<Value>,
    numbers: HashMap<String, usize>,
}

impl Frames {
    fn number(&mut self, frame: Value) -> usize {
        let next = self.values.len();
        let number = *self.numbers.entry(frame.to_string()).or_insert(next);
        if number == next {
            self.values.push(frame);
        }
        number
    }

    /// The stack of a sample, the job first.
    fn stack(&mut self, profile: &Profile, sample: &Sample<'_>) -> Vec<usize> {
        let mut stack: Vec<usize> = sample
            .job
            .iter()
            .map(|name| self.number(json!({ "name": name })))
            .collect();
        let source = sample.instruction.source.as_ref();
        stack.push(self.number(json!({ "name": sample.program.label() })));
        if let Some(place) = source {
            let (file, line) = place;
            let text = profile.line(place).unwrap_or_default().trim();
            let name = format!("{file}:{line} {text}");
            stack.push(self.number(json!({ "name": name, "file": file, "line": line })));
        }
        let mut own = json!({ "name": format!("{}: {}", sample.number, sample.instruction.text) });
        if let Some((file, line)) = source {
            own["file"] = json!(file);
            own["line"] = json!(line);
        }
        stack.push(self.number(own));
        stack
    }
}

impl Profile {
    /// The file.
    pub(crate) fn speedscope(&self) -> Value {
        let samples = self.samples();
        let mut frames = Frames::default();
        let stacks: Vec<Vec<usize>> = samples
            .iter()
            .map(|sample| frames.stack(self, sample))
            .collect();
        let profiles = WEIGHTS.iter().filter_map(|(name, unit, weight)| {
            let weights: Vec<f64> = samples.iter().map(|it| weight(it.figures)).collect();
            let all: f64 = weights.iter().sum();
            let own = stacks.iter().zip(&weights).filter(|(_, it)| **it > 0.0);
            let (stacks, weights): (Vec<&Vec<usize>>, Vec<&f64>) = own.unzip();
            (all > 0.0).then(|| {
                json!({
                    "type": "sampled", "name": name, "unit": unit,
                    "startValue": 0, "endValue": all, "samples": stacks, "weights": weights,
                })
            })
        });
        let profiles: Vec<Value> = profiles.collect();
        json!({
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "name": self.title,
            "exporter": format!("eitri {}", env!("CARGO_PKG_VERSION")),
            "activeProfileIndex": 0,
            "shared": { "frames": frames.values },
            "profiles": profiles,
        })
    }
}
