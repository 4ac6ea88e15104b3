//! Trace events of a pass.

use super::{Pass, Rectangle, STORE};
use eitri_model::{Event, Sink};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Addresses of instructions, each with the draw that was named last.
#[derive(Default)]
struct Executed {
    draw: u64,
    instructions: BTreeSet<(u64, u64)>,
}

#[derive(Clone, Default)]
struct Draws(Arc<Mutex<Executed>>);

impl Sink for Draws {
    fn event(&mut self, _: u64, event: Event) {
        let mut executed = self.0.lock().expect("nobody panics with it");
        match event {
            Event::Drawing { job } => executed.draw = job,
            Event::Shader { address, .. } => {
                let draw = executed.draw;
                executed.instructions.insert((address, draw));
            }
            _ => {}
        }
    }
}

#[test]
fn instructions_of_fragments_are_those_of_their_draw() {
    let [store, format] = STORE;
    let draw = |program| Rectangle {
        program,
        ..Rectangle::default()
    };
    let draws = Draws::default();
    let pass = Pass {
        uniforms: vec![store, format],
        draws: vec![
            draw("IADD_IMM.i32 r0, 0x0, #0x7\nOUTPUT"),
            draw("IADD_IMM.i32 r0, 0x0, #0x9\nOUTPUT"),
        ],
        ..Pass::default()
    };
    pass.run_with(|bench| bench.gpu.trace_to(Some(Box::new(draws.clone()))));
    let executed = draws.0.lock().expect("nobody panics with it");
    let instructions = &executed.instructions;
    let addresses: BTreeSet<u64> = instructions.iter().map(|(address, _)| *address).collect();
    let named: BTreeSet<u64> = instructions.iter().map(|(_, draw)| *draw).collect();
    assert_eq!(
        instructions.len(),
        addresses.len(),
        "each is one draw's: {instructions:x?}"
    );
    assert_eq!(
        named.len(),
        2,
        "each of the two draws is named: {instructions:x?}"
    );
}
