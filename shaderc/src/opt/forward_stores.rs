//! Store forwarding: what an invocation has stored or loaded itself is not loaded again.
//!
//! Follows each way through the function as long as only one block leads to the next. Needs: stores that stay inside of
//! their buffer (`lower/robust_access`): one that is dropped must not be seen. Guarantees: a load goes only if all of its
//! elements are known, and nothing between may write one (`ir::alias` says what may).
//! Checked by: tests/all/random.rs.  Facts: hardware/compiler-ir.md 4.12.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::alias::{Extent, Known};
use crate::ir::cfg::Cfg;
use crate::ir::rewrite::Replaced;
use crate::ir::{Access, BlockId, Function, Held, Inst, InstData, Memory, Op, Type, Value, Values};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "forward_stores",
    what: "what was stored or loaded before is not loaded again",
    run,
};

/// What is known of an element in memory.
#[derive(Clone, Copy)]
struct Element {
    ty: Type,
    held: Held,
    value: Value,
    /// Whether its address is a multiple of its size.
    aligned: bool,
}

type Elements = Known<Element>;

/// Most elements that are still known in the next block. More would make the work grow with how deep blocks nest.
const MOST_INHERITED: usize = 32;

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::of(function);
    let mut at_end: HashMap<BlockId, Elements> = HashMap::default();
    let mut replaced = Replaced::default();
    for block in cfg.rpo() {
        let from = match cfg.predecessors(*block) {
            [from] => at_end.get(from),
            _ => None,
        };
        let mut known = from.cloned().unwrap_or_default();
        let mut insts = std::mem::take(&mut function.block_mut(*block).insts);
        insts.retain(|inst| {
            replaced.in_operands(function.inst_mut(*inst));
            let Some(values) = step(function, &mut known, *inst) else {
                return true;
            };
            let results = function.inst(*inst).results.iter();
            replaced.extend(results.copied().zip(values));
            false
        });
        function.block_mut(*block).insts = insts;
        if known.has_at_most(MOST_INHERITED) {
            at_end.insert(*block, known);
        }
    }
    let changed = Changed::from_bool(!replaced.is_empty());
    replaced.everywhere(function);
    changed
}

/// Follows an instruction; of a load whose elements are all known, their values.
fn step(function: &Function, known: &mut Elements, inst: Inst) -> Option<Values> {
    let data = function.inst(inst);
    let written = Extent::of(function, data);
    known.forget_but(function, data, |place, element| {
        written.is_some_and(|written| stays(data, &written, place, element))
    });
    let extent = Extent::of(function, data)?;
    match data.op {
        Op::Load(access) if access.memory == Memory::Plain => {
            let values: Option<Values> = elements(&access, &extent)
                .map(|place| {
                    let mut found = known.get(&place);
                    let found = found.find(|own| (own.ty, own.held) == (access.elem, access.held));
                    found.map(|element| element.value)
                })
                .collect();
            if values.is_none() {
                remember(known, &access, &extent, &data.results);
            }
            values
        }
        Op::Store(access) if is_followed(&access) => {
            let address = access.address_operands();
            remember(known, &access, &extent, &data.args[address..]);
            None
        }
        _ => None,
    }
}

/// Whether a place has a value also behind a store of that value to a place which may be the same: words at multiples of their
/// size are the same, or apart.
fn stays(data: &InstData, written: &Extent, place: &Extent, element: &Element) -> bool {
    let Op::Store(access) = data.op else {
        return false;
    };
    let same = access.count == 1
        && access.elem == element.ty
        && written.bytes == place.bytes
        && data.args.last() == Some(&element.value);
    same && element.aligned && is_aligned(&access) && is_followed(&access)
}

/// Whether each element of an access lies at a multiple of its size.
fn is_aligned(access: &Access) -> bool {
    u32::from(access.align) >= access.bytes() / u32::from(access.count)
}

/// Whether values of a store are what lies in memory, for as long as nobody is told to look.
fn is_followed(access: &Access) -> bool {
    access.memory == Memory::Plain && access.held == Held::Own
}

/// The places of the elements.
fn elements(access: &Access, extent: &Extent) -> impl Iterator<Item = Extent> + use<> {
    let (extent, bytes) = (*extent, access.bytes() / u32::from(access.count));
    (0..i32::from(access.count)).map(move |number| Extent {
        offset: extent.offset.wrapping_add(number * bytes.cast_signed()),
        bytes,
        ..extent
    })
}

fn remember(known: &mut Elements, access: &Access, extent: &Extent, values: &[Value]) {
    for (place, value) in elements(access, extent).zip(values) {
        let element = Element {
            ty: access.elem,
            held: access.held,
            value: *value,
            aligned: is_aligned(access),
        };
        known.insert(place, element);
    }
}
