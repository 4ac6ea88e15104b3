//! Descriptors: where the elements of bindings stand in their sets.
//!
//! Guarantees: descriptors of a set are numbered in the order of its bindings, without holes. An image with its sampler has
//! two: the sampler's stands behind the image's.
//! Facts: hardware/ir3-isa.md 12 (bindless: a base for each set, an index in descriptors of 64 bytes).

use eitri_ir3_program as program;

use crate::ir::{Binding, BindingKind};

/// Descriptors of an element of a binding.
pub(super) fn of_element(kind: BindingKind) -> u32 {
    kind_of(kind).descriptors()
}

/// The kind of a binding as the program has it.
pub(super) fn kind_of(kind: BindingKind) -> program::BindingKind {
    match kind {
        BindingKind::Storage => program::BindingKind::StorageBuffer,
        BindingKind::Uniform => program::BindingKind::UniformBuffer,
        BindingKind::UniformTexels => program::BindingKind::UniformTexelBuffer,
        BindingKind::StorageTexels => program::BindingKind::StorageTexelBuffer,
        BindingKind::StorageImage => program::BindingKind::StorageImage,
        BindingKind::SampledImage => program::BindingKind::SampledImage,
        BindingKind::Sampler => program::BindingKind::Sampler,
        BindingKind::CombinedImageSampler => program::BindingKind::CombinedImageSampler,
    }
}

/// By binding: the number of its first element's descriptor in its set; those of the others follow. Bindings are ordered by
/// set and number.
pub(super) fn number(bindings: &[Binding]) -> Vec<u32> {
    let mut numbers = Vec::with_capacity(bindings.len());
    let mut next = (0, 0);
    for binding in bindings {
        if next.0 != binding.set {
            next = (binding.set, 0);
        }
        numbers.push(next.1);
        next.1 += binding.count * of_element(binding.kind);
    }
    numbers
}
