//! The files that a scene names, and what it expects.

use super::{Aspect, Image, SceneFile};
use crate::error::SceneError;
use crate::expectation::{Comparison, Expectation, Expected, Rule, Target};
use crate::format::ImageFormat;
use eitri_compute_cases::{Contents, FileError, hex};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Most bytes of a file, a buffer or a level: a slip of the finger should not fill the memory.
const MAX_BYTES: u64 = 256 << 20;

/// An expectation as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectEntry {
    image: Option<String>,
    #[serde(default)]
    aspect: Aspect,
    #[serde(default)]
    level: u32,
    #[serde(default)]
    layer: u32,
    #[serde(default = "super::one")]
    layers: u32,
    buffer: Option<String>,
    #[serde(default)]
    offset: u64,
    bytes: Option<u64>,
    query: Option<String>,
    #[serde(default)]
    from: String,
    data: Option<Contents>,
    sha256: Option<Digest>,
    compare: CompareEntry,
}

#[derive(Deserialize)]
struct Digest(#[serde(deserialize_with = "hex")] Vec<u8>);

/// A comparison as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CompareEntry {
    rule: RuleName,
    max: Option<f64>,
    abs: Option<f64>,
    rel: Option<f64>,
    rmse: Option<f64>,
    #[serde(default)]
    allow_pixels: usize,
    mask: Option<Contents>,
    /// For people.
    #[serde(default, rename = "why")]
    _why: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RuleName {
    Exact,
    Units,
    Float,
    Rmse,
}

impl CompareEntry {
    /// The rule; or what it lacks.
    fn rule(&self) -> Result<Rule, String> {
        let max = self.max.unwrap_or(0.0);
        Ok(match self.rule {
            RuleName::Exact => Rule::Exact,
            RuleName::Units => Rule::Units { max },
            RuleName::Float => Rule::Float {
                abs: self.abs.unwrap_or(0.0),
                rel: self.rel.unwrap_or(0.0),
            },
            RuleName::Rmse => Rule::Rmse {
                rmse: self.rmse.ok_or("rule `rmse` needs `rmse`")?,
                max,
            },
        })
    }
}

/// A place of results, and what its contents are.
struct Place {
    target: Target,
    bytes: u64,
    format: Option<ImageFormat>,
    extent: [u32; 2],
}

impl Image {
    /// Width, height and depth of a level.
    pub fn extent_of(&self, level: u32) -> [u32; 3] {
        self.extent
            .map(|side| side.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Bytes of layers of a level, as files have them; or why there are none.
    pub(super) fn bytes_of(&self, aspect: Aspect, level: u32, layers: u32) -> Result<u64, String> {
        let format = self.format_of(aspect)?;
        let layer = format.bytes_of(self.extent_of(level));
        Ok(layer
            .saturating_mul(layers.into())
            .saturating_mul(self.samples.into()))
    }

    /// The format of an aspect; or why there is none.
    pub(super) fn format_of(&self, aspect: Aspect) -> Result<ImageFormat, String> {
        ImageFormat::of(&self.format, aspect).ok_or_else(|| {
            let (name, format) = (&self.name, &self.format);
            format!("image {name}: format {format} is not known, or has no aspect {aspect:?}")
        })
    }
}

/// Reads what a scene file names.
pub(super) struct Reader<'p> {
    path: &'p Path,
    /// The files; if not given, they are in the folder of the path.
    files: Option<&'p BTreeMap<String, Vec<u8>>>,
}

impl<'p> Reader<'p> {
    pub(super) fn new(path: &'p Path) -> Reader<'p> {
        Reader { path, files: None }
    }

    /// Reads these files, if they are given, in place of those of the folder.
    pub(super) fn with(self, files: Option<&'p BTreeMap<String, Vec<u8>>>) -> Reader<'p> {
        Reader { files, ..self }
    }

    pub(super) fn inconsistent(&self, what: String) -> SceneError {
        let path = self.path.to_owned();
        FileError::Inconsistent { path, what }.into()
    }

    /// The bytes of a file of any name.
    pub(super) fn file(&self, path: &Path) -> Result<Vec<u8>, SceneError> {
        let unreadable = |cause| FileError::Read {
            path: path.to_owned(),
            cause,
        };
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        if bytes.len() as u64 > MAX_BYTES {
            let text = format!("it has more than {MAX_BYTES} bytes");
            return Err(unreadable(std::io::Error::other(text)).into());
        }
        Ok(bytes)
    }

    /// The bytes of a file in the scene's folder.
    pub(super) fn named(&self, name: &str) -> Result<Vec<u8>, SceneError> {
        if let Some(files) = self.files {
            let file = files.get(name).cloned();
            return file.ok_or_else(|| self.inconsistent(format!("it has no file `{name}`")));
        }
        let file = PathBuf::from(name);
        let plain = matches!(
            file.components().collect::<Vec<_>>()[..],
            [Component::Normal(_)]
        );
        if !plain {
            return Err(self.inconsistent(format!("`{name}` is not a file of the scene's folder")));
        }
        let folder = self.path.parent().unwrap_or(Path::new(""));
        self.file(&folder.join(file))
    }

    /// Contents of so many bytes.
    pub(super) fn contents(
        &self,
        contents: &Contents,
        bytes: u64,
        of: &str,
    ) -> Result<Vec<u8>, SceneError> {
        if bytes > MAX_BYTES {
            let what = format!("{of} has {bytes} bytes; the most is {MAX_BYTES}");
            return Err(self.inconsistent(what));
        }
        if let Contents::File(name) = contents {
            let found = self.named(name)?;
            if found.len() as u64 != bytes {
                let found = found.len();
                let what = format!("{name} has {found} bytes, but {of} has {bytes}");
                return Err(self.inconsistent(what));
            }
            return Ok(found);
        }
        contents
            .bytes(bytes as usize)
            .map_err(|cause| SceneError::Contents {
                path: self.path.to_owned(),
                of: of.to_owned(),
                cause,
            })
    }

    /// Level 0 of an image, whatever is in it.
    pub(super) fn picture(&self, scene: &SceneFile, name: &str) -> Result<Expectation, SceneError> {
        let wrong = |what| self.inconsistent(what);
        let place = image_place(scene, name, (Aspect::Color, 0), (0, 1)).map_err(wrong)?;
        Ok(Expectation {
            target: place.target,
            from: String::new(),
            comparison: Comparison {
                rule: Rule::Exact,
                allow_pixels: 0,
                mask: None,
            },
            expected: Expected::Anything,
            bytes: place.bytes,
            format: place.format,
            extent: place.extent,
        })
    }

    pub(super) fn expectation(
        &self,
        scene: &SceneFile,
        entry: ExpectEntry,
    ) -> Result<Expectation, SceneError> {
        let place = place(scene, &entry).map_err(|what| self.inconsistent(what))?;
        let of = place.target.to_string();
        let expected = match (&entry.data, entry.sha256) {
            (Some(data), None) => Expected::Bytes(self.contents(data, place.bytes, &of)?),
            (None, Some(digest)) => {
                let digest = <[u8; 32]>::try_from(digest.0);
                let wrong = |_| self.inconsistent(format!("{of}: `sha256` needs 32 bytes"));
                Expected::Digest(digest.map_err(wrong)?)
            }
            _ => {
                let what = format!("{of}: one of `data` and `sha256` is needed");
                return Err(self.inconsistent(what));
            }
        };
        let rule = entry.compare.rule();
        let rule = rule.map_err(|what| self.inconsistent(format!("{of}: {what}")))?;
        let by_bytes = rule == Rule::Exact
            || place.format.as_ref().is_some_and(|format| {
                let texel = vec![0; format.bytes()];
                format.components(&texel).is_some()
            });
        if !by_bytes {
            return Err(self.inconsistent(format!("{of} has no texels that a rule could compare")));
        }
        if rule != Rule::Exact && matches!(expected, Expected::Digest(_)) {
            return Err(self.inconsistent(format!("{of}: a digest is compared `exact`")));
        }
        let mask = match &entry.compare.mask {
            Some(mask) => {
                let texel = place.format.as_ref().map_or(1, ImageFormat::bytes).max(1);
                let bytes = place.bytes / texel as u64;
                Some(self.contents(mask, bytes, &format!("the mask of {of}"))?)
            }
            None => None,
        };
        Ok(Expectation {
            target: place.target,
            from: entry.from,
            comparison: Comparison {
                rule,
                allow_pixels: entry.compare.allow_pixels,
                mask,
            },
            expected,
            bytes: place.bytes,
            format: place.format,
            extent: place.extent,
        })
    }
}

/// The place that an expectation names; or what is wrong with it.
fn place(scene: &SceneFile, entry: &ExpectEntry) -> Result<Place, String> {
    match (&entry.image, &entry.buffer, &entry.query) {
        (Some(name), None, None) => image_place(
            scene,
            name,
            (entry.aspect, entry.level),
            (entry.layer, entry.layers),
        ),
        (None, Some(name), None) => {
            let buffer = scene
                .buffer(name)
                .ok_or_else(|| format!("no buffer is called `{name}`"))?;
            let rest = buffer.bytes.checked_sub(entry.offset);
            let bytes = rest.map(|rest| entry.bytes.unwrap_or(rest).min(rest + 1));
            match (rest, bytes) {
                (Some(rest), Some(bytes)) if bytes <= rest => Ok(Place {
                    target: Target::Buffer {
                        buffer: name.clone(),
                        offset: entry.offset,
                        bytes,
                    },
                    bytes,
                    format: None,
                    extent: [u32::MAX, 1],
                }),
                _ => Err(format!("buffer {name} ends before what is expected of it")),
            }
        }
        (None, None, Some(name)) => {
            let query = scene
                .query(name)
                .ok_or_else(|| format!("no query is called `{name}`"))?;
            Ok(Place {
                target: Target::Query {
                    query: name.clone(),
                },
                bytes: 8 * query.counters.len().max(1) as u64,
                format: None,
                extent: [u32::MAX, 1],
            })
        }
        _ => Err("an expectation names one of `image`, `buffer` and `query`".to_owned()),
    }
}

/// The place of layers of a level of an image.
fn image_place(
    scene: &SceneFile,
    name: &str,
    (aspect, level): (Aspect, u32),
    (layer, layers): (u32, u32),
) -> Result<Place, String> {
    let image = scene
        .image(name)
        .ok_or_else(|| format!("no image is called `{name}`"))?;
    let end = layer.saturating_add(layers);
    if level >= image.levels || end > image.layers {
        return Err(format!(
            "image {name} has no level {level} of layers up to {end}"
        ));
    }
    let [width, height, _] = image.extent_of(level);
    Ok(Place {
        target: Target::Image {
            image: name.to_owned(),
            aspect,
            level,
            layer,
            layers,
        },
        bytes: image.bytes_of(aspect, level, layers)?,
        format: Some(image.format_of(aspect)?),
        extent: [width, height],
    })
}
