//! CIX P1: its accesses are those of the facts' list, in their order.

use eitri_boards::cix_p1::BOARD;
use eitri_boards::steps::{Certainty, Doorbell, Step};

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
        .filter_map(|action| action.step.register());
    assert_eq!(
        registers.collect::<Vec<_>>(),
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
