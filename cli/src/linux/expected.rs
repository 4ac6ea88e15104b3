//! Diagnoses that Linux earns in ordinary use: they are counted, so that nobody takes them for an error of his own.
//!
//! `docs/linux.md`, "Differences that showed", says of each who is right.

use crate::output::streams::talk;
use eitri_model::diagnosis::{FirmwareMisuse, Misuse, MmuMisuse, News, RegisterMisuse};
use std::collections::BTreeMap;

/// Tells a person what the model has found, and counts what was expected.
#[derive(Clone, Debug, Default)]
pub(super) struct Teller {
    /// Whether what was expected is told, too.
    all: bool,
    /// How often each was seen, by its text.
    counts: BTreeMap<String, u64>,
}

impl Teller {
    /// One that tells what was expected when it comes first, if `all` is wanted.
    pub(super) fn new(all: bool) -> Teller {
        Teller {
            all,
            counts: BTreeMap::new(),
        }
    }

    /// Tells what the model has found.
    pub(super) fn tell(&mut self, news: News<'_>) {
        if !is_expected(&news.diagnosis.misuse) {
            talk!("{news}");
            return;
        }
        if self.all && !news.again {
            talk!("expected, see docs/linux.md: {news}");
        }
        let text = news.diagnosis.misuse.to_string();
        self.counts.insert(text, news.diagnosis.count);
    }

    /// What was expected, in a line; `None` if there was nothing.
    pub(super) fn summary(&self) -> Option<String> {
        let kinds = self.counts.len();
        let times: u64 = self.counts.values().sum();
        (kinds != 0).then(|| {
            format!(
                "expected of this driver, and left out: diagnoses of {kinds} kinds, {times} in all \
                 (docs/linux.md; --verbose shows them)"
            )
        })
    }
}

fn is_expected(misuse: &Misuse) -> bool {
    matches!(
        misuse,
        Misuse::Register(
            RegisterMisuse::CoherencyNotChosen | RegisterMisuse::FlushWithoutL2 { .. }
        ) | Misuse::Mmu(MmuMisuse::CommandWithoutL2 { .. })
            | Misuse::Firmware(FirmwareMisuse::EqualPriority { .. })
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_model::diagnosis::Diagnosis;

    #[test]
    fn what_linux_does_in_ordinary_use_is_expected() {
        assert!(is_expected(&RegisterMisuse::CoherencyNotChosen.into()));
        assert!(is_expected(
            &MmuMisuse::CommandWithoutL2 { space: 1, value: 1 }.into()
        ));
        assert!(!is_expected(
            &MmuMisuse::UnlockBeforeFlush { space: 1 }.into()
        ));
    }

    #[test]
    fn what_is_expected_is_counted() {
        let mut teller = Teller::new(false);
        assert_eq!(teller.summary(), None);
        let mut diagnosis = Diagnosis {
            time: 1,
            pc: None,
            misuse: RegisterMisuse::CoherencyNotChosen.into(),
            count: 1,
            last: 1,
        };
        for count in [1, 4] {
            diagnosis.count = count;
            teller.tell(News {
                diagnosis: &diagnosis,
                again: count != 1,
            });
        }
        diagnosis.misuse = MmuMisuse::CommandWithoutL2 { space: 1, value: 1 }.into();
        teller.tell(News {
            diagnosis: &diagnosis,
            again: false,
        });
        let text = teller.summary().unwrap();
        assert!(text.contains("diagnoses of 2 kinds, 8 in all"), "{text}");
    }
}
