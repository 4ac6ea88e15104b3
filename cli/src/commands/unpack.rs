//! `eitri unpack`: the fields of a packed descriptor.

use crate::input::descriptor_names::{NameError, structure};
use crate::outcome::{Failure, Status};
use crate::output::streams;
use eitri_descriptors::framebuffer::{BlockFormat, Framebuffer, ZsCrcExtension};
use eitri_descriptors::target::RenderTarget;
use eitri_descriptors::{
    Arch, Descriptor as _, DescriptorError, Layout, Printed, SUPPORTED, Value, value,
};
use miette::Diagnostic;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The structure, as the facts name it; case, blanks, `_` and `-` don't count.
    #[arg(value_name = "STRUCT")]
    structure: String,
    /// The bytes, byte 0 first, as `eitri pack` prints them; blanks and `_` between digits are allowed.
    #[arg(value_name = "HEX", required = true)]
    hex: Vec<String>,
    /// The generation.
    #[arg(long, default_value = "v10", value_parser = |text: &str| SUPPORTED.parse(text))]
    arch: Arch,
}

/// Digits that are no bytes.
#[derive(Debug, Error, Diagnostic)]
enum HexProblem {
    #[error("`{0}` is no hex digit")]
    Digit(char),
    #[error("{0} hex digits: half a byte is missing")]
    Odd(usize),
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let layout = structure(&args.structure)?;
    let bytes = bytes(&args.hex).map_err(Failure::refused)?;
    let words: Vec<u32> = bytes
        .chunks(4)
        .map(|chunk| {
            chunk
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u32::from(*byte))
        })
        .collect();
    for (layout, words) in parts(layout, args.arch, &words, bytes.len())? {
        let printed = Printed::new(layout, args.arch, words);
        let printed = printed.map_err(|error| wrong(error, layout, args.arch, words))?;
        streams::print(format_args!("{printed}"))?;
    }
    Ok(Status::Good)
}

/// A structure, and the words that are it.
type Part<'w> = (&'static Layout, &'w [u32]);

/// The structures that the words are: the one that was named, and, where that is a framebuffer and there are more words, what its own
/// fields say follows it (descriptors.md 15): the extension, and the targets.
fn parts<'w>(
    layout: &'static Layout,
    arch: Arch,
    words: &'w [u32],
    bytes: usize,
) -> Result<Vec<Part<'w>>, NameError> {
    let size = |layout: &Layout| layout.size(arch).map(|bytes| bytes as usize / 4);
    let Some(first) = size(layout) else {
        // `Printed` says where the structure exists.
        return Ok(vec![(layout, words)]);
    };
    let mut found = vec![layout];
    if layout.name == Framebuffer::LAYOUT.name && words.len() > first {
        let field = |path: &str| match value(layout, arch, words, path) {
            Ok(Value::Number(value)) => value as usize,
            _ => 0,
        };
        if field("Parameters.Has ZS CRC Extension") != 0 {
            found.push(ZsCrcExtension::LAYOUT);
        }
        let targets = field("Parameters.Render Target Count");
        found.extend(std::iter::repeat_n(RenderTarget::LAYOUT, targets));
    }
    let needed: usize = found.iter().filter_map(|layout| size(layout)).sum();
    if 4 * needed != bytes {
        return Err(NameError::Descriptor(DescriptorError::Length {
            structure: layout.name,
            needed: 4 * needed,
            found: bytes,
        }));
    }
    let mut rest = words;
    let parts = found.into_iter().filter_map(|layout| {
        let (part, behind) = rest.split_at_checked(size(layout)?)?;
        rest = behind;
        Some((layout, part))
    });
    Ok(parts.collect())
}

/// The error for words that are no such structure, with the one that a target's block format tells of.
fn wrong(error: DescriptorError, layout: &Layout, arch: Arch, words: &[u32]) -> NameError {
    let paths = ["Writeback Block Format", "Block Format"];
    let mut formats = paths
        .iter()
        .filter_map(|path| match value(layout, arch, words, path) {
            Ok(Value::Number(format)) => BlockFormat::TABLE.of_value(arch, format),
            _ => None,
        });
    let format = formats.next().map(|format| format.name);
    let compressed = format.filter(|name| name.starts_with("AFBC"));
    let (other, format) = match (layout.name.strip_prefix("AFBC "), compressed, format) {
        (None, Some(format), _) => (format!("AFBC {}", layout.name), format),
        (Some(plain), None, Some(format)) => (plain.to_owned(), format),
        _ => return NameError::Descriptor(error),
    };
    // Not every target has a compressed form.
    match eitri_descriptors::layout(&other) {
        Some(other) => NameError::OtherTarget {
            error,
            format,
            other: other.name,
        },
        None => NameError::Descriptor(error),
    }
}

fn bytes(arguments: &[String]) -> Result<Vec<u8>, HexProblem> {
    let mut digits = Vec::new();
    for argument in arguments
        .iter()
        .flat_map(|argument| argument.split_whitespace())
    {
        let bare = argument.strip_prefix("0x").unwrap_or(argument);
        for letter in bare.chars().filter(|letter| *letter != '_') {
            digits.push(letter.to_digit(16).ok_or(HexProblem::Digit(letter))? as u8);
        }
    }
    if digits.len() % 2 != 0 {
        return Err(HexProblem::Odd(digits.len()));
    }
    Ok(digits
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect())
}
