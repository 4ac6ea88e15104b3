//! What PanVK's programs executed while they drew a scene on the model (`eitri linux --programs-file`), by stage.
//!
//! A program in memory has no name. It is the program of `peers.json` whose figures are closest to those of the code that ran, if
//! they are close: what was skipped did not run, and the features of the device differed a little. All others are the driver's own (copies, clears, what compares results) and count nowhere: a program of the scene that
//! was not recognised makes PanVK's sum smaller, never ours.

use super::peers::{Peers, PeersError, Units};
use serde_json::Value;

/// Differences of counts that a program may have at least.
const CLOSE: f64 = 4.0;
/// Differences that it may have, as a part of its instructions.
const NEAR: f64 = 0.35;

/// Counted by unit, in the order of [`Units`].
const UNITS: [&str; 6] = ["fma", "cvt", "sfu", "load_store", "texture", "varying"];

/// What was executed for each scene; nothing where there is no file.
#[derive(Debug, Default)]
pub(crate) struct PeerExecuted(Value);

/// Stages whose costs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Position and varyings.
    Vertex,
    /// With blend shaders.
    Fragment,
    Compute,
}

impl Part {
    pub(crate) const ALL: [Part; 3] = [Part::Vertex, Part::Fragment, Part::Compute];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Part::Vertex => "vertex",
            Part::Fragment => "fragment",
            Part::Compute => "compute",
        }
    }

    /// The part of a program, by its stage.
    pub(crate) fn of_stage(stage: &str) -> Option<Part> {
        match stage {
            "position" | "position with points" | "varying" => Some(Part::Vertex),
            "fragment" => Some(Part::Fragment),
            "compute" => Some(Part::Compute),
            _ => None,
        }
    }

    /// The part of an entry of `peers.json`; none of what is the driver's own.
    fn of_entry(key: &str) -> Option<Part> {
        let key = key.split('#').next().unwrap_or(key);
        match key {
            "driver/blend" => Some(Part::Fragment),
            "driver/own" => None,
            _ => Part::of_stage(key.rsplit('/').next()?),
        }
    }
}

/// A program of which figures are known.
struct Known {
    part: Option<Part>,
    /// A blend shader, or one with it.
    blend: bool,
    instructions: f64,
    units: [f64; 6],
}

impl PeerExecuted {
    /// Reads a file; `path` is for messages.
    pub(crate) fn read(path: &str, text: &[u8]) -> Result<PeerExecuted, PeersError> {
        let path = path.to_owned();
        match serde_json::from_slice::<Value>(text) {
            Ok(file) if file["scenes"].is_object() => Ok(PeerExecuted(file)),
            Ok(_) => Err(PeersError::NotByScene { path }),
            Err(cause) => Err(PeersError::Json { path, cause }),
        }
    }

    /// Cycles that the peer executed for a part of a scene; none where nothing of it ran.
    pub(crate) fn cycles(
        &self,
        peers: &Peers,
        scene: &str,
        part: Part,
        optimised: bool,
    ) -> Option<f64> {
        let programs = self.0["scenes"].get(scene)?.as_array()?;
        let known = known(peers.scene(scene)?, optimised);
        let mut sum = 0.0;
        for program in programs {
            let code = units(&program["code"]);
            let ran = program["code"]["instructions"].as_f64()?;
            let own = closest(&known, ran, code).and_then(|known| known.part);
            if own == Some(part) {
                sum += Units::of_counts(units(&program["executed"])).cycles();
            }
        }
        (sum > 0.0).then_some(sum)
    }
}

/// Programs of a scene and those of the driver.
fn known(scene: &Value, optimised: bool) -> Vec<Known> {
    let variant = if optimised { "opt" } else { "plain" };
    let mut all = Vec::new();
    for (key, entry) in scene.as_object().into_iter().flatten() {
        let figures = match entry.as_array() {
            Some(list) => list.iter().collect(),
            None => vec![&entry[variant]],
        };
        for figures in figures {
            let Some(instructions) = figures["instructions"].as_f64() else {
                continue;
            };
            let units = match figures["by_unit"].as_object() {
                Some(_) => units(&figures["by_unit"]),
                None => Units::counts_of(figures),
            };
            all.push(Known {
                part: Part::of_entry(key),
                blend: key.starts_with("driver/blend"),
                instructions,
                units,
            });
        }
    }
    let with_blend = with_blend(&all);
    all.extend(with_blend);
    all
}

/// Fragment programs with a blend shader each: one goes on to the other, and no end stands between.
fn with_blend(known: &[Known]) -> Vec<Known> {
    let of = |blend: bool| {
        let fragments = known.iter();
        fragments.filter(move |it| it.part == Some(Part::Fragment) && it.blend == blend)
    };
    let pairs = of(false).flat_map(|fragment| of(true).map(move |blend| (fragment, blend)));
    let joined = pairs.map(|(fragment, blend)| {
        let mut units = fragment.units;
        for (own, other) in units.iter_mut().zip(blend.units) {
            *own += other;
        }
        Known {
            part: fragment.part,
            blend: true,
            instructions: fragment.instructions + blend.instructions,
            units,
        }
    });
    joined.collect()
}

fn units(counts: &Value) -> [f64; 6] {
    UNITS.map(|name| counts[name].as_f64().unwrap_or(0.0))
}

/// The program whose figures differ least from those of the code that ran, by at most so many, or by that part of its instructions.
fn closest(known: &[Known], instructions: f64, code: [f64; 6]) -> Option<&Known> {
    let distance = |known: &Known| {
        let units = known.units.iter().zip(code);
        let units: f64 = units.map(|(all, ran)| (all - ran).abs()).sum();
        // What one of them differs by is in the other as well.
        (known.instructions - instructions).abs().max(units)
    };
    let fitting = known
        .iter()
        .filter(|known| distance(known) <= f64::max(CLOSE, NEAR * known.instructions));
    fitting.min_by(|a, b| {
        let own_last = |known: &Known| known.part.is_none();
        let order = distance(a).total_cmp(&distance(b));
        order.then(own_last(a).cmp(&own_last(b)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEERS: &str = r#"{"s": {
        "v/position": {"plain": {"instructions": 9, "by_unit": {"fma": 4, "load_store": 2}}},
        "f/fragment#1": {"plain": {"instructions": 5, "by_unit": {"cvt": 2, "varying": 8}}},
        "driver/own": [{"stage": "fragment", "instructions": 3, "texture": 0.125, "varying": 0.25}]}}"#;

    fn executed(programs: &str) -> PeerExecuted {
        let text = format!(r#"{{"scenes": {{"s": {programs}}}}}"#);
        PeerExecuted::read("e.json", text.as_bytes()).unwrap()
    }

    #[test]
    fn programs_are_known_by_their_code() {
        let peers = Peers::read("peers.json", PEERS.as_bytes()).unwrap();
        let executed = executed(
            r#"[{"code": {"instructions": 3, "varying": 8}, "executed": {"varying": 160}},
                {"code": {"instructions": 3, "texture": 1, "varying": 4}, "executed": {"varying": 4000}},
                {"code": {"instructions": 9, "fma": 4, "load_store": 2}, "executed": {"fma": 12, "load_store": 6}}]"#,
        );
        let of = |part| executed.cycles(&peers, "s", part, false);
        assert_eq!(of(Part::Fragment), Some(10.0));
        assert_eq!(of(Part::Vertex), Some(6.0));
        assert_eq!(of(Part::Compute), None);
    }

    #[test]
    fn code_that_is_no_program_of_the_scene_does_not_count() {
        let peers = Peers::read("peers.json", PEERS.as_bytes()).unwrap();
        let executed = executed(
            r#"[{"code": {"instructions": 30}, "executed": {"fma": 64}},
                {"code": {"instructions": 4, "fma": 1}, "executed": {"fma": 64}}]"#,
        );
        for part in Part::ALL {
            assert_eq!(executed.cycles(&peers, "s", part, false), None);
        }
    }
}
