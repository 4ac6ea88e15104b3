//! MT8196: its registers, messages and their order are those of the facts; both revisions of the hardware wake.

use crate::fake::{Fake, OnBoard, carry_out, named};
use eitri_boards::mt8196::OUTLINE;
use eitri_boards::stand_in::Mt8196;
use eitri_boards::steps::{Action, Argument, Permission, Step, StepError};

/// The steps that a machine of a revision carries out, those that are chosen between in their places.
fn of_revision(steps: &[Action], e2: bool) -> Vec<Action> {
    let each = steps.iter().flat_map(|action| match action.step {
        Step::Choose { so, otherwise, .. } => {
            let chosen = if e2 && !so.is_empty() { so } else { otherwise };
            [vec![*action], of_revision(chosen, e2)].concat()
        }
        _ => vec![*action],
    });
    each.collect()
}

/// The number behind a part of a text, in hexadecimal.
#[track_caller]
fn behind(text: &str, part: &str) -> usize {
    let rest = text.split(part).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("the facts have no `{part}`"));
    let digits = rest.split("0x").nth(1).unwrap_or_default();
    let end = digits.find(|digit: char| !digit.is_ascii_hexdigit());
    let digits = &digits[..end.unwrap_or(digits.len())];
    usize::from_str_radix(digits, 16).unwrap_or_else(|error| panic!("behind `{part}`: {error}"))
}

#[test]
fn registers_and_order_are_those_of_the_facts() {
    let Some(text) = eitri_testdata::read_shared("hardware/boards-others.md") else {
        return;
    };
    let of_gpu = text.split("### 2.2").nth(1).unwrap_or_default();
    let of_gpu = of_gpu.split("### 2.3").next().unwrap_or_default();
    let list = of_gpu.split("Power-on outline").nth(1).unwrap_or_default();
    let general = behind(of_gpu, "| GPUEB general registers |");
    let rpc = behind(of_gpu, "| RPC (power) |");
    let control = behind(of_gpu, "| Mailbox data / control | 0x4B09FD80, 0x280 /");
    let mailbox = behind(of_gpu, "| Mailbox data / control |");
    let revision = behind(of_gpu, "| Hardware revision |");
    let window = behind(of_gpu, "| Registers |");
    assert_eq!(window, OUTLINE.gpu.window.base);
    let lines = [OUTLINE.gpu.job, OUTLINE.gpu.mmu, OUTLINE.gpu.gpu].map(|line| line.0);
    assert_eq!(lines, [606, 605, 604]);
    assert!(of_gpu.contains("SPI 606 job, 605 mmu, 604 gpu"));
    let expected = OUTLINE.gpu.expected.expect("a GPU");
    assert_eq!(expected.gpu_id.value as usize, behind(of_gpu, "| GPU_ID |"));
    let cores = behind(of_gpu, "| SHADER_PRESENT |");
    assert_eq!(expected.shader_present, Some(cores as u64));
    assert!(of_gpu.contains("ASN_HASH {0xB, 0xE, 0x0}"));
    assert_eq!(OUTLINE.gpu.slice_hash, Some([0xB, 0xE, 0x0]));
    // Items 2 to 4, in this order.
    let state = rpc + behind(list, "If RPC +");
    let busy = rpc + behind(list, "Else poll RPC +");
    let controls = rpc + behind(list, "in the trigger register (RPC +");
    let started = general + behind(list, "Poll general register +");
    let magic = general + behind(list, "message magic = general register +");
    for (e2, trigger) in [(true, rpc + behind(list, "E2: +")), (false, controls)] {
        let steps = of_revision(OUTLINE.gpu.power_on, e2);
        let registers: Vec<usize> = steps.iter().filter_map(|it| it.step.register()).collect();
        let stated = [
            state, revision, busy, trigger, controls, controls, trigger, state, started, magic,
            window,
        ];
        assert_eq!(registers, stated, "the facts are on the right");
    }
    // Item 5.
    let mut messages = OUTLINE.gpu.power_on.iter().filter_map(|it| match it.step {
        Step::Mailbox(message) => Some(message),
        _ => None,
    });
    let (memory, power) = (messages.next().unwrap(), messages.next().unwrap());
    let to = memory.to;
    assert_eq!(to.message, behind(list, "send offset"));
    assert_eq!(to.reply, behind(list, "reply offset"));
    assert!(list.contains("message on channel 1") && to.number == 1);
    assert!(list.contains("Command 6 value 1 = power on"));
    assert_eq!(
        (power.command, power.arguments),
        (6, &[Argument::Word(1)][..])
    );
    assert!(list.contains("Command 0 = give shared memory (base, size"));
    let base_and_size = [Argument::MemoryBase, Argument::MemoryBytes];
    assert_eq!((memory.command, memory.arguments), (0, &base_and_size[..]));
    let mark = behind(list, "first word magic") as u32;
    let marked = |it: &Action| {
        it.step
            == Step::Put {
                offset: 0,
                value: mark,
            }
    };
    assert!(OUTLINE.gpu.power_on.iter().any(marked));
    let offset = behind(list, "SHADER_PRESENT (+");
    assert_eq!(OUTLINE.gpu.usable_cores, Some(offset));
    // Item 6.
    let registers = to.mailbox;
    assert_eq!(registers.data, mailbox);
    let stated = ["TX status", "set", "clear", "RX status"];
    let stated =
        stated.map(|part| control + behind(list.split("Mailbox control:").nth(1).unwrap(), part));
    let ours = [
        registers.sent,
        registers.send,
        registers.clear,
        registers.arrived,
    ];
    assert_eq!(ours, stated);
}

#[test]
fn both_revisions_wake() {
    let board = named("mt8196");
    for revision in [0x101, 0x100] {
        let mut stand_in = Mt8196::default();
        stand_in.revision = revision;
        let mut fake = Fake::new(OnBoard::new(board, stand_in));
        let steps = board.gpu.power_on;
        let (ran, news) = carry_out(board, steps, Permission::InferredToo, &mut fake);
        assert_eq!((ran, news), (Ok(()), Vec::new()), "revision {revision:#x}");
        assert!(fake.chip.stand_in.is_on());
    }
}

#[test]
fn a_message_that_is_not_answered_is_told() {
    let board = named("mt8196");
    let mut fake = Fake::new(OnBoard::new(board, Mt8196::default()));
    let message = board.gpu.power_off;
    let (ran, news) = carry_out(board, message, Permission::InferredToo, &mut fake);
    assert!(matches!(ran, Err(StepError::Mailbox { .. })), "{ran:?}");
    let said = ran.unwrap_err().to_string();
    assert_eq!(
        said,
        "GPU, off: command 6 to the mailbox: no reply after 1s (not taken: 0x0)"
    );
    assert_eq!(
        news,
        ["a message to the GPUEB before it was seen to have started"]
    );
}
