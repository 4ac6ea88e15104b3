//! Shaders in a Rust program: compiled by its build script, and named by the types that they are given.
//!
//! Needs: the feature `build`.  Guarantees: a shader is compiled again only if it changed; what is wrong with it is an error
//! of cargo's that begins with the shader's own file and line; structs are laid out as the shader reads them, so that a
//! program which fills them in another way does not compile.
//!
//! In `build.rs`:
//!
//! ```no_run
//! eitri_shaderc::build::Shaders::new()
//!     .shader("shaders/blur.wgsl")
//!     .shader("shaders/sum.spv")
//!     .finish();
//! ```
//!
//! and in the program, of which each shader becomes a module with its file's name:
//!
//! ```text
//! mod shaders {
//!     include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
//! }
//! let push = shaders::blur::Params { radius: 3, strength: 0.5 };
//! device.run(shaders::blur::PROGRAM, &push.to_bytes());
//! ```

mod bindings;
mod name_lets;
pub mod shader_text;
mod source;

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::options::Options;
use crate::reflect::reflect;

/// Something that is wrong with a shader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where: the file, and if they are known line and column.
    pub place: String,
    /// What.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// What a shader becomes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generated {
    /// The program, as `eitri_program::Program` reads it.
    pub program: Vec<u8>,
    /// Rust: constants and types, without the program itself.
    pub rust: String,
}

/// The shaders of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shaders {
    paths: Vec<PathBuf>,
    options: Options,
}

impl Shaders {
    /// None yet.
    pub fn new() -> Shaders {
        Shaders::default()
    }

    /// Adds a shader by its path from the package: `.wgsl`, `.comp` or `.glsl`, `.spv`.
    #[must_use]
    pub fn shader(mut self, path: impl Into<PathBuf>) -> Shaders {
        self.paths.push(path.into());
        self
    }

    /// How all of them are compiled.
    #[must_use]
    pub fn options(mut self, options: Options) -> Shaders {
        self.options = options;
        self
    }

    /// Compiles them, writes `shaders.rs` and the programs to cargo's output folder, and tells cargo when to do so again.
    /// What is wrong is told to cargo as errors, and ends the build script.
    pub fn finish(self) {
        let folder = std::env::var_os("OUT_DIR").map(PathBuf::from);
        let problems = match folder {
            Some(folder) => self.write(&folder),
            None => vec![Problem {
                place: "OUT_DIR".to_owned(),
                message: "is not set: this runs in a build script".to_owned(),
            }],
        };
        let mut said = String::new();
        for path in &self.paths {
            let _ = writeln!(said, "cargo::rerun-if-changed={}", path.display());
        }
        for problem in &problems {
            // One line an error: further lines would be none of cargo's.
            for line in problem.to_string().lines().filter(|line| !line.is_empty()) {
                let _ = writeln!(said, "cargo::error={line}");
            }
        }
        // Cargo reads this; if it has gone away there is nobody to tell.
        let _ = std::io::Write::write_all(&mut std::io::stdout(), said.as_bytes());
        if !problems.is_empty() {
            std::process::exit(1);
        }
    }

    /// The same to any folder, without a word to cargo: what is wrong with any of the shaders. If anything is, nothing
    /// has been written.
    pub fn write(&self, folder: &Path) -> Vec<Problem> {
        let (mut problems, mut made) = (vec![], vec![]);
        for path in &self.paths {
            match generate(path, &self.options) {
                Ok(generated) => made.push((module_name(path), generated)),
                Err(wrong) => problems.extend(wrong),
            }
        }
        for (number, (name, _)) in made.iter().enumerate() {
            if made[..number].iter().any(|(other, _)| other == name) {
                problems.push(Problem {
                    place: self.paths[number].display().to_string(),
                    message: format!("a second shader would be the module `{name}`"),
                });
            }
        }
        if !problems.is_empty() {
            return problems;
        }
        let mut rust = String::new();
        let mut files = vec![];
        for (name, generated) in made {
            let file = format!("{name}.program");
            let _ = writeln!(
                rust,
                "/// The shader `{name}`.\n#[allow(dead_code)]\npub mod {name} {{\n    /// The program.\n    \
                 pub const PROGRAM: &[u8] = include_bytes!({file:?});\n{}}}",
                indented(&generated.rust)
            );
            files.push((file, generated.program));
        }
        files.push(("shaders.rs".to_owned(), rust.into_bytes()));
        for (file, bytes) in files {
            let path = folder.join(file);
            if let Err(error) = std::fs::write(&path, bytes) {
                problems.push(Problem {
                    place: path.display().to_string(),
                    message: format!("can't be written: {error}"),
                });
            }
        }
        problems
    }
}

/// Compiles one shader, and says in Rust what it wants from outside.
///
/// # Errors
/// All that is wrong with it.
pub fn generate(path: &Path, options: &Options) -> Result<Generated, Vec<Problem>> {
    let spirv = source::load(path)?;
    let name = path.display().to_string();
    let compiled = crate::compile::compile(&spirv, options).map_err(|errors| {
        let problem = |error: &crate::compile::Error| source::located(&name, &error.to_string());
        errors.0.iter().map(problem).collect::<Vec<Problem>>()
    })?;
    let reflection = reflect(&spirv, options.entry.as_deref(), &options.spec_constants)
        .map_err(|error| vec![source::located(&name, &error.to_string())])?;
    let rust = bindings::write(&reflection).map_err(|message| {
        vec![Problem {
            place: name,
            message,
        }]
    })?;
    Ok(Generated {
        program: compiled.program,
        rust,
    })
}

/// The file's name as that of a module.
fn module_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    bindings::snake(&stem)
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    });
    lines.collect()
}

#[cfg(test)]
mod tests;
