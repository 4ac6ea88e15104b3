//! GLSL in words that an older glslang knows.
//!
//! Debian 12's does not know `GL_EXT_maximal_reconvergence`. A program for Eitri's machines has the flow that this extension asks
//! for with the older `GL_EXT_subgroup_uniform_control_flow` too: lanes meet again where their paths join, whatever a shader says.

/// Words, and the older ones that mean the same here.
const OLDER: &[(&str, &str)] = &[
    (
        "GL_EXT_maximal_reconvergence",
        "GL_EXT_subgroup_uniform_control_flow",
    ),
    ("maximally_reconverges", "subgroup_uniform_control_flow"),
];

/// The text in older words; `None` if it has none of the newer.
pub(super) fn in_older_words(source: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(source).ok()?;
    let older = OLDER.iter().fold(text.to_owned(), |text, (newer, older)| {
        text.replace(newer, older)
    });
    (older != text).then(|| older.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::in_older_words;

    #[test]
    fn maximal_reconvergence_is_said_in_older_words() {
        let newer = b"#extension GL_EXT_maximal_reconvergence : require\nvoid main() [[maximally_reconverges]] {}";
        let older = in_older_words(newer).expect("it has words to change");
        let older = String::from_utf8(older).expect("it was text");
        assert_eq!(
            older,
            "#extension GL_EXT_subgroup_uniform_control_flow : require\nvoid main() [[subgroup_uniform_control_flow]] {}"
        );
        assert_eq!(in_older_words(b"void main() {}"), None);
    }
}
