//! Spin locks among the lanes of a subgroup end on the model.

use crate::spin_lock::{FORMS, buffers, check, dispatch, source};
use crate::{on_model, wgsl};
use eitri_shaderc::{Options, compile};

#[test]
fn lanes_take_a_lock_from_one_another() {
    for (form, body) in FORMS {
        let module = wgsl::compile(&source(body));
        let compiled = compile(&module, &Options::default()).expect("it compiles");
        let mut after = buffers();
        on_model::run(&compiled.program, &dispatch(), &mut after)
            .and_then(|()| check(&after))
            .unwrap_or_else(|wrong| panic!("{form}: {wrong}\n{}", compiled.listing));
    }
}
