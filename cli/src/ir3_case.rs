//! A compute case on Adreno: compiled, and run by the interpreter of its instructions, since there is no driver for it here.
//!
//! Facts: hardware/ir3-isa.md sections 12 and 14.

use crate::case_run::{Passed, Verdict, compile_for};
use eitri_compute_cases::{Case, Module, Place as CasePlace};
use eitri_ir3_interp::{Code, Launch, Memory, Place, run};
use eitri_ir3_isa::Gen;
use eitri_ir3_program::{Launch as State, Program, UniformRange};
use eitri_shaderc::{Robust, Target};
use std::collections::BTreeMap;
use std::fmt::Display;

/// Where the data of a program lie: an address of which both halves are needed.
const DATA_ADDRESS: u64 = 0x1_2345_6000;

/// The most instructions that a case may take.
const INSTRUCTION_LIMIT: u64 = 2_000_000_000;

/// Compiles and runs a case.
pub(crate) fn run_case(case: &Case, module: Module, target: Target) -> Verdict {
    match try_run(case, module, target) {
        Ok(passed) => Verdict::Passed(Box::new(passed)),
        Err(verdict) => verdict,
    }
}

fn try_run(case: &Case, module: Module, target: Target) -> Result<Passed, Verdict> {
    let compiled = compile_for(case, module, Robust::On, target)?;
    let program = Program::parse(&compiled.program).map_err(|error| failed(&error))?;
    let (mut memory, places) = memory(case, &program)?;
    let of_range = |range: UniformRange| {
        let place = CasePlace {
            set: range.set,
            binding: range.binding,
            element: 0,
        };
        case.resource(place).map_or(&[][..], |it| &it.before)
    };
    let uniforms: Vec<&[u8]> = program.uniforms().map(of_range).collect();
    let state = State {
        push_constants: &case.push_constants,
        workgroups: case.groups,
        base: [0; 3],
        data_address: DATA_ADDRESS,
        uniforms: &uniforms,
    };
    let launch = Launch::of_program(&program, &state, INSTRUCTION_LIMIT);
    let code = Code::decode(program.code(), Gen::A6xx).map_err(|fault| failed(&fault))?;
    run(&code, &launch, &mut memory).map_err(|fault| failed(&fault))?;
    let after = |place: CasePlace| {
        let own = places.get(&(place.set, place.binding, place.element))?;
        memory.buffers.get(own).map(Vec::as_slice)
    };
    case.check(after)
        .map_err(|difference| failed(&difference))?;
    Ok(Passed {
        compiled,
        executed: None,
    })
}

fn failed(error: &dyn Display) -> Verdict {
    Verdict::Failed(error.to_string())
}

/// Descriptors of a case by set, binding and element.
type Places = BTreeMap<(u32, u32, u32), Place>;

/// The resources that the program uses, at its descriptors, and its data.
fn memory(case: &Case, program: &Program<'_>) -> Result<(Memory, Places), Verdict> {
    let mut memory = Memory::default();
    let mut places = BTreeMap::new();
    for binding in program.bindings() {
        for element in 0..binding.count {
            let place = CasePlace {
                set: binding.set,
                binding: binding.binding,
                element,
            };
            let resource = case.resource(place).ok_or_else(|| {
                failed(&format!(
                    "the shader uses binding {place}, which the case lacks"
                ))
            })?;
            let descriptor = Place::Bindless {
                set: binding.set,
                index: binding.descriptor + element,
            };
            memory.buffers.insert(descriptor, resource.before.clone());
            places.insert((place.set, place.binding, place.element), descriptor);
        }
    }
    memory
        .regions
        .insert(DATA_ADDRESS, program.data_bytes().to_vec());
    Ok((memory, places))
}
