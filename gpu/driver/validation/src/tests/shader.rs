//! The shader cores: every class of instructions on every core, in every lane, against expected words.
//!
//! Facts: data/isa-semantics-vectors.json for the ALU; `cases` says where the rest comes from.

use crate::bench::{Bench, Grid};
use crate::cases::Case;
use crate::programs::{LANES, RegisterProgram};
use crate::result::{Verdict, failed, skipped};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use eitri_runtime::Platform;

/// What a word is before anything is stored there.
const UNTOUCHED: u32 = 0x5A5A_A5A5;

/// What differed on the cores: the first difference of each core, as few words as name it.
#[derive(Default)]
struct Differences {
    text: String,
    wrong: usize,
    cores: u32,
}

impl Differences {
    /// One core's results: how many words are wrong, and the first of them in words.
    fn note(&mut self, core: u8, wrong: usize, first: &str) {
        self.cores += 1;
        self.wrong += wrong;
        if self.cores <= 2 {
            self.text += &format!(" core {core}: {wrong} wrong, first {first}.");
        }
    }

    fn verdict(self) -> Verdict {
        match self.cores {
            0 => Ok(()),
            1 | 2 => Err(failed!("{}", self.text.trim_start())),
            cores => Err(failed!(
                "{} and more on {cores} cores",
                self.text.trim_start()
            )),
        }
    }
}

/// Runs `program` on each core and lets `look` compare what it wrote.
fn on_every_core<'d, P: Platform>(
    it: &mut Bench<'_, '_, 'd, P>,
    program: &'d [u8],
    words: &[u32],
    grid: Grid<'_>,
    look: impl Fn(u8, &[u32]) -> Option<(usize, String)>,
) -> Verdict {
    let mut differences = Differences::default();
    for (core, found) in it.run_on_each_core(program, words, grid)? {
        let differs = match found {
            Ok(found) => look(core, &found),
            Err(why) => Some((words.len(), why)),
        };
        if let Some((wrong, first)) = differs {
            differences.note(core, wrong, &first);
        }
    }
    differences.verdict()
}

/// The vectors of one class.
pub(crate) fn class<P: Platform>(it: &mut Bench<'_, '_, '_, P>, class: &str) -> Verdict {
    let programs = it.programs;
    let Some(program) = programs.class(class) else {
        return Err(skipped!("{} has no vectors of it", programs.arch));
    };
    let words = vec![UNTOUCHED; program.words()];
    let grid = Grid {
        groups: 1,
        push: &[],
    };
    let results = || {
        let vectors = program.vectors.iter();
        vectors.flat_map(|vector| vector.outputs().iter().map(move |output| (vector, output)))
    };
    on_every_core(it, &program.bytes, &words, grid, |_, found| {
        let (mut wrong, mut first) = (0, None);
        for ((vector, (value, slack)), lanes) in results().zip(found.chunks_exact(LANES)) {
            for (lane, word) in lanes.iter().enumerate() {
                if slack.allows(*word, value.bits) {
                    continue;
                }
                wrong += 1;
                first.get_or_insert_with(|| {
                    format!(
                        "{} ({:016x}) lane {lane}: r{} = {word:#010x}, expected {:#010x}",
                        vector.id, vector.word, value.register, value.bits
                    )
                });
            }
        }
        first.map(|first| (wrong, first))
    })
}

/// A case.
pub(crate) fn case<P: Platform>(it: &mut Bench<'_, '_, '_, P>, case: &Case) -> Verdict {
    let program = it.program(case.name)?;
    let words: Vec<u32> = (0..case.all_threads()).map(case.before).collect();
    let grid = Grid {
        groups: case.groups,
        push: &case.push,
    };
    on_every_core(it, program, &words, grid, |core, found| {
        let wanted = |n: u32| (case.after)(n, core.into());
        let wrong = (0..).zip(found).filter(|(n, word)| **word != wanted(*n));
        let count = wrong.clone().count();
        let first = wrong.into_iter().next();
        first.map(|(n, word)| {
            let wanted = wanted(n);
            let about = case.about;
            (
                count,
                format!("thread {n} has {word:#010x}, expected {wanted:#010x} ({about})"),
            )
        })
    })
}

/// The register file: each bit of each register of each lane, once 0 and once 1.
pub(crate) fn registers<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let programs = it.programs;
    for program in &programs.registers {
        let words = vec![UNTOUCHED; program.words()];
        let grid = Grid {
            groups: 1,
            push: &[],
        };
        on_every_core(it, &program.bytes, &words, grid, |_, found| {
            let places = (0..2).flat_map(|pass| program.registers.clone().map(move |r| (pass, r)));
            let mut wrong = 0;
            let mut first = None;
            for ((pass, register), lanes) in places.zip(found.chunks_exact(LANES)) {
                let wanted = RegisterProgram::pattern(register, pass);
                for (lane, word) in lanes
                    .iter()
                    .enumerate()
                    .filter(|(_, word)| **word != wanted)
                {
                    wrong += 1;
                    first.get_or_insert_with(|| {
                        let bits = word ^ wanted;
                        format!("r{register} lane {lane} holds {word:#010x} instead of {wanted:#010x}: bits {bits:#x}")
                    });
                }
            }
            first.map(|first| (wrong, first))
        })?;
    }
    Ok(())
}
