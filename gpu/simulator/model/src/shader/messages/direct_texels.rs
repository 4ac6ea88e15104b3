//! Direct messages of textures and images: done for all lanes at once, if each texel lies in a page that the host lends and whose
//! translation is cached, and each descriptor was looked up.
//!
//! Texels are read first, with nothing noted but where they lie; once all are read, the accesses are counted in the order in which
//! single steps make them. What needs more is left to [`Memory::send`], with nothing done: compressed images, planes of YCbCr, texels
//! that cross pages, pages that the L2 caches, first-level caches that are modelled, and work that is recorded.
//!
//! Needs: as [`super::direct`].  Guarantees: registers and counters are those of [`Memory::send`].

use super::access::alignment;
use super::direct::Around;
use super::filters::{ReadTexels, filtered};
use super::noted_texels::{Noted, PLANE_BYTES};
use super::samples::{payloads_of, staged_words};
use super::units::requester;
use super::{Memory, count, set_registers};
use crate::fidelity::Inexact;
use crate::l2::LINE;
use crate::memory::{PAGE, PAGE_BYTES};
use crate::mmu::{AccessKind, Request};
use crate::shader::footprint::{CORNERS, Footprint};
use crate::shader::format::{Colour, PixelFormat};
use crate::shader::instruction::{From, Instruction};
use crate::shader::lanes::{Lanes, WARP, WideLanes};
use crate::shader::message::{Action, Handle, Message};
use crate::shader::plane::LastPlanes;
use crate::shader::sampling::Sampler;
use crate::shader::texture::{Found, NO_TEXEL, Texel, Texture};
use crate::shader::typed::{Fetch, image_texel};
use crate::shader::warp::{Warp, bits};
use eitri_isa::Arch;
use eitri_isa::row::Unit;

/// Pages whose frames are known.
const KNOWN_PAGES: usize = 8;

/// The frames of pages that were accessed: each page has one place.
#[derive(Default)]
struct KnownFrames {
    /// Number of a page and one more, so that 0 is none, and its frame.
    pages: [(u64, u64); KNOWN_PAGES],
    /// Number of the last page, and one more.
    last: u64,
}

impl KnownFrames {
    #[inline]
    fn find(&self, address: u64) -> Option<u64> {
        let number = address / PAGE + 1;
        let (known, frame) = self.pages[number as usize % KNOWN_PAGES];
        (known == number).then_some(frame)
    }

    fn keep(&mut self, address: u64, frame: u64) {
        let number = address / PAGE + 1;
        self.pages[number as usize % KNOWN_PAGES] = (number, frame);
    }

    /// Whether the last access was to the same page.
    #[inline]
    fn is_last(&self, address: u64) -> bool {
        self.last == address / PAGE + 1
    }

    #[inline]
    fn note_last(&mut self, address: u64) {
        self.last = address / PAGE + 1;
    }
}

/// The message is left to a single step.
struct NotDirect;

/// Reads texels, and notes where they lie.
struct Direct<'a, 'm> {
    unit: &'a mut Memory,
    around: &'a mut Around<'m>,
    /// Of the unit that reads them, without an address.
    request: Request,
    arch: Arch,
    planes: LastPlanes,
    frames: KnownFrames,
    /// The handle of the last texture.
    handle: Option<u32>,
    /// Whether the page of each texel is translated, not only where it is another one than the last.
    translates_each: bool,
    /// The format of the last texel, with its word.
    format: Option<(u32, PixelFormat)>,
    noted: Noted,
}

impl Memory {
    /// Does what a message of textures or images asks for; `None`, with nothing done, if that takes a single step.
    #[inline(never)]
    pub(super) fn texels(
        &mut self,
        around: &mut Around<'_>,
        warp: &mut Warp,
        instruction: &Instruction,
        message: &Message,
    ) -> Option<()> {
        if around.fabric.has_first_level() || around.fabric.is_recording() {
            return None;
        }
        let source = requester(&message.action, around.place);
        let request = Request {
            source,
            ..around.request(AccessKind::Read)
        };
        let mut noted = core::mem::take(&mut self.noted);
        noted.clear();
        let arch = around.fabric.config.product.arch();
        let mut direct = Direct {
            unit: self,
            around,
            request,
            arch,
            planes: LastPlanes::default(),
            frames: KnownFrames::default(),
            handle: None,
            translates_each: matches!(message.action, Action::RequestTexture(_)),
            format: None,
            noted,
        };
        let registers = direct.registers(warp, instruction, message);
        let noted = direct.noted;
        if registers.is_some() {
            self.count_texels(
                around,
                (instruction, message),
                warp.lanes,
                (request, &noted),
            );
        }
        self.noted = noted;
        set_registers(warp, message.write, &registers?);
        Some(())
    }

    /// Counts the message and its accesses.
    fn count_texels(
        &self,
        around: &mut Around<'_>,
        (instruction, message): (&Instruction, &Message),
        lanes: u16,
        (request, noted): (Request, &Noted),
    ) {
        let core = around.place.core;
        let fabric = &mut *around.fabric;
        count(fabric.activity.core(core), &message.action, lanes);
        if !noted.is_empty() {
            fabric.mmu.note_use(request.space);
        }
        let lines = noted.count(fabric, core);
        if instruction.unit == Unit::Ls {
            fabric.activity.core(core).lines += lines.max(1);
        }
    }
}

impl Direct<'_, '_> {
    /// The registers that the running lanes get.
    fn registers(
        &mut self,
        warp: &Warp,
        instruction: &Instruction,
        message: &Message,
    ) -> Option<[[u32; 4]; WARP]> {
        match message.action {
            Action::RequestTexture(request) => {
                let handles = self.wide_handles(warp, instruction)?;
                let arch = self.arch;
                let payloads = payloads_of(warp, message, &request, (&handles, arch));
                filtered(self, &request, &payloads, warp.lanes).ok()
            }
            Action::FetchTexel(fetch) => {
                let handles = self.wide_handles(warp, instruction)?;
                self.fetched(warp, message, &fetch, &handles)
            }
            Action::LoadTexel { handle, components } => {
                let image = self.image(warp, instruction, handle)?;
                self.loaded(warp.lanes, &image, |colour, format| {
                    components.registers(colour, format)
                })
            }
            Action::TexelAddress { handle } => {
                let image = self.image(warp, instruction, handle)?;
                self.addresses(warp.lanes, &image)
            }
            _ => None,
        }
    }

    /// What the 64-bit source holds; `None` where that would be reported.
    fn wide_handles(&mut self, warp: &Warp, instruction: &Instruction) -> Option<WideLanes> {
        let environment = self.around.environment;
        let from = instruction.wide[0].from;
        if let From::Uniform(index) = from
            && usize::from(index | 1) >= environment.uniforms.len()
        {
            return None;
        }
        let (journal, place) = (&mut self.around.fabric.journal, self.around.place);
        Some(environment.fetch_wide(journal, warp, place, from, false))
    }

    /// Coordinates and handles of an image access.
    fn image(&mut self, warp: &Warp, instruction: &Instruction, handle: Handle) -> Option<Image> {
        let mut copied = |index: usize| {
            let mut buffer = [0; WARP];
            let source = &instruction.sources[index];
            self.around.operand(warp, source, &mut buffer).copied()
        };
        let (xy, zw) = (copied(0)?, copied(1)?);
        let handles = match handle {
            Handle::Source(index) => copied(index.into())?,
            Handle::Fixed(handle) => [handle; WARP],
        };
        Some(Image { xy, zw, handles })
    }

    /// The registers of TEX_FETCH.
    fn fetched(
        &mut self,
        warp: &Warp,
        message: &Message,
        fetch: &Fetch,
        handles: &WideLanes,
    ) -> Option<[[u32; 4]; WARP]> {
        let mut registers = [[0; 4]; WARP];
        for lane in bits(warp.lanes) {
            let (words, count) = staged_words(warp, message, lane);
            let (handle, texel) = fetch.target(handles[lane], &words[..count], self.arch);
            let known = self.texture(handle).ok()?;
            let Some(texture) = known else {
                continue;
            };
            if let Some((colour, format)) = self.colour(&texture, texel)? {
                registers[lane] = fetch.registers(colour, &format);
            }
        }
        Some(registers)
    }

    /// The registers of LD_TEX.
    fn loaded(
        &mut self,
        lanes: u16,
        image: &Image,
        to_registers: impl Fn(Colour, &PixelFormat) -> [u32; 4],
    ) -> Option<[[u32; 4]; WARP]> {
        let mut registers = [[0; 4]; WARP];
        for lane in bits(lanes) {
            let Some(texture) = self.texture(image.handles[lane]).ok()? else {
                continue;
            };
            let texel = image.texel(lane, &texture);
            if let Some((colour, format)) = self.colour(&texture, texel)? {
                registers[lane] = to_registers(colour, &format);
            }
        }
        Some(registers)
    }

    /// The registers of LEA_TEX.
    fn addresses(&mut self, lanes: u16, image: &Image) -> Option<[[u32; 4]; WARP]> {
        let mut registers = [[0; 4]; WARP];
        for lane in bits(lanes) {
            registers[lane] = [0, 0, NO_TEXEL, 0];
            let Some(texture) = self.texture(image.handles[lane]).ok()? else {
                continue;
            };
            let format = self.format_of(&texture)?;
            match self.find(&texture, &format, image.texel(lane, &texture))? {
                Found::At(address) => {
                    registers[lane] = [address as u32, (address >> 32) as u32, texture.word, 0];
                }
                Found::Nowhere | Found::Outside => {}
                Found::Compressed(_) | Found::Block(_) | Found::Planes(_) | Found::NotModelled => {
                    return None;
                }
            }
        }
        Some(registers)
    }

    /// The colour of a texel as the view gives it, and its format; no colour where reads give 0.
    fn colour(&mut self, texture: &Texture, texel: Texel) -> Option<Option<(Colour, PixelFormat)>> {
        let format = self.format_of(texture)?;
        let bits = self.bits(texture, &format, texel).ok()?;
        Some(bits.map(|bits| (texture.swizzled(format.unpack(bits)), format)))
    }

    fn format_of(&mut self, texture: &Texture) -> Option<PixelFormat> {
        if let Some((word, format)) = self.format
            && word == texture.word
        {
            return Some(format);
        }
        let format = PixelFormat::of(texture.word)?;
        self.format = Some((texture.word, format));
        Some(format)
    }

    /// Where a texel is.
    #[inline]
    fn find(&mut self, texture: &Texture, format: &PixelFormat, texel: Texel) -> Option<Found> {
        if let Some(address) = self.planes.address(&texel) {
            return Some(Found::At(address));
        }
        self.find_anew(texture, format, texel)
    }

    #[inline(never)]
    fn find_anew(
        &mut self,
        texture: &Texture,
        format: &PixelFormat,
        texel: Texel,
    ) -> Option<Found> {
        let Direct {
            unit,
            around,
            planes,
            noted,
            request,
            arch,
            ..
        } = self;
        let decoded = (*arch, &mut unit.planes);
        texture.find_in_surface(decoded, (format, texel), planes, |plane| {
            if plane % LINE + PLANE_BYTES > LINE {
                return None;
            }
            let request = Request {
                address: plane,
                ..*request
            };
            let frame = around.frame_of(request)?;
            let start = (plane % PAGE) as usize;
            let page = around.memory.page(frame)?;
            let words = page.get(start..)?.as_chunks().0;
            noted.add_plane((plane, frame | (plane % PAGE)));
            let word = |index: usize| words.get(index).copied().map_or(0, u32::from_le_bytes);
            Some(core::array::from_fn(word))
        })
    }

    /// The bytes at an address, as a number.
    #[inline]
    fn read(&mut self, address: u64, bytes: u8) -> Option<u128> {
        let start = (address % PAGE) as usize;
        let length = usize::from(bytes);
        let is_aligned = address & (alignment(AccessKind::Read, bytes) - 1) == 0;
        if !is_aligned || start + length > PAGE_BYTES {
            return None;
        }
        let frame = self.frame_at(address)?;
        let translates = self.translates_each || !self.frames.is_last(address);
        self.frames.note_last(address);
        let page = self.around.memory.page(frame)?;
        let read = number_at(page, start, length);
        let place = (address, frame | (address % PAGE));
        self.noted.add_texel(place, bytes, translates);
        Some(read)
    }

    /// The frame of the page of an address.
    #[inline]
    fn frame_at(&mut self, address: u64) -> Option<u64> {
        self.frames
            .find(address)
            .or_else(|| self.other_frame(address))
    }

    /// The frame of a page that was not accessed yet.
    #[inline(never)]
    fn other_frame(&mut self, address: u64) -> Option<u64> {
        let request = Request {
            address,
            ..self.request
        };
        let frame = self.around.frame_of(request)?;
        self.frames.keep(address, frame);
        Some(frame)
    }
}

/// So many bytes of a page as a number, 16 at most.
#[inline]
fn number_at(page: &[u8; PAGE_BYTES], start: usize, length: usize) -> u128 {
    let word: Option<[u8; 4]> = page
        .get(start..)
        .and_then(|rest| rest.first_chunk().copied());
    if let (4, Some(word)) = (length, word) {
        return u32::from_le_bytes(word).into();
    }
    let mut number = [0; 16];
    for (to, from) in number.iter_mut().zip(page.iter().skip(start)).take(length) {
        *to = *from;
    }
    u128::from_le_bytes(number)
}

/// What an image access reads of its sources.
struct Image {
    xy: Lanes,
    zw: Lanes,
    handles: Lanes,
}

impl Image {
    fn texel(&self, lane: usize, texture: &Texture) -> Texel {
        image_texel(self.xy[lane], self.zw[lane], texture.is_3d())
    }
}

impl ReadTexels for Direct<'_, '_> {
    type Stop = NotDirect;

    fn texture(&mut self, handle: u32) -> Result<Option<Texture>, NotDirect> {
        if self.handle != Some(handle) {
            self.planes.forget_levels();
            self.handle = Some(handle);
        }
        let mut known = self.unit.textures.iter();
        let (_, texture) = known.find(|(known, _)| *known == handle).ok_or(NotDirect)?;
        Ok(*texture)
    }

    fn sampler(&mut self, handle: u32) -> Result<Option<Sampler>, NotDirect> {
        let mut known = self.unit.samplers.iter();
        let (_, sampler) = known.find(|(known, _)| *known == handle).ok_or(NotDirect)?;
        Ok(*sampler)
    }

    #[inline]
    fn bits(
        &mut self,
        texture: &Texture,
        format: &PixelFormat,
        texel: Texel,
    ) -> Result<Option<u128>, NotDirect> {
        let found = self.find(texture, format, texel).ok_or(NotDirect)?;
        match found {
            Found::Nowhere => Ok(None),
            Found::Outside => Ok(Some(0)),
            Found::At(address) => {
                let bits = self.read(address, format.bytes()).ok_or(NotDirect)?;
                Ok(Some(bits))
            }
            Found::Block(block) => {
                let bytes = block.format.bytes();
                let bits = self.read(block.address, bytes).ok_or(NotDirect)?;
                Ok(Some(block.format.texel(bits, block.at).into()))
            }
            Found::Compressed(_) | Found::Planes(_) | Found::NotModelled => Err(NotDirect),
        }
    }

    #[inline(always)]
    fn corners(&mut self, format: &PixelFormat, footprint: &Footprint) -> Option<[u128; CORNERS]> {
        let bytes = format.bytes();
        let addresses = self.planes.addresses(footprint)?;
        // Texels at multiples of their size lie in one page and one beat each.
        let [first, second, third, fourth] = addresses;
        let any = first | second | third | fourth;
        if !bytes.is_power_of_two() || any & (u64::from(bytes) - 1) != 0 {
            return None;
        }
        let mut frames = [self.frame_at(first)?; CORNERS];
        let mut bits = [0; CORNERS];
        let differ = (first ^ second) | (first ^ third) | (first ^ fourth);
        if differ < PAGE {
            let page = &*self.around.memory.page(frames[0])?;
            // A corner that does not count is read with the others, and not noted.
            for (bits, address) in bits.iter_mut().zip(addresses) {
                *bits = number_at(page, (address % PAGE) as usize, bytes.into());
            }
        } else {
            for (frame, address) in frames.iter_mut().zip(addresses) {
                *frame = self.frame_at(address)?;
            }
            for corner in footprint.corners() {
                let page = &*self.around.memory.page(frames[corner])?;
                let start = (addresses[corner] % PAGE) as usize;
                bits[corner] = number_at(page, start, bytes.into());
            }
        }
        self.noted.add_corners(footprint, &addresses, &frames);
        Some(bits)
    }

    fn not_modelled(&mut self) -> NotDirect {
        NotDirect
    }

    // Where anybody asks, messages are not direct ones.
    fn meet(&mut self, _inexact: Inexact) {}

    fn is_followed(&self) -> bool {
        false
    }
}
