//! The compiler's passes by name, for `--print-after` and `--list-passes`.

use crate::nearest::suggestion;
use crate::outcome::Failure;
use eitri_shaderc::{pipeline, valhall};
use miette::Diagnostic;
use thiserror::Error;

#[derive(Debug, Error, Diagnostic)]
#[error("the compiler has no pass `{name}`")]
#[diagnostic(help("{help}"))]
struct UnknownPass {
    name: String,
    help: String,
}

/// Name and sentence of every pass, in two lists: over IR, and over machine IR.
fn passes() -> [(&'static str, Vec<(&'static str, &'static str)>); 2] {
    let ir = pipeline::PASSES.iter().map(|pass| (pass.name, pass.what));
    [
        ("over IR", ir.collect()),
        ("over machine IR", valhall::PASSES.to_vec()),
    ]
}

/// All passes, a line each.
pub(crate) fn list() -> String {
    let mut text = String::new();
    for (over, passes) in passes() {
        text.push_str(&format!("{over}:\n"));
        for (name, what) in passes {
            text.push_str(&format!("  {name:<20} {what}\n"));
        }
    }
    text
}

/// Refuses what names no pass.
pub(crate) fn check(names: &[String]) -> Result<(), Failure> {
    let known = || passes().into_iter().flat_map(|(_, passes)| passes);
    for name in names {
        if name != "all" && !known().any(|(pass, _)| pass == name) {
            let otherwise = "`eitri run --list-passes` names them";
            return Err(Failure::refused(UnknownPass {
                name: name.clone(),
                help: suggestion(name, known().map(|(pass, _)| pass), otherwise),
            }));
        }
    }
    Ok(())
}
