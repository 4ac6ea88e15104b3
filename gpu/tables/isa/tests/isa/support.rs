//! Vectors that the tests share: words with their texts.

/// A word and its text in one dialect.
pub struct Vector {
    /// File and line, for messages.
    pub place: String,
    pub word: u64,
    pub text: String,
}

/// Lines, each with its place.
type Lines = Vec<(String, String)>;

/// The non-empty lines of a text, each with its place.
fn numbered(file: &str, text: &str) -> Lines {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty());
    lines
        .map(|(number, line)| (format!("{file}:{}", number + 1), line.to_owned()))
        .collect()
}

/// A file beside the clone; no lines (and a report of a skipped test) where there is none.
fn shared(file: &str) -> Lines {
    let text = eitri_testdata::read_shared(&format!("hardware/data/{file}"));
    text.map_or_else(Vec::new, |text| numbered(file, &text))
}

/// A file that the repository has a copy of.
fn kept(file: &str) -> Lines {
    let path = eitri_testdata::kept(file);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    numbered(file, &text)
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text, 16).expect("16 hex digits")
}

/// `isa-cases.txt`: eight bytes in memory order, text.
pub fn cases() -> Vec<Vector> {
    let split = |(place, line): (String, String)| {
        let (bytes, text) = line.split_at(23);
        let bytes = bytes.split(' ').rev().collect::<String>();
        Vector {
            place,
            word: hex(&bytes),
            text: text.trim_start().to_owned(),
        }
    };
    shared("isa-cases.txt").into_iter().map(split).collect()
}

/// `isa-random.txt`: word, text.
pub fn random() -> Vec<Vector> {
    let split = |(place, line): (String, String)| {
        let (word, text) = line.split_once('\t').expect("a tab");
        Vector {
            place,
            word: hex(word),
            text: text.to_owned(),
        }
    };
    kept("isa-random.txt").into_iter().map(split).collect()
}

/// `isa-dialect-mesa26.txt`: word, 24.1 text, 26.2 text.
pub fn dialects() -> Vec<(Vector, Vector)> {
    let split = |(place, line): (String, String)| {
        let mut parts = line.split('\t');
        let word = hex(parts.next().expect("a word"));
        let mut vector = || Vector {
            place: place.clone(),
            word,
            text: parts.next().expect("two texts").to_owned(),
        };
        (vector(), vector())
    };
    kept("isa-dialect-mesa26.txt")
        .into_iter()
        .map(split)
        .collect()
}

/// `isa-negative-cases.txt`: texts that an assembler must refuse.
pub fn negative() -> Lines {
    shared("isa-negative-cases.txt")
}

/// The copies of the repository, with the files that they are copies of.
pub fn copies() -> Vec<(&'static str, Lines, Lines)> {
    let files = [
        "isa-random.txt",
        "isa-dialect-mesa26.txt",
        "isa-arm-tables.json",
    ];
    files
        .into_iter()
        .map(|file| (file, kept(file), shared(file)))
        .collect()
}
