//! Contents that are read from files.

use super::store;
use crate::lexer::{Lexer, TokenKind};
use crate::script::{Buffer, Contents, FileKind};
use crate::types::{Element, MAX_BYTES};
use std::io::Cursor;
use thiserror::Error;

/// Where files that a script names are read.
pub trait Files {
    /// The contents of a file, by its path in the script.
    ///
    /// # Errors
    /// Those of the system.
    fn read(&mut self, path: &str) -> std::io::Result<Vec<u8>>;
}

/// A buffer that its file gives nothing.
#[derive(Debug, Error)]
#[error("buffer {name}: {cause}")]
pub struct FillError {
    /// The buffer.
    pub name: String,
    /// Why not.
    pub cause: ContentsError,
}

/// Why a buffer has no contents.
#[derive(Debug, Error)]
pub enum ContentsError {
    /// The file can't be read.
    #[error("can't read {path}: {cause}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The file is empty, or too large.
    #[error("{path} has {bytes} bytes: a buffer has 1 to {MAX_BYTES}")]
    Length {
        /// The file.
        path: String,
        /// Its length.
        bytes: u64,
    },
    /// The file's text is not a list of numbers for the buffer.
    #[error("{path}: byte {at}: {problem}")]
    Text {
        /// The file.
        path: String,
        /// Where.
        at: usize,
        /// What is wrong.
        problem: String,
    },
    /// The file does not hold whole elements.
    #[error("{path} does not hold whole elements of {what}")]
    PartOfElement {
        /// The file.
        path: String,
        /// What an element consists of.
        what: String,
    },
    /// The file is no picture that can be read.
    #[error("{path} is not a PNG picture: {why}")]
    Png {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// The picture does not fit the buffer's type.
    #[error("{path} is a picture of 8-bit RGBA, but an element of {ty} has {stride} bytes")]
    PngType {
        /// The file.
        path: String,
        /// The buffer's type.
        ty: String,
        /// Its stride.
        stride: usize,
    },
}

/// The buffer with what its file holds in the file's place, and of the size that it gives.
pub(crate) fn read(buffer: &Buffer, files: &mut dyn Files) -> Result<Buffer, FillError> {
    let Contents::File { kind, path } = &buffer.contents else {
        return Ok(buffer.clone());
    };
    let initial = from_file(buffer, *kind, path, files).map_err(|cause| FillError {
        name: buffer.name.clone(),
        cause,
    })?;
    Ok(Buffer {
        elements: Some((initial.bytes.len() / buffer.element.stride.max(1)) as u64),
        size: initial.size,
        contents: Contents::Bytes(initial.bytes),
        ..buffer.clone()
    })
}

/// A file's bytes as the buffer's, and its width and height.
struct Initial {
    bytes: Vec<u8>,
    size: (u32, u32),
}

fn from_file(
    buffer: &Buffer,
    kind: FileKind,
    path: &str,
    files: &mut dyn Files,
) -> Result<Initial, ContentsError> {
    let file = files.read(path).map_err(|cause| ContentsError::Read {
        path: path.to_owned(),
        cause,
    })?;
    let bytes = file.len() as u64;
    if bytes == 0 || bytes > MAX_BYTES {
        let path = path.to_owned();
        return Err(ContentsError::Length { path, bytes });
    }
    let size = buffer.size;
    match kind {
        FileKind::Png => picture(buffer, path, &file),
        FileKind::Binary if file.len().is_multiple_of(buffer.element.stride) => {
            Ok(Initial { bytes: file, size })
        }
        FileKind::Binary => Err(ContentsError::PartOfElement {
            path: path.to_owned(),
            what: format!("{} bytes", buffer.element.stride),
        }),
        FileKind::Text => {
            let bytes = text(&buffer.element, path, &file)?;
            Ok(Initial { bytes, size })
        }
    }
}

/// A list of numbers, like a `DATA` block, with or without `END`.
fn text(element: &Element, path: &str, file: &[u8]) -> Result<Vec<u8>, ContentsError> {
    let error = |at, problem: String| ContentsError::Text {
        path: path.to_owned(),
        at,
        problem,
    };
    let source = core::str::from_utf8(file)
        .map_err(|cause| error(cause.valid_up_to(), "not UTF-8".to_owned()))?;
    let mut lexer = Lexer::new(source, 0..source.len());
    let mut values = Vec::new();
    loop {
        let token = lexer
            .next()
            .map_err(|(span, problem)| error(span.start, problem.to_string()))?;
        match token.kind {
            TokenKind::Number(literal) => {
                let checked = crate::parse::check_value(element, values.len(), literal);
                checked.map_err(|problem| error(token.span.start, problem.to_string()))?;
                values.push(literal);
            }
            TokenKind::EndOfLine => {}
            TokenKind::EndOfScript | TokenKind::Identifier("END") => break,
            other => {
                return Err(error(
                    token.span.start,
                    format!("expected a number, found {other}"),
                ));
            }
        }
    }
    let components = element.components.len();
    if values.is_empty() || values.len() % components != 0 {
        return Err(ContentsError::PartOfElement {
            path: path.to_owned(),
            what: format!("{components} numbers"),
        });
    }
    let length = (values.len() / components).saturating_mul(element.stride);
    if length as u64 > MAX_BYTES {
        let (path, bytes) = (path.to_owned(), length as u64);
        return Err(ContentsError::Length { path, bytes });
    }
    let mut bytes = vec![0; length];
    store(element, values.into_iter(), 0, &mut bytes);
    Ok(bytes)
}

fn picture(buffer: &Buffer, path: &str, file: &[u8]) -> Result<Initial, ContentsError> {
    if buffer.element.stride != 4 {
        return Err(ContentsError::PngType {
            path: path.to_owned(),
            ty: buffer.ty.to_string(),
            stride: buffer.element.stride,
        });
    }
    let error = |why: String| ContentsError::Png {
        path: path.to_owned(),
        why,
    };
    let mut decoder = png::Decoder::new_with_limits(
        Cursor::new(file),
        png::Limits {
            // The same bound as for everything else; on a machine with less address space it is as good as none.
            bytes: usize::try_from(MAX_BYTES).unwrap_or(usize::MAX),
        },
    );
    decoder.set_transformations(
        png::Transformations::normalize_to_color8() | png::Transformations::ALPHA,
    );
    let mut reader = decoder
        .read_info()
        .map_err(|cause| error(cause.to_string()))?;
    let length = reader
        .output_buffer_size()
        .filter(|length| *length as u64 <= MAX_BYTES);
    let mut pixels = vec![0; length.ok_or_else(|| error("it is too large".to_owned()))?];
    let frame = reader
        .next_frame(&mut pixels)
        .map_err(|cause| error(cause.to_string()))?;
    pixels.truncate(frame.buffer_size());
    let bytes = match frame.color_type {
        png::ColorType::Rgba => pixels,
        png::ColorType::GrayscaleAlpha => {
            let (pairs, _) = pixels.as_chunks::<2>();
            pairs
                .iter()
                .flat_map(|[gray, alpha]| [*gray, *gray, *gray, *alpha])
                .collect()
        }
        other => return Err(error(format!("its color type is {other:?}"))),
    };
    let size = (frame.width, frame.height);
    Ok(Initial { bytes, size })
}
