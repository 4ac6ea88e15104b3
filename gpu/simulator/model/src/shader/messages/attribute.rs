//! Vertex attributes: from a descriptor, a vertex and an instance to components in registers.
//!
//! Facts: hardware/valhall-isa.md 11.5; graphics-draw.md 3.6; graphics-model.md 7 (unused attributes); descriptors.md 6.

use super::super::format::{Colour, PixelFormat};
use super::super::instruction::Instruction;
use super::super::lanes::WARP;
use super::super::message::{Handle, Message};
use super::super::stopped::{JobFault, Stopped, exception};
use super::super::typed::Components;
use super::super::warp::{Warp, bits};
use super::access::LastPage;
use super::{Memory, REMEMBERED, Sender, set_registers};
use crate::diagnosis::ShaderMisuse;
use crate::mmu::AccessKind;
use crate::work::descriptors::{Lookup, View, descriptor, look_up};
use eitri_descriptors::Descriptor;
use eitri_descriptors::resource::{Attribute, AttributeFrequency, AttributeType, DescriptorType};

/// An attribute that can be fetched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetched {
    attribute: Attribute,
    format: PixelFormat,
    buffer: View,
}

impl Fetched {
    /// The element for a vertex and an instance.
    fn element(&self, vertex: u32, instance: u32) -> u64 {
        let attribute = &self.attribute;
        let index = match attribute.frequency {
            AttributeFrequency::Vertex => vertex,
            AttributeFrequency::Instance => instance,
        };
        match attribute.attribute_type {
            AttributeType::OneDPotDivisor => u64::from(index >> (attribute.divisor_r & 31)),
            AttributeType::OneDNpotDivisor => {
                let numerator = u64::from(index) + u64::from(attribute.divisor_e);
                let multiplier = u64::from(attribute.divisor_d | 1 << 31);
                // A 33-bit number times one of 32 bits: at most 64 bits, because the first is at most 2^32.
                let product = u128::from(numerator) * u128::from(multiplier);
                (product >> (32 + attribute.divisor_r)) as u64
            }
            _ => index.into(),
        }
    }

    /// Offset of an element in the buffer; `None` if it does not lie inside.
    fn offset(&self, element: u64) -> Option<u64> {
        let along = i128::from(self.attribute.stride) * i128::from(element);
        let offset = i128::from(self.attribute.offset) + along;
        let end = offset + i128::from(self.format.bytes());
        (offset >= 0 && end <= i128::from(self.buffer.size)).then_some(offset as u64)
    }

    /// Stored bits of an element; 0 outside of the buffer.
    fn texel(
        &self,
        sender: &mut Sender<'_>,
        element: u64,
        page: &mut LastPage,
    ) -> Result<u128, Stopped> {
        let Some(offset) = self.offset(element) else {
            return Ok(0);
        };
        let address = self.buffer.address.wrapping_add(offset);
        let size = (self.format.bytes(), self.format.alignment());
        let target = sender.aligned_target(address, size, AccessKind::Read, page)?;
        sender.read(&target)
    }
}

impl Sender<'_> {
    /// The attribute's components at the first three vertices; all zero if there is no attribute.
    pub(super) fn attribute_corners(&mut self, handle: u32) -> Result<[Colour; 3], Stopped> {
        let mut corners = [[0.0; 4]; 3];
        let Some(fetched) = find(self, handle)? else {
            return Ok(corners);
        };
        for (vertex, corner) in (0..).zip(&mut corners) {
            let texel = fetched.texel(self, fetched.element(vertex, 0), &mut None)?;
            *corner = fetched.format.unpack(texel);
        }
        Ok(corners)
    }
}

impl Memory {
    /// LD_ATTR: the components of an attribute in every running lane.
    pub(super) fn load_attribute(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &mut Warp,
        message: &Message,
        instruction: &Instruction,
        (handle, components): (Handle, Components),
    ) -> Result<(), Stopped> {
        let vertices = sender.source(warp, &instruction.sources[0]);
        let instances = sender.source(warp, &instruction.sources[1]);
        let handles = sender.handles(warp, instruction, handle);
        let mut registers = [[0; 4]; WARP];
        let mut page = None;
        for lane in bits(warp.lanes) {
            let Some(fetched) = self.attribute(sender, handles[lane])? else {
                // A missing attribute is all zero, alpha too.
                continue;
            };
            let element = fetched.element(vertices[lane], instances[lane]);
            let texel = fetched.texel(sender, element, &mut page)?;
            let colour = fetched.format.unpack(texel);
            registers[lane] = components.registers(colour, &fetched.format);
        }
        set_registers(warp, message.write, &registers);
        Ok(())
    }

    /// The attribute that a handle names; `None` if there is none, or its buffer is missing.
    fn attribute(
        &mut self,
        sender: &mut Sender<'_>,
        handle: u32,
    ) -> Result<Option<Fetched>, Stopped> {
        if let Some((_, known)) = self.attributes.iter().find(|(known, _)| *known == handle) {
            return Ok(*known);
        }
        let fetched = find(sender, handle)?;
        if self.attributes.len() == REMEMBERED {
            self.attributes.clear();
        }
        self.attributes.push((handle, fetched));
        Ok(fetched)
    }
}

fn find(sender: &mut Sender<'_>, handle: u32) -> Result<Option<Fetched>, Stopped> {
    let access = sender.access(0);
    let environment = sender.environment;
    let tables = (environment.resources, environment.resource_count);
    let words = descriptor(sender.fabric, sender.memory, access, tables, handle)?;
    let Some(words) = words else {
        sender.report(ShaderMisuse::NoSuchResource { handle });
        return Ok(None);
    };
    let unpacked = Attribute::unpack_at(sender.arch, &words, 0);
    let format = PixelFormat::of(words[0] >> 10);
    // An unused attribute names neither a kind nor a table that exists. Descriptors of other types may have the same bits.
    let is_attribute = words[0] & 0xf == DescriptorType::Attribute as u32;
    if is_attribute && words[0] >> 4 & 0xf == 0 {
        sender.report(ShaderMisuse::UnusedAttribute { handle });
        return Ok(None);
    }
    let (Ok(attribute), Some(format)) = (unpacked, format) else {
        return Err(refused(sender, handle, words[0]));
    };
    let fetchable = matches!(
        attribute.attribute_type,
        AttributeType::OneD | AttributeType::OneDPotDivisor | AttributeType::OneDNpotDivisor
    );
    if !fetchable {
        return Err(refused(sender, handle, words[0]));
    }
    let buffer = attribute.table << 24 | attribute.buffer_index;
    Ok(
        match look_up(sender.fabric, sender.memory, access, tables, buffer)? {
            Lookup::Buffer(buffer) => Some(Fetched {
                attribute,
                format,
                buffer,
            }),
            Lookup::Absent => None,
            Lookup::Wrong(kind) => return Err(refused(sender, buffer, kind.into())),
        },
    )
}

fn refused(sender: &mut Sender<'_>, handle: u32, word: u32) -> Stopped {
    let kind = (word & 0xf) as u8;
    sender.report(ShaderMisuse::WrongDescriptor { handle, kind });
    JobFault {
        exception: exception::DATA_INVALID_FAULT,
        address: handle.into(),
    }
    .into()
}
