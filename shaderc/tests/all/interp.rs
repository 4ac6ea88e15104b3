//! Text of IR, run by the interpreter, printed and read again.
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, Trap, interpret};
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::ir::verify::verify;

const SUM: &str = "
function main
workgroup 4 1 1
shared 16
push 4
binding 0 0 storage
binding 0 1 storage written
b0:
  %id = global_id.x
  %local = local_id.x
  %at = ishl %id, 2
  %x = load.buffer @0.0, %at
  %n = uniform.push.0
  jump b1
b1:
  %i = phi.w32 b0: 0, b2: %next
  %sum = phi.w32 b0: 0, b2: %more
  %go = ult %i, %n
  branch %go, b2, b3
b2:
  %more = iadd %sum, %x
  %next = iadd %i, 1
  jump b1
b3:
  %slot = ishl %local, 2
  store.shared %slot, %sum
  barrier
  %mirror = isub 12, %slot
  %back = load.shared %mirror
  store.buffer @0.1, %at, %back
  return
";

fn words(words: &[u32]) -> Buffer {
    Buffer {
        bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
    }
}

fn dispatch(step_limit: u64) -> Dispatch {
    Dispatch {
        groups: [2, 1, 1],
        push_constants: vec![3, 0, 0, 0],
        step_limit,
    }
}

fn buffers() -> Buffers {
    let input: Vec<u32> = (1..=8).collect();
    Buffers::from([((0, 0, 0), words(&input)), ((0, 1, 0), words(&[0; 8]))])
}

#[test]
fn loops_shared_memory_and_barriers() {
    let function = parse(SUM).unwrap();
    verify(&function).unwrap();
    let mut buffers = buffers();
    interpret(&function, &dispatch(10_000), &mut buffers).unwrap();
    assert_eq!(buffers[&(0, 1, 0)], words(&[12, 9, 6, 3, 24, 21, 18, 15]));
}

#[test]
fn the_text_form_is_read_back() {
    let function = parse(SUM).unwrap();
    let text = function.to_string();
    let again = parse(&text).unwrap();
    assert_eq!(text, again.to_string());
}

#[test]
fn endless_shaders_stop() {
    let function = parse(SUM).unwrap();
    let trap = interpret(&function, &dispatch(20), &mut buffers()).unwrap_err();
    assert_eq!(trap, Trap::StepLimit(20));
    assert_eq!(trap.to_string(), "still running after 20 instructions");
}

#[track_caller]
fn check_refused(text: &str, expected: &str) {
    let function = parse(text).unwrap();
    let violations: Vec<String> = verify(&function)
        .expect_err("the verifier accepts it")
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(violations.join("\n"), expected.trim());
}

#[test]
fn the_verifier_reports_all_violations() {
    check_refused(
        "b0:
          %c = ieq 1, 2
          branch %c, b1, b2
        b1:
          %x = iadd 1, 2
          %y = band %c, %x
          jump b2
        b2:
          %p = phi.w32 b0: %x, b0: 1
          %z = iadd %x, 1
          return
        b3:
          jump b0",
        "
b3: no path leads here
b3: b3 jumps to the entry
b1: `%4 = band %2, %3`: operand %3 must be bool
b2: `%5 = phi`: %3 isn't defined on every path to here
b2: `%5 = phi`: one source too many for b0
b2: `%5 = phi`: no source for predecessor b1
b2: `%6 = iadd %3, 1`: %3 isn't defined on every path to here",
    );
}

/// Each of 40 invocations writes the lanes that are with it and its own number.
#[test]
fn subgroups_have_as_many_lanes_as_the_function_says() {
    let run = |lanes: &str| {
        let text = format!(
            "
function main
workgroup 40 1 1
{lanes}
binding 0 0 storage written
b0:
  %id = local_id.x
  %mask = ballot true
  %lane = lane_id
  %at = ishl %id, 3
  %next = iadd %at, 4
  store.buffer @0.0, %at, %mask
  store.buffer @0.0, %next, %lane
  return
"
        );
        let function = parse(&text).unwrap();
        assert_eq!(verify(&function), Ok(()));
        let read = parse(&function.to_string()).unwrap();
        assert_eq!(read.to_string(), function.to_string());
        let mut buffers = Buffers::from([((0, 0, 0), words(&[0; 80]))]);
        let dispatch = Dispatch {
            groups: [1; 3],
            push_constants: vec![],
            step_limit: 1000,
        };
        interpret(&function, &dispatch, &mut buffers).unwrap();
        let bytes = &buffers[&(0, 0, 0)].bytes;
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        [0, 20, 39].map(|invocation| (word(8 * invocation), word(8 * invocation + 4)))
    };
    assert_eq!(run(""), [(0xffff, 0), (0xffff, 4), (0xff, 7)]);
    assert_eq!(run("lanes 32"), [(u32::MAX, 0), (u32::MAX, 20), (0xff, 7)]);
    for wrong in ["lanes 0", "lanes 24", "lanes 128"] {
        let error = parse(&format!("function main\n{wrong}\nb0:\n  return\n")).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }
}
