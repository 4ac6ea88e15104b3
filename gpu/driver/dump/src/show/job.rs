//! Jobs: what starts one, and what its registers lead to: programs, resource tables, uniforms, thread storage, and any structure by its layout.
//!
//! Facts: hardware/descriptors.md 3 to 13.

use super::View;
use super::code;
use super::compute;
use super::draw;
use super::entry::Entry;
use super::map::Map;
use super::programs;
use super::trace::{Registers, Step};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use eitri_cs::instr::Instr;
use eitri_cs::staging::StagingMap;
use eitri_cs::text::{Syntax, disassemble};
use eitri_cs::{Arch, Pair};
use eitri_descriptors::resource::{
    Attribute, Buffer, DescriptorHeader, DescriptorType, NullDescriptor, Resource,
};
use eitri_descriptors::shader::{LocalStorage, ShaderProgram};
use eitri_descriptors::texture::{Sampler, Texture};
use eitri_descriptors::{Descriptor, Layout, Printed};

/// Descriptors that are shown of a table.
const MOST_DESCRIPTORS: u64 = 64;
/// Bytes of a descriptor in a table, and of an entry of the table of tables.
const DESCRIPTOR_BYTES: u64 = 32;
const RESOURCE_BYTES: u64 = 16;

/// A job whose registers are followed.
pub(super) struct Job<'j, 'd> {
    pub(super) view: &'j View<'d>,
    pub(super) map: &'j Map,
    pub(super) arch: Arch,
    pub(super) registers: &'j Registers,
}

/// The job that a step starts.
pub(super) fn entry(
    view: &View<'_>,
    map: &Map,
    arch: Arch,
    step: Step,
    registers: &Registers,
) -> Entry {
    let name = format!("job at {:#x}", step.address);
    let (Ok(instr), Ok(text)) = (
        Instr::decode(step.word, arch),
        disassemble(step.word, arch, Syntax::Eitri),
    ) else {
        return Entry::new(name, "no instruction");
    };
    let mut entry = Entry::new(name, text);
    let job = Job {
        view,
        map,
        arch,
        registers,
    };
    match instr.info().staging {
        Some(StagingMap::Compute) => compute::describe(&job, &instr, step.word, &mut entry),
        Some(staging) => draw::describe(&job, staging, &instr, step.word, &mut entry),
        None => {}
    }
    entry
}

impl Job<'_, '_> {
    /// A structure at an address, field by field; its words, if they are in the dump.
    pub(super) fn described<const N: usize>(
        &self,
        layout: &'static Layout,
        address: u64,
        entry: &mut Entry,
    ) -> Option<[u32; N]> {
        let words = self.structure(address, entry)?;
        self.printed(layout, &words, entry);
        Some(words)
    }

    /// What a pair of registers leads to.
    pub(super) fn pointer(
        &self,
        name: &str,
        pair: Option<Pair>,
        decode: impl Fn(&Self, u64, &mut Entry),
    ) -> Entry {
        let Some(pair) = pair else {
            return Entry::new(name, "unknown");
        };
        match self.registers.pair(pair) {
            None => self.one_of_two(name, pair, decode),
            Some(value) => {
                let mut entry = Entry::new(name, format!("d{} = {value:#x}", pair.number()));
                decode(self, value, &mut entry);
                entry
            }
        }
    }

    /// What the two values lead to of which a branch decides, if they are known.
    pub(super) fn one_of_two(
        &self,
        name: &str,
        pair: Pair,
        decode: impl Fn(&Self, u64, &mut Entry),
    ) -> Entry {
        let number = pair.number();
        let Some(values) = self.registers.either(pair) else {
            return Entry::new(name, format!("d{number}, which is not known"));
        };
        let [first, second] = values;
        let text = format!("d{number} = {first:#x} or {second:#x}, by a branch");
        let mut entry = Entry::new(name, text);
        for value in values {
            let mut one = Entry::heading(format!("if {value:#x}"));
            decode(self, value, &mut one);
            entry.push(one);
        }
        entry
    }

    /// The words of a structure, or the reason why there are none as an entry.
    pub(super) fn structure<const N: usize>(
        &self,
        address: u64,
        entry: &mut Entry,
    ) -> Option<[u32; N]> {
        let mut words = [0; N];
        for (word, at) in words.iter_mut().zip((address..).step_by(4)) {
            let mut bytes = [0; 4];
            if let Err(why) = self.view.read(&self.map.space, at, &mut bytes) {
                entry.note("not in the dump", why);
                return None;
            }
            *word = u32::from_le_bytes(bytes);
        }
        Some(words)
    }

    /// A structure, field by field.
    pub(super) fn printed(&self, layout: &'static Layout, words: &[u32], entry: &mut Entry) {
        match Printed::new(layout, self.arch, words) {
            Ok(printed) => entry
                .entries
                .extend(Entry::from_indented(&printed.to_string())),
            Err(error) => {
                let hex: Vec<String> = words.iter().map(|word| format!("{word:08x}")).collect();
                entry.push(
                    Entry::new(layout.name, error).with([Entry::new("words", hex.join(" "))]),
                );
            }
        }
    }

    pub(super) fn program(&self, address: u64, entry: &mut Entry) {
        let Some(words) = self.structure::<8>(address, entry) else {
            return;
        };
        self.printed(ShaderProgram::LAYOUT, &words, entry);
        if let Ok(program) = ShaderProgram::unpack_at(self.arch, &words, 0) {
            programs::keep(self.view, self.map, program.stage, program.binary.0);
            entry.push(code::program(
                self.view,
                self.map,
                self.arch,
                program.binary.0,
            ));
        }
    }

    pub(super) fn storage(&self, address: u64, entry: &mut Entry) {
        if address == 0 {
            return entry.note("none", "the job has no thread storage");
        }
        if let Some(words) = self.structure::<8>(address, entry) {
            self.printed(LocalStorage::LAYOUT, &words, entry);
        }
    }

    pub(super) fn uniforms(&self, value: u64, entry: &mut Entry) {
        let (address, count) = (value & (u64::MAX >> 8), value >> 56);
        entry.note("words", count);
        let (words, gap) = self.view.words(&self.map.space, address, count as usize);
        for (index, word) in words.into_iter().enumerate() {
            // Uniforms often are addresses: say where they lead.
            let place = match self.map.range_of(word) {
                Some(_) if word != 0 => format!("  ; {}", self.map.place(word)),
                _ => String::new(),
            };
            entry.push(Entry::line(format!("u{}: {word:#018x}{place}", 2 * index)));
        }
        if let Some(why) = gap {
            entry.note("not in the dump", why);
        }
    }

    pub(super) fn tables(&self, value: u64, entry: &mut Entry) {
        let (address, count) = (value & !0x3f, value & 0x3f);
        for number in 0..count {
            let at = address.saturating_add(number * RESOURCE_BYTES);
            let mut table = Entry::heading(format!("table {number}"));
            if let Some(words) = self.structure::<4>(at, &mut table) {
                match Resource::unpack_at(self.arch, &words, 0) {
                    Ok(resource) => self.table(&resource, &mut table),
                    Err(error) => table.note("no resource", error),
                }
            }
            entry.push(table);
        }
    }

    fn table(&self, resource: &Resource, table: &mut Entry) {
        let Resource {
            address,
            contains_descriptors,
            size,
            ..
        } = *resource;
        if size == 0 {
            table.text = String::from("empty");
            return;
        }
        let what = if contains_descriptors {
            "descriptors"
        } else {
            "raw memory"
        };
        table.text = format!("{size:#x} bytes of {what} at {:#x}", address.0);
        if !contains_descriptors {
            return table.note("mapping", self.map.place(address.0));
        }
        let count = size / DESCRIPTOR_BYTES;
        for index in 0..count.min(MOST_DESCRIPTORS) {
            let at = address.0.saturating_add(index * DESCRIPTOR_BYTES);
            let mut entry = Entry::heading(format!("descriptor {index}"));
            if let Some(words) = self.structure::<8>(at, &mut entry) {
                self.descriptor(&words, &mut entry);
            }
            table.push(entry);
        }
        if count > MOST_DESCRIPTORS {
            table.note(
                "more",
                format!("{} descriptors are not shown", count - MOST_DESCRIPTORS),
            );
        }
    }

    fn descriptor(&self, words: &[u32; 8], entry: &mut Entry) {
        let header = DescriptorHeader::unpack_at(self.arch, words, 0);
        let layout = match header.map(|header| header.kind) {
            Ok(DescriptorType::Null) => NullDescriptor::LAYOUT,
            Ok(DescriptorType::Sampler) => Sampler::LAYOUT,
            Ok(DescriptorType::Texture) => Texture::LAYOUT,
            Ok(DescriptorType::Attribute) => Attribute::LAYOUT,
            Ok(DescriptorType::Buffer) => Buffer::LAYOUT,
            Ok(DescriptorType::Shader) => ShaderProgram::LAYOUT,
            Ok(kind @ (DescriptorType::DepthStencil | DescriptorType::Plane)) => {
                entry.text = format!("{kind:?}, which no shader names");
                return;
            }
            Err(error) => {
                entry.text = format!("no descriptor: {error}");
                return;
            }
        };
        self.printed(layout, words, entry);
        if let Ok(buffer) = Buffer::unpack_at(self.arch, words, 0) {
            entry.note("mapping", self.map.place(buffer.address.0));
        }
    }
}
