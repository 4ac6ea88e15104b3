//! A display without an operating system: what QEMU's screen shows is the picture that a shader wrote, pixel by pixel.

use super::Case;
use crate::input::buffer_source::BindingName;
use crate::input::given::Given;
use crate::input::gpu_choice::GpuChoice;
use crate::input::shader_file;
use crate::outcome::Failure;
use crate::runs::dispatch::{self, Request, Talk};
use crate::runs::screen::{Pixmap, Screen, Show};
use crate::workspace::Workspace;
use eitri_job::{Content, Wants, texel_format};
use eitri_runtime::ImageInfo;
use eitri_shaderc::Options;
use std::time::Duration;

/// Longest that the shader may take.
const LIMIT: Duration = Duration::from_secs(60);
const NAME: BindingName = BindingName::new(0, 0);

/// Neither side divides the screen, so that the picture has black on all four sides.
const WIDTH: usize = 90;
const HEIGHT: usize = 53;
/// The screen that an image makes itself.
const SCREEN: (usize, usize) = (1024, 768);

/// Shows a picture, and compares the screen with it.
pub(super) fn run(workspace: &Workspace) -> Result<Case, Failure> {
    let shader = workspace.root().join("examples/show/picture.wgsl");
    let shader = shader_file::load(&shader.to_string_lossy())?;
    let compiled = dispatch::compile(&shader, &Options::default())?;
    let name = "display/ramfb/monitor";
    let Some(format) = texel_format("R8G8B8A8_UNORM") else {
        let failure = "no R8G8B8A8_UNORM".to_owned();
        return Ok(Case::ran(name, Some(failure)));
    };
    let info = ImageInfo::two_d(format, WIDTH as u32, HEIGHT as u32);
    let bytes = vec![0; WIDTH * HEIGHT * 4];
    let request = Request {
        resources: vec![Given::new(NAME, Content::Image(info), bytes)],
        push_constants: Vec::new(),
        groups: [WIDTH.div_ceil(8) as u32, HEIGHT.div_ceil(8) as u32, 1],
        saves: vec![NAME],
        gpu: GpuChoice::default(),
        coherent: true,
        firmware: None,
        limit: LIMIT,
        wants: Wants::default(),
        talk: Talk::Quiet,
    };
    let show = Show {
        name: NAME,
        screen: Screen::Kept,
    };
    let (done, screen) = dispatch::execute_shown(&shader.path, &compiled, &request, &show, None)?;
    let saved = done.result.buffers.first();
    let picture = saved.map_or(&[][..], |buffer| &buffer.bytes);
    let failure = match &done.result.failure {
        Some(failure) => Some(failure.text.clone()),
        None => difference(picture, &screen.unwrap_or_default()),
    };
    Ok(Case::ran(name, failure))
}

/// The first difference between a screen and what it should show of a picture in red, green, blue and alpha.
fn difference(picture: &[u8], screen: &[u8]) -> Option<String> {
    if picture.len() != WIDTH * HEIGHT * 4 {
        return Some(format!("a picture of {} bytes", picture.len()));
    }
    let (pixels, _) = picture.as_chunks::<4>();
    if let Some(place) = wrong_in_picture(pixels) {
        return Some(format!("the shader's picture is wrong at {place:?}"));
    }
    let screen = match Pixmap::parse(screen) {
        Ok(screen) => screen,
        Err(error) => return Some(error.to_string()),
    };
    if (screen.width, screen.height) != SCREEN {
        let found = (screen.width, screen.height);
        return Some(format!("a screen of {found:?} pixels"));
    }
    difference_on(&screen, pixels, WIDTH)
}

/// The first difference between a screen and a picture of lines of `width` pixels on it: enlarged by the largest whole factor by which
/// it fits, in the middle, on black.
pub(super) fn difference_on(
    screen: &Pixmap<'_>,
    pixels: &[[u8; 4]],
    width: usize,
) -> Option<String> {
    let height = pixels.len() / width.max(1);
    let factor = (screen.width / width.max(1)).min(screen.height / height.max(1));
    if factor == 0 {
        return Some(format!("a screen of {} x {}", screen.width, screen.height));
    }
    let left = (screen.width - width * factor) / 2;
    let top = (screen.height - height * factor) / 2;
    let expected = |x: usize, y: usize| {
        let column = x.checked_sub(left).map(|x| x / factor)?;
        let line = y.checked_sub(top).map(|y| y / factor)?;
        let [red, green, blue, _] = *pixels.get(line * width + column)?;
        (column < width).then_some([red, green, blue])
    };
    let found = screen.pixels.as_chunks::<3>().0;
    let mut each = found.iter().enumerate();
    each.find_map(|(index, found)| {
        let (x, y) = (index % screen.width, index / screen.width);
        let expected = expected(x, y).unwrap_or_default();
        (*found != expected)
            .then(|| format!("the screen has {found:?} at {x}, {y}; the picture {expected:?}"))
    })
}

/// Where the shader's picture is not what its source says; a step more or less for what is rounded.
fn wrong_in_picture(pixels: &[[u8; 4]]) -> Option<(usize, usize)> {
    let mut each = pixels.iter().enumerate();
    each.find_map(|(index, [red, green, blue, alpha])| {
        let (x, y) = (index % WIDTH, index / WIDTH);
        let is_near = |found: u8, place: usize, last: usize| {
            (f64::from(found) - 255.0 * place as f64 / last as f64).abs() <= 1.0
        };
        let chequered = if (x ^ y) & 1 == 1 { 255 } else { 0 };
        let good = is_near(*red, x, WIDTH - 1)
            && is_near(*green, y, HEIGHT - 1)
            && (*blue, *alpha) == (chequered, 255);
        (!good).then_some((x, y))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture as the shader should write it, and a screen that shows it.
    fn shown() -> (Vec<u8>, Vec<u8>) {
        let component = |place, last| (255.0 * place as f64 / last as f64).round() as u8;
        let pixel = |x: usize, y: usize| {
            let blue = if (x ^ y) & 1 == 1 { 255 } else { 0 };
            [component(x, WIDTH - 1), component(y, HEIGHT - 1), blue, 255]
        };
        let places = |width: usize, height: usize| {
            (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
        };
        let picture = places(WIDTH, HEIGHT).flat_map(|(x, y)| pixel(x, y));
        let mut screen = b"P6\n1024 768\n255\n".to_vec();
        // 90 x 53 by 11 is 990 x 583: 17 columns and 92 lines before it.
        for (x, y) in places(SCREEN.0, SCREEN.1) {
            let inside = (17..1007).contains(&x) && (92..675).contains(&y);
            let found = if inside {
                pixel((x - 17) / 11, (y - 92) / 11)
            } else {
                [0; 4]
            };
            screen.extend(&found[..3]);
        }
        (picture.collect(), screen)
    }

    #[test]
    fn a_screen_with_the_picture_is_good() {
        let (picture, screen) = shown();
        assert_eq!(difference(&picture, &screen), None);
    }

    #[test]
    fn every_other_pixel_is_seen() {
        let (picture, screen) = shown();
        let begin = screen.len() - SCREEN.0 * SCREEN.1 * 3;
        for byte in [
            begin,
            begin + (92 * SCREEN.0 + 17) * 3 + 1,
            screen.len() - 1,
        ] {
            let mut wrong = screen.clone();
            wrong[byte] ^= 1;
            assert!(difference(&picture, &wrong).is_some(), "byte {byte}");
        }
        let mut other = picture.clone();
        other[2] ^= 255;
        assert!(difference(&other, &screen).is_some());
        assert!(difference(&picture, b"").is_some());
    }
}
