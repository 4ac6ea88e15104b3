//! Programs for Adreno on the interpreter of their instructions.

use eitri_ir3_interp::{Code, Launch, Memory, Place, run as execute};
use eitri_ir3_isa::Gen;
use eitri_ir3_program::{self as program, Program};
use eitri_shaderc::interp::{Buffers, Dispatch, Key, Resources};

/// Where the program's data are.
pub const DATA: u64 = 0x1_0000_0000;

/// More instructions than any test needs.
const LIMIT: u64 = 200_000_000;

/// Runs a program binary on buffers by set, binding and element.
pub fn run(bytes: &[u8], dispatch: &Dispatch, buffers: &mut Buffers) -> Result<(), String> {
    let mut resources = Resources {
        buffers: std::mem::take(buffers),
        ..Resources::default()
    };
    let ran = run_with(bytes, dispatch, &mut resources);
    *buffers = resources.buffers;
    ran
}

/// Seeds that bend the order of waves: in the long form several, and the straight order.
fn orders() -> &'static [Option<u64>] {
    match eitri_testdata::long() {
        true => &[Some(1), None, Some(2), Some(3)],
        false => &[Some(1)],
    }
}

/// Runs the program with other instructions in place of its own; the fault, if there is one.
pub fn fault_with(
    bytes: &[u8],
    words: &[u64],
    dispatch: &Dispatch,
    buffers: &Buffers,
) -> Option<String> {
    let mut resources = Resources {
        buffers: buffers.clone(),
        ..Resources::default()
    };
    run_words(bytes, Some(words), dispatch, &mut resources, Some(1)).err()
}

/// The same with images and samplers, in each order of waves: all must leave the same.
pub fn run_with(
    bytes: &[u8],
    dispatch: &Dispatch,
    resources: &mut Resources,
) -> Result<(), String> {
    let before = resources.clone();
    let mut result: Option<Resources> = None;
    for order in orders() {
        let mut after = before.clone();
        run_words(bytes, None, dispatch, &mut after, *order)?;
        if result.get_or_insert_with(|| after.clone()) != &after {
            return Err(format!("another result with the waves in order {order:?}"));
        }
    }
    *resources = result.unwrap_or(before);
    Ok(())
}

/// Runs a program, with these instructions in place of its own if there are any.
fn run_words(
    bytes: &[u8],
    words: Option<&[u64]>,
    dispatch: &Dispatch,
    resources: &mut Resources,
    order: Option<u64>,
) -> Result<(), String> {
    let program = Program::parse(bytes).map_err(|error| error.to_string())?;
    let descriptor = |(set, binding, element): Key| {
        let mut bindings = program.bindings();
        let found = bindings.find(|found| (found.set, found.binding) == (set, binding))?;
        Some((
            found.kind,
            found.descriptor + element * found.kind.descriptors(),
        ))
    };
    let place = |key: Key| {
        let (_, index) = descriptor(key)?;
        Some(Place::Bindless { set: key.0, index })
    };
    let mut memory = Memory::default();
    for (key, buffer) in &resources.buffers {
        if let Some(place) = place(*key) {
            memory.buffers.insert(place, buffer.bytes.clone());
        }
    }
    for (key, image) in &resources.images {
        if let Some(place) = place(*key) {
            memory.images.insert(place, image.clone());
        }
    }
    for (key, sampler) in &resources.samplers {
        let Some((kind, index)) = descriptor(*key) else {
            continue;
        };
        // Of an image with its sampler it is the second descriptor.
        let index = index + kind.descriptors() - 1;
        let place = Place::Bindless { set: key.0, index };
        memory.samplers.insert(place, sampler.clone());
    }
    memory.regions.insert(DATA, program.data_bytes().to_vec());
    let held = |range: program::UniformRange| {
        let buffer = resources.buffers.get(&(range.set, range.binding, 0));
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
    let launch = Launch {
        order,
        ..Launch::of_program(&program, &state, LIMIT)
    };
    let code = match words {
        Some(words) => Code::decode(words.iter().copied(), Gen::A6xx),
        None => Code::decode(program.code(), Gen::A6xx),
    };
    let code = code.map_err(|fault| fault.to_string())?;
    execute(&code, &launch, &mut memory).map_err(|fault| fault.to_string())?;
    for (key, buffer) in resources.buffers.iter_mut() {
        if let Some(bytes) = place(*key).and_then(|place| memory.buffers.remove(&place)) {
            buffer.bytes = bytes;
        }
    }
    for (key, image) in resources.images.iter_mut() {
        if let Some(after) = place(*key).and_then(|place| memory.images.remove(&place)) {
            *image = after;
        }
    }
    Ok(())
}
