//! Lists of what there is, for people and, with `=json` behind the option, for programs (`eitri schema list`).

use super::streams::outln;
use crate::outcome::Failure;
use serde_json::{Value, json};

/// How a list is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ListForm {
    /// A line a thing.
    Text,
    /// JSON.
    Json,
}

/// One of the things.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// What it is, in words; empty where the name says it all.
    pub(crate) about: String,
    /// What programs want to know besides.
    pub(crate) more: Option<(&'static str, Value)>,
}

impl Row {
    pub(crate) fn named(name: impl Into<String>) -> Row {
        Row {
            name: name.into(),
            ..Row::default()
        }
    }

    pub(crate) fn about(self, about: impl Into<String>) -> Row {
        Row {
            about: about.into(),
            ..self
        }
    }

    pub(crate) fn with(self, name: &'static str, value: Value) -> Row {
        Row {
            more: Some((name, value)),
            ..self
        }
    }

    fn json(&self) -> Value {
        let mut value = json!({ "name": self.name });
        if !self.about.is_empty() {
            value["about"] = json!(self.about);
        }
        if let Some((name, more)) = &self.more {
            value[*name] = more.clone();
        }
        value
    }
}

/// Prints them; `line` is a row's for people.
pub(crate) fn print(
    form: ListForm,
    of: &str,
    rows: &[Row],
    line: impl Fn(&Row) -> String,
) -> Result<(), Failure> {
    match form {
        ListForm::Text => rows.iter().try_for_each(|row| outln!("{}", line(row))),
        ListForm::Json => {
            let rows: Vec<Value> = rows.iter().map(Row::json).collect();
            outln!("{:#}", json!({ "schema": 1, "list": of, "rows": rows }))
        }
    }
}
