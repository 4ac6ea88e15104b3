//! Spin locks among the lanes of a subgroup end: on the interpreter of the IR, and as machine code of Adreno.
use crate::support::spin_lock::{FORMS, buffers, check, dispatch, source};
use crate::support::{on_ir3, wgsl};
use eitri_shaderc::interp::interpret;
use eitri_shaderc::pass::Runner;
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, Robust, Target, compile, pipeline};

#[test]
fn the_lowered_function_ends() {
    for (form, body) in FORMS {
        let module = wgsl::compile(&source(body));
        let translated = translate(&module, &Options::default()).expect("it is translated");
        let mut function = translated.function;
        let mut runner = Runner::new(Target::default(), &[]);
        pipeline::lower(&mut function, Robust::Off, &mut runner);
        let mut after = buffers();
        interpret(&function, &dispatch(), &mut after)
            .unwrap_or_else(|trap| panic!("{form}: {trap}\n{function}"));
        check(&after).unwrap_or_else(|wrong| panic!("{form}: {wrong}\n{function}"));
    }
}

#[test]
fn machine_code_of_adreno_ends() {
    let options = Options {
        target: Target::ir3_named("a6xx").expect("it is one"),
        ..Options::default()
    };
    for (form, body) in FORMS {
        let module = wgsl::compile(&source(body));
        let compiled = compile(&module, &options).expect("it compiles");
        let mut after = buffers();
        on_ir3::run(&compiled.program, &dispatch(), &mut after)
            .and_then(|()| check(&after))
            .unwrap_or_else(|wrong| panic!("{form}: {wrong}\n{}", compiled.listing));
    }
}
