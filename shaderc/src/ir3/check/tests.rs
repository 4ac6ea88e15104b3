//! Programs that break one rule each, and the wave's rule against waves that walk.

use eitri_ir3_isa::Instr;
use proptest::prelude::*;

use super::flow::Next;
use super::{Wrong, check, wave};
use crate::ir3::pack::GENERATION;
use crate::ir3::random_wave::Walk;

/// Assembles lines; `name:` is a label.
#[track_caller]
fn assemble(text: &str) -> Vec<u64> {
    let (mut labels, mut lines) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_suffix(':') {
            Some(label) => labels.push((label, lines.len() as i32)),
            None => lines.push(line),
        }
    }
    let words = lines.iter().zip(0..).map(|(line, here)| {
        let target = |name: &str| {
            let label = labels.iter().find(|(label, _)| *label == name)?;
            Some(label.1 - here)
        };
        let instr = Instr::parse_with(line, GENERATION, &target);
        let instr = instr.unwrap_or_else(|error| panic!("`{line}`: {error}"));
        instr.encode(GENERATION).expect("it exists on a6xx")
    });
    words.collect()
}

/// What is wrong with a program whose branch stack has room for two; the text of the flag that is missing, if one is.
#[track_caller]
fn judge(text: &str) -> Option<&'static str> {
    match check(&assemble(text), 2) {
        Ok(()) => None,
        Err(Wrong::Sync { flag, .. }) => Some(flag),
        Err(Wrong::Slots { .. }) => Some("slots"),
        Err(Wrong::Join { .. }) => Some("(jp)"),
        Err(Wrong::BranchStack { .. }) => Some("stack"),
        Err(Wrong::Flow { .. }) => Some("flow"),
        Err(Wrong::Word { .. }) => Some("word"),
        Err(Wrong::Relative { .. }) => Some("relative"),
    }
}

#[test]
fn results_that_are_waited_for_by_flags() {
    for (producer, flag) in [
        ("rcp r0.x, r1.x", "(ss)"),
        ("ldl.u32 r0.x, l[r1.x], 1", "(ss)"),
        ("ldib.b.untyped.1d.u32.1.imm r0.x, r1.x, 0", "(sy)"),
    ] {
        for reader in [
            "mov.u32u32 r2.x, r0.x",
            "mov.u32u32 r0.x, r2.x",
            "mov.u16u16 hr0.y, hr9.x",
        ] {
            let program = |flag: &str| format!("{producer}\n{flag}{reader}\nend");
            assert_eq!(judge(&program("")), Some(flag), "{producer}, {reader}");
            assert_eq!(judge(&program(flag)), None, "{producer}, {reader}");
        }
    }
}

#[test]
fn a_source_that_is_still_to_be_read() {
    let program = |flag: &str| format!("rcp r0.x, r1.x\n{flag}mov.u32u32 r1.x, r2.x\nend");
    assert_eq!(
        (judge(&program("")), judge(&program("(ss)"))),
        (Some("(ss)"), None)
    );
}

#[test]
fn what_follows_a_barrier() {
    for flags in ["", "(ss)", "(sy)"] {
        assert!(
            judge(&format!("bar.g\n{flags}nop\nend")).is_some(),
            "{flags}"
        );
    }
    assert_eq!(judge("bar.g\n(sy)(ss)nop\nend"), None);
}

#[test]
fn slots_between_arithmetic() {
    // Chapter 18 of the facts, and widths.
    for (slots, program) in [
        (6, "add.f r0.x, r2.x, r2.y\n{}rsq r0.x, r0.x"),
        (3, "mov.f32f32 r0.y, c0.y\n{}add.f r0.x, r0.x, r0.y"),
        (1, "mov.f32f32 r0.z, c0.z\n{}mad.f32 r0.x, r0.x, r0.y, r0.z"),
        (
            2,
            "(rpt1)mov.f32f32 r0.x, c0.x\n{}(rpt1)add.f r0.x, (r)r0.x, (r)c0.x",
        ),
        (
            1,
            "(rpt2)mov.f32f32 r0.x, (r)c0.x\n{}add.f r0.x, r0.x, c0.x",
        ),
        (
            3,
            "(rpt1)mov.f32f32 r0.x, (r)c0.x\n{}(rpt1)add.f r0.x, (r)r0.y, c0.x",
        ),
        (6, "mov.u16u16 hr0.y, hr4.x\n{}add.u r1.x, r0.x, 1"),
    ] {
        let with = |slots: usize| judge(&(program.replace("{}", &"nop\n".repeat(slots)) + "\nend"));
        assert_eq!(with(slots), None, "{program}");
        assert_eq!(with(slots - 1), Some("slots"), "{program}");
    }
}

#[test]
fn a_repeated_instruction_that_reads_its_own_results() {
    assert_eq!(judge("(rpt1)add.u r0.y, (r)r0.x, r1.x\nend"), Some("slots"));
    assert_eq!(judge("(rpt1)add.u r0.x, (r)r0.y, r1.x\nend"), None);
}

/// Lanes that do not branch come to it, wherever the branch leads.
#[test]
fn what_a_branch_skips_is_checked() {
    let skipped = "rcp r0.x, r1.x\nbr p0.x, #over\nmov.u32u32 r2.x, r0.x\nover:\n(jp)nop\nend";
    assert_eq!(judge(skipped), Some("(ss)"));
    assert_eq!(judge(&skipped.replace("mov", "(ss)mov")), None);
}

#[test]
fn lanes_that_wait() {
    let program = |mark: &str| format!("br !p0.x, #end\nnop\nend:\n{mark}nop\nend");
    assert_eq!(
        (judge(&program("")), judge(&program("(jp)"))),
        (Some("(jp)"), None)
    );
    let nested =
        "br !p0.x, #c\nbr !p0.y, #b\nbr !p0.z, #a\nnop\na:\n(jp)nop\nb:\n(jp)nop\nc:\n(jp)nop\nend";
    assert_eq!(judge(nested), Some("stack"));
}

/// Both ways lead up: lanes that go to the later one wait there until the others have come by.
#[test]
fn lanes_that_wait_above_where_they_parted() {
    // Those that do not branch to `first` wait at the jump; nobody waits at `second`, which is run by those that jump.
    let jumps = |at_jump: &str| {
        format!(
            "first:
            nop
            second:
            nop
            br !p0.x, #end
            br p0.y, #first
            {at_jump}jump #second
            end:
            (jp)nop
            end"
        )
    };
    assert_eq!(
        (judge(&jumps("")), judge(&jumps("(jp)"))),
        (Some("(jp)"), None)
    );
    // The same where a branch stands in place of the jump.
    let branches = jumps("(jp)").replace("jump #second", "br p0.z, #second");
    assert_eq!(judge(&branches), None);
    let unmarked = branches.replace("(jp)br", "br");
    assert_eq!(judge(&unmarked), Some("(jp)"));
}

/// The wave may leave a stretch for lanes that wait, past the one behind it, whose flag it then never sees.
#[test]
fn a_shared_register_where_other_lanes_go_on() {
    let program = |flag: &str| {
        format!(
            "br !p0.x, #park
            mov.u32u32 r54.x, r1.x
            br !p0.y, #exit
            (ss)mov.u32u32 r2.x, r54.x
            park:
            {flag}(jp)movmsk.w64 r54.x
            exit:
            (ss)(jp)nop
            end"
        )
    };
    assert_eq!(
        (judge(&program("")), judge(&program("(ss)"))),
        (Some("(ss)"), None)
    );
}

#[test]
fn what_is_no_program() {
    assert_eq!(judge("nop"), Some("flow"));
    assert_eq!(judge("end\nend"), Some("flow"));
    assert_eq!(judge("jump #5\nend"), Some("flow"));
    assert_eq!(judge("mov.u32u32 r<a0.x + 1>, r1.x\nend"), Some("relative"));
    assert!(matches!(check(&[!0], 0), Err(Wrong::Word { at: 0, .. })));
}

#[test]
fn waits_of_large_programs_are_found_at_once() {
    // Branches in branches: a walk over all pairs would take minutes.
    let depth = 200_000;
    let mut next: Vec<Next> = Vec::new();
    next.extend((0..depth).map(|number| Next::from_slice(&[number + 1, 2 * depth - number])));
    next.extend((depth..2 * depth).map(|number| Next::from_slice(&[number + 1])));
    next.push(Next::new());
    assert_eq!(wave::most_waiting(&wave::waits_since(&next)), depth as u32);
}

proptest! {
    #[test]
    fn no_wave_waits_anywhere_else(choices in prop::collection::vec(any::<u16>(), 1..60), seed: u64) {
        let walk = Walk::random(&choices);
        let next: Vec<Next> = walk.successors.iter().map(|to| to.iter().copied().collect()).collect();
        let since = wave::waits_since(&next);
        let most = wave::most_waiting(&since);
        walk.run(seed, |step| {
            for &place in step.waiting {
                let known = since[place].is_some_and(|first| first <= step.runs);
                assert!(known, "{next:?}: lanes wait at {place} while {} runs", step.runs);
            }
            assert!(step.waiting.len() as u32 <= most, "{next:?}: {} places", step.waiting.len());
            if let Some((from, to)) = step.resumed {
                let mut resumes = wave::Resumes::new(&since);
                let after = resumes.after(from, &[to], (super::places::Pending::Short, 400));
                assert!(after.contains(&step.runs), "{next:?}: {from} to {to} goes on at {}", step.runs);
            }
        });
    }
}
