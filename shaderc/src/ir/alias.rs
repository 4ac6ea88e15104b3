//! Aliasing: which memory an access touches, and whether two may touch the same.
//!
//! Needs: nothing.  Guarantees: accesses that may meet are never said to be apart. Offsets are 32 bits and wrap, as the
//! addresses of the IR do. Two bindings may hold the same buffer, unless one of them is said to be restricted.

use super::{Access, Alu, BindingId, Function, InstData, Memory, Op, Space, Value};

/// A place that offsets count from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Base {
    /// Which memory.
    pub space: Space,
    /// The buffer.
    pub resource: Option<Value>,
    /// The binding of which the buffer is, where that is known, and whether its memory is reached through it alone.
    pub binding: Option<(BindingId, bool)>,
    /// The part of the byte offset that isn't constant; none if all of it is.
    pub dynamic: Option<Value>,
}

impl Base {
    /// Whether both may be in one memory.
    pub fn meets(&self, other: &Base) -> bool {
        let apart = match (self.binding, other.binding) {
            (Some((a, alone)), Some((b, other_alone))) => a != b && (alone || other_alone),
            _ => false,
        };
        self.space.meets(other.space) && !apart
    }
}

/// What an access touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Where it counts from.
    pub base: Base,
    /// Bytes from there; it wraps, so half of them are below.
    pub offset: i32,
    /// Length in bytes.
    pub bytes: u32,
    /// What may be assumed of it.
    pub memory: Memory,
}

impl Extent {
    /// That of a load, store or atomic; none for others.
    pub fn of(function: &Function, data: &InstData) -> Option<Extent> {
        let access: Access = data.op.access()?;
        let operands = access.address_operands();
        let (dynamic, offset) = split_offset(function, data.args[operands - 1]);
        Some(Extent {
            base: Base {
                space: access.space,
                binding: match access.space {
                    Space::Buffer => function.binding_of(data.args[0]).map(|id| {
                        let alone = function.binding(id).is_some_and(|own| own.restrict);
                        (id, alone)
                    }),
                    _ => None,
                },
                resource: (operands == 2).then(|| data.args[0]),
                dynamic,
            },
            offset: offset.cast_signed(),
            bytes: access.bytes(),
            memory: access.memory,
        })
    }

    /// Whether both may touch one byte that somebody writes.
    pub fn may_overlap(&self, other: &Extent) -> bool {
        if !self.base.meets(&other.base) || [self.memory, other.memory].contains(&Memory::Constant)
        {
            return false;
        }
        self.base != other.base || overlap((self.offset, self.bytes), (other.offset, other.bytes))
    }
}

impl Space {
    /// Whether both may be one memory: buffers lie in that which has addresses.
    pub fn meets(self, other: Space) -> bool {
        let spaces = [self, other];
        self == other || spaces.contains(&Space::Global) && spaces.contains(&Space::Buffer)
    }
}

/// Whether two stretches from one base meet: offset and length of each.
pub fn overlap(a: (i32, u32), b: (i32, u32)) -> bool {
    let apart = b.0.wrapping_sub(a.0).cast_unsigned();
    apart < a.1 || apart.wrapping_neg() < b.1
}

/// The dynamic and the constant part of an offset.
pub fn split_offset(function: &Function, offset: Value) -> (Option<Value>, u32) {
    if let Some(constant) = function.as_word(offset) {
        return (None, constant);
    }
    if let Some(data) = function.def_inst(offset)
        && data.op == Op::Alu(Alu::IAdd)
        && let Some(constant) = function.as_word(data.args[1])
    {
        return (Some(data.args[0]), constant);
    }
    (Some(offset), 0)
}

#[cfg(test)]
mod tests {
    use super::overlap;

    #[test]
    fn stretches_meet_where_they_share_a_byte_also_across_zero() {
        assert!(overlap((0, 4), (0, 4)));
        assert!(overlap((0, 16), (12, 4)));
        assert!(!overlap((0, 16), (16, 4)));
        assert!(overlap((8, 4), (0, 12)));
        assert!(!overlap((8, 4), (0, 8)));
        assert!(overlap((-4, 8), (0, 4)));
        assert!(!overlap((-4, 4), (0, 4)));
        assert!(overlap((i32::MAX - 3, 8), (i32::MIN, 4)));
    }
}
