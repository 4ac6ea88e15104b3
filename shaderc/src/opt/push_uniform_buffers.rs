//! Words of uniform buffers among the uniforms: what is read often at known places becomes uniform words, which are read in
//! passing.
//!
//! Needs: loads merged.  Guarantees: a word is what a load of it would give, as uniform buffers don't change while the
//! program runs.
//! Whoever dispatches the program has to put the words there, each time: that is worth it only where an invocation
//! saves several loads.  Facts: hardware/compiler-optimization.md 1.8.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::ir::cfg::Cfg;
use crate::ir::inst::Inst;
use crate::ir::rewrite::Replaced;
use crate::ir::uniform_load::UniformLoad;
use crate::ir::{BindingKind, Function, Op, PositionId, Uniform, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "push_uniform_buffers",
    what: "words of uniform buffers that are read often become uniform words",
    run,
};

/// Fewest loads of an invocation, by guess, that make it worth it.
const FEWEST_LOADS: u64 = 8;
/// Most words.
const MOST_WORDS: usize = 64;
/// Uniform words that are left to constants, addresses and lengths.
const LEFT: usize = 40;

/// What is loaded, and how often by guess.
struct Group {
    load: UniformLoad,
    times: u64,
    insts: Vec<Inst>,
}

fn run(function: &mut Function, target: &Target) -> Changed {
    let reach = target.limits.uniform_buffer_reach;
    let mut groups = find(function, reach);
    // Those first that save most for the room that they take.
    groups.sort_by_key(|group| std::cmp::Reverse(group.times / u64::from(group.load.words)));
    let mut room = room(function, target);
    let mut wanted: HashSet<Uniform> = HashSet::default();
    groups.retain(|group| {
        let new = || words(group.load).filter(|word| !wanted.contains(word));
        let count = new().count();
        let fits = count <= room;
        if fits {
            room -= count;
            wanted.extend(words(group.load));
        }
        fits
    });
    if groups.iter().map(|group| group.times).sum::<u64>() < FEWEST_LOADS {
        return Changed::No;
    }
    replace(function, &groups);
    Changed::Yes
}

/// The uniform words that a load gives.
fn words(load: UniformLoad) -> impl Iterator<Item = Uniform> {
    let offsets = (0..load.words).map(move |word| load.offset + 4 * word);
    offsets.map(move |offset| Uniform::BufferWord(load.binding, load.element, offset))
}

/// All loads that could be, within so many bytes of a buffer, those of the same words together.
fn find(function: &mut Function, reach: u32) -> Vec<Group> {
    let mut bindings = function.bindings.iter();
    if reach == 0 || !bindings.any(|binding| binding.kind == BindingKind::Uniform) {
        return Vec::new();
    }
    let cfg = Cfg::of(function);
    let mut numbers: HashMap<UniformLoad, usize> = HashMap::default();
    let mut groups: Vec<Group> = Vec::new();
    for (block, inst) in function.placed_insts() {
        let Some(load) = function.uniform_load(function.inst(inst)) else {
            continue;
        };
        if load.words == 0 || load.offset + 4 * load.words > reach {
            continue;
        }
        let number = *numbers.entry(load).or_insert_with(|| {
            groups.push(Group {
                load,
                times: 0,
                insts: Vec::new(),
            });
            groups.len() - 1
        });
        // Ten rounds for every loop around it.
        groups[number].times += 10_u64.pow(cfg.depth(block).min(6));
        groups[number].insts.push(inst);
    }
    groups
}

/// How many words may be taken.
fn room(function: &Function, target: &Target) -> usize {
    let taken = function.placed_insts();
    let taken = taken.filter(|(_, inst)| matches!(function.inst(*inst).op, Op::Uniform(_)));
    let all = target.limits.uniform_words as usize;
    all.saturating_sub(taken.count() + LEFT).min(MOST_WORDS)
}

/// Puts the words at the start of the program, for those that read what was loaded.
fn replace(function: &mut Function, groups: &[Group]) {
    let mut known: HashMap<Uniform, Value> = HashMap::default();
    let mut made = Vec::new();
    let mut replaced = Replaced::default();
    for group in groups {
        for (number, word) in words(group.load).enumerate() {
            let value = *known.entry(word).or_insert_with(|| {
                let inst = function.new_inst(Op::Uniform(word), vec![], false, PositionId::UNKNOWN);
                made.push(inst);
                function.inst(inst).results[0]
            });
            for &inst in &group.insts {
                replaced.insert(function.inst(inst).results[number], value);
            }
        }
    }
    let entry = function.layout[0];
    function.block_mut(entry).insts.splice(0..0, made);
    replaced.everywhere(function);
}
