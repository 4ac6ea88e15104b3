//! Subgroup operations as machine code on the model and on the interpreter, among lanes that have parted.

use eitri_shaderc::interp::{Dispatch, interpret};
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, compile};

use crate::subgroups::{buffers, check, source};
use crate::{on_model, wgsl};

const LANES: usize = 16;

#[test]
fn lanes_that_are_together_compute_together() {
    let module = wgsl::compile(&source(LANES));
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 1 << 20,
    };

    let mut after = buffers();
    let function = translate(&module, &Options::default())
        .expect("it is translated")
        .function;
    interpret(&function, &dispatch, &mut after).expect("it runs");
    check("the interpreter", LANES, &after);

    let mut after = buffers();
    let compiled = compile(&module, &Options::default()).expect("it compiles");
    if let Err(error) = on_model::run(&compiled.program, &dispatch, &mut after) {
        panic!("{error}\n{}", compiled.listing);
    }
    check("the model", LANES, &after);
}
