//! Reports of small programs.

use super::*;
use eitri_isa::Syntax;

fn code(lines: &[&str]) -> Vec<Instr> {
    let parse = |line: &&str| Instr::parse(line, Arch::V10, Syntax::Mesa24);
    lines.iter().map(parse).collect::<Result<_, _>>().unwrap()
}

fn paths(lines: &[&str]) -> (Path, Path) {
    let code = code(lines);
    let costs: Vec<Cycles> = code
        .iter()
        .map(|instr| Cycles::of(instr, Arch::V10))
        .collect();
    (
        paths::shortest(&code, &costs),
        paths::longest(&code, &costs),
    )
}

#[track_caller]
fn fma(path: Path) -> f64 {
    match path {
        Path::Cycles(cycles) => 4.0 * cycles.fma,
        other => panic!("{other:?}"),
    }
}

const ADD: &str = "FADD.f32 r0, r0, r0";

#[test]
fn a_branch_makes_a_short_and_a_long_way() {
    let (shortest, longest) = paths(&[ADD, "BRANCHZ.eq r1, offset:2", ADD, ADD, ADD, "NOP.end"]);
    assert_eq!((fma(shortest), fma(longest)), (2.0, 4.0));
}

#[test]
fn a_jump_has_one_way() {
    let (shortest, longest) = paths(&["BRANCHZ.eq 0x0, offset:1", ADD, ADD, "NOP.end"]);
    assert_eq!((fma(shortest), fma(longest)), (1.0, 1.0));
}

#[test]
fn a_loop_has_no_longest_way() {
    let (shortest, longest) = paths(&[ADD, "BRANCHZ.eq r1, offset:-2", "NOP.end"]);
    assert_eq!(fma(shortest), 1.0);
    assert_eq!(longest, Path::Unbounded);
}

#[test]
fn a_way_that_leaves_the_program_is_not_guessed() {
    let unknown = (Path::Unknown, Path::Unknown);
    assert_eq!(paths(&[]), unknown);
    assert_eq!(paths(&[ADD]), unknown);
    assert_eq!(paths(&["BRANCHZ.eq r1, offset:9", "NOP.end"]), unknown);
}

#[test]
fn the_busiest_unit_bounds() {
    let names =
        |cycles: Cycles| -> Vec<&str> { cycles.bound().iter().map(|unit| unit.short).collect() };
    let load_store = 2.0;
    assert_eq!(names(Cycles::default()), Vec::<&str>::new());
    let messages = Cycles {
        load_store,
        fma: 1.0,
        ..Cycles::default()
    };
    assert_eq!(names(messages), ["LS"]);
    let tie = Cycles {
        load_store,
        sfu: 2.0,
        ..Cycles::default()
    };
    assert_eq!(names(tie), ["SFU", "LS"]);
    let together = Cycles {
        fma: 1.5,
        cvt: 1.5,
        ..Cycles::default()
    };
    assert_eq!(names(together), ["A"]);
}
