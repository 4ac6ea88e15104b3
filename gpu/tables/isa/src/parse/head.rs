//! The head of a line: mnemonic, modifiers, flow control.

use super::{ParseError, ParseErrorKind, Token};
use crate::field::{Field, Place, Words};
use crate::flow::Flow;
use crate::instr::Instr;
use crate::row::Row;
use crate::syntax::Syntax;
use crate::table;

/// The instruction that the head names, with its modifiers; no operands yet.
pub(super) fn parse(head: Token<'_>, syntax: Syntax) -> Result<Instr, ParseError> {
    let (row, name_length) = mnemonic(head, syntax)?;
    let mut instr = Instr::new(row.op);
    let mut state = State {
        seen: 0,
        twice: false,
        fixed: false,
        flow: false,
    };
    let mut rest = head.from(name_length);
    while let Some(words) = rest.text.strip_prefix('.').map(|_| rest.from(1)) {
        let (word, length) = longest(words, row);
        modifier(&mut instr, &mut state, word, syntax)?;
        rest = words.from(length);
    }
    for (index, field) in row.fields.iter().enumerate() {
        if field.is_required() && state.seen & (1 << index) == 0 {
            return Err(head.error(ParseErrorKind::MissingModifier(field.name)));
        }
    }
    Ok(instr)
}

/// What has been read so far.
struct State {
    /// Modifiers, by position in the row.
    seen: u32,
    /// The second word of a modifier that 26.2 prints twice.
    twice: bool,
    /// The word that belongs to the mnemonic.
    fixed: bool,
    /// Flow control.
    flow: bool,
}

/// The row with the longest name that the head starts with, and the length of that name. A name has one dot at most.
fn mnemonic(head: Token<'_>, syntax: Syntax) -> Result<(&'static Row, usize), ParseError> {
    let first = head.text.find('.').unwrap_or(head.text.len());
    let second = match head.text.get(first + 1..) {
        Some(rest) => first + 1 + rest.find('.').unwrap_or(rest.len()),
        None => first,
    };
    for end in [second, first] {
        let (name, after) = head.text.split_at(end);
        let Some(row) = table::find_mnemonic(name, syntax) else {
            continue;
        };
        // Two rows may share a name in 24.1 text; a word among the modifiers then says which it is.
        let other = if syntax == Syntax::Mesa24 {
            table::find_mnemonic_with_word(name)
        } else {
            None
        };
        let said = |row: &&'static Row| after.split('.').any(|word| Some(word) == row.mesa24_word);
        return Ok((other.filter(said).unwrap_or(row), end));
    }
    Err(head.until(first).error(ParseErrorKind::Mnemonic))
}

/// The next word and its length. Some words have a dot in them (`16.32`): the longer reading counts.
fn longest<'a>(words: Token<'a>, row: &Row) -> (Token<'a>, usize) {
    let end = words.text.find('.').unwrap_or(words.text.len());
    if let Some(second) = words.text.get(end + 1..) {
        let end = end + 1 + second.find('.').unwrap_or(second.len());
        if row
            .fields
            .iter()
            .any(|field| value(field, &words.text[..end]).is_some())
        {
            return (words.until(end), end);
        }
    }
    (words.until(end), end)
}

/// The value that a word has in a field.
fn value(field: &Field, word: &str) -> Option<u8> {
    match field.words {
        Words::Flag(text) => (text == word).then_some(1),
        Words::Enum { words, .. } => {
            let found = words
                .iter()
                .find(|row| !row.text.is_empty() && row.text == word)?;
            (field.allowed & (1 << found.value) != 0).then_some(found.value)
        }
    }
}

fn modifier(
    instr: &mut Instr,
    state: &mut State,
    word: Token<'_>,
    syntax: Syntax,
) -> Result<(), ParseError> {
    let row = instr.row();
    if let Some(flow) = Flow::from_word(word.text) {
        if state.flow {
            return Err(word.error(ParseErrorKind::TwoFlows));
        }
        (instr.flow, state.flow) = (flow, true);
        return Ok(());
    }
    if let (Syntax::Mesa24, Some(fixed)) = (syntax, row.mesa24_word)
        && fixed == word.text
    {
        if state.fixed {
            return Err(word.error(ParseErrorKind::RepeatedModifier(fixed)));
        }
        state.fixed = true;
        return Ok(());
    }
    let mut repeated = None;
    for (index, field) in row.fields.iter().enumerate() {
        let written = match (field.place, syntax) {
            (Place::FirstSourceIn24(_), _) | (Place::NotIn26, Syntax::Mesa26) => false,
            (Place::Head | Place::HeadTwiceIn26 | Place::HeadTwoBitsIn26, _)
            | (Place::NotIn26, Syntax::Mesa24) => true,
        };
        let Some(value) = value(field, word.text).filter(|_| written) else {
            continue;
        };
        if state.seen & (1 << index) == 0 {
            state.seen |= 1 << index;
            instr.put(index, field, value);
            return Ok(());
        }
        let again = field.place == Place::HeadTwiceIn26 && syntax == Syntax::Mesa26 && !state.twice;
        if again && field.extract(instr.fields) == value {
            state.twice = true;
            return Ok(());
        }
        repeated = Some(field.name);
    }
    Err(word.error(repeated.map_or(ParseErrorKind::Modifier, ParseErrorKind::RepeatedModifier)))
}
