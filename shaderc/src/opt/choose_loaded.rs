//! Chosen places: of two places that were both loaded, the word of the chosen one is not loaded again.
//!
//! A heap compares two children and goes on with the larger one: `words[c ? a : b]` behind loads of `words[a]` and `words[b]` is a
//! select of what they gave. Where control comes from several blocks, those without the two words make the load themselves, so no
//! way through the function loads more than it did.
//!
//! Needs: short branches flattened, which makes the selects; `forward_stores`, so that one load of a place stands for all behind it.
//! Guarantees: nothing between the loads may write.
//! Facts: hardware/compiler-ir.md 4.12.
use super::known_edges::known_on_edge;
use super::linear::{Form, Term, build};
use crate::ir::cfg::{Cfg, inst_blocks};
use crate::ir::layout::order_blocks;
use crate::ir::rewrite::Replaced;
use crate::ir::{Access, Alu, BlockId, Builder, Function, Held, Inst, Op, Terminator, Type, Value};
use crate::lower::switches::retarget;
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "choose_loaded",
    what: "of two places that were both loaded, the chosen one is not loaded again",
    run,
};

/// How many blocks back loads are looked for.
const MOST_BLOCKS: usize = 4;
/// How many instructions back: so that the time grows with the function, however long its blocks are.
const MOST_INSTS: usize = 128;

/// Where a word lies: what the address counts from, the sum of the offset and the largest offset, if there is one.
#[derive(Clone, PartialEq)]
struct Place {
    access: Access,
    resource: Vec<Value>,
    terms: Vec<Term>,
    most: Option<u32>,
}

impl Place {
    /// What it is made of.
    fn values(&self) -> impl Iterator<Item = Value> {
        let terms = self.terms.iter();
        let values = terms.flat_map(|term| term.value.iter().chain(&term.uniforms));
        values.chain(&self.resource).copied()
    }
}

/// A load from a place that a select chooses.
struct Chosen {
    condition: Value,
    /// The places if the condition is true, and if it is false.
    places: [Place; 2],
}

/// What takes the place of a load where control comes from a block.
enum Source {
    /// One of two words.
    Select(Value, [Value; 2]),
    /// A load at the end of the block, or on the way from it.
    Load(Place),
}

/// A load that goes.
enum Plan {
    /// A condition chooses between what was loaded before.
    Select(Value, [Value; 2]),
    /// The block that control comes from does.
    Phi(Vec<(BlockId, Source)>),
}

fn run(function: &mut Function, _: &Target) -> Changed {
    if !has_select(function) {
        return Changed::No;
    }
    let cfg = Cfg::of(function);
    let places = inst_blocks(function);
    let mut replaced = Replaced::default();
    for block in cfg.rpo() {
        // One of a block: it may split the edges that lead there.
        let mut insts = function.block(*block).insts.iter().enumerate();
        let plan =
            insts.find_map(|(at, inst)| Some((*inst, plan(function, &cfg, &places, *block, at)?)));
        if let Some((load, plan)) = plan {
            let word = apply(function, *block, load, plan);
            replaced.insert(function.inst(load).results[0], word);
        }
    }
    if replaced.is_empty() {
        return Changed::No;
    }
    replaced.everywhere(function);
    order_blocks(function);
    Changed::Yes
}

fn has_select(function: &Function) -> bool {
    let mut insts = function.placed_insts();
    insts.any(|(_, inst)| function.inst(inst).op == Op::Alu(Alu::Select))
}

fn plan(
    function: &Function,
    cfg: &Cfg,
    places: &[Option<BlockId>],
    block: BlockId,
    at: usize,
) -> Option<Plan> {
    let chosen = chosen(function, function.block(block).insts[at])?;
    let before = &function.block(block).insts[..at];
    let both = |condition: Value, from: BlockId, insts: &[Inst]| {
        let [yes, no] = &chosen.places;
        let yes = loaded(function, cfg, from, insts, yes)?;
        Some((condition, [yes, loaded(function, cfg, from, insts, no)?]))
    };
    if let Some((condition, words)) = both(chosen.condition, block, before) {
        return Some(Plan::Select(condition, words));
    }
    let mut phis = function.block(block).phis.iter();
    let phi = phis.find(|phi| phi.result == chosen.condition)?;
    let own = cfg.innermost_loop(block);
    let is_header = own.is_some_and(|own| cfg.loops[own].header == block);
    if is_header || before.iter().any(|inst| ends_knowledge(function, *inst)) {
        return None;
    }
    let sources = phi.sources.iter().map(|(from, condition)| {
        let insts = &function.block(*from).insts;
        if let Some((condition, words)) = both(*condition, *from, insts) {
            return Some((*from, Source::Select(condition, words)));
        }
        let way = known_on_edge(function, cfg, *condition, (*from, block))?;
        let place = &chosen.places[usize::from(!way)];
        let is_known = |value: Value| {
            let own = cfg.block_of(function, places, value);
            own.is_none_or(|own| cfg.dominates(own, *from))
        };
        let is_known = place.values().all(is_known);
        is_known.then(|| (*from, Source::Load(place.clone())))
    });
    let sources: Vec<(BlockId, Source)> = sources.collect::<Option<_>>()?;
    let mut kinds = sources.iter();
    kinds
        .any(|(_, source)| matches!(source, Source::Select(..)))
        .then_some(Plan::Phi(sources))
}

/// The places of a load that a select chooses from.
fn chosen(function: &Function, inst: Inst) -> Option<Chosen> {
    let place = place(function, inst)?;
    let select = |term: &Term| {
        let data = function.def_inst(term.value?)?;
        (data.op == Op::Alu(Alu::Select)).then(|| data.args.clone())
    };
    let mut terms = place.terms.iter().enumerate();
    let (number, args) = terms.find_map(|(number, term)| Some((number, select(term)?)))?;
    let with = |part: Value| {
        let mut terms = place.terms.clone();
        let by = terms.remove(number);
        let terms = Form::with(function, terms, part, &by)?.terms;
        Some(Place {
            terms,
            ..place.clone()
        })
    };
    Some(Chosen {
        condition: args[0],
        places: [with(args[1])?, with(args[2])?],
    })
}

/// Where a load of a single word finds it; none of others.
fn place(function: &Function, inst: Inst) -> Option<Place> {
    let data = function.inst(inst);
    let Op::Load(access) = data.op else {
        return None;
    };
    let is_word = access.elem == Type::W32 && access.count == 1 && access.held == Held::Own;
    let (offset, resource) = data.args.split_last()?;
    if !is_word || access.memory.is_volatile() || function.ty(*offset) != Type::W32 {
        return None;
    }
    let bounded = function.def_inst(*offset).and_then(|data| {
        let most = function.as_word(*data.args.get(1)?)?;
        (data.op == Op::Alu(Alu::UMin)).then_some((data.args[0], most))
    });
    let (sum, most) = bounded.map_or((*offset, None), |(sum, most)| (sum, Some(most)));
    Some(Place {
        access: Access {
            align: access.align.min(4),
            ..access
        },
        resource: resource.to_vec(),
        terms: Form::of(function, sum)?.terms,
        most,
    })
}

/// What was loaded from a place before the end of some instructions of a block, if it is still there.
fn loaded<'f>(
    function: &'f Function,
    cfg: &Cfg,
    mut block: BlockId,
    mut insts: &'f [Inst],
    wanted: &Place,
) -> Option<Value> {
    let mut left = MOST_INSTS;
    for _ in 0..MOST_BLOCKS {
        for inst in insts.iter().rev() {
            if left == 0 || ends_knowledge(function, *inst) {
                return None;
            }
            left -= 1;
            if place(function, *inst).as_ref() == Some(wanted) {
                return function.inst(*inst).results.first().copied();
            }
        }
        let [from] = cfg.predecessors(block) else {
            return None;
        };
        block = *from;
        insts = &function.block(block).insts;
    }
    None
}

/// Whether an instruction may write, or orders what others write.
fn ends_knowledge(function: &Function, inst: Inst) -> bool {
    let effects = function.inst(inst).op.effects();
    effects.writes || effects.ordered || !effects.orders.is_empty()
}

/// Puts what takes the place of a load where it belongs; gives its word.
fn apply(function: &mut Function, block: BlockId, load: Inst, plan: Plan) -> Value {
    let position = function.inst(load).position;
    let insts = &mut function.block_mut(block).insts;
    let at = insts.iter().position(|inst| *inst == load).unwrap_or(0);
    match plan {
        Plan::Select(condition, [yes, no]) => {
            let behind = insts.split_off(at);
            let mut builder = Builder::new(function, block);
            builder.position = position;
            let word = builder.select(condition, yes, no);
            let behind = behind.into_iter().skip(1);
            function.block_mut(block).insts.extend(behind);
            word
        }
        Plan::Phi(sources) => {
            insts.remove(at);
            let mut words = vec![];
            for (from, source) in sources {
                let into = match (&source, &function.block(from).terminator) {
                    (Source::Select(..), _) | (_, Terminator::Jump(_)) => from,
                    (Source::Load(_), _) => split_edge(function, from, block),
                };
                let mut builder = Builder::new(function, into);
                builder.position = position;
                let word = match source {
                    Source::Select(condition, [yes, no]) => builder.select(condition, yes, no),
                    Source::Load(place) => load_from(&mut builder, &place),
                };
                words.push((into, word));
            }
            let word = function.new_phi(block, Type::W32);
            if let Some(phi) = function.block_mut(block).phis.last_mut() {
                phi.sources = words;
            }
            word
        }
    }
}

/// A new block on the way from one block to another.
fn split_edge(function: &mut Function, from: BlockId, to: BlockId) -> BlockId {
    let between = function.new_block();
    let position = function.block(from).position;
    let terminator = &mut function.block_mut(from).terminator;
    terminator.map_targets(|target| if target == to { between } else { target });
    retarget(function, to, from, between);
    let data = function.block_mut(between);
    (data.terminator, data.position) = (Terminator::Jump(to), position);
    between
}

fn load_from(builder: &mut Builder<'_>, place: &Place) -> Value {
    let mut offset = build(builder, &place.terms);
    if let Some(most) = place.most {
        offset = builder.alu_word(Alu::UMin, offset, most);
    }
    let mut address = place.resource.clone();
    address.push(offset);
    builder.load(place.access, &address)[0]
}
