//! Images and samplers of the command line: `--image BINDING=FILE.png[:FORMAT]`, `--sampler BINDING=WORDS`, and pictures
//! made of what a shader wrote.

use crate::input::buffer_source::{BindingName, MAX_BYTES, SourceError, split_assignment};
use crate::input::given::Given;
use crate::input::image_format;
use crate::outcome::{Failure, FileError};
use crate::output::png::rgba;
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::texture::WrapMode;
use eitri_job::Content;
use eitri_runtime::{ImageInfo, SamplerInfo};
use eitri_shaderc::interp::TexelFormat;
use miette::Diagnostic;
use std::str::FromStr;
use thiserror::Error;

/// The format of pictures without one.
const DEFAULT_FORMAT: &str = "R8G8B8A8_UNORM";

/// What is wrong with an image or a sampler.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
pub(crate) enum ImageSourceError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("`{text}` is no format that images have")]
    #[diagnostic(help("write a name of Vulkan's or GLSL's, such as R8G8B8A8_UNORM or rgba16f"))]
    Format { text: String },
    #[error("`{text}` is no size: write WIDTHxHEIGHT, such as zero:64x32")]
    Size { text: String },
    #[error("`{word}` is no word of a sampler")]
    #[diagnostic(help("the words are {}", sampler_words()))]
    Word { word: String },
    #[error("{path}: {what}")]
    Picture { path: String, what: String },
    #[error("{0}")]
    Impossible(String),
    #[error("an image of {bytes} bytes: the most is {MAX_BYTES}")]
    TooLarge { bytes: u64 },
    #[error("a picture can't be made of {format}, which has no name here")]
    NoPicture { format: &'static str },
}

/// Where the texels of an image come from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Picture {
    File(String),
    Zero { width: u32, height: u32 },
}

/// `BINDING=FILE.png[:FORMAT]` or `BINDING=zero:WIDTHxHEIGHT[:FORMAT]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ImageArgument {
    pub(crate) name: BindingName,
    picture: Picture,
    format: &'static VkFormat,
}

impl FromStr for ImageArgument {
    type Err = ImageSourceError;

    fn from_str(text: &str) -> Result<ImageArgument, ImageSourceError> {
        let (name, source) = split_assignment(text)?;
        let (zero, rest) = match source.strip_prefix("zero:") {
            Some(rest) => (true, rest),
            None => (false, source),
        };
        let (place, format) = match rest.rsplit_once(':') {
            Some((place, format)) => (place, format),
            None => (rest, DEFAULT_FORMAT),
        };
        let unknown = || ImageSourceError::Format {
            text: format.to_owned(),
        };
        let format = image_format::of_name(format).ok_or_else(unknown)?;
        let picture = match zero {
            false => Picture::File(place.to_owned()),
            true => {
                let no_size = || ImageSourceError::Size {
                    text: place.to_owned(),
                };
                let (width, height) = place.split_once('x').ok_or_else(no_size)?;
                let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
                Picture::Zero {
                    width: number(width).ok_or_else(no_size)?,
                    height: number(height).ok_or_else(no_size)?,
                }
            }
        };
        Ok(ImageArgument {
            name: name.parse()?,
            picture,
            format,
        })
    }
}

impl ImageArgument {
    /// The image itself.
    pub(crate) fn given(&self) -> Result<Given, Failure> {
        let (width, height, pixels) = match &self.picture {
            Picture::Zero { width, height } => (*width, *height, None),
            Picture::File(path) => {
                let (width, height, pixels) = read(path)?;
                (width, height, Some(pixels))
            }
        };
        let info = ImageInfo::two_d(self.format, width, height);
        info.check()
            .map_err(|cause| Failure::refused(ImageSourceError::Impossible(cause.to_string())))?;
        let bytes = info.packed_bytes();
        if bytes > MAX_BYTES {
            return Err(Failure::refused(ImageSourceError::TooLarge { bytes }));
        }
        let bytes = match pixels {
            None => vec![0; bytes as usize],
            Some(pixels) => {
                let texel = texel_format(self.format)?;
                pixels
                    .iter()
                    .flat_map(|pixel| texel.store(texel.of_bytes(*pixel)))
                    .collect()
            }
        };
        Ok(Given::new(self.name, Content::Image(info), bytes))
    }
}

fn texel_format(format: &'static VkFormat) -> Result<TexelFormat, Failure> {
    let unknown = || {
        let format = format.name;
        Failure::refused(ImageSourceError::NoPicture { format })
    };
    TexelFormat::of_name(format.name).ok_or_else(unknown)
}

/// Width, height, and red, green, blue and alpha of all pixels of a PNG file.
fn read(path: &str) -> Result<(u32, u32, Vec<[u8; 4]>), Failure> {
    let error = |what: &dyn std::fmt::Display| {
        Failure::refused(ImageSourceError::Picture {
            path: path.to_owned(),
            what: what.to_string(),
        })
    };
    let file = std::fs::File::open(path).map_err(|cause| {
        Failure::refused(FileError {
            path: path.to_owned(),
            action: "read",
            cause,
        })
    })?;
    let mut decoder = png::Decoder::new(std::io::BufReader::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|cause| error(&cause))?;
    let size = reader.output_buffer_size();
    let size = size.filter(|size| *size as u64 <= MAX_BYTES);
    let size = size.ok_or_else(|| error(&"the picture is too large"))?;
    let mut bytes = vec![0; size];
    let frame = reader
        .next_frame(&mut bytes)
        .map_err(|cause| error(&cause))?;
    let bytes = bytes.get(..frame.buffer_size()).unwrap_or(&[]);
    let pixels = match frame.color_type {
        png::ColorType::Grayscale => bytes.iter().map(|&g| [g, g, g, 255]).collect(),
        png::ColorType::GrayscaleAlpha => bytes
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&[g, a]| [g, g, g, a])
            .collect(),
        png::ColorType::Rgb => bytes
            .as_chunks::<3>()
            .0
            .iter()
            .map(|&[r, g, b]| [r, g, b, 255])
            .collect(),
        png::ColorType::Rgba => bytes.as_chunks::<4>().0.to_vec(),
        png::ColorType::Indexed => return Err(error(&"indexed colours")),
    };
    Ok((frame.width, frame.height, pixels))
}

/// A PNG file of the first level and layer of an image.
pub(crate) fn picture(info: &ImageInfo, bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let texel = texel_format(info.format)?;
    let pixels: Vec<u8> = bytes
        .chunks_exact(texel.bytes().max(1))
        .take(info.width as usize * info.height as usize)
        .flat_map(|bytes| texel.to_bytes(texel.load(bytes)))
        .collect();
    rgba(info.width, info.height, &pixels)
}

/// `BINDING=WORD[,WORD…]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SamplerArgument {
    pub(crate) name: BindingName,
    info: SamplerInfo,
}

/// What a word of a sampler does.
type Change = fn(&mut SamplerInfo);

/// The words of samplers, and what they do.
#[rustfmt::skip]
const WORDS: &[(&str, Change)] = &[
    ("nearest",         |info| { info.magnify_linear = false; info.minify_linear = false; }),
    ("linear",          |info| { info.magnify_linear = true; info.minify_linear = true; }),
    ("trilinear",       |info| { info.magnify_linear = true; info.minify_linear = true; info.mipmap_linear = true; }),
    ("repeat",          |info| info.wrap = [WrapMode::Repeat; 3]),
    ("mirror",          |info| info.wrap = [WrapMode::MirroredRepeat; 3]),
    ("clamp",           |info| info.wrap = [WrapMode::ClampToEdge; 3]),
    ("border",          |info| info.wrap = [WrapMode::ClampToBorder; 3]),
    ("white",           |info| info.border = [0x3f80_0000; 4]),
    ("unnormalized",    |info| info.unnormalized = true),
];

fn sampler_words() -> String {
    let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
    words.join(", ")
}

impl FromStr for SamplerArgument {
    type Err = ImageSourceError;

    fn from_str(text: &str) -> Result<SamplerArgument, ImageSourceError> {
        let (name, words) = split_assignment(text)?;
        let mut info = SamplerInfo::default();
        for word in words.split(',').map(str::trim) {
            let row = WORDS.iter().find(|(name, _)| *name == word);
            let (_, set) = row.ok_or_else(|| ImageSourceError::Word {
                word: word.to_owned(),
            })?;
            set(&mut info);
        }
        Ok(SamplerArgument {
            name: name.parse()?,
            info,
        })
    }
}

impl SamplerArgument {
    /// The sampler itself.
    pub(crate) fn given(&self) -> Given {
        Given::sampler(self.name, self.info)
    }
}

/// `BINDING=FORMAT`: a buffer whose texels have a format.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FormatArgument {
    pub(crate) name: BindingName,
    pub(crate) format: &'static VkFormat,
}

impl FromStr for FormatArgument {
    type Err = ImageSourceError;

    fn from_str(text: &str) -> Result<FormatArgument, ImageSourceError> {
        let (name, format) = split_assignment(text)?;
        let unknown = || ImageSourceError::Format {
            text: format.to_owned(),
        };
        Ok(FormatArgument {
            name: name.parse()?,
            format: image_format::of_name(format).ok_or_else(unknown)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_samplers_and_formats_are_words_behind_a_binding() {
        let image: ImageArgument = "1:2[3]=a:b.png:r8".parse().unwrap();
        assert_eq!(image.name.to_string(), "1:2[3]");
        assert_eq!(image.picture, Picture::File("a:b.png".to_owned()));
        assert_eq!(image.format.name, "R8_UNORM");
        let image: ImageArgument = "0=zero:4x2:rgba32f".parse().unwrap();
        assert_eq!(image.given().unwrap().bytes.len(), 4 * 2 * 16);
        let sampler: SamplerArgument = "0=linear,repeat".parse().unwrap();
        assert!(sampler.info.magnify_linear && sampler.info.wrap == [WrapMode::Repeat; 3]);
        let format: FormatArgument = "2=R16_SINT".parse().unwrap();
        assert_eq!(format.format.name, "R16_SINT");
    }

    #[test]
    fn what_is_no_image_is_named() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let error = text.parse::<ImageArgument>().unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        check(
            "0=zero:4:r8",
            "`4` is no size: write WIDTHxHEIGHT, such as zero:64x32",
        );
        check(
            "0=zero:0x4:r8",
            "`0x4` is no size: write WIDTHxHEIGHT, such as zero:64x32",
        );
        check("0=a.png:bc1", "`bc1` is no format that images have");
        let error = "0=soft".parse::<SamplerArgument>().unwrap_err();
        assert_eq!(error.to_string(), "`soft` is no word of a sampler");
    }
}
