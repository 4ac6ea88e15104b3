//! A compute case on Adreno: compiled, and run by the interpreter of its instructions, since there is no driver for it here.
//!
//! Facts: hardware/ir3-isa.md sections 12 and 14.

use crate::input::image_format;
use crate::runs::case_run::{Passed, Verdict, compile_for};
use eitri_compute_cases::{Case, Module, Place as CasePlace, Resource, ResourceKind};
use eitri_ir3_interp::{Code, Launch, Memory, Place, run};
use eitri_ir3_isa::Gen;
use eitri_ir3_program::{Launch as State, Program, UniformRange};
use eitri_model::Fidelity;
use eitri_shaderc::interp::{Image, Sampler, TexelFormat};
use eitri_shaderc::{Robust, Target};
use std::collections::BTreeMap;
use std::fmt::Display;

/// Where the data of a program lie: an address of which both halves are needed.
const DATA_ADDRESS: u64 = 0x1_2345_6000;

/// The most instructions that a case may take.
const INSTRUCTION_LIMIT: u64 = 2_000_000_000;

/// Compiles a case, and runs it in so many orders of waves.
pub(crate) fn run_case(case: &Case, module: Module, target: Target, orders: u64) -> Verdict {
    match try_run(case, module, target, orders) {
        Ok(passed) => Verdict::Passed(Box::new(passed)),
        Err(verdict) => verdict,
    }
}

fn try_run(case: &Case, module: Module, target: Target, orders: u64) -> Result<Passed, Verdict> {
    let compiled = compile_for(case, module, Robust::On, target)?;
    let program = Program::parse(&compiled.program).map_err(|error| failed(&error))?;
    let (before, places) = memory(case, &program)?;
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
    let code = Code::decode(program.code(), Gen::A6xx).map_err(|fault| failed(&fault))?;
    for seed in 1..=orders {
        let launch = Launch {
            order: Some(seed),
            ..Launch::of_program(&program, &state, INSTRUCTION_LIMIT)
        };
        let mut memory = before.clone();
        run(&code, &launch, &mut memory).map_err(|fault| failed(&fault))?;
        check(case, &memory, &places)?;
    }
    Ok(Passed {
        compiled,
        executed: None,
        fidelity: Fidelity::default(),
    })
}

/// Compares what a dispatch left with what it must.
fn check(case: &Case, memory: &Memory, places: &Places) -> Result<(), Verdict> {
    let after = |place: CasePlace| {
        let own = places.get(&(place.set, place.binding, place.element))?;
        let image = memory.images.get(own).map(|image| &image.bytes);
        memory.buffers.get(own).or(image).map(Vec::as_slice)
    };
    case.check(after).map_err(|difference| failed(&difference))
}

fn failed(error: &dyn Display) -> Verdict {
    Verdict::Failed(error.to_string())
}

/// Descriptors of a case by set, binding and element.
type Places = BTreeMap<(u32, u32, u32), Place>;

/// The image or the texels that a resource is; none if it is a buffer of other things.
fn image(resource: &Resource) -> Result<Option<Image>, Verdict> {
    let Some(given) = &resource.image else {
        return Ok(None);
    };
    let format = image_format::of_glsl(&given.format);
    let format = format.and_then(|format| TexelFormat::of_name(format.name));
    let format =
        format.ok_or_else(|| failed(&format!("format `{}` is not known", given.format)))?;
    let mut image = Image::new(format, [given.width, given.height, 1]);
    if image.bytes.len() != resource.before.len() {
        return Err(failed(&format!(
            "{} has {} bytes, its texels {}",
            resource.name,
            resource.before.len(),
            image.bytes.len()
        )));
    }
    image.bytes.clone_from(&resource.before);
    Ok(Some(image))
}

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
            let index = binding.descriptor + element * binding.kind.descriptors();
            let set = binding.set;
            let descriptor = Place::Bindless { set, index };
            match image(resource)? {
                Some(image) => {
                    memory.images.insert(descriptor, image);
                }
                None => {
                    memory.buffers.insert(descriptor, resource.before.clone());
                }
            }
            if resource.kind == ResourceKind::CombinedImageSampler {
                // As cases have them: nearest, clamped to the edge. It stands behind its image.
                let index = index + 1;
                let sampler = Place::Bindless { set, index };
                memory.samplers.insert(sampler, Sampler::default());
            }
            places.insert((place.set, place.binding, place.element), descriptor);
        }
    }
    memory
        .regions
        .insert(DATA_ADDRESS, program.data_bytes().to_vec());
    Ok((memory, places))
}
