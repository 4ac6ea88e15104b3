//! The shaders of the drawn scenes as machine code: each pair of a scene is compiled together, for the first generation and, the
//! scenes by turns, one of the others; with `--long` for all.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::kept_sums::Sums;
use eitri_program::{Arch, GraphicsProgram};
use eitri_shaderc::{Errors, Options, Target, compile_graphics};

/// The features that shaders may be refused for: what the machine lacks, and what is not done yet.
const LACKING: &[&str] = &["clip distances without a fragment shader"];

/// A scene's modules of vertex shaders, and of fragment shaders.
type Modules = (Vec<PathBuf>, Vec<PathBuf>);

/// By scene its modules, if the scenes are there.
fn scenes() -> BTreeMap<PathBuf, Modules> {
    let mut scenes: BTreeMap<PathBuf, Modules> = BTreeMap::new();
    let Some(folder) = eitri_testdata::shared("scenes") else {
        return scenes;
    };
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        paths.sort();
        paths
    };
    for scene in list(&folder) {
        let mut modules = Modules::default();
        for file in list(&scene) {
            let name = file.to_string_lossy();
            if name.ends_with(".vert.spv") {
                modules.0.push(file);
            } else if name.ends_with(".frag.spv") {
                modules.1.push(file);
            }
        }
        scenes.insert(scene, modules);
    }
    scenes
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compiles a pair; both programs fit each other. Gives both.
fn check(vertex: &[u8], fragment: Option<&[u8]>, options: &Options) -> Result<Vec<u8>, Errors> {
    let made = compile_graphics((vertex, options), fragment.map(|spirv| (spirv, options)))?;
    let first = GraphicsProgram::parse(&made.vertex.program).expect("the compiler made it");
    let mut both = made.vertex.program.clone();
    if let Some(fragment) = &made.fragment {
        both.extend(&fragment.program);
        let second = GraphicsProgram::parse(&fragment.program).expect("the compiler made it");
        assert_eq!(second.missing_input(&first), None);
        assert_eq!(first.record_bytes(), second.record_bytes());
    }
    Ok(both)
}

#[test]
fn the_shaders_of_all_scenes_have_code_on_every_generation() {
    let mut refused = vec![];
    let mut sums = Sums::default();
    let later = [Arch::V11, Arch::V12, Arch::V13];
    let all = eitri_testdata::long();
    for (turn, (scene, (vertex, fragment))) in scenes().into_iter().enumerate() {
        let by_turns =
            |(number, arch): (usize, Arch)| (all || number == turn % later.len()).then_some(arch);
        let later = later.into_iter().enumerate().filter_map(by_turns);
        for arch in core::iter::once(Arch::V10).chain(later) {
            let options = Options {
                target: Target::valhall(arch),
                check: true,
                ..Options::default()
            };
            for (nth, first) in vertex.iter().enumerate() {
                let spirv = read(first);
                let mut seconds: Vec<Option<Vec<u8>>> = vec![None];
                seconds.extend(fragment.iter().map(|path| Some(read(path))));
                for (number, second) in seconds.iter().enumerate() {
                    let made = check(&spirv, second.as_deref(), &options);
                    let name = scene.file_name().unwrap_or_default().to_string_lossy();
                    match made {
                        Ok(program) => sums.add(format!("{name} {nth} {number} {arch}"), &program),
                        Err(errors) => refused.push(format!("{arch} {name} {number}: {errors}")),
                    }
                }
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
    if !all && sums.any() {
        sums.compare("scenes.txt");
    }
}
