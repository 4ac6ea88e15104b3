//! Shutdown: everything stopped in order, or else by a reset; memory and platform given back.
//!
//! Facts: hardware/csf-mmio.md sections 16.6, 16.8 and 16.9.

use super::bring_up::Prepared;
use super::spaces::release_all;
use super::start::reset_name;
use super::{BringUpError, Device, DeviceLost, Failed};
use crate::fault::{Cause, Recovery};
use crate::gpu::interrupts::mask_all;
use crate::gpu::mcu::begin_stop;
use crate::gpu::power::switch;
use crate::gpu::reset::stop_gpu;
use crate::group::GroupMemory;
use crate::platform::{Lines, Platform, PowerChange};
use crate::report::{Reporter, Step, Steps};
use crate::wait::{finish, us};

impl<P: Platform> Device<'_, '_, P> {
    /// Stops everything and cuts the L2's power; gives the platform back, and all memory to it. What does not stop in
    /// order is reset, which cuts power too. Whoever still holds a buffer holds nothing.
    ///
    /// # Errors
    /// What did not stop in order, or that the GPU does not even reset; with the platform, so that its owner can cut
    /// power all the same. The memory of a GPU that does not reset is not given back.
    #[inline(never)]
    pub fn shutdown(mut self, reporter: &mut impl Reporter) -> Result<P, Failed<P>> {
        let down = self.power_down(reporter);
        for index in 0..self.groups.capacity() {
            if let Some(key) = self.groups.key_at(index) {
                self.end_group(key, Cause::LostWithGpu, Recovery::Restart);
            }
        }
        let (platform, memory) = (&mut self.hw.platform, &mut self.memory);
        for index in 0..self.groups.capacity() {
            let group = self
                .groups
                .key_at(index)
                .and_then(|key| self.groups.remove(key));
            let Some(group) = group else { continue };
            let GroupMemory {
                rings,
                syncs,
                pages,
                suspend,
                protected,
            } = group.memory;
            let shared = [rings, syncs, pages, suspend].map(Some);
            let mappings = shared.into_iter().chain([protected]);
            for mapping in mappings.flatten() {
                memory.give_back(platform, mapping.into_pages());
            }
        }
        for index in 0..self.objects.capacity() {
            let object = self
                .objects
                .key_at(index)
                .and_then(|key| self.objects.remove(key));
            if let Some(object) = object {
                memory.give_back(platform, object.mapping.into_pages());
            }
        }
        if let Some(counters) = self.counters.take() {
            memory.give_back(platform, counters.mapping.into_pages());
        }
        release_all(platform, memory, &mut self.spaces);
        let prepared = Prepared {
            space: self.firmware_vm.space,
            image: self.image,
        };
        prepared.release(platform, memory);
        match down {
            Ok(()) => {
                self.hw.platform.begin_supply(PowerChange::Off);
                Ok(self.hw.platform)
            }
            Err(error) => Err(Failed {
                platform: self.hw.platform,
                error,
            }),
        }
    }

    fn power_down(&mut self, reporter: &mut impl Reporter) -> Result<(), BringUpError> {
        if self.is_off_for_shutdown() {
            return Ok(());
        }
        let mut steps = Steps::new(reporter);
        let orderly = match self.lost {
            None => self.power_down_in_order(&mut steps),
            Some(_) => Ok(()),
        };
        if self.is_running() && orderly.is_ok() {
            mask_all(&mut self.hw.platform);
            return Ok(());
        }
        let reset = steps.take(&mut self.hw.platform, Step::Reset, stop_gpu, |kind, say| {
            say(format_args!("{} reset completed", reset_name(*kind)))
        });
        self.memory.set_gpu_runs_free(reset.is_err());
        self.forget_spaces();
        orderly?;
        reset?;
        Ok(())
    }

    #[inline(never)]
    fn power_down_in_order<R: Reporter>(
        &mut self,
        steps: &mut Steps<'_, R>,
    ) -> Result<(), BringUpError> {
        steps.take_with(
            self,
            |device| &mut device.hw.platform,
            Step::StopGroups,
            Self::stop_groups,
            |count, say| say(format_args!("{count} groups")),
        )?;
        let it = &mut self.hw.platform;
        let global = self.hw.interface.global;
        steps.take(
            it,
            Step::StopFirmware,
            |it| {
                let now = it.now();
                let halting = global.begin_halt(it, now);
                finish(it, Lines::NONE, us(10), |it, now| halting.poll(it, now))?;
                let now = it.now();
                let stopping = begin_stop(it, now);
                finish(it, Lines::NONE, us(10), |it, now| stopping.poll(it, now))
            },
            |(), say| say(format_args!("microcontroller halted and disabled")),
        )?;
        let (firmware, spaces) = (&mut self.firmware_vm.space, &mut self.spaces);
        steps.take(
            it,
            Step::DisableSpaces,
            |it| {
                for (_, vm) in spaces.iter_mut() {
                    vm.space.disable(it)?;
                }
                firmware.disable(it)
            },
            |(), say| say(format_args!("address spaces unmapped")),
        )?;
        let off = |it: &mut P| switch(it, PowerChange::Off);
        steps.take(it, Step::PowerOff, off, |(), say| {
            say(format_args!("L2 off"));
        })?;
        Ok(())
    }

    /// Drops every group, and waits until the firmware has done so; how many there were.
    fn stop_groups(&mut self) -> Result<usize, BringUpError> {
        let count = self.groups.len();
        for index in 0..self.groups.capacity() {
            let Some(key) = self.groups.key_at(index) else {
                continue;
            };
            self.cancel_group(key);
        }
        self.restless = true;
        self.settle();
        match (
            self.lost,
            self.groups.iter().all(|(_, group)| group.is_off()),
        ) {
            (Some(DeviceLost::Silent(ignored)), _) => Err(ignored.into()),
            (None, true) => Ok(count),
            // It was lost on the way, for a reason of its own: what is left is a reset.
            _ => Err(BringUpError::Lost),
        }
    }
}
