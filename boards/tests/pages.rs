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

/// Says on a board's page that nobody has run an image on one.
const UNTRIED: &str = "Nothing here was tried on a board yet";
/// Begins the sentence that says on which board, and when.
const TRIED: &str = "**Tried on ";

/// Whether the beginning of a page says if an image has run on such a board: one of the two sentences, not both.
fn says_if_tried(beginning: &str) -> bool {
    let when = |rest: &str| {
        let sentence = rest.split("**").next().unwrap_or_default();
        let dates = sentence.split(|part: char| part.is_whitespace() || part == '.' || part == ',');
        dates.into_iter().any(is_date)
    };
    let tried = beginning.split(TRIED).nth(1).is_some_and(when);
    tried != beginning.contains(UNTRIED)
}

/// Whether a word is a date: 2026-11-30.
fn is_date(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    parts.iter().all(|part| digits(part)) && parts.iter().map(|part| part.len()).eq([4, 2, 2])
}

#[test]
fn a_page_says_if_its_board_was_tried() {
    assert!(says_if_tried("**Nothing here was tried on a board yet.**"));
    assert!(says_if_tried(
        "**Tried on a ROCK 5B, 2027-01-31.** All but `clock.` passes."
    ));
    for wrong in [
        "A board.",
        "**Tried on a ROCK 5B.**",
        "**Tried on a ROCK 5B, 2027-01-31.** Nothing here was tried on a board yet.",
    ] {
        assert!(!says_if_tried(wrong), "{wrong}");
    }
}

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
            let (title, _) = text.split_once(HEADINGS[0]).expect("the heading was found");
            assert!(
                says_if_tried(title),
                "docs/boards/{name}.md begins neither with `{UNTRIED}` nor with `{TRIED} BOARD, DATE`"
            );
        }
    }
    let pages = std::fs::read_dir(&folder).expect("docs/boards").count();
    assert_eq!(
        pages,
        Target::all().count(),
        "a page without a board is in docs/boards"
    );
}
