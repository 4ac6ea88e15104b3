//! Gives a board's GPU power in a wrong way: what is around it in QEMU must tell.
//!
//! The command line says which: `order` does what changes something in the opposite order, `value` writes the first value that is
//! written with a bit more, and anything else does as the board says. Steps that fail end the sequence, as on a board.
//! Never for a board on a desk: a wrong order may hang it.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec::Vec;
use eitri_boards::Exit;
use eitri_boards::steps::{Action, Bits, Step};
use eitri_kernel::{Kernel, power, println};

eitri_kernel::image! {
    main: main,
}

fn main(kernel: Kernel) -> Exit {
    let mut buffer = [0; 256];
    let line = kernel.command_line(&mut buffer);
    let steps = kernel.board.gpu.power_on;
    let steps = match line.split_ascii_whitespace().next() {
        Some("order") => reversed(steps),
        Some("value") => altered(steps),
        _ => steps.to_vec(),
    };
    // SAFETY: the registers are those of the board's own steps. In QEMU, which this is for, nothing is behind them that could come to
    // harm.
    match unsafe { power::carry_out(kernel.board, &steps) } {
        Ok(()) => println!("the GPU has power"),
        Err(error) => println!("no power for the GPU: {error}"),
    }
    Exit::Success
}

/// Whether a step changes something.
fn changes(step: &Step) -> bool {
    matches!(
        step,
        Step::Write { .. }
            | Step::Modify { .. }
            | Step::Smc { .. }
            | Step::Scmi(_)
            | Step::Mailbox(_)
            | Step::Choose { .. }
    )
}

/// What changes something in the opposite order, without what would wait or look in between.
fn reversed(steps: &[Action]) -> Vec<Action> {
    let changing = steps.iter().filter(|action| changes(&action.step));
    changing.rev().copied().collect()
}

/// The steps, of which the first that can have another value has one.
fn altered(steps: &[Action]) -> Vec<Action> {
    let mut steps = steps.to_vec();
    for action in &mut steps {
        match &mut action.step {
            Step::Write { value, .. } => {
                *value ^= 1;
                break;
            }
            Step::Modify { bits, .. } => {
                let more = 1 << 15;
                *bits = Bits {
                    mask: bits.mask | more,
                    value: bits.value | more,
                };
                break;
            }
            Step::Choose { so, otherwise, .. } => {
                *so = altered(so).leak();
                *otherwise = altered(otherwise).leak();
                break;
            }
            _ => {}
        }
    }
    steps
}
