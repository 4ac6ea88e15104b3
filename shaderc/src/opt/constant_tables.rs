//! Constant tables: variables that hold the same constants wherever they are read become constant memory of the program.
//!
//! Needs: loops unrolled, so that an index that can be constant is.  Guarantees: what a load gives is what was stored, on
//! every path; an element number out of range reads some element of the table. Small tables are left to
//! `indirect_variables`, which selects among registers.
//! Facts: hardware/compiler-ir.md 1.1 and 3.
use std::collections::BTreeMap;

use rustc_hash::FxHashMap as HashMap;

use crate::ir::cfg::Cfg;
use crate::ir::range::upper_bound;
use crate::ir::rewrite::rewrite;
use crate::ir::{
    Access, Alu, BlockId, Builder, Function, Held, Memory, Op, Space, Type, Value, Var,
};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "constant_tables",
    what: "variables that hold constants alone become constant memory",
    run,
};

/// Fewest elements: a load costs as much as a few selections.
const MIN_ELEMENTS: u32 = 9;
/// Most words of constant memory.
const MAX_WORDS: usize = 16_384;

const WORD: Access = Access {
    space: Space::Data,
    elem: Type::W32,
    count: 1,
    align: 4,
    memory: Memory::Constant,
    held: Held::Own,
};

/// What is known of a variable.
#[derive(Default)]
struct Table {
    /// By element: its constant, and where it is stored.
    stores: BTreeMap<u32, (u32, Vec<Place>)>,
    loads: Vec<Place>,
    /// Whether an index isn't constant.
    indexed: bool,
    /// Something else than a constant is stored, or who knows where.
    other: bool,
}

/// A block, and an index in it.
type Place = (BlockId, usize);

fn run(function: &mut Function, _: &Target) -> Changed {
    let tables = find(function);
    if tables.is_empty() {
        return fold_loads(function);
    }
    let mut places: HashMap<Var, u32> = HashMap::default();
    for (var, words) in tables {
        if let Some(place) = put(&mut function.data, &words) {
            places.insert(var, place);
        }
    }
    rewrite(function, |b, data| match data.op {
        Op::LoadVar(var) => {
            let base = *places.get(&var)?;
            Some(vec![load(b, var, base, data.args[0])])
        }
        Op::StoreVar(var) => places.contains_key(&var).then(Vec::new),
        _ => None,
    });
    fold_loads(function);
    Changed::from_bool(!places.is_empty())
}

/// The variables that are tables, with their words.
fn find(function: &Function) -> Vec<(Var, Vec<u32>)> {
    let mut tables: BTreeMap<Var, Table> = BTreeMap::new();
    for block in &function.layout {
        for (at, inst) in function.block(*block).insts.iter().enumerate() {
            let data = function.inst(*inst);
            let (Op::LoadVar(var) | Op::StoreVar(var)) = data.op else {
                continue;
            };
            let held = function.var(var);
            if held.len < MIN_ELEMENTS || !matches!(held.ty, Type::W32 | Type::Bool) {
                continue;
            }
            let table = tables.entry(var).or_default();
            let element = function.as_word(data.args[0]);
            table.indexed |= element.is_none();
            if let Op::LoadVar(_) = data.op {
                table.loads.push((*block, at));
                continue;
            }
            match (element, function.as_bits(data.args[1])) {
                (Some(element), Some(bits)) => {
                    // A word or a boolean.
                    let bits = bits as u32;
                    let new = || (bits, vec![]);
                    let (first, places) = table.stores.entry(element).or_insert_with(new);
                    table.other |= *first != bits;
                    places.push((*block, at));
                }
                _ => table.other = true,
            }
        }
    }
    tables.retain(|_, table| table.indexed && !table.other && !table.loads.is_empty());
    if tables.is_empty() {
        return vec![];
    }
    let cfg = Cfg::shared(function);
    let mut found = vec![];
    for (var, table) in tables {
        // What is never stored is zero anyway.
        let before = |store: &Place, load: &Place| match store.0 == load.0 {
            true => store.1 < load.1,
            false => cfg.dominates(store.0, load.0),
        };
        let stored = |load: &Place| {
            let mut elements = table.stores.values().filter(|(bits, _)| *bits != 0);
            elements.all(|(_, stores)| stores.iter().any(|store| before(store, load)))
        };
        if table.loads.iter().all(stored) {
            let word = |element| table.stores.get(&element).map_or(0, |(bits, _)| *bits);
            found.push((var, (0..function.var(var).len).map(word).collect()));
        }
    }
    found
}

/// Puts words into constant memory, where they may be already; their byte offset. None if there is no room.
fn put(data: &mut Vec<u32>, words: &[u32]) -> Option<u32> {
    let known = data.windows(words.len()).position(|window| window == words);
    let place = match known {
        Some(place) => place,
        None if data.len() + words.len() > MAX_WORDS => return None,
        None => {
            data.extend(words);
            // A line of the cache for each table; the program counts in pairs of words.
            let end = data.len().next_multiple_of(4);
            let place = data.len() - words.len();
            data.resize(end, 0);
            place
        }
    };
    u32::try_from(4 * place).ok()
}

fn load(b: &mut Builder<'_>, var: Var, base: u32, element: Value) -> Value {
    let (len, ty) = (b.function.var(var).len, b.function.var(var).ty);
    let last = len - 1;
    let number = match upper_bound(b.function, element) <= last {
        true => element,
        false => b.alu_word(Alu::UMin, element, last),
    };
    let bytes = b.alu_word(Alu::IShl, number, 2);
    let offset = match base {
        0 => bytes,
        base => b.alu_word(Alu::IAdd, bytes, base),
    };
    let word = b.load(WORD, &[offset])[0];
    match ty {
        Type::Bool => b.alu_word(Alu::INe, word, 0),
        // No others are tables.
        Type::W8 | Type::W16 | Type::W32 | Type::W64 | Type::Resource => word,
    }
}

/// Loads at constant places are constants.
fn fold_loads(function: &mut Function) -> Changed {
    let changed = rewrite(function, |b, data| {
        let Op::Load(Access {
            space: Space::Data,
            elem: Type::W32,
            ..
        }) = data.op
        else {
            return None;
        };
        let offset = folded(b.function, data.args[0], DEPTH)?;
        let first = offset as usize / 4;
        let words = (0..data.results.len()).map(|number| {
            let word = b.function.data.get(first + number).copied();
            b.word(word.unwrap_or(0))
        });
        Some(words.collect())
    });
    Changed::from_bool(changed)
}

/// Operations that this pass makes on top of one another.
const DEPTH: u32 = 3;

/// The bits of an offset: a constant, or what this pass has made of one.
fn folded(function: &Function, offset: Value, depth: u32) -> Option<u32> {
    if let Some(bits) = function.as_word(offset) {
        return Some(bits);
    }
    let data = function.def_inst(offset)?;
    let Op::Alu(alu @ (Alu::IAdd | Alu::IShl | Alu::UMin)) = data.op else {
        return None;
    };
    let of = |index: usize| folded(function, data.args[index], depth.checked_sub(1)?);
    let (a, b) = (of(0)?, of(1)?);
    let bits = crate::interp::eval::eval(alu, Type::W32, [a.into(), b.into(), 0, 0]);
    u32::try_from(bits).ok()
}
