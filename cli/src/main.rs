//! The `eitri` command: everything a person runs, developers' tasks included.
#![forbid(unsafe_code)]

fn main() {}
