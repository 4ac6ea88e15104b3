//! Pictures of the tile buffer and of attachments.
use eitri_model::Attachments;

use super::DriverLevel;
use crate::picture::{self, Picture};

/// What of a tile or of attachments a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plane {
    Color(usize),
    Depth,
    Stencil,
}

impl Plane {
    /// The plane of a name: `color` or `color2`, `depth`, `stencil`.
    fn of(name: &str) -> Option<Plane> {
        match name {
            "color" => Some(Plane::Color(0)),
            "depth" => Some(Plane::Depth),
            "stencil" => Some(Plane::Stencil),
            _ => name.strip_prefix("color")?.parse().ok().map(Plane::Color),
        }
    }
}

impl DriverLevel {
    pub(super) fn picture_names(&self) -> Vec<String> {
        let mut names = vec![];
        if let Some(tile) = self.gpu.tile() {
            names.push("tile".to_owned());
            let targets = tile.contents([0; 2], 0).map_or(0, |held| held.colors.len());
            names.extend((0..targets).map(|target| format!("tile.color{target}")));
            names.extend(["tile.depth", "tile.stencil"].map(str::to_owned));
        }
        if let Some(attachments) = &self.attachments {
            let shown = |name: &String| self.attachment(attachments, name).is_some();
            let colors = (0..attachments.targets()).map(|target| format!("color{target}"));
            let others = ["depth", "stencil"].map(str::to_owned);
            names.extend(colors.chain(others).filter(shown));
        }
        names
    }

    pub(super) fn picture_of(&self, name: &str, sample: u32) -> Option<Picture> {
        match name.strip_prefix("tile") {
            Some("") => self.tile_picture(Plane::Color(0), sample),
            Some(plane) => self.tile_picture(Plane::of(plane.strip_prefix('.')?)?, sample),
            None => {
                let attachments = self.attachments.as_ref()?;
                // Memory is shown by its first sample.
                (sample == 0)
                    .then(|| self.attachment_picture(attachments, name))
                    .flatten()
            }
        }
    }

    fn tile_picture(&self, plane: Plane, sample: u32) -> Option<Picture> {
        let tile = self.gpu.tile()?;
        let held = tile.contents([0; 2], sample)?;
        if let Plane::Color(target) = plane {
            held.colors.get(target)?;
        }
        Some(Picture::of(tile.size(), |at| {
            let held = tile.contents(at, sample)?;
            Some(match plane {
                Plane::Color(target) => picture::of_color(*held.colors.get(target)?),
                Plane::Depth => picture::of_depth(held.depth),
                Plane::Stencil => picture::of_stencil(held.stencil),
            })
        }))
    }

    /// The first pixel of an attachment, which shows whether it is in memory.
    fn attachment(&self, attachments: &Attachments, name: &str) -> Option<[u8; 4]> {
        self.attachment_pixel(attachments, Plane::of(name)?, [0; 2])
    }

    fn attachment_pixel(
        &self,
        attachments: &Attachments,
        plane: Plane,
        at: [u32; 2],
    ) -> Option<[u8; 4]> {
        let (gpu, mut memory) = (&self.gpu, self.memory.reader());
        Some(match plane {
            Plane::Color(target) => {
                picture::of_color(attachments.color(gpu, &mut memory, target, at)?)
            }
            Plane::Depth => picture::of_depth(attachments.depth(gpu, &mut memory, at)?),
            Plane::Stencil => picture::of_stencil(attachments.stencil(gpu, &mut memory, at)?),
        })
    }

    fn attachment_picture(&self, attachments: &Attachments, name: &str) -> Option<Picture> {
        self.attachment(attachments, name)?;
        let plane = Plane::of(name)?;
        Some(Picture::of(attachments.size(), |at| {
            self.attachment_pixel(attachments, plane, at)
        }))
    }
}
