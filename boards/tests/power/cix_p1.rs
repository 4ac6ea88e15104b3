//! CIX P1: its accesses are those of the facts' list, in their order.

use crate::fake::{Fake, OnBoard, carry_out};
use eitri_boards::cix_p1::BOARD;
use eitri_boards::stand_in::CixP1;
use eitri_boards::steps::{Certainty, Doorbell, Permission, Step};

/// The numbers in hexadecimal of a text.
fn numbers(text: &str) -> Vec<usize> {
    let parts = text.split("0x").skip(1);
    let digits =
        |part: &str| -> String { part.chars().take_while(char::is_ascii_hexdigit).collect() };
    parts
        .filter_map(|part| usize::from_str_radix(&digits(part), 16).ok())
        .collect()
}

#[test]
fn the_steps_are_those_of_the_facts() {
    let Some(text) = eitri_testdata::read_shared("hardware/boards-others.md") else {
        return;
    };
    let between = |begin: &str, end: &str| {
        let rest = text
            .split(begin)
            .nth(1)
            .unwrap_or_else(|| panic!("no {begin}"));
        rest.split(end).next().unwrap_or_default().to_owned()
    };
    let list = between("### 1.4", "### 1.5");
    let row = |number: usize| {
        let begin = format!("\n{number}. ");
        let rest = list
            .split(&*begin)
            .nth(1)
            .unwrap_or_else(|| panic!("no row {number}"));
        rest.split("\n").next().unwrap_or_default().to_owned()
    };
    // Row 1: the page, the header, and the call with its argument.
    let [first, second] = BOARD.power_controllers else {
        panic!("two controllers");
    };
    let Doorbell::Smc(call) = first.doorbell else {
        panic!("the first is the firmware");
    };
    let stated = numbers(&row(1));
    let ours = [
        first.page,
        0x4404,
        call.function as usize,
        call.arguments[0] as usize,
    ];
    assert_eq!(stated, ours, "row 1 is on the left");
    let messages: Vec<_> = BOARD
        .gpu
        .power_on
        .iter()
        .filter_map(|action| match action.step {
            Step::Scmi(message) if message.to == 0 => Some((message.header, message.payload)),
            _ => None,
        })
        .collect();
    assert_eq!(messages[1], (0x4404, &[0, 21, 0][..]));
    assert!(row(1).contains("payload 0, 21, 0"));
    // Rows 3 to 5: registers, in this order.
    let [reset, bit] = [between("| GPU_RESET_N |", "\n"), row(4)];
    let (resets, rcsu) = (0x1600_0000, 0x1500_0000);
    assert!(
        text.contains("register block 0x16000000")
            && text.contains("| Reset and clock unit (RCSU) | 0x15000000")
    );
    assert!(reset.contains("| 6 |") && bit.contains("bit 0"));
    let stated = [
        resets + numbers(&reset)[0],
        resets + numbers(&reset)[0],
        rcsu + numbers(&bit)[0],
        numbers(&row(5))[0],
    ];
    let registers = BOARD
        .gpu
        .power_on
        .iter()
        .filter(|action| !matches!(action.step, Step::Check { .. }))
        .filter_map(|action| action.step.register());
    assert_eq!(
        registers.collect::<Vec<_>>(),
        stated,
        "the facts are on the right"
    );
    // Section 1.3: what is checked before an access that depends on it.
    let line = |name: &str| numbers(&between(&format!("| {name} |"), "\n"))[0];
    let checked = BOARD
        .gpu
        .power_on
        .iter()
        .filter_map(|action| match action.step {
            Step::Check { at, .. } => Some(at),
            _ => None,
        });
    let stated = [
        resets + line("GPU_RESET_N"),
        resets + line("GPU_RCSU_RESET_N"),
        rcsu + numbers(&bit)[0],
    ];
    assert_eq!(
        checked.collect::<Vec<_>>(),
        stated,
        "the facts are on the right"
    );
    // Section 1.5: what is known of the mailbox by its registers alone is not touched unasked.
    let mailbox = between("### 1.5", "### 1.6");
    assert_eq!(numbers(&mailbox)[0], second.page);
    let unasked = BOARD
        .gpu
        .power_on
        .iter()
        .filter(|action| match action.step {
            Step::Scmi(message) => message.to == 1 && action.certainty != Certainty::Spare,
            _ => false,
        });
    assert_eq!(unasked.count(), 0);
}

#[test]
fn a_gpu_that_would_hang_the_machine_is_not_accessed() {
    type Breaks = fn(&mut CixP1);
    let cases: [(Breaks, &str, &str); 3] = [
        (
            |chip| chip.stuck_reset = true,
            "GPU_RESET_N: 0x16000400 is 0x3f, wanted 0x40 in 0x40",
            "a reset is asserted",
        ),
        (
            |chip| chip.rcsu_in_reset = true,
            "GPU_RCSU_RESET_N: 0x16000800 is 0x0, wanted 0x10000000 in 0x10000000",
            "a reset is asserted",
        ),
        (
            |chip| chip.stuck_gating = true,
            "clock gating as set: 0x15000218 is 0x0, wanted 0x1 in 0x1",
            "a clock is gated",
        ),
    ];
    for (breaks, what, suspect) in cases {
        let mut fake = Fake::new(OnBoard::new(&BOARD, CixP1::default()));
        breaks(&mut fake.chip.stand_in);
        let steps = BOARD.gpu.power_on;
        let (ran, news) = carry_out(&BOARD, steps, Permission::SourcedOnly, &mut fake);
        let error = ran.expect_err(what).to_string();
        assert_eq!(
            error,
            format!(
                "{what}: {suspect}; the GPU is not accessed, since that would hang the machine"
            )
        );
        assert_eq!(news, [""; 0], "{what}: nothing else was accessed");
    }
}
