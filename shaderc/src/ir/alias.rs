//! Aliasing: which memory an access touches, and whether two may touch the same.
//!
//! Needs: nothing.  Guarantees: accesses that may meet are never said to be apart. Offsets are 32 bits and wrap, as the
//! addresses of the IR do. Two bindings may hold the same buffer, unless one of them is said to be restricted.

use rustc_hash::FxHashMap as HashMap;

use super::{Access, Alu, BindingId, Function, InstData, Memory, Op, Space, Spaces, Value};

/// A place that offsets count from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Base {
    /// Which memory.
    pub space: Space,
    /// The buffer.
    pub resource: Option<Value>,
    /// The binding of which the buffer is, where that is known, and whether its memory is reached through it alone
    /// (`restrict`).
    pub binding: Option<(BindingId, bool)>,
    /// The part of the byte offset that isn't constant; none if all of it is.
    pub dynamic: Option<Value>,
}

impl Base {
    /// Whether both may be in one memory.
    pub fn meets(&self, other: &Base) -> bool {
        may_alias(self.object(), other.object())
    }

    /// The object that it points into.
    pub fn object(&self) -> MemoryObject {
        (self.space, self.binding)
    }
}

/// Memory as far as it is told apart: all that is reached through one binding, or a space.
pub type MemoryObject = (Space, Option<(BindingId, bool)>);

/// Whether two objects may be one.
pub fn may_alias(a: MemoryObject, b: MemoryObject) -> bool {
    let apart = match (a.1, b.1) {
        (Some((a, restrict)), Some((b, other_restrict))) => a != b && (restrict || other_restrict),
        _ => false,
    };
    a.0.meets(b.0) && !apart
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
                        let restrict = function.binding(id).is_some_and(|own| own.restrict);
                        (id, restrict)
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

/// What is known of places that count from one base, by the stretch of [`Known::STRETCH`] bytes in which each begins.
type Stretches<T> = HashMap<u32, Vec<(Extent, T)>>;

/// What is known of places in memory, by what it touches: so that it is forgotten without a look at everything else.
#[derive(Clone)]
pub struct Known<T> {
    /// By memory and base.
    objects: HashMap<MemoryObject, HashMap<Base, Stretches<T>>>,
}

impl<T> Default for Known<T> {
    fn default() -> Known<T> {
        Known {
            objects: HashMap::default(),
        }
    }
}

impl<T> Known<T> {
    /// No access is longer.
    const STRETCH: u32 = 32;

    fn stretch(offset: i32) -> u32 {
        offset.cast_unsigned() / Self::STRETCH
    }

    /// Adds something.
    pub fn insert(&mut self, extent: Extent, what: T) {
        let base = extent.base;
        let bases = self.objects.entry(base.object()).or_default();
        let stretches = bases.entry(base).or_default();
        let list = stretches.entry(Self::stretch(extent.offset)).or_default();
        list.push((extent, what));
    }

    /// What stands at exactly this place.
    pub fn get<'k>(&'k self, extent: &'k Extent) -> impl Iterator<Item = &'k T> {
        let base = extent.base;
        let bases = self.objects.get(&base.object());
        let stretches = bases.and_then(|bases| bases.get(&base));
        let list = stretches.and_then(|all| all.get(&Self::stretch(extent.offset)));
        let here = list.into_iter().flatten();
        here.filter(move |(other, _)| other == extent)
            .map(|(_, what)| what)
    }

    /// Forgets all that a write may touch, but what is to be kept.
    fn forget(&mut self, written: &Extent, keep: impl Fn(&Extent, &T) -> bool) {
        for (object, bases) in &mut self.objects {
            if !may_alias(*object, written.base.object()) {
                continue;
            }
            // Another base may point anywhere in the same object.
            let mut own = bases.remove(&written.base);
            for stretches in bases.values_mut() {
                for list in stretches.values_mut() {
                    list.retain(|(extent, what)| keep(extent, what));
                }
                stretches.retain(|_, list| !list.is_empty());
            }
            bases.retain(|_, stretches| !stretches.is_empty());
            if let Some(stretches) = &mut own {
                let longest = Self::STRETCH.cast_signed();
                let first = Self::stretch(written.offset.wrapping_sub(longest - 1));
                let count = 2 + written.bytes.div_ceil(Self::STRETCH);
                for number in 0..count {
                    let at = first.wrapping_add(number) % (u32::MAX / Self::STRETCH + 1);
                    if let Some(list) = stretches.get_mut(&at) {
                        list.retain(|(extent, what)| {
                            !written.may_overlap(extent) || keep(extent, what)
                        });
                    }
                }
            }
            bases.extend(own.map(|own| (written.base, own)));
        }
    }

    /// Forgets what an instruction may change, and what others may have changed before it.
    pub fn forget_behind(&mut self, function: &Function, data: &InstData) {
        self.forget_but(function, data, |_, _| false);
    }

    /// The same, but of what a store may touch some is kept.
    pub fn forget_but(
        &mut self,
        function: &Function,
        data: &InstData,
        keep: impl Fn(&Extent, &T) -> bool,
    ) {
        match data.op {
            Op::Store(_) | Op::Atomic(..) => {
                if let Some(written) = Extent::of(function, data) {
                    self.forget(&written, keep);
                }
            }
            Op::Image(image) if image.effects().writes && image.touches_buffers() => {
                self.forget_all_of(Spaces::BUFFERS);
            }
            op => self.forget_all_of(op.effects().orders),
        }
    }

    /// Whether it is of no more than `limit` places.
    pub fn has_at_most(&self, limit: usize) -> bool {
        let bases = self.objects.values().flat_map(HashMap::values);
        let mut places = bases.flat_map(HashMap::values).flatten();
        places.nth(limit).is_none()
    }

    /// Forgets all that is known of these memories.
    fn forget_all_of(&mut self, spaces: Spaces) {
        if !spaces.is_empty() {
            self.objects
                .retain(|(space, _), _| !spaces.contains(*space));
        }
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
