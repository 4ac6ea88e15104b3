//! Programs for Adreno on the interpreter of their instructions.

use eitri_ir3_interp::{Code, Launch, Memory, Place, run as execute};
use eitri_ir3_isa::Gen;
use eitri_ir3_program::{self as program, Program};
use eitri_shaderc::interp::{Buffers, Dispatch};

/// Where the program's data are.
const DATA: u64 = 0x1_0000_0000;

/// More instructions than any test needs.
const LIMIT: u64 = 200_000_000;

/// Runs a program binary on buffers by set, binding and element.
pub fn run(bytes: &[u8], dispatch: &Dispatch, buffers: &mut Buffers) -> Result<(), String> {
    let program = Program::parse(bytes).map_err(|error| error.to_string())?;
    let place = |(set, binding, element): (u32, u32, u32)| {
        let mut bindings = program.bindings();
        let found = bindings.find(|found| (found.set, found.binding) == (set, binding))?;
        Some(Place::Bindless {
            set,
            index: found.descriptor + element,
        })
    };
    let mut memory = Memory::default();
    for (key, buffer) in buffers.iter() {
        if let Some(place) = place(*key) {
            memory.buffers.insert(place, buffer.bytes.clone());
        }
    }
    memory.regions.insert(DATA, program.data_bytes().to_vec());
    let held = |range: program::UniformRange| {
        let buffer = buffers.get(&(range.set, range.binding, 0));
        buffer.map_or(&[][..], |buffer| &buffer.bytes)
    };
    let uniforms: Vec<&[u8]> = program.uniforms().map(held).collect();
    let state = program::Launch {
        push_constants: &dispatch.push_constants,
        workgroups: dispatch.groups,
        base: [0; 3],
        data_address: DATA,
        uniforms: &uniforms,
    };
    let launch = Launch::of_program(&program, &state, LIMIT);
    let code = Code::decode(program.code(), Gen::A6xx).map_err(|fault| fault.to_string())?;
    execute(&code, &launch, &mut memory).map_err(|fault| fault.to_string())?;
    for (key, buffer) in buffers.iter_mut() {
        if let Some(bytes) = place(*key).and_then(|place| memory.buffers.remove(&place)) {
            buffer.bytes = bytes;
        }
    }
    Ok(())
}
