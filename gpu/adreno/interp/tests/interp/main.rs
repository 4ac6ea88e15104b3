//! Programs in text run, and faults are found where one slot or one flag is missing.

mod faults;
mod meanings;
mod programs;
mod support;
