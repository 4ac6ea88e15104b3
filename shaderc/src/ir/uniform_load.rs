//! Loads of uniform buffers at places that are known before the program runs.

use super::{BindingId, BindingKind, Function, InstData, Op, Type};

/// Words of an element of a binding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct UniformLoad {
    pub(crate) binding: BindingId,
    pub(crate) element: u32,
    /// Bytes from its start, a multiple of 4.
    pub(crate) offset: u32,
    pub(crate) words: u32,
}

impl Function {
    /// What an instruction loads, if it is words of a uniform buffer at a place that is known.
    pub(crate) fn uniform_load(&self, data: &InstData) -> Option<UniformLoad> {
        let Op::Load(access) = data.op else {
            return None;
        };
        let &[resource, offset] = data.args.as_slice() else {
            return None;
        };
        let (binding, element) = self.as_resource(resource)?;
        let bound = &self.bindings[binding.index()];
        let uniform = bound.kind == BindingKind::Uniform && element < bound.count;
        let offset = self.as_word(offset)?;
        let words = data.results.len() as u32;
        let known = uniform && access.elem == Type::W32 && offset % 4 == 0;
        // So that the offset of each word is one.
        let fits = offset.checked_add(4 * words).is_some();
        (known && fits).then_some(UniformLoad {
            binding,
            element,
            offset,
            words,
        })
    }
}
