//! Products of counters: a multiple of a counter that only constants are added to is kept beside it, not computed anew.
//!
//! Needs: after `reduce_strength`, which keeps whole offsets; `distribute_shifts` has run.  Guarantees: the same words,
//! modulo 2^32.  How: a *web* is the phis that a counter goes through in a nest of loops, and the sums of them and constants.
//! Unlike a counter of `reduce_strength` it may grow, shrink or stay, in an inner loop or behind branches. Each of its values
//! gets another beside it, which is the multiple. That is done where no more instructions are added than go.
//! Facts: hardware/compiler-optimization.md 3: a shift or a product takes as long as four sums.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::ir::cfg::{Cfg, inst_blocks};
use crate::ir::range::Tested;
use crate::ir::rewrite::Replaced;
use crate::ir::{Alu, BlockId, Builder, Function, Inst, Op, Type, Value, ValueDef};
use crate::opt::shifted_offsets::takes_shift;
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "keep_products",
    what: "multiples of a counter that grows by constants are kept beside it",
    run,
};

/// Most products that are kept: each takes a register.
const MOST: usize = 4;
/// What a shift or a product costs, in sums.
const PRODUCT: u64 = 4;
/// Most values of a web.
const MOST_VALUES: usize = 24;
/// A round of a loop counts as so many of what is around it.
const ROUNDS: u64 = 8;
/// Deepest nest of loops that counts.
const DEEPEST: u32 = 6;
/// What is added to a counter at most in a step: one that strides over what others do in the meantime makes few rounds, and
/// what is computed before them costs as much as a round.
const LONGEST_STRIDE: u32 = 8;

/// A multiple of a value in a loop.
struct Product {
    inst: Inst,
    counter: Value,
    factor: u32,
    block: BlockId,
}

/// The values that a counter goes through.
#[derive(Default)]
struct Web {
    phis: Vec<(BlockId, Value)>,
    /// Sums of a value of the web and a constant.
    sums: Vec<(BlockId, Value)>,
    /// What it begins with, and the block that hands it on.
    starts: Vec<(BlockId, Value)>,
    members: HashSet<Value>,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::of(function);
    if cfg.loops.is_empty() {
        return Changed::No;
    }
    let places = inst_blocks(function);
    let products = products(function, &cfg);
    let mut taken = vec![false; products.len()];
    let mut replaced = Replaced::default();
    let mut kept = 0;
    for (number, product) in products.iter().enumerate() {
        if taken[number] || kept == MOST {
            continue;
        }
        let Some(web) = Web::find(function, &cfg, &places, product) else {
            continue;
        };
        let is_own = |other: &Product| {
            other.factor == product.factor && web.members.contains(&other.counter)
        };
        let own = (number..products.len())
            .filter(|other| !taken[*other] && is_own(&products[*other]))
            .collect::<Vec<usize>>();
        let gone: u64 = own
            .iter()
            .map(|other| weight(&cfg, products[*other].block))
            .sum();
        if !web.is_worth(function, &cfg, gone) {
            continue;
        }
        let multiples = web.keep(function, product.factor);
        for other in own {
            taken[other] = true;
            let result = function.inst(products[other].inst).results[0];
            if let Some(multiple) = multiples.get(&products[other].counter) {
                replaced.insert(result, *multiple);
            }
        }
        kept += 1;
    }
    if kept == 0 {
        return Changed::No;
    }
    replaced.everywhere(function);
    Changed::Yes
}

/// How often a block runs, as far as loops tell. What does not run in each round counts half.
fn weight(cfg: &Cfg, block: BlockId) -> u64 {
    let latches = cfg.innermost_loop(block);
    let latches = latches.map_or(&[][..], |number| cfg.loops[number].latches.as_slice());
    let always = latches.iter().all(|latch| cfg.dominates(block, *latch));
    let rounds = ROUNDS.pow(cfg.depth(block).min(DEEPEST));
    match always {
        true => 2 * rounds,
        false => rounds,
    }
}

/// The words in loops that are multiples of others by a constant, and cost an instruction.
fn products(function: &Function, cfg: &Cfg) -> Vec<Product> {
    let is_read = read_alone(function, cfg);
    let all = function.placed_insts().filter_map(|(block, inst)| {
        let data = function.inst(inst);
        let constant = function.as_word(*data.args.get(1)?)?;
        let factor = match data.op {
            Op::Alu(Alu::IShl) => 1_u32.checked_shl(constant)?,
            Op::Alu(Alu::IMul) => constant,
            _ => return None,
        };
        let result = data.results[0];
        let in_loop = cfg.innermost_loop(block).is_some();
        let word = function.ty(result) == Type::W32;
        (in_loop && word && is_read.contains(&result)).then_some(Product {
            inst,
            counter: data.args[0],
            factor,
            block,
        })
    });
    all.collect()
}

/// The values that an instruction reads which cannot shift them itself, as bitwise logic and addresses can.
fn read_alone(function: &Function, cfg: &Cfg) -> HashSet<Value> {
    let mut read = HashSet::default();
    for block in &function.layout {
        let data = function.block(*block);
        let mut tested = None;
        for inst in data.insts.iter().map(|inst| function.inst(*inst)) {
            let address = inst.op.access();
            let address = address.map(|access| inst.args[access.address_operands() - 1]);
            let logic = matches!(inst.op, Op::Alu(Alu::IAnd | Alu::IOr | Alu::IXor));
            for arg in inst.args.iter().filter(|_| !logic) {
                let is_shift = || {
                    let data = function.def_inst(*arg);
                    data.is_some_and(|data| data.op == Op::Alu(Alu::IShl))
                };
                let is_shifted = address == Some(*arg) && is_shift() && {
                    let tested = tested.get_or_insert_with(|| Tested::at(function, cfg, *block));
                    takes_shift(function, tested, inst, *arg)
                };
                if !is_shifted {
                    read.insert(*arg);
                }
            }
        }
        read.extend(
            data.phis
                .iter()
                .flat_map(|phi| &phi.sources)
                .map(|(_, v)| *v),
        );
    }
    read
}

/// A sum of a value and a constant.
fn sum(function: &Function, value: Value) -> Option<(Value, u32)> {
    let data = function.def_inst(value)?;
    let constant = function.as_word(*data.args.get(1)?)?;
    (data.op == Op::Alu(Alu::IAdd)).then_some((data.args[0], constant))
}

impl Web {
    /// The web of a product's counter, in the outermost loop around the product; none if there is none, or it is too large.
    fn find(
        function: &Function,
        cfg: &Cfg,
        places: &[Option<BlockId>],
        product: &Product,
    ) -> Option<Web> {
        let mut nest = cfg.innermost_loop(product.block)?;
        while let Some(parent) = cfg.loops[nest].parent {
            nest = parent;
        }
        let mut web = Web::default();
        let mut open = vec![];
        if !web.visit(function, cfg, places, nest, product.counter, &mut open) {
            return None;
        }
        while let Some((block, value)) = open.pop() {
            let phi = function.block(block).phis.iter();
            let phi = phi.filter(|phi| phi.result == value);
            for (from, source) in phi.flat_map(|phi| &phi.sources) {
                let is_member = web.visit(function, cfg, places, nest, *source, &mut open);
                if !is_member {
                    web.starts.push((*from, *source));
                }
            }
            if web.members.len() > MOST_VALUES {
                return None;
            }
        }
        Some(web)
    }

    /// Adds a value, if it is a phi of the nest of loops, or such a one plus constants. Returns whether it is.
    fn visit(
        &mut self,
        function: &Function,
        cfg: &Cfg,
        places: &[Option<BlockId>],
        nest: usize,
        value: Value,
        open: &mut Vec<(BlockId, Value)>,
    ) -> bool {
        let mut sums = vec![];
        let mut root = value;
        while let Some((part, constant)) = sum(function, root)
            && constant.cast_signed().unsigned_abs() <= LONGEST_STRIDE
            && sums.len() <= MOST_VALUES
        {
            if let Some(block) = cfg.block_of(function, places, root) {
                sums.push((block, root));
            }
            root = part;
        }
        let ValueDef::Phi(block) = function.def(root) else {
            return false;
        };
        if !cfg.in_loop(block, nest) {
            return false;
        }
        if self.members.insert(root) {
            self.phis.push((block, root));
            open.push((block, root));
        }
        // What a sum is made of comes before it.
        for (block, sum) in sums.into_iter().rev() {
            if self.members.insert(sum) {
                self.sums.push((block, sum));
            }
        }
        true
    }

    /// Whether keeping a multiple costs less than the products that go: so many times they are computed.
    fn is_worth(&self, function: &Function, cfg: &Cfg, gone: u64) -> bool {
        let starts = self.starts.iter();
        let computed = starts.filter(|(_, value)| function.as_word(*value).is_none());
        let products: u64 = computed.map(|(block, _)| weight(cfg, *block)).sum();
        let sums: u64 = self.sums.iter().map(|(block, _)| weight(cfg, *block)).sum();
        sums <= gone && sums + PRODUCT * products < PRODUCT * gone
    }

    /// Puts the multiple of each value beside it. Returns them.
    fn keep(&self, function: &mut Function, factor: u32) -> HashMap<Value, Value> {
        let mut multiples = HashMap::default();
        for (block, phi) in &self.phis {
            multiples.insert(*phi, function.new_phi(*block, Type::W32));
        }
        for (block, value) in &self.sums {
            let ValueDef::Result(inst, _) = function.def(*value) else {
                continue;
            };
            let Some((part, constant)) = sum(function, *value) else {
                continue;
            };
            let step = function.word(constant.wrapping_mul(factor));
            let position = function.inst(inst).position;
            let args = [multiples[&part], step];
            let own = function.new_inst(Op::Alu(Alu::IAdd), args.as_slice(), false, position);
            multiples.insert(*value, function.inst(own).results[0]);
            let insts = &mut function.block_mut(*block).insts;
            let place = insts.iter().position(|other| *other == inst);
            insts.insert(place.map_or(insts.len(), |place| place + 1), own);
        }
        for (block, value) in &self.phis {
            let phis = &function.block(*block).phis;
            let old = phis.iter().find(|phi| phi.result == *value);
            let sources = old.map(|phi| phi.sources.clone()).unwrap_or_default();
            let sources = sources.into_iter().map(|(from, source)| {
                let multiple = match (multiples.get(&source), function.as_word(source)) {
                    (Some(multiple), _) => *multiple,
                    (None, Some(word)) => function.word(word.wrapping_mul(factor)),
                    (None, None) => {
                        Builder::new(function, from).alu_word(Alu::IMul, source, factor)
                    }
                };
                (from, multiple)
            });
            let sources = sources.collect();
            let own = multiples[value];
            let mut phis = function.block_mut(*block).phis.iter_mut();
            if let Some(phi) = phis.find(|phi| phi.result == own) {
                phi.sources = sources;
            }
        }
        multiples
    }
}
