//! Perspective: inputs that are interpolated without regard to it are multiplied by 1/w.
//!
//! The machine interpolates with perspective alone; the vertex shader has multiplied by w (`window_position`).
//! Facts: hardware/graphics-compiler.md 2.4.
use crate::ir::rewrite::rewrite;
use crate::ir::{Alu, Function, Op, Value, Varying};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "perspective",
    what: "inputs without perspective are multiplied by 1/w",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let changed = rewrite(function, |b, data| {
        let Op::LoadVarying(varying) = data.op else {
            return None;
        };
        if !varying.noperspective {
            return None;
        }
        let load = Varying {
            noperspective: false,
            ..varying
        };
        let words = b.inst(Op::LoadVarying(load), &data.args);
        let factor = b.inst(Op::FragW(varying.sampling), &data.args)[0];
        let products = words.iter().map(|word| b.alu(Alu::FMul, &[*word, factor]));
        Some(products.collect::<Vec<Value>>())
    });
    Changed::from_bool(changed)
}
