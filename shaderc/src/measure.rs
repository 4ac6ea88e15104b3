//! The measure that every change of the repeated passes makes smaller: why [`crate::pipeline::CLEAN_UP`] comes to an end.
//!
//! Measures are compared part by part, the first part that differs decides. Each pass makes one part smaller and none
//! before it larger:
//!
//! | part | made smaller by |
//! |---|---|
//! | accesses of variables | `promote_variables` |
//! | blocks and edges | `dead_flow`, and `dead_code` where a branch goes |
//! | phis | `trivial_phis`, `dead_code` |
//! | weights of instructions and conditions | `fold_constants`, `algebra`, `share_values`, `dead_code`; `dead_flow` where a condition is negated |
//! | constants that come first in operations that commute | `operand_order` |
//!
//! A weight is that of the whole expression, down to what is no pure operation (a phi, a load) and to constants. It grows
//! with each operand's weight and is larger than any. So where a value takes the place of one that weighs more, everything
//! that reads it gets lighter, and of new instructions none weighs as much as the one that goes. That makes the weights
//! smaller as multisets are compared (Dershowitz and Manna), which cannot go on for ever. The coefficients are chosen
//! such that each row of `opt/rules` gives less than it finds.
//!
//! Checked by: `opt/algebra` (each rule alone), tests/all/settling.rs (random functions at every stage of the pipeline).
use std::cmp::Ordering;

use crate::ir::{Alu, Function, Op, Value, ValueDef};

/// A measure of a function.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Measure {
    variable_accesses: usize,
    flow: usize,
    phis: usize,
    /// Of all instructions and conditions, the largest first: so lists are compared as multisets are.
    weights: Vec<Weight>,
    constants_first: usize,
}

impl Measure {
    /// That of a function.
    pub fn of(function: &Function) -> Measure {
        let mut measure = Measure {
            variable_accesses: 0,
            flow: 0,
            phis: 0,
            weights: vec![],
            constants_first: 0,
        };
        let mut of_values: Vec<Weight> = vec![Weight::one(); function.value_count()];
        for block in &function.layout {
            let data = function.block(*block);
            measure.flow += 1 + data.terminator.each_target().count();
            measure.phis += data.phis.len();
            for inst in &data.insts {
                let data = function.inst(*inst);
                let args: Vec<&Weight> = data
                    .args
                    .iter()
                    .map(|arg| &of_values[arg.index()])
                    .collect();
                let weight = match data.op {
                    Op::Alu(alu) => {
                        let constant = |value: &Value| is_constant(function, *value);
                        if let [a, b, ..] = data.args.as_slice()
                            && alu.commutes()
                            && constant(a)
                            && !constant(b)
                        {
                            measure.constants_first += 1;
                        }
                        weigh(alu, &args, data.args.iter().any(constant))
                    }
                    Op::LoadVar(_) | Op::StoreVar(_) => {
                        measure.variable_accesses += 1;
                        Weight::sum(&args)
                    }
                    _ => Weight::sum(&args),
                };
                if let (Op::Alu(_), [result]) = (data.op, data.results.as_slice()) {
                    of_values[result.index()] = weight.clone();
                }
                measure.weights.push(weight);
            }
            if let Some(condition) = data.terminator.operand() {
                measure
                    .weights
                    .push(Weight::sum(&[&of_values[condition.index()]]));
            }
        }
        measure.weights.sort_by(|a, b| b.cmp(a));
        measure
    }
}

fn is_constant(function: &Function, value: Value) -> bool {
    matches!(function.def(value), ValueDef::Word(_) | ValueDef::Bool(_))
}

/// The weight of an operation: so often each operand's, and something for itself.
fn weigh(alu: Alu, args: &[&Weight], with_constant: bool) -> Weight {
    let (times, own) = match alu {
        // A constant that is added or subtracted moves outwards, so it weighs little.
        Alu::IAdd if with_constant => return Weight::sum(args),
        Alu::ISub if with_constant => (1, 2),
        Alu::IAdd | Alu::IMul | Alu::IAnd | Alu::HalfLow | Alu::HalfHigh => (2, 1),
        Alu::ISub | Alu::Pack16 => (2, 2),
        Alu::IShl => {
            let mut weight = Weight::sum(args);
            weight.add(args[0], 1);
            return weight;
        }
        Alu::INeg | Alu::FNeg | Alu::ULt | Alu::UGe | Alu::FSub | Alu::Select | Alu::FFma => (1, 2),
        // Twice a value becomes its sum with itself.
        Alu::FMul => (3, 1),
        _ => (1, 1),
    };
    let mut weight = Weight(vec![own]);
    for arg in args {
        weight.add(arg, times);
    }
    weight
}

/// A whole number of any size, its lowest 32 bits first, without zeros at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Weight(Vec<u32>);

impl Weight {
    /// That of what is no pure operation, and of constants.
    fn one() -> Weight {
        Weight(vec![1])
    }

    /// One more than all of them together.
    fn sum(args: &[&Weight]) -> Weight {
        let mut sum = Weight::one();
        for arg in args {
            sum.add(arg, 1);
        }
        sum
    }

    fn add(&mut self, other: &Weight, times: u32) {
        let mut carry = 0;
        let mut number = 0;
        while carry != 0 || number < other.0.len() {
            if number == self.0.len() {
                self.0.push(0);
            }
            let term = other.0.get(number).copied().unwrap_or(0);
            let sum = u64::from(self.0[number]) + u64::from(term) * u64::from(times) + carry;
            self.0[number] = sum as u32;
            carry = sum >> 32;
            number += 1;
        }
    }
}

impl Ord for Weight {
    fn cmp(&self, other: &Weight) -> Ordering {
        let length = self.0.len().cmp(&other.0.len());
        length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Weight {
    fn partial_cmp(&self, other: &Weight) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
