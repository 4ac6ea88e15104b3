//! `eitri unpack`: the fields of a packed descriptor.

use crate::input::descriptor_names::{NameError, structure};
use crate::outcome::{Failure, Status};
use crate::output::streams;
use eitri_descriptors::{Arch, DescriptorError, Printed, SUPPORTED};
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
    let size = layout.size(args.arch).map(|bytes| bytes as usize);
    if let Some(needed) = size.filter(|size| *size != bytes.len()) {
        let (structure, found) = (layout.name, bytes.len());
        return Err(NameError::Descriptor(DescriptorError::Length {
            structure,
            needed,
            found,
        })
        .into());
    }
    let words: Vec<u32> = bytes
        .chunks(4)
        .map(|chunk| {
            chunk
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u32::from(*byte))
        })
        .collect();
    let printed = Printed::new(layout, args.arch, &words).map_err(NameError::Descriptor)?;
    streams::print(format_args!("{printed}"))?;
    Ok(Status::Good)
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
