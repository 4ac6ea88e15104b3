//! The image under test holds no code of the model, the compiler or the monitor.

use super::Case;
use crate::images::image::Builder;
use crate::outcome::Failure;
use crate::workspace::Workspace;

/// What the names of the model's symbols contain, mangled or not.
const MODEL: &str = "eitri_model";
/// What the names of the driver's symbols contain: proof that names can be found at all.
const RUNTIME: &str = "eitri_runtime";

/// A part of symbol names that only images with `--show` may have.
const DISPLAY: &str = "eitri_kernel7display";

pub(super) fn run(_: &Workspace) -> Result<Vec<Case>, Failure> {
    let builder = Builder::new()?;
    let image = builder.build("eitri-image", "eitri-image")?;
    let monitor = builder.build("eitri-monitor", "eitri-monitor")?;
    let found = image.symbols_with(MODEL)?;
    let shown: Vec<&str> = found.iter().take(5).map(String::as_str).collect();
    Ok(vec![
        Case::ran(
            "the image holds no symbol of the model",
            (!found.is_empty()).then(|| format!("{} symbols, such as {shown:?}", found.len())),
        ),
        Case::ran(
            "an image that shows nothing holds nothing of displays",
            image.symbols_with(DISPLAY)?.first().cloned(),
        ),
        Case::ran(
            "the image's symbols can be seen",
            image.symbols_with(RUNTIME)?.is_empty().then(|| {
                format!(
                    "{} has no symbol of the driver: was it stripped?",
                    image.path().display()
                )
            }),
        ),
        Case::ran(
            "the monitor holds the model",
            monitor
                .symbols_with(MODEL)?
                .is_empty()
                .then(|| "no symbol of the model".to_owned()),
        ),
    ])
}
