//! By how much values change from round to round of a loop, and what of them can be computed before it.

use std::cell::RefCell;

use rustc_hash::FxHashMap as HashMap;

use crate::ir::cfg::Cfg;
use crate::ir::loops::Loop;
use crate::ir::{Alu, BlockId, Builder, Function, Op, Terminator, Value, ValueDef};

/// Deepest expression that is looked through.
const DEPTH: u32 = 16;

/// By how much the values of a loop change from round to round.
pub(super) struct Steps<'f> {
    pub(super) function: &'f Function,
    cfg: &'f Cfg,
    places: &'f [Option<BlockId>],
    own: Loop<'f>,
    /// Of the header's phis that grow by a constant: the value in the first round, and the constant.
    counters: HashMap<Value, (Value, u32)>,
    /// What is known of values inside: an expression may read one value many times, at each of its levels.
    computed: RefCell<HashMap<Value, Searched<()>>>,
    steps: RefCell<HashMap<Value, Searched<u32>>>,
}

/// What a search has found that looks through so many levels of an expression: more levels can only find more.
struct Searched<T> {
    /// What was found, and by how many levels at least.
    found: Option<(u32, T)>,
    /// One more than the most levels by which nothing was found.
    vain: u32,
}

/// What a search of so many levels finds for a value, which is kept.
fn search<T: Copy>(
    known: &RefCell<HashMap<Value, Searched<T>>>,
    value: Value,
    levels: u32,
    search: impl FnOnce() -> Option<T>,
) -> Option<T> {
    let nothing = || Searched {
        found: None,
        vain: 0,
    };
    if let Some(known) = known.borrow().get(&value) {
        if levels < known.vain {
            return None;
        }
        if let Some((least, found)) = known.found
            && least <= levels
        {
            return Some(found);
        }
    }
    let found = search();
    let mut known = known.borrow_mut();
    let known = known.entry(value).or_insert_with(nothing);
    match found {
        Some(found) => known.found = Some((levels, found)),
        None => known.vain = levels + 1,
    }
    found
}

impl<'f> Steps<'f> {
    pub(super) fn new(
        function: &'f Function,
        cfg: &'f Cfg,
        places: &'f [Option<BlockId>],
        own: Loop<'f>,
        latch: BlockId,
    ) -> Steps<'f> {
        let mut counters = HashMap::default();
        for phi in &function.block(own.header()).phis {
            let source = |back: bool| {
                let mut sources = phi.sources.iter();
                sources.find(|(from, _)| (*from == latch) == back)
            };
            if let (Some((_, start)), Some((_, next))) = (source(false), source(true))
                && let Some(data) = function.def_inst(*next)
                && data.op == Op::Alu(Alu::IAdd)
                && data.args[0] == phi.result
                && let Some(step) = function.as_word(data.args[1])
            {
                counters.insert(phi.result, (*start, step));
            }
        }
        Steps {
            function,
            cfg,
            places,
            own,
            counters,
            computed: RefCell::default(),
            steps: RefCell::default(),
        }
    }

    pub(super) fn cfg(&self) -> &'f Cfg {
        self.cfg
    }

    /// The value of a counter in the first round, and what each round adds to it.
    pub(super) fn counter(&self, value: Value) -> Option<(Value, u32)> {
        self.counters.get(&value).copied()
    }

    /// Whether a value is defined outside of the loop.
    pub(super) fn is_outside(&self, value: Value) -> bool {
        let block = self.cfg.block_of(self.function, self.places, value);
        block.is_none_or(|block| !self.own.goes_round(block))
    }

    /// Whether a value can be computed before the loop begins.
    pub(super) fn is_invariant(&self, value: Value) -> bool {
        self.is_computed(value, DEPTH)
    }

    fn is_computed(&self, value: Value, depth: u32) -> bool {
        if self.is_outside(value) {
            return true;
        }
        let data = self.function.def_inst(value);
        data.is_some_and(|data| {
            let operand = |arg: &Value| self.is_computed(*arg, depth - 1);
            let all = || data.args.iter().all(operand).then_some(());
            depth > 0
                && is_repeatable(data.op)
                && search(&self.computed, value, depth, all).is_some()
        })
    }

    /// What each round adds to a word; none if that isn't a constant.
    pub(super) fn step(&self, value: Value) -> Option<u32> {
        self.step_of(value, DEPTH)
    }

    fn step_of(&self, value: Value, depth: u32) -> Option<u32> {
        if let Some((_, step)) = self.counter(value) {
            return Some(step);
        }
        if self.is_outside(value) {
            return Some(0);
        }
        let less = depth.checked_sub(1)?;
        let data = self.function.def_inst(value)?;
        let of = |index: usize| self.step_of(data.args[index], less);
        let constant = || self.function.as_word(data.args[1]);
        search(&self.steps, value, depth, || match data.op {
            Op::Alu(Alu::IAdd) => Some(of(0)?.wrapping_add(of(1)?)),
            Op::Alu(Alu::ISub) => Some(of(0)?.wrapping_sub(of(1)?)),
            Op::Alu(Alu::IShl) if constant().is_some() => Some(of(0)?.wrapping_shl(constant()?)),
            Op::Alu(Alu::IMul) if constant().is_some() => Some(of(0)?.wrapping_mul(constant()?)),
            _ => self.is_computed(value, less).then_some(0),
        })
    }
}

/// Whether an instruction gives the same wherever it is run, and may be run anywhere.
pub(super) fn is_repeatable(op: Op) -> bool {
    let effects = op.effects();
    effects.speculatable
        && !effects.reads
        && matches!(op, Op::Alu(_) | Op::Uniform(_) | Op::Load(_))
}

/// Copies of what a loop computes, but could be computed before it: they stand where the builder stands.
pub(super) struct Invariants<'f> {
    places: &'f [Option<BlockId>],
    inside: &'f [BlockId],
    copied: HashMap<Value, Value>,
}

impl<'f> Invariants<'f> {
    /// Of a loop with these blocks. `places` is of before anything was copied.
    pub(super) fn new(places: &'f [Option<BlockId>], inside: &'f [BlockId]) -> Invariants<'f> {
        Invariants {
            places,
            inside,
            copied: HashMap::default(),
        }
    }

    /// Whether the loop computes a value.
    fn is_inside(&self, function: &Function, value: Value) -> bool {
        let block = match function.def(value) {
            ValueDef::Word(_) | ValueDef::Bool(_) => None,
            ValueDef::Phi(block) => Some(block),
            // What was made since stands before the loop.
            ValueDef::Result(inst, _) => self.places.get(inst.index()).copied().flatten(),
        };
        block.is_some_and(|block| self.inside.contains(&block))
    }

    /// A value as it is in the first round, before the loop: a counter has the value that it begins with. The value must be
    /// made of those, of what is the same in all rounds, and of instructions that may be run anywhere.
    pub(super) fn copy(
        &mut self,
        builder: &mut Builder<'_>,
        value: Value,
        start: &impl Fn(Value) -> Option<Value>,
    ) -> Value {
        if let Some(copy) = self.copied.get(&value) {
            return *copy;
        }
        if let Some(start) = start(value) {
            return start;
        }
        let ValueDef::Result(inst, number) = builder.function.def(value) else {
            return value;
        };
        if !self.is_inside(builder.function, value) {
            return value;
        }
        let data = builder.function.inst(inst).clone();
        let args = data.args.iter();
        let args: Vec<Value> = args.map(|arg| self.copy(builder, *arg, start)).collect();
        let before = std::mem::replace(&mut builder.exact, data.exact);
        let copies = builder.inst(data.op, &args);
        builder.exact = before;
        self.copied
            .extend(data.results.iter().copied().zip(copies.iter().copied()));
        copies[usize::from(number)]
    }
}

/// Puts a new block between a loop and the only block that enters it. It ends in a jump to the header.
pub(super) fn enter_through(
    function: &mut Function,
    header: BlockId,
    entering: BlockId,
) -> BlockId {
    let block = function.new_block();
    let terminator = &mut function.block_mut(entering).terminator;
    terminator.map_targets(|target| if target == header { block } else { target });
    for phi in &mut function.block_mut(header).phis {
        for (from, _) in &mut phi.sources {
            if *from == entering {
                *from = block;
            }
        }
    }
    let position = function.block(header).position;
    let mut builder = Builder::new(function, block);
    builder.position = position;
    builder.terminate(Terminator::Jump(header));
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::cfg::inst_blocks;
    use crate::ir::loops::Loops;
    use crate::ir::parse::parse;

    /// More levels can only find more, and fewer no more.
    #[test]
    fn a_search_is_made_again_where_it_may_find_something_else() {
        let value = crate::ir::Value(0);
        let known = RefCell::default();
        let of = |levels: u32, found: Option<u32>| {
            let searched = std::cell::Cell::new(false);
            let result = search(&known, value, levels, || {
                searched.set(true);
                found
            });
            (result, searched.get())
        };
        assert_eq!(of(3, None), (None, true));
        assert_eq!(of(3, Some(7)), (None, false), "as many levels");
        assert_eq!(of(2, Some(7)), (None, false), "fewer");
        assert_eq!(of(4, None), (None, true), "one more");
        assert_eq!(of(6, Some(7)), (Some(7), true));
        assert_eq!(of(6, None), (Some(7), false), "as many levels");
        assert_eq!(of(9, None), (Some(7), false), "more");
        assert_eq!(of(5, Some(8)), (Some(8), true), "one fewer");
        assert_eq!(of(4, Some(9)), (None, false), "in vain before");
    }

    /// Three reads of one value at each of 15 levels are 14 million ways through the expression.
    #[test]
    fn what_an_expression_reads_again_and_again_is_looked_through_once() {
        // Each reads the one before, or what the first is given.
        let name = |name: &str, level: usize, first: &str| match level.checked_sub(1) {
            Some(before) => format!("%{name}{before}"),
            None => first.to_owned(),
        };
        let cube = |level: usize| {
            let read = name("y", level, "%x");
            format!("  %y{level} = ffma {read}, {read}, {read}\n")
        };
        let double = |level: usize| {
            let read = name("s", level, "%i");
            format!("  %s{level} = iadd {read}, {read}\n")
        };
        let cubes: String = (0..17).map(cube).collect();
        let doubled: String = (0..10).map(double).collect();
        let text = format!(
            "function main
workgroup 16 1 1
binding 0 0 storage written
b0:
  %x = load.buffer @0.0, 0
  jump b1
b1:
  %i = phi.w32 b0: 0, b2: %j
  %c = ult %i, %x
  branch %c, b2, b3
b2:
{cubes}{doubled}  store.buffer @0.0, 0, %y16
  store.buffer @0.0, 4, %s9
  %j = iadd %i, 3
  jump b1
b3:
  return
"
        );
        let function = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let cfg = Cfg::new(&function);
        let places = inst_blocks(&function);
        let loops = Loops::new(&function, &cfg);
        let own = loops.get(0);
        let (_, latch) = own.ends().expect("it is entered once");
        let steps = Steps::new(&function, &cfg, &places, own, latch);
        let results = |op: Alu| -> Vec<Value> {
            let insts = function.block(latch).insts.iter();
            let insts = insts.map(|inst| function.inst(*inst));
            let own = insts.filter(|data| data.op == Op::Alu(op));
            own.map(|data| data.results[0]).collect()
        };
        let cubes = results(Alu::FFma);
        // One level more than is looked through is not.
        assert!(steps.is_invariant(cubes[15]), "{function}");
        assert!(!steps.is_invariant(cubes[16]), "{function}");
        assert!(steps.is_invariant(cubes[0]), "{function}");
        assert_eq!(steps.step(results(Alu::IAdd)[9]), Some(3 << 10));
        assert_eq!(steps.step(cubes[14]), Some(0));
    }
}
