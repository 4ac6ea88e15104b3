//! Code for Adreno a6xx on the interpreter of its instructions, against the interpreter of the IR.
//!
//! That interpreter stops where code reads a result too early, does not wait, or lets lanes join where they must not.

use crate::support::byte_operations;
use crate::support::half_operations;
use crate::support::on_ir3;
use crate::support::operations::{Machine, check_all, check_expression};
use crate::support::random_function::{Content, buffers, dispatch, generate, output};
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::ir::{Alu, Function};
use eitri_shaderc::pass::Runner;
use eitri_shaderc::{Options, Robust, Target, compile_lowered, pipeline};
use proptest::prelude::*;

const ADRENO: Machine = Machine {
    run: |function, dispatch, buffers| run_on("a6xx", function, dispatch, buffers),
    flushes: true,
};

/// As [`ADRENO`], with the passes that come before a back end, which make words of bytes.
const LOWERED: Machine = Machine {
    run: |function, dispatch, buffers| {
        let mut lowered = function.clone();
        let mut runner = Runner::new(options(None).target, &[]);
        pipeline::lower(&mut lowered, Robust::Off, &mut runner);
        run_on("a6xx", &lowered, dispatch, buffers)
    },
    flushes: true,
};

/// A device that lacks what others have.
const SMALL: Machine = Machine {
    run: |function, dispatch, buffers| run_on("a610", function, dispatch, buffers),
    flushes: true,
};

fn run_on(
    device: &str,
    function: &Function,
    dispatch: &Dispatch,
    buffers: &mut Buffers,
) -> Result<String, String> {
    let options = Options {
        target: Target::ir3_named(device).expect("it is one"),
        ..Options::default()
    };
    let compiled = compile_lowered(function, &options).map_err(|errors| errors.to_string())?;
    on_ir3::run(&compiled.program, dispatch, buffers)
        .map_err(|fault| format!("{fault}\n{}", compiled.listing))?;
    Ok(compiled.listing.to_string())
}

/// Options for an Adreno that has everything.
fn options(register_limit: Option<u32>) -> Options {
    Options {
        target: Target::ir3_named("a6xx").expect("it is one"),
        register_limit,
        ..Options::default()
    }
}

#[test]
fn every_operation_gives_what_the_interpreter_gives() {
    let failures = check_all(ADRENO, |_| true);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_operation_on_halves_gives_what_the_interpreter_gives() {
    let failures = half_operations::check_all(ADRENO, &options(None).target);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_operation_on_bytes_gives_what_the_interpreter_gives() {
    let failures = byte_operations::check_all(LOWERED);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_device_without_products_of_bytes_computes_them_all_the_same() {
    let failures = check_all(SMALL, |alu| matches!(alu, Alu::UDot4x8 | Alu::SDot4x8));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if eitri_testdata::long() { 600 } else { 8 }))]

    #[test]
    fn random_expressions_give_what_the_interpreter_gives(
        choices in prop::collection::vec((any::<usize>(), any::<[usize; 4]>()), 1..40)
    ) {
        let checked = check_expression(ADRENO, &choices);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}

/// Every other function has guards.
fn robust(seed: u64) -> Robust {
    match seed % 2 {
        0 => Robust::On,
        _ => Robust::Off,
    }
}

/// Compares one function; false if it runs too long to be compared.
fn check(seed: u64, register_limit: Option<u32>) -> Result<bool, String> {
    let mut function = generate(seed, Content::SameBits, &options(register_limit).target);
    let text = function.to_string();
    let mut expected = buffers();
    if interpret(&function, &dispatch(), &mut expected).is_err() {
        return Ok(false);
    }
    let options = options(register_limit);
    let mut runner = Runner::new(options.target, &[]);
    pipeline::lower(&mut function, robust(seed), &mut runner);
    let compiled = compile_lowered(&function, &options).map_err(|errors| errors.to_string())?;
    let mut got = buffers();
    on_ir3::run(&compiled.program, &dispatch(), &mut got)
        .map_err(|fault| format!("{fault}\n{}", compiled.listing))?;
    match output(&got) == output(&expected) {
        true => Ok(true),
        false => Err(format!("other results\n{text}\n{}", compiled.listing)),
    }
}

/// Runs seeds; those that fail are named, the first with all that is known of it.
fn run(seeds: std::ops::Range<u64>, register_limit: Option<u32>) {
    let (mut compared, mut failures) = (0, vec![]);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        match check(seed, register_limit) {
            Ok(done) => compared += u64::from(done),
            Err(error) => failures.push((seed, error)),
        }
    }
    let seeds: Vec<u64> = failures.iter().map(|(seed, _)| *seed).collect();
    if let Some((seed, error)) = failures.first() {
        panic!("seeds {seeds:?} fail; {seed}: {error}");
    }
    assert!(compared * 10 > count * 9, "only {compared} of {count} end");
}

#[test]
fn random_functions_compute_what_the_interpreter_computes() {
    run(0..if eitri_testdata::long() { 2_000 } else { 10 }, None);
}

#[test]
fn functions_that_were_once_wrong_compute_what_the_interpreter_computes() {
    // Bytes of constant data; a repeated instruction that writes the last register.
    for seed in [167, 1809] {
        run(seed..seed + 1, None);
    }
}

#[test]
fn spilled_code_computes_what_the_interpreter_computes() {
    run(
        100..if eitri_testdata::long() { 1_000 } else { 103 },
        Some(12),
    );
}

#[test]
fn bytes_of_constant_data_are_cut_out_of_their_words() {
    let text = "function main
        workgroup 4 1 1
        lanes 64
        binding 0 0 storage written
        data 0x03020100 0x87868584 0xcbcac9c8
        b0:
          %id = local_id.x
          %to = ishl %id, 2
          %from = iadd %id, 2
          %own = load.data.constant.w8.zero %from
          %same = load.data.constant.w8.zero 6
          %high = ishl %same, 8
          %both = ior %own, %high
          store.buffer @0.0, %to, %both
          return";
    let mut function = parse(text).expect("it is IR");
    let options = options(None);
    let mut runner = Runner::new(options.target, &[]);
    pipeline::lower(&mut function, Robust::Off, &mut runner);
    let compiled = compile_lowered(&function, &options).expect("it has all that this needs");
    let bytes = vec![0; 16];
    let mut buffers = Buffers::from([((0, 0, 0), Buffer { bytes })]);
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 1 << 16,
    };
    on_ir3::run(&compiled.program, &dispatch, &mut buffers).expect("it ends");
    let words = buffers[&(0, 0, 0)].bytes.as_chunks().0;
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    assert_eq!(
        words,
        [0x8602, 0x8603, 0x8684, 0x8685],
        "{}",
        compiled.listing
    );
}

/// What an instruction reads side by side, another one reads the other way round, or twice.
#[test]
fn words_stand_side_by_side_in_each_order_that_is_read() {
    let text = "function main
        workgroup 4 1 1
        lanes 64
        binding 0 0 storage written
        b0:
          %id = local_id.x
          %at = ishl %id, 5
          %a, %b = load.buffer.2 @0.0, %at
          %behind = iadd %at, 8
          %last = iadd %at, 16
          %same = iadd %at, 24
          store.buffer.2 @0.0, %behind, %b, %a
          store.buffer.2 @0.0, %last, %a, %b
          store.buffer.2 @0.0, %same, %a, %a
          return";
    let function = parse(text).expect("it is IR");
    let bytes: Vec<u8> = (0..128).collect();
    let before = Buffers::from([((0, 0, 0), Buffer { bytes })]);
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 1 << 16,
    };
    let (mut expected, mut got) = (before.clone(), before);
    interpret(&function, &dispatch, &mut expected).expect("it ends");
    let listing = run_on("a6xx", &function, &dispatch, &mut got);
    let listing = listing.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(got, expected, "{listing}");
}

/// A loop walks along a uniform buffer: that its offsets are whole vectors is known from the accesses alone.
#[test]
fn a_loop_walks_along_vectors_of_a_uniform_buffer() {
    for (results, width) in [
        ("%a, %b, %c, %d", ".4.align16"),
        ("%a, %b, %c", ".3.align16"),
        ("%a, %b", ".2.align8"),
        ("%a", ""),
    ] {
        let all: Vec<&str> = results.split(", ").collect();
        let last = all.last().expect("there is one");
        let text = format!(
            "function main
            workgroup 16 1 1
            lanes 64
            binding 0 0 storage written
            binding 0 1 uniform
            b0:
              %id = local_id.x
              %to = ishl %id, 2
              %begin = ishl %id, 4
              jump b1
            b1:
              %from = phi.w32 b0: %begin, b1: %next
              %sum = phi.w32 b0: 0, b1: %next_sum
              {results} = load.buffer.constant{width} @0.1, %from
              %more = iadd %sum, %a
              %tripled = imul %more, 3
              %next_sum = ixor %tripled, {last}
              %next = iadd %from, 16
              %again = ult %next, 512
              branch %again, b1, b2
            b2:
              store.buffer @0.0, %to, %next_sum
              return"
        );
        let function = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let words = (0..128_u32).map(|word| word.wrapping_mul(0x9e37_79b9));
        let rows: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        let before = Buffers::from([
            ((0, 0, 0), Buffer { bytes: vec![0; 64] }),
            ((0, 1, 0), Buffer { bytes: rows }),
        ]);
        let dispatch = Dispatch {
            groups: [1; 3],
            push_constants: vec![],
            step_limit: 1 << 16,
        };
        let (mut expected, mut got) = (before.clone(), before);
        interpret(&function, &dispatch, &mut expected).expect("it ends");
        let listing = run_on("a6xx", &function, &dispatch, &mut got);
        let listing = listing.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(got, expected, "{results}\n{listing}");
    }
}

/// By address: the data of the program lie at one that is known here.
#[test]
fn memory_is_accessed_by_address_in_each_width() {
    let high = on_ir3::DATA >> 32;
    let text = format!(
        "function main
        workgroup 1 1 1
        lanes 64
        binding 0 0 storage written
        data 0x03020100 0x87868584 0xcbcac9c8 0x8001ff80
        b0:
          %words = pack64 4, {high}
          %last = pack64 12, {high}
          %half = pack64 14, {high}
          %first = pack64 0, {high}
          %known = load.data 0
          %a, %b = load.global.2 %words
          %byte = load.global.w8.sign %last
          %plain = load.global.w8.zero %last
          %signed = load.global.w16.sign %half
          store.global %first, 0x12345678
          store.global.w8.zero %last, 0xab
          %changed = load.global %first
          %joined = load.global %last
          store.buffer.4 @0.0, 0, %a, %b, %byte, %plain
          store.buffer.4 @0.0, 16, %signed, %changed, %joined, %known
          return"
    );
    let function = parse(&text).expect("it is IR");
    let bytes = vec![0; 32];
    let mut buffers = Buffers::from([((0, 0, 0), Buffer { bytes })]);
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 1 << 16,
    };
    let run = LOWERED.run;
    let listing = run(&function, &dispatch, &mut buffers).unwrap_or_else(|error| panic!("{error}"));
    let words = buffers[&(0, 0, 0)].bytes.as_chunks().0;
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let wanted = [
        0x8786_8584,
        0xcbca_c9c8,
        0xffff_ff80,
        0x80,
        0xffff_8001,
        0x1234_5678,
        0x8001_ffab,
        0x0302_0100,
    ];
    assert_eq!(words, wanted, "{listing}");
}

/// Products of words are made of products of their halves, and of those that are nothing none is.
#[test]
fn products_of_words_with_bounds_have_all_their_bits() {
    for bound in [0xffff_u32, 0x1_0000, 0xff_ffff, 0x100_0000] {
        let text = format!(
            "function main
            workgroup 4 1 1
            lanes 64
            binding 0 0 storage written
            b0:
              %id = local_id.x
              %at = ishl %id, 4
              %a, %b = load.buffer.2 @0.0, %at
              %least = umin %a, {bound}
              %product = imul %least, %b
              %turned = imul %b, %least
              %behind = iadd %at, 8
              store.buffer.2 @0.0, %behind, %product, %turned
              return"
        );
        let function = parse(&text).expect("it is IR");
        let words = [
            bound,
            0x9e37_79b9,
            bound - 1,
            0xffff_ffff,
            u32::MAX,
            bound,
            3,
            0x10_0001,
        ];
        let bytes = words.chunks(2).flat_map(|pair| [pair[0], pair[1], 0, 0]);
        let bytes = bytes.flat_map(u32::to_le_bytes).collect();
        let mut buffers = Buffers::from([((0, 0, 0), Buffer { bytes })]);
        let dispatch = Dispatch {
            groups: [1; 3],
            push_constants: vec![],
            step_limit: 1 << 16,
        };
        let listing = run_on("a6xx", &function, &dispatch, &mut buffers);
        let listing = listing.unwrap_or_else(|error| panic!("{error}"));
        let after = buffers[&(0, 0, 0)].bytes.as_chunks().0;
        let after: Vec<u32> = after.iter().map(|word| u32::from_le_bytes(*word)).collect();
        for (lane, words) in after.chunks(4).enumerate() {
            let product = words[0].min(bound).wrapping_mul(words[1]);
            assert_eq!(
                words[2..],
                [product; 2],
                "bound {bound:#x}, lane {lane}\n{listing}"
            );
        }
    }
}

/// Facts: hardware/ir3-isa.md 13.
#[test]
fn a_fence_has_the_flags_of_the_memories_that_it_orders() {
    for (fence, expected) in [
        ("fence", "fence.g.l.r.w"),
        ("fence.buffers", "fence.g.l.r.w"),
        ("fence.shared", "fence.r.w"),
        ("barrier", "fence.g.l.r.w bar.g"),
    ] {
        let text = format!(
            "function main
            workgroup 64 1 1
            lanes 64
            shared 256
            binding 0 0 storage written
            b0:
              %x = local_id.x
              %at = ishl %x, 2
              store.shared 0, 7
              {fence}
              store.shared 0, 8
              %any = load.shared %at
              store.buffer @0.0, %at, %any
              return"
        );
        let mut function = parse(&text).expect("it is IR");
        let options = options(None);
        let mut runner = Runner::new(options.target, &[]);
        pipeline::lower(&mut function, Robust::Off, &mut runner);
        let compiled = compile_lowered(&function, &options).expect("it has all that this needs");
        let listing = compiled.listing.to_string();
        let words = listing.split_whitespace();
        let told = words.filter(|word| word.contains("fence") || word.contains("bar."));
        assert_eq!(told.collect::<Vec<_>>().join(" "), expected, "{listing}");
    }
}
