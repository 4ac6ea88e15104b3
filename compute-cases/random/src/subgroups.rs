//! Subgroup operations whose results depend neither on the size of subgroups nor on which invocations are in one.
//!
//! Functions give an invocation its own value back: what one operation adds, another takes away. Atomics get the value of each
//! subgroup. So it does not matter either which invocations that have diverged run together again, which Vulkan leaves open.

use crate::expressions::Operands;
use crate::generator::Generator;
use crate::resources::Atomic;
use crate::types::{Kind, Type};

/// The extensions of GLSL that a shader with subgroup operations needs.
pub(crate) const EXTENSIONS: &[&str] = &[
    "#extension GL_KHR_shader_subgroup_basic : enable",
    "#extension GL_KHR_shader_subgroup_vote : enable",
    "#extension GL_KHR_shader_subgroup_arithmetic : enable",
    "#extension GL_KHR_shader_subgroup_ballot : enable",
];

/// Functions of a value `a` of a type `T` of integers, by their names. `by_turns` is the loop that serves each value in turn.
const OF_INTEGERS: &[(&str, &str)] = &[
    (
        "by_sums",
        "return subgroupInclusiveAdd(a) - subgroupExclusiveAdd(a);",
    ),
    (
        "by_parities",
        "return subgroupInclusiveXor(a) ^ subgroupExclusiveXor(a);",
    ),
    (
        "by_bounds",
        "return max(subgroupMin(a), min(a, subgroupMax(a)));",
    ),
    ("by_bits", "return (a & subgroupOr(a)) | subgroupAnd(a);"),
    (
        "by_first",
        "T first = subgroupBroadcastFirst(a); return subgroupElect() ? first : a;",
    ),
    (
        "by_turns",
        "T found = ~a; bool done = false; for (int turn = 0; turn < 128 && !done; turn++) { \
         T first = subgroupBroadcastFirst(a); if (first == a) { found = first; done = true; } } return found;",
    ),
];

/// The same of a condition `a`.
const OF_CONDITIONS: &[(&str, &str)] = &[
    (
        "by_ballot",
        "return subgroupInverseBallot(subgroupBallot(a));",
    ),
    (
        "by_bit",
        "return subgroupBallotBitExtract(subgroupBallot(a), gl_SubgroupInvocationID);",
    ),
    (
        "by_votes",
        "if (a) return subgroupAny(a); else return subgroupAll(a);",
    ),
];

/// The functions, of each type that they take.
pub(crate) fn functions() -> Vec<String> {
    let mut lines = vec![];
    for kind in [Kind::Uint, Kind::Int] {
        for count in 1..=4 {
            let name = Type::Vector(kind, count).name();
            for (function, body) in OF_INTEGERS {
                let body = body.replace("T ", &format!("{name} "));
                lines.push(format!("{name} {function}({name} a) {{ {body} }}"));
            }
        }
    }
    for (function, body) in OF_CONDITIONS {
        lines.push(format!("bool {function}(bool a) {{ {body} }}"));
    }
    lines
}

impl Generator {
    /// An expression that subgroup operations give back, if there are such of its type.
    pub(crate) fn given_back(&mut self, ty: &Type, operands: Operands<'_>) -> Option<String> {
        let functions = match *ty {
            Type::Vector(Kind::Bool, 1) => OF_CONDITIONS,
            Type::Vector(kind, _) if kind.is_word() => OF_INTEGERS,
            _ => return None,
        };
        let (function, _) = self.of(functions);
        Some(format!("{function}({})", self.operand(ty, operands)))
    }

    /// An atomic, once for each subgroup.
    pub(crate) fn atomic_of_subgroup(&mut self, atomic: &Atomic, value: &str) {
        let Atomic {
            place,
            function,
            kind,
        } = atomic;
        let operation = function.replace("atomic", "subgroup");
        let (name, of_all) = (kind.one().name(), self.fresh("v"));
        self.open("");
        self.line(&format!("{name} {of_all} = {operation}({value});"));
        self.line(&format!(
            "if (subgroupElect()) {function}({place}, {of_all});"
        ));
        self.close("}");
    }

    /// Counts the invocations for which something holds.
    pub(crate) fn count_of_subgroup(&mut self, place: &str, condition: &str) {
        let votes = self.fresh("v");
        self.open("");
        self.line(&format!("uvec4 {votes} = subgroupBallot({condition});"));
        self.line(&format!(
            "if (subgroupElect()) atomicAdd({place}, subgroupBallotBitCount({votes}));"
        ));
        self.close("}");
    }
}
