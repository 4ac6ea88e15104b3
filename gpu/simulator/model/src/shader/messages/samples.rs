//! Sampled textures by single steps: descriptors are looked up, and texels are read one by one. What becomes of texels is `filters`'.
//!
//! Facts: hardware/graphics-texture.md 7.6; hardware/valhall-isa.md 11.10.

use super::super::format::PixelFormat;
use super::super::instruction::Instruction;
use super::super::lanes::{WARP, WideLanes};
use super::super::message::Message;
use super::super::sampling::Sampler;
use super::super::stopped::{JobFault, Stopped, exception};
use super::super::texture::{Texel, Texture};
use super::super::texture_request::{Payload, TextureRequest};
use super::super::warp::Warp;
use super::filters::{ReadTexels, filtered};
use super::texels::{Decoded, ReadBy};
use super::{Memory, REMEMBERED, Sender, set_registers};
use crate::diagnosis::ShaderMisuse;
use crate::fidelity::Inexact;
use crate::work::descriptors::descriptor;
use eitri_descriptors::Descriptor;
use eitri_descriptors::texture::Sampler as SamplerDescriptor;
use eitri_isa::Arch;

/// More registers than a payload has.
const MOST_WORDS: usize = 16;

impl Memory {
    /// The sampler that a handle names; `None` if there is none.
    fn sampler(
        &mut self,
        sender: &mut Sender<'_>,
        handle: u32,
    ) -> Result<Option<Sampler>, Stopped> {
        if let Some((_, sampler)) = self.samplers.iter().find(|(known, _)| *known == handle) {
            return Ok(*sampler);
        }
        let access = sender.access(0);
        let tables = (
            sender.environment.resources,
            sender.environment.resource_count,
        );
        let arch = sender.fabric.config.product.arch();
        let found = descriptor(sender.fabric, sender.memory, access, tables, handle)?;
        let sampler = match found {
            None => {
                sender.report(ShaderMisuse::NoSuchResource { handle });
                None
            }
            Some(words) => match SamplerDescriptor::unpack_at(arch, &words, 0) {
                Ok(descriptor) => Some(Sampler::new(descriptor)),
                Err(_) => {
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
        if self.samplers.len() == REMEMBERED {
            self.samplers.clear();
        }
        self.samplers.push((handle, sampler));
        Ok(sampler)
    }

    /// Does what a texture message asks for.
    pub(super) fn request_texture(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &mut Warp,
        message: &Message,
        instruction: &Instruction,
        request: TextureRequest,
    ) -> Result<(), Stopped> {
        let handles = sender.addresses(warp, instruction);
        let arch = sender.arch;
        let payloads = payloads_of(warp, message, &request, (&handles, arch));
        let mut reader = OneByOne {
            unit: self,
            sender,
            instruction,
            decoded: Decoded::default(),
        };
        let registers = filtered(&mut reader, &request, &payloads, warp.lanes)?;
        set_registers(warp, message.write, &registers);
        Ok(())
    }
}

/// The staging registers of a lane that a message reads, with their number.
pub(super) fn staged_words(
    warp: &Warp,
    message: &Message,
    lane: usize,
) -> ([u32; MOST_WORDS], usize) {
    let mut words = [0; MOST_WORDS];
    let mut count = 0;
    for (staged, word) in staged_in_order(warp, message, lane).zip(&mut words) {
        *word = staged;
        count += 1;
    }
    (words, count)
}

/// The staging registers of a lane that a message reads, one after the other.
#[inline]
fn staged_in_order(warp: &Warp, message: &Message, lane: usize) -> impl Iterator<Item = u32> {
    let (first, count) = message.read;
    (0..count).map(move |index| {
        let register = usize::from(first.wrapping_add(index) & 63);
        warp.registers[register][lane % WARP]
    })
}

/// The payloads of all lanes: also those of lanes that do not run, whose coordinates decide levels.
pub(super) fn payloads_of(
    warp: &Warp,
    message: &Message,
    request: &TextureRequest,
    (handles, arch): (&WideLanes, Arch),
) -> [Payload; WARP] {
    core::array::from_fn(|lane| {
        let words = staged_in_order(warp, message, lane);
        request.read(handles[lane], words, arch)
    })
}

/// Reads texels for a single step.
struct OneByOne<'a, 's> {
    unit: &'a mut Memory,
    sender: &'a mut Sender<'s>,
    instruction: &'a Instruction,
    decoded: Decoded,
}

impl ReadTexels for OneByOne<'_, '_> {
    type Stop = Stopped;

    fn texture(&mut self, handle: u32) -> Result<Option<Texture>, Stopped> {
        self.unit.texture(self.sender, handle)
    }

    fn sampler(&mut self, handle: u32) -> Result<Option<Sampler>, Stopped> {
        self.unit.sampler(self.sender, handle)
    }

    fn bits(
        &mut self,
        texture: &Texture,
        _format: &PixelFormat,
        texel: Texel,
    ) -> Result<Option<u128>, Stopped> {
        let before = (&mut None, &mut self.decoded);
        let texel = (texture, texel);
        let stored = self
            .sender
            .stored_texel(self.instruction, texel, ReadBy::Texture, before)?;
        Ok(stored.1)
    }

    fn not_modelled(&mut self) -> Stopped {
        self.sender.not_modelled(self.instruction)
    }

    fn meet(&mut self, inexact: Inexact) {
        self.sender.fabric.fidelity.meet(inexact);
    }

    fn is_followed(&self) -> bool {
        self.sender.fabric.fidelity.is_on()
    }
}
