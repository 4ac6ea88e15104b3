//! Rewriting: instructions replaced one by one, in place.
//!
//! Needs: definitions before uses in layout order, phis apart.  Guarantees: all uses of a replaced result are replaced.

use super::{Builder, Function, InstData, Value};

/// Values and what takes their place. Whoever replaces asks of every operand that there is, so this is a table and no map.
#[derive(Default)]
pub struct Replaced {
    /// By value: what takes its place; itself, and whatever lies beyond the end, if nothing does.
    by: Vec<Value>,
    count: usize,
}

impl Replaced {
    /// Lets a value take the place of another.
    pub fn insert(&mut self, old: Value, new: Value) {
        for index in self.by.len()..=old.index() {
            self.by.push(Value(index as u32));
        }
        self.count += usize::from(self.by[old.index()] == old);
        self.by[old.index()] = new;
    }

    /// The same for several, pair by pair.
    pub fn extend(&mut self, pairs: impl IntoIterator<Item = (Value, Value)>) {
        pairs
            .into_iter()
            .for_each(|(old, new)| self.insert(old, new));
    }

    /// What takes a value's place, which may itself be replaced; the value if nothing does.
    pub fn get(&self, value: Value) -> Value {
        self.by.get(value.index()).copied().unwrap_or(value)
    }

    /// Whether something takes a value's place.
    pub fn has(&self, value: Value) -> bool {
        self.get(value) != value
    }

    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Where the chain of replacements ends that begins with a value. What is walked is shorter next time; that ends a cycle,
    /// too, if a pass made one.
    pub fn end(&mut self, value: Value) -> Value {
        let mut at = value;
        loop {
            let next = self.get(at);
            let further = self.get(next);
            if next == further {
                return next;
            }
            self.by[at.index()] = further;
            at = further;
        }
    }

    /// Replaces operands, each by what takes its place.
    pub fn in_operands(&self, data: &mut InstData) {
        if !self.is_empty() {
            for arg in &mut data.args {
                *arg = self.get(*arg);
            }
        }
    }

    /// Replaces all uses, each by where its chain ends.
    pub fn everywhere(mut self, function: &mut Function) {
        if !self.is_empty() {
            function.map_uses(|value| self.end(value));
        }
    }
}

/// Calls `each` on every instruction, operands already replaced. It may build others in front and return the values
/// that take the place of the results; then the instruction goes.
pub fn rewrite(
    function: &mut Function,
    each: impl FnMut(&mut Builder<'_>, &InstData) -> Option<Vec<Value>>,
) -> bool {
    rewrite_where(function, |_, _| true, each)
}

/// The same for those instructions alone that `wanted` tells at a glance: most passes leave most of them as they are.
pub fn rewrite_where(
    function: &mut Function,
    wanted: impl Fn(&Function, &InstData) -> bool,
    mut each: impl FnMut(&mut Builder<'_>, &InstData) -> Option<Vec<Value>>,
) -> bool {
    let mut replaced = Replaced::default();
    let mut changed = false;
    // Each block's new list takes the memory of the one before.
    let mut free = vec![];
    for block in function.layout.clone() {
        let mut insts = std::mem::replace(&mut function.block_mut(block).insts, free);
        for inst in insts.drain(..) {
            replaced.in_operands(function.inst_mut(inst));
            if !wanted(function, function.inst(inst)) {
                function.block_mut(block).insts.push(inst);
                continue;
            }
            let mut builder = Builder::new(function, block);
            // Lent to `each`, which may change everything else: nothing asks for what an instruction is before it stands.
            let data = builder.function.take_inst(inst);
            builder.position = data.position;
            builder.exact = data.exact;
            match each(&mut builder, &data) {
                Some(values) => {
                    changed = true;
                    replaced.extend(data.results.iter().copied().zip(values));
                }
                None => builder.function.block_mut(block).insts.push(inst),
            }
            *builder.function.inst_mut(inst) = data;
        }
        free = insts;
    }
    replaced.everywhere(function);
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pairs: &[(u32, u32)], expected: &[u32]) {
        let mut replaced = Replaced::default();
        replaced.extend(pairs.iter().map(|(old, new)| (Value(*old), Value(*new))));
        let ends: Vec<u32> = (0..expected.len() as u32)
            .map(|value| replaced.end(Value(value)).0)
            .collect();
        assert_eq!(ends, expected, "{pairs:?}");
    }

    #[test]
    fn chains_are_followed_to_their_ends() {
        check(&[], &[0, 1]);
        check(&[(1, 0), (2, 1), (4, 2), (3, 5)], &[0, 0, 0, 5, 0, 5]);
    }

    #[test]
    fn a_cycle_has_an_end() {
        let mut replaced = Replaced::default();
        replaced.extend([(0, 1), (1, 2), (2, 0)].map(|(old, new)| (Value(old), Value(new))));
        assert!(replaced.end(Value(0)).0 < 3);
    }
}
