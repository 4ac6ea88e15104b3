//! Objects: what users make in an address space, who refers to it, and whether a job in flight uses it.

use super::{Device, DeviceLost};
use crate::error::{Error, Table, Thing};
use crate::handle::{Fence, Space};
use crate::links::{Full, Links, List};
use crate::platform::Platform;
use crate::slab::{Key, Slab};
use crate::vm::{GpuAddress, Mapping, Protection, Vm, VmError};
use eitri_program::Program;

/// Something in memory of the GPU that has a handle.
#[derive(Debug)]
pub(crate) struct Object<'d> {
    pub(crate) space: Key,
    pub(crate) mapping: Mapping,
    /// How often jobs in flight use it.
    uses: u32,
    /// What it refers to.
    pub(crate) list: List,
    pub(crate) kind: Kind<'d>,
}

/// What it is.
#[derive(Debug)]
pub(crate) enum Kind<'d> {
    /// Memory of shaders.
    Buffer {
        /// Its length as it was asked for.
        bytes: u64,
        /// It is mapped at further addresses, or was.
        aliased: bool,
    },
    /// Code.
    Pipeline(Program<'d>),
    /// Descriptors.
    Set {
        /// The program that they are for.
        program: Program<'d>,
        /// The set's number in the shader.
        set: u32,
        /// The resource table in which the program looks for it.
        table: u8,
    },
    /// Commands.
    Commands {
        /// Where recorded commands are, and their bytes; `None` if recording did not end well.
        recorded: Option<(GpuAddress, u32)>,
    },
    /// Scratch or shared memory of a command buffer, and its own.
    Area,
}

impl Kind<'_> {
    /// What a user calls it.
    pub(crate) const fn thing(&self) -> Thing {
        match self {
            Kind::Buffer { .. } => Thing::Buffer,
            Kind::Pipeline(_) => Thing::Pipeline,
            Kind::Set { .. } => Thing::DescriptorSet,
            Kind::Commands { .. } | Kind::Area => Thing::CommandBuffer,
        }
    }
}

/// Does something with everything that a job which runs `commands` uses.
fn for_each_used<'d>(
    objects: &mut Slab<'_, Object<'d>>,
    links: &Links<'_>,
    commands: Key,
    mut action: impl FnMut(Key, Option<&mut Object<'d>>),
) {
    let Some(list) = objects.get(commands).map(|object| object.list) else {
        return action(commands, None);
    };
    action(commands, objects.get_mut(commands));
    for (used, _) in links.of(list) {
        action(used, objects.get_mut(used));
        let inner = objects.get(used).map(|object| (object.list, &object.kind));
        if let Some((list, Kind::Set { .. })) = inner {
            for (bound, _) in links.of(list) {
                action(bound, objects.get_mut(bound));
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
        let places = self.objects.capacity();
        let full = Error::Full {
            table: Table::Objects,
            places,
        };
        if self.objects.len() >= places {
            return Err(full);
        }
        let mapping = self.map(Some(space.0), what, bytes, protection)?;
        let object = Object {
            space: space.0,
            mapping,
            uses: 0,
            list: List::EMPTY,
            kind,
        };
        // There is a place: it was looked for above.
        self.objects.insert(object).map_err(|_| full)
    }

    /// Destroys an object that no job in flight uses, and the areas that it has.
    pub(crate) fn destroy_object(&mut self, key: Key, what: Thing) -> Result<(), Error> {
        self.unused(key, what)?;
        let forgotten = self.forget_aliases(key);
        self.forget_links(key);
        let object = self.objects.remove(key).ok_or(Error::Gone { what })?;
        forgotten.and(self.unmap(Some(object.space), object.mapping))
    }

    /// Takes what an object refers to out; areas go with it.
    pub(crate) fn forget_links(&mut self, key: Key) {
        let Some(object) = self.objects.get_mut(key) else {
            return;
        };
        let mut list = core::mem::replace(&mut object.list, List::EMPTY);
        while let Some(used) = self.links.pop(&mut list) {
            let is_area = |object: &Object<'_>| matches!(object.kind, Kind::Area);
            if self.objects.get(used).is_some_and(is_area)
                && let Some(area) = self.objects.remove(used)
            {
                // A space that does not obey has cost the device, which says so from now on.
                let _ = self.unmap(Some(area.space), area.mapping);
            }
        }
    }

    /// Lets an object refer to another.
    pub(crate) fn link(&mut self, from: Key, to: Key, tag: Option<u32>) -> Result<(), Error> {
        let places = self.links.capacity();
        let Some(object) = self.objects.get_mut(from) else {
            return Ok(());
        };
        self.links
            .add(&mut object.list, to, tag)
            .map_err(|Full| Error::Full {
                table: Table::References,
                places,
            })
    }

    /// That no job in flight uses an object.
    pub(crate) fn unused(&mut self, key: Key, what: Thing) -> Result<(), Error> {
        if self.object(key, what)?.uses == 0 {
            return Ok(());
        }
        match self.user_of(key) {
            Some(by) => Err(Error::InUse { what, by }),
            None => Ok(()),
        }
    }

    /// A job in flight that uses an object.
    fn user_of(&mut self, key: Key) -> Option<Fence> {
        for index in 0..self.jobs.capacity() {
            let job = self.jobs.key_at(index).and_then(|job| self.jobs.get(job));
            let Some((fence, Some(commands))) = job.map(|job| (job.fence, job.commands)) else {
                continue;
            };
            let mut found = false;
            for_each_used(&mut self.objects, &self.links, commands, |used, _| {
                found |= used == key;
            });
            if found {
                return Some(fence);
            }
        }
        None
    }

    /// That everything which commands use is still there.
    pub(crate) fn check_used(&mut self, commands: Key) -> Result<(), Error> {
        let mut missing = false;
        for_each_used(&mut self.objects, &self.links, commands, |_, object| {
            missing |= object.is_none();
        });
        match missing {
            true => Err(Error::NotRecorded),
            false => Ok(()),
        }
    }

    /// Counts a job in flight that runs `commands`.
    pub(crate) fn count_use(&mut self, commands: Key) {
        for_each_used(&mut self.objects, &self.links, commands, |_, object| {
            if let Some(object) = object {
                object.uses = object.uses.saturating_add(1);
            }
        });
    }

    /// Such a job is over.
    pub(crate) fn count_end(&mut self, commands: Key) {
        for_each_used(&mut self.objects, &self.links, commands, |_, object| {
            if let Some(object) = object {
                object.uses = object.uses.saturating_sub(1);
            }
        });
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
        let vm = Self::vm(&mut self.firmware_vm, &mut self.spaces, space)?;
        let mapped = vm.map(
            &mut self.platform,
            &mut self.memory,
            what,
            bytes,
            protection,
        );
        mapped.map_err(|(pages, error)| {
            // A space that does not obey has cost the device: the GPU is stopped before its memory has a new owner.
            self.note(error);
            if let Some(pages) = pages {
                self.memory.give_back(&mut self.platform, pages);
            }
            error.into()
        })
    }

    /// Unmaps what no work uses any more, and gives its memory back.
    pub(crate) fn unmap(&mut self, space: Option<Key>, mapping: Mapping) -> Result<(), Error> {
        let vm = Self::vm(&mut self.firmware_vm, &mut self.spaces, space)?;
        let unmapped = vm.unmap(&mut self.platform, &mut self.memory, &mapping);
        if let Err(error) = unmapped {
            self.note(error);
            // The GPU is stopped now, if the space did not obey: what is left is to change the tables in memory.
            let vm = Self::vm(&mut self.firmware_vm, &mut self.spaces, space)?;
            let _ = vm.unmap(&mut self.platform, &mut self.memory, &mapping);
        }
        self.memory
            .give_back(&mut self.platform, mapping.into_pages());
        Ok(unmapped?)
    }

    /// An address space that does not obey costs the device.
    fn note(&mut self, error: VmError) {
        if let VmError::Mmu(mmu) = error
            && mmu.costs_the_device()
        {
            self.lose(DeviceLost::Mmu(mmu));
        }
    }
}
