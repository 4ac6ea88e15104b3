//! What needs a capability: where the source has the thing that is refused, and the word that it has for it.
//!
//! Needs: instructions of `reader`.  Guarantees: the first instruction with a line whose result is of such a type; none if
//! the module says nothing of lines, or if it isn't known what the capability is for.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use rspirv::spirv::{Capability, Op};

use super::reader::Instr;

/// A capability, what source languages call it, and whether a type's declaration asks for it.
struct Need {
    capability: Capability,
    words: &'static str,
    asks: fn(&Instr) -> bool,
}

const NEEDS: &[Need] = &[Need {
    capability: Capability::Float64,
    words: "`f64`, `double`",
    asks: |instr| instr.op == Op::TypeFloat && instr.operands.first() == Some(&64),
}];

/// The instruction that needs the capability, with its line as text, and the words for it.
pub(super) fn find(instrs: &[Instr], capability: Capability) -> Option<(Instr, &'static str)> {
    let need = NEEDS.iter().find(|need| need.capability == capability)?;
    let mut types: HashSet<u32> = HashSet::default();
    let mut files: HashMap<u32, String> = HashMap::default();
    let mut inside = false;
    for instr in instrs {
        inside |= instr.op == Op::Function;
        if instr.op == Op::String
            && let (Some(id), Ok((text, _))) = (instr.result, instr.string(0))
        {
            files.insert(id, text);
        }
        let made_of = || instr.operands.iter().any(|operand| types.contains(operand));
        if instr.name.starts_with("Type") && ((need.asks)(instr) || made_of()) {
            types.extend(instr.result);
        }
        let of_type = instr.ty.is_some_and(|ty| types.contains(&ty));
        if let (true, true, Some(line)) = (inside, of_type, instr.line) {
            let file = files.get(&line.file).map_or("", String::as_str);
            let text = match line.column {
                0 => format!("{file}:{}", line.line),
                column => format!("{file}:{}:{column}", line.line),
            };
            let mut found = instr.clone();
            found.source = Some(text.into());
            return Some((found, need.words));
        }
    }
    None
}
