//! A scene, prepared: read, compiled and put into the form that is played.

use super::plan::{self, Contents, Limits};
use super::shaders::{self, Manner, Programs};
use super::verdict::Verdict;
use crate::runs::drawn_checks::Module;
use crate::runs::known_lines::KnownLines;
use eitri_descriptors::Arch;
use eitri_draw_scenes::Scene;
use eitri_drawing::Drawing;

/// A scene with what its drawing is made of.
pub(super) struct Prepared<'s> {
    pub(super) scene: &'s Scene,
    arch: Arch,
    contents: Contents,
    programs: Programs,
}

impl<'s> Prepared<'s> {
    /// Reads and compiles a scene.
    ///
    /// # Errors
    /// What becomes of it without being played.
    pub(super) fn new(scene: &'s Scene, arch: Arch, manner: Manner) -> Result<Self, Verdict> {
        if let Some(lack) = plan::lacks(scene, arch) {
            return Err(Verdict::Skipped(lack.to_string()));
        }
        let programs = shaders::compile(scene, manner)?;
        let contents = Contents::read(scene);
        let contents = contents.map_err(|error| Verdict::Failed(error.to_string()))?;
        Ok(Prepared {
            scene,
            arch,
            contents,
            programs,
        })
    }

    /// The modules of its programs.
    pub(super) fn modules(&self) -> &[Module] {
        &self.programs.modules
    }

    /// The lines of its programs.
    pub(super) fn lines(&self) -> KnownLines {
        KnownLines::of_all(self.programs.lines.iter())
    }

    /// The drawing.
    ///
    /// # Errors
    /// What becomes of the scene without being played.
    pub(super) fn drawing(&self, limits: Limits) -> Result<Drawing<'_>, Verdict> {
        let made = plan::drawing(
            self.scene,
            self.arch,
            &self.contents,
            &self.programs,
            limits,
        );
        made.map_err(|lack| Verdict::Skipped(lack.to_string()))
    }
}
