//! The bench of this image: its machines, the programs that were linked into it, its console.

use crate::machine;
use alloc::rc::Rc;
use core::fmt;
use eitri_driver_tests::{Bench, Parts, Shader};
use eitri_kernel::println;
use eitri_model::Config;

/// The firmware of the GPU.
static FIRMWARE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/firmware"));
/// The programs of all shaders: of each its name and itself, both behind their length of four bytes, the lowest first.
static PROGRAMS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/programs"));

pub(crate) struct InImage;

impl Bench for InImage {
    fn machine(&self, config: Config, memory: Option<u64>) -> Rc<dyn Parts> {
        machine::new(&config, memory)
    }

    fn program(&self, shader: &'static Shader) -> &'static [u8] {
        let mut rest = PROGRAMS;
        while let Some((name, program, next)) = first(rest) {
            if name == shader.name.as_bytes() {
                return program;
            }
            rest = next;
        }
        panic!("no program of {} was linked into this image", shader.name);
    }

    fn firmware(&self) -> &'static [u8] {
        FIRMWARE
    }

    fn long(&self) -> bool {
        false
    }

    fn brief(&self) -> bool {
        true
    }

    fn wants_table(&self) -> bool {
        false
    }

    fn keep_table(&self, _table: &str) {}

    fn say(&self, text: fmt::Arguments<'_>) {
        println!("# {text}");
    }
}

/// The name of the first program, itself, and what follows it.
fn first(programs: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (name, rest) = piece(programs)?;
    let (program, rest) = piece(rest)?;
    Some((name, program, rest))
}

/// Bytes behind their length, and what follows them.
fn piece(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}
