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

    /// Its name in the tables, such as `FADD.f32`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The instruction called `name` in the tables.
    pub fn from_name(name: &str) -> Option<Self> {
        ROWS.iter()
            .find(|row| row.name.eq_ignore_ascii_case(name))
            .map(|row| row.op)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
