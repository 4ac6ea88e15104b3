//! Shader files to SPIR-V, and where a message points to.
//!
//! Guarantees: positions are those of the user's own file.

use std::path::Path;

use super::Problem;
use super::shader_text::{Language, ShaderTextError, to_spirv};

/// Reads a shader in any of the languages that need no tool.
pub(super) fn load(path: &Path) -> Result<Vec<u8>, Vec<Problem>> {
    let name = path.display().to_string();
    let wrong = |message: String| {
        vec![Problem {
            place: name.clone(),
            message,
        }]
    };
    let bytes = std::fs::read(path).map_err(|error| wrong(format!("can't be read: {error}")))?;
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or("");
    let language = match end {
        "spv" => return Ok(bytes),
        "wgsl" => Language::Wgsl,
        "comp" | "glsl" => Language::Glsl,
        _ => {
            let message =
                "can't tell the language: the name must end in .wgsl, .comp, .glsl or .spv";
            return Err(wrong(message.to_owned()));
        }
    };
    let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    to_spirv(language, &name, &text).map_err(|error| problems(&error, &name, &text))
}

/// The problems that an error tells of, each with its position in `text`.
fn problems(error: &ShaderTextError, name: &str, text: &str) -> Vec<Problem> {
    match error {
        ShaderTextError::Wgsl(error) => vec![at(name, error.location(text), error.message())],
        ShaderTextError::Glsl(errors) => {
            let problem = |error: &naga::front::glsl::Error| {
                at(name, error.location(text), &error.kind.to_string())
            };
            errors.errors.iter().map(problem).collect()
        }
        ShaderTextError::Rule(error) => {
            // The causes say what the error itself only names.
            let mut message = error.as_inner().to_string();
            let mut cause = std::error::Error::source(error.as_inner());
            while let Some(next) = cause {
                message += &format!(": {next}");
                cause = next.source();
            }
            vec![at(name, error.location(text), &message)]
        }
        ShaderTextError::Misread(misread) => {
            vec![at(name, misread.location(text), &misread.to_string())]
        }
        ShaderTextError::Write(error) => vec![at(name, None, &error.to_string())],
    }
}

fn at(name: &str, place: Option<naga::SourceLocation>, message: &str) -> Problem {
    let place = match place {
        Some(place) => format!("{name}:{}:{}", place.line_number, place.line_position),
        None => name.to_owned(),
    };
    Problem {
        place,
        message: message.to_owned(),
    }
}

/// A message of the compiler, which begins with the place in the file if the module says it.
pub(super) fn located(name: &str, message: &str) -> Problem {
    let rest = message
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix(':'));
    let Some(rest) = rest else {
        return Problem {
            place: name.to_owned(),
            message: message.to_owned(),
        };
    };
    let (place, what) = rest.split_once(": ").unwrap_or(("", rest));
    Problem {
        place: format!("{name}:{place}"),
        message: what.to_owned(),
    }
}
