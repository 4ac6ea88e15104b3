//! Pages: dumps, results and code as HTML files that stand alone. They need no network, and scripts only for comfort.
//!
//! One frame and one look for all (`templates/frame.html`, `templates/style.css`). What a page shows is a value, made from the one
//! that is written as JSON where there is one; the templates only arrange it, and escape all text.

mod code;
mod dump;
mod memory_map;
mod profile;
mod results;
mod site;

use crate::outcome::Failure;
use miette::Diagnostic;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};
use serde_json::Value;
use thiserror::Error;

pub(crate) use code::{Shown, TextLine, code, spirv_lines};
pub(crate) use dump::dump;
pub(crate) use profile::profile;
pub(crate) use results::results;
pub(crate) use site::{Document, Lost, site};

/// All templates by name; the name's ending decides what is escaped.
const TEMPLATES: &[(&str, &str)] = &[
    ("style.css", include_str!("templates/style.css")),
    ("frame.html", include_str!("templates/frame.html")),
    ("views.css", include_str!("templates/views.css")),
    ("views.js", include_str!("templates/views.js")),
    ("profile.html", include_str!("templates/profile.html")),
    ("dump.html", include_str!("templates/dump.html")),
    ("results.html", include_str!("templates/results.html")),
    ("code.html", include_str!("templates/code.html")),
    ("document.html", include_str!("templates/document.html")),
];

/// Why a page can't be made: a defect of this command.
#[derive(Debug, Error, Diagnostic)]
#[error("the page can't be made")]
#[diagnostic(help("this is a defect of eitri: please report it"))]
enum PageError {
    /// A template doesn't fit its value.
    Template(#[from] minijinja::Error),
    /// The pattern of an address is none.
    Pattern(#[from] regex::Error),
}

/// The templates, with what all of them use. A name that a value doesn't have is an error, not an empty place.
fn environment() -> Result<Environment<'static>, PageError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(
        SyntaxConfig::builder()
            .trim_blocks(true)
            .build()
            .map_err(PageError::from)?,
    );
    environment.add_filter("hex", |number: u64| format!("{number:#x}"));
    // Pages without a memory map have nothing to link to.
    environment.add_filter("linked", |text: String| text);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// A page, whose title and figures are in `value`.
fn render(
    environment: &Environment<'_>,
    template: &str,
    mut value: Value,
) -> Result<String, Failure> {
    value["version"] = env!("CARGO_PKG_VERSION").into();
    let page = environment
        .get_template(template)
        .and_then(|template| template.render(for_template(&value)));
    page.map_err(|cause| Failure::refused(PageError::from(cause)))
}

/// JSON as the templates' own values. Numbers one by one: serde's way to hand them over depends on how others want theirs.
fn for_template(value: &Value) -> minijinja::Value {
    use minijinja::Value as Template;
    match value {
        Value::Null => Template::from(()),
        Value::Bool(it) => Template::from(*it),
        Value::Number(it) => match (it.as_u64(), it.as_i64()) {
            (Some(number), _) => Template::from(number),
            (_, Some(number)) => Template::from(number),
            // A number that is too large for both has no more digits than a float.
            _ => Template::from(it.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(it) => Template::from(it.as_str()),
        Value::Array(all) => all.iter().map(for_template).collect(),
        Value::Object(all) => {
            let members = all.iter();
            Template::from_pairs(members.map(|(name, it)| (name.as_str(), for_template(it))))
        }
    }
}

/// The letters, digits and hyphens of a name, for an anchor.
fn anchor(kind: &str, name: &str) -> String {
    let letters = name
        .chars()
        .map(|letter| match letter.is_ascii_alphanumeric() {
            true => letter,
            false => '-',
        });
    format!("{kind}-{}", letters.collect::<String>())
}
