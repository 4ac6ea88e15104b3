//! `--print` and `--compare`: which part of a result is looked at, and as what.

use crate::input::buffer_source::{self, BindingName, SourceError};
use crate::outcome::Failure;
use eitri_compute_cases::{Comparison, Element, Rule};
use miette::Diagnostic;
use std::str::FromStr;
use thiserror::Error;

/// Elements that are printed where nobody says how many.
const FIRST: usize = 16;

/// The types by the names that people write.
#[rustfmt::skip]
const TYPES: [(&str, Element); 8] = [
    ("u32", Element::U32), ("i32", Element::I32), ("f32", Element::F32), ("f16", Element::F16),
    ("u16", Element::U16), ("i16", Element::I16), ("u8",  Element::U8),  ("i8",  Element::I8),
];

/// What is wrong with one of the two options.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
pub(crate) enum ViewError {
    #[error(transparent)]
    Binding(#[from] SourceError),
    #[error("`{text}` is not BINDING[:TYPE][[FROM..TO]]")]
    #[diagnostic(help("--print 1:f32[0..8]; types are u32, i32, f32, f16, u16, i16, u8 and i8"))]
    Print { text: String },
    #[error("`{text}` is not BINDING=FILE[:TYPE[:TOLERANCE]]")]
    #[diagnostic(help(
        "--compare 1=expected.bin:f32:1e-5; types are u32, i32, f32, f16, u16, i16, u8 and i8"
    ))]
    Compare { text: String },
}

fn element(name: &str) -> Option<Element> {
    let row = TYPES.iter().find(|(of, _)| *of == name);
    row.map(|(_, element)| *element)
}

/// `--print BINDING[:TYPE][[FROM..TO]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrintArgument {
    pub(crate) name: BindingName,
    element: Element,
    /// The first element, and the one behind the last.
    range: Option<(usize, usize)>,
}

impl FromStr for PrintArgument {
    type Err = ViewError;

    fn from_str(text: &str) -> Result<PrintArgument, ViewError> {
        let wrong = || ViewError::Print {
            text: text.to_owned(),
        };
        // `[E]` may be an element of an array of descriptors: a range has its dots.
        let (rest, range) = match text.strip_suffix(']').and_then(|it| it.rsplit_once('[')) {
            Some((rest, range)) if range.contains("..") => {
                let (from, to) = range.split_once("..").ok_or_else(wrong)?;
                let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
                let from = if from.is_empty() { 0 } else { number(from)? };
                let to = if to.is_empty() {
                    usize::MAX
                } else {
                    number(to)?
                };
                (rest, Some((from, to)))
            }
            _ => (text, None),
        };
        let typed = rest.rsplit_once(':');
        let typed = typed.and_then(|(name, ty)| Some((name, element(ty)?)));
        let (name, element) = typed.unwrap_or((rest, Element::U32));
        let name = name.parse().map_err(|_| wrong())?;
        if range.is_some_and(|(from, to)| from >= to) {
            return Err(wrong());
        }
        Ok(PrintArgument {
            name,
            element,
            range,
        })
    }
}

impl PrintArgument {
    /// A line: the binding, the range, the elements.
    pub(crate) fn line(&self, bytes: &[u8]) -> String {
        let size = self.element.bytes();
        let all = bytes.len() / size;
        let (from, to) = self.range.unwrap_or((0, FIRST));
        let (from, to) = (from.min(all), to.min(all));
        let elements = bytes.chunks_exact(size).take(to).skip(from);
        let shown: Vec<String> = elements.map(|bytes| self.element.show(bytes)).collect();
        let ty = format!("{:?}", self.element).to_lowercase();
        let more = match self.range {
            None if to < all => format!(" … {} more", all - to),
            _ => String::new(),
        };
        format!(
            "{} {ty}[{from}..{to}]: {}{more}",
            self.name,
            shown.join(" ")
        )
    }
}

/// `--compare BINDING=FILE[:TYPE[:TOLERANCE]]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompareArgument {
    pub(crate) name: BindingName,
    pub(crate) path: String,
    rule: Rule,
}

impl FromStr for CompareArgument {
    type Err = ViewError;

    fn from_str(text: &str) -> Result<CompareArgument, ViewError> {
        let wrong = || ViewError::Compare {
            text: text.to_owned(),
        };
        let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
        let name = name.parse()?;
        let parts: Vec<&str> = rest.rsplitn(3, ':').collect();
        let (path, element, tolerance) = match parts[..] {
            [tolerance, ty, path] if element(ty).is_some() => (path, element(ty), Some(tolerance)),
            [ty, ..] if element(ty).is_some() => {
                let path = rest.len() - ty.len() - 1;
                (rest.get(..path).unwrap_or_default(), element(ty), None)
            }
            _ => (rest, None, None),
        };
        if path.is_empty() {
            return Err(wrong());
        }
        let rule = match (element, tolerance) {
            (element, None) => Rule::Exact { element },
            (Some(element), Some(text)) if element.is_real() => {
                let tolerance: f64 = text.parse().map_err(|_| wrong())?;
                if tolerance.is_nan() || tolerance < 0.0 {
                    return Err(wrong());
                }
                Rule::Float {
                    element,
                    abs: tolerance,
                    rel: tolerance,
                }
            }
            (Some(element), Some(text)) => Rule::Integer {
                element,
                max_diff: text.parse().map_err(|_| wrong())?,
            },
            (None, Some(_)) => return Err(wrong()),
        };
        Ok(CompareArgument {
            name,
            path: path.to_owned(),
            rule,
        })
    }
}

impl CompareArgument {
    /// How the content of a buffer differs from the file; nothing if it does not.
    pub(crate) fn difference(&self, got: &[u8]) -> Result<Option<String>, Failure> {
        let expected = buffer_source::read(&self.path)?;
        if expected.len() != got.len() {
            return Ok(Some(format!(
                "{}: {} bytes, but {} has {}",
                self.name,
                got.len(),
                self.path,
                expected.len()
            )));
        }
        let comparison = Comparison {
            rule: self.rule,
            allow_mismatch: 0,
        };
        let mismatch = comparison.check(got, &expected).err();
        Ok(mismatch.map(|mismatch| format!("{}: {mismatch} ({})", self.name, self.path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, bytes: &[u8]) -> String {
        text.parse::<PrintArgument>().unwrap().line(bytes)
    }

    #[test]
    fn a_part_of_a_buffer_is_printed_as_its_type() {
        let floats = [1.0f32, 2.5, -3.0].map(f32::to_le_bytes).concat();
        assert_eq!(
            line("1:f32[0..2]", &floats),
            "0:1 f32[0..2]: 1.0 2.5 (0x40200000)"
        );
        assert_eq!(line("2:1:f32[2..]", &floats), "2:1 f32[2..3]: -3.0");
        assert_eq!(line("0[3]:u8[..2]", &floats), "0:0[3] u8[0..2]: 0 0");
        assert_eq!(line("0:1", &[5, 0, 0, 0]), "0:1 u32[0..1]: 5");
        let many = line("0", &[0; 4 * 20]);
        assert!(many.ends_with("… 4 more"), "{many}");
        for wrong in ["", "x", "1:f33", "1:f32[2..1]", "1:f32[a..b]"] {
            assert!(wrong.parse::<PrintArgument>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_comparison_has_a_type_and_a_tolerance_if_it_is_given_them() {
        let parse = |text: &str| text.parse::<CompareArgument>().unwrap();
        let plain = parse("1=dir/a:b.bin");
        assert_eq!(
            (plain.path.as_str(), plain.rule),
            ("dir/a:b.bin", Rule::Exact { element: None })
        );
        let typed = parse("1=a.bin:u32");
        assert_eq!(typed.path, "a.bin");
        let close = parse("0:1=a.bin:f32:1e-5");
        let element = Element::F32;
        let (abs, rel) = (1e-5, 1e-5);
        assert_eq!(close.rule, Rule::Float { element, abs, rel });
        for wrong in ["1", "1=", "1=:f32", "1=a:f32:x", "1=a:u32:-1"] {
            assert!(wrong.parse::<CompareArgument>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("expected.bin");
        std::fs::write(&path, [1, 0, 0, 0, 2, 0, 0, 0]).unwrap();
        let argument = format!("1={}:u32", path.display());
        let argument: CompareArgument = argument.parse().unwrap();
        let difference = |got: &[u8]| argument.difference(got).unwrap();
        assert_eq!(difference(&[1, 0, 0, 0, 2, 0, 0, 0]), None);
        let text = difference(&[1, 0, 0, 0, 3, 0, 0, 0]).unwrap();
        assert!(
            text.contains("element 1 (byte 0x4, u32): got 3, expected 2"),
            "{text}"
        );
        let text = difference(&[1]).unwrap();
        assert!(text.contains("1 bytes, but"), "{text}");
    }
}
