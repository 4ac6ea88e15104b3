//! i.MX95: what the System Manager is asked, and the messages of the facts, row by row.

use crate::fake::{Fake, OnBoard, carry_out};
use eitri_boards::imx95::BOARD;
use eitri_boards::stand_in::Imx95;
use eitri_boards::steps::{Permission, Step, StepError};

type Machine = Fake<OnBoard<Imx95>>;

fn machine(manager: Imx95) -> Machine {
    Fake::new(OnBoard::new(&BOARD, manager))
}

fn on(fake: &mut Machine) -> (Result<(), StepError>, Vec<String>) {
    carry_out(&BOARD, BOARD.gpu.power_on, Permission::SourcedOnly, fake)
}

#[test]
fn the_gpu_goes_on_at_its_slowest_and_off_again() {
    let mut fake = machine(Imx95::default());
    assert_eq!(on(&mut fake), (Ok(()), Vec::new()));
    assert_eq!(fake.chip.stand_in.state(), (0, 1, 0));
    let steps = BOARD.gpu.power_off;
    let off = carry_out(&BOARD, steps, Permission::SourcedOnly, &mut fake);
    assert_eq!(off, (Ok(()), Vec::new()));
    assert_eq!(fake.chip.stand_in.state(), (0x4000_0000, 0, 0));
}

#[track_caller]
fn fails(manager: Imx95, text: &str) {
    let (ran, _) = on(&mut machine(manager));
    assert_eq!(ran.unwrap_err().to_string(), text);
}

#[test]
fn a_domain_that_is_not_ours_is_told() {
    fails(
        Imx95::refusing(0x4404),
        "GPU domain, on: SCMI message 0x4404: the controller refuses: denied (-3)",
    );
}

#[test]
fn a_manager_that_does_not_answer_is_told() {
    fails(
        Imx95::dead(),
        "SCMI base version: SCMI message 0x4000: the channel is not free (status 0x0)",
    );
}

#[test]
fn the_messages_are_those_of_the_facts() {
    let Some(text) = eitri_testdata::read_shared("hardware/boards-imx95.md") else {
        return;
    };
    let section = text.split("### 7.2").nth(1).expect("a section 7.2");
    let section = section.split("### 7.3").next().expect("its end");
    let mut stated = Vec::new();
    for row in section.lines() {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        // Other rows have no header.
        if columns.len() < 6 || !columns[3].starts_with("0x") {
            continue;
        }
        let header = u32::from_str_radix(columns[3].trim_start_matches("0x"), 16).unwrap();
        let length: u32 = columns[4].parse().unwrap();
        // "level" is whatever the caller wants: ours is the slowest.
        let word = |word: &str| word.parse().unwrap_or(0);
        let payload: Vec<u32> = match columns[5] {
            "–" => Vec::new(),
            words => words.split(", ").map(word).collect(),
        };
        stated.push((header, length, payload));
    }
    let mut fake = machine(Imx95::default());
    let (ran, news) = on(&mut fake);
    assert_eq!((ran, news), (Ok(()), Vec::new()));
    assert!(stated.len() == 8, "{stated:x?}");
    let messages = fake.chip.stand_in.messages.iter();
    let sent: Vec<_> = messages
        .map(|message| {
            let length = 4 + 4 * message.payload.len() as u32;
            (message.header, length, message.payload.clone())
        })
        .collect();
    assert_eq!(sent, stated, "boards-imx95.md section 7.2 is on the right");
    assert!(matches!(
        BOARD.gpu.power_on.last().unwrap().step,
        Step::Expect {
            at: 0x4D90_0000,
            ..
        }
    ));
}
