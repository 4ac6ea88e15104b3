//! Loads: attachments that begin with what they held. Their texels are fetched into the tile by frame shaders, which run before a
//! tile's primitives: one for colours, one for depth and stencil.
//!
//! The shaders' code is put together from the words below, which are the same on every generation: a beginning, a block for each
//! colour, and an end. Commands keep the code of each combination that they have come to.
//! Facts: hardware/graphics-framebuffer.md 5.10, graphics-compiler.md 4, 6 and 9, graphics-raster.md 4.6 and 4.14.

use super::border::{self, Border};
use super::error::Attachment;
use super::framebuffer::{Loads, MOST_COLORS};
use super::surface::{Surface, surface};
use crate::command::{OwnCode, Recorder};
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::resource::{FETCHES, PlanePart, pack};
use crate::vm::GpuAddress;
use eitri_descriptors::formats::VkFormat;
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

/// Most instructions: a beginning, a block for each colour.
const MOST_CODE: usize = 12 + 11 * MOST_COLORS;
/// Preloaded registers: pixel, coverage, and sample (r59 to r61).
pub(super) const PRELOAD: u32 = 1 << 11 | 1 << 12 | 1 << 13;

/// The words of the code, without what differs.
mod word {
    /// `LSHIFT_AND.i32 r4, r59, 0x0.b00, u4`: x of the pixel.
    pub(super) const PIXEL_X: u64 = 0x00b4_c401_1084_c03b;
    /// `RSHIFT_OR.i32 r5, r59, 0x13121110.b00, 0x0`: y of it.
    pub(super) const PIXEL_Y: u64 = 0x00b4_c500_11c0_cc3b;
    /// `RSHIFT_AND.i32 r6, r61, 0x13121110.b00, u5`: the number of the sample.
    pub(super) const SAMPLE: u64 = 0x00b4_c600_1085_cc3d;
    /// `LSHIFT_OR.i32 r6, r6, 0x13121110.b00, 0x0`: where a fetch has it.
    pub(super) const SAMPLE_UP: u64 = 0x00b4_c601_11c0_cc06;
    /// `NOP.wait0126`.
    pub(super) const WAIT: u64 = 0x4000_c000_0000_0000;
    /// `TEX_FETCH.slot0.f.32.2d.wait0 @r0:r1:r2:r3, @r4:r5, u6`: a texel of floats, whose handle is that uniform.
    pub(super) const FETCH: u64 = 0x0925_4434_17c0_0086;
    /// The same with `.s` and `.u` in place of `.f`, without the rest.
    pub(super) const FETCH_INT: u64 = 0x0925_4434_1fc0_0086 ^ FETCH;
    pub(super) const FETCH_UINT: u64 = 0x0925_4434_1bc0_0086 ^ FETCH;
    /// The same with `.texel_offset` and `@r4:r5:r6`, without the rest.
    pub(super) const OF_SAMPLE: u64 = 0x0925_4436_17c0_0886 ^ FETCH;
    /// `BLEND.slot0.v4.f32 @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x2`: goes on behind the call that follows.
    pub(super) const BLEND: u64 = 0x007f_4008_323c_02f0;
    /// The same with `.s32` and `.u32`, and with `.end` and `target:0x0`, without the rest.
    pub(super) const BLEND_INT: u64 = 0x007f_4008_343c_02f0 ^ BLEND;
    pub(super) const BLEND_UINT: u64 = 0x007f_4008_363c_02f0 ^ BLEND;
    pub(super) const BLEND_END: u64 = 0x787f_4008_323c_00f0 ^ BLEND;
    /// `IADD_IMM.i32 r48, program_counter.w0, #0x8`, and with no address to come back to.
    pub(super) const CALL_FROM: u64 = 0x0710_f000_0000_08fe;
    pub(super) const CALL_LAST: u64 = 0x0110_f000_0000_00c0;
    /// `BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1`.
    pub(super) const CALL: u64 = 0x002f_c110_0000_f1c0;
    /// `TEX_FETCH.slot0.u.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, u8`: a stencil value.
    pub(super) const FETCH_STENCIL: u64 = 0x0925_4434_1bc8_0088;
    /// `ATEST.wait0126 @r60, r60, 0x3F800000, atest_datum.w0`.
    pub(super) const TEST: u64 = 0x407d_bc02_00ea_d03c;
    /// `ZS_EMIT.z.slot0.end @r60, r0, 0x0, r60`, `.stencil` with r8, and both.
    pub(super) const EMIT_DEPTH: u64 = 0x787e_bc02_023c_c000;
    pub(super) const EMIT_STENCIL: u64 = 0x787e_bc02_013c_08c0;
    pub(super) const EMIT_BOTH: u64 = 0x787e_bc02_033c_0800;
}

/// The first uniform that is a handle of a texture, and the distance from one to the next.
const HANDLES: usize = 6;
const HANDLE_STEP: usize = 2;
/// Uniforms of most frame shaders, and of those that need more.
const UNIFORMS: usize = HANDLES + HANDLE_STEP * MOST_COLORS;
pub(super) const WIDE_UNIFORMS: usize = 64;

/// Places of depth and stencil among the handles.
const DEPTH_PLACE: usize = 0;
const STENCIL_PLACE: usize = 1;

/// What the components of a colour are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Float,
    Int,
    Uint,
}

impl Kind {
    pub(super) fn of(format: &VkFormat) -> Kind {
        if format.has("UINT") {
            Kind::Uint
        } else if format.has("SINT") {
            Kind::Int
        } else {
            Kind::Float
        }
    }
}

/// The code that loads colours; `clears`: some of them inside of a border.
fn color_code(
    kinds: &[Option<Kind>; MOST_COLORS],
    samples: bool,
    clears: bool,
) -> Vec<u64, MOST_CODE> {
    let mut code = Vec::new();
    // There is room: MOST_CODE counts all of them.
    let mut put = |word: u64| {
        let _ = code.push(word);
    };
    put(word::PIXEL_X);
    put(word::PIXEL_Y);
    if samples {
        put(word::SAMPLE);
        put(word::SAMPLE_UP);
    }
    if clears {
        border::row_inside().iter().for_each(|word| put(*word));
    }
    let last = kinds.iter().rposition(Option::is_some);
    for (target, kind) in kinds.iter().enumerate() {
        let Some(kind) = kind else { continue };
        let (fetch, blend) = match kind {
            Kind::Float => (0, 0),
            Kind::Int => (word::FETCH_INT, word::BLEND_INT),
            Kind::Uint => (word::FETCH_UINT, word::BLEND_UINT),
        };
        let step = (target as u64).wrapping_mul(HANDLE_STEP as u64);
        let of_sample = if samples { word::OF_SAMPLE } else { 0 };
        let is_last = last == Some(target);
        put(word::WAIT);
        put((word::FETCH ^ fetch ^ of_sample).wrapping_add(step));
        if clears {
            put(word::WAIT);
            let code = border::clear_inside(target, 0..4);
            code.iter().for_each(|word| put(*word));
        }
        let end = if is_last { word::BLEND_END } else { 0 };
        put((word::BLEND ^ blend ^ end).wrapping_add(step));
        put(if is_last {
            word::CALL_LAST
        } else {
            word::CALL_FROM
        });
        put(word::CALL.wrapping_add(step << 8));
    }
    code
}

/// The code that loads depth and stencil; `clears`: some of them inside of a border.
fn depth_code([depth, stencil]: [bool; 2], samples: bool, clears: bool) -> Vec<u64, MOST_CODE> {
    let mut code = Vec::new();
    let mut put = |word: u64| {
        let _ = code.push(word);
    };
    put(word::PIXEL_X);
    put(word::PIXEL_Y);
    let mut of_sample = 0;
    if samples {
        put(word::SAMPLE);
        put(word::SAMPLE_UP);
        of_sample = word::OF_SAMPLE;
    }
    if clears {
        border::row_inside().iter().for_each(|word| put(*word));
    }
    if depth {
        put(word::FETCH ^ of_sample);
    }
    if stencil {
        put(word::FETCH_STENCIL ^ of_sample);
    }
    put(word::WAIT);
    if clears {
        for (is_there, place, register) in [(depth, DEPTH_PLACE, 0), (stencil, STENCIL_PLACE, 8)] {
            if is_there {
                let code = border::clear_inside(place, register..register + 1);
                code.iter().for_each(|word| put(*word));
            }
        }
    }
    put(word::TEST);
    put(match (depth, stencil) {
        (true, true) => word::EMIT_BOTH,
        (true, false) => word::EMIT_DEPTH,
        (false, _) => word::EMIT_STENCIL,
    });
    code
}

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
            let clears = border.is_some_and(|it| it.colors.iter().any(Option::is_some));
            let code = color_code(&kinds, samples, clears);
            let key = key | u32::from(samples) << 16 | u32::from(clears) << 18;
            let code = self.load_code(key, &code)?;
            let mut stage = Stage::new(code);
            for (target, surface) in surfaces.iter().enumerate() {
                if let Some(surface) = surface {
                    let texture = self.load_texture(surface, layer)?;
                    stage.add(target, texture);
                }
            }
            if let Some(border) = border.filter(|_| clears) {
                let mut wide = stage.widened();
                border.set_pixels(&mut wide);
                for (target, values) in border.colors.iter().enumerate() {
                    border.set_cleared(target, *values, &mut wide);
                }
                stage.wide = Some(wide);
            }
            let draw = self.color_draw(&formats, &kinds, &stage)?;
            put(&mut draws, COLORS, draw)?;
        }
        if depth {
            let [of_depth, of_stencil] = has.map(u32::from);
            let clears = border.is_some_and(|it| it.depth.is_some() || it.stencil.is_some());
            let key = 1 << 17 | u32::from(samples) << 16 | of_depth | of_stencil << 1;
            let key = key | u32::from(clears) << 18;
            let code = self.load_code(key, &depth_code(has, samples, clears))?;
            let mut stage = Stage::new(code);
            let aspects = [Attachment::Depth, Attachment::Stencil];
            for (place, (view, aspect)) in others.into_iter().zip(aspects).enumerate() {
                if let Some(view) = view {
                    let surface = surface(self.device, view, aspect)?;
                    let texture = self.load_texture(&surface, layer)?;
                    stage.add(place, texture);
                }
            }
            if let Some(border) = border.filter(|_| clears) {
                let mut wide = stage.widened();
                border.set_pixels(&mut wide);
                let depth = border.depth.map(|it| [it.to_bits(), 0, 0, 0]);
                border.set_cleared(DEPTH_PLACE, depth, &mut wide);
                let stencil = border.stencil.map(|it| [it.into(), 0, 0, 0]);
                border.set_cleared(STENCIL_PLACE, stencil, &mut wide);
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

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_descriptors::Arch;
    use eitri_isa::{Instr, Syntax};
    use std::vec::Vec;

    fn text(code: &[u64], arch: eitri_isa::Arch) -> Vec<std::string::String> {
        let line = |word: &u64| {
            let instr = Instr::decode(*word, arch).expect("legal");
            std::format!("{}", instr.display(arch, Syntax::Mesa24))
        };
        code.iter().map(line).collect()
    }

    #[test]
    fn the_code_is_what_it_is_said_to_be() {
        for arch in [Arch::V10, Arch::V11, Arch::V12, Arch::V13] {
            let arch = eitri_isa::Arch::ALL
                .into_iter()
                .find(|it| it.major() == arch.major())
                .expect("the same generations");
            let mut kinds = [None; MOST_COLORS];
            (kinds[0], kinds[5]) = (Some(Kind::Uint), Some(Kind::Float));
            let code = text(&color_code(&kinds, true, false), arch);
            let expected = [
                "LSHIFT_AND.i32 r4, r59, 0x0.b00, u4",
                "RSHIFT_OR.i32 r5, r59, 0x13121110.b00, 0x0",
                "RSHIFT_AND.i32 r6, r61, 0x13121110.b00, u5",
                "LSHIFT_OR.i32 r6, r6, 0x13121110.b00, 0x0",
                "NOP.wait0126",
                "TEX_FETCH.slot0.u.32.2d.texel_offset.wait0 @r0:r1:r2:r3, @r4:r5:r6, u6",
                "BLEND.slot0.v4.u32 @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x2",
                "IADD_IMM.i32 r48, program_counter.w0, #0x8",
                "BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1",
                "NOP.wait0126",
                "TEX_FETCH.slot0.f.32.2d.texel_offset.wait0 @r0:r1:r2:r3, @r4:r5:r6, u16",
                "BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_5.w0, r60, target:0x0",
                "IADD_IMM.i32 r48, 0x0, #0x0",
                "BRANCHZI.eq.absolute 0x0, blend_descriptor_5.w1",
            ];
            let trimmed: Vec<&str> = code.iter().map(|line| line.trim()).collect();
            assert_eq!(trimmed, expected, "{arch}");
            let code = text(&depth_code([true, true], false, false), arch);
            let trimmed: Vec<&str> = code.iter().map(|line| line.trim()).collect();
            let expected = [
                "LSHIFT_AND.i32 r4, r59, 0x0.b00, u4",
                "RSHIFT_OR.i32 r5, r59, 0x13121110.b00, 0x0",
                "TEX_FETCH.slot0.f.32.2d.wait0 @r0:r1:r2:r3, @r4:r5, u6",
                "TEX_FETCH.slot0.u.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, u8",
                "NOP.wait0126",
                "ATEST.wait0126 @r60, r60, 0x3F800000, atest_datum.w0",
                "ZS_EMIT.z.stencil.slot0.end @r60, r0, r8, r60",
            ];
            assert_eq!(trimmed, expected, "{arch}");
        }
    }

    /// Colours 0 and 3 with a border: the row inside once, and behind each fetch its height and four choices.
    #[test]
    fn clears_inside_of_a_border_are_chosen_component_by_component() {
        let arch = eitri_isa::Arch::ALL
            .into_iter()
            .find(|it| it.major() == 10)
            .expect("v10");
        let mut kinds = [None; MOST_COLORS];
        (kinds[0], kinds[3]) = (Some(Kind::Float), Some(Kind::Float));
        let code = text(&color_code(&kinds, false, true), arch);
        let trimmed: Vec<&str> = code.iter().map(|line| line.trim()).collect();
        let expected = [
            "TEX_FETCH.slot0.f.32.2d.wait0 @r0:r1:r2:r3, @r4:r5, u12",
            "NOP.wait0126",
            "MOV.i32 r57, u13",
            "CSEL.u32.lt r0, r56, r57, u36, r0",
            "CSEL.u32.lt r1, r56, r57, u37, r1",
            "CSEL.u32.lt r2, r56, r57, u38, r2",
            "CSEL.u32.lt r3, r56, r57, u39, r3",
        ];
        let second = trimmed.iter().position(|line| *line == expected[0]);
        let second = second.expect("the second colour is fetched");
        assert_eq!(trimmed[second..second + 7], expected);
        let code = text(&depth_code([true, true], false, true), arch);
        let stencil = code
            .iter()
            .any(|line| line.trim() == "CSEL.u32.lt r8, r56, r57, u28, r8");
        assert!(
            stencil,
            "stencil has the second colour's uniforms: {code:?}"
        );
    }
}
