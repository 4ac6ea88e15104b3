//! Passes that draw nothing, and begin with texels of another image: blits and resolves, a tile at a time.
//!
//! A frame shader fetches, as one that loads does, and the tile is written back by the fixed function, which converts formats. So
//! neither vertices nor a tiler heap are needed.

mod code;
mod memory;

use super::border;
use super::error::{Attachment, GraphicsError};
use super::framebuffer::ColorFormats;
use super::load::{FrameShaders, Stage};
use super::output_code::Kind;
use super::rendering::{RenderingInfo, ResolveMode};
use super::surface::{Surface, surface};
use crate::command::{OwnCode, Recorder};
use crate::error::{Error, Thing};
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::resource::{PlanePart, SamplerInfo, pack, sampler};
use code::{Output, Place, Samples, Shader};
use eitri_descriptors::texture::{Texture, TextureDimension};
use eitri_descriptors::{Aligned, Swizzle};
pub(super) use memory::MemoryTexels;

/// Where the texel of a pixel lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Transform {
    /// So many texels away.
    Offset([i32; 2]),
    /// At `scale * pixel + offset`, in texels.
    Nearest { scale: [f32; 2], offset: [f32; 2] },
    /// The same from 0 to 1, between texels; of an image of three dimensions with a third coordinate.
    Linear {
        scale: [f32; 2],
        offset: [f32; 2],
        depth: Option<f32>,
    },
    /// In memory that no texture describes.
    Memory(MemoryTexels),
}

/// What a pass begins with.
#[derive(Clone, Copy, Debug)]
pub(super) struct TexelSource {
    /// Where they are, except for those of memory: then what is written.
    pub(super) surface: Surface,
    pub(super) transform: Transform,
    /// What becomes of several samples.
    pub(super) mode: ResolveMode,
    /// What the pass renders to.
    pub(super) target: Attachment,
}

impl TexelSource {
    fn shader(&self, border: bool) -> Shader {
        let count = self.surface.info.samples;
        Shader {
            border,
            place: match self.transform {
                Transform::Memory(texels) => Place::Memory(texels.how()),
                Transform::Offset(_) => Place::Offset,
                Transform::Nearest { .. } => Place::Nearest,
                Transform::Linear { depth: None, .. } => Place::Linear,
                Transform::Linear { depth: Some(_), .. } => Place::LinearDeep,
            },
            samples: match self.mode {
                _ if count == 1 => Samples::First,
                ResolveMode::SampleZero => Samples::First,
                ResolveMode::Average => Samples::Average(count),
                ResolveMode::Min => Samples::Min(count),
                ResolveMode::Max => Samples::Max(count),
            },
            output: match self.target {
                Attachment::Color(_) => Output::Color(Kind::of(self.surface.info.format)),
                Attachment::Depth => Output::Depth,
                Attachment::Stencil => Output::Stencil,
            },
        }
    }

    /// Sets the uniforms that say where texels lie.
    fn set_uniforms(&self, stage: &mut Stage) {
        let mut set = |place: usize, word: u32| {
            if let Some(uniform) = stage.uniforms.get_mut(place) {
                *uniform = word;
            }
        };
        let count = self.surface.info.samples;
        set(code::RECIPROCAL, (1.0 / count as f32).to_bits());
        // Where a fetch has the number of the sample (hardware/graphics-texture.md 7.7).
        set(code::NEXT_SAMPLE, 1 << 16);
        let (scale, offset) = match self.transform {
            Transform::Memory(_) => return,
            Transform::Offset([x, y]) => {
                set(code::PLACE, x as u32);
                set(code::PLACE + 1, y as u32);
                return;
            }
            Transform::Nearest { scale, offset } => (scale, offset),
            Transform::Linear {
                scale,
                offset,
                depth,
            } => {
                set(code::DEPTH, depth.unwrap_or(0.0).to_bits());
                (scale, offset)
            }
        };
        let words = scale.into_iter().zip(offset);
        let words = words.flat_map(|(scale, offset)| [scale, offset]);
        for (place, word) in (code::PLACE..).zip(words) {
            set(place, word.to_bits());
        }
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Records a pass that begins with texels of an image, and ends.
    pub(super) fn texel_pass(
        &mut self,
        info: &RenderingInfo<'_>,
        source: TexelSource,
    ) -> Result<(), Error> {
        let pass = self.begin_rendering(info)?;
        pass.recorder.refer(source.surface.image(), Thing::Image)?;
        if let Some(passes) = &mut pass.recorder.passes {
            let target = passes.targets.last_mut();
            target.framebuffer.begin_with(source);
            target.template.forget();
        }
        pass.end_rendering()
    }

    /// The frame shaders of such a pass.
    pub(super) fn texel_shaders(
        &mut self,
        formats: &ColorFormats,
        source: &TexelSource,
    ) -> Result<FrameShaders, Error> {
        let arch = self.arch();
        let border = self.framebuffer().border;
        let shader = source.shader(border.is_some());
        let code = OwnCode::Texels(shader.key());
        let code = self.own_code(code, &shader.code(), |_| Ok([[0; 8]; 2]))?;
        let mut stage = Stage::new(code);
        if let Transform::Linear { .. } = source.transform {
            let linear = SamplerInfo {
                magnify_linear: true,
                minify_linear: true,
                ..SamplerInfo::default()
            };
            stage.set_sampler(sampler(arch, &linear)?);
        }
        if !matches!(source.transform, Transform::Memory(_)) {
            let texture = self.source_texture(source)?;
            stage.add(0, texture);
        }
        source.set_uniforms(&mut stage);
        if let Transform::Memory(texels) = &source.transform {
            let mut wide = stage.widened();
            texels.set_uniforms(&mut wide);
            stage.wide = Some(wide);
        }
        // FACT: whether a texture may read a superblock while the same pass writes it again with the texels that it has is not
        // established; a blit between parts of one level that share superblocks does so. Settled by such a blit on any board.
        if let Some(border) = border {
            let mut wide = stage.wide.unwrap_or_else(|| stage.widened());
            border.set_pixels(&mut wide);
            let old = self.old_texels(source.target)?;
            let old = self.load_texture(&old, 0)?;
            if let Some(handle) = wide.get_mut(border::OLD) {
                *handle = stage.add_apart(old);
            }
            stage.wide = Some(wide);
        }
        let is_color = matches!(source.target, Attachment::Color(_));
        let is = |wanted| source.target == wanted;
        let draw = if is_color {
            let kinds = [Some(shader.output.kind())];
            self.color_draw(formats, &kinds, &stage)?
        } else {
            let has = [is(Attachment::Depth), is(Attachment::Stencil)];
            self.depth_draw(has, false, &stage)?
        };
        self.place_frame_shader(draw, is_color)
    }

    /// What a pass renders to, as what its pixels hold.
    fn old_texels(&self, target: Attachment) -> Result<Surface, Error> {
        let framebuffer = self.framebuffer();
        let view = match target {
            Attachment::Color(_) => {
                let first = framebuffer.colors.first().copied().flatten();
                first.map(|color| color.view)
            }
            Attachment::Depth => framebuffer.depth.map(|it| it.view),
            Attachment::Stencil => framebuffer.stencil.map(|it| it.view),
        };
        let missing = GraphicsError::Mismatch { attachment: target };
        surface(self.device, view.ok_or(missing)?, target)
    }

    /// The texture of a source, with its plane.
    fn source_texture(&mut self, source: &TexelSource) -> Result<[u32; 8], Error> {
        let arch = self.arch();
        let deep = matches!(source.transform, Transform::Linear { depth: Some(_), .. });
        if !deep {
            return self.load_texture(&source.surface, 0);
        }
        let surface = &source.surface;
        let (lies, address) = surface.all_slices();
        let part = PlanePart::of(&surface.info, surface.level(), &lies);
        let plane = part.words(arch, address)?;
        let plane = self.in_lane(SubQueue::Fragment, |it| it.place(&plane))?;
        let (width, height) = surface.size();
        let texture = pack(
            arch,
            Texture {
                dimension: TextureDimension::ThreeD,
                format: surface.info.format.pixel_format(),
                width,
                height,
                depth: lies.slices,
                swizzle: Swizzle::IDENTITY,
                texel_interleave: surface.info.interleaves(),
                surfaces: Aligned::new(plane.0).unwrap_or_default(),
                ..Texture::default()
            },
        )?;
        Ok(texture)
    }
}
