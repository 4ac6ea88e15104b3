//! Every operation of the IR, and random expressions of them: machine code on the model against the interpreter.

use crate::on_model;
use crate::operations::{Machine, check_all, check_expression};
use eitri_shaderc::{Options, compile_lowered};
use proptest::prelude::*;

const MODEL: Machine = Machine {
    run: |function, dispatch, buffers| {
        let compiled = compile_lowered(function, &Options::default());
        let compiled = compiled.map_err(|errors| errors.to_string())?;
        on_model::run(&compiled.program, dispatch, buffers)
            .map_err(|error| format!("{error}\n{}", compiled.listing))?;
        Ok(compiled.listing.to_string())
    },
    flushes: false,
};

#[test]
fn every_operation_gives_what_the_interpreter_gives() {
    let failures = check_all(MODEL, |_| true);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_expressions_give_what_the_interpreter_gives(
        choices in prop::collection::vec((any::<usize>(), any::<[usize; 4]>()), 1..40)
    ) {
        let checked = check_expression(MODEL, &choices);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}
