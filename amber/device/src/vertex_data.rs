//! Vertex data: what a draw of a script draws, as buffers and attributes of a drawing.
//!
//! Facts: the language reference, 9.4 and 10.

use crate::draw::{failed, lacks};
use crate::{Compiled, DeviceError};
use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use eitri_amber::Word;
use eitri_amber::plan::Graphics;
use eitri_amber::run::Memory;
use eitri_amber::script::{Draw, VertexRate};
use eitri_drawing::state::{
    Attribute, IndexType, Topology, VertexBinding, VertexRate as DrawnRate,
};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as WordError;

/// What is drawn: buffers of vertices and indices, and how they are read.
pub(crate) struct VertexData {
    /// Contents, in the order of the bindings; indices are last.
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) bindings: Vec<VertexBinding>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) offsets: Vec<u64>,
    pub(crate) indices: Option<IndexType>,
    pub(crate) topology: Topology,
    pub(crate) count: u32,
    /// The first vertex, or what is added to indices.
    pub(crate) first: i32,
    pub(crate) instances: u32,
    pub(crate) first_instance: u32,
}

impl VertexData {
    pub(crate) fn of(
        compiled: &Compiled,
        graphics: &Graphics,
        draw: &Draw,
        memory: &Memory,
    ) -> Result<VertexData, DeviceError> {
        let (width, height) = graphics.framebuffer;
        // In single precision, as the language has it.
        let across = |pixels: f64| 2.0 * pixels as f32 / width as f32;
        let down = |pixels: f64| 2.0 * pixels as f32 / height as f32;
        match *draw {
            Draw::Rectangle { patch: true, .. } => Err(lacks("graphics: patches")),
            Draw::Rectangle {
                origin,
                size,
                pixels,
                ..
            } => {
                let [x, y] = origin;
                let [w, h] = size;
                let (left, top, wide, high) = if pixels {
                    (across(x) - 1.0, down(y) - 1.0, across(w), down(h))
                } else {
                    (x as f32, y as f32, w as f32, h as f32)
                };
                let (right, bottom) = (left + wide, top + high);
                let corners = [[left, bottom], [left, top], [right, bottom], [right, top]];
                Ok(VertexData::positions(&corners, Topology::TriangleStrip))
            }
            Draw::Grid {
                origin,
                size,
                cells,
            } => {
                let [columns, rows] = cells;
                let [x, y] = origin.map(|it| it as f64);
                let [w, h] = size.map(|it| it as f64);
                let step_x = across(w) / columns as f32;
                let step_y = down(h) / rows as f32;
                let mut corners = Vec::new();
                for row in 0..rows {
                    for column in 0..columns {
                        let left = across(x) - 1.0 + step_x * column as f32;
                        let right = across(x) - 1.0 + step_x * (column + 1) as f32;
                        let top = down(y) - 1.0 + step_y * row as f32;
                        let bottom = down(y) - 1.0 + step_y * (row + 1) as f32;
                        corners.extend([[right, bottom], [left, bottom], [left, top]]);
                        corners.extend([[right, bottom], [left, top], [right, top]]);
                    }
                }
                Ok(VertexData::positions(&corners, Topology::TriangleList))
            }
            Draw::Array {
                topology,
                indexed,
                start,
                count,
                start_instance,
                instances,
            } => {
                let name = topology.text().to_ascii_lowercase();
                let topology = word(&name).ok_or_else(|| lacks("graphics: patches"))?;
                let mut data = VertexData::positions(&[], topology);
                (data.buffers, data.offsets) = (Vec::new(), Vec::new());
                (data.bindings, data.attributes) = (Vec::new(), Vec::new());
                let mut elements = data.add_vertices(compiled, graphics, memory)?;
                if indexed {
                    let id = graphics
                        .indices
                        .ok_or_else(|| failed("there are no indices"))?;
                    let buffer = compiled.plan.buffer(id);
                    let stride = buffer.map_or(0, |buffer| buffer.element.stride);
                    data.indices = Some(match stride {
                        1 => IndexType::U8,
                        2 => IndexType::U16,
                        4 => IndexType::U32,
                        _ => return Err(failed("indices are of 8, 16 or 32 bits")),
                    });
                    let bytes = memory.get(id).map_or(&[][..], |host| &host.bytes);
                    elements = (bytes.len() / stride) as u64;
                    data.buffers.push(bytes.to_vec());
                }
                let count = count.unwrap_or_else(|| elements.saturating_sub(start));
                data.count = u32::try_from(count).unwrap_or(u32::MAX);
                data.first = i32::try_from(start).unwrap_or(i32::MAX);
                data.instances = u32::try_from(instances).unwrap_or(u32::MAX);
                data.first_instance = u32::try_from(start_instance).unwrap_or(u32::MAX);
                Ok(data)
            }
        }
    }

    /// Positions of two components at location 0.
    fn positions(corners: &[[f32; 2]], topology: Topology) -> VertexData {
        let floats = corners.iter().flatten();
        VertexData {
            buffers: vec![floats.flat_map(|it| it.to_le_bytes()).collect()],
            bindings: vec![VertexBinding {
                binding: 0,
                stride: 8,
                rate: DrawnRate::Vertex,
                divisor: 1,
            }],
            attributes: vec![Attribute {
                location: 0,
                binding: 0,
                format: "r32g32_sfloat".to_owned(),
                offset: 0,
            }],
            offsets: vec![0],
            indices: None,
            topology,
            count: corners.len() as u32,
            first: 0,
            instances: 1,
            first_instance: 0,
        }
    }

    /// Adds the vertex data of a pipeline; gives how many elements the first has.
    fn add_vertices(
        &mut self,
        compiled: &Compiled,
        graphics: &Graphics,
        memory: &Memory,
    ) -> Result<u64, DeviceError> {
        let mut elements = 0;
        for (binding, vertices) in (0_u32..).zip(&graphics.vertices) {
            let buffer = compiled.plan.buffer(vertices.buffer);
            let buffer = buffer.ok_or_else(|| failed("vertex data is missing"))?;
            let (name, bytes) = match &vertices.format {
                Some(format) => (Some(format.name().to_owned()), format.element().stride),
                None => (buffer.ty.format_name(), buffer.element.stride),
            };
            let name = name.ok_or_else(|| failed("vertex data has no format"))?;
            let stride = vertices.stride.unwrap_or(bytes as u64);
            let host = memory.get(vertices.buffer);
            let host = host.map_or(&[][..], |host| &host.bytes);
            if binding == 0 {
                let bytes = buffer.element.stride.max(1);
                elements = (host.len() / bytes) as u64;
            }
            self.buffers.push(host.to_vec());
            self.offsets.push(vertices.offset);
            self.bindings.push(VertexBinding {
                binding,
                stride: u32::try_from(stride).unwrap_or(u32::MAX),
                rate: match vertices.rate {
                    VertexRate::Vertex => DrawnRate::Vertex,
                    VertexRate::Instance => DrawnRate::Instance,
                },
                divisor: 1,
            });
            self.attributes.push(Attribute {
                location: vertices.location,
                binding,
                format: name.to_ascii_lowercase(),
                offset: 0,
            });
        }
        Ok(elements)
    }
}

/// The member of one of the drawing's sets of words.
pub(crate) fn word<'w, T: Deserialize<'w>>(text: &'w str) -> Option<T> {
    let text: serde::de::value::StrDeserializer<'w, WordError> = text.into_deserializer();
    T::deserialize(text).ok()
}
