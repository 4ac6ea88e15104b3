//! Bit diagrams: a structure as rows of 32 bits, highest bit left.
//!
//! Guarantees: every bit of every word drawn has two columns; bits with several readings are drawn once a reading.

use super::Part;

/// Tens and units of the bit numbers, above the bits.
const HEAD: [&str; 2] = [
    "        3 3 2 2 2 2 2 2 2 2 2 2 1 1 1 1 1 1 1 1 1 1",
    "        1 0 9 8 7 6 5 4 3 2 1 0 9 8 7 6 5 4 3 2 1 0 9 8 7 6 5 4 3 2 1 0",
];

/// The diagram of `bits` bits; words without a part are passed over.
pub(super) fn diagram(parts: &[Part], bits: u32) -> String {
    let mut out = HEAD.map(|line| format!("{line}\n")).concat();
    let words: Vec<u32> = (0..bits.div_ceil(32)).collect();
    // A word of 64 bits is read from its high half; a structure from its first word.
    let words: Box<dyn Iterator<Item = u32>> = match bits <= 64 {
        true => Box::new(words.into_iter().rev()),
        false => Box::new(words.into_iter()),
    };
    let mut skipped = false;
    for word in words {
        let layers = layers(parts, word);
        if layers.is_empty() {
            skipped = true;
            continue;
        }
        if std::mem::take(&mut skipped) {
            out.push_str("       ...\n");
        }
        for layer in layers {
            out.push_str(&row(word, &layer, bits.saturating_sub(word * 32).min(32)));
        }
    }
    out
}

/// A part's bits in one word.
#[derive(Clone)]
struct Cell {
    low: u32,
    high: u32,
    name: String,
}

/// The cells of a word, so that none overlap in one layer.
fn layers(parts: &[Part], word: u32) -> Vec<Vec<Cell>> {
    let mut layers: Vec<Vec<Cell>> = Vec::new();
    for part in parts {
        let (low, high) = (part.low, part.low + part.width - 1);
        if high / 32 < word || low / 32 > word {
            continue;
        }
        let cell = Cell {
            low: low.max(word * 32) % 32,
            high: high.min(word * 32 + 31) % 32,
            name: part.name.clone(),
        };
        let free = |layer: &&mut Vec<Cell>| {
            layer
                .iter()
                .all(|other| other.high < cell.low || other.low > cell.high)
        };
        match layers.iter_mut().find(free) {
            Some(layer) => layer.push(cell),
            None => layers.push(vec![cell]),
        }
    }
    layers
}

fn row(word: u32, cells: &[Cell], bits: u32) -> String {
    let mut line = format!("w{word:<5} ");
    let mut bit = 32;
    while bit > 0 {
        let high = bit - 1;
        let (low, name) = match cells.iter().find(|cell| cell.high == high) {
            Some(cell) => (cell.low, cell.name.as_str()),
            None => {
                let below = cells
                    .iter()
                    .map(|cell| cell.high + 1)
                    .filter(|end| *end < bit)
                    .max();
                (below.unwrap_or(0), if high < bits { "." } else { "" })
            }
        };
        let columns = (2 * (high - low) + 1) as usize;
        let shown: String = name.chars().take(columns).collect();
        line.push('|');
        line.push_str(&format!("{shown:^columns$}"));
        bit = low;
    }
    line.push_str("|\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bit_has_two_columns() {
        let parts = [
            Part::new(0, 4, "Type", ""),
            Part::new(31, 1, "Flag", ""),
            Part::new(32, 32, "Size", ""),
        ];
        let drawn = diagram(&parts, 64);
        let rows: Vec<_> = drawn.lines().skip(2).collect();
        assert_eq!(rows[0], format!("w1     |{:^63}|", "Size"));
        assert_eq!(rows[1], format!("w0     |F|{:^53}|{:^7}|", ".", "Type"));
        assert!(rows.iter().all(|row| row.len() == 7 + 65), "{drawn}");
    }

    #[test]
    fn readings_of_the_same_bits_stand_below_each_other() {
        let parts = [
            Part::new(0, 32, "Stride", ""),
            Part::new(0, 16, "Low", ""),
            Part::new(16, 16, "High", ""),
        ];
        let drawn = diagram(&parts, 32);
        assert_eq!(drawn.lines().count(), 4, "{drawn}");
        assert!(
            drawn
                .lines()
                .nth(3)
                .is_some_and(|row| row.contains("High") && row.contains("Low")),
            "{drawn}"
        );
    }
}
