//! Varyings: values of a primitive's vertices, interpolated at a point of each lane's pixel.
//!
//! Values are computed in f64 from the exact weights and rounded once to the register's format.
//! Facts: hardware/valhall-isa.md 11.7; graphics-raster.md 4.7; graphics-model.md 1.2, 3.1.

use super::super::float::{Format as Float, Round, canonical32, narrow, wide16, wide32};
use super::super::format::{Colour, PixelFormat};
use super::super::instruction::Instruction;
use super::super::lanes::{Lanes, WARP};
use super::super::message::{Message, Varying, VaryingPlace};
use super::super::stage::{FragmentStage, Geometry, Stage};
use super::super::stopped::Stopped;
use super::super::warp::{Warp, bits};
use super::shared_varying::SharedVarying;
use super::vertices::{Components, VertexBits};
use super::{Memory, Sender, set_registers};
use crate::fidelity::Inexact;
use crate::mmu::AccessKind;
use crate::raster::{Evaluation, Point};
use crate::work::descriptors::descriptor;
use alloc::boxed::Box;
use eitri_descriptors::Descriptor;
use eitri_descriptors::resource::Attribute;
use eitri_isa::values::{RegisterFormat, SampleMode, SourceFormat, UpdateMode};

/// Where varyings begin in the addresses of vertex-packet attributes.
const PACKET_BIAS: i32 = 1024;

/// LD_VAR_SPECIAL's numbers.
const POINT_COORDINATE: u32 = 0;
const FRAG_W: u32 = 2;
const FRAG_Z: u32 = 3;

/// Where a varying lies in the vertices' blocks, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    offset: u32,
    format: SourceFormat,
    /// Whether it is an integer with a sign, which matters where 16 bits become 32.
    signed: bool,
    /// Whether it is an integer. Of the forms without a descriptor it is not known, nor is it converted.
    integer: bool,
}

impl Stored {
    /// A varying of a form without a descriptor.
    fn at(offset: u32, format: SourceFormat) -> Stored {
        Stored {
            offset,
            format,
            signed: false,
            integer: false,
        }
    }

    pub(super) fn is_flat(&self) -> bool {
        matches!(self.format, SourceFormat::Flat32 | SourceFormat::Flat16)
    }

    /// Bytes of a component.
    fn bytes(&self) -> u8 {
        match self.format {
            SourceFormat::F32 | SourceFormat::Flat32 => 4,
            _ => 2,
        }
    }

    /// What a register takes of the bits of a flat varying: they are converted where its width is another one.
    pub(super) fn flat(&self, bits: u32, register: RegisterFormat) -> Value {
        let narrow = self.format == SourceFormat::Flat16;
        match (narrow, register) {
            (false, RegisterFormat::F16) if !self.integer => Value::Number(wide32(bits)),
            (false, _) | (true, RegisterFormat::F16) => Value::Bits(bits),
            (true, _) if !self.integer => Value::Number(wide16(bits as u16)),
            (true, _) if self.signed => Value::Bits(i32::from(bits as i16) as u32),
            (true, _) => Value::Bits(bits & 0xffff),
        }
    }
}

impl Memory {
    /// LD_VAR and its kin.
    pub(super) fn load_varying(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &mut Warp,
        message: &Message,
        instruction: &Instruction,
        varying: Varying,
    ) -> Result<(), Stopped> {
        let Stage::Fragment(stage) = &mut self.stage else {
            return Err(sender.wrong_stage(instruction));
        };
        let operand = sender.source(warp, &instruction.sources[0]);
        let points = points(stage, warp.lanes, &operand, varying);
        let several = stage.draw.sampling.count() > 1;
        if several
            && varying.sample == SampleMode::Centroid
            && varying.update != UpdateMode::Retrieve
        {
            sender.fabric.fidelity.meet(Inexact::Centroid);
        }
        if varying.update == UpdateMode::Store {
            for lane in bits(warp.lanes) {
                stage.kept[lane] = points[lane];
            }
        }
        let mut registers = [[0; 4]; WARP];
        let count = usize::from(varying.components.count);
        let mut place = Place::of(sender, stage, warp, instruction, varying)?;
        let shared = match &place {
            Place::Stored(stored) => sender
                .shared_varying(stage, stored, warp.lanes, count)
                .map(|(format, bits)| SharedVarying::of(format, bits)),
            Place::Special(_) | Place::Rectangle(_) => None,
        };
        for lane in bits(warp.lanes) {
            let mut values = [Value::Number(0.0); 4];
            match &mut place {
                Place::Special(special) => {
                    let numbers = built_in(stage, *special, points[lane]);
                    values = numbers.map(Value::Number);
                }
                Place::Rectangle(corners) => {
                    values = in_rectangle(stage, lane, &corners[lane]).map(Value::Number);
                }
                Place::Stored(stored) => {
                    let stored = stored[lane];
                    let register = varying.components.format;
                    if let Some(shared) = &shared {
                        let values = &mut values[..count];
                        shared.evaluate(&stage.geometry, (stored, register), points[lane], values);
                    } else {
                        for (index, value) in values.iter_mut().enumerate().take(count) {
                            let component = (stored, index as u32);
                            *value = sender.varying(stage, component, register, points[lane])?;
                        }
                    }
                }
            }
            registers[lane] = packed(&values[..count], varying.components.format);
        }
        set_registers(warp, message.write, &registers);
        Ok(())
    }
}

/// What a lane loads from.
enum Place {
    Special(u32),
    Stored([Stored; WARP]),
    /// Of a rectangle, an attribute at its upper left, upper right and lower left corner.
    Rectangle(Box<[[Colour; 3]; WARP]>),
}

impl Place {
    fn of(
        sender: &mut Sender<'_>,
        stage: &FragmentStage,
        warp: &Warp,
        instruction: &Instruction,
        varying: Varying,
    ) -> Result<Place, Stopped> {
        let format = varying.source;
        Ok(match varying.place {
            VaryingPlace::Special(number) => Place::Special(number),
            VaryingPlace::Offset(offset) => Place::Stored([Stored::at(offset, format); WARP]),
            VaryingPlace::OffsetSource(index) => {
                let offsets = sender.source(warp, &instruction.sources[usize::from(index)]);
                Place::Stored(offsets.map(|offset| Stored::at(offset, format)))
            }
            VaryingPlace::Descriptor { handle, .. } if stage.geometry.primitive.is_none() => {
                sender.fabric.fidelity.meet(Inexact::CornerVaryings);
                let handles = sender.handles(warp, instruction, handle);
                let mut known = None;
                let mut corners = [[[0.0; 4]; 3]; WARP];
                for lane in bits(warp.lanes) {
                    let handle = handles[lane];
                    let found = match known {
                        Some((last, found)) if last == handle => found,
                        _ => sender.attribute_corners(handle)?,
                    };
                    known = Some((handle, found));
                    corners[lane] = found;
                }
                Place::Rectangle(Box::new(corners))
            }
            VaryingPlace::Descriptor { handle, flat } => {
                let handles = sender.handles(warp, instruction, handle);
                let mut stored = [Stored::at(0, format); WARP];
                for lane in bits(warp.lanes) {
                    stored[lane] = sender.packet(instruction, handles[lane], flat)?;
                }
                Place::Stored(stored)
            }
        })
    }
}

/// A component before it goes to a register.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Number(f64),
    /// Of a flat varying: as stored.
    Bits(u32),
}

impl Sender<'_> {
    /// The format and the stored bits of a varying that lies at one place for all lanes; `None`, with nothing done, if lanes read one by one.
    fn shared_varying(
        &mut self,
        stage: &FragmentStage,
        stored: &[Stored; WARP],
        lanes: u16,
        count: usize,
    ) -> Option<(SourceFormat, VertexBits)> {
        let first = stored[bits(lanes).next()?];
        let geometry = &*stage.geometry;
        let is_shared = bits(lanes).all(|lane| {
            let other = stored[lane];
            (other.offset, other.format) == (first.offset, first.format)
        });
        let vertices = match first.is_flat() {
            true => geometry.provoking..geometry.provoking + 1,
            false => 0..geometry.vertices.min(3),
        };
        if !is_shared || geometry.provoking >= 3 {
            return None;
        }
        let components = Components {
            offset: first.offset,
            bytes: first.bytes(),
            count,
        };
        let bits = self.bits_for_all(geometry, vertices, components, lanes.count_ones())?;
        Some((first.format, bits))
    }

    /// One component of a varying at a point.
    fn varying(
        &mut self,
        stage: &FragmentStage,
        (stored, component): (Stored, u32),
        register: RegisterFormat,
        point: Point,
    ) -> Result<Value, Stopped> {
        let geometry = &*stage.geometry;
        let bytes = stored.bytes();
        let wide = bytes == 4;
        let offset = stored.offset.wrapping_add(component * u32::from(bytes));
        if stored.is_flat() {
            let bits = self.vertex_bits(geometry, geometry.provoking, offset, bytes)?;
            return Ok(stored.flat(bits, register));
        }
        let mut numbers = [0.0; 3];
        let vertices = geometry.vertices.min(3);
        for (vertex, number) in numbers.iter_mut().enumerate().take(vertices) {
            let bits = self.vertex_bits(geometry, vertex, offset, bytes)?;
            *number = if wide {
                wide32(bits)
            } else {
                wide16(bits as u16)
            };
        }
        let numbers = self.fabric.defects.varyings(numbers);
        Ok(Value::Number(match &geometry.primitive {
            Some(primitive) => primitive.weights(point).perspective(&numbers[..vertices]),
            None => 0.0,
        }))
    }

    /// Stored bits of one vertex; beyond its block they are 0 (free choice).
    pub(super) fn vertex_bits(
        &mut self,
        geometry: &Geometry,
        vertex: usize,
        offset: u32,
        bytes: u8,
    ) -> Result<u32, Stopped> {
        let end = offset.checked_add(bytes.into());
        let inside = end.is_some_and(|end| end <= geometry.varying_bytes);
        let Some(base) = geometry.varyings.get(vertex).filter(|_| inside) else {
            return Ok(0);
        };
        let address = base.wrapping_add(offset.into());
        let target = self.target(address, bytes, AccessKind::Read, &mut None)?;
        Ok(self.read(&target)? as u32)
    }

    /// The place of a varying that an attribute of a vertex packet describes.
    fn packet(
        &mut self,
        instruction: &Instruction,
        handle: u32,
        flat: bool,
    ) -> Result<Stored, Stopped> {
        let access = self.access(0);
        let tables = (self.environment.resources, self.environment.resource_count);
        let words = descriptor(self.fabric, self.memory, access, tables, handle)?;
        let attribute = words.and_then(|words| Attribute::unpack_at(self.arch, &words, 0).ok());
        let (Some(words), Some(attribute)) = (words, attribute) else {
            return Err(self.not_modelled(instruction));
        };
        // Codes of the formats with components of 16 bits have column 4 or 7 of their rows; varyings have no others.
        let code = words[0] >> 22 & 0xff;
        let wide = matches!(code % 8, 5) || (160..192).contains(&code) && code % 8 == 7;
        let format = match (flat, wide) {
            (true, true) => SourceFormat::Flat32,
            (true, false) => SourceFormat::Flat16,
            (false, true) => SourceFormat::F32,
            (false, false) => SourceFormat::F16,
        };
        let number = PixelFormat::of(words[0] >> 10);
        Ok(Stored {
            offset: attribute.offset.wrapping_sub(PACKET_BIAS) as u32,
            format,
            signed: number.is_some_and(|number| number.is_signed()),
            integer: number.is_some_and(|number| number.is_integer()),
        })
    }
}

/// Where each lane is evaluated.
fn points(stage: &FragmentStage, lanes: u16, operand: &Lanes, varying: Varying) -> [Point; WARP] {
    let mut points = stage.kept;
    if varying.update == UpdateMode::Retrieve {
        return points;
    }
    let Some(primitive) = &stage.geometry.primitive else {
        return points;
    };
    for lane in bits(lanes) {
        let state = &stage.lanes[lane];
        let own = operand[lane];
        let evaluation = match varying.sample {
            SampleMode::Center => match state.sample {
                Some(sample) => Evaluation::Sample(sample),
                None => Evaluation::Centre,
            },
            SampleMode::Centroid => Evaluation::Centroid,
            SampleMode::Sample => Evaluation::Sample((own >> 16 & 0x1f) as u8),
            SampleMode::Explicit => Evaluation::Explicit {
                x: own as i16,
                y: (own >> 16) as i16,
            },
        };
        points[lane] =
            evaluation.point(primitive, &stage.draw.sampling, state.pixel, state.covered);
    }
    points
}

/// An attribute at the centre of a lane's pixel, linear between the corners of a rectangle.
///
/// FACT: what varyings of frame shaders are is not told (hardware/graphics-framebuffer.md 5.10 has shaders that take the pixel from
/// r59). panfrost 26.2 loads a target by a frame shader whose coordinate is LD_VAR of an attribute with an element for each of four
/// vertices, which makes sense only if these are the corners of the framebuffer: upper left, upper right, lower left, lower right,
/// whatever box is rendered. Settled by a frame shader that stores its varying, on any board.
fn in_rectangle(stage: &FragmentStage, lane: usize, corners: &[Colour; 3]) -> Colour {
    let (x, y) = stage.lanes[lane].pixel;
    let [width, height] = stage.geometry.span.map(f64::from);
    let (along, down) = ((f64::from(x) + 0.5) / width, (f64::from(y) + 0.5) / height);
    let [first, right, below] = corners;
    core::array::from_fn(|at| {
        first[at] + (right[at] - first[at]) * along + (below[at] - first[at]) * down
    })
}

/// Built-in varyings; 0 for a primitive that has none.
fn built_in(stage: &FragmentStage, special: u32, point: Point) -> [f64; 4] {
    let Some(primitive) = &stage.geometry.primitive else {
        return match special {
            FRAG_Z => [stage.geometry.depth, 0.0, 0.0, 0.0],
            _ => [0.0; 4],
        };
    };
    match special {
        POINT_COORDINATE => {
            let [s, t] = primitive.point_coordinate(point).unwrap_or([0.0; 2]);
            let t = if stage.draw.point_origin_below {
                1.0 - t
            } else {
                t
            };
            [s, t, 0.0, 0.0]
        }
        FRAG_W => [primitive.weights(point).inv_w(), 0.0, 0.0, 0.0],
        FRAG_Z => [primitive.weights(point).biased_depth(), 0.0, 0.0, 0.0],
        _ => [0.0; 4],
    }
}

/// Components in registers: one each, or two halves in one.
fn packed(values: &[Value], format: RegisterFormat) -> [u32; 4] {
    let narrow_registers = format.bits() == 16;
    let mut registers = [0; 4];
    for (index, value) in values.iter().enumerate() {
        let bits = match *value {
            Value::Bits(bits) => bits,
            Value::Number(number) if narrow_registers => {
                narrow(number, 0, Float::Binary16, Round::NearestEven)
            }
            // The nearest binary32.
            Value::Number(number) => canonical32(number as f32),
        };
        if narrow_registers {
            registers[index / 2] |= (bits & 0xffff) << (16 * (index % 2));
        } else {
            registers[index] = bits;
        }
    }
    registers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_share_registers() {
        let values = [1, 2, 3, 0x1_0004].map(Value::Bits);
        let halves = packed(&values, RegisterFormat::F16);
        assert_eq!(halves, [0x0002_0001, 0x0004_0003, 0, 0]);
        let words = packed(&values, RegisterFormat::F32);
        assert_eq!(words, [1, 2, 3, 0x1_0004]);
        let numbers = packed(
            &[Value::Number(1.0), Value::Number(-2.0)],
            RegisterFormat::F16,
        );
        assert_eq!(numbers, [0xc000_3c00, 0, 0, 0]);
    }

    #[test]
    fn flat_varyings_are_converted_where_registers_have_another_width() {
        let taken = |word: u32, bits: u32, register| {
            let format = PixelFormat::of(word).expect("a format");
            let wide = format.bytes() == 4;
            let stored = Stored {
                offset: 0,
                format: if wide {
                    SourceFormat::Flat32
                } else {
                    SourceFormat::Flat16
                },
                signed: format.is_signed(),
                integer: format.is_integer(),
            };
            packed(&[stored.flat(bits, register)], register)[0]
        };
        use RegisterFormat::{Auto, F16, F32, S32, U32};
        let one = 1.0_f32.to_bits();
        // R32_SFLOAT, R16_SFLOAT: 1.0 either way.
        assert_eq!(taken(0x0a_7010, one, F32), one);
        assert_eq!(taken(0x0a_7010, one, Auto), one);
        assert_eq!(taken(0x0a_7010, one, F16), 0x3c00);
        assert_eq!(taken(0x0c_7010, 0x3c00, F16), 0x3c00);
        assert_eq!(taken(0x0c_7010, 0x3c00, F32), one);
        assert_eq!(taken(0x0c_7010, 0x3c00, Auto), one);
        // R16_SINT, R16_UINT, R32_UINT.
        assert_eq!(taken(0x0c_4010, 0xfffe, S32), 0xffff_fffe);
        assert_eq!(taken(0x08_4010, 0xfffe, U32), 0xfffe);
        assert_eq!(taken(0x08_4010, 0xfffe, Auto), 0xfffe);
        assert_eq!(taken(0x08_5010, 0x8000_0001, U32), 0x8000_0001);
    }
}
