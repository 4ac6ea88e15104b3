//! Textures: pictures as texels of four bytes, with their levels, and what samplers do.
//!
//! Facts: glTF 2.0, "Images", "Samplers". Levels are means of the level above, of colours in linear light.

use crate::error::Fault;
use crate::file::{Buffers, resolve};
use eitri_draw_scenes::{AddressMode, Border, Filter, Sampler};
use gltf::image::{Image, Source};
use gltf::texture::{MagFilter, MinFilter, WrappingMode};
use std::borrow::Cow;
use std::io::Cursor;
use std::path::Path;

/// Most texels along a side.
const MAX_SIDE: u32 = 16384;
/// Most texels of a picture.
const MAX_TEXELS: usize = 1 << 26;
/// Limits of level 0 alone, as Vulkan's rules for samplers without levels have them.
const LEVEL_0_ALONE: f32 = 0.25;

/// Red, green, blue and alpha of 8 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) texels: Vec<[u8; 4]>,
}

/// Reads the picture of an image.
pub(crate) fn read(
    buffers: &Buffers<'_>,
    path: &Path,
    image: &Image<'_>,
) -> Result<Picture, Fault> {
    let index = image.index();
    let bytes = match image.source() {
        Source::View { view, .. } => Cow::Borrowed(buffers.view(&view)?),
        Source::Uri { uri, .. } => Cow::Owned(resolve(path, uri)?),
    };
    let picture = match &bytes[..] {
        [0x89, b'P', b'N', b'G', ..] => png(&bytes),
        [0xFF, 0xD8, ..] => jpeg(&bytes),
        _ => {
            let what = format!("images[{index}], which is neither PNG nor JPEG");
            return Err(Fault::unsupported(what));
        }
    };
    picture.map_err(|why| Fault::invalid(format!("images[{index}]: {why}")))
}

fn png(bytes: &[u8]) -> Result<Picture, String> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let (width, height) = reader.info().size();
    check_size(width as usize, height as usize)?;
    let size = reader.output_buffer_size();
    let mut data = vec![0; size.ok_or("the picture is too large")?];
    let frame = reader.next_frame(&mut data);
    let frame = frame.map_err(|error| error.to_string())?;
    data.truncate(frame.buffer_size());
    let texels = match frame.color_type {
        png::ColorType::Grayscale => data.iter().map(|grey| [*grey, *grey, *grey, 255]).collect(),
        png::ColorType::GrayscaleAlpha => {
            let pairs = data.as_chunks::<2>().0.iter();
            pairs
                .map(|[grey, alpha]| [*grey, *grey, *grey, *alpha])
                .collect()
        }
        png::ColorType::Rgb => opaque(&data),
        png::ColorType::Rgba => data.as_chunks::<4>().0.to_vec(),
        png::ColorType::Indexed => return Err("its palette was not expanded".to_owned()),
    };
    Ok(Picture {
        width,
        height,
        texels,
    })
}

fn jpeg(bytes: &[u8]) -> Result<Picture, String> {
    use zune_jpeg::zune_core::bytestream::ZCursor;
    use zune_jpeg::zune_core::colorspace::ColorSpace;
    use zune_jpeg::zune_core::options::DecoderOptions;

    let options = DecoderOptions::default()
        .set_max_width(MAX_SIDE as usize)
        .set_max_height(MAX_SIDE as usize)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder
        .decode_headers()
        .map_err(|error| error.to_string())?;
    let info = decoder.info().ok_or("it has no size")?;
    let (width, height) = (info.width, info.height);
    check_size(width.into(), height.into())?;
    let data = decoder.decode().map_err(|error| error.to_string())?;
    let texels = opaque(&data);
    if texels.len() != usize::from(width) * usize::from(height) {
        return Err(format!(
            "{} texels came of {width} by {height}",
            texels.len()
        ));
    }
    Ok(Picture {
        width: width.into(),
        height: height.into(),
        texels,
    })
}

fn check_size(width: usize, height: usize) -> Result<(), String> {
    let most = MAX_SIDE as usize;
    match width.max(height) <= most && width * height <= MAX_TEXELS {
        true => Ok(()),
        false => Err(format!("{width} by {height} texels are too many")),
    }
}

fn opaque(data: &[u8]) -> Vec<[u8; 4]> {
    let texels = data.as_chunks::<3>().0.iter();
    texels
        .map(|[red, green, blue]| [*red, *green, *blue, 255])
        .collect()
}

/// A picture of one white texel: what a texture that is not there reads.
pub(crate) fn white() -> Picture {
    Picture {
        width: 1,
        height: 1,
        texels: vec![[255; 4]],
    }
}

impl Picture {
    /// The picture and all smaller ones, down to one texel.
    pub(crate) fn levels(self, srgb: bool) -> Vec<Picture> {
        let mut levels = vec![self];
        while let Some(last) = levels.last().filter(|last| last.width.max(last.height) > 1) {
            let smaller = last.half(srgb);
            levels.push(smaller);
        }
        levels
    }

    fn half(&self, srgb: bool) -> Picture {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let mut texels = Vec::with_capacity(width as usize * height as usize);
        for y in 0..height {
            let rows = span(y, height, self.height);
            for x in 0..width {
                let columns = span(x, width, self.width);
                texels.push(self.mean(columns, rows.clone(), srgb));
            }
        }
        Picture {
            width,
            height,
            texels,
        }
    }

    fn mean(
        &self,
        columns: std::ops::Range<u32>,
        rows: std::ops::Range<u32>,
        srgb: bool,
    ) -> [u8; 4] {
        let (mut sum, mut count) = ([0.0_f64; 4], 0.0);
        for y in rows {
            for x in columns.clone() {
                let at = y as usize * self.width as usize + x as usize;
                for (part, (sum, byte)) in sum.iter_mut().zip(self.texels[at]).enumerate() {
                    let value = f64::from(byte) / 255.0;
                    *sum += if srgb && part < 3 {
                        linear(value)
                    } else {
                        value
                    };
                }
                count += 1.0;
            }
        }
        let mut part = 0;
        sum.map(|sum| {
            let mean = sum / count;
            let value = if srgb && part < 3 {
                encoded(mean)
            } else {
                mean
            };
            part += 1;
            (value * 255.0).round() as u8
        })
    }
}

/// The texels of a side of `from` that become texel `at` of a side of `to`.
fn span(at: u32, to: u32, from: u32) -> std::ops::Range<u32> {
    // A side has far fewer than 65,536 texels.
    (at * from / to)..((at + 1) * from).div_ceil(to)
}

/// Linear light of an sRGB value.
fn linear(value: f64) -> f64 {
    match value <= 0.04045 {
        true => value / 12.92,
        false => ((value + 0.055) / 1.055).powf(2.4),
    }
}

/// The sRGB value of linear light.
fn encoded(value: f64) -> f64 {
    match value <= 0.003_130_8 {
        true => value * 12.92,
        false => 1.055 * value.powf(1.0 / 2.4) - 0.055,
    }
}

/// What a sampler does, under this name.
pub(crate) fn sampler(of: &gltf::texture::Sampler<'_>, name: String) -> Sampler {
    use Filter::{Linear, Nearest};
    let (min, mip, levels) = match of.min_filter() {
        Some(MinFilter::Nearest) => (Nearest, Nearest, false),
        Some(MinFilter::Linear) => (Linear, Nearest, false),
        Some(MinFilter::NearestMipmapNearest) => (Nearest, Nearest, true),
        Some(MinFilter::LinearMipmapNearest) => (Linear, Nearest, true),
        Some(MinFilter::NearestMipmapLinear) => (Nearest, Linear, true),
        Some(MinFilter::LinearMipmapLinear) | None => (Linear, Linear, true),
    };
    let wrap = |mode| match mode {
        WrappingMode::ClampToEdge => AddressMode::ClampToEdge,
        WrappingMode::MirroredRepeat => AddressMode::MirroredRepeat,
        WrappingMode::Repeat => AddressMode::Repeat,
    };
    Sampler {
        name,
        mag: match of.mag_filter() {
            Some(MagFilter::Nearest) => Nearest,
            Some(MagFilter::Linear) | None => Linear,
        },
        min,
        mip,
        u: wrap(of.wrap_s()),
        v: wrap(of.wrap_t()),
        w: AddressMode::ClampToEdge,
        border: Border::default(),
        custom_border: None,
        custom_format: None,
        lod_bias: 0.0,
        min_lod: 0.0,
        max_lod: if levels { 1000.0 } else { LEVEL_0_ALONE },
        compare: None,
        unnormalised: false,
        max_anisotropy: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_means_of_light() {
        let picture = Picture {
            width: 2,
            height: 1,
            texels: vec![[0, 0, 255, 0], [255, 0, 255, 255]],
        };
        let of = |srgb| picture.clone().levels(srgb)[1].texels.clone();
        assert_eq!(of(false), [[128, 0, 255, 128]]);
        // Half of the light is brighter than half of the code.
        assert_eq!(of(true), [[188, 0, 255, 128]]);
    }

    #[test]
    fn every_texel_is_in_the_next_level() {
        for width in 1..20 {
            let levels = Picture {
                width,
                height: 3,
                texels: vec![[7; 4]; width as usize * 3],
            }
            .levels(true);
            let last = levels.last().unwrap();
            assert_eq!((last.width, last.height), (1, 1));
            assert!(
                levels
                    .iter()
                    .all(|level| level.texels.iter().all(|it| *it == [7; 4]))
            );
            let next = (width / 2).max(1);
            let covered: Vec<u32> = (0..next).flat_map(|at| span(at, next, width)).collect();
            assert!((0..width).all(|at| covered.contains(&at)), "{width}");
        }
    }

    #[test]
    fn damaged_pictures_are_errors() {
        assert!(png(b"\x89PNG\r\n\x1a\n").is_err());
        assert!(jpeg(b"\xFF\xD8\xFF\xD9").is_err());
    }
}
