//! The case file as it is written, and the files that it names.

use super::{Image, MAX_BYTES, Output, Place, Resource, ResourceKind};
use crate::compare::Comparison;
use crate::contents::{Contents, hex};
use crate::element::Element;
use crate::error::{CaseError, FileError};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Deserialize)]
pub(super) struct FormatOnly {
    pub(super) format: u64,
}

/// The case file as it is written.
#[derive(Deserialize)]
pub(super) struct CaseFile {
    pub(super) name: String,
    #[serde(default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) description: String,
    pub(super) shader: ShaderFiles,
    pub(super) local_size: [u32; 3],
    pub(super) groups: [u32; 3],
    #[serde(deserialize_with = "hex")]
    pub(super) push_constants: Vec<u8>,
    pub(super) spec_constants: Vec<SpecConstant>,
    pub(super) bindings: Vec<BindingEntry>,
}

#[derive(Deserialize)]
pub(super) struct ShaderFiles {
    pub(super) spirv: String,
    pub(super) spirv_opt: String,
    pub(super) entry: String,
}

#[derive(Deserialize)]
pub(super) struct SpecConstant {
    pub(super) id: u32,
    pub(super) value: u32,
}

#[derive(Deserialize)]
pub(super) struct BindingEntry {
    set: u32,
    binding: u32,
    #[serde(default)]
    element: u32,
    #[serde(default)]
    pub(super) name: String,
    pub(super) kind: ResourceKind,
    bytes: u64,
    init: Contents,
    output: bool,
    expected: Option<String>,
    compare: Option<Comparison>,
    pub(super) format: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
}

impl BindingEntry {
    fn place(&self) -> Place {
        Place {
            set: self.set,
            binding: self.binding,
            element: self.element,
        }
    }

    fn label(&self) -> String {
        format!("{} ({})", self.name, self.place())
    }
}

/// Reads what a case file names.
pub(super) struct Reader<'a> {
    pub(super) path: &'a Path,
    pub(super) folder: &'a Path,
}

impl Reader<'_> {
    fn inconsistent(&self, what: String) -> CaseError {
        let path = self.path.to_owned();
        FileError::Inconsistent { path, what }.into()
    }

    /// What can be said without reading more files.
    pub(super) fn check(&self, file: &CaseFile) -> Result<(), CaseError> {
        let mut places = BTreeSet::new();
        let mut total = 0u64;
        for binding in &file.bindings {
            if !places.insert(binding.place()) {
                let what = format!("binding {} stands there twice", binding.place());
                return Err(self.inconsistent(what));
            }
            total = total.saturating_add(binding.bytes);
        }
        if total > MAX_BYTES {
            let what = format!("the bindings have {total} bytes; the most is {MAX_BYTES}");
            return Err(self.inconsistent(what));
        }
        for (what, sizes) in [("local_size", file.local_size), ("groups", file.groups)] {
            if sizes.contains(&0) {
                return Err(self.inconsistent(format!("{what} {sizes:?} has a 0")));
            }
        }
        Ok(())
    }

    pub(super) fn resource(&self, entry: &BindingEntry) -> Result<Resource, CaseError> {
        let before = match &entry.init {
            Contents::File(name) => self.contents_file(entry, name)?,
            // `check` has bounded the size.
            rule => rule
                .bytes(entry.bytes as usize)
                .map_err(|cause| CaseError::Contents {
                    path: self.path.to_owned(),
                    binding: entry.label(),
                    cause,
                })?,
        };
        Ok(Resource {
            place: entry.place(),
            name: entry.name.clone(),
            kind: entry.kind,
            image: self.image(entry)?,
            before,
            output: self.output(entry)?,
        })
    }

    fn output(&self, entry: &BindingEntry) -> Result<Option<Output>, CaseError> {
        let error = |what: &str| Err(self.inconsistent(format!("{}: {what}", entry.label())));
        match (entry.output, &entry.expected, &entry.compare) {
            (false, None, None) => Ok(None),
            (false, ..) => error("it is no output, but has `expected` or `compare`"),
            (true, Some(file), Some(comparison)) => {
                let expected = self.contents_file(entry, file)?;
                let comparison = typed(*comparison, entry.format.as_deref());
                Ok(Some(Output {
                    expected,
                    comparison,
                }))
            }
            (true, ..) => error("an output needs `expected` and `compare`"),
        }
    }

    fn image(&self, entry: &BindingEntry) -> Result<Option<Image>, CaseError> {
        let wanted = match entry.kind {
            ResourceKind::StorageBuffer | ResourceKind::UniformBuffer => return Ok(None),
            ResourceKind::StorageImage | ResourceKind::CombinedImageSampler => 2,
            ResourceKind::UniformTexelBuffer | ResourceKind::StorageTexelBuffer => 1,
        };
        let error = |what: String| Err(self.inconsistent(format!("{}: {what}", entry.label())));
        let Some(format) = &entry.format else {
            return error("it needs a `format`".to_owned());
        };
        let Some(texel_bytes) = texel_bytes(format) else {
            return error(format!("format `{format}` is not known"));
        };
        let (width, height) = match (wanted, entry.width, entry.height) {
            (1, ..) => (
                u32::try_from(entry.bytes / texel_bytes).unwrap_or(u32::MAX),
                1,
            ),
            (_, Some(width), Some(height)) => (width, height),
            _ => return error("an image needs `width` and `height`".to_owned()),
        };
        let texels = u64::from(width) * u64::from(height);
        if texels.checked_mul(texel_bytes) != Some(entry.bytes) {
            let bytes = entry.bytes;
            return error(format!(
                "{width} times {height} texels of {format} are not {bytes} bytes"
            ));
        }
        Ok(Some(Image {
            format: format.clone(),
            width,
            height,
        }))
    }

    fn contents_file(&self, entry: &BindingEntry, name: &str) -> Result<Vec<u8>, CaseError> {
        let path = self.folder.join(name);
        let bytes = read_bounded(&path, MAX_BYTES)?;
        if bytes.len() as u64 != entry.bytes {
            return Err(CaseError::FileSize {
                path,
                case: self.path.to_owned(),
                binding: entry.label(),
                bytes: bytes.len() as u64,
                wanted: entry.bytes,
            });
        }
        Ok(bytes)
    }
}

/// Bytes of a texel, and what its components are to people; a row a format that cases use.
#[rustfmt::skip]
const FORMATS: &[(&str, u64, Element)] = &[
    ("r8",      1,  Element::U8),
    ("rg8",     2,  Element::U8),
    ("rgba8",   4,  Element::U8),
    ("r8ui",    1,  Element::U8),
    ("r8i",     1,  Element::I8),
    ("rgba8ui", 4,  Element::U8),
    ("rgba8i",  4,  Element::I8),
    ("r16ui",   2,  Element::U16),
    ("r16i",    2,  Element::I16),
    ("r16f",    2,  Element::F16),
    ("rg16f",   4,  Element::F16),
    ("rgba16f", 8,  Element::F16),
    ("r32ui",   4,  Element::U32),
    ("rg32ui",  8,  Element::U32),
    ("rgba32ui", 16, Element::U32),
    ("r32i",    4,  Element::I32),
    ("rg32i",   8,  Element::I32),
    ("rgba32i", 16, Element::I32),
    ("r32f",    4,  Element::F32),
    ("rg32f",   8,  Element::F32),
    ("rgba32f", 16, Element::F32),
];

fn texel_bytes(format: &str) -> Option<u64> {
    let row = FORMATS.iter().find(|(name, ..)| *name == format)?;
    Some(row.1)
}

/// The comparison with the element type of the format where the rule has none.
fn typed(comparison: Comparison, format: Option<&str>) -> Comparison {
    let row = FORMATS.iter().find(|(name, ..)| Some(*name) == format);
    match (comparison.rule, row) {
        (crate::Rule::Exact { element: None }, Some((.., element))) => Comparison {
            rule: crate::Rule::Exact {
                element: Some(*element),
            },
            ..comparison
        },
        _ => comparison,
    }
}

/// The bytes of a file that has at most `limit`.
pub(super) fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    use std::io::Read;
    let error = |cause| FileError::Read {
        path: path.to_owned(),
        cause,
    };
    let file = std::fs::File::open(path).map_err(error)?;
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(error)?;
    if bytes.len() as u64 > limit {
        return Err(error(std::io::Error::other(format!(
            "it has more than {limit} bytes"
        ))));
    }
    Ok(bytes)
}
