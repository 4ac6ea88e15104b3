//! Reach: what an entry point uses of a module, which may hold several, of other stages too.
//!
//! Needs: instructions of `reader`.  Guarantees: every function that the entry point can come to, each once, and every id that
//! one of them names. A literal may look like an id: then more is in it than is used.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use rspirv::spirv::Op;

use super::reader::Instr;

/// The functions that the one of that id can come to, itself among them.
pub(super) fn functions(instrs: &[Instr], entry: u32) -> Vec<&[Instr]> {
    let mut bodies: HashMap<u32, &[Instr]> = HashMap::default();
    for body in instrs.split_inclusive(|instr| instr.op == Op::FunctionEnd) {
        let start = body.iter().position(|instr| instr.op == Op::Function);
        let body = &body[start.unwrap_or(body.len())..];
        if let Some(id) = body.first().and_then(|function| function.result) {
            bodies.insert(id, body);
        }
    }
    let mut reached = vec![];
    let mut work = vec![entry];
    while let Some(id) = work.pop() {
        // Taken out, so that a function that calls itself comes once.
        if let Some(body) = bodies.remove(&id) {
            let calls = body.iter().filter(|instr| instr.op == Op::FunctionCall);
            work.extend(calls.filter_map(|call| call.operands.first()));
            reached.push(body);
        }
    }
    reached
}

/// The ids that functions name.
pub(super) fn named(functions: &[&[Instr]]) -> HashSet<u32> {
    let instrs = functions.iter().copied().flatten();
    instrs.flat_map(ids).copied().collect()
}

/// The operands of an instruction that may be ids of variables.
fn ids(instr: &Instr) -> &[u32] {
    let operands = &instr.operands;
    let ids = match instr.op {
        Op::CompositeExtract
        | Op::CompositeInsert
        | Op::VectorShuffle
        | Op::Switch
        | Op::SelectionMerge
        | Op::LoopMerge => 0..0,
        // What follows says how memory is accessed.
        Op::Load => 0..1,
        Op::Store => 0..2,
        // The set, and the number of the instruction.
        Op::ExtInst | Op::ExtInstWithForwardRefsKHR => 2..operands.len(),
        _ => 0..operands.len(),
    };
    operands.get(ids).unwrap_or(operands)
}
