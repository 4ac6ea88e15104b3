//! A script's shader to a SPIR-V module, through Khronos' tools: language reference, sections 5 and 16.
//!
//! Guarantees: positions in messages are lines of the script. Not `shader_file`, which is for files of one shader and has
//! no target environment: a script names one for each shader, and the module is validated for it.

use super::{assembly_lines, older_glslang};
use crate::outcome::FileError;
use crate::runs::khronos_tools::{GLSLANG, SPIRV_AS, SPIRV_OPT, SPIRV_VAL, Tool};
use eitri_amber::Word;
use eitri_amber::plan::Files;
use eitri_amber::script::{
    AttachedShader, Dialect, Language, Requirement, Script, Shader, ShaderSource, Stage,
    TargetEnvironment,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use thiserror::Error;

/// Why a shader gave no module.
#[derive(Debug, Error)]
pub(crate) enum ShaderError {
    #[error("shader {name}: {message}")]
    Source { name: String, message: String },
    #[error("shader {name}: can't read {path}: {cause}")]
    Read {
        name: String,
        path: String,
        cause: std::io::Error,
    },
    #[error("{0}")]
    File(#[from] FileError),
    #[error("`{tool}` is not installed: apt-get install {package}")]
    NoTool {
        tool: &'static str,
        package: &'static str,
    },
}

/// Folders of the conformance suite whose assembly is for SPIR-V 1.4: their scripts do not say it.
const SPIRV_1_4: &[&str] = &[
    "spirv1p4",
    "ptr_access_chain",
    "workgroup_memory_explicit_layout",
];

/// Makes modules of a script's shaders.
pub(crate) struct ShaderTools<'s> {
    pub(crate) script: &'s Script,
    pub(crate) path: &'s Path,
    /// Where files between two tools go.
    pub(crate) folder: &'s Path,
    /// What a script that names no environment gets.
    pub(crate) target: Option<TargetEnvironment>,
    /// Whether modules have the lines and names that a debugger shows.
    pub(crate) lines: bool,
}

/// What `PASSTHROUGH` stands for: the position is the first attribute.
const PASSTHROUGH: &[u8] = b"#version 430
layout(location = 0) in vec4 position;
void main() { gl_Position = position; }
";

impl ShaderTools<'_> {
    /// The module of an attached shader, validated and optimised as the script wants it.
    pub(crate) fn module(
        &self,
        attached: &AttachedShader,
        files: &mut dyn Files,
    ) -> Result<Vec<u8>, ShaderError> {
        let Some(shader) = self.script.shader(attached.shader) else {
            return Ok(Vec::new());
        };
        let target = self.target_of(shader);
        let source = match &shader.source {
            ShaderSource::Text(text) => text.clone().into_bytes(),
            ShaderSource::File(path) => files.read(path).map_err(|cause| ShaderError::Read {
                name: shader.name.clone(),
                path: path.clone(),
                cause,
            })?,
            ShaderSource::Passthrough => PASSTHROUGH.to_vec(),
        };
        let out = self.folder.join(format!("{}.spv", attached.shader.0));
        let language = match shader.source {
            ShaderSource::Passthrough => Language::Glsl,
            ShaderSource::Text(_) | ShaderSource::File(_) => shader.language,
        };
        match language {
            Language::Glsl | Language::Hlsl => {
                let input = self.write(shader, attached, &source, "glsl")?;
                let stage = match attached.stage {
                    Stage::Vertex => "vert",
                    Stage::Fragment => "frag",
                    // Others are refused before.
                    _ => "comp",
                };
                let mut tool = command(GLSLANG);
                tool.args(["-V", "-S", stage])
                    .args(glslang_target(target))
                    .arg("-o")
                    .arg(&out);
                if self.lines {
                    tool.arg("-g");
                }
                if language == Language::Hlsl {
                    tool.args(["-D", "-e", "main"]);
                    for folder in [self.included()?, self.beside()] {
                        tool.arg(format!("-I{}", folder.display()));
                    }
                }
                let file = input.clone();
                let input = self.as_named(&mut tool, &input);
                let ran = self.run(tool.arg(&input), GLSLANG, shader, &input);
                if let Err(error) = ran {
                    let older = older_glslang::in_older_words(&read_file(&file)?).ok_or(error)?;
                    write_file(&file, &older)?;
                    self.run(&mut tool, GLSLANG, shader, &input)?;
                }
            }
            Language::SpirvAssembly => {
                let input = self.write(shader, attached, &source, "spvasm")?;
                let mut tool = command(SPIRV_AS);
                tool.args(["--preserve-numeric-ids", "--target-env", target.text()])
                    .arg("-o")
                    .arg(&out);
                self.run(tool.arg(&input), SPIRV_AS, shader, &input)?;
            }
            Language::SpirvHex => {
                let bytes = hex(&source).ok_or_else(|| ShaderError::Source {
                    name: shader.name.clone(),
                    message: "SPIRV-HEX must be bytes of two hexadecimal digits".to_owned(),
                })?;
                write_file(&out, &bytes)?;
            }
            Language::SpirvBinary => write_file(&out, &source)?,
            Language::OpenClC => return Ok(Vec::new()),
        }
        let mut validator = command(SPIRV_VAL);
        validator.args(["--target-env", target.text()]).arg(&out);
        self.run(&mut validator, SPIRV_VAL, shader, &out)?;
        if !attached.optimizations.is_empty() {
            let mut optimizer = command(SPIRV_OPT);
            optimizer.args(
                attached
                    .optimizations
                    .iter()
                    .map(|pass| format!("--{}", pass.trim_start_matches('-'))),
            );
            optimizer
                .arg(format!("--target-env={}", target.text()))
                .arg(&out)
                .arg("-o")
                .arg(&out);
            self.run(&mut optimizer, SPIRV_OPT, shader, &out)?;
        }
        read_file(&out)
    }

    /// The script's own folder.
    fn beside(&self) -> PathBuf {
        let folder = match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        // A tool may have another folder of its own.
        std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
    }

    /// The path by which a tool is given a file that was written: debug information has it, so that a debugger gets the name that
    /// the file has beside the script.
    fn as_named(&self, tool: &mut Command, input: &Path) -> PathBuf {
        let below = input.strip_prefix(self.folder).unwrap_or(input);
        let mut parts = below.components();
        // Behind the number of the shader.
        let (Some(number), true) = (parts.next(), self.lines) else {
            return input.to_owned();
        };
        tool.current_dir(self.folder.join(number));
        parts.as_path().to_owned()
    }

    /// A folder with what a shader may include: the virtual files, and the text of each shader. A path that leads out of it is
    /// left out.
    fn included(&self) -> Result<PathBuf, ShaderError> {
        let root = self.folder.join("include");
        let texts = self.script.shaders.iter().filter_map(|shader| {
            let ShaderSource::Text(text) = &shader.source else {
                return None;
            };
            Some((format!("embedded-shaders/{}", shader.name), text))
        });
        let files = self.script.virtual_files.iter();
        let files = files.map(|(path, text)| (path.clone(), text));
        for (path, text) in files.chain(texts) {
            let inside = |part| matches!(part, std::path::Component::Normal(_));
            let relative = Path::new(&path);
            if !relative.components().all(inside) {
                continue;
            }
            write_file(&root.join(relative), text.as_bytes())?;
        }
        Ok(root)
    }

    /// The environment of a shader: its own, or what the script's other words and its folder say.
    fn target_of(&self, shader: &Shader) -> TargetEnvironment {
        if let Some(target) = shader.target {
            return target;
        }
        let extension = |requirement: &Requirement| requirement.name() == "VK_KHR_spirv_1_4";
        let in_folder = |part: std::path::Component<'_>| {
            SPIRV_1_4.iter().any(|folder| part.as_os_str() == *folder)
        };
        let newer =
            self.script.requirements.iter().any(extension) || self.path.components().any(in_folder);
        let assembly =
            shader.language == Language::SpirvAssembly || self.script.dialect == Dialect::VkScript;
        match newer && assembly {
            true => TargetEnvironment::Vulkan11Spirv14,
            false => self.target.unwrap_or(TargetEnvironment::Spirv10),
        }
    }

    /// Writes a shader's text so that its lines have the numbers that they have in the script.
    fn write(
        &self,
        shader: &Shader,
        attached: &AttachedShader,
        source: &[u8],
        extension: &str,
    ) -> Result<PathBuf, ShaderError> {
        let number = attached.shader.0;
        let path = match self.lines {
            true => self
                .folder
                .join(number.to_string())
                .join(self.name_of(shader)),
            false => self.folder.join(format!("{number}.{extension}")),
        };
        let mut text = match shader.source {
            ShaderSource::Text(_) => with_lines(shader, source),
            ShaderSource::File(_) | ShaderSource::Passthrough => source.to_vec(),
        };
        if self.lines
            && shader.language == Language::SpirvAssembly
            && let Ok(assembly) = std::str::from_utf8(&text)
        {
            let name = self.name_of(shader).display().to_string();
            text = assembly_lines::with_lines(assembly, &name).into_bytes();
        }
        write_file(&path, &text)?;
        Ok(path)
    }

    /// The name of the file that has a shader's text, from the script's folder on.
    fn name_of(&self, shader: &Shader) -> PathBuf {
        let is_inside = |part| matches!(part, std::path::Component::Normal(_));
        let last = |path: &Path| path.file_name().unwrap_or_default().into();
        match &shader.source {
            ShaderSource::Text(_) => last(self.path),
            ShaderSource::File(path) => {
                let path = path.replace('\\', "/");
                let path = Path::new(path.strip_prefix("./").unwrap_or(&path));
                match path.components().all(is_inside) {
                    true => path.to_owned(),
                    false => last(path),
                }
            }
            // It has no file.
            ShaderSource::Passthrough => PathBuf::from("PASSTHROUGH"),
        }
    }

    fn run(
        &self,
        command: &mut Command,
        tool: Tool,
        shader: &Shader,
        input: &Path,
    ) -> Result<(), ShaderError> {
        let output = match command.output() {
            Ok(output) => output,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
                let (tool, package) = (tool.program, tool.package);
                return Err(ShaderError::NoTool { tool, package });
            }
            Err(cause) => {
                let (path, action) = (tool.program.to_owned(), "start");
                return Err(ShaderError::File(FileError {
                    action,
                    path,
                    cause,
                }));
            }
        };
        if output.status.success() {
            return Ok(());
        }
        let input = input.display().to_string();
        let script = self.path.display().to_string();
        let text: String = [&output.stdout, &output.stderr]
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .concat();
        let lines = text
            .lines()
            .filter(|line| !line.trim().is_empty() && *line != input);
        let lines: Vec<String> = lines.map(|line| line.replace(&input, &script)).collect();
        let name = shader.name.clone();
        let message = format!("{}: {}", tool.program, lines.join("\n"));
        Err(ShaderError::Source { name, message })
    }
}

/// A text whose lines have the numbers that they have in the script. In GLSL nothing may stand before `#version`, so a
/// `#line` follows it; elsewhere blank lines go before.
fn with_lines(shader: &Shader, source: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut numbered = false;
    let version = |line: &[u8]| line.trim_ascii_start().starts_with(b"#version");
    let is_glsl =
        shader.language == Language::Glsl && source.split(|byte| *byte == b'\n').any(version);
    if !is_glsl {
        text.resize(shader.first_line.saturating_sub(1), b'\n');
        text.extend_from_slice(source);
        return text;
    }
    for (index, line) in source.split_inclusive(|byte| *byte == b'\n').enumerate() {
        text.extend_from_slice(line);
        if !numbered && version(line) {
            numbered = true;
            text.extend_from_slice(format!("#line {}\n", shader.first_line + index + 1).as_bytes());
        }
    }
    text
}

fn command(tool: Tool) -> Command {
    Command::new(tool.program)
}

fn read_file(path: &Path) -> Result<Vec<u8>, ShaderError> {
    std::fs::read(path).map_err(|cause| {
        let (path, action) = (path.display().to_string(), "read");
        ShaderError::File(FileError {
            action,
            path,
            cause,
        })
    })
}

/// Writes a file, with the folders that it is in.
fn write_file(path: &Path, bytes: &[u8]) -> Result<(), ShaderError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let made = std::fs::create_dir_all(folder);
    made.and_then(|()| std::fs::write(path, bytes))
        .map_err(|cause| {
            let (path, action) = (path.display().to_string(), "write");
            ShaderError::File(FileError {
                action,
                path,
                cause,
            })
        })
}

/// Vulkan and SPIR-V that GLSL is compiled for: the table of the language reference, section 5.
fn glslang_target(target: TargetEnvironment) -> [&'static str; 4] {
    use TargetEnvironment as T;
    let (vulkan, spirv) = match target {
        T::Spirv10 | T::Vulkan10 => ("vulkan1.0", "spirv1.0"),
        T::Spirv11 => ("vulkan1.1", "spirv1.1"),
        T::Spirv12 => ("vulkan1.1", "spirv1.2"),
        T::Spirv13 | T::Vulkan11 => ("vulkan1.1", "spirv1.3"),
        T::Spirv14 => ("vulkan1.2", "spirv1.4"),
        T::Vulkan11Spirv14 => ("vulkan1.1", "spirv1.4"),
        T::Spirv15 | T::Vulkan12 => ("vulkan1.2", "spirv1.5"),
        T::Spirv16 => ("vulkan1.3", "spirv1.6"),
    };
    ["--target-env", vulkan, "--target-env", spirv]
}

/// Bytes of two hexadecimal digits, with or without `0x`, with white space between them.
fn hex(source: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(source).ok()?;
    let byte = |word: &str| u8::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok();
    text.split_whitespace().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, expected: &str) {
        let script = eitri_amber::parse(script).unwrap();
        let shader = &script.shaders[0];
        let ShaderSource::Text(text) = &shader.source else {
            panic!("no text");
        };
        let numbered = with_lines(shader, text.as_bytes());
        assert_eq!(String::from_utf8(numbered).unwrap(), expected);
    }

    #[test]
    fn lines_keep_their_numbers() {
        check(
            "#!amber\n\nSHADER compute s GLSL\n#version 310 es\nx\nEND\n",
            "#version 310 es\n#line 5\nx\n",
        );
        check(
            "#!amber\nSHADER compute s SPIRV-ASM\nOpNop\nEND\n",
            "\n\nOpNop\n",
        );
        check(
            "[compute shader]\n#version 450\nx\n",
            "#version 450\n#line 3\nx\n",
        );
    }

    #[test]
    fn hexadecimal_modules_are_bytes() {
        assert_eq!(hex(b"0x03 02\n23 07"), Some(vec![3, 2, 0x23, 7]));
        assert_eq!(hex(b"0x103"), None);
    }
}
