//! The crate against the facts, one binary so that it builds once.

mod facts;

mod builder;
mod builder_errors;
mod checked;
mod layout;
mod programs;
mod properties;
mod staging;
mod table;
mod text;
