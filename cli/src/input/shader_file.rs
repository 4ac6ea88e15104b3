//! Shader files: WGSL, GLSL, SPIR-V and its assembly, all to SPIR-V.
//!
//! Guarantees: positions in messages are those of the user's own file, whichever tool found the fault.
//! Facts: none of the hardware; WGSL and GLSL go through naga, the rest through Khronos' tools, installed if need be.

use crate::input::buffer_source;
use crate::outcome::Failure;
use eitri_launch::Problem;
use eitri_launch::tools::{self, Tool};
use eitri_shaderc::build::shader_text::{Language as TextLanguage, Names, to_spirv_with};
use miette::Diagnostic;
use std::path::Path;
use std::process::{Command, Output};
use thiserror::Error;

/// Languages that a file can be in; of GLSL with the stage that it is for. The names are the usual ends of file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Language {
    /// WGSL.
    Wgsl,
    /// GLSL of a compute shader.
    #[value(name = "comp", alias = "glsl")]
    ComputeGlsl,
    /// GLSL of a vertex shader.
    #[value(name = "vert")]
    VertexGlsl,
    /// GLSL of a fragment shader.
    #[value(name = "frag")]
    FragmentGlsl,
    /// SPIR-V.
    #[value(name = "spv")]
    Spirv,
    /// SPIR-V as text.
    #[value(name = "spvasm")]
    SpirvAssembly,
}

/// `--language`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct LanguageArgument {
    /// The shader's language, whatever the file is called. Standard input (`-`) needs it, unless it is SPIR-V.
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    language: Option<Language>,
}

impl LanguageArgument {
    /// Reads the shader at `path`; `-` is standard input.
    pub(crate) fn load(self, path: &str) -> Result<Shader, Failure> {
        load_as(path, self.language, Names::Variables)
    }

    /// The same with all names that a debugger shows.
    pub(crate) fn load_for_debugger(self, path: &str) -> Result<Shader, Failure> {
        load_as(path, self.language, Names::All)
    }
}

/// Name of standard input in messages.
const STDIN: &str = "<stdin>";

/// Why a shader file could not be turned into SPIR-V.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum ShaderFileError {
    #[error("{path}: can't tell the language of this file")]
    #[diagnostic(help(
        "the name must end in .wgsl, .comp, .vert, .frag or .glsl, .spv, or .spvasm; or say it: --language wgsl"
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

/// Reads the shader at `path`, in the language that its name tells.
pub(crate) fn load(path: &str) -> Result<Shader, Failure> {
    load_as(path, None, Names::Variables)
}

fn load_as(path: &str, told: Option<Language>, names: Names) -> Result<Shader, Failure> {
    let bytes = buffer_source::read(path)?;
    let shown = if path == "-" { STDIN } else { path };
    let language = told.or_else(|| language(path, &bytes)).ok_or_else(|| {
        Failure::refused(ShaderFileError::Extension {
            path: shown.to_owned(),
        })
    })?;
    // Tools read files.
    let stdin = match path {
        "-" => Some(stdin_file(&bytes)?),
        _ => None,
    };
    let folder = stdin.as_ref().map(tempfile::TempDir::path);
    let source = Source {
        path: shown,
        folder,
    };
    let spirv = match language {
        Language::Spirv => bytes,
        Language::Wgsl => of_wgsl_with(shown, text(shown, &bytes)?, names)?,
        Language::ComputeGlsl | Language::VertexGlsl | Language::FragmentGlsl => {
            glsl(language, source, text(shown, &bytes)?, names)?
        }
        Language::SpirvAssembly => {
            text(shown, &bytes)?;
            run_tool(
                Tool::SpirvAs,
                source,
                None,
                &["--target-env", "spv1.5", "--preserve-numeric-ids"],
            )?
        }
    };
    check_spirv(&spirv).map_err(|why| {
        Failure::refused(ShaderFileError::NotSpirv {
            path: shown.to_owned(),
            why,
        })
    })?;
    Ok(Shader {
        spirv: little_endian(spirv),
        path: shown.to_owned(),
    })
}

/// A file that tools read.
#[derive(Clone, Copy)]
struct Source<'a> {
    /// Its path, in messages and in debug information too.
    path: &'a str,
    /// The folder that the path begins in, if not the one that this process is in.
    folder: Option<&'a Path>,
}

/// A folder with standard input in a file of the name that stands in messages.
fn stdin_file(bytes: &[u8]) -> Result<tempfile::TempDir, Failure> {
    let written = tempfile::tempdir().and_then(|folder| {
        std::fs::write(folder.path().join(STDIN), bytes)?;
        Ok(folder)
    });
    written.map_err(|cause| Failure::unwritable(std::env::temp_dir(), cause))
}

fn language(path: &str, bytes: &[u8]) -> Option<Language> {
    let extension = Path::new(path).extension().and_then(|text| text.to_str());
    match extension {
        Some("wgsl") => Some(Language::Wgsl),
        Some("comp" | "glsl") => Some(Language::ComputeGlsl),
        Some("vert") => Some(Language::VertexGlsl),
        Some("frag") => Some(Language::FragmentGlsl),
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
    of_wgsl_with(path, source, Names::Variables)
}

fn of_wgsl_with(path: &str, source: &str, names: Names) -> Result<Vec<u8>, Failure> {
    to_spirv_with(TextLanguage::Wgsl, path, source, names).map_err(|error| {
        Failure::refused(ShaderFileError::Source {
            path: path.to_owned(),
            language: "WGSL",
            message: error.report(path, source),
        })
    })
}

/// The module of a GLSL source: by Khronos' own compiler where it is there, since naga knows less of the language.
fn glsl(stage: Language, source: Source<'_>, text: &str, names: Names) -> Result<Vec<u8>, Failure> {
    let (language, name) = match stage {
        Language::VertexGlsl => (TextLanguage::VertexGlsl, "vert"),
        Language::FragmentGlsl => (TextLanguage::FragmentGlsl, "frag"),
        _ => (TextLanguage::Glsl, "comp"),
    };
    let by_khronos = |naga: &str| {
        let arguments = ["-S", name, "--target-env", "vulkan1.2", "-g"];
        run_tool(Tool::Glslang, source, Some(naga.to_owned()), &arguments)
    };
    if tools::in_path(Tool::Glslang.program()) {
        return by_khronos("");
    }
    let path = source.path;
    to_spirv_with(language, path, text, names)
        .or_else(|error| by_khronos(&error.report(path, text)))
}

/// Runs a tool that writes SPIR-V from a file. `naga` is what naga said of the file, if it was asked.
fn run_tool(
    tool: Tool,
    source: Source<'_>,
    naga: Option<String>,
    arguments: &[&str],
) -> Result<Vec<u8>, Failure> {
    let path = source.path;
    let failed = |cause: std::io::Error| {
        Failure::missing(ShaderFileError::ToolFailed {
            path: path.to_owned(),
            tool,
            cause,
        })
    };
    if let Err(problem) = tools::ensure_programs(&[tool]) {
        let because = naga.map(|message| format!("; naga alone can't read it:\n{message}"));
        return Err(Failure::missing(ShaderFileError::ToolMissing {
            path: path.to_owned(),
            problem,
            because: because.unwrap_or_default(),
        }));
    }
    let out = tempfile::NamedTempFile::new().map_err(failed)?;
    let mut command = Command::new(tool.program());
    if let Some(folder) = source.folder {
        command.current_dir(folder);
    }
    let run = command
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
