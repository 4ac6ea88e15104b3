//! Every board's steps on its stand-in: right ones are good, and a wrong order or value is told.

use crate::fake::{Fake, OnBoard, carry_out};
use eitri_boards::stand_in::{self, StandIn};
use eitri_boards::steps::{Action, Permission, SmcCall, Step};
use eitri_boards::{ALL, Board};
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

fn boards() -> Vec<&'static Board> {
    let boards = ALL.iter().copied();
    boards
        .filter(|board| !board.gpu.power_on.is_empty())
        .collect()
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

/// Whether a step changes something; what only looks may stand anywhere.
fn changes(action: &Action) -> bool {
    let get = |header: u32| [0x4000, 0x2_1006, 0x4405, 0x4C08, 0x5003].contains(&header);
    match action.step {
        Step::Write { .. } | Step::Modify { .. } | Step::Smc { .. } => true,
        Step::Scmi(message) => !get(message.header),
        _ => false,
    }
}

/// What is wrong with steps: how they end, or what is told of them.
fn complaint(board: &Board, steps: &[Action]) -> Option<String> {
    let mut fake = machine(board);
    let (ran, news) = carry_out(board, steps, Permission::SourcedOnly, &mut fake);
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
];

#[test]
fn a_step_that_is_missing_is_told() {
    for board in boards() {
        let steps = board.gpu.power_on;
        for (index, missing) in steps.iter().enumerate() {
            if !changes(missing) || missing.certainty != eitri_boards::steps::Certainty::Sourced {
                continue;
            }
            let harmless = HARMLESS.contains(&(board.name, missing.what));
            let rest: Vec<Action> = [&steps[..index], &steps[index + 1..]].concat();
            let told = complaint(board, &rest);
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
        let needed =
            |action: &Action| changes(action) && !HARMLESS.contains(&(board.name, action.what));
        for index in 0..steps.iter().rposition(needed).expect("a change") {
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
            "cix-p1",
            "GPU, out of reset",
            "GPU domain, on",
            "the GPU's reset is changed while its domain is off",
        ),
    ] {
        let board = eitri_boards::named(name).expect("a board");
        let mut steps = board.gpu.power_on.to_vec();
        let index = |steps: &[Action], what| {
            let found = steps.iter().position(|action| action.what == what);
            found.unwrap_or_else(|| panic!("{name} has no step `{what}`"))
        };
        let early = steps.remove(index(&steps, first));
        let at = index(&steps, then);
        steps.insert(at, early);
        let mut fake = machine(board);
        let (_, news) = carry_out(board, &steps, Permission::SourcedOnly, &mut fake);
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
        ("cix-p1", 0x1600_0400, 0x40, "the machine stops"),
        ("cix-p1", 0x1500_0218, 0x1000, "is the firmware's"),
    ] {
        let board = eitri_boards::named(board).expect("a board");
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
