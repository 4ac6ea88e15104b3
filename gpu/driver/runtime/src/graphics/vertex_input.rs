//! Vertex input: descriptors of attributes, in the order of their locations.
//!
//! The buffers that they are read from stand in a table of their own, which the draw writes: one for each binding.
//! Facts: hardware/graphics-draw.md 3.6, 3.22 and 3.23.

use super::error::GraphicsError;
use super::state::{GraphicsPipelineInfo, InputRate};
use crate::command::CommandError;
use crate::resource::{FETCHES, pack};
use eitri_descriptors::formats::Uses;
use eitri_descriptors::resource::{Attribute, AttributeFrequency, AttributeType};
use eitri_descriptors::{Arch, DescriptorError};
use eitri_program::GraphicsProgram;

/// Most attributes, and most bindings.
pub(crate) const MOST_ATTRIBUTES: usize = 16;
pub(crate) const MOST_BINDINGS: usize = 16;

/// A location that has no attribute: it names a table that there is not, and reads zeros (hardware/graphics-draw.md 3.6).
const UNUSED: [u32; 8] = [0x31C0_0005, 0x0000_0011, 0, 0, 0, 0, 0, 0];

/// The table of inputs of a vertex program, and what is known of it.
pub(super) struct Inputs {
    /// Attributes, and behind them the sampler of fetches.
    pub(super) descriptors: [[u32; 8]; MOST_ATTRIBUTES + 1],
    /// Attributes up to the last that there is.
    pub(super) attributes: u8,
    /// By location: bytes that an attribute goes on by with the first instance; 0 of those of vertices.
    pub(super) strides: [u32; MOST_ATTRIBUTES],
    /// The same by binding.
    pub(super) binding_strides: [u32; MOST_BINDINGS],
    /// Bindings that are read, a bit each, and those of them that go on with instances.
    pub(super) bindings: u16,
    pub(super) instance_bindings: u16,
}

/// The table of inputs of a vertex program.
pub(super) fn descriptors(
    arch: Arch,
    program: &GraphicsProgram<'_>,
    info: &GraphicsPipelineInfo<'_>,
    table: u8,
) -> Result<Inputs, CommandError> {
    let mut inputs = Inputs {
        descriptors: [UNUSED; MOST_ATTRIBUTES + 1],
        attributes: 0,
        strides: [0; MOST_ATTRIBUTES],
        binding_strides: [0; MOST_BINDINGS],
        bindings: 0,
        instance_bindings: 0,
    };
    if let Some(sampler) = inputs.descriptors.last_mut() {
        *sampler = FETCHES;
    }
    for attribute in info.attributes {
        let location = attribute.location;
        let refused = GraphicsError::Attribute { location };
        // What the program does not read needs no buffer.
        if !program
            .attributes()
            .any(|it| u32::from(it.location) == location)
        {
            continue;
        }
        let mut bindings = info.bindings.iter();
        let binding = bindings
            .find(|it| it.binding == attribute.binding)
            .ok_or(refused)?;
        let bit = u8::try_from(binding.binding)
            .ok()
            .and_then(|it| 1_u16.checked_shl(it.into()));
        let (number, most) = (binding.binding, MOST_BINDINGS);
        let no_binding = GraphicsError::Binding {
            binding: number,
            most,
        };
        let bit = bit.ok_or(no_binding)?;
        inputs.bindings |= bit;
        if !attribute.format.uses.contains(Uses::VERTEX) {
            return Err(refused.into());
        }
        let offset = i32::try_from(attribute.offset).map_err(|_| refused)?;
        let place = inputs.descriptors.get_mut(location as usize);
        let place = place
            .filter(|_| (location as usize) < MOST_ATTRIBUTES)
            .ok_or(refused)?;
        inputs.attributes = inputs.attributes.max((location as u8).saturating_add(1));
        let one = Attribute {
            attribute_type: AttributeType::OneD,
            format: attribute.format.pixel_format(),
            table: table.into(),
            offset,
            buffer_index: binding.binding,
            ..Attribute::default()
        };
        *place = descriptor(arch, one, binding.stride, binding.rate)?;
        if let InputRate::Instance { .. } = binding.rate {
            inputs.instance_bindings |= bit;
            let of_binding = inputs.binding_strides.get_mut(number as usize);
            let of_location = inputs.strides.get_mut(location as usize);
            for stride in of_binding.into_iter().chain(of_location) {
                *stride = binding.stride;
            }
        }
    }
    for wanted in program.attributes() {
        let location = wanted.location;
        if !info
            .attributes
            .iter()
            .any(|it| it.location == u32::from(location))
        {
            return Err(GraphicsError::NoAttribute { location }.into());
        }
    }
    Ok(inputs)
}

fn descriptor(
    arch: Arch,
    it: Attribute,
    stride: u32,
    rate: InputRate,
) -> Result<[u32; 8], DescriptorError> {
    let divisor = match rate {
        InputRate::Vertex => {
            let attribute = Attribute {
                offset_enable: true,
                stride,
                ..it
            };
            return pack(arch, attribute);
        }
        InputRate::Instance { divisor } => divisor,
    };
    let it = Attribute {
        frequency: AttributeFrequency::Instance,
        stride,
        ..it
    };
    let attribute = match divisor {
        0 => Attribute { stride: 0, ..it },
        1 => it,
        _ if divisor.is_power_of_two() => Attribute {
            attribute_type: AttributeType::OneDPotDivisor,
            divisor_r: divisor.ilog2(),
            ..it
        },
        _ => {
            let Magic { r, e, d } = magic(divisor);
            Attribute {
                attribute_type: AttributeType::OneDNpotDivisor,
                divisor_r: r,
                divisor_e: e,
                divisor_d: d,
                ..it
            }
        }
    };
    pack(arch, attribute)
}

/// Numbers by which the hardware divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Magic {
    r: u32,
    e: u32,
    d: u32,
}

/// Of a divisor that is no power of two (hardware/graphics-draw.md 3.6).
fn magic(divisor: u32) -> Magic {
    let r = divisor.max(2).ilog2();
    let power = 1_u64.checked_shl(r.wrapping_add(32)).unwrap_or(0);
    let divisor = u64::from(divisor.max(2));
    let (whole, rest) = (power.div_ceil(divisor), power % divisor);
    let round_up = rest <= 1_u64.checked_shl(r).unwrap_or(0);
    let d = whole.wrapping_sub(round_up.into()) as u32;
    Magic {
        r,
        e: round_up.into(),
        d: d & 0x7FFF_FFFF,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_descriptors::formats::VkFormat;

    /// hardware/graphics-draw.md 3.23.
    #[test]
    fn attributes_are_as_the_facts_say() {
        let format = VkFormat::of_name(Arch::V10, "R32G32B32_SFLOAT").expect("a format");
        let of_vertices = Attribute {
            attribute_type: AttributeType::OneD,
            format: format.pixel_format(),
            buffer_index: 17,
            ..Attribute::default()
        };
        let words = descriptor(Arch::V10, of_vertices, 24, InputRate::Vertex);
        assert_eq!(words, Ok([0x2DC0_4115, 0, 0, 17, 24, 0, 0, 0]));
        let found = |divisor| {
            let rate = InputRate::Instance { divisor };
            let words = descriptor(Arch::V10, of_vertices, 64, rate).expect("packs");
            (words[0] & 0x1F0, words[1], words[4], words[5])
        };
        assert_eq!(found(1), (0x10, 1 << 6, 64, 0));
        assert_eq!(found(0), (0x10, 1 << 6, 0, 0));
        assert_eq!(found(4), (0x20, 1 << 6 | 2 << 24, 64, 0));
        assert_eq!(
            found(3),
            (0x30, 1 << 6 | 1 << 24 | 1 << 29, 64, 0x2AAA_AAAA)
        );
        assert_eq!(
            found(5),
            (0x30, 1 << 6 | 2 << 24 | 1 << 29, 64, 0x4CCC_CCCC)
        );
        assert_eq!(
            found(7),
            (0x30, 1 << 6 | 2 << 24 | 1 << 29, 64, 0x1249_2492)
        );
    }

    #[test]
    fn division_is_exact() {
        for divisor in [3, 5, 6, 7, 9, 100, 641, 65_535, 0x7FFF_FFFF, u32::MAX] {
            let Magic { r, e, d } = magic(divisor);
            for n in [
                0,
                1,
                2,
                divisor - 1,
                divisor,
                12_345_678,
                u32::MAX - 1,
                u32::MAX,
            ] {
                let wide = (u128::from(n) + u128::from(e)) * u128::from(d | 1 << 31);
                assert_eq!((wide >> (32 + r)) as u32, n / divisor, "{n} / {divisor}");
            }
        }
    }
}
