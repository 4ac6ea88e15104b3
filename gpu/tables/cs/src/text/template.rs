//! Templates: how the tables write the text of an instruction.
//!
//! | Piece                        | Stands for                                                              |
//! |------------------------------|-------------------------------------------------------------------------|
//! | `{f}`                        | field f: a number in decimal, a named value by its word                 |
//! | `{f:x}`, `{f:X}`, `{f:#X}`   | in hexadecimal: lower case, upper case, upper case behind `0x`           |
//! | `{f?text}`, `{f!text}`       | text when f is not 0, when it is 0                                      |
//! | `<text>`                     | text when the architecture has the fields in it                         |
//! | `{%regs}`                    | `r66:r67` for each bit of `mask` from `base_register` on; `_` for none  |
//! | `{%mem}`                     | `[d66]`, or `[d66 + 8]` when `offset` is not 0                          |
//! | `{%last_reg}`                | `base_register + register_count - 1`                                    |
//! | `{%imm32}`                   | bits 31:0 as a signed number, whatever fields they are                  |
//! | `{%wait_list}`               | the slots of `wait_mask`, with commas                                   |
//! | `{%target}`                  | `#` and `offset`, or the label there                                    |
//!
//! Facts: hardware/command-stream.md 5, whose templates these are, with absent fields and `0x` made regular.

/// A piece of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// These characters.
    Literal(&'t str),
    /// The value of a field.
    Field(&'t str, Base),
    /// The inner template, when the field is not 0.
    IfSet(&'t str, &'t str),
    /// The inner template, when the field is 0.
    IfClear(&'t str, &'t str),
    /// The inner template, when the architecture has the fields in it.
    Group(&'t str),
    /// Several fields together.
    Special(&'t str),
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Decimal,
    LowerHex,
    UpperHex,
    /// Behind `0x`.
    PrefixedHex,
}

/// The pieces of a template, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces<'t>(pub(super) &'t str);

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let rest = self.0;
        let (piece, length) = match rest.chars().next()? {
            '{' => {
                let inner = &rest[1..closing(rest, '{', '}')];
                (braced(inner), inner.len() + 2)
            }
            '<' => {
                let inner = &rest[1..closing(rest, '<', '>')];
                (Piece::Group(inner), inner.len() + 2)
            }
            _ => {
                let end = rest.find(['{', '<']).unwrap_or(rest.len());
                (Piece::Literal(&rest[..end]), end)
            }
        };
        self.0 = rest.get(length..).unwrap_or("");
        Some(piece)
    }
}

/// Where the bracket that opens `text` is closed.
fn closing(text: &str, open: char, close: char) -> usize {
    let mut depth = 0;
    for (index, character) in text.char_indices() {
        if character == open {
            depth += 1;
        } else if character == close {
            depth -= 1;
            if depth == 0 {
                return index;
            }
        }
    }
    text.len()
}

fn braced(inner: &str) -> Piece<'_> {
    if let Some(special) = inner.strip_prefix('%') {
        return Piece::Special(special);
    }
    match inner.find(['?', '!', ':']) {
        None => Piece::Field(inner, Base::Decimal),
        Some(end) => {
            let (name, rest) = (&inner[..end], &inner[end + 1..]);
            match (&inner[end..=end], rest) {
                ("?", text) => Piece::IfSet(name, text),
                ("!", text) => Piece::IfClear(name, text),
                (_, "x") => Piece::Field(name, Base::LowerHex),
                (_, "X") => Piece::Field(name, Base::UpperHex),
                (_, _) => Piece::Field(name, Base::PrefixedHex),
            }
        }
    }
}
