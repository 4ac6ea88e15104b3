//! Vectors that the tests share: words with their texts.

/// A word and its text in one dialect.
pub struct Vector {
    /// File and line, for messages.
    pub place: String,
    pub word: u64,
    pub text: String,
}

fn lines(file: &str) -> Vec<(String, String)> {
    let Some(text) = eitri_testdata::read_shared(&format!("hardware/data/{file}")) else {
        return Vec::new();
    };
    let numbered = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty());
    numbered
        .map(|(number, line)| (format!("{file}:{}", number + 1), line.to_owned()))
        .collect()
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
    lines("isa-cases.txt").into_iter().map(split).collect()
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
    lines("isa-random.txt").into_iter().map(split).collect()
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
    lines("isa-dialect-mesa26.txt")
        .into_iter()
        .map(split)
        .collect()
}

/// `isa-negative-cases.txt`: texts that an assembler must refuse.
pub fn negative() -> Vec<(String, String)> {
    lines("isa-negative-cases.txt")
}
