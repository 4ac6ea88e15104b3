//! Descriptor names: structures and fields as people write them, and what to say of unknown ones.

use crate::input::nearest::suggestion;
use crate::outcome::Failure;
use eitri_descriptors::{AccessError, Arch, DescriptorError, Kind, LAYOUTS, Layout};
use miette::Diagnostic;
use thiserror::Error;

/// A descriptor that can't be packed or unpacked.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum NameError {
    /// No structure has this name.
    #[error("no structure is called `{name}`")]
    Structure {
        name: String,
        #[help]
        help: String,
    },
    /// No field has this name, or it takes no such value.
    #[error("{argument}")]
    Field {
        argument: String,
        #[source]
        cause: AccessError,
        #[help]
        help: Option<String>,
    },
    /// `FIELD=VALUE` without `=`.
    #[error("`{argument}` is not FIELD=VALUE")]
    #[diagnostic(help(
        "such as `Size=4096`, or `Preload.R48-R63=0x3800` for a field of a nested structure"
    ))]
    NoValue { argument: String },
    /// Two fields share bits and want different ones.
    #[error("{argument}: shares bits with another field that was given")]
    Conflict { argument: String },
    /// The words are no such structure; their block format is that of another.
    #[error("{error}")]
    #[diagnostic(help("the block format is {format}: `eitri unpack '{other}'`"))]
    OtherTarget {
        error: DescriptorError,
        format: &'static str,
        other: &'static str,
    },
    /// The words are no such structure.
    #[error(transparent)]
    Descriptor(#[from] DescriptorError),
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Failure {
        Failure::refused(error)
    }
}

/// The structure that a person means; an aggregate goes by the name of its first part too.
pub(crate) fn structure(name: &str) -> Result<&'static Layout, NameError> {
    eitri_descriptors::layout(name).ok_or_else(|| {
        let help = suggestion(
            name,
            LAYOUTS.iter().map(|layout| layout.name),
            "docs/reference/descriptors.md lists them",
        );
        NameError::Structure {
            name: name.to_owned(),
            help,
        }
    })
}

/// The paths of all fields, nested ones behind a dot.
pub(crate) fn field_paths(layout: &Layout, arch: Arch) -> Vec<String> {
    let mut paths = Vec::new();
    for row in layout.fields(arch) {
        match row.kind {
            Kind::Struct(nested) => {
                let inner = field_paths(nested, arch).into_iter();
                paths.extend(inner.map(|path| format!("{}.{path}", row.name)));
            }
            _ => paths.push(row.name.to_owned()),
        }
    }
    paths
}

/// The error for a field argument, with the nearest name or the legal values.
pub(crate) fn field_error(
    layout: &Layout,
    arch: Arch,
    argument: &str,
    path: &str,
    cause: AccessError,
) -> NameError {
    let help = match &cause {
        AccessError::NoField { .. } => {
            let paths = field_paths(layout, arch);
            Some(suggestion(
                path,
                paths.iter().map(String::as_str),
                &format!("fields: {}", paths.join(", ")),
            ))
        }
        AccessError::Text { .. } | AccessError::Field(_) => values(layout, arch, path),
        AccessError::Path { .. } => None,
    };
    NameError::Field {
        argument: argument.to_owned(),
        cause,
        help,
    }
}

/// The legal values of an enumerated field.
fn values(layout: &Layout, arch: Arch, path: &str) -> Option<String> {
    let (name, rest) = path
        .split_once('.')
        .map_or((path, None), |(name, rest)| (name, Some(rest)));
    let row = layout.field(arch, name)?;
    match (row.kind, rest) {
        (Kind::Struct(nested), Some(rest)) => values(nested, arch, rest),
        (Kind::Enum(table), None) => {
            let names: Vec<_> = table
                .values(arch)
                .map(|row| format!("{} ({})", row.name, row.value))
                .collect();
            Some(format!("values: {}", names.join(", ")))
        }
        _ => None,
    }
}
