//! Loops: what goes round, and what else belongs to the construct.
//!
//! Needs: reducible flow.  Guarantees: one notion of a loop for all passes that copy, move or join blocks.
//! A loop has three extents. Its *natural* loop is what reaches a latch without going through the header ([`Cfg::loops`]).
//! Its *construct* is what SPIR-V says belongs to it: all that is entered through the header and isn't past the merge, so
//! the ways out too. What a lane does on a way out, it does in the round in which it leaves, with those lanes that leave in
//! the same round and no others. Where that shows, the construct is the loop's *body*, which is copied and placed as a
//! whole; else the natural loop is, so that one way out serves all rounds.
//! Where a construct ends isn't in the flow: [`Block::merge`](super::Block::merge) keeps what SPIR-V says of it. Where that
//! isn't known, the construct is the natural loop.
//! Facts: hardware/compiler-ir.md 1.2 and 1.3; hardware/compiler-correctness.md 5.11.
use std::cell::OnceCell;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::cfg::Cfg;
use super::function::Function;
use super::{BlockId, InstData, Merge, Op, Space, Value};
use crate::lists::Lists;

/// The loops of a function, by their number in [`Cfg::loops`]: outer before inner.
pub struct Loops<'c> {
    cfg: &'c Cfg,
    merges: Vec<Option<Merge>>,
    /// By loop: whether its body is its construct.
    by_round: Vec<bool>,
    bodies: Nest,
    constructs: OnceCell<Nest>,
}

/// A loop.
#[derive(Clone, Copy)]
pub struct Loop<'l> {
    loops: &'l Loops<'l>,
    number: usize,
}

/// Blocks that may be copied together: what depends on the lanes that run it together is copied with its round.
pub struct Body(Vec<BlockId>);

impl<'c> Loops<'c> {
    /// Finds those of a function.
    pub fn new(function: &Function, cfg: &'c Cfg) -> Loops<'c> {
        let headers = cfg.loops.iter().map(|natural| natural.header);
        let merges: Vec<Option<Merge>> =
            headers.map(|header| function.block(header).merge).collect();
        let constructs = OnceCell::new();
        let find = || Nest::new(cfg, &merges);
        let by_round = exits_by_round(function, cfg, || constructs.get_or_init(find));
        let ends = by_round.iter().zip(&merges);
        let ends: Vec<Option<Merge>> = ends
            .map(|(by_round, merge)| merge.filter(|_| *by_round))
            .collect();
        Loops {
            cfg,
            bodies: Nest::new(cfg, &ends),
            merges,
            by_round,
            constructs,
        }
    }

    /// All of them, outer before inner.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Loop<'_>> {
        (0..self.merges.len()).map(|number| self.get(number))
    }

    /// The loop with that number.
    pub fn get(&self, number: usize) -> Loop<'_> {
        Loop {
            loops: self,
            number,
        }
    }

    /// How the bodies lie in one another.
    pub fn bodies(&self) -> &Nest {
        &self.bodies
    }

    /// How the constructs lie in one another.
    fn constructs(&self) -> &Nest {
        let find = || Nest::new(self.cfg, &self.merges);
        self.constructs.get_or_init(find)
    }
}

impl<'l> Loop<'l> {
    /// Its number in [`Cfg::loops`].
    pub fn number(self) -> usize {
        self.number
    }

    /// The block that is entered; it dominates the others.
    pub fn header(self) -> BlockId {
        self.loops.cfg.loops[self.number].header
    }

    /// Blocks that jump back to the header.
    pub fn latches(self) -> &'l [BlockId] {
        &self.loops.cfg.loops[self.number].latches
    }

    /// The only block that enters it from outside, and the only one that jumps back; none if there are several of either.
    pub fn ends(self) -> Option<(BlockId, BlockId)> {
        let &[latch] = self.latches() else {
            return None;
        };
        let before = self.loops.cfg.predecessors(self.header()).iter();
        let mut before = before.filter(|from| **from != latch);
        match (before.next(), before.next()) {
            (Some(entering), None) => Some((*entering, latch)),
            _ => None,
        }
    }

    /// Where its construct ends, if that is known.
    pub fn merge(self) -> Option<Merge> {
        self.loops.merges[self.number]
    }

    /// The natural loop, inner loops' included; the header is the first.
    pub fn natural(self) -> &'l [BlockId] {
        self.loops.cfg.loop_blocks(self.number)
    }

    /// Whether a block belongs to the natural loop.
    pub fn goes_round(self, block: BlockId) -> bool {
        self.loops.cfg.in_loop(block, self.number)
    }

    /// The construct, inner ones included; the header is the first.
    pub fn construct(self) -> Vec<BlockId> {
        self.loops.constructs().blocks(self.loops.cfg, self.number)
    }

    /// Whether a block belongs to the construct.
    pub fn encloses(self, block: BlockId) -> bool {
        let constructs = self.loops.constructs();
        constructs.contains(self.number, constructs.of(block))
    }

    /// Whether lanes that leave in different rounds must take the way out apart from one another.
    pub fn exits_by_round(self) -> bool {
        self.loops.by_round[self.number]
    }

    /// What is copied to make a round of its own; the header is the first.
    pub fn body(self) -> Body {
        Body(match self.exits_by_round() {
            true => self.construct(),
            false => self.natural().to_vec(),
        })
    }

    /// The loop whose body this one's lies in.
    pub fn around(self) -> Option<Loop<'l>> {
        let around = self.loops.bodies.parent[self.number];
        around.map(|number| self.loops.get(number))
    }
}

impl Body {
    /// The blocks, the header first.
    pub fn blocks(&self) -> &[BlockId] {
        &self.0
    }
}

/// Which extents of loops lie in which, and the innermost one around each block.
pub struct Nest {
    /// The extent around each.
    parent: Vec<Option<usize>>,
    depth: Vec<u32>,
    /// By block index: the innermost extent. Empty where there is no loop.
    of: Vec<Option<usize>>,
    members: OnceCell<Members>,
}

/// What each extent holds.
struct Members {
    /// The blocks that are in no extent inside it, in reverse postorder.
    own: Lists<BlockId>,
    /// The extents right inside it.
    inside: Lists<usize>,
}

impl Nest {
    /// The extents that end with the given merges; where there is none, the natural loop.
    fn new(cfg: &Cfg, merges: &[Option<Merge>]) -> Nest {
        let count = cfg.loops.len();
        let mut nest = Nest {
            parent: vec![None; count],
            depth: vec![0; count],
            of: vec![],
            members: OnceCell::new(),
        };
        if cfg.loops.is_empty() {
            return nest;
        }
        let blocks = cfg.block_count();
        nest.of = vec![None; blocks];
        let mut header_of = vec![None; blocks];
        for (number, natural) in cfg.loops.iter().enumerate() {
            header_of[natural.header.index()] = Some(number);
        }
        let ends = merges.iter().enumerate();
        let ends = ends.filter_map(|(number, merge)| Some(((*merge)?.block()?.index(), number)));
        let ends_at = Lists::gather(blocks, ends);
        let mut seen = vec![false; blocks];
        for block in cfg.rpo() {
            seen[block.index()] = true;
            let before = cfg.predecessors(*block).iter();
            let before = before.filter(|from| seen[from.index()] && *from != block);
            let around = before.map(|from| nest.of[from.index()]);
            let mut around = around.reduce(|a, b| nest.common(a, b)).flatten();
            while let Some(number) = around
                && match merges[number] {
                    Some(merge) => merge.block() == Some(*block),
                    None => !cfg.in_loop(*block, number),
                }
            {
                around = nest.parent[number];
            }
            for number in ends_at.of(block.index()) {
                if nest.contains(*number, around) {
                    around = nest.parent[*number];
                }
            }
            nest.of[block.index()] = around;
            if let Some(number) = header_of[block.index()] {
                nest.parent[number] = around;
                nest.depth[number] = nest.depth_of(around) + 1;
                nest.of[block.index()] = Some(number);
            }
        }
        nest
    }

    fn members(&self, cfg: &Cfg) -> Members {
        let own = cfg.rpo().iter();
        let own = own.filter_map(|block| self.of(*block).map(|number| (number, *block)));
        let inside = self.parent.iter().enumerate();
        let inside = inside.filter_map(|(number, parent)| parent.map(|parent| (parent, number)));
        Members {
            own: Lists::gather(self.parent.len(), own),
            inside: Lists::gather(self.parent.len(), inside),
        }
    }

    /// The innermost extent that a block belongs to.
    pub fn of(&self, block: BlockId) -> Option<usize> {
        self.of.get(block.index()).copied().flatten()
    }

    /// All blocks of an extent.
    fn blocks(&self, cfg: &Cfg, number: usize) -> Vec<BlockId> {
        let members = self.members.get_or_init(|| self.members(cfg));
        let mut blocks = vec![];
        let mut open = vec![number];
        while let Some(number) = open.pop() {
            blocks.extend(members.own.of(number));
            open.extend(members.inside.of(number));
        }
        blocks
    }

    fn depth_of(&self, extent: Option<usize>) -> u32 {
        extent.map_or(0, |number| self.depth[number])
    }

    /// Whether `inner` is `outer` or lies in it.
    pub fn contains(&self, outer: usize, inner: Option<usize>) -> bool {
        let mut at = inner;
        while let Some(number) = at.filter(|number| self.depth[*number] > self.depth[outer]) {
            at = self.parent[number];
        }
        at == Some(outer)
    }

    /// The innermost extent around both.
    fn common(&self, mut a: Option<usize>, mut b: Option<usize>) -> Option<usize> {
        while a != b {
            let deeper = if self.depth_of(a) >= self.depth_of(b) {
                &mut a
            } else {
                &mut b
            };
            *deeper = deeper.and_then(|number| self.parent[number]);
        }
        a
    }

    /// The outermost extent that an edge leaves.
    pub fn left(&self, from: BlockId, to: BlockId) -> Option<usize> {
        let common = self.common(self.of(from), self.of(to));
        let mut at = self.of(from);
        let mut left = None;
        while at != common {
            left = at;
            at = self.parent[at?];
        }
        left
    }
}

/// By loop: whether it shows which lanes take a way out together. That needs the constructs, where there is anything that
/// may show it.
fn exits_by_round<'n>(
    function: &Function,
    cfg: &Cfg,
    constructs: impl FnOnce() -> &'n Nest,
) -> Vec<bool> {
    let none = vec![false; cfg.loops.len()];
    let mut insts = function.placed_insts();
    let shows = |data: &InstData| data.op.is_convergent() || is_ordered_write(data);
    if none.is_empty() || !insts.any(|(_, inst)| shows(function.inst(inst))) {
        return none;
    }
    let constructs = constructs();
    let mut by_round = convergent_exits(function, cfg, constructs);
    find_releasing_exits(function, cfg, constructs, &mut by_round);
    by_round
}

/// By loop: whether something convergent stands on a way out of it, in its construct.
fn convergent_exits(function: &Function, cfg: &Cfg, constructs: &Nest) -> Vec<bool> {
    // How much is convergent in the construct and in the natural loop, which is a part of it.
    let mut around = vec![0usize; cfg.loops.len()];
    let mut inside = around.clone();
    for block in cfg.rpo() {
        let insts = function.block(*block).insts.iter();
        let convergent = insts.filter(|inst| function.inst(**inst).op.is_convergent());
        let count = convergent.count();
        if let Some(number) = constructs.of(*block) {
            around[number] += count;
        }
        if let Some(number) = cfg.innermost_loop(*block) {
            inside[number] += count;
        }
    }
    // A loop comes after those around it, a construct's number too: it is that of its loop.
    for number in (0..cfg.loops.len()).rev() {
        if let Some(parent) = constructs.parent[number] {
            around[parent] += around[number];
        }
        if let Some(parent) = cfg.loops[number].parent {
            inside[parent] += inside[number];
        }
    }
    let counts = around.iter().zip(&inside);
    counts.map(|(around, inside)| around > inside).collect()
}

/// Finds the loops with a way out that writes what the loop waits for, as one does that gives back a lock: lanes that go
/// round again wait for those that have left.
fn find_releasing_exits(function: &Function, cfg: &Cfg, constructs: &Nest, by_round: &mut [bool]) {
    type Place<'f> = (Space, &'f [Value]);
    let place = |data: &'_ InstData| -> Option<(Space, usize)> {
        let access = data.op.access()?;
        Some((access.space, access.address_operands()))
    };
    // The natural loops in which a place is read anew each time.
    let mut waiting: HashMap<Place<'_>, HashSet<usize>> = HashMap::default();
    for (block, inst) in function.placed_insts() {
        let data = function.inst(inst);
        let effects = data.op.effects();
        let Some((space, operands)) = place(data).filter(|_| effects.reads && effects.ordered)
        else {
            continue;
        };
        let loops = waiting.entry((space, &data.args[..operands])).or_default();
        let mut around = cfg.innermost_loop(block);
        while let Some(number) = around.filter(|number| loops.insert(*number)) {
            around = cfg.loops[number].parent;
        }
    }
    for (block, inst) in function.placed_insts() {
        let data = function.inst(inst);
        let Some((space, operands)) = place(data).filter(|_| is_ordered_write(data)) else {
            continue;
        };
        let Some(loops) = waiting.get(&(space, &data.args[..operands])) else {
            continue;
        };
        let mut around = constructs.of(block);
        while let Some(number) = around {
            by_round[number] |= loops.contains(&number) && !cfg.in_loop(block, number);
            around = constructs.parent[number];
        }
    }
}

/// Whether an instruction writes what others may wait for.
fn is_ordered_write(data: &InstData) -> bool {
    match data.op {
        Op::Atomic(..) => true,
        Op::Store(access) => access.memory.is_volatile(),
        _ => false,
    }
}
