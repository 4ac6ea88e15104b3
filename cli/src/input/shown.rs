//! Shown: `--show BINDING`, an image that the image on bare metal puts on a display.

use crate::input::buffer_source::BindingName;
use crate::input::given::Given;
use crate::outcome::Failure;
use eitri_job::{Content, Part};
use eitri_picture::{Picture, PixelFormat};
use miette::Diagnostic;
use thiserror::Error;

/// Why an image can't be shown.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
pub(crate) enum ShownError {
    #[error("--show {name}: no --image is given for it")]
    NoImage { name: BindingName },
    #[error("--show {name}: a picture on a display can't be made of {format}")]
    #[diagnostic(help("formats that can be shown: {}", formats()))]
    Format {
        name: BindingName,
        format: &'static str,
    },
    #[error("--show {name}: {what}")]
    Layout { name: BindingName, what: String },
}

fn formats() -> String {
    PixelFormat::vulkan_names().collect::<Vec<_>>().join(", ")
}

/// Checks that what is to be shown is an image of a format that a display can show, and saves it: it is shown from there.
pub(crate) fn save(
    name: BindingName,
    resources: &[Given],
    saves: &mut Vec<BindingName>,
) -> Result<(), Failure> {
    check(name, resources).map_err(Failure::refused)?;
    if !saves.contains(&name) {
        saves.push(name);
    }
    Ok(())
}

fn check(name: BindingName, resources: &[Given]) -> Result<(), ShownError> {
    let info = resources.iter().find_map(|given| match given.content {
        Content::Image(info) if given.name == name && given.part == Part::Whole => Some(info),
        _ => None,
    });
    let info = info.ok_or(ShownError::NoImage { name })?;
    let format = info.format.name;
    let pixel = PixelFormat::of_vulkan(format).ok_or(ShownError::Format { name, format })?;
    let (width, height) = (info.width as usize, info.height as usize);
    let stride = width.saturating_mul(pixel.bytes());
    let bytes = vec![0; usize::try_from(info.packed_bytes()).unwrap_or(0)];
    let picture = Picture::new(width, height, stride, pixel, &bytes);
    picture.map(drop).map_err(|error| ShownError::Layout {
        name,
        what: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::image_source::ImageArgument;

    fn checked(image: &str) -> Result<(), ShownError> {
        let image: ImageArgument = image.parse().unwrap();
        let name = BindingName::new(0, 2);
        check(name, &[image.given().unwrap()])
    }

    #[test]
    fn pictures_are_shown() {
        for image in [
            "2=zero:3x5",
            "2=zero:1x1:rgba8ui",
            "2=zero:9x1:B8G8R8A8_UNORM",
        ] {
            assert_eq!(checked(image), Ok(()), "{image}");
        }
    }

    #[test]
    fn other_things_are_not() {
        let name = BindingName::new(0, 2);
        let none = ShownError::NoImage { name };
        assert_eq!(checked("3=zero:3x5"), Err(none));
        let error = checked("2=zero:3x5:rgba32f").unwrap_err().to_string();
        let expected = "--show 0:2: a picture on a display can't be made of R32G32B32A32_SFLOAT";
        assert_eq!(error, expected);
    }
}
