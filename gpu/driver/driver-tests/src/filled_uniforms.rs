//! Words of uniform buffers that a program reads among its uniforms: the stream puts them there, each time it runs a dispatch.

use crate::bench::{OrFail, diagnoses, machine, program, queue, queue_in, up, wait};
use crate::commands::{Up, buffer_of, recorded, run};
use crate::machine::{Machine, Shader};

use eitri_program::FauWord;
use eitri_runtime::{
    Accesses, Buffer, CommandBuffer, DescriptorSet, Error, Pipeline, Queue, Space,
};

/// Sums some words of a table, in as many rounds as are written behind the results.
static TABLE: Shader = Shader::new("table", include_str!("../shaders/table.wgsl"));

/// A table, and two results.
struct Tables {
    pipeline: Pipeline,
    table: Buffer,
    to: [Buffer; 2],
    sets: [DescriptorSet; 2],
}

/// A device with them.
struct Scene {
    machine: Machine,
    device: Up,
    queue: Queue,
    space: Space,
    tables: Tables,
}

impl Scene {
    fn new() -> Scene {
        let machine = machine();
        let mut device = up(machine.clone());
        let queue = queue(&mut device);
        let space = device.space(queue).or_fail("it is there");
        let tables = Tables::new(&mut device, space);
        Scene {
            machine,
            device,
            queue,
            space,
            tables,
        }
    }
}

/// Rounds of the four invocations.
const ROUNDS: [u32; 4] = [1, 0, 2, 3];

impl Tables {
    fn new(device: &mut Up, space: Space) -> Tables {
        let program = program(&TABLE);
        let words = program.fau();
        let words = words.filter(|word| matches!(word, FauWord::BufferWord { .. }));
        assert_eq!(words.count(), 4, "the table's words are uniforms");
        let pipeline = device
            .create_pipeline(space, &program)
            .or_fail("there is memory");
        let table = buffer_of(device, space, &[0; 12]);
        let to = [(); 2].map(|()| {
            let mut words = [0; 8];
            words[4..].copy_from_slice(&ROUNDS);
            buffer_of(device, space, &words)
        });
        let sets = to.map(|to| {
            let set = device.create_descriptor_set(pipeline, 0);
            let set = set.or_fail("it has one");
            device.bind_buffer(set, 0, to).or_fail("it fits");
            device.bind_buffer(set, 1, table).or_fail("it fits");
            set
        });
        Tables {
            pipeline,
            table,
            to,
            sets,
        }
    }

    /// The words of a table of which the sum is `sum` times 15, and their bytes.
    fn bytes(sum: u32) -> [u8; 48] {
        let mut bytes = [0xff; 48];
        for word in [0, 1, 6, 11] {
            bytes[4 * word..4 * word + 4].copy_from_slice(&sum.to_le_bytes());
        }
        bytes
    }

    /// The host gives the table that sum.
    fn fill(&self, device: &mut Up, sum: u32) {
        let filled = device.write_buffer(self.table, 0, &Tables::bytes(sum));
        filled.or_fail("it fits");
    }

    /// What the results are for a sum and a number of workgroups.
    #[track_caller]
    fn check(&self, device: &mut Up, number: usize, sum: u32, workgroups: u32) {
        let mut bytes = [0; 16];
        device
            .read_buffer(self.to[number], 0, &mut bytes)
            .or_fail("it fits");
        let words: [u32; 4] = core::array::from_fn(|word| {
            let bytes = bytes[4 * word..].first_chunk().copied();
            u32::from_le_bytes(bytes.unwrap_or_default())
        });
        let expected = ROUNDS.map(|rounds| (workgroups << 16) + rounds * 15 * sum);
        assert_eq!(words, expected, "results {number}");
    }
}

fn commands(device: &mut Up, space: Space) -> CommandBuffer {
    let made = device.create_command_buffer(space);
    made.or_fail("there is memory")
}

/// The host's and the stream's writes count, however often commands run.
pub(crate) fn words_of_buffers_are_those_of_the_moment() {
    let Scene {
        machine,
        mut device,
        queue,
        space,
        tables,
    } = Scene::new();
    let commands = commands(&mut device, space);
    recorded(&mut device, commands, |it| {
        it.bind_pipeline(tables.pipeline)?;
        it.bind_descriptor_set(tables.sets[0])?
            .dispatch([3, 1, 1])?;
        it.barrier(Accesses::SHADER_READ, Accesses::TRANSFER_WRITE)?;
        it.update_buffer(tables.table, 0, &Tables::bytes(1000))?;
        it.barrier(Accesses::TRANSFER_WRITE, Accesses::SHADER_READ)?;
        it.bind_descriptor_set(tables.sets[1])?
            .dispatch([2, 1, 1])?;
        it.dispatch([2, 1, 1])?;
        Ok(())
    });
    for sum in [7, 80, 3] {
        tables.fill(&mut device, sum);
        run(&mut device, queue, commands);
        tables.check(&mut device, 0, sum, 3);
        tables.check(&mut device, 1, 1000, 2);
    }
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// Each call has the words of its own moment.
pub(crate) fn called_commands_fill_in_words_at_each_call() {
    let Scene {
        machine,
        mut device,
        queue,
        space,
        tables,
    } = Scene::new();
    let called = commands(&mut device, space);
    let copied = buffer_of(&mut device, space, &[0; 12]);
    let secondary = device.record_secondary(called, |it| {
        it.bind_pipeline(tables.pipeline)?
            .bind_descriptor_set(tables.sets[0])?;
        it.dispatch([1, 1, 1]).map(drop)
    });
    secondary.or_fail("it can be recorded");
    let commands = commands(&mut device, space);
    let all = Accesses::SHADER_READ | Accesses::SHADER_WRITE;
    let transfers = Accesses::TRANSFER_READ | Accesses::TRANSFER_WRITE;
    recorded(&mut device, commands, |it| {
        it.bind_pipeline(tables.pipeline)?;
        it.bind_descriptor_set(tables.sets[1])?
            .dispatch([2, 1, 1])?;
        it.execute(called)?;
        // The table is read by the stream, in order; the job may still run.
        it.update_buffer(tables.table, 0, &Tables::bytes(9))?;
        it.barrier(all | transfers, all | transfers)?;
        it.copy_buffer((tables.to[0], 0), (copied, 0), 16)?;
        it.barrier(transfers, all)?.execute(called)?;
        Ok(())
    });
    tables.fill(&mut device, 5);
    run(&mut device, queue, commands);
    tables.check(&mut device, 0, 9, 1);
    tables.check(&mut device, 1, 5, 2);
    let mut first = [0; 4];
    device.read_buffer(copied, 8, &mut first).or_fail("it fits");
    assert_eq!(u32::from_le_bytes(first), (1 << 16) + 2 * 15 * 5);
    assert_eq!(diagnoses(&machine), [""; 0]);
}

/// The stream writes these words to memory of the commands: two queues can't run those at once.
pub(crate) fn commands_that_fill_in_words_run_once_at_a_time() {
    let Scene {
        mut device,
        queue,
        space,
        tables,
        ..
    } = Scene::new();
    let other = queue_in(&mut device, space);
    let commands = commands(&mut device, space);
    recorded(&mut device, commands, |it| {
        it.bind_pipeline(tables.pipeline)?
            .bind_descriptor_set(tables.sets[0])?;
        it.dispatch([1, 1, 1]).map(drop)
    });
    let fences = [(); 2].map(|()| device.submit(queue, commands).or_fail("there is room"));
    let refused = device.submit(other, commands);
    assert!(matches!(refused, Err(Error::InUse { .. })), "{refused:?}");
    for fence in fences {
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    run(&mut device, other, commands);
}

/// Words of buffers and the numbers of workgroups come from the stream.
pub(crate) fn a_dispatch_of_unknown_size_has_its_words_too() {
    let Scene {
        machine,
        mut device,
        queue,
        space,
        tables,
    } = Scene::new();
    let counts = buffer_of(&mut device, space, &[4, 1, 1]);
    let commands = commands(&mut device, space);
    recorded(&mut device, commands, |it| {
        it.bind_pipeline(tables.pipeline)?;
        for set in tables.sets {
            it.bind_descriptor_set(set)?.dispatch_indirect(counts, 0)?;
        }
        Ok(())
    });
    for (sum, workgroups) in [(2, 4), (30, 1)] {
        tables.fill(&mut device, sum);
        device
            .write_buffer(counts, 0, &u32::to_le_bytes(workgroups))
            .or_fail("it fits");
        run(&mut device, queue, commands);
        for number in [0, 1] {
            tables.check(&mut device, number, sum, workgroups);
        }
    }
    assert_eq!(diagnoses(&machine), [""; 0]);
}
