//! Selection and legalisation: IR as text, and the machine IR that it becomes, beside each line.

use crate::ir::parse::parse;
use crate::link::VaryingLayout;
use crate::machine::parse as machine;
use crate::pass::{Runner, Settings};
use crate::target::Target;
use crate::valhall::mir::Function;
use crate::valhall::pipeline::lower;
use crate::valhall::{Choices, compile};
use eitri_isa::Arch;

/// The machine IR after `pass`.
pub(super) fn after(text: &str, pass: &str) -> String {
    let ir = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let settings = Settings {
        stop_after: Some(pass),
        ..Settings::default()
    };
    let mut runner = Runner::with(Target::default(), settings);
    if let Err(error) = lower(
        &ir,
        Arch::V10,
        Choices::default(),
        &VaryingLayout::default(),
        &mut runner,
    ) {
        panic!("{error}");
    }
    let ended = runner.ended();
    ended
        .unwrap_or_else(|| panic!("{pass} has not run"))
        .unwrap_or_else(|broken| panic!("{broken}"))
}

/// Compares what each line became after legalisation: the texts after `; expect:` must occur in this order, with `%`
/// standing for any value.
#[track_caller]
fn check(body: &str) {
    let mut text = String::from("function main\nworkgroup 64 1 1\n");
    for binding in 0..2 {
        text.push_str(&format!("binding 0 {binding} storage count 4 written\n"));
    }
    text.push_str("b0:\n");
    text.push_str("  %x = global_id.x\n  %y = global_id.y\n  %z = global_id.z\n");
    text.push_str(body);
    if !body.contains("return") {
        text.push_str("  return\n");
    }
    let got = after(&text, "share_moves");
    machine::expect(body, &machine::without_numbers(&got));
}

/// A use of a value that keeps it alive.
macro_rules! kept {
    ($body:literal) => {
        concat!($body, "\n  store.buffer @0.0, 0, %r\n")
    };
}

#[test]
fn integers() {
    check(kept!(
        "  %r = iadd %x, 5                ; expect: IADD_IMM.i32 %, imm:5"
    ));
    check(kept!(
        "  %r = isub %x, %y               ; expect: ISUB.u32 %, %"
    ));
    check(kept!(
        "  %r = imul %x, 192              ; expect: IMUL.i32 %, t7.b3"
    ));
    check(kept!(
        "  %r = smax %x, %y               ; expect: CSEL.s32.gt %, %, %, %"
    ));
    check(kept!(
        "  %r = umul_high %x, %y          ; expect: %:% = IMULD.u64 %.w0, %.w0"
    ));
    check(kept!(
        "  %b = iand %x, 255\n  %r = iadd %b, %y   ; expect: IADD.u32 %.b0, %"
    ));
    check(kept!(
        "  %s = ushr %x, 8\n  %b = iand %s, 255\n  %r = u2f %b   ; expect: U8_TO_F32 %.b1"
    ));
}

#[test]
fn bits() {
    check(kept!(
        "  %r = ishl %x, 3                ; expect: LSHIFT_OR.i32 %, t8.b3, t0"
    ));
    check(kept!(
        "  %r = ushr %x, %y               ; expect: RSHIFT_OR.i32 %, %.b0, t0"
    ));
    check(kept!(
        "  %s = ushr %x, 4\n  %r = iand %s, 15   ; expect: RSHIFT_AND.i32 %, t9.b0, u2"
    ));
    check(kept!(
        "  %r = inot %x                   ; expect: ISUB.u32 t1, %"
    ));
    check(kept!(
        "  %n = inot %x\n  %r = iadd %n, 1   ; expect: ISUB.u32 t0, %"
    ));
    check(kept!(
        "  %r = ishl %x, 1                ; expect: IADD.u32 %, %"
    ));
    check(kept!(
        "  %o = iand %x, %y\n  %r = ixor %x, %o   ; expect: ISUB.u32 %, %"
    ));
    check(kept!(
        "  %n = inot %y\n  %r = iand %x, %n   ; expect: LSHIFT_AND.i32 %, t0.b0, %.not"
    ));
    check(kept!(
        "  %r = rotl %x, 7                ; expect: LROT_OR.i32 %, t9.b3, t0"
    ));
    check(kept!(
        "  %r = bit_select %x, %y, %z     ; expect: MUX.i32.bit %, %, %"
    ));
    check(kept!(
        "  %r = sshr %x, 16               ; expect: S16_TO_S32 %.h1"
    ));
    // Of a uniform word it is another word, known before the job, and not a selection.
    check(kept!(
        "  %p = uniform.push.4
      %s = sshr %p, 16               ; expect: work 0 = push 4, ShiftRightSigned 16
      %r = iadd %x, %s               ; expect: IADD.u32 %, u2"
    ));
}

#[test]
fn booleans() {
    check(kept!(
        "  %c = slt %x, %y\n  %r = select %c, %x, %z   ; expect: CSEL.s32.lt %, %, %, %"
    ));
    check(kept!(
        "  %c = slt %x, %y\n  %d = ieq %x, %z\n  %a = band %c, %d
        ; expect: ICMP_OR.s32.lt.m1 %, %, t0
        ; expect: ICMP_AND.u32.eq.m1 %, %, %
      %r = select %a, %x, 0                         ; expect: CSEL.u32.ne %, t0, %, t0"
    ));
    check(kept!(
        "  %c = flt %x, %y\n  %r = b2f %c    ; expect: FCMP_OR.f32.lt.f1 %, %, t0"
    ));
}

#[test]
fn floats() {
    check(kept!(
        "  %r = fadd %x, 1.0              ; expect: FADD.f32 %, t16"
    ));
    check(kept!(
        "  %r = fadd %x, 1.25             ; expect: FADD_IMM.f32 %, imm:1067450368"
    ));
    check(kept!(
        "  %r = fmul %x, %y               ; expect: FMA.f32 %, %, t0.neg"
    ));
    check(kept!(
        "  %n = fneg %y\n  %r = ffma %x, %n, %z   ; expect: FMA.f32 %, %.neg, %"
    ));
    check(kept!(
        "  %s = fadd %x, %y\n  %r = fsat %s       ; expect: FADD.f32.clamp_0_1 %, %"
    ));
    check(kept!(
        "  %h = half_high %x\n  %r = fadd %h, %y  ; expect: FADD.f32 %.h1, %"
    ));
    check(kept!(
        "  %r = f2i %x                    ; expect: F32_TO_S32.rtz %"
    ));
    check(kept!(
        "  %r = ffloor %x                 ; expect: FROUND.f32.rtn %"
    ));
}

#[test]
fn transcendentals() {
    check(kept!(
        "  %r = fexp2 %x
        ; expect: FMA_RSCALE.f32
        ; expect: F32_TO_S32 %
        ; expect: FEXP.f32 %, %"
    ));
    check(kept!(
        "  %r = flog2 %x
        ; expect: FREXPE.f32.log %
        ; expect: S32_TO_F32 %
        ; expect: FADD_LSCALE.f32 t16.neg, %
        ; expect: FLOGD.f32 %
        ; expect: FMA.f32 %, %, %"
    ));
}

#[test]
fn memory() {
    check("
      %a = load.buffer.4 @0.0, %x         ; expect: %:%:%:% = LD_BUFFER.i128.unsigned %, t4, space:buffer
      %b, %c = load.buffer.constant.2 @0.1, 16 ; expect: LD_BUFFER.i64.unsigned
      store.buffer @0.0, %x, %b
    ".replace("%a =", "%a, %a1, %a2, %a3 =").as_str());
    check(
        "
      %o = iadd %x, 4
      store.buffer.2 @0.0, %x, %x, %y   ; expect: %:% = SHADDX.u64 u0, %.w0, imm:0
                                             ; expect: STORE.i64 @%:%, [%:%], imm:0, space:buffer
      store.buffer @0.0, %o, %x         ; expect: STORE.i32 @%, [%:%], imm:4, space:buffer
    ",
    );
    // Which buffer it is isn't known.
    check(
        "
      %o = iadd %x, 4
      %r = resource.0.1 %z                   ; expect: % = IADD_IMM.i32 %, imm:16777220
      store.buffer.2 %r, %x, %x, %y          ; expect: %:% = LEA_PKA %, %
                                             ; expect: STORE.i64 @%:%, [%:%], imm:0, space:buffer
      store.buffer %r, %o, %x                ; expect: STORE.i32 @%, [%:%], imm:4, space:buffer
    ",
    );
    // A sum that may wrap is made in 32 bits first; one that doesn't is left to the message, as a shift to the address.
    check(
        "
      %o = iadd %x, -8
      store.buffer @0.0, %o, %y         ; expect: % = IADD_IMM.i32 %, imm:4294967288
                                             ; expect: %:% = SHADDX.u64 u0, %.w0, imm:0
                                             ; expect: STORE.i32 @%, [%:%], imm:0, space:buffer
      %w = local_id.x
      %i = ishl %w, 2
      %p = iadd %i, 8
      store.buffer @0.0, %p, %y         ; expect: %:% = SHADDX.u64 u0, %.w0, imm:2
                                             ; expect: STORE.i32 @%, [%:%], imm:8, space:buffer
      store.buffer @0.0, 12, %y         ; expect: STORE.i32 @%, u0, imm:12, space:buffer
    ",
    );
    check("
      %a = load.data.constant 8              ; expect: LOAD.i32.unsigned u0, imm:8, space:constant
      %b = load.data.constant %x             ; expect: %:% = SHADDX.u64 u0, %.w0, imm:0
                                             ; expect: LOAD.i32.unsigned [%:%], imm:0, space:constant
      store.shared 0, %a
      store.shared 4, %b
    ");
    check("
      %w = local_id.x
      %i = ishl %w, 2
      %a = load.shared %i                    ; expect: %:% = SHADDX.s64 workgroup_local_pointer, %.w0, imm:2
                                             ; expect: LOAD.i32.unsigned [%:%], imm:0, space:shared
      store.shared 8, %a                     ; expect: STORE.i32 @%, workgroup_local_pointer, imm:8, space:shared
      store.scratch 8, %a                    ; expect: STORE.i32.force @%, thread_local_pointer, imm:8, space:scratch
    ");
    check(
        "
      store.shared 8, %x                     ; expect: space:shared
      fence.shared                           ; expect: FENCE space:shared
      store.shared 8, %y                     ; expect: space:shared
      fence.buffers                          ; expect: FENCE space:buffer
      store.shared 8, %x                     ; expect: space:shared
      fence                                  ; expect: FENCE
      store.shared 8, %y                     ; expect: space:shared
      barrier.shared                         ; expect: BARRIER
      store.shared 8, %x
    ",
    );
    // What is shifted out at the top of a word would stay in 64 bits.
    check("
      %i = ishl %x, 2
      %a = load.shared.volatile %i           ; expect: % = LSHIFT_OR.i32
                                             ; expect: %:% = IADD.s64 workgroup_local_pointer, %.w0
                                             ; expect: LOAD.i32.unsigned [%:%], imm:0, space:shared, volatile
      store.shared 8, %a
    ");
    // Unless a branch has shown that nothing is.
    check("
      %less = ult %x, 64
      branch %less, b1, b2
    b1:
      %i = ishl %x, 2
      %a = load.shared.volatile %i           ; expect: %:% = SHADDX.s64 workgroup_local_pointer, %.w0, imm:2
      store.buffer @0.0, 0, %a
      jump b2
    b2:
      return
    ");
    check("
      %a = atomic.add.buffer @0.0, %x, 1 ; expect: ATOM1_RETURN.i32.ainc [%:%], imm:0
      %b = atomic.umax.shared 16, %a          ; expect: ATOM.i32.aumax @%, workgroup_local_pointer, imm:16
      %c = atomic.compare_exchange.shared 16, %a, %x ; expect: ATOM_RETURN.i32.compare.axchg @%:%, workgroup_local_pointer
    ");
}

#[test]
fn uniform_work() {
    // What comes of push constants and sizes alone is a word, which reads as any other; the words before it are dropped when
    // they are arranged.
    check(
        "
      %p = uniform.push.4
      %q = uniform.push.8
      %m = imul %p, %q                       ; expect: work 0 = push 4, Multiply push 8
      %a = iadd 5, %m                        ; expect: work 1 = push 4, Multiply push 8, Add 5
      %n = buffer_size @0.1.2
      %b = umax 3, %n                        ; expect: work 2 = bytes 0x1000006, Max 3
      %c = isub %b, 3                        ; expect: work 3 = bytes 0x1000006, Max 3, Subtract 3
      %d = isub 7, %p                        ; expect: work 4 = constant 0x7, Subtract push 4
      store.shared 0, %a                     ; expect: % = MOV.i32 u
      store.shared 4, %c
      store.shared 8, %d
    ",
    );
    // Two words in one step, or what a warp alone knows, stay with the warps.
    check(
        "
      %p = uniform.push.4
      %n = buffer_size @0.1.2
      %w = uniform.num_workgroups.x
      %a = imul %p, %n                       ; expect: work 0 = bytes 0x1000006, Multiply push 4
      %b = imul %n, %n                       ; expect: % = IMUL.i32 u1, u1
      %c = imul %w, 12                       ; expect: % = IMUL.i32 u0, t
      store.shared 0, %a
      store.shared 4, %b
      store.shared 8, %c
    ",
    );
}

#[test]
fn resources() {
    // The size of a buffer that is known is a uniform word.
    check(
        "
      %a = buffer_size @0.1.2                ; expect: fau u0 = bytes 0x1000006
      store.shared 0, %a                     ; expect: % = MOV.i32 u0
    ",
    );
    // Of another its descriptor tells, the second word of it.
    check(
        "
      %r = resource.0.1 %z                   ; expect: % = IADD_IMM.i32 %, imm:16777220
      %a = buffer_size %r                    ; expect: % = RSHIFT_OR.i32 %, t14.b0, t0
                                             ; expect: % = IADD_IMM.i32 %, imm:1040187392
                                             ; expect: % = LSHIFT_OR.i32 %,
                                             ; expect: % = RSHIFT_OR.i32 %,
                                             ; expect: % = IADD_IMM.i32 %, imm:4
                                             ; expect: % = LD_BUFFER.i32.unsigned %, %, space:constant
      store.shared 0, %a
    ",
    );
    check(
        "
      %c = ieq %x, %y
      %r = select %c, @0.0.3, @0.1           ; expect: % = CSEL.u32.eq %, %, u0, u1
      %a = load.buffer %r, 0                 ; expect: LD_BUFFER.i32.unsigned
      store.shared 0, %a
    ",
    );
}

#[test]
fn what_has_no_code_is_named() {
    let ir =
        parse("function main\nworkgroup 1 1 1\nvar v0 w32 1\nb0:\n  %a = load.v0 0\n  return\n")
            .expect("parses");
    let mut runner = Runner::new(Target::default(), &[]);
    let error = lower(
        &ir,
        Arch::V10,
        Choices::default(),
        &VaryingLayout::default(),
        &mut runner,
    )
    .err()
    .expect("not lowered");
    assert_eq!(
        error.to_string(),
        "the Valhall back end has no code for `load_var`"
    );
}

#[test]
fn a_loop_compiles_as_in_the_worked_example() {
    let text = "
function main
workgroup 64 1 1
binding 0 0 storage written
binding 0 1 storage written
b0:
  %n = global_id.x
  jump b1
b1:
  %i = phi.w32 b0: 0, b2: %j
  %s = phi.w32 b0: 0, b2: %t
  %c = uge %i, %n
  branch %c, b3, b2
b2:
  %t = iadd %s, %i
  %j = iadd %i, 1
  jump b1
b3:
  store.buffer @0.0, 0, %s
  return
";
    let got = after(text, "mark_last_use");
    let function = Function::parse(&got).expect("prints what it parses");
    // Example 4 of hardware/compiler-examples.md: seven instructions before the exit, none of them a copy. Here the test
    // stands at the bottom as well, so that a round is four instructions in place of five.
    let before_exit: usize = function.blocks[..3]
        .iter()
        .map(|block| block.instrs.len())
        .sum();
    assert_eq!(before_exit, 8, "{got}");
    assert_eq!(function.blocks[2].instrs.len(), 4, "{got}");
    assert!(!got.contains("MOV.i32 r"), "{got}");
}

#[test]
fn a_whole_program_packs_and_decodes() {
    let text = "
function main
workgroup 64 1 1
binding 0 0 storage written
binding 0 1 storage written
b0:
  %n = global_id.x
  %l = local_id.y
  %c = slt %n, %l
  branch %c, b1, b2
b1:
  %o = ishl %n, 2
  %v = load.buffer @0.0, %o
  %f = uniform.push.0
  %w = fadd %v, %f
  %e = fexp2 %w
  store.buffer @0.0, %o, %e
  jump b2
b2:
  barrier
  %a = atomic.add.shared 16, %n
  store.buffer @0.0, 0, %a
  return
";
    let ir = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let arch = Arch::V10;
    let binary = compile(&ir, arch, Choices::default()).unwrap_or_else(|error| panic!("{error}"));
    for &word in &binary.code {
        assert!(
            eitri_isa::Instr::decode(word, arch).is_ok(),
            "{word:016x} in\n{}",
            binary.listing
        );
    }
    assert_eq!(binary.registers, 32);
    // r55 (local id) and r60 (global id).
    assert_eq!(binary.preload, 1 << 7 | 1 << 12);
    assert_eq!(binary.statistics.instructions, binary.code.len());
    assert_eq!(
        compile(&ir, arch, Choices::default()).as_ref(),
        Ok(&binary),
        "the same twice"
    );
}

/// The message for a shader that can't be compiled with these choices.
#[track_caller]
fn refusal(text: &str, choices: Choices) -> String {
    let ir = parse(text).unwrap_or_else(|error| panic!("{error}"));
    match compile(&ir, Arch::V10, choices) {
        Ok(binary) => panic!("compiles:\n{}", binary.listing),
        Err(error) => error.to_string(),
    }
}

const COPY: &str = "
binding 0 0 storage written
binding 0 1 storage written
b0:
  %x = global_id.x
  %o = ishl %x, 4
  %a, %b, %c, %d = load.buffer.4.align16 @0.0, %o
  store.buffer.4.align16 @0.1, %o, %d, %c, %b, %a
  return
";

#[test]
fn what_runs_out_is_said() {
    let choices = |limit| Choices {
        register_limit: Some(limit),
        ..Choices::default()
    };
    let small = format!("function main\nworkgroup 1 1 1\n{COPY}");
    assert_eq!(
        refusal(&small, choices(2)),
        "an instruction needs more registers than the limit leaves"
    );
    let full = format!("function main\nworkgroup 1 1 1\nscratch 32752\n{COPY}");
    assert_eq!(
        refusal(&full, choices(6)),
        "the shader needs more than 32764 bytes of memory for each thread, spilled registers included"
    );
}

#[test]
fn ir_that_is_broken_is_an_error() {
    let text = "
function main
workgroup 1 1 1
binding 0 0 storage written
binding 0 1 storage written
b0:
  %c = ieq 1, 2
  branch %c, b1, b2
b1:
  %x = global_id.x
  jump b2
b2:
  store.buffer @0.0, 0, %x
  return
";
    let message = refusal(text, Choices::default());
    assert!(message.starts_with("internal: after lower: "), "{message}");
}

#[test]
fn conversions_that_later_generations_lack_are_made_of_others() {
    let text = "
function main
workgroup 64 1 1
binding 0 0 storage written
binding 0 1 storage written
b0:
  %x = local_id.x
  %w = load.buffer @0.0, 0
  %b = ushr %w, 24
  %f = u2f %b
  %h = half_high %w
  %r = ffloor %h
  %p = pack_half %f, %r
  store.buffer @0.0, 4, %p
  return
";
    let ir = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let listing = |arch| {
        let binary = compile(&ir, arch, Choices::default());
        let binary = binary.unwrap_or_else(|error| panic!("{error}"));
        binary.listing.to_string()
    };
    let old = listing(Arch::V10);
    assert!(
        old.contains("U8_TO_F32") && old.contains("V2F32_TO_V2F16"),
        "{old}"
    );
    for arch in [Arch::V11, Arch::V12, Arch::V13] {
        let new = listing(arch);
        assert!(new.contains("U32_TO_F32"), "{new}");
        assert!(
            new.contains("FADD.f32 r1.h0") && new.contains("FADD.f32 r1.h1"),
            "each goes to its half of the word, and nothing joins them\n{new}"
        );
        assert!(
            new.contains("F16_TO_F32"),
            "a half is widened before it is rounded\n{new}"
        );
    }
}

/// What could be worked out before the job stays with the warps where there is no room for another word.
#[test]
fn uniform_work_ends_where_words_do() {
    let mut text = String::from("function main\nworkgroup 64 1 1\nb0:\n");
    // Of 64 words 48 are taken: there is room for 16 of 24.
    for number in 0..48 {
        text.push_str(&format!(
            "  %p{number} = uniform.push.{0}\n  store.shared {0}, %p{number}\n",
            4 * number
        ));
    }
    for number in 0..24 {
        text.push_str(&format!(
            "  %w{number} = iadd %p{number}, 77\n  store.shared {}, %w{number}\n",
            256 + 4 * number
        ));
    }
    text.push_str("  return\n");
    let text = text.replace("b0:", "shared 1024\npush 192\nb0:");
    assert_eq!(after(&text, "select").matches("work ").count(), 16);
}
