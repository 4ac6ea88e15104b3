//! Jobs of graphics: what draws, full-screen draws, tiling and fragment jobs take from registers, row by row.
//!
//! Which registers a job reads, and what their words say, comes from the staging tables.
//! Facts: hardware/command-stream.md 4.2 to 4.5, graphics-draw.md 3.

use super::entry::Entry;
use super::framebuffer;
use super::job::Job;
use alloc::format;
use alloc::string::String;
use eitri_cs::Pair;
use eitri_cs::instr::Instr;
use eitri_cs::staging::{StagingMap, StagingRegister, StagingWhen, WordInfo};
use eitri_descriptors::Descriptor;
use eitri_descriptors::blend::Blend;
use eitri_descriptors::raster::{DcdFlags0, DepthStencil, Draw};

/// Blend descriptors that there can be.
const MOST_TARGETS: u64 = 8;
/// Bytes of one.
const BLEND_BYTES: u64 = 16;

/// What a job of graphics takes from registers.
pub(super) fn describe(
    job: &Job<'_, '_>,
    map: StagingMap,
    instr: &Instr,
    word: u64,
    entry: &mut Entry,
) {
    let info = instr.info();
    for row in map.rows_of(job.arch) {
        if row.may_be_read(info, word, job.arch) {
            entry.entries.extend(register(
                job,
                info.field_bits("flags_override", word, job.arch),
                row,
            ));
        }
    }
    if let Instr::RunFullscreen(run) = instr {
        entry.push(
            job.pointer("draw descriptor", Some(run.dcd), |job, at, entry| {
                job.described::<32>(Draw::LAYOUT, at, entry);
            }),
        );
    }
}

/// A register, with what it leads to; none of one that says nothing.
fn register(job: &Job<'_, '_>, flags_override: u64, row: &StagingRegister) -> Option<Entry> {
    let number = row.register.number();
    let (name, value) = match row.is_pair {
        true => (
            format!("d{number}"),
            Pair::new(number).and_then(|pair| job.registers.pair(pair)),
        ),
        false => (
            format!("r{number}"),
            job.registers.get(row.register).map(u64::from),
        ),
    };
    let matters = match row.when {
        StagingWhen::Registers(_) => value.is_some_and(|value| value != 0),
        // Trace tags have no effect.
        _ => !(row.name.starts_with("ITER_TRACE") && value.unwrap_or(0) == 0),
    };
    let Some(value) = value.filter(|_| matters) else {
        if !matters || value.is_some() {
            return None;
        }
        let pair = Pair::new(number).filter(|_| row.is_pair);
        return Some(match pair {
            Some(pair) => job.one_of_two(row.name, pair, |job, value, entry| {
                follow(job, row.name, value, entry);
            }),
            None => Entry::new(row.name, format!("{name}, which is not known")),
        });
    };
    let mut entry = Entry::new(row.name, format!("{name} = {value:#x}"));
    let value = match row.name {
        "TILER_FLAGS" => value | flags_override,
        _ => value,
    };
    if let Some(word) = row.word {
        fields(job, word, value, &mut entry);
    }
    follow(job, row.name, value, &mut entry);
    Some(entry)
}

/// The fields of a register that is more than a number; zeros are left out.
fn fields(job: &Job<'_, '_>, word: &WordInfo, value: u64, entry: &mut Entry) {
    for field in word.fields {
        let bits = field.bits(job.arch).map_or(0, |bits| bits.of(value));
        if bits != 0 {
            entry.note(field.name, format!("{bits:#x}"));
        }
    }
}

/// Where a register leads, by the kind that its name says.
fn follow(job: &Job<'_, '_>, name: &str, value: u64, entry: &mut Entry) {
    let is = |kind: &str| name.split('_').any(|part| part == kind);
    match name {
        "DCD0" => job.printed(DcdFlags0::LAYOUT, &[value as u32], entry),
        "ZSD" => {
            job.described::<8>(DepthStencil::LAYOUT, value, entry);
        }
        "BLEND_DESC" => blends(job, value, entry),
        "TILER_CTX" => framebuffer::tiler(job, value, entry),
        "FBD_POINTER" => framebuffer::framebuffer(job, value, entry),
        "INDEX_BUFFER" | "TEM_POINTER" | "OQ" | "VERTEX_POSITION_ARRAY" => {
            entry.note("mapping", job.map.place(value));
        }
        _ if is("SRT") => job.tables(value, entry),
        _ if is("FAU") => job.uniforms(value, entry),
        _ if is("SPD") => job.program(value, entry),
        _ if is("TSD") => job.storage(value, entry),
        _ => {}
    }
}

/// Bits 63:4 are the address, 3:0 the count.
fn blends(job: &Job<'_, '_>, value: u64, entry: &mut Entry) {
    let (address, count) = (value & !0xf, (value & 0xf).min(MOST_TARGETS));
    for target in 0..count {
        let mut blend = Entry::new(format!("target {target}"), String::new());
        job.described::<4>(
            Blend::LAYOUT,
            address.saturating_add(target * BLEND_BYTES),
            &mut blend,
        );
        entry.push(blend);
    }
}
