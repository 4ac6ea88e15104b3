//! What needs a capability: where the source has the thing that is refused, and the word that it has for it.
//!
//! Needs: instructions of `reader`.  Guarantees: the first instruction with a line that makes or takes what is of such a type, or
//! the first one if none has a line; nothing if it isn't known what the capability is for.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use rspirv::spirv::{Capability, ImageFormat, Op};

use super::reach::{self, Functions, Reach};
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
    /// Those of them whose result is of such a type.
    Result(fn(&Instr) -> bool, fn(&Instr) -> bool),
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

#[rustfmt::skip]
const NEEDS: &[Need] = &[
    need(Capability::Float64,                        "`f64`, `double`",                      Asks::Type(is_double)),
    need(Capability::BFloat16TypeKHR,                "`bfloat16_t`",                         Asks::Type(|instr| instr.op == Op::TypeFloat && instr.operands.len() > 1)),
    need(Capability::SampledRect,                    "`sampler2DRect`",                      Asks::Type(|instr| is_image_of(instr, RECT))),
    need(Capability::ImageRect,                      "`image2DRect`",                        Asks::Type(|instr| is_image_of(instr, RECT))),
    need(Capability::Int64ImageEXT,                  "`r64uint`, `r64ui`",                   Asks::Type(is_image_of_64_bits)),
    need(Capability::RayQueryKHR,                    "`ray_query`, `rayQueryEXT`",           Asks::Type(|instr| matches!(instr.op, Op::TypeRayQueryKHR | Op::TypeAccelerationStructureKHR))),
    need(Capability::CooperativeMatrixKHR,           "`coop_mat8x8`, `coopmat`",             Asks::Type(|instr| instr.op == Op::TypeCooperativeMatrixKHR)),
    need(Capability::ShaderClockKHR,                 "`clockARB`, `clockRealtimeEXT`",       Asks::Instruction(|instr| instr.op == Op::ReadClockKHR)),
    need(Capability::SparseResidency,                "`sparseTextureARB` and its like",      Asks::Instruction(|instr| instr.name().starts_with("ImageSparse"))),
    need(Capability::DerivativeControl,              "`dpdxFine`, `dFdxFine` and their like", Asks::Instruction(is_derivative)),
    need(Capability::ComputeDerivativeGroupQuadsKHR, "`dpdx`, `dFdx`, `texture`",            Asks::Instruction(|instr| is_derivative(instr) || instr.name().contains("ImplicitLod"))),
    need(Capability::ComputeDerivativeGroupLinearKHR, "`dpdx`, `dFdx`, `texture`",           Asks::Instruction(|instr| is_derivative(instr) || instr.name().contains("ImplicitLod"))),
    need(Capability::AtomicFloat16AddEXT,            "`atomicAdd` of `float16_t`",           Asks::Result(|instr| instr.op == Op::AtomicFAddEXT, is_half)),
    need(Capability::AtomicFloat64AddEXT,            "`atomicAdd` of `double`",              Asks::Result(|instr| instr.op == Op::AtomicFAddEXT, is_double)),
    need(Capability::AtomicFloat16MinMaxEXT,         "`atomicMin`, `atomicMax` of `float16_t`", Asks::Result(is_least_or_most, is_half)),
    need(Capability::AtomicFloat64MinMaxEXT,         "`atomicMin`, `atomicMax` of `double`", Asks::Result(is_least_or_most, is_double)),
    need(Capability::GroupNonUniformPartitionedEXT,  "`subgroupPartitionNV`",                Asks::Instruction(|instr| instr.op == Op::GroupNonUniformPartitionEXT)),
];

fn is_derivative(instr: &Instr) -> bool {
    ["DPdx", "DPdy", "Fwidth"]
        .iter()
        .any(|name| instr.name().starts_with(name))
}

fn is_double(instr: &Instr) -> bool {
    instr.op == Op::TypeFloat && *instr.operands == [64]
}

fn is_half(instr: &Instr) -> bool {
    instr.op == Op::TypeFloat && *instr.operands == [16]
}

fn is_image_of(instr: &Instr, dim: u32) -> bool {
    instr.op == Op::TypeImage && instr.operands.get(1) == Some(&dim)
}

fn is_image_of_64_bits(instr: &Instr) -> bool {
    let formats = [ImageFormat::R64ui as u32, ImageFormat::R64i as u32];
    let format = instr.operands.get(6);
    instr.op == Op::TypeImage && format.is_some_and(|format| formats.contains(format))
}

fn is_least_or_most(instr: &Instr) -> bool {
    matches!(instr.op, Op::AtomicFMinEXT | Op::AtomicFMaxEXT)
}

/// Whether it is known what asks for a capability, and the entry point has nothing of that kind.
pub(super) fn nothing_asks(
    instrs: &[Instr],
    functions: &Functions<'_>,
    reach: &Reach,
    capability: Capability,
) -> bool {
    let Some(need) = NEEDS.iter().find(|need| need.capability == capability) else {
        return false;
    };
    match need.asks {
        Asks::Type(is_one) => {
            let mut types = reach::declarations(instrs)
                .filter(|instr| is_one(instr))
                .peekable();
            // One that nothing at all asks for is believed, unless another entry point may have had a reason.
            let has_reason = types.peek().is_some() || !reach.is_alone();
            has_reason && !types.any(|ty| reach.has(ty))
        }
        Asks::Instruction(is_one) => !functions.instrs().any(is_one),
        Asks::Result(is_one, is_type) => {
            let types = types(instrs, is_type);
            !functions
                .instrs()
                .any(|instr| is_one(instr) && is_of(instr, &types))
        }
    }
}

/// The types that are of a kind.
fn types(instrs: &[Instr], is_one: fn(&Instr) -> bool) -> HashSet<u32> {
    let types = reach::declarations(instrs).filter(|instr| is_one(instr));
    types.filter_map(|instr| instr.result).collect()
}

/// Whether an instruction's result is of one of those types.
fn is_of(instr: &Instr, types: &HashSet<u32>) -> bool {
    instr.ty.is_some_and(|ty| types.contains(&ty))
}

/// Whether an instruction reads one of those ids.
fn reads(instr: &Instr, ids: &HashSet<u32>) -> bool {
    let mut found = false;
    reach::for_ids(instr, |id| found |= ids.contains(&id));
    found
}

/// The words for a capability, and the instruction that needs it: the first one with a line, which it then has as text, or else
/// the first one, if functions have any.
pub(super) fn find(
    instrs: &[Instr],
    functions: &Functions<'_>,
    capability: Capability,
) -> Option<(Option<Instr>, &'static str)> {
    let need = NEEDS.iter().find(|need| need.capability == capability)?;
    let mut types: HashSet<u32> = HashSet::default();
    let mut values: HashSet<u32> = HashSet::default();
    let mut files: HashMap<u32, String> = HashMap::default();
    if let Asks::Result(_, is_type) = need.asks {
        types = self::types(instrs, is_type);
    }
    for instr in reach::declarations(instrs) {
        if instr.op == Op::String
            && let (Some(id), Ok((text, _))) = (instr.result, instr.string(0))
        {
            files.insert(id, text);
        }
        let made_of = || reads(instr, &types);
        if let Asks::Type(is_one) = need.asks
            && instr.name().starts_with("Type")
            && (is_one(instr) || made_of())
        {
            types.extend(instr.result);
        }
        if is_of(instr, &types) {
            values.extend(instr.result);
        }
    }
    let mut asks = |instr: &Instr| match need.asks {
        Asks::Type(_) => {
            let is_one = is_of(instr, &types);
            if is_one {
                values.extend(instr.result);
            }
            is_one || reads(instr, &values)
        }
        Asks::Instruction(is_one) => is_one(instr),
        Asks::Result(is_one, _) => is_one(instr) && is_of(instr, &types),
    };
    let mut first = None;
    for instr in functions.instrs() {
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
