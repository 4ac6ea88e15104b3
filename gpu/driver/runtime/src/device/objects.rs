//! Objects: what users make in an address space, who refers to it, and whether a job in flight uses it.
//!
//! Commands hold what they refer to: from their first submission on it is counted as used, and it stays so when their jobs are
//! over, until somebody asks for an object that is held. Then whatever only idle commands hold is let go
//! ([`Device::refresh_uses`]). So submitting commands again costs one count, however much they use, and a job's end another.

use super::heap::Heap;
use super::lost_contents::LostContents;
use super::{Device, DeviceLost};
use crate::command::{Commands, Pipelined};
use crate::error::{Error, Table, Thing};
use crate::graphics::{GraphicsPipelined, PipelineColors};
use crate::handle::{Fence, Queue, Space};
use crate::image::ImageInfo;
use crate::links::{Full, Links, List};
use crate::platform::Platform;
use crate::queue::{Ended, Reach, SubQueue};
use crate::slab::{Key, Slab};
use crate::vm::{AT_ONCE, Mapping, NOTHING, Protection, Vm, VmError, Wanted};
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
    mentioned: u32,
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
        /// The stage that was found last to have all that it needs of the set, in which recording.
        complete: Option<(Key, u32)>,
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

/// Does something with everything that jobs of `commands` use, themselves included.
fn for_each_used<'d>(
    objects: &mut Slab<'_, Object<'d>>,
    links: &Links<'_>,
    commands: Key,
    mut action: impl FnMut(Key, Option<&mut Object<'d>>),
) {
    let mut act = |key| {
        let mut object = objects.get_mut(key);
        action(key, object.as_deref_mut());
        let kept = object.map(|object| (object.list, matches!(object.kind, Kind::Set { .. })));
        kept.unwrap_or((List::EMPTY, false))
    };
    let (list, _) = act(commands);
    for used in links.keys(list) {
        if let (bound, true) = act(used) {
            for bound in links.keys(bound) {
                act(bound);
            }
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

    /// Takes what an object refers to out; its own areas go with it.
    pub(crate) fn forget_links(&mut self, key: Key) {
        self.keep_links(key, |_| false);
    }

    /// Takes what an object refers to out, but for its own areas with tags that `keep` says.
    pub(crate) fn keep_links(&mut self, key: Key, keep: impl Fn(u32) -> bool) {
        let Some(object) = self.objects.get_mut(key) else {
            return;
        };
        let mut list = core::mem::replace(&mut object.list, List::EMPTY);
        let mut kept = List::EMPTY;
        while let Some((used, tag)) = self.links.pop(&mut list) {
            let is_area = |object: &Object<'_>| matches!(object.kind, Kind::Area | Kind::Stage(_));
            // Without a tag it is another's: of commands that these call.
            if tag.is_none() || !self.objects.get(used).is_some_and(is_area) {
                continue;
            }
            if tag.is_some_and(&keep) {
                // There is a place: the one that was just left.
                let _ = self.links.push(&mut kept, used, tag);
            } else if let Some(area) = self.take_object(used) {
                // A space that does not obey has cost the device, which says so from now on.
                let _ = self.unmap(Some(area.space), [Some(area.mapping), None, None]);
            }
        }
        if let Some(object) = self.objects.get_mut(key) {
            object.list = kept;
        }
    }

    /// Lets an object refer to another by a tag, in place of what had the tag.
    pub(crate) fn link(&mut self, from: Key, to: Key, tag: u32) -> Result<(), Error> {
        let Some(object) = self.objects.get_mut(from) else {
            return Ok(());
        };
        let put = self.links.put(&mut object.list, to, tag);
        put.map_err(|Full| self.no_references())
    }

    /// Lets an object refer to another, which it does not do yet.
    pub(crate) fn link_new(&mut self, from: Key, to: Key, tag: Option<u32>) -> Result<(), Error> {
        let Some(object) = self.objects.get_mut(from) else {
            return Ok(());
        };
        let pushed = self.links.push(&mut object.list, to, tag);
        pushed.map_err(|Full| self.no_references())
    }

    #[cold]
    fn no_references(&self) -> Error {
        Error::Full {
            table: Table::References,
            places: self.links.capacity(),
        }
    }

    /// Begins a recording: its commands have mentioned nothing yet.
    pub(crate) fn begin_mentions(&mut self) {
        self.recordings = self.recordings.wrapping_add(1);
        if self.recordings == 0 {
            // Once in 2^32 recordings: what another has left is not taken for this one's.
            for (_, object) in self.objects.iter_mut() {
                object.mentioned = 0;
                if let Kind::Set {
                    mentioned,
                    complete,
                    ..
                } = &mut object.kind
                {
                    (*mentioned, *complete) = (0, None);
                }
            }
            self.recordings = 1;
        }
    }

    /// Lets the commands that are being recorded refer to something in their `space`, once however often they mention it; gives
    /// what `take` takes of it.
    ///
    /// # Errors
    /// If it was destroyed, `take` finds it to be something else, it is in another space, or there is no place for the reference.
    #[inline]
    pub(crate) fn mention<T>(
        &mut self,
        (commands, space): (Key, Key),
        key: Key,
        what: Thing,
        take: impl FnOnce(&Object<'d>) -> Option<T>,
    ) -> Result<T, Error> {
        let object = self.objects.get(key).ok_or(Error::Gone { what })?;
        if object.space != space {
            return Err(Error::OtherSpace { what });
        }
        let taken = take(object).ok_or(Error::Gone { what })?;
        if object.mentioned != self.recordings {
            self.mention_first(commands, key)?;
        }
        Ok(taken)
    }

    /// The commands that are being recorded refer to all that is bound to a set.
    pub(crate) fn note_bound_mentioned(&mut self, set: Key) {
        let recording = self.recordings;
        if let Some(object) = self.objects.get_mut(set)
            && let Kind::Set { mentioned, .. } = &mut object.kind
        {
            *mentioned = recording;
        }
    }

    /// The number of this recording, which objects carry that its commands refer to. No other has it.
    pub(crate) const fn recording(&self) -> u32 {
        self.recordings
    }

    #[inline(never)]
    fn mention_first(&mut self, commands: Key, key: Key) -> Result<(), Error> {
        self.link_new(commands, key, None)?;
        if let Some(object) = self.objects.get_mut(key) {
            object.mentioned = self.recordings;
        }
        Ok(())
    }

    /// Lets the commands that are being recorded refer to all that others refer to.
    pub(crate) fn mention_all(&mut self, commands: Key, others: Key) -> Result<(), Error> {
        let list = self.objects.get(others).map(|object| object.list);
        let mut at = list.unwrap_or(List::EMPTY);
        // A list has no more links than there are.
        for _ in 0..self.links.capacity() {
            let Some((used, _, rest)) = self.links.first(at) else {
                break;
            };
            at = rest;
            let object = self.objects.get(used);
            // Of what was destroyed there is no mark; nothing is held of it, and so nothing of these commands.
            if object.is_none_or(|object| object.mentioned != self.recordings) {
                self.mention_first(commands, used)?;
            }
        }
        Ok(())
    }

    /// Fails if a job in flight uses an object.
    pub(crate) fn unused(&mut self, key: Key, what: Thing) -> Result<(), Error> {
        if self.refreshed(key, what)?.uses == 0 {
            return Ok(());
        }
        match self.user_of(key, |_| false) {
            Some(by) => Err(Error::InUse { what, by }),
            None => Ok(()),
        }
    }

    /// A job in flight that uses an object, none of those that are left out.
    fn user_of(&mut self, key: Key, but: impl Fn(Fence) -> bool) -> Option<Fence> {
        for index in 0..self.jobs.capacity() {
            let job = self.jobs.key_at(index).and_then(|job| self.jobs.get(job));
            let Some(job) = job else { continue };
            let (fence, commands) = (job.fence, job.commands);
            if but(fence) {
                continue;
            }
            let points = job.points.and_then(|points| self.points.get(points));
            let mut points = points.into_iter().flat_map(|points| points.all());
            let mut found = points.any(|point| point.semaphore == key);
            if let Some(commands) = commands {
                for_each_used(&mut self.objects, &self.links, commands, |used, _| {
                    found |= used == key;
                });
            }
            if found {
                return Some(fence);
            }
        }
        None
    }

    /// Fails if commands with memory of their own can't run beside the jobs in flight of other streams.
    pub(crate) fn check_exclusive(
        &mut self,
        commands: Key,
        queue: Queue,
        sub_queue: SubQueue,
    ) -> Result<(), Error> {
        let own = |fence: Fence| (fence.queue, fence.sub_queue) == (queue, sub_queue);
        self.check_exclusive_but(commands, own)
    }

    /// The same beside all jobs but some.
    pub(super) fn check_exclusive_but(
        &mut self,
        commands: Key,
        but: impl Fn(Fence) -> bool,
    ) -> Result<(), Error> {
        self.refresh_uses();
        let mut busy = None;
        for_each_used(&mut self.objects, &self.links, commands, |key, object| {
            if let Some(object) = object
                && object.uses > 0
                && let Kind::Commands(it) = &object.kind
                && it.recorded.is_some_and(|recorded| recorded.exclusive)
            {
                busy = Some(key);
            }
        });
        match busy.and_then(|key| self.user_of(key, but)) {
            Some(by) => Err(Error::InUse {
                what: Thing::CommandBuffer,
                by,
            }),
            None => Ok(()),
        }
    }

    /// Commands by their key.
    pub(crate) fn commands_mut(&mut self, key: Key) -> Option<&mut Commands> {
        match &mut self.objects.get_mut(key)?.kind {
            Kind::Commands(it) => Some(it),
            _ => None,
        }
    }

    /// The object as it is now: what [`Self::refresh_uses`] may change of it has changed.
    pub(super) fn refreshed(&mut self, key: Key, what: Thing) -> Result<&Object<'d>, Error> {
        if self.object(key, what)?.uses > 0 {
            self.refresh_uses();
        }
        self.object(key, what)
    }

    /// Lets commands hold what they use, which is not destroyed or changed then.
    ///
    /// # Errors
    /// If something of it was destroyed: nothing is held then.
    #[cold]
    pub(super) fn hold(&mut self, commands: Key) -> Result<(), Error> {
        let mut missing = false;
        for_each_used(
            &mut self.objects,
            &self.links,
            commands,
            |_, object| match object {
                Some(object) => object.uses = object.uses.saturating_add(1),
                None => missing = true,
            },
        );
        if missing {
            self.note_uses(commands, None, true);
            return Err(Error::NotRecorded);
        }
        let next = self.holders;
        if let Some(it) = self.commands_mut(commands) {
            it.held = true;
            it.next = next;
            self.holders = Some(commands);
        }
        Ok(())
    }

    /// Lets what only idle commands hold go, and notes what jobs that are over have left in the GPU's caches.
    #[cold]
    pub(super) fn refresh_uses(&mut self) {
        let mut next = self.holders.take();
        // There are no more holders than objects.
        for _ in 0..self.objects.capacity() {
            let Some(commands) = next else { break };
            let kept = self.holders;
            let Some(it) = self.commands_mut(commands) else {
                break;
            };
            let (left, idle) = (it.left.take(), it.jobs == 0);
            (next, it.next) = (it.next, kept);
            it.held = !idle;
            if !idle {
                self.holders = Some(commands);
            }
            if idle || left.is_some() {
                self.note_uses(commands, left, idle);
            }
        }
    }

    /// Notes for what commands use since when lines of it are in the GPU's caches; and, if they are `idle`, that they use it no
    /// more.
    fn note_uses(&mut self, commands: Key, left: Option<u64>, idle: bool) {
        let (left, fewer) = (left.unwrap_or(0), u32::from(idle));
        for_each_used(&mut self.objects, &self.links, commands, |_, object| {
            if let Some(object) = object {
                object.uses = object.uses.saturating_sub(fewer);
                object.touched = object.touched.max(left);
            }
        });
    }

    /// A job of a group is over.
    pub(super) fn count_end(&mut self, group: Key, ended: Ended) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.file(group);
        self.caches.end(ended.uses, ended.begin, ended.ran);
        if let Some(points) = ended.points {
            self.end_points(points);
        }
        let left = self.caches.left();
        let Some(commands) = ended.commands else {
            // It may have used anything in its space; what the host wrote meanwhile it may have seen before.
            let space = self.groups.get(group).map(|group| group.space);
            for (_, object) in self.objects.iter_mut() {
                if Some(object.space) == space {
                    object.touched = left;
                }
            }
            self.flush_first(Reach::All);
            return;
        };
        let clean = ended.uses.clean && ended.well;
        if let Some(it) = self.commands_mut(commands) {
            it.jobs = it.jobs.saturating_sub(1);
            if !clean {
                it.left = Some(left);
            }
        }
    }

    /// The space with this key; without one the firmware's.
    fn vm<'a>(
        firmware: &'a mut Vm,
        spaces: &'a mut Slab<'_, Vm>,
        space: Option<Key>,
    ) -> Result<&'a mut Vm, Error> {
        match space {
            None => Ok(firmware),
            Some(space) => spaces
                .get_mut(space)
                .ok_or(Error::Gone { what: Thing::Space }),
        }
    }

    /// Maps fresh memory in a space; without one in the firmware's.
    pub(crate) fn map(
        &mut self,
        space: Option<Key>,
        what: &'static str,
        bytes: u64,
        protection: Protection,
    ) -> Result<Mapping, Error> {
        let wanted = (what, bytes.max(1), protection);
        let [mapping, ..] = self.map_all(space, [wanted, NOTHING, NOTHING])?;
        let what = Thing::Buffer;
        mapping.ok_or(Error::Empty { what })
    }

    /// Maps several in one go, for which the hardware is asked once; nothing where no bytes are wanted.
    #[inline(never)]
    pub(crate) fn map_all(
        &mut self,
        space: Option<Key>,
        wanted: [Wanted; AT_ONCE],
    ) -> Result<[Option<Mapping>; AT_ONCE], Error> {
        self.wait_for_mmu();
        let vm = Self::vm(&mut self.firmware_vm, &mut self.spaces, space)?;
        let mapped = vm.map(&mut self.hw.platform, &mut self.memory, wanted);
        mapped.map_err(|(pages, error)| {
            // A space that does not obey has cost the device: the GPU is stopped before its memory has a new owner.
            self.note(error);
            for pages in pages.into_iter().flatten() {
                self.memory.give_back(&mut self.hw.platform, pages);
            }
            error.into()
        })
    }

    /// Unmaps what no work uses any more, and gives its memory back.
    #[inline(never)]
    pub(crate) fn unmap(
        &mut self,
        space: Option<Key>,
        mappings: [Option<Mapping>; AT_ONCE],
    ) -> Result<(), Error> {
        self.wait_for_mmu();
        let vm = Self::vm(&mut self.firmware_vm, &mut self.spaces, space)?;
        let unmapped = vm.unmap(&mut self.hw.platform, &mut self.memory, &mappings);
        if let Err(error) = unmapped {
            self.note(error);
            // The GPU is stopped now, if the space did not obey: what is left is to change the tables in memory.
            let vm = Self::vm(&mut self.firmware_vm, &mut self.spaces, space)?;
            let _ = vm.unmap(&mut self.hw.platform, &mut self.memory, &mappings);
        }
        for mapping in mappings.into_iter().flatten() {
            self.memory
                .give_back(&mut self.hw.platform, mapping.into_pages());
        }
        Ok(unmapped?)
    }

    /// An address space that does not obey is a loss of the GPU.
    fn note(&mut self, error: VmError) {
        if let VmError::Mmu(mmu) = error
            && mmu.costs_the_device()
        {
            self.stop_now(DeviceLost::Mmu(mmu));
        }
    }
}
