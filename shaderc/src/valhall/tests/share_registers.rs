//! Values that share registers: which they are, where they come to lie, and how that is said to the hardware.

use crate::machine::parse::read;
use crate::valhall::mir::{Form, Function, verify};
use crate::valhall::pack::pack;
use crate::valhall::registers::allocate::AllocateOptions;
use crate::valhall::registers::share_registers::{join_halves, share_registers};
use crate::valhall::tests::random_function::allocate_all;
use crate::valhall::waits::assign_slots::assign_slots;
use crate::valhall::waits::mark_last_use::mark_last_use;
use eitri_isa::{Arch, Syntax};

/// Which values became halves, as they are listed, and the whole text.
fn halves(text: &str, pass: impl FnOnce(&mut Function) -> bool) -> (String, String) {
    let mut function = read(text);
    let changed = pass(&mut function);
    assert_eq!(verify(&function, Form::Ssa), [], "{function}");
    let text = function.to_string();
    let listed = text.lines().find_map(|line| line.strip_prefix("half "));
    assert_eq!(changed, listed.is_some(), "{text}");
    (listed.unwrap_or_default().to_owned(), text)
}

/// The code of a text after allocation, as assembly. Which slots messages have is left out.
fn code(function: &mut Function, options: AllocateOptions) -> Vec<String> {
    allocate_all(function, options).expect("fits");
    assign_slots(function);
    mark_last_use(function);
    let words = pack(function, Arch::V10).unwrap_or_else(|error| panic!("{error}\n{function}"));
    let decode = |word: u64| eitri_isa::Instr::decode(word, Arch::V10).expect("it was packed");
    let text = words.into_iter().map(decode);
    let text = text.map(|instr| instr.display(Arch::V10, Syntax::Mesa24).to_string());
    let slots = [".slot0", ".slot1", ".slot2"];
    text.map(|text| slots.iter().fold(text, |text, slot| text.replace(slot, "")))
        .collect()
}

/// Two halves are computed and joined; a third is loaded, and joined to one of them.
const JOINED: &str = "preload %0 = r60
    b0:
      %1 = FADD.f32.h01 %0, t0
      %2 = FADD.f32.h01 %0, %0
      %3 = MKVEC.v2i16 %1.h0, %2.h0
      %4 = LD_BUFFER.i16.w0.unsigned %0, t0, space:buffer
      %5 = MKVEC.v2i16 %4.h0, %4.h0
      STORE.i64 @%3:%5, u0, imm:0, space:buffer
      end";

#[test]
fn what_is_computed_and_joined_is_made_in_its_place() {
    let mut function = read(JOINED);
    assert!(join_halves(&mut function));
    let code = code(&mut function, AllocateOptions::default());
    let expected = [
        "FADD.f32 r0.h0, r60, 0x0",
        "FADD.f32 r0.h1, r60, r60",
        "LD_BUFFER.i16.w0.unsigned @r1, ^r60, 0x0",
        "MKVEC.v2i16 r1, ^r1.h00, ^r1.h00",
        "STORE.i64 @r0:r1, u0, offset:0",
    ];
    assert_eq!(code, expected);
}

#[test]
fn what_is_loaded_shares_a_register_only_where_there_are_too_few() {
    assert_eq!(halves(JOINED, join_halves).0, "%1 %2");
    let (all, text) = halves(JOINED, share_registers);
    assert_eq!(all, "%1 %2 %4");
    assert!(text.contains("%4 = LD_BUFFER.i16.unsigned %0"), "{text}");
}

#[test]
fn what_somebody_reads_otherwise_stays_a_word() {
    let (halves, text) = halves(
        "preload %0 = r60
        b0:
          %1 = FADD.f32.h01 %0, t0
          %2 = FADD.v2f16 %1, %0.h10 ; nobody reads its upper half
          %3 = FADD.v2f16 %1, %1.h10 ; somebody does
          %4 = FADD.v2f16 %0, %0     ; this one's too
          %5 = CSEL.v2u16.lt %2, %2, %2, %2
          %6 = FADD.v2f16 %0, %0     ; but not this one's
          %7 = F16_TO_F32 %6.h0
          STORE.i32 @%3, u0, imm:0, space:buffer
          STORE.i32 @%4, u0, imm:4, space:buffer
          STORE.i16 @%5, u0, imm:8, space:buffer
          STORE.i32 @%7, u0, imm:12, space:buffer
          end",
        share_registers,
    );
    // A choice selects no halves, so that %2 is a word, and %1 is read as %2 needs it.
    assert_eq!(halves, "%6", "{text}");
    assert!(text.contains("%6 = FADD.v2f16 %0.h00, %0.h00"), "{text}");
}

#[test]
fn a_phi_is_a_half_if_all_that_it_chooses_between_are() {
    let text = |start: &str| {
        format!(
            "preload %0 = r60
            b0:
              %1 = {start}
              jump b1
            b1:
              %2 = phi b0 %1, b1 %3
              %4 = phi b0 #0x3c00, b1 %5
              %3 = FMA.v2f16 %2, %2.h00, %4.h00
              %5 = FADD.v2f16 %4, t0.neg
              branch %0, b1, b2
            b2:
              %6 = MKVEC.v2i16 %3.h0, %5.h0
              STORE.i32 @%6, u0, imm:0, space:buffer
              end"
        )
    };
    let whole = "MOV.i32 u2";
    assert_eq!(halves(&text(whole), share_registers).0, "%4 %5");
    let half = "FADD.f32.h01 %0, t0";
    assert_eq!(halves(&text(half), join_halves).0, "%1 %2 %3 %4 %5");
    let mut function = read(&text(half));
    join_halves(&mut function);
    allocate_all(&mut function, AllocateOptions::default()).expect("fits");
    let text = function.to_string();
    assert!(!text.contains("MKVEC") && !text.contains("MOV"), "{text}");
    assert!(
        text.contains("imm:1006648320"),
        "a constant is written to either half\n{text}"
    );
}

#[test]
fn bytes_are_loaded_to_where_they_are_read() {
    let text = "preload %0 = r60
        b0:
          %1 = LOAD.i8.w0 u0, imm:0, space:buffer
          %2 = LOAD.i8.w0.unsigned u0, imm:1, space:buffer
          %6 = LOAD.i8.w0.unsigned u0, imm:2, space:buffer
          %3 = U8_TO_F32 %1.b0
          %4 = S16_TO_S32 %2.h0
          %5 = IADD.u32 %4, %2.b0
          %7 = IADD.u32 %6.b0, %5
          STORE.i64 @%3:%7, u0, imm:0, space:buffer
          STORE.i8 @%1, u0, imm:8, space:buffer
          STORE.i8 @%2, u0, imm:9, space:buffer
          STORE.i8 @%6, u0, imm:10, space:buffer
          end";
    let mut function = read(text);
    assert!(share_registers(&mut function));
    let code = code(&mut function, AllocateOptions::default());
    // The second is widened to a half, and one byte is between it and the first.
    let expected = [
        "LOAD.i8 @r0, u0, offset:0",
        "LOAD.i8.h1.unsigned @r0, u0, offset:1",
        "LOAD.i8.b1.unsigned @r0, u0, offset:2",
        "U8_TO_F32 r2, r0.b0",
        "S16_TO_S32 r1, r0.h10",
        "IADD.u32 r1, ^r1, r0.b2",
        "IADD.u32 r3, r0.b1, ^r1",
        "STORE.i64 @r2:r3, u0, offset:0",
        "STORE.i8 @r0, u0, offset:8",
        "STORE.i8.b2 @r0, u0, offset:9",
        "STORE.i8.b1 @r0, u0, offset:10",
    ];
    assert_eq!(code, expected);
}

/// So many halves that live at once.
fn many(count: usize) -> String {
    let mut text = String::from("preload %0 = r60\nb0:\n");
    for number in 1..=count {
        text += &format!("  %{number} = LD_BUFFER.i16.w0.unsigned %0, t0, space:buffer\n");
    }
    for number in 1..=count {
        text += &format!("  STORE.i16 @%{number}, u0, imm:{number}, space:buffer\n");
    }
    text + "  end"
}

#[test]
fn two_halves_take_one_register() {
    let options = AllocateOptions {
        limit: Some(8),
        ..AllocateOptions::default()
    };
    let mut words = read(&many(16));
    let spilled = allocate_all(&mut words, options).expect("there is memory");
    assert!(spilled.spills > 0, "{words}");
    let mut halves = read(&many(16));
    share_registers(&mut halves);
    let allocated = allocate_all(&mut halves, options).expect("there is memory");
    assert_eq!((allocated.spills, allocated.fills), (0, 0), "{halves}");
    assert_eq!(
        allocated.registers_used, 9,
        "with that of the address\n{halves}"
    );
}

#[test]
fn halves_are_spilled_as_halves() {
    let options = AllocateOptions {
        limit: Some(4),
        ..AllocateOptions::default()
    };
    let mut function = read(&many(16));
    share_registers(&mut function);
    let allocated = allocate_all(&mut function, options).expect("there is memory");
    let text = function.to_string();
    assert!(allocated.spills > 0 && allocated.fills > 0, "{text}");
    let spills = text.lines().filter(|line| line.contains("space:spill"));
    for line in spills {
        assert!(
            line.contains("STORE.i16") || line.contains("LOAD.i16"),
            "{line}\n{text}"
        );
    }
    assign_slots(&mut function);
    assert!(pack(&function, Arch::V10).is_ok(), "{text}");
}

#[test]
fn a_register_is_not_used_for_the_last_time_while_half_of_it_stays() {
    let mut function = read(
        "b0:
          r0h0 = FADD.v2f16 r1.h00, r1.h00
          r2 = FADD.v2f16 r0h0.h00, r1
          r0h1 = FADD.v2f16 r2.h00, r2.h00
          r2 = MOV.i32 r0
          end",
    );
    function.form = Form::Registers;
    mark_last_use(&mut function);
    let expected = "\
b0:
  r0h0 = FADD.v2f16 r1.h00, r1.h00
  r2 = FADD.v2f16 r0h0.h00, ^r1
  r0h1 = FADD.v2f16 ^r2.h00, ^r2.h00
  r2 = MOV.i32 ^r0
  end
";
    assert_eq!(function.to_string(), expected);
}

#[test]
fn what_a_half_has_not_is_not_packed() {
    let function =
        read::<crate::valhall::mir::Valhall>("b0:\n r0 = FADD.v2f16 r1h1, r1h0.h10\n end");
    let error = pack(&function, Arch::V10).expect_err("it selects what is not there");
    assert_eq!(
        error.to_string(),
        "internal: `r0 = FADD.v2f16 r1h1, r1h0.h10` can't be encoded: it can't do that with a part of a register"
    );
}
