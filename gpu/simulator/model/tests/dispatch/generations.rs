//! Instructions that not every generation has, and values that differ.
//!
//! Facts: hardware/valhall-isa.md 2.1 and 15.

use super::bench::stream_output;
use super::{BUFFER, CODE, Dispatch, EACH, assemble, program};
use eitri_cs::Arch;
use eitri_isa::{Instr, Syntax};

#[test]
fn instructions_exist_where_their_generation_has_them() {
    let ever = |text: &str| {
        eitri_isa::Arch::ALL
            .iter()
            .find_map(|arch| Instr::assemble(text, *arch, Syntax::Mesa24).ok())
            .unwrap_or_else(|| panic!("no generation has {text}"))
    };
    for (text, archs) in [
        ("V2S16_TO_V2F16 r4, r2", Arch::V10..=Arch::V10),
        ("IADD.v4s8 r4, r2, r2", Arch::V10..=Arch::V10),
        ("AND_IMM.i32 r4, r2, #0xFF", Arch::V11..=Arch::V13),
        ("FLOG.f16 r4, r2.h0", Arch::V12..=Arch::V13),
        ("IADD.u32 r4, r2, r2", Arch::V10..=Arch::V13),
    ] {
        for gpu in EACH {
            let dispatch = Dispatch::default();
            let mut bench = dispatch.prepare_on(gpu, "MOV.i32 r2, 0x0\nNOP\nNOP.end");
            bench.put_words(1, CODE + 8, &[ever(text)]);
            dispatch.submit(&mut bench);
            bench.wait(5_000);
            let fault = bench.shared(stream_output(0) + 0x80) & 0xff;
            let expected = if archs.contains(&bench.arch()) {
                0
            } else {
                0x51
            };
            assert_eq!(fault, expected, "{text} on {gpu}: {}", bench.report());
        }
    }
}

#[test]
fn constant_21_is_of_the_generation() {
    let text = program("MOV.i32 r4, 0x272428E0\nSTORE.i32.slot0 @r4, r0, offset:0\nNOP.end");
    for gpu in ["G615", "G720", "G925"] {
        let dispatch = Dispatch {
            size: [1, 1, 1],
            ..Dispatch::default()
        };
        dispatch.check_on(gpu, &text, &[0x2724_28E0]);
        // The same word reads 0 on v10.
        let mut bench = dispatch.prepare("NOP.end");
        let code = assemble(&text, Arch::V11);
        bench.put_words(1, CODE, &code);
        bench.put(1, BUFFER, &[1]);
        dispatch.submit(&mut bench);
        bench.drain(0);
        assert_eq!(bench.get32(1, BUFFER), 0);
    }
}
