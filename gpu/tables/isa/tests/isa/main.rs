//! Tests of the instruction table against vectors that come from elsewhere, and against itself.

mod accesses;
mod arm_tables;
mod data_file;
mod errors;
mod properties;
mod support;
mod table;
mod text;
mod words;
