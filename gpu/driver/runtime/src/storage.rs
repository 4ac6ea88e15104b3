//! Storage: where a device keeps what it knows, given by its user, who so decides how much there can be.
//!
//! Nothing in the device grows. What does not fit is refused by an error that names the table.

use crate::device::Object;
use crate::group::Group;
use crate::links::Link;
use crate::queue::{Job, Points};
use crate::slab::Entry;
use crate::vm::Vm;
use core::mem::ManuallyDrop;
use heapless::Vec;

/// Places of a table. What is in them holds nothing of the host's, so nothing is lost where it is not dropped. Said so, the compiler
/// lets them refer to what is declared behind the storage, such as a pipeline's program.
type Places<T, const N: usize> = ManuallyDrop<Vec<T, N>>;

/// References that an object has on average.
const LINKS: usize = 4;

/// Room for `QUEUES` queues and as many address spaces, `JOBS` jobs in flight or failed, and `OBJECTS` buffers, pipelines,
/// descriptor sets, command buffers, and areas of scratch and shared memory of command buffers.
///
/// Of references from command buffers and sets there can be four times as many as objects. `'d` is how long firmware and
/// programs live. On a host it is a local variable; on bare metal usually a static. It may be used again when the device is
/// gone.
///
/// ```
/// use eitri_runtime::Storage;
///
/// // Two queues, 16 jobs, 24 objects.
/// let mut small = Storage::<2, 16, 24>::new();
/// // As many as most need.
/// let mut usual: Storage = Storage::new();
/// # let _ = (&mut small, &mut usual);
/// ```
// A place is written when a device is brought up, where it is: storage that is made with all its places would be a constant, or a value
// on the stack, as large as itself.
#[derive(Debug)]
pub struct Storage<'d, const QUEUES: usize = 8, const JOBS: usize = 64, const OBJECTS: usize = 128>
{
    groups: Places<Entry<Group>, QUEUES>,
    spaces: Places<Entry<Vm>, QUEUES>,
    jobs: Places<Entry<Job>, JOBS>,
    points: Places<Entry<Points>, JOBS>,
    objects: Places<Entry<Object<'d>>, OBJECTS>,
    links: Places<[Link; LINKS], OBJECTS>,
}

impl<const QUEUES: usize, const JOBS: usize, const OBJECTS: usize>
    Storage<'_, QUEUES, JOBS, OBJECTS>
{
    /// Empty storage.
    pub const fn new() -> Self {
        Storage {
            groups: ManuallyDrop::new(Vec::new()),
            spaces: ManuallyDrop::new(Vec::new()),
            jobs: ManuallyDrop::new(Vec::new()),
            points: ManuallyDrop::new(Vec::new()),
            objects: ManuallyDrop::new(Vec::new()),
            links: ManuallyDrop::new(Vec::new()),
        }
    }
}

impl<const QUEUES: usize, const JOBS: usize, const OBJECTS: usize> Default
    for Storage<'_, QUEUES, JOBS, OBJECTS>
{
    fn default() -> Self {
        Storage::new()
    }
}

/// Writes the places that are not there yet: each where it is.
fn filled<T, const N: usize>(places: &mut Places<T, N>, empty: impl Fn() -> T) -> &mut [T] {
    while places.push(empty()).is_ok() {}
    places
}

impl<'d, const QUEUES: usize, const JOBS: usize, const OBJECTS: usize>
    Storage<'d, QUEUES, JOBS, OBJECTS>
{
    /// The tables, whatever their sizes.
    pub(crate) fn tables<'s>(&'s mut self) -> Tables<'s, 'd> {
        Tables {
            groups: filled(&mut self.groups, Entry::empty),
            spaces: filled(&mut self.spaces, Entry::empty),
            jobs: filled(&mut self.jobs, Entry::empty),
            points: filled(&mut self.points, Entry::empty),
            objects: filled(&mut self.objects, Entry::empty),
            links: filled(&mut self.links, || [Link::EMPTY; LINKS]).as_flattened_mut(),
        }
    }
}

/// The tables of a storage.
pub(crate) struct Tables<'s, 'd> {
    pub(crate) groups: &'s mut [Entry<Group>],
    pub(crate) spaces: &'s mut [Entry<Vm>],
    pub(crate) jobs: &'s mut [Entry<Job>],
    pub(crate) points: &'s mut [Entry<Points>],
    pub(crate) objects: &'s mut [Entry<Object<'d>>],
    pub(crate) links: &'s mut [Link],
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that one place more of each kind takes, as docs/architecture.md states them.
    #[test]
    fn places_take_what_is_stated() {
        let bytes = [
            size_of::<Storage<'_, 2, 1, 1>>(),
            size_of::<Storage<'_, 1, 2, 1>>(),
            size_of::<Storage<'_, 1, 1, 2>>(),
        ];
        let bytes = bytes.map(|bytes| bytes - size_of::<Storage<'_, 1, 1, 1>>());
        assert_eq!(bytes, [2488, 520, 448], "a queue, a job, an object");
    }
}
