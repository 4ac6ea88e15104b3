//! A script's text, and what is wrong with it as a person sees it.

use crate::output::source_text;
use eitri_amber::SyntaxError;
use eitri_amber::script::Script;
use miette::{Diagnostic, NamedSource, SourceSpan};
use std::path::Path;
use thiserror::Error;

/// Most bytes that a script may have.
const MAX_BYTES: u64 = 16 << 20;

/// Why a file is no script.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum ScriptError {
    #[error("can't read {path}: {cause}")]
    Read { path: String, cause: std::io::Error },
    #[error("{path}: {bytes} bytes: a script has at most {MAX_BYTES}")]
    TooLong { path: String, bytes: u64 },
    #[error("{path}: byte {at} is not UTF-8")]
    NotText { path: String, at: usize },
    #[error("{path}:{error}")]
    Syntax {
        path: String,
        error: SyntaxError,
        #[source_code]
        source_code: NamedSource<String>,
        #[label("here")]
        span: SourceSpan,
    },
}

/// Reads the script at `path`.
pub(crate) fn load(path: &Path) -> Result<Script, Box<ScriptError>> {
    let name = path.display().to_string();
    let unreadable = |cause| {
        let path = name.clone();
        Box::new(ScriptError::Read { path, cause })
    };
    let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
    if bytes > MAX_BYTES {
        return Err(Box::new(ScriptError::TooLong { path: name, bytes }));
    }
    let text = String::from_utf8(std::fs::read(path).map_err(unreadable)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let path = name.clone();
        Box::new(ScriptError::NotText { path, at })
    })?;
    eitri_amber::parse(&text).map_err(|error| {
        Box::new(ScriptError::Syntax {
            path: name.clone(),
            span: error.span.clone().into(),
            error,
            source_code: source_text::shown(&name, &text),
        })
    })
}
