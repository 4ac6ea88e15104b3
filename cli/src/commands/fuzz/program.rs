//! Damaged programs, of Mali and of Adreno: reading one ends without a panic.
//!
//! A word is a seed. Some words of a compiled shader are changed, and its sum is written anew: else no damage would come further
//! than to the sum.

use super::{Dice, damage};
use crate::input::shader_file;
use eitri_program_file::{LineParts, LineRow, LineTable, seal, without_lines};
use eitri_shaderc::{Options, Target, compile};
use std::sync::OnceLock;

/// Bytes that every format begins with, magic to sum.
const SEALED: usize = 0x14;

/// A shader whose programs have records in their tables.
const SHADER: &str = "\
@group(0) @binding(0) var<uniform> scale: vec4<u32>;
@group(0) @binding(1) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    var table = array<u32, 8>(3u, 1u, 4u, 1u, 5u, 9u, 2u, 6u);
    data[id.x] = data[id.x] * scale.y + table[id.x & 7u] + groups.x * 12345u;
}
";

/// True if the damaged program is still one.
pub(super) fn check(seed: u64) -> Result<bool, String> {
    static SOUND: OnceLock<Result<[Vec<u8>; 3], String>> = OnceLock::new();
    let sound = SOUND.get_or_init(sound).as_ref().map_err(String::clone)?;
    let mut dice = Dice(seed);
    let which = dice.next() as usize % sound.len();
    let mut bytes = sound.get(which).cloned().unwrap_or_default();
    // The third seed is a program with its table of lines. The table alone is damaged: the program is that of the first seed.
    let program = match which {
        2 => bytes.drain(..without_lines(&bytes).len()).collect(),
        _ => vec![],
    };
    damage(&mut dice, bytes.get_mut(SEALED..).unwrap_or_default());
    // Every eighth one is cut short.
    if dice.next() & 7 == 0 {
        bytes.truncate(dice.next() as usize % (bytes.len() + 1));
    }
    seal(&mut bytes);
    Ok(match which {
        0 => read_mali(&bytes),
        1 => read_adreno(&bytes),
        _ => read_lines(&[program, bytes].concat()),
    })
}

/// The shader for a Mali, and for an Adreno, and that for a Mali with lines.
fn sound() -> Result<[Vec<u8>; 3], String> {
    let spirv = shader_file::of_wgsl("fuzz.wgsl", SHADER).map_err(|failure| failure.shown())?;
    let program = |target: Option<Target>| {
        let options = Options {
            target: target.ok_or("the compiler has lost a target")?,
            ..Options::default()
        };
        let compiled = compile(&spirv, &options).map_err(|errors| errors.to_string())?;
        Ok::<_, String>(compiled.program)
    };
    let mali = program(Some(Target::default()))?;
    Ok([
        mali.clone(),
        program(Target::ir3_named("a6xx"))?,
        [mali, lines()?].concat(),
    ])
}

/// A line table.
fn lines() -> Result<Vec<u8>, String> {
    let row = |(word, file, line)| LineRow {
        word,
        file,
        line,
        column: 1,
    };
    let rows = [(0, 0, 5), (2, 1, 9), (3, 0, 0), (7, 0, 6)].map(row);
    let parts = LineParts {
        files: &["fuzz.wgsl", "other.wgsl"],
        rows: &rows,
    };
    let length = parts.encoded_len().map_err(|error| error.to_string())?;
    let mut bytes = vec![0; length];
    parts
        .encode(&mut bytes)
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Reads the line table behind a program, as people's tools do; false if it is none.
fn read_lines(bytes: &[u8]) -> bool {
    // The program is a program whatever stands behind it, or says that it is too long.
    let _ = read_mali(bytes);
    let Ok(Some(table)) = LineTable::behind(bytes) else {
        return false;
    };
    let _ = table.rows().count();
    let _ = (0..16)
        .filter(|word| table.line_of(*word).is_some())
        .count();
    true
}

/// Reads all of it, as the runtime does; false if it is none.
fn read_mali(bytes: &[u8]) -> bool {
    let Ok(program) = eitri_program::Program::parse(bytes) else {
        return false;
    };
    let _ = (program.code().count(), program.fau().count());
    let _ = (program.fau_steps().count(), program.bindings().count());
    let _ = program.push_ranges().count();
    let _ = (program.highest_table(), program.table_length(0));
    true
}

/// Reads all of it, as the interpreter does; false if it is none.
fn read_adreno(bytes: &[u8]) -> bool {
    use eitri_ir3_program::{Launch, Program};
    let Ok(program) = Program::parse(bytes) else {
        return false;
    };
    let _ = (program.code().count(), program.immediates().count());
    let _ = (program.bindings().count(), program.push_ranges().count());
    let length = program.write_constants(&Launch::default(), &mut []);
    program.write_constants(&Launch::default(), &mut vec![0; length]);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is damaged must be worth damaging: of both kinds some are still programs, and some are not.
    #[test]
    fn damage_is_neither_all_nor_nothing() {
        let [mali, adreno, lines] = sound().unwrap();
        assert!(read_mali(&mali) && read_adreno(&adreno) && read_lines(&lines));
        let legal = (0..200).filter(|seed| check(*seed) == Ok(true)).count();
        assert!((20..180).contains(&legal), "{legal} of 200");
    }
}
