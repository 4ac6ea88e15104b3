//! Text templates, cut into pieces: literal text, and fields in braces.

use crate::field::Field;

/// A piece of a template.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece<'a> {
    Literal(&'a str),
    Field(Field),
}

/// The pieces of a template, in order.
pub(crate) fn pieces(template: &str) -> impl Iterator<Item = Piece<'_>> {
    // Text and names take turns: text, name}text, name}text.
    let mut parts = template.split('{');
    let head = parts.next().into_iter().map(Piece::Literal);
    let rest = parts.flat_map(|part| {
        let (name, text) = part.split_once('}').unwrap_or((part, ""));
        let field = Field::from_name(name).map(Piece::Field);
        [field, Some(Piece::Literal(text))].into_iter().flatten()
    });
    head.chain(rest)
        .filter(|piece| !matches!(piece, Piece::Literal("")))
}
