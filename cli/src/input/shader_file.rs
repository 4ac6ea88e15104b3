//! Shader files: WGSL, GLSL, SPIR-V and its assembly, all to SPIR-V.
//!
//! Guarantees: positions in messages are those of the user's own file, whichever tool found the fault.
//! Facts: none of the hardware; WGSL and GLSL go through naga, the rest through Khronos' tools, installed if need be.

use crate::input::buffer_source;
use crate::outcome::Failure;
use crate::workspace::Workspace;
use eitri_launch::Problem;
use eitri_launch::tools::{self, Tool};
use eitri_shaderc::build::shader_text::{Language as TextLanguage, to_spirv};
use miette::Diagnostic;
use std::path::Path;
use std::process::{Command, Output};
use thiserror::Error;

/// Languages that a file can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Wgsl,
    Glsl(GlslStage),
    Spirv,
    SpirvAssembly,
}

/// The stage that a GLSL file is for, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GlslStage {
    Compute,
    Vertex,
    Fragment,
}

/// Why a shader file could not be turned into SPIR-V.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum ShaderFileError {
    #[error("{path}: can't tell the language of this file")]
    #[diagnostic(help(
        "the name must end in .wgsl, .comp, .vert, .frag or .glsl, .spv, or .spvasm"
    ))]
    Extension { path: String },
    #[error("{path}: not a text file: byte {at} is not UTF-8")]
    NotText { path: String, at: usize },
    #[error("{path}: not a SPIR-V module: {why}")]
    NotSpirv { path: String, why: NotSpirv },
    #[error("{path}: not valid {language}\n{message}")]
    Source {
        path: String,
        language: &'static str,
        message: String,
    },
    #[error("{path}: this needs a tool: {problem}{because}")]
    #[diagnostic(help("{}", problem.help().unwrap_or_default()))]
    ToolMissing {
        path: String,
        problem: Problem,
        because: String,
    },
    #[error("{path}: {tool} could not be run")]
    ToolFailed {
        path: String,
        tool: Tool,
        #[source]
        cause: std::io::Error,
    },
}

/// What makes bytes not a SPIR-V module.
#[derive(Debug, Error)]
pub(crate) enum NotSpirv {
    #[error("{0} bytes are not a whole number of 32-bit words")]
    Length(usize),
    #[error("the first word is {0:#010x}, not the magic number 0x07230203")]
    Magic(u32),
    #[error("it is empty")]
    Empty,
}

/// A file read, and turned into SPIR-V.
#[derive(Debug)]
pub(crate) struct Shader {
    /// The module, little endian, a whole number of words with the right magic number.
    pub(crate) spirv: Vec<u8>,
    /// The path as the user wrote it.
    pub(crate) path: String,
}

/// Reads the shader at `path`.
pub(crate) fn load(path: &str) -> Result<Shader, Failure> {
    let bytes = buffer_source::read(path)?;
    let language = language(path, &bytes).ok_or_else(|| {
        Failure::refused(ShaderFileError::Extension {
            path: path.to_owned(),
        })
    })?;
    let spirv = match language {
        Language::Spirv => bytes,
        Language::Wgsl => of_wgsl(path, text(path, &bytes)?)?,
        Language::Glsl(stage) => glsl(stage, path, text(path, &bytes)?)?,
        Language::SpirvAssembly => {
            text(path, &bytes)?;
            run_tool(
                Tool::SpirvAs,
                path,
                None,
                &["--target-env", "spv1.5", "--preserve-numeric-ids"],
            )?
        }
    };
    check_spirv(&spirv).map_err(|why| {
        Failure::refused(ShaderFileError::NotSpirv {
            path: path.to_owned(),
            why,
        })
    })?;
    Ok(Shader {
        spirv: little_endian(spirv),
        path: path.to_owned(),
    })
}

fn language(path: &str, bytes: &[u8]) -> Option<Language> {
    let extension = Path::new(path).extension().and_then(|text| text.to_str());
    match extension {
        Some("wgsl") => Some(Language::Wgsl),
        Some("comp" | "glsl") => Some(Language::Glsl(GlslStage::Compute)),
        Some("vert") => Some(Language::Glsl(GlslStage::Vertex)),
        Some("frag") => Some(Language::Glsl(GlslStage::Fragment)),
        Some("spv") => Some(Language::Spirv),
        Some("spvasm") => Some(Language::SpirvAssembly),
        _ => check_spirv(bytes).is_ok().then_some(Language::Spirv),
    }
}

fn text<'a>(path: &str, bytes: &'a [u8]) -> Result<&'a str, Failure> {
    std::str::from_utf8(bytes).map_err(|error| {
        Failure::refused(ShaderFileError::NotText {
            path: path.to_owned(),
            at: error.valid_up_to(),
        })
    })
}

/// The first word of a module.
const MAGIC: u32 = 0x0723_0203;

/// A module with the bytes of its words in this order, whichever they have.
fn little_endian(mut spirv: Vec<u8>) -> Vec<u8> {
    if spirv.starts_with(&MAGIC.to_be_bytes()) {
        for word in spirv.as_chunks_mut::<4>().0 {
            word.reverse();
        }
    }
    spirv
}

fn check_spirv(bytes: &[u8]) -> Result<(), NotSpirv> {
    let (words, rest) = bytes.as_chunks::<4>();
    match words.first().map(|word| u32::from_le_bytes(*word)) {
        // In either order of bytes, as the magic number tells.
        Some(word) if [MAGIC, MAGIC.swap_bytes()].contains(&word) => match rest {
            [] => Ok(()),
            _ => Err(NotSpirv::Length(bytes.len())),
        },
        Some(other) => Err(NotSpirv::Magic(other)),
        None if rest.is_empty() => Err(NotSpirv::Empty),
        None => Err(NotSpirv::Length(bytes.len())),
    }
}

/// The module of a WGSL source, whose `path` is for messages.
pub(crate) fn of_wgsl(path: &str, source: &str) -> Result<Vec<u8>, Failure> {
    to_spirv(TextLanguage::Wgsl, path, source).map_err(|error| {
        Failure::refused(ShaderFileError::Source {
            path: path.to_owned(),
            language: "WGSL",
            message: error.report(path, source),
        })
    })
}

/// The module of a GLSL source: by Khronos' own compiler where it is there, since naga knows less of the language.
fn glsl(stage: GlslStage, path: &str, source: &str) -> Result<Vec<u8>, Failure> {
    let (language, name) = match stage {
        GlslStage::Compute => (TextLanguage::Glsl, "comp"),
        GlslStage::Vertex => (TextLanguage::VertexGlsl, "vert"),
        GlslStage::Fragment => (TextLanguage::FragmentGlsl, "frag"),
    };
    let by_khronos = |naga: &str| {
        let arguments = ["-S", name, "--target-env", "vulkan1.2", "-g"];
        run_tool(Tool::Glslang, path, Some(naga.to_owned()), &arguments)
    };
    if tools::in_path(Tool::Glslang.program()) {
        return by_khronos("");
    }
    to_spirv(language, path, source).or_else(|error| by_khronos(&error.report(path, source)))
}

/// Runs a tool that writes SPIR-V from the file at `path`. `naga` is what naga said of the file, if it was asked.
fn run_tool(
    tool: Tool,
    path: &str,
    naga: Option<String>,
    arguments: &[&str],
) -> Result<Vec<u8>, Failure> {
    let failed = |cause: std::io::Error| {
        Failure::missing(ShaderFileError::ToolFailed {
            path: path.to_owned(),
            tool,
            cause,
        })
    };
    let installed = Workspace::find().and_then(|workspace| tools::ensure(&workspace, &[tool]));
    if let Err(problem) = installed {
        let because = naga.map(|message| format!("; naga alone can't read it:\n{message}"));
        return Err(Failure::missing(ShaderFileError::ToolMissing {
            path: path.to_owned(),
            problem,
            because: because.unwrap_or_default(),
        }));
    }
    let out = tempfile::NamedTempFile::new().map_err(failed)?;
    let run = Command::new(tool.program())
        .args(arguments)
        .arg("-o")
        .arg(out.path())
        .arg(path)
        .output();
    match run {
        Ok(output) if output.status.success() => std::fs::read(out.path()).map_err(failed),
        Ok(output) => Err(Failure::refused(ShaderFileError::Source {
            path: path.to_owned(),
            language: if naga.is_some() {
                "GLSL"
            } else {
                "SPIR-V assembly"
            },
            message: tool_message(&output, path),
        })),
        Err(cause) => Err(failed(cause)),
    }
}

/// What a tool printed, without the echo of the file's name on a line of its own.
fn tool_message(output: &Output, path: &str) -> String {
    let streams = [&output.stdout, &output.stderr];
    let text: String = streams
        .iter()
        .map(|bytes| String::from_utf8_lossy(bytes))
        .collect();
    let lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && *line != path);
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WGSL: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
        @compute @workgroup_size(1) fn main() { data[0] = 1u; }\n";

    fn file(name: &str, contents: &[u8]) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, contents).unwrap();
        let path = path.to_str().unwrap().to_owned();
        (folder, path)
    }

    #[track_caller]
    fn refused(name: &str, contents: &[u8], parts: &[&str]) {
        let (_folder, path) = file(name, contents);
        let failure = load(&path).unwrap_err();
        let text = format!("{failure:?}");
        for part in parts {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
    }

    #[test]
    fn wgsl_becomes_spirv() {
        let (_folder, path) = file("one.wgsl", WGSL.as_bytes());
        assert!(check_spirv(&load(&path).unwrap().spirv).is_ok());
    }

    #[test]
    fn modules_may_have_either_order_of_bytes() {
        let (_folder, path) = file("one.wgsl", WGSL.as_bytes());
        let ours = load(&path).unwrap().spirv;
        let words = ours.as_chunks::<4>().0.iter();
        let theirs: Vec<u8> = words.flat_map(|word| word.iter().rev()).copied().collect();
        let (_folder, path) = file("one.spv", &theirs);
        assert_eq!(load(&path).unwrap().spirv, ours);
    }

    #[test]
    fn faults_are_told_with_their_place() {
        refused(
            "bad.wgsl",
            b"fn main( {",
            &["not valid WGSL", "bad.wgsl:1:"],
        );
        refused("x.spv", b"abcd", &["not a SPIR-V module", "0x64636261"]);
        refused("x.spv", b"", &["it is empty"]);
        refused("x.txt", b"hello", &["can't tell the language"]);
        refused("x.wgsl", &[b'f', 0xFF], &["byte 1 is not UTF-8"]);
    }
}
