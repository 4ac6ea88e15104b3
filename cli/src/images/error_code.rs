//! Codes of errors, which small images print in place of sentences, read back.

use eitri_runtime::{CODE_BEGINS, CodeError, Error};

/// The error whose code stands in a line; `None` where there is no code.
pub(crate) fn find(line: &str) -> Option<Result<Error, CodeError>> {
    let code = line.get(line.find(CODE_BEGINS)?..)?;
    // A name stays for as long as the command runs: it is a word of a line or two.
    Some(Error::from_code(code, |name| String::from(name).leak()))
}

/// A text with the sentences below each line that has a code, or why there are none.
pub(crate) fn explained(text: &str) -> String {
    let mut with = String::new();
    for line in text.split_inclusive('\n') {
        with.push_str(line);
        let sentences = match find(line) {
            None => continue,
            Some(Ok(error)) => error.to_string(),
            Some(Err(why)) => format!("({why})"),
        };
        if !line.ends_with('\n') {
            with.push('\n');
        }
        with.push_str(&sentences);
        with.push('\n');
    }
    with
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_followed_by_its_sentences() {
        let error = Error::Cores {
            wanted: 0x30,
            usable: 0xF,
        };
        let text = format!("hello\r\n{}\r\nexit status 1\r\n", error.code());
        let shown = "hello\r\neitri-error 2 17 30 f\r\ncores 0x30 are wanted, 0xf can be used\nexit status 1\r\n";
        assert_eq!(explained(&text), shown);
    }

    #[test]
    fn what_is_no_code_is_said() {
        let shown = explained("eitri-error 2 17 30");
        assert_eq!(
            shown,
            "eitri-error 2 17 30\n(no error has such a code: a word is missing, or one was changed)\n"
        );
        assert_eq!(explained("no error"), "no error");
    }
}
