//! Commands: chunks, secondaries, dispatches of every kind.

use crate::bench::{
    DOUBLE, LIMIT, OrFail, Ready, Work, brief, diagnoses, machine, program, queue, queue_in, ready,
    submit, up, wait, words,
};
use crate::machine::{Host, Shader};
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use eitri_runtime::{
    Accesses, BindingElement, Buffer, BufferRange, CommandBuffer, CommandError, Device,
    DynamicOffset, Error, Queue, Recorder, Space, Status,
};

pub(crate) type Up = Device<'static, 'static, Host>;

/// Adds a push constant, and ten times the second one, to each word.
pub(crate) static ADD: Shader = Shader::new("add", include_str!("../shaders/add.wgsl"));

/// Each workgroup stores its number of workgroups, and its own id, at its place.
pub(crate) static IDS: Shader = Shader::new("ids", include_str!("../shaders/ids.wgsl"));

/// Writes the counts of a dispatch.
pub(crate) static COUNTS: Shader = Shader::new("counts", include_str!("../shaders/counts.wgsl"));

/// Sums up shared memory: needs memory of the commands.
pub(crate) static SHARED: Shader = Shader::new("shared", include_str!("../shaders/shared.wgsl"));

/// Two sets: what is in the second goes to the first.
pub(crate) static SETS: Shader = Shader::new("sets", include_str!("../shaders/sets.wgsl"));

pub(crate) fn buffer_of(device: &mut Up, space: Space, values: &[u32]) -> Buffer {
    let buffer = device.create_buffer(space, values.len() as u64 * 4);
    let buffer = buffer.or_fail("there is memory");
    let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
    device.write_buffer(buffer, 0, &bytes).or_fail("it fits");
    buffer
}

pub(crate) fn recorded(
    device: &mut Up,
    commands: CommandBuffer,
    record: impl FnOnce(&mut Recorder<'_, '_, 'static, Host>) -> Result<(), Error>,
) {
    device
        .record(commands, record)
        .or_fail("it can be recorded");
}

#[track_caller]
pub(crate) fn run(device: &mut Up, queue: Queue, commands: CommandBuffer) {
    let fence = device.submit(queue, commands).or_fail("there is room");
    match device.wait(fence, LIMIT) {
        Status::Done => {}
        Status::Failed(fault) => panic!("{fault}"),
        status => panic!("{status:?}"),
    }
}

pub(crate) fn push(a: u32, b: u32) -> [u8; 8] {
    let both = u64::from(b) << 32 | u64::from(a);
    both.to_le_bytes()
}

pub(crate) fn push_constants_change_between_dispatches() {
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&ADD, 64);
    let all = Accesses::SHADER_READ | Accesses::SHADER_WRITE;
    recorded(&mut device, work.commands, |it| {
        it.bind_pipeline(work.pipeline)?
            .bind_descriptor_set(work.set)?;
        it.push_constants(&push(1, 1))?.dispatch([1, 1, 1])?;
        it.barrier(all, all)?;
        it.push_constants_at(4, &2_u32.to_le_bytes())?
            .dispatch([1, 1, 1])?;
        it.barrier(all, all)?.dispatch([1, 1, 1])?;
        Ok(())
    });
    run(&mut device, queue, work.commands);
    assert_eq!(work.words(&mut device, 3), [53, 54, 55]);
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// Forty thousand instructions and their data, or a fifth of that: many blocks, run twice; recorded again, they take no more memory.
pub(crate) fn long_recordings_go_on_in_further_blocks_which_are_kept() {
    let rounds: u32 = if brief() { 300 } else { 1500 };
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&ADD, 64);
    let all = Accesses::SHADER_READ | Accesses::SHADER_WRITE;
    let before = device.memory_in_use();
    let mut grown = 0;
    for round in 0..3 {
        recorded(&mut device, work.commands, |it| {
            it.bind_pipeline(work.pipeline)?
                .bind_descriptor_set(work.set)?;
            for number in 0..rounds {
                it.push_constants(&push(number, 0))?.dispatch([1, 1, 1])?;
                it.barrier(all, all)?;
            }
            Ok(())
        });
        let now = device.memory_in_use();
        assert!(now > before + 64 * u64::from(rounds), "{now} {before}");
        match round {
            0 => grown = now,
            _ => assert_eq!(now, grown),
        }
    }
    for _ in 0..2 {
        run(&mut device, queue, work.commands);
    }
    let sum = rounds * (rounds - 1);
    assert_eq!(work.words(&mut device, 2), [sum, sum + 1]);
    assert_eq!(diagnoses(&machine), [""; 0]);
    work.destroy(&mut device);
    assert!(device.memory_in_use() < before);
}

pub(crate) fn secondary_commands_are_called_as_often_as_wanted_and_nest() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let work = Work::new(&mut device, queue, &ADD, 64);
    let all = Accesses::SHADER_READ | Accesses::SHADER_WRITE;
    let make = |device: &mut Up| {
        device
            .create_command_buffer(space)
            .or_fail("there is memory")
    };
    let levels = [0; 7].map(|_| make(&mut device));
    let innermost = device.record_secondary(levels[0], |it| {
        it.bind_pipeline(work.pipeline)?
            .bind_descriptor_set(work.set)?;
        it.push_constants(&push(1, 0))?.dispatch([1, 1, 1])?;
        it.barrier(all, all)?;
        Ok(())
    });
    innermost.or_fail("it can be recorded");
    for pair in levels.windows(2) {
        let recorded = device.record_secondary(pair[1], |it| {
            it.execute(pair[0])?.barrier(all, all)?.execute(pair[0])?;
            Ok(())
        });
        match recorded {
            Ok(()) => {}
            Err(Error::Command(CommandError::TooDeep { most: 6 })) => {
                assert_eq!(pair[1], levels[6])
            }
            Err(error) => panic!("{error}"),
        }
    }
    recorded(&mut device, work.commands, |it| {
        it.execute(levels[5])?
            .barrier(all, all)?
            .execute(levels[1])?;
        Ok(())
    });
    for _ in 0..2 {
        run(&mut device, queue, work.commands);
    }
    assert_eq!(work.words(&mut device, 2), [2 * 34, 2 * 34 + 1]);
    assert_eq!(diagnoses(&machine), [""; 0]);

    // Who calls whom is checked, and what called commands that changed is not run.
    let refused = |result: Result<(), Error>, text: &str| {
        assert_eq!(
            result.map_err(|error| error.to_string()),
            Err(text.to_string())
        );
    };
    refused(
        device.submit(queue, levels[0]).map(drop),
        "the commands were recorded for other commands to run: execute them there",
    );
    let other = make(&mut device);
    refused(
        device.record(other, |it| it.execute(work.commands).map(drop)),
        "the commands were recorded for a queue: other commands can't run them",
    );
    device
        .record_secondary(levels[0], |_| Ok(()))
        .or_fail("nothing uses it");
    let gone = device.submit(queue, work.commands).map(drop);
    assert_eq!(gone, Err(Error::NotRecorded));
}

/// What a called buffer uses is in use by the job, and goes with no other's.
pub(crate) fn what_called_commands_use_stays() {
    let mut device = up(machine());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let work = Work::new(&mut device, queue, &SHARED, 64);
    let inner = device.record_secondary(work.commands, |it| {
        it.bind_pipeline(work.pipeline)?
            .bind_descriptor_set(work.set)?;
        it.dispatch([1, 1, 1])?;
        Ok(())
    });
    inner.or_fail("it can be recorded");
    let outer = device
        .create_command_buffer(space)
        .or_fail("there is memory");
    recorded(&mut device, outer, |it| it.execute(work.commands).map(drop));
    let fence = device.submit(queue, outer).or_fail("there is room");
    for refused in [
        device.destroy_command_buffer(work.commands),
        device.destroy_buffer(work.buffer),
        device.destroy_pipeline(work.pipeline),
    ] {
        assert!(matches!(refused, Err(Error::InUse { .. })), "{refused:?}");
    }
    assert_eq!(wait(&mut device, fence), Ok(()));
    // The outer goes, the inner keeps its memory.
    device
        .destroy_command_buffer(outer)
        .or_fail("nothing uses it");
    let outer = device
        .create_command_buffer(space)
        .or_fail("there is memory");
    recorded(&mut device, outer, |it| it.execute(work.commands).map(drop));
    run(&mut device, queue, outer);
    assert_eq!(work.words(&mut device, 2), [2, 3]);
}

/// Two queues may run the same commands at once, unless these need memory of their own.
pub(crate) fn commands_with_memory_of_their_own_run_once_at_a_time() {
    let machine = machine();
    let mut device = up(machine.clone());
    let space = device.create_space().or_fail("there is memory");
    let queues = [0; 2].map(|_| queue_in(&mut device, space));
    let plain = Work::in_space(&mut device, space, &DOUBLE, 64);
    let shared = Work::in_space(&mut device, space, &SHARED, 64);
    let [a, b] = queues.map(|queue| submit(&mut device, queue, &plain));
    assert_eq!(
        [wait(&mut device, a), wait(&mut device, b)],
        [Ok(()), Ok(())]
    );
    let first = submit(&mut device, queues[0], &shared);
    let second = submit(&mut device, queues[0], &shared);
    let refused = device.submit(queues[1], shared.commands);
    assert!(matches!(refused, Err(Error::InUse { .. })), "{refused:?}");
    for fence in [first, second] {
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    let third = submit(&mut device, queues[1], &shared);
    assert_eq!(wait(&mut device, third), Ok(()));
    assert_eq!(diagnoses(&machine), [""; 0]);
}

pub(crate) fn dispatches_have_bases_and_counts_that_the_gpu_writes() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let ids = Work::new(&mut device, queue, &IDS, 64);
    let counts = Work::new(&mut device, queue, &COUNTS, 8);
    device
        .write_buffer(ids.buffer, 0, &[0; 256])
        .or_fail("it fits");
    recorded(&mut device, ids.commands, |it| {
        it.bind_pipeline(ids.pipeline)?
            .bind_descriptor_set(ids.set)?;
        it.dispatch_base([1, 2, 0], [2, 1, 1])?;
        Ok(())
    });
    run(&mut device, queue, ids.commands);
    let mut expected = vec![0; 64];
    (expected[9], expected[10]) = (0x0101_0102, 0x0101_0102);
    assert_eq!(ids.words(&mut device, 64), expected);

    device
        .write_buffer(ids.buffer, 0, &[0; 256])
        .or_fail("it fits");
    let both = device
        .create_command_buffer(space)
        .or_fail("there is memory");
    recorded(&mut device, both, |it| {
        it.bind_pipeline(counts.pipeline)?
            .bind_descriptor_set(counts.set)?;
        it.dispatch([1, 1, 1])?;
        it.barrier(Accesses::SHADER_WRITE, Accesses::INDIRECT_READ)?;
        it.bind_pipeline(ids.pipeline)?
            .bind_descriptor_set(ids.set)?;
        it.dispatch_indirect(counts.buffer, 4)?;
        Ok(())
    });
    for x in [1, 3] {
        let start = (x - 1_u32).to_le_bytes();
        device
            .write_buffer(counts.buffer, 0, &start)
            .or_fail("it fits");
        run(&mut device, queue, both);
        let mut expected = vec![0; 64];
        for (y, x_at) in [0, 1].into_iter().flat_map(|y| (0..x).map(move |x| (y, x))) {
            expected[(y * 4 + x_at) as usize] = x | 0x0101_0200;
        }
        assert_eq!(ids.words(&mut device, 64), expected, "{x}");
    }
    // No workgroups at all are no work.
    device
        .write_buffer(counts.buffer, 16, &[0; 12])
        .or_fail("it fits");
    recorded(&mut device, both, |it| {
        it.bind_pipeline(ids.pipeline)?
            .bind_descriptor_set(ids.set)?;
        it.dispatch_indirect(counts.buffer, 16)?;
        Ok(())
    });
    run(&mut device, queue, both);
    let outside = device.record(both, |it| {
        it.bind_pipeline(ids.pipeline)?;
        it.dispatch_indirect(counts.buffer, 24).map(drop)
    });
    assert!(matches!(outside, Err(Error::Outside { .. })), "{outside:?}");
    assert_eq!(diagnoses(&machine), [""; 0]);
}

pub(crate) fn several_sets_are_bound_with_offsets_of_their_own() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let pipeline = device
        .create_pipeline(space, &program(&SETS))
        .or_fail("there is memory");
    let [first, second] = [0, 1].map(|set| {
        let made = device.create_descriptor_set(pipeline, set);
        made.or_fail("it has both")
    });
    let to = buffer_of(&mut device, space, &[0; 16]);
    let from = buffer_of(&mut device, space, &(1..=16).collect::<Vec<u32>>());
    let more = buffer_of(&mut device, space, &(50..66).collect::<Vec<u32>>());
    device
        .bind_range(
            first,
            BindingElement::first(1),
            to,
            BufferRange {
                offset: 0,
                bytes: 16,
            },
        )
        .or_fail("it fits");
    device
        .bind_range(
            second,
            BindingElement::first(0),
            from,
            BufferRange {
                offset: 0,
                bytes: 16,
            },
        )
        .or_fail("it fits");
    device
        .bind_range(
            second,
            BindingElement::first(3),
            more,
            BufferRange {
                offset: 16,
                bytes: 16,
            },
        )
        .or_fail("it fits");
    let commands = device
        .create_command_buffer(space)
        .or_fail("there is memory");
    let at = |binding, offset| DynamicOffset {
        binding,
        element: 0,
        offset,
    };
    recorded(&mut device, commands, |it| {
        it.bind_pipeline(pipeline)?.bind_descriptor_set(first)?;
        it.bind_descriptor_set(second)?.dispatch([1, 1, 1])?;
        it.bind_descriptor_set_at(first, &[at(1, 32)])?;
        it.bind_descriptor_set_at(second, &[at(3, 16), at(0, 48)])?;
        it.dispatch([1, 1, 1])?;
        Ok(())
    });
    run(&mut device, queue, commands);
    let mut expected = [0; 16];
    for (i, place) in (0..4_u32).zip(0..) {
        expected[place] = (1 + i) * 100 + 54 + i;
        expected[place + 8] = (13 + i) * 100 + 58 + i;
    }
    assert_eq!(words(&mut device, to, 16), expected);
    for (offset, what) in [(8, "not aligned"), (64, "behind the buffer")] {
        let refused = device.record(commands, |it| {
            it.bind_descriptor_set_at(second, &[at(0, offset)])
                .map(drop)
        });
        let range = matches!(refused, Err(Error::Command(CommandError::Range { .. })));
        assert!(range, "{what}: {refused:?}");
    }
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// An array of three buffers, of which a push constant picks one.
pub(crate) static PICK: Shader = Shader::new("pick", include_str!("../shaders/pick.wgsl"));

pub(crate) fn an_array_of_bindings_is_indexed_when_the_shader_runs() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let pipeline = device
        .create_pipeline(space, &program(&PICK))
        .or_fail("there is memory");
    let set = device
        .create_descriptor_set(pipeline, 0)
        .or_fail("there is memory");
    let to = buffer_of(&mut device, space, &[0; 16]);
    let data = buffer_of(&mut device, space, &(0..64).collect::<Vec<u32>>());
    device
        .bind_range(
            set,
            BindingElement::first(0),
            to,
            BufferRange {
                offset: 0,
                bytes: 16,
            },
        )
        .or_fail("it fits");
    for element in 0..3 {
        let offset = u64::from(element) * 64;
        let bound = device.bind_range(
            set,
            BindingElement {
                binding: 2,
                element,
            },
            data,
            BufferRange { offset, bytes: 16 },
        );
        bound.or_fail("it has three");
    }
    let outside = device.bind_range(
        set,
        BindingElement {
            binding: 2,
            element: 3,
        },
        data,
        BufferRange {
            offset: 0,
            bytes: 16,
        },
    );
    assert!(matches!(outside, Err(Error::Command(_))), "{outside:?}");
    let commands = device
        .create_command_buffer(space)
        .or_fail("there is memory");
    for (pick, other) in [(0, 1), (1, 1), (2, 0)] {
        recorded(&mut device, commands, |it| {
            it.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
            it.push_constants(&push(pick, other))?;
            it.dispatch([1, 1, 1]).map(drop)
        });
        run(&mut device, queue, commands);
        let at = |element: u32, i: u32| element * 16 + i;
        let expected: Vec<u32> = (0..4)
            .map(|i| at(pick, i) * 100 + at(2, i) + at(other, i))
            .collect();
        assert_eq!(words(&mut device, to, 4), expected, "{pick} and {other}");
    }
    // One element is moved, the others stay.
    let moved = DynamicOffset {
        binding: 2,
        element: 1,
        offset: 64,
    };
    recorded(&mut device, commands, |it| {
        it.bind_pipeline(pipeline)?
            .bind_descriptor_set_at(set, &[moved])?;
        it.push_constants(&push(1, 0))?.dispatch([1, 1, 1])?;
        Ok(())
    });
    run(&mut device, queue, commands);
    let expected: Vec<u32> = (0..4).map(|i| (32 + i) * 100 + 32 + i + i).collect();
    assert_eq!(words(&mut device, to, 4), expected);
    assert_eq!(diagnoses(&machine), [""; 0]);
}
