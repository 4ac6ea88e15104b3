//! Typed memory: texels of images and textures, and accesses that a conversion descriptor describes.
//!
//! Facts: hardware/valhall-isa.md 11.4 to 11.6, 11.10.

use super::super::format::PixelFormat;
use super::super::instruction::Instruction;
use super::super::lanes::WARP;
use super::super::message::{Handle, Message};
use super::super::plane::LastPlanes;
use super::super::stopped::{JobFault, Stopped, exception};
use super::super::texture::{BlockTexel, CompressedTexel, Found, NO_TEXEL, Texel, Texture};
use super::super::typed::{Components, Conversion, Fetch, image_texel};
use super::super::warp::{Warp, bits};
use super::super::yuv::is_unmodelled_yuv;
use super::access::LastPage;
use super::samples::staged_words;
use super::{Memory, REMEMBERED, Sender, Target, set_registers, staged};
use crate::blocks::BlockFormat;
use crate::diagnosis::ShaderMisuse;
use crate::fidelity::Inexact;
use crate::mmu::AccessKind;
use crate::tile::afbc::{AfbcHeader, AfbcSurface, AfbcTexel};
use crate::work::descriptors::descriptor;

/// The unit that reads texels, each through a cache of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadBy {
    /// The load/store unit: LD_TEX.
    LoadStore,
    /// The texture unit: TEX_FETCH.
    Texture,
}

/// The format and the planes of the texels before: most texels of a message share a format, and lie in one plane or two.
#[derive(Default)]
pub(super) struct Decoded {
    /// The format, with its word.
    format: Option<(u32, PixelFormat)>,
    planes: LastPlanes,
}

/// The texel of each lane; `None` where there is no texture.
type Texels = [Option<(Texture, Texel)>; WARP];

impl Memory {
    /// The texture that a handle names; `None` if there is none.
    pub(super) fn texture(
        &mut self,
        sender: &mut Sender<'_>,
        handle: u32,
    ) -> Result<Option<Texture>, Stopped> {
        if let Some((_, texture)) = self.textures.iter().find(|(known, _)| *known == handle) {
            return Ok(*texture);
        }
        let access = sender.access(0);
        let tables = (
            sender.environment.resources,
            sender.environment.resource_count,
        );
        let found = descriptor(sender.fabric, sender.memory, access, tables, handle)?;
        let texture = match found {
            None => {
                sender.report(ShaderMisuse::NoSuchResource { handle });
                None
            }
            Some(words) => match Texture::of(sender.fabric, &words) {
                Some(texture) => Some(texture),
                None => {
                    let kind = (words[0] & 0xf) as u8;
                    sender.report(ShaderMisuse::WrongDescriptor { handle, kind });
                    return Err(JobFault {
                        exception: exception::DATA_INVALID_FAULT,
                        address: handle.into(),
                    }
                    .into());
                }
            },
        };
        if self.textures.len() == REMEMBERED {
            self.textures.clear();
        }
        self.textures.push((handle, texture));
        Ok(texture)
    }

    /// The texels that the coordinates of LD_TEX and LEA_TEX name, by lane.
    pub(super) fn image_texels(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &Warp,
        instruction: &Instruction,
        handle: Handle,
    ) -> Result<Texels, Stopped> {
        let xy = sender.source(warp, &instruction.sources[0]);
        let zw = sender.source(warp, &instruction.sources[1]);
        let handles = sender.handles(warp, instruction, handle);
        let mut texels = [None; WARP];
        for lane in bits(warp.lanes) {
            let texture = self.texture(sender, handles[lane])?;
            if texture.is_some_and(|texture| texture.is_3d()) && zw[lane] != 0 {
                sender.fabric.fidelity.meet(Inexact::DepthOfImage);
            }
            texels[lane] =
                texture.map(|texture| (texture, image_texel(xy[lane], zw[lane], texture.is_3d())));
        }
        Ok(texels)
    }

    /// The texels that TEX_FETCH names, by lane.
    pub(super) fn fetched_texels(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &Warp,
        message: &Message,
        instruction: &Instruction,
        fetch: Fetch,
    ) -> Result<Texels, Stopped> {
        let handles = sender.addresses(warp, instruction);
        let arch = sender.arch;
        let mut texels = [None; WARP];
        for lane in bits(warp.lanes) {
            let (payload, count) = staged_words(warp, message, lane);
            if fetch.names_sample_by_offset(handles[lane]) {
                sender.fabric.fidelity.meet(Inexact::SampleOffset);
            }
            let (handle, texel) = fetch.target(handles[lane], &payload[..count], arch);
            let texture = self.texture(sender, handle)?;
            texels[lane] = texture.map(|texture| (texture, texel));
        }
        Ok(texels)
    }

    /// Addresses and conversion descriptors of texels. Those of a texel that is not there make a following access do nothing.
    pub(super) fn texel_addresses(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &mut Warp,
        message: &Message,
        instruction: &Instruction,
        handle: Handle,
    ) -> Result<(), Stopped> {
        let texels = self.image_texels(sender, warp, instruction, handle)?;
        let mut registers = [[0; 4]; WARP];
        let mut decoded = Decoded::default();
        for lane in bits(warp.lanes) {
            registers[lane] = [0, 0, NO_TEXEL, 0];
            let Some((texture, texel)) = texels[lane] else {
                continue;
            };
            let texel = (&texture, texel);
            match sender.find_texel(instruction, texel, &mut decoded)?.1 {
                Found::At(address) => {
                    registers[lane] = [address as u32, (address >> 32) as u32, texture.word, 0];
                }
                Found::Nowhere | Found::Outside => {}
                // A compressed texel has no address that a store could use.
                Found::Compressed(_) | Found::Block(_) | Found::Planes(_) | Found::NotModelled => {
                    return Err(sender.not_modelled(instruction));
                }
            }
        }
        set_registers(warp, message.write, &registers);
        Ok(())
    }
}

impl Sender<'_> {
    /// The format of a texel and where it is. A plane that is not modelled stops the program.
    pub(super) fn find_texel(
        &mut self,
        instruction: &Instruction,
        (texture, texel): (&Texture, Texel),
        decoded: &mut Decoded,
    ) -> Result<(PixelFormat, Found), Stopped> {
        let known = decoded.format.filter(|(word, _)| *word == texture.word);
        let format = known.map(|(_, format)| format);
        let Some(format) = format.or_else(|| PixelFormat::of(texture.word)) else {
            if is_unmodelled_yuv(texture.word) {
                let format = texture.word;
                self.report(ShaderMisuse::YuvFormat { format });
                return Err(self.invalid_encoding());
            }
            return Err(self.not_modelled(instruction));
        };
        decoded.format = Some((texture.word, format));
        let (access, planes) = (self.access(0), &mut decoded.planes);
        let texel = (&format, texel);
        let found = texture.find(self.fabric, self.memory, access, texel, planes)?;
        if found == Found::NotModelled {
            return Err(self.not_modelled(instruction));
        }
        Ok((format, found))
    }

    /// The format of a texel and its bits; no bits where reads give 0. `page` is that of the lane before.
    pub(super) fn stored_texel(
        &mut self,
        instruction: &Instruction,
        texel: (&Texture, Texel),
        unit: ReadBy,
        (page, decoded): (&mut LastPage, &mut Decoded),
    ) -> Result<(PixelFormat, Option<u128>), Stopped> {
        let (format, found) = self.find_texel(instruction, texel, decoded)?;
        self.note_found(&found, &format);
        let bits = match found {
            Found::Nowhere | Found::NotModelled => None,
            Found::Outside => Some(0),
            Found::At(address) => {
                let target = self.target(address, format.bytes(), AccessKind::Read, page)?;
                Some(match unit {
                    ReadBy::LoadStore => self.read(&target)?,
                    ReadBy::Texture => self.read_texel(&target)?,
                })
            }
            Found::Planes(addresses) => {
                let mut bits = 0;
                for (component, address) in addresses.into_iter().enumerate() {
                    let target = self.target(address, 1, AccessKind::Read, page)?;
                    bits |= self.read_texel(&target)? << (8 * component);
                }
                Some(bits)
            }
            Found::Compressed(texel) => self.compressed_texel(instruction, &texel)?,
            Found::Block(BlockTexel {
                address,
                format,
                at,
            }) => {
                let target = self.target(address, format.bytes(), AccessKind::Read, page)?;
                let block = self.read_texel(&target)?;
                Some(format.texel(block, at).into())
            }
        };
        Ok((format, bits))
    }

    /// Notes what the texel rests on, for who asks how far results can be trusted.
    fn note_found(&mut self, found: &Found, format: &PixelFormat) {
        let fidelity = &mut self.fabric.fidelity;
        if !fidelity.is_on() {
            return;
        }
        match found {
            Found::Nowhere | Found::Outside => fidelity.meet(Inexact::TexelOutside),
            Found::Planes(_) => fidelity.meet(Inexact::ChromaSiting),
            Found::Block(block) => match block.format {
                BlockFormat::Bc1 | BlockFormat::Bc2 => fidelity.meet(Inexact::ThirdsOfColour),
                BlockFormat::Bc3 => {
                    fidelity.meet(Inexact::ThirdsOfColour);
                    fidelity.meet(Inexact::AlphaOfBc3);
                }
                _ => {}
            },
            Found::At(_) | Found::Compressed(_) | Found::NotModelled => {}
        }
        if format.takes_alpha_from_second() {
            fidelity.meet(Inexact::ComponentsOfRrra);
        }
    }

    /// The bits of a texel of a compressed image. No bits where the plane ends before it.
    fn compressed_texel(
        &mut self,
        instruction: &Instruction,
        texel: &CompressedTexel,
    ) -> Result<Option<u128>, Stopped> {
        let surface = &texel.surface;
        let entry = surface.entry_address(texel.at);
        if !texel.holds(entry, AfbcHeader::BYTES) {
            return Ok(None);
        }
        let header = self.target(entry, AfbcHeader::BYTES, AccessKind::Read, &mut None)?;
        let header = AfbcHeader::decode(self.read_texel(&header)?.to_le_bytes());
        let (address, bytes) = match surface.texel(&header, texel.at) {
            AfbcTexel::Solid(bits) => return Ok(Some(bits.into())),
            AfbcTexel::Compressed => return Err(self.not_modelled(instruction)),
            AfbcTexel::At(address) => (address, surface.pixel_bytes),
            AfbcTexel::Packed(address) => (address, AfbcSurface::PACKED_BYTES),
        };
        if !texel.holds(address, bytes) {
            return Ok(None);
        }
        // What compressed subblocks come before may have any length.
        let target = self.aligned_target(address, (bytes, 1), AccessKind::Read, &mut None)?;
        Ok(Some(surface.restored(self.read_texel(&target)?)))
    }

    /// The registers that texels become.
    pub(super) fn load_texels(
        &mut self,
        warp: &Warp,
        instruction: &Instruction,
        texels: &Texels,
        unit: ReadBy,
        registers: impl Fn([f64; 4], &PixelFormat) -> [u32; 4],
    ) -> Result<[[u32; 4]; WARP], Stopped> {
        let mut result = [[0; 4]; WARP];
        let (mut page, mut decoded) = (None, Decoded::default());
        for lane in bits(warp.lanes) {
            let Some((texture, texel)) = &texels[lane] else {
                continue;
            };
            self.touched.lane = lane as u8;
            let before = (&mut page, &mut decoded);
            let stored = self.stored_texel(instruction, (texture, *texel), unit, before)?;
            let (format, Some(read)) = stored else {
                continue;
            };
            let colour = texture.swizzled(format.unpack(read));
            result[lane] = registers(colour, &format);
        }
        Ok(result)
    }

    /// The formats of the conversion descriptors of all lanes, and where their accesses go.
    pub(super) fn locate_converted(
        &mut self,
        warp: &Warp,
        instruction: &Instruction,
        offset: u32,
        (kind, lanes): (AccessKind, u16),
    ) -> Result<[Option<(Conversion, Target)>; WARP], Stopped> {
        let bases = self.addresses(warp, instruction);
        let conversions = self.source(warp, &instruction.sources[1]);
        let mut located = [None; WARP];
        let mut page = None;
        // All lanes mostly have one conversion.
        let mut last = None;
        for lane in bits(lanes) {
            let word = conversions[lane];
            let known = last.filter(|(known, _)| *known == word);
            let Some(conversion) = known.map_or_else(|| Conversion::of(word), |(_, it)| Some(it))
            else {
                return Err(self.not_modelled(instruction));
            };
            last = Some((word, conversion));
            let address = bases[lane].wrapping_add(offset.into());
            self.touched.lane = lane as u8;
            let target = self.target(address, conversion.format.bytes(), kind, &mut page)?;
            located[lane] = Some((conversion, target));
        }
        Ok(located)
    }

    pub(super) fn load_converted(
        &mut self,
        warp: &mut Warp,
        message: &Message,
        instruction: &Instruction,
        components: Components,
        offset: u32,
    ) -> Result<(), Stopped> {
        let reads = (AccessKind::Read, warp.lanes);
        let located = self.locate_converted(warp, instruction, offset, reads)?;
        let mut registers = [[0; 4]; WARP];
        for lane in bits(warp.lanes) {
            if let Some((conversion, target)) = &located[lane] {
                registers[lane] = conversion.registers(self.read(target)?, components);
            }
        }
        set_registers(warp, message.write, &registers);
        Ok(())
    }

    pub(super) fn store_converted(
        &mut self,
        warp: &Warp,
        message: &Message,
        instruction: &Instruction,
        (components, offset, lanes): (Components, u32, u16),
    ) -> Result<(), Stopped> {
        let writes = (AccessKind::Write, lanes);
        let located = self.locate_converted(warp, instruction, offset, writes)?;
        for lane in bits(lanes) {
            if let Some((conversion, target)) = &located[lane]
                && conversion.format.bytes() != 0
            {
                let staged = staged(warp, message.read, lane);
                let registers = core::array::from_fn(|index| (staged >> (32 * index)) as u32);
                let bytes = conversion.texel(registers, components).to_le_bytes();
                self.write(target, &bytes[..usize::from(conversion.format.bytes())])?;
            }
        }
        Ok(())
    }
}
