//! Scenes of seeds (`eitri-random-scenes`), in a folder, with what lavapipe draws as what is expected of them.

use super::lavapipe;
use crate::outcome::{Failure, FileError};
use crate::output::whole_file;
use miette::Diagnostic;
use serde_json::Value;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error, Diagnostic)]
#[error("lavapipe did not draw {name}: {line}")]
struct NotDrawn {
    name: String,
    line: String,
}

/// A scene that was written.
struct Written {
    name: String,
    folder: PathBuf,
    scene: Value,
}

impl Written {
    /// Writes the scene of a seed, which expects nothing yet, and the files that it names.
    fn new(folder: &Path, seed: u64) -> Result<Written, Failure> {
        let name = eitri_random_scenes::name(seed);
        let folder = folder.join(&name);
        let scene = eitri_random_scenes::scene(seed);
        for (file, bytes) in eitri_random_scenes::files(&scene) {
            whole_file::put(&folder.join(file), bytes)?;
        }
        let written = Written {
            name,
            folder,
            scene,
        };
        written.put()?;
        Ok(written)
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.name))
    }

    fn put(&self) -> Result<(), Failure> {
        let text = format!("{:#}\n", self.scene);
        whole_file::put(&self.path(), text.as_bytes())
    }

    /// Takes what was recorded as what is expected.
    fn expect(&mut self, recorded: &Path, printed: &str) -> Result<(), Failure> {
        let files = eitri_random_scenes::expect_files(&mut self.scene);
        for (number, file) in files.iter().enumerate() {
            let from = recorded.join(format!("{}-{number}.bin", self.name));
            let Ok(bytes) = std::fs::read(&from) else {
                let named = format!(" {}: ", self.name);
                let line = printed.lines().find(|line| line.contains(&named));
                let (name, line) = (
                    self.name.clone(),
                    line.unwrap_or("nothing came out").to_owned(),
                );
                return Err(Failure::check(NotDrawn { name, line }));
            };
            whole_file::put(&self.folder.join(file), &bytes)?;
        }
        self.put()
    }
}

/// Writes the scenes of seeds into a folder, each in one of its own.
///
/// # Errors
/// If lavapipe is missing or does not draw one of them, or a file can't be written.
pub(crate) fn write(folder: &Path, seeds: Range<u64>) -> Result<(), Failure> {
    let scenes = seeds.map(|seed| Written::new(folder, seed));
    let mut scenes = scenes.collect::<Result<Vec<_>, _>>()?;
    let recorded = tempfile::tempdir()
        .map_err(|cause| Failure::missing(FileError::at("make", "a folder", cause)))?;
    let files: Vec<PathBuf> = scenes.iter().map(Written::path).collect();
    let options = [
        OsStr::new("--record"),
        recorded.path().as_os_str(),
        OsStr::new("--draw"),
    ];
    let printed = lavapipe::run(&options, &files)?;
    for scene in &mut scenes {
        scene.expect(recorded.path(), &printed)?;
    }
    Ok(())
}
