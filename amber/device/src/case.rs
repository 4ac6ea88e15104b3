//! Cases: the entries of a suite of scripts.

use crate::{Compiled, Verdict};
use alloc::boxed::Box;
use alloc::string::String;
use eitri_drawing::suite::Entry;
use serde::{Deserialize, Serialize};

/// A script of a suite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    /// Its name in reports.
    pub name: String,
    /// Whether its name says that it must fail.
    pub must_fail: bool,
    /// The compiled script, or its verdict if it is not to be run.
    pub content: Content,
}

/// A script as a suite carries it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Content {
    /// The verdict is known without running it.
    Settled(Verdict),
    /// The compiled script.
    Script(Box<Compiled>),
}

impl Entry<'_> for Case {
    const MAGIC: [u8; 8] = *b"EITRIAM1";
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use eitri_drawing::Drawing;
    use eitri_drawing::suite::{SuiteError, encode, read};

    fn settled(name: &str) -> Case {
        Case {
            name: name.into(),
            must_fail: false,
            content: Content::Settled(Verdict::Fail("x".into())),
        }
    }

    #[test]
    fn a_suite_gives_its_cases_back() {
        let bytes = encode(b"fw", &[settled("a"), settled("b")]).unwrap();
        let suite = read::<Case>(&bytes).unwrap();
        assert_eq!((suite.firmware, suite.entries.len()), (&b"fw"[..], 2));
        let names: Vec<String> = suite.entries.map(|case| case.unwrap().name).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn a_damaged_suite_is_an_error() {
        let bytes = encode(b"fw", &[settled("a"), settled("b")]).unwrap();
        for length in 0..bytes.len() {
            let whole = read::<Case>(&bytes[..length])
                .and_then(|suite| suite.entries.collect::<Result<Vec<_>, _>>());
            assert!(whole.is_err(), "{length} of {} bytes", bytes.len());
        }
        assert_eq!(read::<Case>(b"EITRIAM0....").err(), Some(SuiteError::Magic));
        assert_eq!(
            read::<Drawing<'_>>(&bytes).err(),
            Some(SuiteError::Magic),
            "scripts are no drawings"
        );
    }
}
