//! Captures with damaged words: whatever descriptors, programs and vertices hold, the model reports a fault or draws something, and
//! never panics or runs for ever.

use super::capture::{Capture, Job};
use super::player::Player;

/// Pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// Words of a job's objects, changed: a bit, all of them, or none of them.
fn damage(job: &Job, numbers: &mut Numbers) -> Vec<(u64, u32)> {
    let objects: Vec<_> = job.objects.iter().filter(|it| it.address != 0).collect();
    let count = 1 + numbers.below(4);
    let mut changed = Vec::new();
    for _ in 0..count {
        let object = objects[numbers.below(objects.len())];
        let at = numbers.below(object.words.len());
        let word = match numbers.below(4) {
            0 => 0,
            1 => u32::MAX,
            2 => numbers.next() as u32,
            _ => object.words[at] ^ 1 << numbers.below(32),
        };
        changed.push((object.address + 4 * at as u64, word));
    }
    changed
}

/// Plays a case again and again, each time with another job damaged.
fn play_damaged(case: &str) {
    let Some(capture) = Capture::read(case) else {
        return;
    };
    let rounds = if eitri_testdata::long() { 2000 } else { 40 };
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for _ in 0..rounds {
        let mut player = Player::new(&capture);
        let damaged = numbers.below(capture.jobs.len());
        for (number, job) in capture.jobs.iter().enumerate() {
            if number == damaged {
                let damage = damage(job, &mut numbers);
                player.start_damaged(&capture, job, &damage);
            } else {
                player.start(&capture, job);
            }
            player.bench.wait(300);
            if player.bench.gpu.diagnoses().len() > 1000 {
                break;
            }
        }
    }
}

#[test]
fn damaged_draws_never_panic() {
    play_damaged("triangle-noafbc");
}

#[test]
fn damaged_merged_draws_never_panic() {
    play_damaged("triangle-g720");
}

#[test]
fn damaged_blend_shaders_never_panic() {
    play_damaged("logicop");
}

#[test]
fn damaged_textured_draws_never_panic() {
    play_damaged("texdepth");
}
