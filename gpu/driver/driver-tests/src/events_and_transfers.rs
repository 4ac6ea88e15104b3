//! Commands beside dispatches: events, queries, transfers, and barriers between them.

use crate::bench::{
    DOUBLE, OrFail, Work, diagnoses, machine, queue, queue_in, submit, up, wait, words,
};
use crate::commands::{ADD, Up, buffer_of, push, recorded, run};
use alloc::vec::Vec;
use eitri_runtime::{Accesses, CommandError, Error, Status};

pub(crate) fn events_order_host_and_queues() {
    let machine = machine();
    let mut device = up(machine.clone());
    let space = device.create_space().or_fail("there is memory");
    let [first, second] = [0; 2].map(|_| queue_in(&mut device, space));
    let work = Work::in_space(&mut device, space, &ADD, 64);
    let [go, done] = [0; 2].map(|_| device.create_event(space).or_fail("there is memory"));
    let add = |device: &mut Up, a, wait, set| {
        let commands = device
            .create_command_buffer(space)
            .or_fail("there is memory");
        recorded(device, commands, |it| {
            it.wait_event(wait)?;
            it.bind_pipeline(work.pipeline)?
                .bind_descriptor_set(work.set)?;
            it.push_constants(&push(a, 0))?.dispatch([1, 1, 1])?;
            it.set_event(set)?.reset_event(wait)?;
            Ok(())
        });
        commands
    };
    let unused = device.create_event(space).or_fail("there is memory");
    let early = add(&mut device, 5, go, done);
    let late = add(&mut device, 7, done, unused);
    // The second first: it waits for what the first sets, which waits for the host.
    let b = device.submit(second, late).or_fail("there is room");
    let a = device.submit(first, early).or_fail("there is room");
    let moment = core::time::Duration::from_millis(3);
    assert_eq!(device.wait(a, moment), Status::Pending);
    assert_eq!(device.wait(b, moment), Status::Pending);
    assert!(!device.event_status(done).or_fail("it is there"));
    device.set_event(go).or_fail("it is there");
    assert_eq!(
        [wait(&mut device, a), wait(&mut device, b)],
        [Ok(()), Ok(())]
    );
    assert_eq!(work.words(&mut device, 2), [12, 13]);
    let states = [go, done, unused].map(|event| device.event_status(event));
    assert_eq!(states, [Ok(false), Ok(false), Ok(true)]);
    device.reset_event(unused).or_fail("it is there");
    assert_eq!(device.event_status(unused), Ok(false));
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// A queue that waits for the host gives its slot to others, and comes back.
pub(crate) fn whoever_waits_for_an_event_keeps_nobody_out() {
    let mut device = up(machine());
    let space = device.create_space().or_fail("there is memory");
    let event = device.create_event(space).or_fail("there is memory");
    let commands = device
        .create_command_buffer(space)
        .or_fail("there is memory");
    recorded(&mut device, commands, |it| it.wait_event(event).map(drop));
    let waiting: Vec<_> = (0..6)
        .map(|_| {
            let queue = queue_in(&mut device, space);
            device.submit(queue, commands).or_fail("there is room")
        })
        .collect();
    let work = Work::in_space(&mut device, space, &DOUBLE, 64);
    let queues = [0; 2].map(|_| queue_in(&mut device, space));
    for queue in queues {
        let fence = submit(&mut device, queue, &work);
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    device.set_event(event).or_fail("it is there");
    for fence in waiting {
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
}

pub(crate) fn queries_tell_times_and_invocations() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let work = Work::new(&mut device, queue, &DOUBLE, 512);
    let pool = device
        .create_query_pool(space, 5)
        .or_fail("there is memory");
    let copy = device.create_buffer(space, 64).or_fail("there is memory");
    recorded(&mut device, work.commands, |it| {
        it.reset_queries(pool, 0, 4)?.write_timestamp(pool, 0)?;
        let begin = it.begin_invocations();
        it.bind_pipeline(work.pipeline)?
            .bind_descriptor_set(work.set)?;
        it.dispatch([8, 1, 1])?.dispatch([1, 1, 1])?;
        it.write_timestamp(pool, 1)?;
        it.end_invocations(begin, pool, 3)?;
        it.copy_query_results(pool, 0, 2, (copy, 8))?;
        it.copy_query_results(pool, 3, 1, (copy, 24))?;
        Ok(())
    });
    let mut results = [Some(1); 5];
    device
        .query_results(pool, 0, &mut results)
        .or_fail("the pool has five");
    assert_eq!(results, [None; 5]);
    for _ in 0..2 {
        run(&mut device, queue, work.commands);
        device
            .query_results(pool, 0, &mut results)
            .or_fail("the pool has five");
        let [Some(start), Some(end), None, Some(invocations), None] = results else {
            panic!("{results:?}");
        };
        assert!(0 < start && start < end, "{start} {end}");
        assert_eq!(invocations, 9 * 64);
        let mut bytes = [0; 64];
        device
            .read_buffer(copy, 0, &mut bytes)
            .or_fail("it is inside");
        let word = |at: usize| {
            u64::from_le_bytes(
                bytes[at..at + 8]
                    .try_into()
                    .or_fail("there are eight bytes"),
            )
        };
        assert_eq!(
            [word(0), word(8), word(16), word(24), word(32)],
            [0, start, end, invocations, 0]
        );
    }
    device.reset_queries(pool, 1, 1).or_fail("nothing uses it");
    device
        .query_results(pool, 0, &mut results[..2])
        .or_fail("the pool has five");
    assert!(results[0].is_some() && results[1].is_none());
    let missing = device.query_results(pool, 4, &mut results[..2]);
    let none = Error::Command(CommandError::NoQuery {
        first: 4,
        count: 2,
        size: 5,
    });
    assert_eq!(missing, Err(none));
    let uncounted = device.record(work.commands, |it| {
        let begin = it.begin_invocations();
        it.bind_pipeline(work.pipeline)?
            .bind_descriptor_set(work.set)?;
        it.dispatch_indirect(copy, 0)?
            .end_invocations(begin, pool, 0)?;
        Ok(())
    });
    assert_eq!(uncounted, Err(Error::Command(CommandError::NotCounted)));
    assert_eq!(diagnoses(&machine), [""; 0]);
}

pub(crate) fn buffers_are_filled_updated_and_copied() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    const WORDS: usize = 1200;
    let a = buffer_of(&mut device, space, &[0; WORDS]);
    let b = buffer_of(&mut device, space, &[0; WORDS]);
    let commands = device
        .create_command_buffer(space)
        .or_fail("there is memory");
    let writes = Accesses::TRANSFER_WRITE;
    let copies = Accesses::TRANSFER_READ | Accesses::TRANSFER_WRITE;
    let data: Vec<u8> = (1..=50_u32).flat_map(u32::to_le_bytes).collect();
    recorded(&mut device, commands, |it| {
        it.fill_buffer(a, 4, 4 * 1100, 0xABCD)?;
        it.fill_buffer(a, 4 * 1150, 4 * 17, 7)?
            .fill_buffer(a, 0, 0, 9)?;
        it.barrier(writes, writes)?;
        it.update_buffer(a, 40, &data)?
            .update_buffer(a, 4 * 1190, &data[..12])?;
        it.barrier(writes, copies)?;
        it.copy_buffer((a, 4), (b, 8), 4 * 1170)?;
        it.copy_buffer((a, 0), (b, 0), 4)?;
        Ok(())
    });
    let mut expected = [0; WORDS];
    expected[1..1101].fill(0xABCD);
    expected[1150..1167].fill(7);
    for (place, value) in (10..60).zip(1..) {
        expected[place] = value;
    }
    expected[1190..1193].copy_from_slice(&[1, 2, 3]);
    for _ in 0..2 {
        run(&mut device, queue, commands);
    }
    assert_eq!(words(&mut device, a, WORDS), expected);
    let mut copied = [0; WORDS];
    copied[2..1172].copy_from_slice(&expected[1..1171]);
    assert_eq!(words(&mut device, b, WORDS), copied);
    for (offset, bytes) in [(2, 4), (0, 6)] {
        let refused = device.record(commands, |it| it.fill_buffer(a, offset, bytes, 0).map(drop));
        assert!(
            matches!(refused, Err(Error::Misaligned { .. })),
            "{refused:?}"
        );
    }
    let outside = device.record(commands, |it| {
        it.copy_buffer((a, 0), (b, 8), 4 * 1199).map(drop)
    });
    assert!(matches!(outside, Err(Error::Outside { .. })), "{outside:?}");
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// A transfer before and after a dispatch, with barriers between them.
pub(crate) fn transfers_and_dispatches_are_ordered_by_barriers() {
    let machine = machine();
    let mut device = up(machine.clone());
    let queue = queue(&mut device);
    let space = device.space(queue).or_fail("it is there");
    let work = Work::new(&mut device, queue, &DOUBLE, 64);
    let copy = device.create_buffer(space, 256).or_fail("there is memory");
    recorded(&mut device, work.commands, |it| {
        it.bind_pipeline(work.pipeline)?
            .bind_descriptor_set(work.set)?;
        it.fill_buffer(work.buffer, 0, 256, 21)?;
        it.barrier(
            Accesses::TRANSFER_WRITE,
            Accesses::SHADER_READ | Accesses::SHADER_WRITE,
        )?;
        it.dispatch([1, 1, 1])?;
        it.barrier(Accesses::SHADER_WRITE, Accesses::TRANSFER_READ)?;
        it.copy_buffer((work.buffer, 0), (copy, 0), 256)?;
        Ok(())
    });
    run(&mut device, queue, work.commands);
    assert_eq!(words(&mut device, copy, 64), [42; 64]);
    assert_eq!(diagnoses(&machine), [""; 0]);
}
