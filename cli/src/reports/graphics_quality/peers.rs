//! Figures of PanVK for drawn scenes (`shared/scenes/PEERS.md`).

use super::table::Program;
use eitri_shaderc::valhall::rates;
use miette::Diagnostic;
use serde_json::Value;
use thiserror::Error;

/// Why a file has no figures.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum PeersError {
    #[error("{path}:{}:{}: {cause}", cause.line(), cause.column())]
    Json {
        path: String,
        cause: serde_json::Error,
    },
    #[error("{path}: this is no file of figures by scene")]
    NotByScene { path: String },
}

/// The figures of all scenes; none where there is no file.
#[derive(Debug, Default)]
pub(crate) struct Peers(Value);

/// Figures of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) instructions: f64,
    pub(crate) cycles: f64,
    pub(crate) registers: f64,
    pub(crate) threads: f64,
    pub(crate) loops: f64,
}

impl Peers {
    /// Reads a file; `path` is for messages.
    pub(crate) fn read(path: &str, text: &[u8]) -> Result<Peers, PeersError> {
        let path = path.to_owned();
        match serde_json::from_slice::<Value>(text) {
            Ok(file) if file.is_object() => Ok(Peers(file)),
            Ok(_) => Err(PeersError::NotByScene { path }),
            Err(cause) => Err(PeersError::Json { path, cause }),
        }
    }

    /// All entries of a scene.
    pub(super) fn scene(&self, scene: &str) -> Option<&Value> {
        self.0.get(scene)
    }

    /// The figures of a program, with those of the blend shaders that its pipelines jump to. None if there is no such program, or
    /// it has no code.
    pub(crate) fn of(&self, scene: &str, program: &Program, optimised: bool) -> Option<Figures> {
        let variant = if optimised { "opt" } else { "plain" };
        let entries = self.0.get(scene)?.as_object()?;
        let base = match program.stage {
            // What a peer makes of both is one program.
            "position with points" => "position",
            stage => stage,
        };
        let wanted = format!("{}/{base}", program.shader);
        let is_of = |entry: &Value| match entry["of"].as_array() {
            None => true,
            Some(of) => {
                let mut names = of.iter().filter_map(Value::as_str);
                names.any(|name| program.pipelines.iter().any(|own| own == name))
            }
        };
        let named = |key: &str, name: &str| key.split('#').next() == Some(name);
        let mut own = entries.iter();
        let (_, entry) = own.find(|(key, entry)| named(key, &wanted) && is_of(entry))?;
        let mut sum = Units::of(&entry[variant])?;
        if program.stage == "fragment" {
            // Of one target after the other; a pipeline that found its blend shader made has none here.
            let blends = entries.iter();
            let blends = blends.filter(|(key, entry)| {
                named(key, "driver/blend") && entry["of"].is_array() && is_of(entry)
            });
            for (_, blend) in blends {
                sum.add(Units::of(&blend[variant]));
            }
        }
        let it = &entry[variant];
        let figure = |name: &str| it[name].as_f64().unwrap_or(0.0);
        (sum.instructions > 0.0).then(|| Figures {
            instructions: sum.instructions,
            cycles: sum.cycles(),
            registers: figure("registers"),
            threads: figure("threads"),
            loops: figure("loops"),
        })
    }
}

/// Cycles of each unit.
pub(super) struct Units {
    instructions: f64,
    /// fma, cvt, sfu, load_store, texture, varying.
    cycles: [f64; 6],
}

/// How many of each unit's counts take a cycle.
const RATES: [f64; 6] = [
    rates::FMA_LANES,
    rates::CVT_LANES,
    rates::SFU_LANES,
    rates::MESSAGES,
    rates::TEXELS,
    rates::COMPONENTS,
];

impl Units {
    /// From counts, in the order of the units.
    pub(super) fn of_counts(counts: [f64; 6]) -> Units {
        let mut cycles = counts;
        for (cycles, rate) in cycles.iter_mut().zip(RATES) {
            *cycles /= rate;
        }
        Units {
            instructions: 0.0,
            cycles,
        }
    }

    /// The counts of an entry that has cycles alone.
    pub(super) fn counts_of(entry: &Value) -> [f64; 6] {
        let mut counts = Units::of(entry).map_or([0.0; 6], |units| units.cycles);
        for (count, rate) in counts.iter_mut().zip(RATES) {
            *count *= rate;
        }
        counts
    }

    fn of(entry: &Value) -> Option<Units> {
        let names = ["fma", "cvt", "sfu", "load_store", "texture", "varying"];
        Some(Units {
            instructions: entry["instructions"].as_f64()?,
            cycles: names.map(|name| entry[name].as_f64().unwrap_or(0.0)),
        })
    }

    fn add(&mut self, other: Option<Units>) {
        if let Some(other) = other {
            self.instructions += other.instructions;
            for (own, other) in self.cycles.iter_mut().zip(other.cycles) {
                *own += other;
            }
        }
    }

    pub(super) fn cycles(&self) -> f64 {
        let [fma, cvt, sfu, rest @ ..] = self.cycles;
        rest.into_iter().fold(rates::alu(fma, cvt, sfu), f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(stage: &'static str, pipeline: &str) -> Program {
        Program {
            shader: "frag".to_owned(),
            stage,
            pipelines: vec![pipeline.to_owned()],
        }
    }

    #[test]
    fn blend_shaders_count_with_the_pipeline_that_needs_them() {
        let text = r#"{"s": {
            "frag/fragment#1": {"of": ["p"], "plain": {"instructions": 4, "cvt": 0.25, "varying": 0.5, "registers": 8, "threads": 2}},
            "frag/fragment#2": {"of": ["q"], "plain": {"instructions": 6, "cvt": 1.0}},
            "driver/blend#1": {"of": ["p"], "plain": {"instructions": 10, "cvt": 0.5}}}}"#;
        let peers = Peers::read("peers.json", text.as_bytes()).unwrap();
        let of = |pipeline: &str| peers.of("s", &program("fragment", pipeline), false);
        let p = of("p").unwrap();
        assert_eq!((p.instructions, p.cycles), (14.0, 0.75));
        let q = of("q").unwrap();
        assert_eq!((q.instructions, q.cycles), (6.0, 1.0));
        assert_eq!(of("r"), None);
        assert_eq!(peers.of("s", &program("position", "p"), false), None);
    }

    #[test]
    fn other_files_are_refused() {
        let error = Peers::read("p", b"[]").unwrap_err();
        assert_eq!(error.to_string(), "p: this is no file of figures by scene");
        let error = Peers::read("p", b"{").unwrap_err();
        assert!(error.to_string().starts_with("p:1:1: "), "{error}");
    }
}
