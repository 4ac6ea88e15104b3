//! Registers of a compute job, found in the command-stream table by their names when this is compiled.
//!
//! Facts: hardware/command-stream.md section 4.1, through [`eitri_cs::staging`].

use eitri_cs::staging::{StagingMap, StagingRegister};
use eitri_cs::{Pair, Reg};

/// Resource table: address with the number of entries.
pub(super) const RESOURCES: Pair = pair("SRT_0");
/// Uniforms: address with the number of 64-bit words.
pub(super) const UNIFORMS: Pair = pair("FAU_0");
/// Shader program descriptor.
pub(super) const PROGRAM: Pair = pair("SPD_0");
/// Local storage descriptor.
pub(super) const STORAGE: Pair = pair("TSD_0");
/// Attribute offset.
pub(super) const ATTRIBUTE_OFFSET: Reg = register("GLOBAL_ATTRIBUTE_OFFSET");
/// Workgroup size.
pub(super) const WORKGROUP_SIZE: Reg = register("WG_SIZE");
/// First workgroup along x, y, z.
pub(super) const FIRST: [Reg; 3] = [
    register("JOB_OFFSET_X"),
    register("JOB_OFFSET_Y"),
    register("JOB_OFFSET_Z"),
];
/// Workgroups along x, y, z.
pub(super) const COUNT: [Reg; 3] = [
    register("JOB_SIZE_X"),
    register("JOB_SIZE_Y"),
    register("JOB_SIZE_Z"),
];

const fn row(name: &str) -> &'static StagingRegister {
    let rows = StagingMap::Compute.rows();
    let mut i = 0;
    while i < rows.len() {
        if same(rows[i].name.as_bytes(), name.as_bytes()) {
            return &rows[i];
        }
        i += 1;
    }
    panic!("the table of command-stream registers has no such name")
}

const fn register(name: &str) -> Reg {
    let row = row(name);
    assert!(!row.is_pair, "the register is a pair");
    row.register
}

const fn pair(name: &str) -> Pair {
    let row = row(name);
    assert!(row.is_pair, "the register is not a pair");
    match Pair::new(row.register.number()) {
        Some(pair) => pair,
        None => panic!("a pair begins with an even register"),
    }
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
