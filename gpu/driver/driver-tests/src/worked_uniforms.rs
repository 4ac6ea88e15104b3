//! What a program computes of push constants and sizes alone: the driver works it out for each dispatch.

use crate::bench::{Ready, diagnoses, program, ready};
use crate::commands::{push, recorded, run};
use crate::machine::Shader;

use eitri_runtime::Accesses;

/// Shifts its words up, and adds `(a * b + 5) * 64 + 7 - b` for push constants a and b.
static WORKED: Shader = Shader::new("worked", include_str!("../shaders/worked.wgsl"));

/// Each dispatch has what its own push constants come to.
pub(crate) fn what_is_worked_out_follows_the_push_constants() {
    let steps = program(&WORKED).fau_steps().count();
    assert!(steps > 0, "the program leaves nothing to the driver");
    let Ready {
        machine,
        mut device,
        queue,
        work,
    } = ready(&WORKED, 64);
    let all = Accesses::SHADER_READ | Accesses::SHADER_WRITE;
    recorded(&mut device, work.commands, |it| {
        it.bind_pipeline(work.pipeline)?
            .bind_descriptor_set(work.set)?;
        it.push_constants(&push(9, 9))?.dispatch([1, 1, 1])?;
        it.barrier(all, all)?;
        it.push_constants(&push(2, 3))?.dispatch([1, 1, 1])?;
        it.barrier(all, all)?;
        it.push_constants_at(4, &1_u32.to_le_bytes())?
            .dispatch([1, 1, 1])?;
        Ok(())
    });
    for _ in 0..2 {
        run(&mut device, queue, work.commands);
        let expected = ((2 * 3 + 5) * 64 + 7 - 3) << 16 | ((2 + 5) * 64 + 7 - 1);
        assert_eq!(work.words(&mut device, 4), [expected; 4]);
    }
    assert_eq!(diagnoses(&machine), [""; 0]);
}
