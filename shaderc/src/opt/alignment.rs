//! Alignment: what must hold so that addresses are multiples of a power of two: in a loop before it, else where they are read.

use rustc_hash::FxHashSet as HashSet;

use crate::ir::uniformity::Uniformity;
use crate::ir::{Alu, Function, Op, Value};
use crate::opt::loop_steps::Steps;
use crate::opt::merge_accesses::known_align;

/// Deepest expression that is looked through.
const DEPTH: u32 = 16;
/// Most tests together.
const MOST: usize = 4;

/// A word that must be a multiple of a power of two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) value: Value,
    pub(super) multiple: u32,
}

/// What must hold for the addresses asked for so far.
pub(super) struct Alignment<'f> {
    function: &'f Function,
    uniformity: &'f Uniformity,
    /// The loop before which is tested, and how many of its rounds are made at once.
    rounds: Option<(&'f Steps<'f>, u32)>,
    pub(super) requirements: Vec<Requirement>,
    /// What needs nothing more: values with the power of two, and how many levels of them were looked through.
    met: HashSet<(Value, u32, u32)>,
}

impl<'f> Alignment<'f> {
    /// Of addresses where they are read.
    pub(super) fn new(function: &'f Function, uniformity: &'f Uniformity) -> Alignment<'f> {
        Alignment {
            function,
            uniformity,
            rounds: None,
            requirements: vec![],
            met: HashSet::default(),
        }
    }

    /// Of addresses in a loop that makes so many rounds at once.
    pub(super) fn in_loop(
        steps: &'f Steps<'f>,
        uniformity: &'f Uniformity,
        rounds: u32,
    ) -> Alignment<'f> {
        Alignment {
            rounds: Some((steps, rounds)),
            ..Alignment::new(steps.function, uniformity)
        }
    }

    /// Requires that a value be a multiple of a power of two, in a loop in the first of its rounds. False, and nothing is required,
    /// if that can't be tested by all lanes together.
    pub(super) fn require(&mut self, value: Value, multiple: u32) -> bool {
        let before = self.requirements.len();
        let required = self.need(value, multiple, DEPTH) && self.requirements.len() <= MOST;
        if !required {
            self.forget_from(before);
        }
        required
    }

    /// Drops requirements that no longer are any: what was met by them isn't.
    fn forget_from(&mut self, count: usize) {
        self.requirements.truncate(count);
        self.met.clear();
    }

    fn need(&mut self, value: Value, multiple: u32, depth: u32) -> bool {
        // A value may be read at each level of an expression, so it is asked for only once.
        let asked = (value, multiple, depth);
        if self.met.contains(&asked) {
            return true;
        }
        let needed = self.need_anew(value, multiple, depth);
        if needed {
            self.met.insert(asked);
        }
        needed
    }

    fn need_anew(&mut self, value: Value, multiple: u32, depth: u32) -> bool {
        let function = self.function;
        if known_align(function, value, 8).is_multiple_of(multiple) {
            return true;
        }
        if function.as_word(value).is_some() || depth == 0 {
            return false;
        }
        if let Some((steps, rounds)) = self.rounds
            && let Some((start, step)) = steps.counter(value)
        {
            let grows = rounds.wrapping_mul(step);
            return grows.is_multiple_of(multiple) && self.need(start, multiple, depth - 1);
        }
        let can_be_tested = |(steps, _): (&Steps<'_>, _)| steps.is_invariant(value);
        if self.uniformity.is_uniform(value) && self.rounds.is_none_or(can_be_tested) {
            let requirement = Requirement { value, multiple };
            if !self.requirements.contains(&requirement) {
                self.requirements.push(requirement);
            }
            return true;
        }
        let Some(data) = function.def_inst(value) else {
            return false;
        };
        let (a, b) = match data.args[..] {
            [a, b] => (a, b),
            _ => return false,
        };
        let depth = depth - 1;
        match data.op {
            Op::Alu(Alu::IAdd | Alu::ISub | Alu::IOr | Alu::IXor | Alu::UMin | Alu::UMax) => {
                self.need(a, multiple, depth) && self.need(b, multiple, depth)
            }
            Op::Alu(Alu::IShl) => match function.as_word(b) {
                Some(by) if by < 32 => self.need(a, multiple >> by, depth),
                _ => false,
            },
            Op::Alu(Alu::IMul) => {
                let before = self.requirements.len();
                let mut factor = |own: Value, other: Value| {
                    let known = known_align(function, other, 8);
                    let needed = self.need(own, (multiple / known).max(1), depth);
                    if !needed {
                        self.forget_from(before);
                    }
                    needed
                };
                factor(a, b) || factor(b, a)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::cfg::Cfg;
    use crate::ir::parse::parse;

    /// Each of two values is made of both before: 2^14 ways lead to the word that all lanes have in common.
    #[test]
    fn what_an_address_reads_again_and_again_is_asked_for_once() {
        let level = |level: usize| {
            let (a, b) = (format!("%a{level}"), format!("%b{level}"));
            let next = level + 1;
            format!("  %a{next} = iadd {a}, {b}\n  %b{next} = ixor {a}, {b}\n")
        };
        let levels: String = (0..14).map(level).collect();
        let text = format!(
            "function main
workgroup 16 1 1
binding 0 0 storage written
b0:
  %lane = local_id.x
  %width = workgroup_id.x
  %a0 = ishl %lane, 4
  %b0 = iadd %a0, %width
{levels}  store.buffer @0.0, %a14, %b14
  return
"
        );
        let function = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let uniformity = Uniformity::new(&function, &Cfg::new(&function));
        let mut alignment = Alignment::new(&function, &uniformity);
        let insts = function.placed_insts().map(|(_, inst)| function.inst(inst));
        let store = insts.last().expect("there is a store");
        assert!(alignment.require(store.args[1], 16), "{function}");
        let [Requirement { value, multiple }] = alignment.requirements[..] else {
            panic!("{} requirements\n{function}", alignment.requirements.len());
        };
        assert!(uniformity.is_uniform(value), "{value}\n{function}");
        assert_eq!(multiple, 16);
        let asked = alignment.met.len();
        assert!(
            asked < 100,
            "{asked} values and levels were looked at\n{function}"
        );
    }
}
