//! Soak: a long mixture of jobs that a seed decides, each with its result compared.

use super::shader;
use crate::bench::Bench;
use crate::cases;
use crate::result::{Trouble, Unit, Verdict, failed};
use eitri_runtime::Platform;

/// Numbers that look random and are the same for the same seed (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

pub(crate) fn soak<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let (seed, rounds) = (it.setup.seed, it.setup.soak);
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let programs = it.programs;
    for round in 0..rounds {
        let verdict = match random.below(8) {
            0..=4 => {
                let class = random.below(programs.vectors.len());
                let class = programs.vectors.get(class).map_or("", |it| it.class);
                shader::class(it, class)
            }
            5 => super::queues::quick(it),
            6 => it.device.ping().map_err(Trouble::from),
            _ => match cases::ALL.get(random.below(cases::ALL.len())) {
                Some(case) => shader::case(it, case),
                None => Ok(()),
            },
        };
        match verdict {
            Ok(()) | Err(Trouble::Skipped(_)) => {}
            Err(Trouble::Failed(why)) => {
                return Err(failed!("round {round} of seed {seed}: {why}"));
            }
        }
    }
    it.measure("rounds", rounds.into(), Unit::Count);
    Ok(())
}
