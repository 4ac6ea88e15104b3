//! Rewriting: instructions replaced one by one, in place.
//!
//! Needs: definitions before uses in layout order, phis apart.  Guarantees: all uses of a replaced result are replaced.

use super::{Builder, Function, InstData, Value};
use crate::replaced::{self, Numbered};

/// Values and what takes their place.
pub(crate) type Replaced = replaced::Replaced<Value>;

impl Numbered for Value {
    fn at(index: usize) -> Value {
        Value(index as u32)
    }

    fn number(self) -> usize {
        self.index()
    }
}

impl Replaced {
    /// Replaces operands, each by what takes its place.
    pub(crate) fn in_operands(&self, data: &mut InstData) {
        if !self.is_empty() {
            for arg in &mut data.args {
                *arg = self.get(*arg);
            }
        }
    }

    /// Replaces all uses, each by where its chain ends.
    pub(crate) fn everywhere(mut self, function: &mut Function) {
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
