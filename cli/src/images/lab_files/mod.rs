//! Files for labs: what labgrid and LAVA want to know, so that they power a board, load an image, and read its console.
//!
//! Names of a lab's own (servers, power ports) are in capitals, to be replaced. The image is the one with the validation suite,
//! whose lines these look for.  Facts: hardware/boards-labs.md 2 and 3.

mod labgrid;
mod lava;

use eitri_boards::Target;

/// A kind of lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LabKind {
    /// An environment, a strategy and a test for labgrid.
    Labgrid,
    /// A job and a device dictionary for LAVA.
    Lava,
}

/// A file for a lab: its name, and its text.
pub(crate) struct LabFile {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The files for a board whose image has this name.
pub(crate) fn files(kind: LabKind, board: Target, image: &str) -> Vec<LabFile> {
    match kind {
        LabKind::Labgrid => labgrid::files(board, image),
        LabKind::Lava => lava::files(board, image),
    }
}

/// A text in single quotes, as YAML and Jinja read it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_boards::Loader;

    /// What a lab must know of a board stands in its files, and nothing of another board.
    #[test]
    fn every_board_has_its_files() {
        for board in Target::all() {
            for (kind, count) in [(LabKind::Labgrid, 3), (LabKind::Lava, 1)] {
                let files = files(kind, board, "eitri.img");
                assert!(files.len() >= count, "{}: {kind:?}", board.name());
                let text: String = files.iter().map(|file| file.text.as_str()).collect();
                assert!(
                    !text.contains('\t'),
                    "{}: {kind:?}: YAML has no tabs",
                    board.name()
                );
                let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
                assert!(text.contains("eitri.img"), "{names:?}");
                let Some(lab) = board.lab() else {
                    assert!(text.contains("qemu"), "{names:?}");
                    continue;
                };
                let mut parts = vec![match kind {
                    LabKind::Labgrid => format!("{} baud", lab.baud),
                    LabKind::Lava => lab.lava.name().to_owned(),
                }];
                match board.loader() {
                    Loader::UBoot(prompt) => {
                        parts.push(prompt.text.trim_end().to_owned());
                        parts.push(format!("{:#x}", board.linked().base));
                    }
                    Loader::Depthcharge(it) if kind == LabKind::Labgrid => {
                        parts.push(it.prompt.to_owned());
                    }
                    Loader::Depthcharge(_) => parts.push("depthcharge".to_owned()),
                    Loader::Uefi => {}
                }
                for part in parts {
                    assert!(text.contains(&part), "no {part} in {names:?}:\n{text}");
                }
            }
        }
    }

    #[test]
    fn a_quote_in_a_text_is_doubled() {
        assert_eq!(quoted("it's"), "'it''s'");
    }
}
