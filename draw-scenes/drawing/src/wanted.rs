//! What results should be, and how far they may be off: what an image judges by itself, without a host.

use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// Rows that a difference names; more are counted.
const NAMED_ROWS: usize = 16;

/// What a result should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted<'a> {
    /// The contents, as the result has them.
    pub bytes: &'a [u8],
    /// For each texel, 0 if it is not compared; empty: all are.
    pub mask: &'a [u8],
    /// Bytes of a texel, or of what has none, 1; 0 is taken as 1.
    pub texel_bytes: u32,
    /// Texels of a row; 0: there are no rows.
    pub row_texels: u32,
    /// How near is near enough.
    pub rule: Nearness,
}

/// How near contents have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Nearness {
    /// All texels but so many differ in no byte by more than this.
    Steps {
        /// The most that a byte may differ by.
        steps: u8,
        /// Texels that may differ by more.
        texels: u32,
    },
    /// By a rule that is not one of bytes: what is equal is good, and of anything else nothing can be said here.
    Other,
}

/// What came of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The bytes are equal.
    Equal,
    /// They are near enough.
    Near,
    /// They are not equal, and the rule is another one.
    Unknown,
    /// They are too far off.
    Different,
}

/// How contents differ from what they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// What came of it.
    pub verdict: Verdict,
    /// Texels that are off by more than the rule allows; of another rule, all that are not equal.
    pub off: usize,
    /// Texels.
    pub of: usize,
    /// Rows with texels that are off, in order.
    pub rows: Vec<Row>,
}

/// A row with texels that are off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its number, through all layers.
    pub row: usize,
    /// The first texel that is off.
    pub first: usize,
    /// How many there are.
    pub off: usize,
}

impl Wanted<'_> {
    /// Compares contents; `None` if they have another size.
    pub fn compare(&self, got: &[u8]) -> Option<Comparison> {
        if got.len() != self.bytes.len() {
            return None;
        }
        let (steps, allowed) = match self.rule {
            Nearness::Steps { steps, texels } => (steps, texels as usize),
            Nearness::Other => (0, 0),
        };
        let (mut off, mut of, mut equal) = (0_usize, 0_usize, true);
        let mut rows: Vec<Row> = Vec::new();
        let size = self.texel_bytes();
        let pairs = got.chunks(size).zip(self.bytes.chunks(size)).enumerate();
        for (index, (got, wanted)) in pairs {
            if self.mask.get(index) == Some(&0) {
                continue;
            }
            of = of.saturating_add(1);
            equal &= got == wanted;
            let near = got.iter().zip(wanted).all(|(a, b)| a.abs_diff(*b) <= steps);
            if near {
                continue;
            }
            off = off.saturating_add(1);
            let (row, first) = self.place(index);
            match rows.last_mut().filter(|last| last.row == row) {
                Some(last) => last.off = last.off.saturating_add(1),
                None => rows.push(Row { row, first, off: 1 }),
            }
        }
        let verdict = match (equal, self.rule) {
            (true, _) => Verdict::Equal,
            (false, Nearness::Other) => Verdict::Unknown,
            (false, Nearness::Steps { .. }) if off <= allowed => Verdict::Near,
            (false, Nearness::Steps { .. }) => Verdict::Different,
        };
        Some(Comparison {
            verdict,
            off,
            of,
            rows,
        })
    }

    /// The bytes of a texel of contents like these, by its row and its place in the row.
    pub fn texel<'b>(&self, contents: &'b [u8], row: usize, column: usize) -> &'b [u8] {
        let size = self.texel_bytes();
        let index = row.saturating_mul(self.row_texels()).saturating_add(column);
        let start = index.saturating_mul(size);
        contents
            .get(start..start.saturating_add(size))
            .unwrap_or(&[])
    }

    fn texel_bytes(&self) -> usize {
        (self.texel_bytes as usize).max(1)
    }

    fn row_texels(&self) -> usize {
        match self.row_texels {
            0 => usize::MAX,
            texels => texels as usize,
        }
    }

    /// The row of a texel, and its place in it.
    fn place(&self, index: usize) -> (usize, usize) {
        let row = self.row_texels();
        // At least 1 by construction.
        (
            index.checked_div(row).unwrap_or(0),
            index.checked_rem(row).unwrap_or(0),
        )
    }
}

/// `12 of 4096 texels differ, in rows 3 to 5, 7`.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} texels differ", self.off, self.of)?;
        let mut named = 0_usize;
        let mut rest = self.rows.as_slice();
        while let Some((first, behind)) = rest.split_first() {
            if named == NAMED_ROWS {
                return write!(f, " and {} rows more", rest.len());
            }
            let follows = |(at, row): &(usize, &Row)| {
                row.row == first.row.saturating_add(*at).saturating_add(1)
            };
            let run = behind.iter().enumerate().take_while(follows).count();
            f.write_str(if named == 0 { ", in rows " } else { ", " })?;
            match run {
                0 => write!(f, "{}", first.row)?,
                run => write!(f, "{} to {}", first.row, first.row.saturating_add(run))?,
            }
            named = named.saturating_add(1);
            rest = behind.get(run..).unwrap_or(&[]);
        }
        Ok(())
    }
}
