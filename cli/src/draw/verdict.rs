//! What became of a scene: what its expectations say of the results.

use eitri_draw_scenes::Scene;

/// What became of a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All results are as expected.
    Passed,
    /// They are not, or something went wrong; why.
    Failed(String),
    /// The scene can't be drawn yet, or not on this GPU; why.
    Skipped(String),
}

/// Compares the results of a scene, one for each of its expectations, with these.
pub(super) fn check(scene: &Scene, results: &[Vec<u8>], diagnoses: &[String]) -> Verdict {
    let pairs = scene.expect.iter().zip(results);
    let differences = pairs.filter_map(|(expectation, got)| expectation.check(got).err());
    let mut wrong: Vec<String> = differences.map(|it| it.to_string()).take(1).collect();
    if results.len() != scene.expect.len() {
        let (found, wanted) = (results.len(), scene.expect.len());
        wrong.push(format!("{found} results, {wanted} are expected"));
    }
    // Right results do not make a misuse of the GPU good.
    wrong.extend_from_slice(diagnoses);
    match wrong.is_empty() {
        true => Verdict::Passed,
        false => Verdict::Failed(wrong.join("; ")),
    }
}
