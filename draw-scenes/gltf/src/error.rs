//! Why a model is not drawn.

use eitri_draw_scenes::SceneError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a model can't be read, or not be drawn.
#[derive(Debug, Error)]
pub enum ModelError {
    /// A file that can't be read.
    #[error("can't read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
    /// The file is no glTF 2.0, or breaks a rule of it.
    #[error("{}: {what}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        what: String,
    },
    /// The model is good, but has something that is not drawn.
    #[error("{}: {}", path.display(), what.join(", "))]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// By glTF's names.
        what: Vec<String>,
    },
    /// There is nothing to see.
    #[error("{}: the scene has no triangles and no lines", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// No camera of the file is called so.
    #[error("{}: there is no camera `{name}`; there are {}", path.display(), list(cameras))]
    NoCamera {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        name: String,
        /// The cameras of the file's scene, by name or number.
        cameras: Vec<String>,
    },
    /// A shader that could not be made.
    #[error("the shader for {what} can't be made: {why}")]
    Shader {
        /// The materials that it is for.
        what: String,
        /// What the front end says.
        why: String,
    },
    /// The scene of the model contradicts itself: a defect of this crate.
    #[error(transparent)]
    Scene(#[from] SceneError),
}

/// Names for people.
fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

/// What is wrong with a part of a file, before the file's name is known.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It breaks a rule.
    Invalid(String),
    /// It is not drawn.
    Unsupported(String),
    /// A file that it names can't be read.
    Read(PathBuf, std::io::Error),
}

impl Fault {
    pub(crate) fn invalid(what: impl Into<String>) -> Fault {
        Fault::Invalid(what.into())
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Fault {
        Fault::Unsupported(what.into())
    }

    /// With the file that has it.
    pub(crate) fn of(self, path: &std::path::Path) -> ModelError {
        let path = path.to_owned();
        match self {
            Fault::Invalid(what) => ModelError::Invalid { path, what },
            Fault::Unsupported(what) => ModelError::Unsupported {
                path,
                what: vec![what],
            },
            Fault::Read(path, cause) => ModelError::Read { path, cause },
        }
    }
}
