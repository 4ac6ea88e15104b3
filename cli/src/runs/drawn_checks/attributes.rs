//! Attributes of vertices: fetched from the contents of buffers, and what is missing of them.

use super::calls::Call;
use super::contents::Contents;
use super::written::Written;
use eitri_checks::draw::Missing;
use eitri_drawing::state::VertexRate;
use eitri_shaderc::interp::TexelFormat;
use std::collections::BTreeMap;

/// The attributes of a vertex.
#[derive(Clone, Debug, Default)]
pub(super) struct Fetched {
    pub(super) words: BTreeMap<u8, [u32; 4]>,
    pub(super) missing: Vec<(u8, Missing)>,
}

/// An attribute with where its elements lie.
#[derive(Debug)]
struct Source {
    location: u8,
    format: TexelFormat,
    buffer: eitri_drawing::BufferId,
    /// The first byte of the first element.
    start: u64,
    stride: u64,
    rate: VertexRate,
    divisor: u32,
}

/// Fetches the attributes of a draw call.
#[derive(Debug)]
pub(super) struct Attributes<'c> {
    sources: Vec<Source>,
    sizes: BTreeMap<u32, u64>,
    contents: &'c Contents,
    written: &'c Written,
    first_instance: u32,
}

impl<'c> Attributes<'c> {
    /// Those of a call; buffers have these sizes.
    ///
    /// # Errors
    /// A format that the interpreter does not have.
    pub(super) fn new(
        call: &Call<'_>,
        sizes: BTreeMap<u32, u64>,
        contents: &'c Contents,
        written: &'c Written,
    ) -> Result<Attributes<'c>, String> {
        let mut sources = vec![];
        for attribute in &call.pipeline.attributes {
            let mut bindings = call.pipeline.vertex_bindings.iter();
            let binding = bindings.find(|it| it.binding == attribute.binding);
            let mut buffers = call.draw.vertex_buffers.iter();
            let buffer = buffers.find(|it| it.binding == attribute.binding);
            let (Some(binding), Some(buffer)) = (binding, buffer) else {
                continue;
            };
            let name = attribute.format.to_ascii_uppercase();
            // Scaled integers are integers that become floats.
            let read = name.replace("USCALED", "UINT").replace("SSCALED", "SINT");
            let format = TexelFormat::of_name(&read).filter(|_| read == name);
            sources.push(Source {
                location: attribute.location as u8,
                format: format.ok_or_else(|| format!("the interpreter has no format {name}"))?,
                buffer: buffer.buffer,
                start: buffer.offset + u64::from(attribute.offset),
                stride: binding.stride.into(),
                rate: binding.rate,
                divisor: binding.divisor,
            });
        }
        Ok(Attributes {
            sources,
            sizes,
            contents,
            written,
            first_instance: call.first_instance,
        })
    }

    /// Those of a vertex.
    pub(super) fn of(&self, vertex: u32, instance: u32) -> Fetched {
        let mut fetched = Fetched::default();
        for source in &self.sources {
            let element = match source.rate {
                VertexRate::Vertex => vertex,
                VertexRate::Instance => {
                    let passed = instance.checked_div(source.divisor).unwrap_or(0);
                    self.first_instance.wrapping_add(passed)
                }
            };
            let at = source.start + u64::from(element) * source.stride;
            let bytes = source.format.bytes();
            let end = at + bytes as u64;
            let size = self.sizes.get(&source.buffer.0).copied().unwrap_or(0);
            if end > size {
                let text = format!(
                    "attribute {} of element {element} lies at bytes {at} to {} of a vertex buffer that has {size}",
                    source.location,
                    end - 1
                );
                fetched
                    .missing
                    .push((source.location, Missing::Outside(text)));
            } else if !self
                .written
                .unwritten_bytes(source.buffer, &(at..end))
                .is_empty()
            {
                fetched.missing.push((source.location, Missing::Unwritten));
            }
            let words = self.contents.bytes(source.buffer, at, bytes);
            let words = words.map_or([0; 4], |bytes| source.format.load(bytes));
            fetched.words.insert(source.location, words);
        }
        fetched
    }
}
