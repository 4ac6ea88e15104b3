//! A reducer of SPIR-V modules: takes away what can go while something that a caller looks for stays.
//!
//! Needs: a module that loads.  Guarantees: what comes out was asked about and kept; each round of steps that takes nothing
//! away ends it. How: each step has so many chances; they are taken in chunks, whole first, then in halves of halves, as
//! delta debugging does. What nothing needs any more goes before each question.

mod steps;
mod unused;

use rspirv::binary::{Assemble, ParseState};
use rspirv::dr::Module;

/// How far it has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Progress {
    /// The step that took something away.
    pub(crate) step: &'static str,
    /// Instructions that are left.
    pub(crate) instructions: usize,
    /// Questions asked.
    pub(crate) questions: usize,
}

/// Reads a module.
///
/// # Errors
/// What the parser says of words that are no module.
pub(crate) fn load(bytes: &[u8]) -> Result<Module, ParseState> {
    rspirv::dr::load_bytes(bytes)
}

/// The module as bytes.
pub(crate) fn bytes(module: &Module) -> Vec<u8> {
    let words = module.assemble();
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Number of instructions.
pub(crate) fn size(module: &Module) -> usize {
    module.all_inst_iter().count()
}

/// The smallest module that was found for which `keep` holds. It is asked about nothing that is as large as what it has
/// kept, and told of each step forward.
///
/// # Errors
/// The first that `keep` gives.
pub(crate) fn reduce<E>(
    module: Module,
    mut keep: impl FnMut(&Module) -> Result<bool, E>,
    mut tell: impl FnMut(Progress),
) -> Result<Module, E> {
    let mut best = module;
    let mut questions = 0;
    loop {
        let before = weight(&best);
        for step in steps::ALL {
            let mut chunk = (step.chances)(&best).max(1);
            loop {
                let mut first = 0;
                while first < (step.chances)(&best) {
                    let mut candidate = best.clone();
                    (step.take)(&mut candidate, first..first + chunk);
                    unused::remove(&mut candidate);
                    questions += 1;
                    if weight(&candidate) < weight(&best) && keep(&candidate)? {
                        best = candidate;
                        tell(Progress {
                            step: step.name,
                            instructions: size(&best),
                            questions,
                        });
                    } else {
                        first += chunk;
                    }
                }
                if chunk == 1 {
                    break;
                }
                chunk = chunk.div_ceil(2);
            }
        }
        if weight(&best) >= before {
            return Ok(best);
        }
    }
}

/// What is made smaller: instructions, then operands, then what ids and literals say.
fn weight(module: &Module) -> (usize, usize, usize) {
    let operands = module.all_inst_iter().map(|inst| inst.operands.len());
    let branches = module
        .all_inst_iter()
        .filter(|inst| steps::is_choice(inst.class.opcode));
    (size(module), operands.sum(), branches.count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rspirv::spirv::Op;

    const SHADER: &str = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @group(0) @binding(1) var<storage, read_write> more: array<f32>;
        fn twice(x: u32) -> u32 { return x + x; }
        @compute @workgroup_size(4)
        fn main(@builtin(local_invocation_id) id: vec3<u32>) {
            var sum = 0u;
            for (var i = 0u; i < id.x; i++) {
                if data[i] > 7u { sum += twice(data[i]); } else { more[i] = 1.0; }
            }
            more[1] = more[0] / 3.0;
            data[id.x] = sum % 5u;
        }";

    fn module() -> Module {
        let parsed = naga::front::wgsl::parse_str(SHADER).expect("it is WGSL");
        let mut validator = naga::valid::Validator::new(
            naga::valid::ValidationFlags::all(),
            naga::valid::Capabilities::all(),
        );
        let info = validator.validate(&parsed).expect("it is valid");
        let options = naga::back::spv::Options::default();
        let words =
            naga::back::spv::write_vec(&parsed, &info, &options, None).expect("it can be written");
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        load(&bytes).expect("it loads")
    }

    fn has(module: &Module, op: Op) -> bool {
        module.all_inst_iter().any(|inst| inst.class.opcode == op)
    }

    #[test]
    fn what_is_looked_for_stays_and_little_else() {
        for (op, most) in [(Op::UMod, 30), (Op::FDiv, 30), (Op::LoopMerge, 40)] {
            let whole = module();
            assert!(has(&whole, op));
            let keep = |module: &Module| -> Result<bool, ()> { Ok(has(module, op)) };
            let small = reduce(whole.clone(), keep, |_| {}).expect("it never fails");
            assert!(has(&small, op), "{op:?}");
            let (before, after) = (size(&whole), size(&small));
            let text = rspirv::binary::Disassemble::disassemble(&small);
            assert!(
                after <= most,
                "{op:?}: {after} of {before} are left\n{text}"
            );
            // It still is a module.
            let again = load(&bytes(&small)).expect("it loads");
            assert_eq!(size(&again), after);
        }
    }

    #[test]
    fn nothing_is_taken_from_what_must_stay_whole() {
        let whole = module();
        let all = size(&whole);
        let keep = |module: &Module| -> Result<bool, ()> { Ok(size(module) == all) };
        assert_eq!(
            size(&reduce(whole, keep, |_| {}).expect("it never fails")),
            all
        );
    }
}
