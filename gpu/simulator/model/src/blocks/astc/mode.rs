//! The block mode: the grid of weights, and their number of levels.

/// What the first eleven bits of a block say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockMode {
    /// Weights along each axis.
    pub(super) grid: [u32; 3],
    /// Two weights each point of the grid.
    pub(super) dual: bool,
    /// Values that a weight can have.
    pub(super) levels: u32,
}

/// Levels of a weight, by its range.
const LEVELS: [u32; 12] = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32];

impl BlockMode {
    /// `None`: it is reserved.
    pub(super) fn of(bits: u32, is_3d: bool) -> Option<BlockMode> {
        let field = |low: u32, count: u32| bits >> low & ((1 << count) - 1);
        let low = field(0, 2);
        let range = if low == 0 { field(2, 2) } else { low };
        if range == 0 {
            return None;
        }
        let range = field(4, 1) | range << 1;
        let (a, b) = (field(5, 2), field(7, 2));
        // Two fields of the grid take the place of these two bits.
        let has_flags = low != 0 || b == 3 || !is_3d && b != 2;
        let (high, dual) = if has_flags {
            (field(9, 1), field(10, 1) == 1)
        } else {
            (0, false)
        };
        let upper = field(9, 2);
        let grid = if is_3d {
            match (low, b) {
                (1.., _) => [a + 2, b + 2, field(2, 2) + 2],
                (_, 0) => [6, upper + 2, a + 2],
                (_, 1) => [a + 2, 6, upper + 2],
                (_, 2) => [a + 2, upper + 2, 6],
                _ => match a {
                    0 => [6, 2, 2],
                    1 => [2, 6, 2],
                    2 => [2, 2, 6],
                    _ => return None,
                },
            }
        } else {
            let [width, height] = match (low, field(2, 2)) {
                (0, _) => match (b, a) {
                    (0, _) => [12, a + 2],
                    (1, _) => [a + 2, 12],
                    (2, _) => [a + 6, upper + 6],
                    (_, 0) => [6, 10],
                    (_, 1) => [10, 6],
                    _ => return None,
                },
                (_, 0) => [b + 4, a + 2],
                (_, 1) => [b + 8, a + 2],
                (_, 2) => [a + 2, b + 8],
                _ if field(8, 1) == 0 => [a + 2, field(7, 1) + 6],
                _ => [field(7, 1) + 2, a + 2],
            };
            [width, height, 1]
        };
        Some(BlockMode {
            grid,
            dual,
            levels: *LEVELS.get((range - 2 + 6 * high) as usize)?,
        })
    }

    /// Weights that are stored.
    pub(super) fn weights(&self) -> u32 {
        self.grid.iter().product::<u32>() * if self.dual { 2 } else { 1 }
    }
}
