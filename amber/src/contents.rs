//! What a buffer holds before the first command: language reference, section 7.

use crate::lexer::{Lexer, TokenKind};
use crate::literal::Literal;
use crate::run::Files;
use crate::script::{Buffer, Contents, FileKind};
use crate::types::{Element, MAX_BYTES};
use std::io::Cursor;
use thiserror::Error;

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

/// A buffer's first bytes, and its width and height.
pub(crate) struct Initial {
    pub(crate) bytes: Vec<u8>,
    pub(crate) size: (u32, u32),
}

/// The first bytes of a buffer; none where nothing gives it a size.
pub(crate) fn initial(
    buffer: &Buffer,
    files: &mut dyn Files,
) -> Result<Option<Initial>, ContentsError> {
    if let Contents::File { kind, path } = &buffer.contents {
        return from_file(buffer, *kind, path, files).map(Some);
    }
    let Some(elements) = buffer.elements else {
        return Ok(None);
    };
    // The parser has bounded the length by MAX_BYTES.
    let elements = usize::try_from(elements).unwrap_or(0);
    let mut bytes = vec![0; elements.saturating_mul(buffer.element.stride)];
    match &buffer.contents {
        Contents::None | Contents::File { .. } => {}
        Contents::Data(values) => store(&buffer.element, values.iter().copied(), 0, &mut bytes),
        Contents::Fill(value) => {
            let count = elements.saturating_mul(buffer.element.components.len());
            store(
                &buffer.element,
                std::iter::repeat_n(*value, count),
                0,
                &mut bytes,
            );
        }
        Contents::Series { from, by } => {
            store(
                &buffer.element,
                series(&buffer.element, *from, *by).take(elements),
                0,
                &mut bytes,
            );
        }
    }
    let size = buffer.size;
    Ok(Some(Initial { bytes, size }))
}

/// `from`, `from + by`, `from + 2 by` ...: integers modulo 2^64, floats added up in double precision.
fn series(element: &Element, from: Literal, by: Literal) -> impl Iterator<Item = Literal> {
    let is_float = element
        .components
        .iter()
        .any(|component| component.scalar.is_float());
    let bits = |literal: Literal| literal.as_bits().unwrap_or(literal.as_f64() as i64 as u64);
    let (mut sum, step) = (from.as_f64(), by.as_f64());
    let (mut bits_sum, bits_step) = (bits(from), bits(by));
    std::iter::repeat_with(move || {
        let value = match is_float {
            true => Literal::Float(sum),
            false => Literal::Hex(bits_sum),
        };
        sum += step;
        bits_sum = bits_sum.wrapping_add(bits_step);
        value
    })
}

/// Stores values one component after the other from byte `offset` on; what is beyond the end is lost.
pub(crate) fn store(
    element: &Element,
    values: impl Iterator<Item = Literal>,
    offset: usize,
    bytes: &mut [u8],
) {
    for (index, value) in values.enumerate() {
        let Some((scalar, at)) = element.place(index) else {
            return;
        };
        let start = offset.saturating_add(at);
        if let Some(to) = bytes.get_mut(start..start.saturating_add(scalar.bytes())) {
            scalar.store(value, to);
        }
    }
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
    let source = std::str::from_utf8(file)
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

#[cfg(test)]
mod tests {
    use super::*;

    struct One(Vec<u8>);

    impl Files for One {
        fn read(&mut self, path: &str) -> std::io::Result<Vec<u8>> {
            match path {
                "there" => Ok(self.0.clone()),
                _ => Err(std::io::ErrorKind::NotFound.into()),
            }
        }
    }

    fn contents(declaration: &str, file: &[u8]) -> Result<Vec<u8>, String> {
        let script = crate::parse(&format!("#!amber\n{declaration}\n")).unwrap();
        match initial(&script.buffers[0], &mut One(file.to_vec())) {
            Ok(initial) => Ok(initial.map_or(Vec::new(), |initial| initial.bytes)),
            Err(error) => Err(error.to_string()),
        }
    }

    #[track_caller]
    fn check(declaration: &str, expected: &[u8]) {
        assert_eq!(
            contents(declaration, &[]).as_deref(),
            Ok(expected),
            "{declaration}"
        );
    }

    #[test]
    fn values_fill_components_and_leave_padding() {
        check(
            "BUFFER b DATA_TYPE uint8 DATA 1 0xff -1 END",
            &[1, 255, 255],
        );
        check(
            "BUFFER b DATA_TYPE vec3<uint8> DATA 1 2 3 4 5 6 END",
            &[1, 2, 3, 0, 4, 5, 6, 0],
        );
        check(
            "BUFFER b DATA_TYPE vec3<uint8> SIZE 2 FILL 7",
            &[7, 7, 7, 0, 7, 7, 7, 0],
        );
        check(
            "BUFFER b DATA_TYPE int16[] STD140 DATA 1 2 END",
            &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0],
        );
        check(
            "BUFFER b DATA_TYPE float SIZE 1 FILL 2",
            &2.0f32.to_le_bytes(),
        );
        check(
            "IMAGE b FORMAT R8G8_UINT WIDTH 1 HEIGHT 2 FILL 3",
            &[3, 3, 3, 3],
        );
    }

    #[test]
    fn series_wrap_or_accumulate() {
        check(
            "BUFFER b DATA_TYPE uint8 SIZE 3 SERIES_FROM 254 INC_BY 1",
            &[254, 255, 0],
        );
        check(
            "BUFFER b DATA_TYPE int8 SIZE 3 SERIES_FROM 1 INC_BY -1",
            &[1, 0, 255],
        );
        let floats: Vec<u8> = [0.5f32, 0.75, 1.0]
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        check(
            "BUFFER b DATA_TYPE float SIZE 3 SERIES_FROM 0.5 INC_BY 0.25",
            &floats,
        );
    }

    #[test]
    fn files_decide_how_long_a_buffer_is() {
        let text = "BUFFER b DATA_TYPE vec2<uint8> SIZE 9 FILE TEXT there";
        assert_eq!(contents(text, b"1 2 # x\n3\n4\nEND"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(
            contents(text, b"1 2 3").unwrap_err(),
            "there does not hold whole elements of 2 numbers"
        );
        assert_eq!(
            contents(text, b"1 x").unwrap_err(),
            "there: byte 2: expected a number, found `x`"
        );
        assert_eq!(
            contents(text, b"").unwrap_err(),
            "there has 0 bytes: a buffer has 1 to 268435456"
        );
        let binary = "BUFFER b DATA_TYPE uint16 SIZE 1 FILE BINARY there";
        assert_eq!(contents(binary, &[1, 2, 3, 4]), Ok(vec![1, 2, 3, 4]));
        assert!(contents(binary, &[1]).is_err());
        assert!(
            contents("BUFFER b DATA_TYPE int8 SIZE 1 FILE BINARY away", &[])
                .unwrap_err()
                .starts_with("can't read away")
        );
    }

    #[test]
    fn pictures_are_rgba() {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 2, 1);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&[1, 2, 3, 4, 5, 6]).unwrap();
        writer.finish().unwrap();
        let picture = "BUFFER b FORMAT R8G8B8A8_UNORM FILE there";
        assert_eq!(
            contents(picture, &file),
            Ok(vec![1, 2, 3, 255, 4, 5, 6, 255])
        );
        assert!(
            contents(picture, b"no picture")
                .unwrap_err()
                .starts_with("there is not a PNG picture")
        );
    }
}
