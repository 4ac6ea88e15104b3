//! Shader files to SPIR-V, and where a message points to.
//!
//! Guarantees: positions are those of the user's own file.

use std::path::Path;

use naga::back::spv;

use super::Problem;

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
        "wgsl" => spv::SourceLanguage::WGSL,
        "comp" | "glsl" => spv::SourceLanguage::GLSL,
        _ => {
            let message =
                "can't tell the language: the name must end in .wgsl, .comp, .glsl or .spv";
            return Err(wrong(message.to_owned()));
        }
    };
    let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    let words = match language {
        spv::SourceLanguage::WGSL => {
            let module = naga::front::wgsl::parse_str(&text).map_err(|error| {
                let place = error.location(&text);
                vec![at(&name, place, error.message())]
            })?;
            // WGSL promises zeroed shared memory.
            let zeroed = spv::ZeroInitializeWorkgroupMemoryMode::Polyfill;
            write(&module, &name, &text, language, zeroed)?
        }
        _ => {
            let options = naga::front::glsl::Options::from(naga::ShaderStage::Compute);
            let parsed = naga::front::glsl::Frontend::default().parse(&options, &text);
            let module = parsed.map_err(|errors| {
                let problem = |error: &naga::front::glsl::Error| {
                    let place = error.location(&text);
                    at(&name, place, &error.kind.to_string())
                };
                errors.errors.iter().map(problem).collect::<Vec<Problem>>()
            })?;
            let zeroed = spv::ZeroInitializeWorkgroupMemoryMode::None;
            write(&module, &name, &text, language, zeroed)?
        }
    };
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn write(
    module: &naga::Module,
    name: &str,
    text: &str,
    language: spv::SourceLanguage,
    zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode,
) -> Result<Vec<u32>, Vec<Problem>> {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(module)
        .map_err(|error| {
            let place = error.location(text);
            // The causes say what the error itself only names.
            let mut message = error.as_inner().to_string();
            let mut cause = std::error::Error::source(error.as_inner());
            while let Some(next) = cause {
                message += &format!(": {next}");
                cause = next.source();
            }
            vec![at(name, place, &message)]
        })?;
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::DEBUG,
        zero_initialize_workgroup_memory,
        // A shader that never ends is the user's to see, not to be hidden.
        force_loop_bounding: false,
        debug_info: Some(spv::DebugInfo {
            source_code: text,
            file_name: name,
            language,
        }),
        ..spv::Options::default()
    };
    spv::write_vec(module, &info, &options, None).map_err(|error| {
        vec![Problem {
            place: name.to_owned(),
            message: error.to_string(),
        }]
    })
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
