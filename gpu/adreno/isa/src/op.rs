//! The instructions by name.

use core::fmt;

use crate::row::Row;
pub use crate::table::Op;
use crate::table::ROWS;

impl Op {
    /// Its row of the table.
    pub const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Its name in the tables, such as `add.f`. Encodings of one mnemonic in different generations share it.
    pub const fn name(self) -> &'static str {
        self.row().name
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
