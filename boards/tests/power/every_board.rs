//! Every board's steps on its stand-in: right ones are good, and a wrong order or value is told.

use crate::fake::{Fake, OnBoard, boards, carry_out, named};
use eitri_boards::Board;
use eitri_boards::stand_in::{self, SharedMemory, StandIn};
use eitri_boards::steps::{Action, Certainty, Permission, SmcCall, Step, StepError};
use std::time::Duration;

/// A stand-in whose type does not matter.
struct Any(Box<dyn StandIn>);

impl StandIn for Any {
    fn read(&mut self, at: usize) -> u32 {
        self.0.read(at)
    }

    fn write(&mut self, at: usize, value: u32) {
        self.0.write(at, value);
    }

    fn smc(&mut self, call: SmcCall) -> Option<u64> {
        self.0.smc(call)
    }

    fn work(&mut self, memory: &mut dyn SharedMemory) {
        self.0.work(memory);
    }

    fn gpu_answers(&mut self) -> bool {
        self.0.gpu_answers()
    }

    fn now(&mut self, time: Duration) {
        self.0.now(time);
    }

    fn take_news(&mut self) -> Vec<String> {
        self.0.take_news()
    }
}

fn machine(board: &Board) -> Fake<OnBoard<Any>> {
    let stand_in = stand_in::of(board);
    let stand_in = stand_in.unwrap_or_else(|| panic!("{} has no stand-in", board.name));
    Fake::new(OnBoard::new(board, Any(stand_in)))
}

#[test]
fn the_gpu_goes_on_and_off_and_on_again() {
    for board in boards() {
        for permission in [Permission::SourcedOnly, Permission::InferredToo] {
            if permission == Permission::SourcedOnly && needed(board) != permission {
                continue;
            }
            let mut fake = machine(board);
            let mut check = |what: &str, steps: &[Action], permission| {
                let (ran, news) = carry_out(board, steps, permission, &mut fake);
                assert_eq!((ran, news), (Ok(()), Vec::new()), "{}: {what}", board.name);
            };
            check("on", board.gpu.power_on, permission);
            check("off", board.gpu.power_off, Permission::InferredToo);
            check("on again", board.gpu.power_on, permission);
        }
    }
}

/// What a board's GPU can't do without.
fn needed(board: &Board) -> Permission {
    let mut steps = board.gpu.power_on.iter();
    match steps.any(|action| action.certainty == Certainty::Inferred) {
        true => Permission::InferredToo,
        false => Permission::SourcedOnly,
    }
}

#[test]
fn a_sequence_ends_where_it_needs_what_is_only_inferred() {
    for board in boards() {
        let steps = board.gpu.power_on;
        let mut inferred = steps.iter();
        let inferred = inferred.find(|action| action.certainty == Certainty::Inferred);
        let wanted = inferred.map(|action| StepError::OnlyInferred { what: action.what });
        let (ran, news) = carry_out(board, steps, Permission::SourcedOnly, &mut machine(board));
        assert_eq!((ran.err(), news), (wanted, Vec::new()), "{}", board.name);
    }
}

/// Every step, those that are chosen between among them.
fn every(steps: &[Action]) -> Vec<Action> {
    let each = steps.iter().flat_map(|action| match action.step {
        Step::Choose { so, otherwise, .. } => [vec![*action], every(so), every(otherwise)].concat(),
        _ => vec![*action],
    });
    each.collect()
}

/// The steps without those of a name.
fn without(steps: &[Action], what: &str) -> Vec<Action> {
    let kept = steps.iter().filter(|action| action.what != what);
    kept.map(|action| match action.step {
        Step::Choose {
            at,
            bits,
            so,
            otherwise,
        } => Action {
            step: Step::Choose {
                at,
                bits,
                so: without(so, what).leak(),
                otherwise: without(otherwise, what).leak(),
            },
            ..*action
        },
        _ => *action,
    })
    .collect()
}

/// Whether a step changes something; what only looks may stand anywhere.
fn changes(action: &Action) -> bool {
    let get = |header: u32| [0x4000, 0x2_1006, 0x4405, 0x4C08, 0x5003].contains(&header);
    match action.step {
        Step::Write { .. }
        | Step::Modify { .. }
        | Step::Smc { .. }
        | Step::Mailbox(_)
        | Step::Put { .. } => true,
        Step::Scmi(message) => !get(message.header),
        _ => false,
    }
}

/// What is wrong with steps: how they end, or what is told of them.
fn complaint(board: &Board, steps: &[Action]) -> Option<String> {
    let mut fake = machine(board);
    let (ran, news) = carry_out(board, steps, needed(board), &mut fake);
    let error = ran.err().map(|error| error.to_string());
    news.into_iter().next().or(error)
}

/// The steps without which the facts' sequence is as good: a level and a source that are the reset's own may be set or not.
const HARMLESS: &[(&str, &str)] = &[
    ("rk3588", "the other clock gates, open"),
    ("rk3588", "GPU clock: of GPLL"),
    ("orangepi5", "the other clock gates, open"),
    ("orangepi5", "GPU clock: of GPLL"),
    ("imx95", "performance level: 24 MHz"),
    // The stand-in's firmware does not look at it before it is given the memory, and the image need not give any.
    ("mt8196", "memory for the GPUEB, given"),
];

#[test]
fn a_step_that_is_missing_is_told() {
    for board in boards() {
        let steps = board.gpu.power_on;
        for missing in every(steps) {
            if !changes(&missing) || missing.certainty == Certainty::Spare {
                continue;
            }
            let harmless = HARMLESS.contains(&(board.name, missing.what));
            let told = complaint(board, &without(steps, missing.what));
            assert_eq!(
                told.is_none(),
                harmless,
                "{} without `{}`: {told:?}",
                board.name,
                missing.what
            );
        }
    }
}

#[test]
fn the_gpu_before_its_power_is_told() {
    for board in boards() {
        let steps = board.gpu.power_on;
        let asks = |action: &&Action| {
            let at = action.step.register();
            at.is_some_and(|at| board.gpu.window.contains(at))
        };
        let ask = *steps.iter().find(asks).expect("GPU_ID is asked for");
        let counts =
            |action: &Action| changes(action) && !HARMLESS.contains(&(board.name, action.what));
        for index in 0..steps.iter().rposition(counts).expect("a change") {
            let early: Vec<Action> = [&steps[..index], &[ask], &steps[index..]].concat();
            let told = complaint(board, &early).unwrap_or_default();
            assert!(
                told.contains("access to") || told.contains("GPU_ID"),
                "{}: GPU_ID before `{}`: {told:?}",
                board.name,
                steps[index].what
            );
        }
    }
}

#[test]
fn the_wrong_order_is_told() {
    for (name, first, then, told) in [
        (
            "rk3588",
            "power gate of the GPU, on",
            "clock gates of the GPU, open",
            "the power gate goes on while clocks of the GPU are gated",
        ),
        (
            "rk3588",
            "power gate of the GPU, on",
            "GPU clock: not of PVTPLL",
            "the power gate goes on before the GPU's clock is set",
        ),
        (
            "rk3588",
            "GPU bus not idle any more",
            "power gate of the GPU, on",
            "the bus of the GPU is asked for before its domain is on",
        ),
        (
            "imx95",
            "GPU clock, on",
            "GPU domain, on",
            "the GPU's clock is switched while its domain is off",
        ),
        (
            "mt8196",
            "GPU, on",
            "GPUEB has started",
            "before it was seen to have started",
        ),
        (
            "cix-p1",
            "GPU, out of reset",
            "GPU domain, on",
            "the GPU's reset is changed while its domain is off",
        ),
    ] {
        let board = named(name);
        let mut steps = board.gpu.power_on.to_vec();
        let index = |steps: &[Action], what| {
            let found = steps.iter().position(|action| action.what == what);
            found.unwrap_or_else(|| panic!("{name} has no step `{what}`"))
        };
        let early = steps.remove(index(&steps, first));
        let at = index(&steps, then);
        steps.insert(at, early);
        let mut fake = machine(board);
        let (_, news) = carry_out(board, &steps, needed(board), &mut fake);
        assert!(
            news.iter().any(|line| line.contains(told)),
            "{name}: `{first}` before `{then}`: {news:?}"
        );
    }
}

#[test]
fn a_wrong_value_is_told() {
    for (board, at, value, told) in [
        ("rk3588", 0xFD8D_814C, 0x0003_0000, "are not the GPU's"),
        ("rk3588", 0xFD7C_0578, 0x0000_0005, "does not let through"),
        ("rk3588", 0xFD8D_8150, 0, "which no step of the facts has"),
        ("imx95", 0x4249_0004, 0x1234, "is no refresh"),
        ("imx95", 0x445B_0114, 2, "the doorbell of another channel"),
        ("mt8196", 0x4B80_0800, 0x5, "has no trigger"),
        ("mt8196", 0x4B80_0658, 0x3, "no step of the facts has"),
        ("mt8196", 0x4B80_0658, 0x1, "something is under way"),
        ("mt8196", 0x4B80_0800, 0x0, "without its trigger"),
        ("mt8196", 0x4B17_0004, 0x4, "where the GPUEB expects none"),
        ("cix-p1", 0x1600_0400, 0x40, "the machine stops"),
        ("cix-p1", 0x1500_0218, 0x1000, "is the firmware's"),
    ] {
        let board = named(board);
        let mut fake = machine(board);
        let step = Action::sourced("a wrong value", Step::Write { at, value });
        let (_, news) = carry_out(board, &[step], Permission::SourcedOnly, &mut fake);
        assert!(
            news.iter().any(|line| line.contains(told)),
            "{}: {at:#x} = {value:#x}: {news:?}",
            board.name
        );
    }
}

#[test]
fn a_watchdog_that_is_not_refreshed_is_told() {
    let board = eitri_boards::named("imx95").expect("a board");
    let watchdog = board.watchdog.expect("it has one");
    let mut fake = machine(board);
    let news = |fake: &mut Fake<OnBoard<Any>>, seconds| {
        fake.chip.stand_in.now(Duration::from_secs(seconds));
        fake.chip.stand_in.take_news()
    };
    assert!(news(&mut fake, 39).is_empty());
    watchdog.refresh(&mut fake);
    assert!(
        news(&mut fake, 78).is_empty(),
        "it was refreshed after 39 s"
    );
    let told = news(&mut fake, 80);
    assert!(told[0].contains("was not refreshed for 40 s"), "{told:?}");
}
