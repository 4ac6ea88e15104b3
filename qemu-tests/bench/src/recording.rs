//! Rows about recording: what a dispatch costs by what differs from the one before.

use crate::cost::Cost;
use crate::{Failure, Gpu, Parts, Recording, THINGS};
use alloc::vec::Vec;
use eitri_runtime::{Accesses, Error};

/// Dispatches of the longer of two recordings: their difference is what one costs.
const MANY: u32 = 9;

pub(crate) fn rows(device: &mut Gpu, parts: &Parts) -> Result<(), Failure> {
    let (first, set) = (parts.pipelines[0], parts.own[0]);
    // What a recording keeps of the one before is there: measured from the second on.
    record(device, parts, |it| same(it, parts, THINGS as u32, false))?;
    let empty = record(device, parts, |_| Ok(()))?;
    empty.print("empty");
    let one = record(device, parts, |it| same(it, parts, 1, false))?;
    one.less(empty, 1).print("first");
    let many = record(device, parts, |it| same(it, parts, MANY, false))?;
    many.less(one, MANY - 1).print("dispatch");
    let barriers = record(device, parts, |it| same(it, parts, MANY, true))?;
    barriers.less(many, MANY).print("barrier");

    shape(device, parts, "groups", |it, number| {
        it.bind_pipeline(first)?.bind_descriptor_set(set)?;
        push(it, number)?.dispatch([number + 1, 1, 1])?;
        Ok(())
    })?;
    shape(device, parts, "two-sets", |it, number| {
        let set = parts.own[number as usize % 2];
        it.bind_pipeline(first)?.bind_descriptor_set(set)?;
        push(it, number)?.dispatch([1, 1, 1])?;
        Ok(())
    })?;
    let mut random = Random(25);
    let random: Vec<usize> = (0..THINGS).map(|_| random.below(THINGS)).collect();
    shape(device, parts, "random-sets", |it, number| {
        let set = parts.own[random[number as usize]];
        it.bind_pipeline(first)?.bind_descriptor_set(set)?;
        push(it, number)?.dispatch([1, 1, 1])?;
        Ok(())
    })?;
    shape(device, parts, "two-pipelines", |it, number| {
        let which = number as usize % 2;
        it.bind_pipeline(parts.pipelines[which])?;
        it.bind_descriptor_set(parts.sets[which])?;
        push(it, number)?.dispatch([1, 1, 1])?;
        Ok(())
    })?;
    shape(device, parts, "random-pipelines", |it, number| {
        let which = random[number as usize];
        it.bind_pipeline(parts.pipelines[which])?;
        it.bind_descriptor_set(parts.sets[which])?;
        push(it, number)?.dispatch([1, 1, 1])?;
        Ok(())
    })?;
    let counts = device.create_buffer(parts.space, 4096)?;
    let one = [1_u32; 3].map(u32::to_le_bytes);
    device.write_buffer(counts, 0, one.as_flattened())?;
    shape(device, parts, "indirect", |it, number| {
        it.bind_pipeline(first)?.bind_descriptor_set(set)?;
        push(it, number)?.dispatch_indirect(counts, 0)?;
        Ok(())
    })
}

/// What each of many dispatches costs beyond the first two.
fn shape(
    device: &mut Gpu,
    parts: &Parts,
    name: &str,
    mut dispatch: impl FnMut(&mut Recording<'_, '_>, u32) -> Result<(), Error>,
) -> Result<(), Failure> {
    let mut all = |device: &mut Gpu, count: u32| {
        record(device, parts, |it| {
            (0..count).try_for_each(|number| dispatch(it, number))
        })
    };
    let count = THINGS as u32;
    all(device, count)?;
    let (few, many) = (all(device, 2)?, all(device, count)?);
    many.less(few, count - 2).print(name);
    Ok(())
}

/// Each with its own push constants, as a program that draws a list has them.
pub(crate) fn same(
    recorder: &mut Recording<'_, '_>,
    parts: &Parts,
    count: u32,
    barriers: bool,
) -> Result<(), Error> {
    recorder.bind_pipeline(parts.pipelines[0])?;
    for number in 0..count {
        recorder.bind_descriptor_set(parts.own[0])?;
        push(recorder, number)?.dispatch([1, 1, 1])?;
        if barriers {
            recorder.barrier(Accesses::SHADER_WRITE, Accesses::SHADER_READ)?;
        }
    }
    Ok(())
}

/// Push constants that differ from those before: a number, and no elements.
pub(crate) fn push<'a, 'r, 's>(
    recorder: &'a mut Recording<'r, 's>,
    number: u32,
) -> Result<&'a mut Recording<'r, 's>, Error> {
    recorder.push_constants(&u64::from(number).to_le_bytes())
}

pub(crate) fn record(
    device: &mut Gpu,
    parts: &Parts,
    commands: impl FnOnce(&mut Recording<'_, '_>) -> Result<(), Error>,
) -> Result<Cost, Failure> {
    let (cost, recorded) = Cost::of(device, |device| device.record(parts.commands, commands));
    recorded?;
    Ok(cost)
}

/// xorshift64 with a fixed seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % sides
    }
}
