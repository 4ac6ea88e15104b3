//! Source text of a diagnosis: what stands in a file, without what would move a terminal's cursor.

use miette::NamedSource;

/// The text as it is shown; as long as it was, so that places stay what they are.
pub(crate) fn shown(name: &str, text: &str) -> NamedSource<String> {
    let clean = |one: char| match one {
        '\n' | '\r' | '\t' => one,
        // As many bytes as it has itself.
        _ if one.is_ascii_control() => '?',
        _ if one.is_control() => '¿',
        _ => one,
    };
    NamedSource::new(name, text.chars().map(clean).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use miette::SourceCode;

    #[test]
    fn an_escape_is_shown_as_a_mark_and_places_stay() {
        let text = "a\x1b[31m\tb\x07é\u{9b}\n";
        let source = shown("x", text);
        let all = source.read_span(&(0, text.len()).into(), 0, 0).unwrap();
        assert_eq!(all.data(), "a?[31m\tb?é¿\n".as_bytes());
    }
}
