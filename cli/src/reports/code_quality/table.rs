//! The figures of many kernels as a text file: a line a kernel, columns lined up, so that a difference can be read.
//!
//! Guarantees: a table that was written reads back the same.

use super::column::{COLUMNS, index};
use crate::outcome::Status;
use miette::Diagnostic;
use serde_json::{Map, Value, json};
use thiserror::Error;

/// The figures of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) result: Result,
}

/// What came of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Result {
    /// It ran and was right: one figure a column; none where an older file lacks the column.
    Figures(Vec<Option<f64>>),
    /// The compiler refuses it.
    Refused,
    /// It ran, and was wrong.
    Failed,
}

impl Kernel {
    /// A figure by name.
    pub(crate) fn figure(&self, name: &str) -> Option<f64> {
        match &self.result {
            Result::Figures(figures) => *figures.get(index(name)?)?,
            Result::Refused | Result::Failed => None,
        }
    }

    /// Whether there is code that is right.
    pub(crate) fn is_good(&self) -> bool {
        matches!(self.result, Result::Figures(_))
    }
}

/// The figures of many kernels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) kernels: Vec<Kernel>,
}

/// Why a file is not a table.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
pub(crate) enum TableError {
    #[error("{path}: no line begins with `kernel`: this is no file of `eitri bench code --save`")]
    NoHead { path: String },
    #[error("{path}:{line}: {found} figures, but the head names {wanted}")]
    Count {
        path: String,
        line: usize,
        found: usize,
        wanted: usize,
    },
    #[error("{path}:{line}: `{text}` is not a figure")]
    Figure {
        path: String,
        line: usize,
        text: String,
    },
    #[error("{path}:{line}: {name} stands there twice")]
    Twice {
        path: String,
        line: usize,
        name: String,
    },
}

/// Version of the JSON's shape.
const SCHEMA: u32 = 1;
const HEAD: &str = "kernel";
const REFUSED: &str = "refused";
const FAILED: &str = "failed";
const INTRODUCTION: &str = "\
# Code of the compiler for Mali-G610: counted in the binary, then (ran-) what the model executed for the kernel's inputs.
# Written by `eitri bench code --save`. Review a difference like code: less is better, but for threads.
";

impl Table {
    /// The text of the file.
    pub(crate) fn write(&self) -> String {
        let mut rows = vec![vec![HEAD.to_owned()]];
        rows[0].extend(COLUMNS.iter().map(|column| column.name.to_owned()));
        for kernel in &self.kernels {
            let mut row = vec![kernel.name.clone()];
            match &kernel.result {
                Result::Figures(figures) => row.extend(figures.iter().map(|figure| show(*figure))),
                Result::Refused => row.push(REFUSED.to_owned()),
                Result::Failed => row.push(FAILED.to_owned()),
            }
            rows.push(row);
        }
        let width = |column: usize| {
            let cells = rows.iter().filter(|row| row.len() > 2 || column == 0);
            cells
                .filter_map(|row| row.get(column))
                .map(String::len)
                .max()
        };
        let widths: Vec<usize> = (0..=COLUMNS.len()).map_while(width).collect();
        let mut text = INTRODUCTION.to_owned();
        for row in &rows {
            let mut cells = row.iter().zip(&widths);
            if let Some((name, width)) = cells.next() {
                text.push_str(&format!("{name:<width$}"));
            }
            match cells.len() {
                1 => text.extend(cells.map(|(cell, _)| format!(" {cell}"))),
                _ => text.extend(cells.map(|(cell, width)| format!(" {cell:>width$}"))),
            }
            text.push('\n');
        }
        text
    }

    /// Reads a file; `path` is for messages. Columns may stand in any order; unknown ones are passed over.
    pub(crate) fn read(path: &str, text: &str) -> std::result::Result<Table, TableError> {
        let path = path.to_owned();
        let lines = text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line));
        let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let mut head = lines.next().map_or("", |(_, line)| line).split_whitespace();
        if head.next() != Some(HEAD) {
            return Err(TableError::NoHead { path });
        }
        let columns: Vec<Option<usize>> = head.map(index).collect();
        let mut table = Table {
            kernels: Vec::new(),
        };
        for (line, text) in lines {
            let mut cells = text.split_whitespace();
            let name = cells.next().unwrap_or_default().to_owned();
            if table.kernels.iter().any(|kernel| kernel.name == name) {
                return Err(TableError::Twice { path, line, name });
            }
            let cells: Vec<&str> = cells.collect();
            let result = match cells.as_slice() {
                [REFUSED] => Result::Refused,
                [FAILED] => Result::Failed,
                cells => {
                    let (found, wanted) = (cells.len(), columns.len());
                    if found != wanted {
                        return Err(TableError::Count {
                            path,
                            line,
                            found,
                            wanted,
                        });
                    }
                    let mut figures = vec![None; COLUMNS.len()];
                    for (cell, column) in cells.iter().zip(&columns) {
                        let Ok(figure) = read_figure(cell) else {
                            let text = (*cell).to_owned();
                            return Err(TableError::Figure { path, line, text });
                        };
                        if let Some(place) = column.and_then(|column| figures.get_mut(column)) {
                            *place = figure;
                        }
                    }
                    Result::Figures(figures)
                }
            };
            table.kernels.push(Kernel { name, result });
        }
        Ok(table)
    }

    /// How a command ends that has measured it.
    pub(crate) fn status(&self) -> Status {
        match self.has_failed() {
            false => Status::Good,
            true => Status::CheckFailed,
        }
    }

    /// All of it as JSON (`eitri schema bench-code`).
    pub(crate) fn json(&self) -> Value {
        let kernels = self.kernels.iter().map(|kernel| {
            let (result, figures) = match &kernel.result {
                Result::Figures(figures) => ("good", figures.as_slice()),
                Result::Refused => (REFUSED, &[][..]),
                Result::Failed => (FAILED, &[][..]),
            };
            let named = COLUMNS.iter().zip(figures);
            let named = named.map(|(column, figure)| (column.name.to_owned(), json!(figure)));
            json!({ "name": kernel.name, "result": result, "figures": named.collect::<Map<_, _>>() })
        });
        json!({ "schema": SCHEMA, "kernels": kernels.collect::<Vec<_>>() })
    }

    /// Whether a kernel ran and was wrong.
    pub(crate) fn has_failed(&self) -> bool {
        let mut kernels = self.kernels.iter();
        kernels.any(|kernel| kernel.result == Result::Failed)
    }

    /// The kernel of a name.
    pub(crate) fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

/// A figure as text: exact, since all are multiples of 1/64.
fn show(figure: Option<f64>) -> String {
    let Some(figure) = figure else {
        return "-".to_owned();
    };
    let text = format!("{figure:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn read_figure(text: &str) -> std::result::Result<Option<f64>, ()> {
    match text {
        "-" => Ok(None),
        text => match text.parse::<f64>() {
            Ok(figure) if figure.is_finite() && figure >= 0.0 => Ok(Some(figure)),
            _ => Err(()),
        },
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A kernel whose named figures are these, and all others 0.
    pub(in crate::reports::code_quality) fn kernel(name: &str, named: &[(&str, f64)]) -> Kernel {
        let mut figures = vec![Some(0.0); COLUMNS.len()];
        for (column, figure) in named {
            figures[index(column).unwrap()] = Some(*figure);
        }
        Kernel {
            name: name.to_owned(),
            result: Result::Figures(figures),
        }
    }

    #[test]
    fn a_table_reads_back() {
        let bare = |name: &str, result| Kernel {
            name: name.to_owned(),
            result,
        };
        let table = Table {
            kernels: vec![
                kernel("a", &[("fma", 0.015625), ("ran-cycles", 1234567.0)]),
                bare("bb", Result::Refused),
                bare("c", Result::Failed),
            ],
        };
        let text = table.write();
        assert_eq!(Table::read("f", &text), Ok(table));
        assert!(text.contains(" 0.015625 "), "{text}");
        assert!(text.contains("\nbb     refused\n"), "{text}");
    }

    #[test]
    fn columns_go_by_name() {
        let table = Table::read("f", "kernel cycles gone loops\na 1.5 9 -\n").unwrap();
        let kernel = table.kernel("a").unwrap();
        assert_eq!(kernel.figure("cycles"), Some(1.5));
        assert_eq!(kernel.figure("loops"), None);
        assert_eq!(kernel.figure("instructions"), None);
    }

    #[test]
    fn bad_files_are_refused_with_their_line() {
        let message = |text: &str| Table::read("f", text).unwrap_err().to_string();
        assert!(message("").starts_with("f: no line begins with `kernel`"));
        assert_eq!(
            message("kernel cycles\n\na 1 2\n"),
            "f:3: 2 figures, but the head names 1"
        );
        assert_eq!(message("kernel cycles\na x\n"), "f:2: `x` is not a figure");
        assert_eq!(
            message("kernel cycles\na NaN\n"),
            "f:2: `NaN` is not a figure"
        );
        assert_eq!(
            message("kernel cycles\na 1\na 2\n"),
            "f:3: a stands there twice"
        );
    }
}
