//! Uniforms that a set keeps: what was found out for a pipeline with this set, so that a dispatch which binds both again only
//! copies it.
//!
//! It stands in the set's own memory, behind its descriptors, where the GPU may read but not write: a place of fixed size for
//! each of a few pipelines, by the pipeline's number. A place says for which pipeline and for which version of the set it is:
//! binding anything else to the set makes all of them void.  Never: keeps anything of a program that uses several sets, or of a
//! set of which the commands have a copy.

use super::recorder::Recorder;
use crate::device::{Device, Kind};
use crate::error::Error;
use crate::handle::{DescriptorSet, Pipeline};
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::BoundSet;

/// EncodedInstructions of a place: the pipeline, the version of the set, and the uniforms.
const WORDS: usize = 32;
const BYTES: u64 = WORDS as u64 * 8;
/// EncodedInstructions of the uniforms.
pub(super) const MOST: usize = WORDS - 2;
/// KeptPlaces of a set at most.
const PLACES: u64 = 255;

/// Where a set keeps uniforms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptPlaces {
    start: PhysicalAddress,
    count: u8,
    /// Version of what is bound to the set.
    version: u64,
}

impl KeptPlaces {
    /// Between two addresses of the set's memory.
    pub(crate) fn between(from: PhysicalAddress, end: PhysicalAddress, version: u64) -> KeptPlaces {
        let start = PhysicalAddress(from.0.next_multiple_of(64));
        let count = end.0.saturating_sub(start.0) / BYTES;
        KeptPlaces {
            start,
            count: count.min(PLACES) as u8,
            version,
        }
    }

    /// The place for a pipeline.
    fn of(&self, pipeline: Pipeline) -> Option<PhysicalAddress> {
        let number = pipeline.0.index().checked_rem(self.count.into())?;
        Some(self.start.offset((number as u64).wrapping_mul(BYTES)))
    }
}

impl<P: Platform> Device<'_, '_, P> {
    /// Something else is bound to a set: what it keeps is void.
    pub(crate) fn forget_kept_uniforms(&mut self, set: DescriptorSet) {
        let new = self.versions.next();
        if let Some(object) = self.objects.get_mut(set.0)
            && let Kind::Set {
                version, complete, ..
            } = &mut object.kind
        {
            (*version, *complete) = (new, None);
        }
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// The set that keeps uniforms for the bound pipeline: the only one that it uses.
    fn keeper(&self) -> Option<(&BoundSet, Pipeline)> {
        let table = self.pipeline.as_ref()?.table?;
        let set = self.set_of(table)?;
        set.whole?;
        Some((set, self.pipeline_of?))
    }

    /// Takes the uniforms of what is bound from the set that keeps them; false if it keeps none. If it does, the set has everything
    /// that the pipeline needs, and is the only one that it uses; the commands refer to all of it.
    pub(super) fn recall_uniforms(&mut self) -> Result<bool, Error> {
        let Some((set, pipeline)) = self.keeper() else {
            return Ok(false);
        };
        let (places, table, alone) = (set.places, set.table, set.alone);
        let Some(at) = places.of(pipeline) else {
            return Ok(false);
        };
        let mut words = [0; 8];
        self.device.hw.platform.read_words(at, &mut words);
        let [key, second, counts, first @ ..] = words;
        if key != pipeline.0.number() || second != places.version {
            return Ok(false);
        }
        if !self.refer_to_bound(table)? {
            return Ok(false);
        }
        let device = &mut *self.device;
        let (uniforms, platform) = (&mut device.uniforms, &mut device.hw.platform);
        let restored = uniforms.restore(pipeline.0, counts, Some(&first), |number, words| {
            let behind = (number as u64).wrapping_add(3).wrapping_mul(8);
            platform.read_words(at.offset(behind), words);
        });
        if restored {
            self.made.complete = true;
            self.made.resources = alone;
        }
        Ok(restored)
    }

    /// Lets the set keep the uniforms that were found for the bound pipeline; everything that it needs is bound.
    #[inline(never)]
    pub(super) fn keep_uniforms(&mut self) {
        let Some((set, pipeline)) = self.keeper() else {
            return;
        };
        let places = set.places;
        let (Some(at), Some(words)) = (places.of(pipeline), self.device.uniforms.saved::<MOST>())
        else {
            return;
        };
        let first = [pipeline.0.number(), places.version];
        let platform = &mut self.device.hw.platform;
        platform.write_words(at, &first);
        platform.write_words(at.offset(16), &words);
        // The GPU reads none of it; but a line that is written must not stay in a cache when the memory goes to another owner.
        platform.clean(at.span(BYTES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::tests::{Bound, bound, program_with, recorded, words};
    use crate::error::Error;
    use crate::handle::CommandBuffer;
    use crate::testing::Fake;
    use crate::testing::firmware::{control_blocks, image};
    use eitri_program::{AddressHalf, Axis, DescriptorSlot, FauOp, FauOperand, FauStep, FauWord};

    #[test]
    fn places_are_what_is_left_of_the_memory() {
        let at = |start, end| {
            let (start, end) = (PhysicalAddress(start), PhysicalAddress(end));
            KeptPlaces::between(start, end, 7)
        };
        let places = at(0x1050, 0x2000);
        assert_eq!((places.start, places.count), (PhysicalAddress(0x1080), 15));
        assert_eq!(at(0x1f00, 0x2000).count, 1);
        assert_eq!(at(0x1f01, 0x2000).count, 0);
        assert_eq!(at(0x2000, 0x2000).count, 0);
    }

    /// Address of a buffer, its length less a push constant, and that push constant.
    fn uniform_words() -> [FauWord; 4] {
        let slot = DescriptorSlot { table: 1, index: 0 };
        let address = |half| FauWord::BufferAddress { slot, half };
        [
            address(AddressHalf::Low),
            address(AddressHalf::High),
            FauWord::BufferBytes { slot },
            FauWord::PushConstant { offset: 4 },
        ]
    }

    const LESS: FauStep = FauStep {
        word: 2,
        op: FauOp::Subtract,
        operand: FauOperand::PushConstant(0),
    };

    /// Records a dispatch with a push constant; its uniforms.
    fn record(
        device: &mut Device<'_, '_, Fake>,
        (commands, pipeline, set): (CommandBuffer, Pipeline, DescriptorSet),
        push: u32,
    ) -> Result<std::vec::Vec<u32>, Error> {
        device.record(commands, |it| {
            it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
            let push = u64::from(push) << 32 | u64::from(push);
            it.push_constants(&push.to_le_bytes())?.dispatch([1; 3])?;
            Ok(())
        })?;
        let stream = recorded(device, commands);
        Ok(words(device, stream[3] & 0xFFFF_FFFF, 4))
    }

    #[test]
    fn what_a_set_keeps_is_what_would_be_found() {
        let image = image(&control_blocks());
        let program = program_with(&uniform_words(), |parts| parts.fau_steps = &[LESS]);
        let Bound {
            mut device,
            pipeline,
            set,
            buffer,
            commands,
        } = bound(&image, &program);
        let all = (commands, pipeline, set);
        let address = |device: &Device<'_, '_, Fake>, buffer| {
            let at = device.buffer_address(buffer).expect("there").0;
            [at as u32, (at >> 32) as u32]
        };
        let [low, high] = address(&device, buffer);
        // Found, and then kept.
        for push in [1, 2, 2] {
            let found = record(&mut device, all, push).expect("complete");
            assert_eq!(found, [low, high, 4096 - push, push]);
        }
        // Another pipeline keeps its own.
        let space = device.object(pipeline.0, crate::error::Thing::Pipeline);
        let space = crate::handle::Space(space.expect("there").space);
        let other = program_with(&uniform_words()[..2], |_| ());
        let other = eitri_program::Program::parse(other.leak()).expect("legal");
        let other = device.create_pipeline(space, &other).expect("memory");
        for (pipeline, more) in [(other, 0), (pipeline, 4088), (other, 0), (pipeline, 4088)] {
            let found = record(&mut device, (commands, pipeline, set), 8).expect("complete");
            assert_eq!(found[..2], [low, high]);
            assert!(more == 0 || found[2..] == [more, 8], "{found:?}");
        }
        // Something else is bound: nothing of before is taken.
        let larger = device.create_buffer(space, 8192).expect("memory");
        device.bind_buffer(set, 2, larger).expect("fits");
        let [low, high] = address(&device, larger);
        for push in [1, 2] {
            let found = record(&mut device, all, push).expect("complete");
            assert_eq!(found, [low, high, 8192 - push, push]);
        }
    }

    #[test]
    fn what_a_set_keeps_is_written_once() {
        let image = image(&control_blocks());
        let program = program_with(&uniform_words(), |_| ());
        let Bound {
            mut device,
            pipeline,
            set,
            buffer,
            commands,
        } = bound(&image, &program);
        let cleaned = |device: &mut Device<'_, '_, Fake>| {
            let before = device.hw.platform.cleaned;
            record(device, (commands, pipeline, set), 1).expect("complete");
            device.hw.platform.cleaned - before
        };
        // The memory of the commands is there from the first recording on.
        cleaned(&mut device);
        let kept = cleaned(&mut device);
        device.bind_buffer(set, 2, buffer).expect("fits");
        let found = cleaned(&mut device);
        assert_eq!(found, kept + 1, "only what was found anew is written");
        assert_eq!(cleaned(&mut device), kept);
    }

    /// The dispatch before has no uniforms, and so has written no numbers of workgroups.
    #[test]
    fn a_repeated_grid_stands_in_the_uniforms_of_another_pipeline() {
        let image = image(&control_blocks());
        let program = program_with(&[FauWord::NumWorkgroups(Axis::X)], |_| ());
        let Bound {
            mut device,
            pipeline,
            set,
            commands,
            ..
        } = bound(&image, &program);
        let space = device.object(pipeline.0, crate::error::Thing::Pipeline);
        let space = crate::handle::Space(space.expect("there").space);
        let none = program_with(&[], |_| ());
        let none = eitri_program::Program::parse(none.leak()).expect("legal");
        let none = device.create_pipeline(space, &none).expect("memory");
        // From the second recording on the set keeps the uniforms.
        for round in 0..3 {
            let record = |device: &mut Device<'_, '_, Fake>, first: Option<Pipeline>| {
                let recording = device.record(commands, |it| {
                    for pipeline in first.into_iter().chain([pipeline]) {
                        it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
                        it.dispatch([3, 1, 1])?;
                    }
                    Ok(())
                });
                recording.expect("complete");
                recorded(device, commands)
            };
            // The load of the register of uniforms, by the stream of one dispatch.
            let alone = record(&mut device, None)[3];
            let register = |word: u64| word >> 48 & 0xFF;
            let both = record(&mut device, Some(none));
            let loads = both.iter().filter(|word| matches!(*word >> 56, 1 | 2));
            let mut loads = loads.filter(|word| register(**word) == register(alone));
            let load = loads.next_back().expect("uniforms");
            let found = words(&mut device, load & 0xFFFF_FFFF, 1);
            assert_eq!(found, [3], "in round {round}");
        }
    }

    #[test]
    fn commands_refer_to_what_a_set_keeps_and_miss_what_is_gone() {
        let image = image(&control_blocks());
        let program = program_with(&uniform_words(), |_| ());
        let Bound {
            mut device,
            pipeline,
            set,
            buffer,
            commands,
        } = bound(&image, &program);
        let all = (commands, pipeline, set);
        for round in 0..2 {
            record(&mut device, all, round).expect("complete");
            let list = device.objects.get(commands.0).expect("there").list;
            let mut keys = [pipeline.0, set.0, buffer.0].to_vec();
            for (key, _) in device.links.of(list) {
                keys.retain(|it| *it != key);
            }
            assert_eq!(keys, [], "in round {round}");
            assert_eq!(device.links.of(list).count(), 3, "once each");
        }
        device.destroy_buffer(buffer).expect("no job uses it");
        let missing = record(&mut device, all, 3).map_err(|error| std::format!("{error}"));
        let text = "the buffer was destroyed";
        assert_eq!(missing, Err(std::string::String::from(text)));
    }
}
