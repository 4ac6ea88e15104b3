//! Jobs: what RUN_COMPUTE takes from registers, and everything that those lead to.
//!
//! Facts: hardware/command-stream.md 4.1, descriptors.md 3 to 13.

use super::View;
use super::code;
use super::entry::Entry;
use super::map::Map;
use super::trace::{Registers, Step};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use eitri_cs::instr::Instr;
use eitri_cs::staging::{StagingMap, StagingRegister, WorkgroupSize};
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
    let info = instr.info();
    let selected = |field: &str, first: u8| {
        let select = info.field_bits(field, step.word, arch) as u8 & 3;
        Pair::new(first + 2 * select)
    };
    let size = |name: &str| job.single(name);
    entry.note(
        "workgroups",
        triple(["JOB_SIZE_X", "JOB_SIZE_Y", "JOB_SIZE_Z"].map(size)),
    );
    entry.note(
        "from workgroup",
        triple(["JOB_OFFSET_X", "JOB_OFFSET_Y", "JOB_OFFSET_Z"].map(size)),
    );
    entry.note("threads of a workgroup", job.workgroup());
    entry.note(
        "attribute offset",
        shown(size("GLOBAL_ATTRIBUTE_OFFSET").map(u64::from)),
    );
    entry.push(job.pointer("shader program", selected("spd_select", 16), Job::program));
    entry.push(job.pointer("resource tables", selected("srt_select", 0), Job::tables));
    entry.push(job.pointer("uniforms (FAU)", selected("fau_select", 8), Job::uniforms));
    entry.push(job.pointer("thread storage", selected("tsd_select", 24), Job::storage));
    entry
}

struct Job<'j, 'd> {
    view: &'j View<'d>,
    map: &'j Map,
    arch: Arch,
    registers: &'j Registers,
}

fn shown(value: Option<u64>) -> String {
    value.map_or_else(|| String::from("unknown"), |value| format!("{value:#x}"))
}

fn triple(values: [Option<u32>; 3]) -> String {
    let [x, y, z] = values
        .map(|value| value.map_or_else(|| String::from("unknown"), |value| value.to_string()));
    format!("{x} x {y} x {z}")
}

/// The row of a staging register of compute jobs.
fn row(name: &str, arch: Arch) -> Option<&'static StagingRegister> {
    StagingMap::Compute
        .rows_of(arch)
        .find(|row| row.name == name)
}

impl Job<'_, '_> {
    fn single(&self, name: &str) -> Option<u32> {
        self.registers.get(row(name, self.arch)?.register)
    }

    fn workgroup(&self) -> String {
        let Some(word) = self.single("WG_SIZE") else {
            return String::from("unknown");
        };
        let Ok(size) = WorkgroupSize::unpack(word.into(), self.arch) else {
            return format!("{word:#x}, which is no workgroup size");
        };
        let [x, y, z] = [size.x_minus_1, size.y_minus_1, size.z_minus_1];
        let merged = match size.allow_merging_workgroups {
            true => ", workgroups may be merged",
            false => "",
        };
        format!(
            "{} x {} x {}{merged}",
            u32::from(x) + 1,
            u32::from(y) + 1,
            u32::from(z) + 1
        )
    }

    /// What a pair of registers leads to.
    fn pointer(
        &self,
        name: &str,
        pair: Option<Pair>,
        decode: impl Fn(&Self, u64, &mut Entry),
    ) -> Entry {
        let Some(pair) = pair else {
            return Entry::new(name, "unknown");
        };
        match self.registers.pair(pair) {
            None => Entry::new(name, format!("d{}, which is not known", pair.number())),
            Some(value) => {
                let mut entry = Entry::new(name, format!("d{} = {value:#x}", pair.number()));
                decode(self, value, &mut entry);
                entry
            }
        }
    }

    /// The words of a structure, or the reason why there are none as an entry.
    fn structure<const N: usize>(&self, address: u64, entry: &mut Entry) -> Option<[u32; N]> {
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
    fn printed(&self, layout: &'static Layout, words: &[u32], entry: &mut Entry) {
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

    fn program(&self, address: u64, entry: &mut Entry) {
        let Some(words) = self.structure::<8>(address, entry) else {
            return;
        };
        self.printed(ShaderProgram::LAYOUT, &words, entry);
        if let Ok(program) = ShaderProgram::unpack_at(self.arch, &words, 0) {
            entry.push(code::program(
                self.view,
                self.map,
                self.arch,
                program.binary.0,
            ));
        }
    }

    fn storage(&self, address: u64, entry: &mut Entry) {
        if address == 0 {
            return entry.note("none", "the job has no thread storage");
        }
        if let Some(words) = self.structure::<8>(address, entry) {
            self.printed(LocalStorage::LAYOUT, &words, entry);
        }
    }

    fn uniforms(&self, value: u64, entry: &mut Entry) {
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

    fn tables(&self, value: u64, entry: &mut Entry) {
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
