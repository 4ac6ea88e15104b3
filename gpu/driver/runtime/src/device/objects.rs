//! Objects: what users make in an address space.

use super::Device;
use super::lost_contents::LostContents;
use crate::command::{Commands, Pipelined};
use crate::error::{Error, Table, Thing};
use crate::graphics::{GraphicsPipelined, Heap, PipelineColors};
use crate::handle::{Queue, Space};
use crate::links::List;
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::resource::ImageInfo;
use crate::slab::Key;
use crate::vm::{Mapping, Protection};
use core::ops::Range;
use eitri_program::{GraphicsProgram, Program};

/// Something in memory of the GPU that has a handle.
#[derive(Debug)]
pub(crate) struct Object<'d> {
    pub(crate) space: Key,
    pub(crate) mapping: Mapping,
    /// How many commands hold it, and how often jobs in flight use it as a semaphore. 0: no job in flight uses it.
    pub(super) uses: u32,
    /// When a job that used it last ended and left lines of it in the GPU's caches: a stamp of [`super::caches`]. Of jobs whose
    /// commands still hold it, those that had ended by [`Device::refresh_uses`].
    pub(super) touched: u64,
    /// The GPU's L2 does not cache it.
    pub(super) uncached: bool,
    /// What jobs wrote into it and was lost with the caches.
    pub(super) lost: LostContents,
    /// The last recording whose commands refer to it: [`Device::mention`].
    pub(super) mentioned: u32,
    /// What it refers to.
    pub(crate) list: List,
    pub(crate) kind: Kind<'d>,
}

impl<'d> Object<'d> {
    /// One that nothing refers to and no job has used.
    pub(crate) const fn new(space: Key, mapping: Mapping, kind: Kind<'d>) -> Object<'d> {
        Object {
            space,
            mapping,
            uses: 0,
            touched: 0,
            uncached: true,
            lost: LostContents::NONE,
            mentioned: 0,
            list: List::EMPTY,
            kind,
        }
    }
}

/// Kind of an object.
#[derive(Debug)]
pub(crate) enum Kind<'d> {
    /// Memory of shaders.
    Buffer {
        /// Its length as it was asked for.
        bytes: u64,
        /// It is mapped at further addresses, or was.
        aliased: bool,
    },
    /// Plane descriptors and texels.
    Image {
        /// What it is.
        info: ImageInfo,
        /// Where its texels lie in it: found once, so that a loss does not ask for formats, which programs without images are to
        /// do without.
        texels: Range<u64>,
    },
    /// Code, and what a dispatch of it always needs.
    Pipeline(Pipelined<'d>),
    /// Programs of vertices and fragments, and what every draw of them needs.
    GraphicsPipeline(GraphicsPipelined, PipelineColors),
    /// The code of one of them.
    Stage(GraphicsProgram<'d>),
    /// Descriptors.
    Set {
        /// The program that they are for.
        program: Program<'d>,
        /// The set's number in the shader.
        set: u32,
        /// The resource table in which the program looks for it.
        table: u8,
        /// Bytes of its descriptors.
        bytes: u32,
        /// Version of what is bound: no other set has it, nor has this one had it before.
        version: u64,
        /// The last recording whose commands refer to all that is bound.
        mentioned: u32,
        /// The stage that was found last to have all that it needs of the set, when so many objects had been removed as
        /// [`Device::removals`] says; nothing was bound since.
        complete: Option<(Key, u64)>,
    },
    /// Commands.
    Commands(Commands),
    /// A sync object of 32 bits.
    Event,
    /// A sync object of 64 bits, which is in no space of its own.
    Semaphore {
        /// Where it was found to be mapped for the last job that waited for it, and for the last that signalled it.
        seen: [Option<Seen>; 2],
        /// What a job was told last to signal.
        promise: Option<Promise>,
    },
    /// Queries.
    Queries {
        /// How many.
        count: u32,
    },
    /// The context of a tiler heap.
    Heap(Heap),
    /// Memory of another object's own: further commands, scratch or shared memory, a tiler's chunk.
    Area,
}

/// A space that a semaphore is mapped in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(super) space: Key,
    pub(super) writable: bool,
}

/// A value that a job signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Promise {
    pub(super) value: u64,
    /// The stream of the job, whose jobs end in their order.
    pub(super) queue: Queue,
    pub(super) sub_queue: SubQueue,
}

impl Kind<'_> {
    /// What a user calls it.
    pub(crate) const fn thing(&self) -> Thing {
        match self {
            Kind::Buffer { .. } => Thing::Buffer,
            Kind::Image { .. } => Thing::Image,
            Kind::Pipeline(_) | Kind::GraphicsPipeline(..) | Kind::Stage(_) => Thing::Pipeline,
            Kind::Set { .. } => Thing::DescriptorSet,
            Kind::Event => Thing::Event,
            Kind::Semaphore { .. } => Thing::Semaphore,
            Kind::Queries { .. } => Thing::QueryPool,
            Kind::Heap(_) => Thing::TilerHeap,
            Kind::Commands(_) | Kind::Area => Thing::CommandBuffer,
        }
    }
}

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// An object by its handle.
    pub(crate) fn object(&self, key: Key, what: Thing) -> Result<&Object<'d>, Error> {
        self.objects.get(key).ok_or(Error::Gone { what })
    }

    /// Makes an object in a space.
    pub(crate) fn create_object(
        &mut self,
        space: Space,
        what: &'static str,
        bytes: u64,
        protection: Protection,
        kind: Kind<'d>,
    ) -> Result<Key, Error> {
        self.check_places()?;
        let mapping = self.map(Some(space.0), what, bytes, protection)?;
        let object = Object {
            uncached: protection.is_uncached(),
            ..Object::new(space.0, mapping, kind)
        };
        self.insert_object(object)
    }

    /// Fails if there is no place for an object, before memory is taken for it.
    pub(super) fn check_places(&self) -> Result<(), Error> {
        if self.objects.len() < self.objects.capacity() {
            Ok(())
        } else {
            Err(self.no_places())
        }
    }

    /// Keeps an object; [`Self::check_places`] has found a place for it.
    pub(super) fn insert_object(&mut self, object: Object<'d>) -> Result<Key, Error> {
        let space = object.space;
        let key = self.objects.insert(object);
        let key = key.map_err(|_| self.no_places())?;
        if let Some(vm) = self.spaces.get_mut(space) {
            vm.objects = vm.objects.saturating_add(1);
        }
        Ok(key)
    }

    /// Takes an object out of the storage; its key is void.
    pub(super) fn take_object(&mut self, key: Key) -> Option<Object<'d>> {
        let object = self.objects.remove(key)?;
        if matches!(object.kind, Kind::Buffer { .. } | Kind::Image { .. }) {
            self.removals = self.removals.wrapping_add(1);
        }
        if let Some(vm) = self.spaces.get_mut(object.space) {
            vm.objects = vm.objects.saturating_sub(1);
        }
        Some(object)
    }

    fn no_places(&self) -> Error {
        Error::Full {
            table: Table::Objects,
            places: self.objects.capacity(),
        }
    }

    /// Destroys an object that no job in flight uses, and the areas that it has.
    pub(crate) fn destroy_object(&mut self, key: Key, what: Thing) -> Result<(), Error> {
        self.unused(key, what)?;
        let forgotten = self.forget_aliases(key);
        self.forget_links(key);
        let object = self.take_object(key).ok_or(Error::Gone { what })?;
        forgotten.and(self.unmap(Some(object.space), [Some(object.mapping), None, None]))
    }

    /// Commands by their key.
    pub(crate) fn commands_mut(&mut self, key: Key) -> Option<&mut Commands> {
        match &mut self.objects.get_mut(key)?.kind {
            Kind::Commands(it) => Some(it),
            _ => None,
        }
    }
}
