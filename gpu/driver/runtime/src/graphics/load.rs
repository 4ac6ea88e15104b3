//! Loads: attachments that begin with what they held. Their texels are fetched into the tile by frame shaders, which run before a
//! tile's primitives: one for colours, one for depth and stencil.
//!
//! Commands keep the code of each combination that they have come to; it is made in [`super::load_code`].
//! Facts: hardware/graphics-framebuffer.md 5.10, graphics-compiler.md 4, 6 and 9, graphics-raster.md 4.6 and 4.14.

use super::border::Border;
use super::error::Attachment;
use super::framebuffer::{Loads, MOST_COLORS};
use super::load_code::{DEPTH_PLACE, STENCIL_PLACE, color_code, depth_code};
use super::output_code::Kind;
use super::surface::{Surface, surface};
use crate::command::{OwnCode, Recorder};
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::resource::{FETCHES, PlanePart, pack};
use crate::vm::GpuAddress;
use eitri_descriptors::raster::Draw;
use eitri_descriptors::texture::{Texture, TextureDimension};
use eitri_descriptors::{Aligned, Arch, Descriptor, DescriptorError, Swizzle};
use heapless::Vec;

/// Words of one draw descriptor of a frame shader, and how many there are.
const DRAW_WORDS: usize = 32;
const DRAWS: usize = 3;
/// Which of them loads colours, and which depth and stencil.
const COLORS: usize = 0;
const DEPTH: usize = 1;

/// Preloaded registers: pixel, coverage, and sample (r59 to r61).
pub(super) const PRELOAD: u32 = 1 << 11 | 1 << 12 | 1 << 13;

/// The first uniform that is a handle of a texture, and the distance from one to the next.
const HANDLES: usize = 6;
pub(super) const HANDLE_STEP: usize = 2;
/// Uniforms of most frame shaders, and of those that need more.
const UNIFORMS: usize = HANDLES + HANDLE_STEP * MOST_COLORS;
pub(super) const WIDE_UNIFORMS: usize = 64;

/// Frame shaders of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameShaders {
    /// Where their draw descriptors are.
    pub(super) draws: GpuAddress,
    pub(super) colors: bool,
    pub(super) depth: bool,
}

/// What a frame shader's draw names.
pub(super) struct Stage {
    pub(super) code: GpuAddress,
    /// Descriptors of a sampler and of textures, and how many.
    pub(super) table: Vec<[u32; 8], { MOST_COLORS + 1 }>,
    /// Its uniforms.
    pub(super) uniforms: [u32; UNIFORMS],
    /// More of them, which begin with the same ones.
    pub(super) wide: Option<[u32; WIDE_UNIFORMS]>,
}

impl Stage {
    pub(super) fn new(code: GpuAddress) -> Stage {
        let mut table = Vec::new();
        // There is room for the sampler and for as many textures as colours.
        let _ = table.push(FETCHES);
        let mut uniforms = [0; UNIFORMS];
        // What is taken of a pixel's and of a sample's word.
        (uniforms[4], uniforms[5]) = (0xFFFF, 0x1F);
        Stage {
            code,
            table,
            uniforms,
            wide: None,
        }
    }

    /// Adds a texture whose handle stands among more uniforms, and gives the handle.
    pub(super) fn add_apart(&mut self, texture: [u32; 8]) -> u32 {
        let number = self.table.len() as u32;
        let _ = self.table.push(texture);
        number << 16
    }

    /// The uniforms with room for more, which begin with those that there are.
    pub(super) fn widened(&self) -> [u32; WIDE_UNIFORMS] {
        let mut wide = [0; WIDE_UNIFORMS];
        for (to, from) in wide.iter_mut().zip(self.uniforms) {
            *to = from;
        }
        wide
    }

    /// The uniforms that the shader is given.
    pub(super) fn all_uniforms(&self) -> &[u32] {
        match &self.wide {
            Some(wide) => wide,
            None => &self.uniforms,
        }
    }

    /// Samples with another sampler than that of fetches.
    pub(super) fn set_sampler(&mut self, sampler: [u32; 8]) {
        if let Some(first) = self.table.first_mut() {
            *first = sampler;
        }
    }

    /// A texture, whose handle the code finds at a place.
    pub(super) fn add(&mut self, place: usize, texture: [u32; 8]) {
        let number = self.table.len() as u32;
        let _ = self.table.push(texture);
        let word = HANDLES.saturating_add(place.saturating_mul(HANDLE_STEP));
        if let Some(handle) = self.uniforms.get_mut(word) {
            // Table 0 of textures and sampler 0 of table 0 (hardware/graphics-compiler.md 4).
            *handle = number << 16;
        }
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// The frame shaders that load what a pass begins with; `None` if it loads nothing.
    pub(super) fn frame_shaders(&mut self, layer: u32) -> Result<Option<FrameShaders>, Error> {
        let framebuffer = self.framebuffer();
        if !framebuffer.loads() {
            return Ok(None);
        }
        if let Some(texels) = framebuffer.texels().copied() {
            let formats = framebuffer.formats();
            return self.texel_shaders(&formats, &texels).map(Some);
        }
        let loads = framebuffer.loaded();
        if let Some(border) = framebuffer.border {
            return self.shaders_of(&loads, Some(&border), layer);
        }
        self.load_shaders(&loads, layer)
    }

    /// The frame shaders of a layer that load these attachments; `None` if there are none.
    pub(super) fn load_shaders(
        &mut self,
        loads: &Loads,
        layer: u32,
    ) -> Result<Option<FrameShaders>, Error> {
        self.shaders_of(loads, None, layer)
    }

    /// The same of attachments that are cleared inside of a border.
    fn shaders_of(
        &mut self,
        loads: &Loads,
        border: Option<&Border>,
        layer: u32,
    ) -> Result<Option<FrameShaders>, Error> {
        let &Loads {
            formats,
            colors: views,
            depth_stencil: others,
        } = loads;
        let samples = formats.samples > 1;
        let mut surfaces = [None; MOST_COLORS];
        let mut kinds = [None; MOST_COLORS];
        let places = surfaces.iter_mut().zip(&mut kinds).zip(views).zip(0..);
        for (((place, kind), view), location) in places {
            let Some(view) = view else { continue };
            let surface = surface(self.device, view, Attachment::Color(location))?;
            (*place, *kind) = (Some(surface), Some(Kind::of(surface.info.format)));
        }
        let has = others.map(|surface| surface.is_some());
        let colors = kinds.iter().any(Option::is_some);
        let depth = has != [false; 2];
        if !colors && !depth {
            return Ok(None);
        }
        let arch = self.arch();
        let put = |draws: &mut [u32; DRAWS * DRAW_WORDS], number: usize, draw: Draw| {
            let start = number.saturating_mul(DRAW_WORDS);
            draw.pack(arch, draws.get_mut(start..).unwrap_or_default())
        };
        let mut draws = [0; DRAWS * DRAW_WORDS];
        if colors {
            let key = kinds
                .iter()
                .rev()
                .fold(0, |key, kind| key << 2 | number_of(*kind));
            let cleared = border.map_or(0, Border::cleared_colors);
            let code = color_code(&kinds, samples, cleared);
            let own = match cleared {
                0 => OwnCode::Load(key | u32::from(samples) << 16),
                // What has a border has one sample.
                cleared => OwnCode::Border(key | cleared << 16),
            };
            let code = self.bare_code(own, &code)?;
            let mut stage = Stage::new(code);
            for (target, surface) in surfaces.iter().enumerate() {
                if let Some(surface) = surface {
                    let texture = self.load_texture(surface, layer)?;
                    stage.add(target, texture);
                }
            }
            if let Some(border) = border.filter(|_| cleared != 0) {
                let mut wide = stage.widened();
                border.set_pixels(&mut wide);
                for (target, values) in border.colors.iter().enumerate() {
                    if let Some(values) = values {
                        border.set_cleared(target, *values, &mut wide);
                    }
                }
                stage.wide = Some(wide);
            }
            let draw = self.color_draw(&formats, &kinds, &stage)?;
            put(&mut draws, COLORS, draw)?;
        }
        if depth {
            let [of_depth, of_stencil] = has.map(u32::from);
            let cleared = border.map_or([false; 2], Border::cleared_others);
            let [clears_depth, clears_stencil] = cleared.map(u32::from);
            let key = 1 << 17 | u32::from(samples) << 16 | of_depth | of_stencil << 1;
            let key = key | clears_depth << 2 | clears_stencil << 3;
            let code = self.load_code(key, &depth_code(has, samples, cleared))?;
            let mut stage = Stage::new(code);
            let aspects = [Attachment::Depth, Attachment::Stencil];
            for (place, (view, aspect)) in others.into_iter().zip(aspects).enumerate() {
                if let Some(view) = view {
                    let surface = surface(self.device, view, aspect)?;
                    let texture = self.load_texture(&surface, layer)?;
                    stage.add(place, texture);
                }
            }
            if let Some(border) = border.filter(|_| cleared != [false; 2]) {
                let mut wide = stage.widened();
                border.set_pixels(&mut wide);
                if let Some(depth) = border.depth {
                    border.set_cleared(DEPTH_PLACE, [depth.to_bits(), 0, 0, 0], &mut wide);
                }
                if let Some(stencil) = border.stencil {
                    border.set_cleared(STENCIL_PLACE, [stencil.into(), 0, 0, 0], &mut wide);
                }
                stage.wide = Some(wide);
            }
            let draw = self.depth_draw(has, samples, &stage)?;
            put(&mut draws, DEPTH, draw)?;
        }
        let draws = self.in_lane(SubQueue::Fragment, |it| it.place(&draws))?;
        Ok(Some(FrameShaders {
            draws,
            colors,
            depth,
        }))
    }

    /// Puts a single frame shader where a framebuffer finds it.
    pub(super) fn place_frame_shader(
        &mut self,
        draw: Draw,
        is_color: bool,
    ) -> Result<FrameShaders, Error> {
        let number = if is_color { COLORS } else { DEPTH };
        let start = number.saturating_mul(DRAW_WORDS);
        let mut draws = [0; DRAWS * DRAW_WORDS];
        draw.pack(self.arch(), draws.get_mut(start..).unwrap_or_default())?;
        let draws = self.in_lane(SubQueue::Fragment, |it| it.place(&draws))?;
        Ok(FrameShaders {
            draws,
            colors: is_color,
            depth: !is_color,
        })
    }

    /// Code of a combination, which the commands keep.
    fn load_code(&mut self, key: u32, words: &[u64]) -> Result<GpuAddress, Error> {
        self.own_code(OwnCode::Load(key), words, |_| Ok([[0; 8]; 2]))
    }

    /// The texture of a layer of a surface, with its plane.
    pub(super) fn load_texture(
        &mut self,
        surface: &Surface,
        layer: u32,
    ) -> Result<[u32; 8], Error> {
        let arch = self.arch();
        let plane = surface.plane_words(arch, layer)?;
        let plane = self.in_lane(SubQueue::Fragment, |it| it.place(&plane))?;
        Ok(surface.texture_words(arch, plane)?)
    }
}

impl Surface {
    /// The plane descriptor of a layer.
    pub(super) fn plane_words(&self, arch: Arch, layer: u32) -> Result<[u32; 8], DescriptorError> {
        let (info, place) = (&self.info, self.place(layer));
        let (width, height) = self.size();
        let part = PlanePart {
            info,
            size: [width, height],
            strides: [
                place.row.into(),
                u64::from(place.slice_high) << 32 | u64::from(place.slice),
            ],
            bytes: place.bytes,
        };
        part.words(arch, place.address)
    }

    /// The texture of a layer, whose plane descriptor stands at an address.
    pub(super) fn texture_words(
        &self,
        arch: Arch,
        plane: GpuAddress,
    ) -> Result<[u32; 8], DescriptorError> {
        let (width, height) = self.size();
        pack(
            arch,
            Texture {
                dimension: TextureDimension::TwoD,
                format: self.info.format.pixel_format(),
                width,
                height,
                swizzle: Swizzle::IDENTITY,
                texel_interleave: self.info.interleaves(),
                sample_count: self.info.samples,
                surfaces: Aligned::new(plane.0).unwrap_or_default(),
                ..Texture::default()
            },
        )
    }
}

/// The bits of a kind in the number of a combination.
fn number_of(kind: Option<Kind>) -> u32 {
    match kind {
        None => 0,
        Some(Kind::Float) => 1,
        Some(Kind::Int) => 2,
        Some(Kind::Uint) => 3,
    }
}
