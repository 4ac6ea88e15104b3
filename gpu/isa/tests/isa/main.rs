//! Tests of the instruction table against vectors that come from elsewhere, and against itself.

mod support;
mod text;
mod words;
