//! One case: a case file with everything that it names, read and checked (shared/kernels/README.md, "The case file").

use crate::compare::{Comparison, Mismatch};
use crate::contents::{Contents, hex};
use crate::element::Element;
use crate::error::{CaseError, Difference};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// Most bytes that a case may have in all of its buffers: a slip of the finger should not fill the memory.
const MAX_BYTES: u64 = 256 << 20;
/// Most bytes of a case file or a shader module.
const MAX_FILE: u64 = 64 << 20;
/// The version of the format.
const FORMAT: u64 = 1;

/// One dispatch of one shader, with its inputs and what it must write.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The case file.
    pub path: PathBuf,
    /// A short name.
    pub name: String,
    /// What kind of work it is, for people.
    pub kind: String,
    /// What it does, for people.
    pub description: String,
    /// Name of the entry point.
    pub entry: String,
    /// Workgroup size, after specialisation.
    pub local_size: [u32; 3],
    /// Workgroups of the dispatch.
    pub groups: [u32; 3],
    /// The bytes from offset 0.
    pub push_constants: Vec<u8>,
    /// 32-bit patterns by SpecId.
    pub spec_constants: BTreeMap<u32, u32>,
    /// A descriptor each.
    pub resources: Vec<Resource>,
    /// The module as the front end wrote it.
    spirv: PathBuf,
    /// The same, optimised.
    spirv_opt: PathBuf,
}

/// Which of a case's two modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// As the front end wrote it.
    Plain,
    /// After `spirv-opt -O`.
    Optimised,
}

/// Where a shader finds a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Element, of an array of descriptors; else 0.
    pub element: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.set, self.binding)?;
        match self.element {
            0 => Ok(()),
            element => write!(f, "[{element}]"),
        }
    }
}

/// What a resource is to the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum ResourceKind {
    /// A storage buffer.
    #[serde(rename = "ssbo")]
    StorageBuffer,
    /// A uniform buffer.
    #[serde(rename = "ubo")]
    UniformBuffer,
    /// An image without a sampler.
    #[serde(rename = "storage_image")]
    StorageImage,
    /// An image with a sampler: nearest, clamped to the edge, normalised coordinates.
    #[serde(rename = "combined_image_sampler")]
    CombinedImageSampler,
    /// A buffer of texels that are only read.
    #[serde(rename = "uniform_texel_buffer")]
    UniformTexelBuffer,
    /// A buffer of texels.
    #[serde(rename = "storage_texel_buffer")]
    StorageTexelBuffer,
}

/// How the bytes of an image or a texel buffer lie: tightly packed, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// In GLSL's words, such as `rgba8`.
    pub format: String,
    /// Texels of a row; of a texel buffer, of the whole.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// A resource of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Where.
    pub place: Place,
    /// Its name in the shader.
    pub name: String,
    /// What it is.
    pub kind: ResourceKind,
    /// Of images and texel buffers.
    pub image: Option<Image>,
    /// Contents before the dispatch: the range of the descriptor.
    pub before: Vec<u8>,
    /// What it must hold afterwards; none when it must not change.
    pub output: Option<Output>,
}

/// What an output must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Contents after the dispatch; as many bytes as before it.
    pub expected: Vec<u8>,
    /// How it is compared.
    pub comparison: Comparison,
}

impl Case {
    /// Reads a case file, and the contents that it names.
    ///
    /// # Errors
    /// Files that can't be read, text of another form, members that contradict each other.
    pub fn read(path: &Path) -> Result<Case, CaseError> {
        let text = read_bounded(path, MAX_FILE)?;
        let json = |cause| CaseError::Json {
            path: path.to_owned(),
            cause,
        };
        // The version first: another one may have another form.
        let format: FormatOnly = serde_json::from_slice(&text).map_err(json)?;
        if format.format != FORMAT {
            return Err(CaseError::Format {
                path: path.to_owned(),
                format: format.format,
            });
        }
        let file: CaseFile = serde_json::from_slice(&text).map_err(json)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let reader = Reader { path, folder };
        reader.check(&file)?;
        let resources = file.bindings.iter();
        Ok(Case {
            path: path.to_owned(),
            resources: resources
                .map(|binding| reader.resource(binding))
                .collect::<Result<_, _>>()?,
            spec_constants: file
                .spec_constants
                .iter()
                .map(|constant| (constant.id, constant.value))
                .collect(),
            spirv: folder.join(&file.shader.spirv),
            spirv_opt: folder.join(&file.shader.spirv_opt),
            name: file.name,
            kind: file.kind,
            description: file.description,
            entry: file.shader.entry,
            local_size: file.local_size,
            groups: file.groups,
            push_constants: file.push_constants,
        })
    }

    /// The file of a module.
    pub fn module_path(&self, module: Module) -> &Path {
        match module {
            Module::Plain => &self.spirv,
            Module::Optimised => &self.spirv_opt,
        }
    }

    /// The SPIR-V of a module.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn module(&self, module: Module) -> Result<Vec<u8>, CaseError> {
        read_bounded(self.module_path(module), MAX_FILE)
    }

    /// The resource at a place.
    pub fn resource(&self, place: Place) -> Option<&Resource> {
        self.resources
            .iter()
            .find(|resource| resource.place == place)
    }

    /// Compares all resources with what they must hold; `after` gives the contents at a place, or nothing for one that the
    /// run did not touch.
    ///
    /// # Errors
    /// The first difference, in the order of the case.
    pub fn check<'a>(&self, after: impl Fn(Place) -> Option<&'a [u8]>) -> Result<(), Difference> {
        for resource in &self.resources {
            resource.check(after(resource.place).unwrap_or(&resource.before))?;
        }
        Ok(())
    }
}

impl Resource {
    fn check(&self, after: &[u8]) -> Result<(), Difference> {
        let binding = format!("{} ({})", self.name, self.place);
        if after.len() != self.before.len() {
            return Err(Difference::Length {
                binding,
                bytes: after.len(),
                wanted: self.before.len(),
            });
        }
        match &self.output {
            Some(output) => output
                .comparison
                .check(after, &output.expected)
                .map_err(|mismatch| Difference::Output { binding, mismatch }),
            None => UNCHANGED
                .check(after, &self.before)
                .map_err(|mismatch: Mismatch| Difference::Changed { binding, mismatch }),
        }
    }
}

const UNCHANGED: Comparison = Comparison {
    rule: crate::Rule::Exact { element: None },
    allow_mismatch: 0,
};

#[derive(Deserialize)]
struct FormatOnly {
    format: u64,
}

/// The case file as it is written.
#[derive(Deserialize)]
struct CaseFile {
    name: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    description: String,
    shader: ShaderFiles,
    local_size: [u32; 3],
    groups: [u32; 3],
    #[serde(deserialize_with = "hex")]
    push_constants: Vec<u8>,
    spec_constants: Vec<SpecConstant>,
    bindings: Vec<BindingEntry>,
}

#[derive(Deserialize)]
struct ShaderFiles {
    spirv: String,
    spirv_opt: String,
    entry: String,
}

#[derive(Deserialize)]
struct SpecConstant {
    id: u32,
    value: u32,
}

#[derive(Deserialize)]
struct BindingEntry {
    set: u32,
    binding: u32,
    #[serde(default)]
    element: u32,
    #[serde(default)]
    name: String,
    kind: ResourceKind,
    bytes: u64,
    init: Contents,
    output: bool,
    expected: Option<String>,
    compare: Option<Comparison>,
    format: Option<String>,
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
struct Reader<'a> {
    path: &'a Path,
    folder: &'a Path,
}

impl Reader<'_> {
    fn inconsistent(&self, what: String) -> CaseError {
        CaseError::Inconsistent {
            path: self.path.to_owned(),
            what,
        }
    }

    /// What can be said without reading more files.
    fn check(&self, file: &CaseFile) -> Result<(), CaseError> {
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

    fn resource(&self, entry: &BindingEntry) -> Result<Resource, CaseError> {
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
fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, CaseError> {
    use std::io::Read;
    let error = |cause| CaseError::Read {
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

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{
        "format": 1, "name": "one", "shader": {"spirv": "a.spv", "spirv_opt": "b.spv", "entry": "main"},
        "local_size": [1, 1, 1], "groups": [1, 1, 1], "push_constants": "0100", "spec_constants": [{"id": 3, "value": 9}],
        "bindings": [
            {"set": 0, "binding": 1, "name": "in", "kind": "ssbo", "bytes": 4, "init": "zero", "output": false},
            {"set": 0, "binding": 2, "name": "out", "kind": "ssbo", "bytes": 4, "init": "zero", "output": true,
             "expected": "expected.bin", "compare": {"rule": "exact"}}
        ]}"#;

    /// Reads `text` as a case whose expected contents are `[1, 0, 0, 0]`.
    fn read(text: &str) -> Result<Case, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("expected.bin"), [1, 0, 0, 0]).unwrap();
        let path = folder.path().join("one.json");
        std::fs::write(&path, text).unwrap();
        let root = format!("{}/", folder.path().display());
        Case::read(&path).map_err(|error| error.to_string().replace(&root, ""))
    }

    #[track_caller]
    fn refused(from: &str, to: &str, message: &str) {
        assert!(GOOD.contains(from), "no {from:?} in the good case");
        assert_eq!(read(&GOOD.replacen(from, to, 1)).unwrap_err(), message);
    }

    #[test]
    fn a_case_is_read_and_checked() {
        let case = read(GOOD).unwrap();
        assert_eq!(case.push_constants, [1, 0]);
        assert_eq!(case.spec_constants, [(3, 9)].into());
        let out = Place {
            set: 0,
            binding: 2,
            element: 0,
        };
        let after = |bytes: &'static [u8]| move |place| (place == out).then_some(bytes);
        assert_eq!(case.check(after(&[1, 0, 0, 0])), Ok(()));
        assert_eq!(
            case.check(after(&[0; 4])).unwrap_err().to_string(),
            "out (0:2): element 0 (byte 0x0, u32): got 0, expected 1; 1 of 1 elements differ"
        );
        assert_eq!(
            case.check(after(&[0; 3])).unwrap_err().to_string(),
            "out (0:2): 3 bytes, expected 4"
        );
        assert_eq!(
            case.check(|_| Some(&[1, 0, 0, 0])).unwrap_err().to_string(),
            "in (0:1) is no output, but has changed: element 0 (byte 0x0, u32): got 1, expected 0; 1 of 1 elements differ"
        );
    }

    #[test]
    fn bad_cases_are_refused() {
        refused(
            "\"format\": 1",
            "\"format\": 2",
            "one.json: format 2 is not known; this version reads format 1",
        );
        refused(
            "\"groups\": [1, 1, 1], ",
            "",
            "one.json:8:10: missing field `groups`",
        );
        refused(
            "\"0100\"",
            "\"010\"",
            "one.json:3:77: `010` is not an even number of hex digits",
        );
        refused(
            "\"binding\": 2",
            "\"binding\": 1",
            "one.json: binding 0:1 stands there twice",
        );
        refused(
            "\"bytes\": 4",
            "\"bytes\": 99999999999",
            "one.json: the bindings have 100000000003 bytes; the most is 268435456",
        );
        refused(
            "\"output\": true",
            "\"output\": false",
            "one.json: out (0:2): it is no output, but has `expected` or `compare`",
        );
        refused(
            "\"expected\": \"expected.bin\", ",
            "",
            "one.json: out (0:2): an output needs `expected` and `compare`",
        );
        refused(
            "\"rule\": \"exact\"",
            "\"rule\": \"ulp\", \"type\": \"u32\", \"ulp\": 1",
            "one.json:7:93: rule `ulp` needs a real `type` and `ulp`",
        );
        refused(
            "expected.bin",
            "other.bin",
            "can't read other.bin: No such file or directory (os error 2)",
        );
        refused(
            "\"bytes\": 4, \"init\": \"zero\", \"output\": true",
            "\"bytes\": 8, \"init\": \"zero\", \"output\": true",
            "expected.bin: 4 bytes, but out (0:2) of one.json has 8",
        );
        refused(
            "\"ssbo\"",
            "\"storage_image\"",
            "one.json: in (0:1): it needs a `format`",
        );
        refused(
            "\"ssbo\"",
            "\"storage_image\", \"format\": \"rgba8\", \"width\": 2, \"height\": 1",
            "one.json: in (0:1): 2 times 1 texels of rgba8 are not 4 bytes",
        );
        refused(
            "[1, 1, 1], \"groups\"",
            "[1, 0, 1], \"groups\"",
            "one.json: local_size [1, 0, 1] has a 0",
        );
    }

    #[test]
    fn texel_buffers_have_a_width() {
        let texels = "\"uniform_texel_buffer\", \"format\": \"rgba8\"";
        let case = read(&GOOD.replacen("\"ssbo\"", texels, 1)).unwrap();
        let image = case.resources[0].image.as_ref().unwrap();
        assert_eq!((image.width, image.height), (1, 1));
    }
}
