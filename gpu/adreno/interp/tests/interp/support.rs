//! Programs from text.

use eitri_ir3_interp::{Code, Fault, Launch, Memory, Place, Statistics, run};
use eitri_ir3_isa::{Gen, Instr};

/// Assembles lines; `name:` is a label, `;` starts a comment.
#[track_caller]
pub fn assemble(text: &str) -> Code {
    let mut labels = Vec::new();
    let mut lines = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_suffix(':') {
            Some(label) => labels.push((label, lines.len() as i32)),
            None => lines.push(line),
        }
    }
    let words = lines.iter().zip(0..).map(|(line, here)| {
        let target = |name: &str| {
            let label = labels.iter().find(|(label, _)| *label == name)?;
            Some(label.1 - here)
        };
        let instr = Instr::parse_with(line, Gen::A6xx, &target);
        let instr = instr.unwrap_or_else(|error| panic!("`{line}`: {error} at {:?}", error.span));
        instr.encode(Gen::A6xx).expect("it exists on a6xx")
    });
    Code::decode(words, Gen::A6xx).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Memory with a buffer of 64 words, 0 to 63, in slot 0 and one of zeros in slot 1.
pub fn memory() -> Memory {
    let mut memory = Memory::default();
    let numbers = (0..64u32).flat_map(u32::to_le_bytes).collect();
    memory.buffers.insert(Place::Slot(0), numbers);
    memory.buffers.insert(Place::Slot(1), vec![0; 256]);
    memory
}

/// The words of slot 1.
pub fn output(memory: &Memory) -> Vec<u32> {
    let words = memory.buffers[&Place::Slot(1)].chunks_exact(4);
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    words.map(word).collect()
}

pub fn launch() -> Launch {
    Launch {
        constants: (0..64).map(|number| 100 + number).collect(),
        instruction_limit: 100_000,
        ..Launch::default()
    }
}

/// Runs a program on one wave of 64 lanes.
pub fn execute(text: &str) -> Result<(Memory, Statistics), Fault> {
    let mut memory = memory();
    let statistics = run(&assemble(text), &launch(), &mut memory)?;
    Ok((memory, statistics))
}

/// What the program stores in slot 1.
#[track_caller]
pub fn result(text: &str) -> Vec<u32> {
    match execute(text) {
        Ok((memory, _)) => output(&memory),
        Err(fault) => panic!("{fault}"),
    }
}

/// Runs a sequence that leaves its result in r1.x, and stores that.
#[track_caller]
pub fn value(text: &str) -> Vec<u32> {
    result(&format!(
        "{text}\n(rpt5)nop\n(sy)(ss)nop\nstib.b.untyped.1d.u32.1.imm r1.x, r0.x, 1\nend"
    ))
}
