//! Every board has a page of documentation, with what whoever has one on the desk looks for.

use eitri_boards::Target;
use std::path::Path;

/// What a page has, in this order.
const HEADINGS: &[&str] = &[
    "## What is known, and what is not",
    "## The image",
    "## The first ten minutes",
    "## What a line means",
];

#[test]
fn every_board_has_its_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/boards");
    for board in Target::all() {
        let name = board.name();
        let text = std::fs::read_to_string(folder.join(format!("{name}.md")));
        let text = text.unwrap_or_else(|error| panic!("docs/boards/{name}.md: {error}"));
        let mut rest = text.as_str();
        for heading in HEADINGS {
            let found = rest.split_once(&format!("\n{heading}\n"));
            let (_, after) =
                found.unwrap_or_else(|| panic!("docs/boards/{name}.md has no `{heading}`"));
            rest = after;
        }
        let option = format!("--board {name}");
        assert!(
            text.contains(&option),
            "docs/boards/{name}.md shows no `{option}`"
        );
        if board.lab().is_some() {
            let untried = "Nothing here was tried on a board yet";
            assert!(text.contains(untried), "docs/boards/{name}.md: `{untried}`");
        }
    }
    let pages = std::fs::read_dir(&folder).expect("docs/boards").count();
    assert_eq!(
        pages,
        Target::all().count(),
        "a page without a board is in docs/boards"
    );
}
