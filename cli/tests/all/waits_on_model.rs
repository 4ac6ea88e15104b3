//! Programs of the corpus in which workgroups wait for one another end on the model, and leave what they should.
//!
//! Held are the clean ones: they end on any machine that runs fairly whatever has begun.

use crate::on_model;
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch};
use eitri_shaderc::{Options, compile};

/// A program: its name, how many groups it is run with, the words of its buffers by binding, and which words must then
/// stand in which of them.
struct Case {
    name: &'static str,
    groups: u32,
    before: Vec<Vec<u32>>,
    binding: u32,
    after: Vec<u32>,
}

fn cases() -> [Case; 6] {
    [
        Case {
            name: "flag_plain_flag_ok",
            groups: 2,
            before: vec![vec![0; 2], vec![0]],
            binding: 1,
            after: vec![42],
        },
        Case {
            name: "flag_data_before_wait_ok",
            groups: 2,
            before: vec![vec![0], vec![0], vec![0]],
            binding: 2,
            after: vec![42],
        },
        Case {
            name: "flag_lookback_two_words_ok",
            groups: 8,
            before: vec![(0..8).collect(), vec![0; 8], vec![0; 8], vec![0; 8]],
            binding: 3,
            // Each group leaves twice what the one before it was given.
            after: vec![0, 0, 2, 4, 6, 8, 10, 12],
        },
        Case {
            name: "dead_lock_not_given_back_ok",
            groups: 8,
            before: vec![vec![0; 2]],
            binding: 0,
            after: vec![0, 9],
        },
        Case {
            name: "dead_wait_for_later_group_ok",
            groups: 64,
            before: vec![vec![0], vec![0; 64], vec![0; 64]],
            binding: 2,
            after: (0..64).collect(),
        },
        Case {
            name: "dead_lock_per_subgroup_ok",
            groups: 1,
            before: vec![vec![0; 2]],
            binding: 0,
            after: vec![0, 0x7e0],
        },
    ]
}

impl Case {
    fn run(&self, module: &[u8]) -> Result<(), String> {
        let compiled = compile(module, &Options::default()).map_err(|error| error.to_string())?;
        let bytes = |words: &Vec<u32>| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let buffers = (0..).zip(&self.before);
        let mut buffers: Buffers = buffers
            .map(|(binding, words)| {
                let bytes = bytes(words);
                ((0, binding, 0), Buffer { bytes })
            })
            .collect();
        let dispatch = Dispatch {
            groups: [self.groups, 1, 1],
            push_constants: vec![],
            step_limit: 1 << 20,
        };
        on_model::run(&compiled.program, &dispatch, &mut buffers)?;
        let left = &buffers[&(0, self.binding, 0)].bytes;
        let expected: Vec<u8> = bytes(&self.after);
        match *left == expected {
            true => Ok(()),
            false => Err(format!("left {left:?}, expected {expected:?}")),
        }
    }
}

#[test]
fn workgroups_wait_for_one_another() {
    let Some(corpus) = eitri_testdata::shared("corpus/broken") else {
        return;
    };
    for case in cases() {
        let path = corpus.join(format!("{}.spv", case.name));
        let module = std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        if let Err(wrong) = case.run(&module) {
            panic!("{}: {wrong}", case.name);
        }
    }
}
