//! The shaders of the drawn scenes: each becomes IR in the lowered form, or is refused for a feature that has a name.
use std::path::PathBuf;

use eitri_shaderc::ir::verify::lowered;
use eitri_shaderc::{Options, ShaderStage, front_end};

/// The features that shaders may be refused for: what the machine lacks, and what is not done yet.
const LACKING: &[&str] = &["shaderClipDistance", "multiview", "InputAttachment"];

/// All modules of vertex and fragment shaders of the scenes, if those are there.
fn modules() -> Vec<(PathBuf, ShaderStage)> {
    let Some(scenes) = eitri_testdata::shared("scenes") else {
        return vec![];
    };
    let folders =
        std::fs::read_dir(&scenes).unwrap_or_else(|error| panic!("{}: {error}", scenes.display()));
    let folders = folders.filter_map(|folder| Some(folder.ok()?.path()));
    let files = folders.filter_map(|folder| std::fs::read_dir(folder).ok());
    let files = files.flatten().filter_map(|file| Some(file.ok()?.path()));
    let modules = files.filter_map(|file| {
        let name = file.file_name()?.to_str()?;
        if name.ends_with(".vert.spv") {
            Some((file, ShaderStage::Vertex))
        } else if name.ends_with(".frag.spv") {
            Some((file, ShaderStage::Fragment))
        } else {
            None
        }
    });
    let mut modules: Vec<_> = modules.collect();
    modules.sort_by(|a, b| a.0.cmp(&b.0));
    modules
}

#[test]
fn all_shaders_are_lowered_or_refused_by_name() {
    let mut refused = vec![];
    for (path, stage) in modules() {
        let spirv =
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let options = Options {
            stage,
            check: true,
            ..Options::default()
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match front_end(&spirv, &options) {
            Ok(made) => {
                if let Err(violations) = lowered(&made.function, &options.target) {
                    let rules: Vec<String> = violations.iter().map(ToString::to_string).collect();
                    panic!("{name}:\n{}\n{}", rules.join("\n"), made.function);
                }
            }
            Err(errors) => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                refused.push(format!("{name}: {}", errors.join("; ")));
            }
        }
    }
    let unnamed = refused
        .iter()
        .filter(|line| !LACKING.iter().any(|name| line.contains(name)));
    let unnamed: Vec<&str> = unnamed.map(String::as_str).collect();
    assert!(
        unnamed.is_empty(),
        "refused for something else:\n{}",
        unnamed.join("\n")
    );
}
