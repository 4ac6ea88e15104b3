//! What needs a capability: where the source has the thing that is refused, and the word that it has for it.
//!
//! Needs: instructions of `reader`.  Guarantees: the first instruction with a line that makes or takes what is of such a type, or
//! the first one if none has a line; nothing if it isn't known what the capability is for.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use rspirv::spirv::{Capability, Op};

use super::reader::Instr;

/// A capability, what source languages call it (WGSL first, then GLSL), and what asks for it.
struct Need {
    capability: Capability,
    words: &'static str,
    asks: Asks,
}

/// What asks for a capability.
enum Asks {
    /// Declarations of types, and so whatever has such a type or one that is made of it.
    Type(fn(&Instr) -> bool),
    /// Instructions of functions.
    Instruction(fn(&Instr) -> bool),
}

const fn need(capability: Capability, words: &'static str, asks: Asks) -> Need {
    Need {
        capability,
        words,
        asks,
    }
}

/// Numbers of `Dim` that no image of a compute shader may have.
const RECT: u32 = 4;
const SUBPASS_DATA: u32 = 6;

#[rustfmt::skip]
const NEEDS: &[Need] = &[
    need(Capability::Float64,                        "`f64`, `double`",                      Asks::Type(|instr| instr.op == Op::TypeFloat && *instr.operands == [64])),
    need(Capability::BFloat16TypeKHR,                "`bfloat16_t`",                         Asks::Type(|instr| instr.op == Op::TypeFloat && instr.operands.len() > 1)),
    need(Capability::InputAttachment,                "`subpassInput`",                       Asks::Type(|instr| instr.op == Op::TypeImage && instr.operands.get(1) == Some(&SUBPASS_DATA))),
    need(Capability::SampledRect,                    "`sampler2DRect`",                      Asks::Type(|instr| instr.op == Op::TypeImage && instr.operands.get(1) == Some(&RECT))),
    need(Capability::RayQueryKHR,                    "`ray_query`, `rayQueryEXT`",           Asks::Type(|instr| instr.op == Op::TypeRayQueryKHR)),
    need(Capability::CooperativeMatrixKHR,           "`coop_mat8x8`, `coopmat`",             Asks::Type(|instr| instr.op == Op::TypeCooperativeMatrixKHR)),
    need(Capability::ShaderClockKHR,                 "`clockARB`, `clockRealtimeEXT`",       Asks::Instruction(|instr| instr.op == Op::ReadClockKHR)),
    need(Capability::SparseResidency,                "`sparseTextureARB` and its like",      Asks::Instruction(|instr| instr.name.starts_with("ImageSparse"))),
    need(Capability::DerivativeControl,              "`dpdxFine`, `dFdxFine` and their like", Asks::Instruction(is_derivative)),
    need(Capability::ComputeDerivativeGroupQuadsKHR, "`dpdx`, `dFdx`, `texture`",            Asks::Instruction(|instr| is_derivative(instr) || instr.name.contains("ImplicitLod"))),
    need(Capability::ComputeDerivativeGroupLinearKHR, "`dpdx`, `dFdx`, `texture`",           Asks::Instruction(|instr| is_derivative(instr) || instr.name.contains("ImplicitLod"))),
    need(Capability::AtomicFloat16AddEXT,            "`atomicAdd` of `float16_t`",           Asks::Instruction(|instr| instr.op == Op::AtomicFAddEXT)),
    need(Capability::AtomicFloat64AddEXT,            "`atomicAdd` of `double`",              Asks::Instruction(|instr| instr.op == Op::AtomicFAddEXT)),
    need(Capability::GroupNonUniformPartitionedEXT,  "`subgroupPartitionNV`",                Asks::Instruction(|instr| instr.op == Op::GroupNonUniformPartitionEXT)),
];

fn is_derivative(instr: &Instr) -> bool {
    ["DPdx", "DPdy", "Fwidth"]
        .iter()
        .any(|name| instr.name.starts_with(name))
}

/// Whether a capability is known to be asked for by instructions alone, and functions have none of them.
pub(super) fn no_instruction_asks(functions: &[&[Instr]], capability: Capability) -> bool {
    let need = NEEDS.iter().find(|need| need.capability == capability);
    match need.map(|need| &need.asks) {
        Some(Asks::Instruction(is_one)) => !functions.iter().copied().flatten().any(is_one),
        Some(Asks::Type(_)) | None => false,
    }
}

/// The words for a capability, and the instruction that needs it: the first one with a line, which it then has as text, or else
/// the first one, if functions have any.
pub(super) fn find(
    instrs: &[Instr],
    functions: &[&[Instr]],
    capability: Capability,
) -> Option<(Option<Instr>, &'static str)> {
    let need = NEEDS.iter().find(|need| need.capability == capability)?;
    let mut types: HashSet<u32> = HashSet::default();
    let mut values: HashSet<u32> = HashSet::default();
    let mut files: HashMap<u32, String> = HashMap::default();
    let outside = instrs.iter().take_while(|instr| instr.op != Op::Function);
    for instr in outside {
        if instr.op == Op::String
            && let (Some(id), Ok((text, _))) = (instr.result, instr.string(0))
        {
            files.insert(id, text);
        }
        let made_of = || instr.operands.iter().any(|operand| types.contains(operand));
        if let Asks::Type(is_one) = need.asks
            && instr.name.starts_with("Type")
            && (is_one(instr) || made_of())
        {
            types.extend(instr.result);
        }
        if instr.ty.is_some_and(|ty| types.contains(&ty)) {
            values.extend(instr.result);
        }
    }
    let mut asks = |instr: &Instr| match need.asks {
        Asks::Type(_) => {
            let is_one = instr.ty.is_some_and(|ty| types.contains(&ty));
            if is_one {
                values.extend(instr.result);
            }
            is_one || instr.operands.iter().any(|id| values.contains(id))
        }
        Asks::Instruction(is_one) => is_one(instr),
    };
    let mut first = None;
    for instr in functions.iter().copied().flatten() {
        if !asks(instr) {
            continue;
        }
        let Some(line) = instr.line else {
            first.get_or_insert(instr);
            continue;
        };
        let file = files.get(&line.file).map_or("", String::as_str);
        let text = match line.column {
            0 => format!("{file}:{}", line.line),
            column => format!("{file}:{}:{column}", line.line),
        };
        let mut found = instr.clone();
        found.source = Some(text.into());
        return Some((Some(found), need.words));
    }
    Some((first.cloned(), need.words))
}
