//! Parts of a program binary that are the same for every machine.

use eitri_program_file::{Access, PushRange};

use crate::ir::{Binding, Function};

/// What the program does with a binding.
pub(crate) fn access(binding: &Binding) -> Access {
    match binding.written {
        true => Access::ReadWrite,
        false => Access::Read,
    }
}

/// Where the members of the push constants lie.
pub(crate) fn push_ranges(function: &Function) -> Vec<PushRange> {
    let members = function.push_members.iter();
    members
        .map(|&(offset, bytes)| PushRange { offset, bytes })
        .collect()
}
