//! Linear forms: a word as a sum of products, each of one value, uniform words and a constant.
//!
//! Needs: nothing.  Guarantees: the same word, modulo 2^32.

use crate::ir::{Alu, Builder, Function, Op, Type, Value};

/// Deepest expression that is looked through.
const DEPTH: u32 = 8;
/// Most terms of a form.
const MOST_TERMS: usize = 8;

/// A product.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Term {
    /// What is no uniform word; none if the whole term is uniform.
    pub(super) value: Option<Value>,
    /// Uniform words, in order.
    pub(super) uniforms: Vec<Value>,
    pub(super) constant: u32,
}

/// A word as a sum.
pub(super) struct Form {
    /// Terms in order, no two of the same value and uniform words.
    pub(super) terms: Vec<Term>,
    /// The values that it was computed through, itself the first.
    pub(super) through: Vec<Value>,
}

impl Form {
    /// That of a word; none if it has too many terms.
    pub(super) fn of(function: &Function, value: Value) -> Option<Form> {
        let mut form = Form {
            terms: vec![],
            through: vec![],
        };
        let one = Term {
            value: None,
            uniforms: vec![],
            constant: 1,
        };
        form.add(function, value, &one, DEPTH)?;
        form.terms.sort();
        Some(form)
    }

    /// The sum of terms and a multiple of a value.
    pub(super) fn with(
        function: &Function,
        terms: Vec<Term>,
        value: Value,
        by: &Term,
    ) -> Option<Form> {
        let mut form = Form {
            terms,
            through: vec![],
        };
        let by = Term {
            value: None,
            ..by.clone()
        };
        form.add(function, value, &by, DEPTH)?;
        form.terms.sort();
        Some(form)
    }

    /// Adds a multiple of a value.
    fn add(&mut self, function: &Function, value: Value, by: &Term, depth: u32) -> Option<()> {
        if let Some(word) = function.as_word(value) {
            let constant = by.constant.wrapping_mul(word);
            return self.push(Term {
                constant,
                ..by.clone()
            });
        }
        let atom = |value: Value| match is_uniform(function, value) {
            true => with_uniform(by, value),
            false => Term {
                value: Some(value),
                ..by.clone()
            },
        };
        let data = function.def_inst(value);
        let (Some(data), Some(depth)) = (data, depth.checked_sub(1)) else {
            return self.push(atom(value));
        };
        let constant = || function.as_word(*data.args.get(1)?);
        let scaled = |factor: u32| Term {
            constant: by.constant.wrapping_mul(factor),
            ..by.clone()
        };
        match data.op {
            Op::Alu(Alu::IAdd) => {
                self.through.push(value);
                self.add(function, data.args[0], by, depth)?;
                self.add(function, data.args[1], by, depth)
            }
            Op::Alu(Alu::ISub) => {
                self.through.push(value);
                self.add(function, data.args[0], by, depth)?;
                self.add(function, data.args[1], &scaled(u32::MAX), depth)
            }
            Op::Alu(Alu::IShl) if let Some(shift @ 0..32) = constant() => {
                self.through.push(value);
                self.add(function, data.args[0], &scaled(1 << shift), depth)
            }
            Op::Alu(Alu::IMul) if let Some(factor) = constant() => {
                self.through.push(value);
                self.add(function, data.args[0], &scaled(factor), depth)
            }
            Op::Alu(Alu::IMul) if is_uniform(function, data.args[1]) => {
                self.through.push(value);
                let by = with_uniform(by, data.args[1]);
                self.add(function, data.args[0], &by, depth)
            }
            Op::Alu(Alu::IMul) if is_uniform(function, data.args[0]) => {
                self.through.push(value);
                let by = with_uniform(by, data.args[0]);
                self.add(function, data.args[1], &by, depth)
            }
            _ => self.push(atom(value)),
        }
    }

    fn push(&mut self, term: Term) -> Option<()> {
        let same = |own: &Term| (own.value, &own.uniforms) == (term.value, &term.uniforms);
        match self.terms.iter().position(same) {
            Some(place) => {
                let own = &mut self.terms[place];
                own.constant = own.constant.wrapping_add(term.constant);
                if own.constant == 0 {
                    self.terms.remove(place);
                }
            }
            None if term.constant != 0 => self.terms.push(term),
            None => {}
        }
        (self.terms.len() <= MOST_TERMS).then_some(())
    }
}

/// Whether a value is a uniform word as it is.
fn is_uniform(function: &Function, value: Value) -> bool {
    let data = function.def_inst(value);
    data.is_some_and(|data| matches!(data.op, Op::Uniform(_))) && function.ty(value) == Type::W32
}

fn with_uniform(term: &Term, uniform: Value) -> Term {
    let mut term = term.clone();
    term.uniforms.push(uniform);
    term.uniforms.sort();
    term
}

/// The largest power of 2 that all constants of terms have as a factor, as a shift.
fn common_shift(terms: &[Term]) -> u32 {
    let shifts = terms.iter().map(|term| term.constant.trailing_zeros());
    shifts.min().unwrap_or(0)
}

/// What computing the sum of terms costs as [`build`] does it: a product counts as two sums, and uniform words cost nothing.
pub(super) fn cost(terms: &[Term]) -> usize {
    let shift = common_shift(terms);
    let product = |term: &Term| {
        let parts = [!term.uniforms.is_empty(), term.constant >> shift != 1];
        2 * parts.into_iter().filter(|has| *has).count()
    };
    let products: usize = terms.iter().map(product).sum();
    products + terms.len().saturating_sub(1) + 2 * usize::from(shift > 0)
}

/// Computes the sum of terms.
pub(super) fn build(builder: &mut Builder<'_>, terms: &[Term]) -> Value {
    let shift = common_shift(terms);
    let mut sum = None;
    for term in terms {
        let uniforms = term.uniforms.iter().copied();
        // What is uniform is worked out together.
        let uniforms = uniforms.reduce(|a, b| builder.alu(Alu::IMul, &[a, b]));
        let parts = [term.value, uniforms].into_iter().flatten();
        let product = parts.reduce(|a, b| builder.alu(Alu::IMul, &[a, b]));
        let product = match (product, term.constant >> shift) {
            (None, constant) => builder.word(constant),
            (Some(product), 1) => product,
            (Some(product), constant) => builder.alu_word(Alu::IMul, product, constant),
        };
        sum = Some(match sum {
            None => product,
            Some(sum) => builder.alu(Alu::IAdd, &[sum, product]),
        });
    }
    match sum {
        Some(sum) if shift > 0 => builder.alu_word(Alu::IShl, sum, shift),
        Some(sum) => sum,
        None => builder.word(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse::parse;

    #[test]
    fn a_place_in_a_grid_is_a_product_of_its_row_and_the_column() {
        let function = parse(
            "
function main
workgroup 4 4 1
push 4
binding 0 0 storage written
b0:
  %x = local_id.x
  %y = local_id.y
  %width = uniform.push.0
  %below = iadd %y, 3
  %row = imul %below, %width
  %left = isub %row, %x
  %place = ishl %left, 2
  store.buffer @0.0, %place, %x
  return
",
        )
        .unwrap_or_else(|error| panic!("{error}"));
        let stores = function.placed_insts().map(|(_, inst)| function.inst(inst));
        let store = stores.filter(|data| matches!(data.op, Op::Store(_))).last();
        let place = store.map(|data| data.args[1]).expect("there is one");
        let form = Form::of(&function, place).expect("it has few terms");
        // 4 width y + 12 width - 4 x, of which what is uniform comes first.
        let terms = form.terms.iter();
        let terms: Vec<(bool, usize, u32)> = terms
            .map(|term| (term.value.is_some(), term.uniforms.len(), term.constant))
            .collect();
        assert_eq!(terms[0], (false, 1, 12), "{function}");
        assert!(terms.contains(&(true, 1, 4)), "{function}");
        assert!(
            terms.contains(&(true, 0, 4_u32.wrapping_neg())),
            "{function}"
        );
        assert_eq!(terms.len(), 3, "{function}");
        assert_eq!(form.through.len(), 4, "{function}");
    }
}
