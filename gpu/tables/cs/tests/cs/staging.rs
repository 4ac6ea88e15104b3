//! The staging registers are those of the data file of the facts.

use crate::facts;
use eitri_cs::instr::{Instr, RunCompute, RunIdvs};
use eitri_cs::staging::{
    FramebufferPointer, StagingMap, StagingRegister, StagingWhen, WorkgroupSize,
};
use eitri_cs::{Arch, RegSet, SUPPORTED, SubQueue};
use serde_json::Value;

#[test]
fn every_register_is_as_the_facts_say() {
    let data = facts::data();
    for arch in SUPPORTED.iter() {
        let maps = &data["arches"][arch.major().to_string()]["sr_maps"];
        for map in StagingMap::ALL {
            let name = format!("{map:?}").to_lowercase();
            let facts = maps[&name].as_array().map_or(&[][..], Vec::as_slice);
            // The fullscreen map lists the pair that the instruction names, too.
            let facts: Vec<_> = facts.iter().filter(|fact| fact["reg"].is_u64()).collect();
            for fact in &facts {
                check_row(map, fact, arch);
            }
            assert_eq!(map.rows_of(arch).count(), facts.len(), "{name} on {arch}");
        }
    }
}

fn check_row(map: StagingMap, fact: &Value, arch: Arch) {
    let what = format!("{} of {map:?} on {arch}", fact["name"]);
    let is_it = |row: &&StagingRegister| u64::from(row.register.number()) == fact["reg"];
    let row = map
        .rows_of(arch)
        .find(is_it)
        .unwrap_or_else(|| panic!("no {what}"));
    assert_eq!(row.name, fact["name"], "{what}");
    let width = if row.is_pair { 64 } else { 32 };
    assert_eq!(width, fact["width"], "width of {what}");
    let conditions = [fact["when"].as_str(), fact["role"].as_str()];
    let says = |text: &str| conditions.iter().flatten().any(|fact| fact.contains(text));
    let agrees = match row.when {
        StagingWhen::Always => {
            fact.get("when").is_none() && !says("when") && !says("not selectable")
        }
        StagingWhen::Never => says("not selectable"),
        StagingWhen::Registers(text) => says(text),
        StagingWhen::Field("enable_tem" | "tiler_flags2_enable", 1) => fact.get("when").is_some(),
        StagingWhen::Field(field, value) => {
            says(&format!("{field} == {value}")) || says(&format!("{field} = {value}"))
        }
    };
    assert!(
        agrees,
        "condition of {what}: {:?}, {conditions:?}",
        row.when
    );
    let bits = fact["bits"].as_array().map_or(&[][..], Vec::as_slice);
    // The layout of r61 is not given for v11, that of DCD1 and DCD2 of a fullscreen job is that of the others.
    if bits.is_empty() {
        return;
    }
    let word = row.word.unwrap_or_else(|| panic!("{what} has bits"));
    let fields = word.fields.iter().filter_map(|field| field.bits(arch));
    let ours: Vec<_> = fields
        .map(|bits| (bits.low.into(), bits.width().into()))
        .collect();
    let number = |value: &Value| value.as_u64().unwrap();
    let theirs: Vec<_> = bits
        .iter()
        .map(|b| (number(&b["start"]), number(&b["width"])))
        .collect();
    assert_eq!(ours, theirs, "bits of {what}");
}

#[test]
fn a_compute_job_reads_what_it_selects() {
    let job = RunCompute {
        srt_select: 1,
        fau_select: 2,
        spd_select: 3,
        ..Default::default()
    };
    let usage = Instr::from(job).usage(Arch::V10).unwrap();
    let pairs = [2, 12, 22, 24].map(|first| RegSet::range(first, first + 1));
    let expected = pairs.into_iter().fold(RegSet::range(32, 39), RegSet::union);
    assert_eq!(usage.staging, expected);
    assert_eq!(usage.reads, RegSet::EMPTY);
}

#[test]
fn a_draw_reads_its_index_only_when_that_is_enabled() {
    let draw = RunIdvs {
        draw_id: eitri_cs::r!(70),
        ..Default::default()
    };
    let enabled = RunIdvs {
        draw_id_register_enable: true,
        ..draw
    };
    let reads = |draw: RunIdvs| Instr::from(draw).usage(Arch::V10).unwrap().reads;
    assert_eq!(reads(draw), RegSet::EMPTY);
    assert_eq!(reads(enabled), RegSet::from(eitri_cs::r!(70)));
}

#[test]
fn words_pack_and_unpack() {
    let size = WorkgroupSize {
        x_minus_1: 63,
        y_minus_1: 3,
        z_minus_1: 1,
        allow_merging_workgroups: true,
    };
    assert_eq!(size.pack(Arch::V10), Ok(63 | 3 << 10 | 1 << 20 | 1 << 31));
    assert_eq!(
        WorkgroupSize::unpack(size.pack(Arch::V10).unwrap(), Arch::V10),
        Ok(size)
    );
    let too_large = WorkgroupSize {
        x_minus_1: 1024,
        ..size
    };
    let message = "1024 does not fit x_minus_1 of WorkgroupSize: it takes 0 to 1023";
    assert_eq!(too_large.pack(Arch::V10).unwrap_err().to_string(), message);
    // command-stream.md 7.3: the pointer of the clear's framebuffer.
    let pointer = FramebufferPointer {
        address_shr_6: 0x41_0002_0000 >> 6,
        ..Default::default()
    };
    assert_eq!(pointer.pack(Arch::V10), Ok(0x41_0002_0001));
}

/// command-stream.md 6.4, which registers the code of a sub-queue may write.
#[test]
fn jobs_of_a_sub_queue_read_its_registers() {
    let inside = |queue: SubQueue, arch, last| {
        let registers = queue.job_registers(arch);
        registers.without(RegSet::range(0, last)).is_empty()
    };
    assert!(inside(SubQueue::VertexTiler, Arch::V10, 61));
    assert!(inside(SubQueue::VertexTiler, Arch::V11, 63));
    assert!(inside(SubQueue::VertexTiler, Arch::V12, 65));
    assert!(inside(SubQueue::Compute, Arch::V10, 39));
    let fragment = SubQueue::Fragment.job_registers(Arch::V10);
    assert_eq!(fragment, RegSet::range(40, 46));
}
