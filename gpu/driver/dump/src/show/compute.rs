//! Jobs of compute shaders: what RUN_COMPUTE takes from registers.
//!
//! Facts: hardware/command-stream.md 4.1, descriptors.md 3 to 13.

use super::entry::Entry;
use super::job::Job;
use alloc::format;
use alloc::string::{String, ToString};
use eitri_cs::instr::Instr;
use eitri_cs::staging::{StagingMap, StagingRegister, WorkgroupSize};
use eitri_cs::{Arch, Pair};

/// What a job of compute shaders takes from registers.
pub(super) fn describe(job: &Job<'_, '_>, instr: &Instr, word: u64, entry: &mut Entry) {
    let info = instr.info();
    let selected = |field: &str, first: u8| {
        let select = info.field_bits(field, word, job.arch) as u8 & 3;
        Pair::new(first + 2 * select)
    };
    let size = |name: &str| single(job, name);
    entry.note(
        "workgroups",
        triple(["JOB_SIZE_X", "JOB_SIZE_Y", "JOB_SIZE_Z"].map(size)),
    );
    entry.note(
        "from workgroup",
        triple(["JOB_OFFSET_X", "JOB_OFFSET_Y", "JOB_OFFSET_Z"].map(size)),
    );
    entry.note("threads of a workgroup", workgroup(job));
    entry.note(
        "attribute offset",
        shown(size("GLOBAL_ATTRIBUTE_OFFSET").map(u64::from)),
    );
    entry.push(job.pointer("shader program", selected("spd_select", 16), Job::program));
    entry.push(job.pointer("resource tables", selected("srt_select", 0), Job::tables));
    entry.push(job.pointer("uniforms (FAU)", selected("fau_select", 8), Job::uniforms));
    entry.push(job.pointer("thread storage", selected("tsd_select", 24), Job::storage));
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

fn single(job: &Job<'_, '_>, name: &str) -> Option<u32> {
    job.registers.get(row(name, job.arch)?.register)
}

fn workgroup(job: &Job<'_, '_>) -> String {
    let Some(word) = single(job, "WG_SIZE") else {
        return String::from("unknown");
    };
    let Ok(size) = WorkgroupSize::unpack(word.into(), job.arch) else {
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
