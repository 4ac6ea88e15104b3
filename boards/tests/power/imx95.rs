//! i.MX95: the messages of the facts, row by row, and a System Manager that answers them.

use crate::fake::{Chip, Fake, Said};
use eitri_boards::imx95::BOARD;
use eitri_boards::steps::{Permission, Step, StepError, run};
use std::collections::BTreeMap;

const PAGE: usize = 0x445B_1000;
const DOORBELL: usize = 0x445B_0114;
const GPU_ID: usize = 0x4D90_0000;
const DENIED: u32 = -3i32 as u32;

/// The System Manager behind the mailbox, and the page as it is in memory.
struct Manager {
    page: BTreeMap<usize, u32>,
    domain: u32,
    clock: u32,
    level: u32,
    /// Reads of the status until it has answered.
    busy: u32,
    /// The header of a message that is refused.
    refuses: Option<u32>,
    /// It never answers.
    dead: bool,
    /// What came: header, length, payload.
    messages: Vec<(u32, u32, Vec<u32>)>,
}

impl Manager {
    fn new() -> Manager {
        Manager {
            page: BTreeMap::from([(0x04, 1)]),
            domain: 0x4000_0000,
            clock: 0,
            level: 1,
            busy: 0,
            refuses: None,
            dead: false,
            messages: Vec::new(),
        }
    }

    fn word(&self, offset: usize) -> u32 {
        self.page.get(&offset).copied().unwrap_or(0)
    }

    fn answer(&mut self) {
        assert_eq!(self.word(0x04), 0, "the page is the manager's");
        assert_eq!(self.word(0x10), 0, "no interrupt was asked for");
        let (length, header) = (self.word(0x14), self.word(0x18));
        let words = (length as usize - 4) / 4;
        let payload: Vec<u32> = (0..words)
            .map(|index| self.word(0x1C + 4 * index))
            .collect();
        let reply = match (header, payload.as_slice()) {
            (0x4000, []) => vec![0, 0x2_0001],
            (0x2_1006, []) => vec![0, 512, 0xABCD],
            (0x4405, [14]) => vec![0, self.domain],
            (0x4404, [0, 14, state]) => {
                self.domain = *state;
                vec![0]
            }
            (0x5007, [174, state, 0]) => {
                self.clock = *state;
                vec![0]
            }
            (0x4C08, [9]) => vec![0, self.level],
            (0x4C07, [9, level]) => {
                self.level = *level;
                vec![0]
            }
            _ => vec![-1i32 as u32],
        };
        let reply = match self.refuses {
            Some(refused) if refused == header => vec![DENIED],
            _ => reply,
        };
        self.messages.push((header, length, payload));
        self.page.insert(0x14, 4 + 4 * reply.len() as u32);
        for (index, word) in reply.into_iter().enumerate() {
            self.page.insert(0x1C + 4 * index, word);
        }
        self.busy = 3;
    }
}

impl Chip for Manager {
    fn read(&mut self, at: usize, _kept: u32) -> u32 {
        match at {
            DOORBELL => 0,
            GPU_ID => {
                let alive = self.domain == 0 && self.clock == 1;
                assert!(alive, "an access to a domain that is off");
                0xAC74_0001
            }
            _ => {
                let offset = at.checked_sub(PAGE).expect("an access elsewhere");
                assert!(offset < 0x80, "an access behind the page");
                if offset == 0x04 && self.busy > 0 && !self.dead {
                    self.busy -= 1;
                    if self.busy == 0 {
                        self.page.insert(0x04, 1);
                    }
                }
                self.word(offset)
            }
        }
    }

    fn write(&mut self, at: usize, _kept: u32, value: u32) -> u32 {
        if at == DOORBELL {
            assert_eq!(value, 1);
            self.answer();
        } else {
            let offset = at.checked_sub(PAGE).expect("a write elsewhere");
            assert!(offset < 0x80, "a write behind the page");
            self.page.insert(offset, value);
        }
        value
    }
}

fn on(manager: Manager) -> (Fake<Manager>, Result<(), StepError>) {
    let mut fake = Fake::new(manager);
    let channel = BOARD.power_controller.as_ref();
    let (sequence, said) = (BOARD.gpu.power_on, &mut Said::default());
    let ran = run(sequence, channel, Permission::SourcedOnly, &mut fake, said);
    (fake, ran)
}

#[test]
fn the_gpu_goes_on_at_its_slowest_and_off_again() {
    let (mut fake, ran) = on(Manager::new());
    assert_eq!(ran, Ok(()));
    let manager = &fake.chip;
    assert_eq!((manager.domain, manager.clock, manager.level), (0, 1, 0));

    let channel = BOARD.power_controller.as_ref();
    let (sequence, said) = (BOARD.gpu.power_off, &mut Said::default());
    let ran = run(sequence, channel, Permission::SourcedOnly, &mut fake, said);
    assert_eq!(ran, Ok(()));
    assert_eq!((fake.chip.domain, fake.chip.clock), (0x4000_0000, 0));
}

#[track_caller]
fn fails(manager: Manager, text: &str) {
    let (_, ran) = on(manager);
    assert_eq!(ran.unwrap_err().to_string(), text);
}

#[test]
fn a_domain_that_is_not_ours_is_told() {
    let manager = Manager {
        refuses: Some(0x4404),
        ..Manager::new()
    };
    fails(
        manager,
        "GPU domain, on: SCMI message 0x4404: the controller refuses: denied (-3)",
    );
}

#[test]
fn a_manager_that_does_not_answer_is_told() {
    let manager = Manager {
        dead: true,
        ..Manager::new()
    };
    fails(
        manager,
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
    let (fake, ran) = on(Manager::new());
    assert_eq!(ran, Ok(()));
    assert!(stated.len() == 8, "{stated:x?}");
    assert_eq!(
        fake.chip.messages, stated,
        "boards-imx95.md section 7.2 is on the right"
    );
    assert!(matches!(
        BOARD.gpu.power_on.last().unwrap().step,
        Step::Expect { at: GPU_ID, .. }
    ));
}
