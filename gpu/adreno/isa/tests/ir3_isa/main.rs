//! Tests of the IR3 table against vectors that come from elsewhere, and against itself.

mod builder;
mod data_file;
mod device;
mod properties;
mod schema;
mod text;
mod timing;
mod words;
