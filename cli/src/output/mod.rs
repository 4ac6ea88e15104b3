//! Output: standard streams, lists of what there is, line tables of programs, files that are written whole or not at all, source text in diagnoses, and XML text.

pub(crate) mod findings;
pub(crate) mod line_table;
pub(crate) mod list;
pub(crate) mod png;
pub(crate) mod source_text;
pub(crate) mod sparse_file;
pub(crate) mod streams;
pub(crate) mod whole_file;
pub(crate) mod xml;
