//! The table: a row a program, then means of our figures over PanVK's.

use super::peer_executed::{Part, PeerExecuted};
use super::peers::{Figures, Peers};
use crate::reports::executed::Ran;
use eitri_shaderc::valhall::Statistics;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// Programs that are named as the worst.
const NAMED: usize = 12;
/// The most that a program may cost of the peer's before it is counted as worse.
const TOLERANCE: f64 = 1.05;
/// Version of the JSON's shape.
const SCHEMA: u32 = 1;

/// Which program of a scene.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Program {
    pub(crate) shader: String,
    pub(crate) stage: &'static str,
    /// Pipelines that it is of.
    pub(crate) pipelines: Vec<String>,
}

/// A program with its figures.
pub(crate) struct Measured {
    pub(crate) program: Program,
    pub(crate) statistics: Statistics,
    pub(crate) code: Vec<u64>,
    /// What was executed of it, if the scene was drawn.
    pub(crate) ran: Option<Ran>,
    /// How long the pipeline took to compile, of its first program.
    pub(crate) took: Option<Duration>,
}

struct Row {
    scene: String,
    measured: Measured,
    peer: Option<Figures>,
}

/// All programs of some scenes.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    /// What PanVK executed for parts of scenes.
    peer_parts: Vec<(String, Part, f64)>,
}

/// A figure of ours over the peer's.
struct Ratio {
    name: String,
    factor: f64,
}

impl Row {
    fn name(&self) -> String {
        let Program { shader, stage, .. } = &self.measured.program;
        format!("{} {shader} {stage}", self.scene)
    }

    fn line(&self) -> String {
        let it = &self.measured.statistics;
        let ran = self.measured.ran.unwrap_or_default();
        let mut line = format!(
            "{:<52} {:>4} pipelines {:>8} warps {:>5} instrs {:>8.4} cycles {:>3} registers",
            self.name(),
            self.measured.program.pipelines.len(),
            ran.warps,
            it.instructions,
            it.cycles,
            it.registers,
        );
        if let Some(peer) = self.peer {
            // Writing to a string can't fail.
            let _ = write!(
                line,
                "; PanVK {:>5} instrs {:>8.4} cycles {:>3} registers; {:.2}",
                peer.instructions,
                peer.cycles,
                peer.registers,
                it.cycles / peer.cycles
            );
        }
        line
    }

    fn json(&self) -> Value {
        let Measured {
            program,
            statistics: it,
            ran,
            took,
            ..
        } = &self.measured;
        let peer = self.peer.map(|peer| {
            json!({
                "instructions": peer.instructions, "cycles": peer.cycles, "registers": peer.registers,
                "threads": peer.threads, "loops": peer.loops,
            })
        });
        json!({
            "scene": self.scene, "shader": program.shader, "stage": program.stage, "pipelines": program.pipelines,
            "instructions": it.instructions, "cycles": it.cycles, "registers": it.registers, "threads": it.threads,
            "loops": it.loops, "spills": it.spills, "fills": it.fills,
            "fma": it.fma, "cvt": it.cvt, "sfu": it.sfu, "load_store": it.load_store, "varying": it.varying,
            "texture": it.texture,
            "warps": ran.map(|ran| ran.warps),
            "executed_cycles": ran.map(|ran| ran.executed.cycles()),
            "executed_instructions": ran.map(|ran| ran.executed.instructions),
            "compile_ms": took.map(|took| took.as_secs_f64() * 1e3),
            "panvk": peer,
        })
    }
}

impl Table {
    /// Adds the programs of a scene. A program that several of its pipelines have with the same code is one row.
    pub(crate) fn add(
        &mut self,
        scene: &str,
        programs: Vec<Measured>,
        peers: &Peers,
        optimised: bool,
    ) {
        let first = self.rows.len();
        for measured in programs {
            let peer = peers.of(scene, &measured.program, optimised);
            let mut known = self.rows.iter_mut().skip(first);
            let same = known.find(|row| {
                let own = &row.measured;
                own.code == measured.code
                    && own.program.shader == measured.program.shader
                    && own.program.stage == measured.program.stage
                    && own.took.is_some() == measured.took.is_some()
                    && row.peer == peer
            });
            match same {
                Some(row) => {
                    let names = measured.program.pipelines;
                    row.measured.program.pipelines.extend(names);
                }
                None => self.rows.push(Row {
                    scene: scene.to_owned(),
                    measured,
                    peer,
                }),
            }
        }
    }

    /// Ratios of a figure, largest first.
    fn ratios(&self, of: impl Fn(&Row) -> Option<(f64, f64)>) -> Vec<Ratio> {
        let ratios = self.rows.iter().filter_map(|row| {
            let (ours, theirs) = of(row)?;
            (ours > 0.0 && theirs > 0.0).then(|| Ratio {
                name: row.name(),
                factor: ours / theirs,
            })
        });
        sorted(ratios.collect())
    }

    /// Adds what PanVK executed for a scene.
    pub(crate) fn add_executed(
        &mut self,
        scene: &str,
        executed: &PeerExecuted,
        peers: &Peers,
        optimised: bool,
    ) {
        for part in Part::ALL {
            let cycles = executed.cycles(peers, scene, part, optimised);
            let own = cycles.map(|cycles| (scene.to_owned(), part, cycles));
            self.peer_parts.extend(own);
        }
    }

    /// Executed cycles of some parts, by scene.
    fn executed(&self, wanted: impl Fn(Part) -> bool) -> Vec<Ratio> {
        let mut sums: Vec<(&str, f64, f64)> = Vec::new();
        for (scene, part, theirs) in &self.peer_parts {
            let rows = self.rows.iter().filter(|row| {
                row.scene == *scene && Part::of_stage(row.measured.program.stage) == Some(*part)
            });
            let ran = rows.filter_map(|row| row.measured.ran);
            let ours: f64 = ran.map(|ran| ran.executed.cycles()).sum();
            if !wanted(*part) || ours == 0.0 {
                continue;
            }
            match sums.iter_mut().find(|(name, ..)| name == scene) {
                Some((_, own, peer)) => {
                    *own += ours;
                    *peer += theirs;
                }
                None => sums.push((scene, ours, *theirs)),
            }
        }
        let ratios = sums.into_iter().map(|(name, ours, theirs)| Ratio {
            name: name.to_owned(),
            factor: ours / theirs,
        });
        sorted(ratios.collect())
    }

    /// As people read it.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let _ = writeln!(text, "{}", row.line());
        }
        for stage in [
            "position",
            "position with points",
            "varying",
            "fragment",
            "compute",
        ] {
            let own = |row: &Row| row.measured.program.stage == stage;
            let cycles = self.ratios(|row| {
                let cycles = row.measured.statistics.cycles;
                own(row).then_some(())?;
                Some((cycles, row.peer?.cycles))
            });
            section(&mut text, &format!("{stage}: cycles / PanVK"), &cycles);
            let instructions = self.ratios(|row| {
                own(row).then_some(())?;
                let instructions = row.measured.statistics.instructions as f64;
                Some((instructions, row.peer?.instructions))
            });
            section(
                &mut text,
                &format!("{stage}: instructions / PanVK"),
                &instructions,
            );
        }
        for part in Part::ALL {
            let title = format!("{}: executed cycles / PanVK, by scene", part.name());
            section(&mut text, &title, &self.executed(|own| own == part));
        }
        let title = "all stages: executed cycles / PanVK, by scene";
        section(&mut text, title, &self.executed(|_| true));
        let fewer = self.rows.iter().filter(|row| {
            let peer = row.peer.map_or(0.0, |peer| peer.threads);
            f64::from(row.measured.statistics.threads) < peer
        });
        let fewer: Vec<String> = fewer.map(Row::name).collect();
        let _ = writeln!(
            text,
            "half the threads of PanVK's: {}",
            match fewer.is_empty() {
                true => "none".to_owned(),
                false => fewer.join(", "),
            }
        );
        self.times(&mut text);
        text
    }

    /// How long pipelines took to compile.
    fn times(&self, text: &mut String) {
        let rows = self.rows.iter();
        let mut times: Vec<(f64, String)> = rows
            .filter_map(|row| {
                let took = row.measured.took?.as_secs_f64() * 1e3;
                Some((took, row.scene.clone()))
            })
            .collect();
        times.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        if let Some((median, _)) = times.get(times.len() / 2) {
            let worst = times.iter().take(NAMED);
            let worst = worst.map(|(time, scene)| format!("{scene} {time:.1}"));
            let worst: Vec<String> = worst.collect();
            let _ = writeln!(
                text,
                "compile time: median {median:.2} ms of {} pipelines; the longest: {}",
                times.len(),
                worst.join(", ")
            );
        }
    }

    /// All that the text has.
    pub(crate) fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(Row::json).collect();
        let parts = self.peer_parts.iter();
        let parts = parts.map(|(scene, part, cycles)| {
            json!({ "scene": scene, "part": part.name(), "cycles": cycles })
        });
        let parts: Vec<Value> = parts.collect();
        json!({ "schema": SCHEMA, "programs": rows, "panvk_executed": parts })
    }
}

fn sorted(mut ratios: Vec<Ratio>) -> Vec<Ratio> {
    ratios.sort_by(|a, b| b.factor.total_cmp(&a.factor).then(a.name.cmp(&b.name)));
    ratios
}

/// Mean, median and the worst.
fn section(text: &mut String, title: &str, ratios: &[Ratio]) {
    let Some(median) = ratios.get(ratios.len() / 2) else {
        return;
    };
    let logarithms: f64 = ratios.iter().map(|ratio| ratio.factor.ln()).sum();
    let mean = (logarithms / ratios.len() as f64).exp();
    let worse = ratios.iter().filter(|ratio| ratio.factor > TOLERANCE);
    let worst = ratios.iter().take(NAMED);
    let worst = worst.map(|ratio| format!("{} {:.2}", ratio.name, ratio.factor));
    let worst: Vec<String> = worst.collect();
    let _ = writeln!(
        text,
        "{title}: mean {mean:.3}, median {:.3} of {}; {} above {TOLERANCE}; the worst: {}",
        median.factor,
        ratios.len(),
        worse.count(),
        worst.join(", ")
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reports::executed::Executed;

    fn measured(stage: &'static str, cycles: f64, warps: u64) -> Measured {
        Measured {
            program: Program {
                shader: "v".to_owned(),
                stage,
                pipelines: vec!["p".to_owned()],
            },
            statistics: Statistics {
                instructions: 8,
                cycles,
                threads: 1,
                ..Statistics::default()
            },
            code: vec![1, 2],
            ran: Some(Ran {
                warps,
                executed: Executed::default(),
            }),
            took: (stage == "position").then_some(Duration::from_millis(2)),
        }
    }

    #[test]
    fn ratios_are_by_stage_and_the_worst_is_named() {
        let text = r#"{"s": {
            "v/position": {"plain": {"instructions": 10, "load_store": 4.0, "threads": 2}},
            "v/varying": {"plain": {"instructions": 4, "load_store": 1.0, "threads": 1}}}}"#;
        let peers = Peers::read("peers.json", text.as_bytes()).unwrap();
        let mut table = Table::default();
        let programs = vec![measured("position", 2.0, 3), measured("varying", 2.0, 3)];
        table.add("s", programs, &peers, false);
        let text = table.text();
        for line in [
            "position: cycles / PanVK: mean 0.500, median 0.500 of 1; 0 above 1.05; the worst: s v position 0.50",
            "varying: cycles / PanVK: mean 2.000, median 2.000 of 1; 1 above 1.05; the worst: s v varying 2.00",
            "half the threads of PanVK's: s v position",
            "compile time: median 2.00 ms of 1 pipelines; the longest: s 2.0",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert_eq!(table.json()["programs"][0]["panvk"]["instructions"], 10.0);
    }
}
