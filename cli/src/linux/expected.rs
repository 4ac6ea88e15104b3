//! Diagnoses that Linux earns in ordinary use: they are told once and marked, so that nobody takes them for an error of his own.
//!
//! `docs/linux.md`, "Differences that showed", says of each who is right.

use crate::output::streams::talk;
use eitri_model::diagnosis::{FirmwareMisuse, Misuse, MmuMisuse, News, RegisterMisuse};

/// Tells a person what the model has found.
pub(super) fn tell(news: News<'_>) {
    let expected = is_expected(&news.diagnosis.misuse);
    match (expected, news.again) {
        (true, true) => {}
        (true, false) => talk!("expected, see docs/linux.md: {news}"),
        (false, _) => talk!("{news}"),
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
}
