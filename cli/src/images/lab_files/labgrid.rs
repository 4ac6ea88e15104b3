//! labgrid: an environment, a strategy without a shell, and tests that judge with `eitri console`.
//!
//! Facts: hardware/boards-labs.md 2.3 to 2.5.

use super::{LabFile, quoted};
use crate::images::boot_file::{self, Format};
use crate::images::lab_log::known;
use eitri_boards::{Board, Depthcharge, Lab, Loader, Prompt, Target};

pub(super) fn files(board: Target, image: &str) -> Vec<LabFile> {
    let environment = match board.lab() {
        Some(lab) => on_board(board, &lab, image),
        None => in_qemu(image),
    };
    let file = |name: String, text: String| LabFile { name, text };
    vec![
        file(format!("eitri-{}.labgrid.yaml", board.name()), environment),
        file("eitri_strategy.py".to_owned(), STRATEGY.to_owned()),
        file("test_eitri.py".to_owned(), tests()),
    ]
}

/// The environment of a board: what is said of it, and the drivers that its loader needs.
fn on_board(board: Target, lab: &Lab, image: &str) -> String {
    let (note, drivers) = match (board.loader(), board.board()) {
        (Loader::UBoot(prompt), Some(board)) => by_u_boot(board, &prompt),
        (Loader::Depthcharge(depthcharge), _) => by_depthcharge(&depthcharge),
        (Loader::Uefi | Loader::UBoot(_), _) => by_uefi(),
    };
    format!(
        "# {}: the console is {} baud, 8N1.{note}
targets:
  main:
    resources:
      RemotePlace:
        name: !template '$LG_PLACE'
    drivers:
      NetworkPowerDriver:
        delay: {}.0
{drivers}images:
  eitri: {}
imports:
  - eitri_strategy.py
",
        board.title(),
        lab.baud,
        lab.off_seconds,
        quoted(image)
    )
}

fn by_u_boot(board: &Board, prompt: &Prompt) -> (&'static str, String) {
    // What is typed behind the load; the test loads the file under the name that the server gives it.
    let lines = boot_file::u_boot_lines(board, Format::Image, None);
    let (boot, before) = lines
        .split_last()
        .map_or(("", &[][..]), |(boot, before)| (boot.as_str(), before));
    let first = ["setenv autoload no", "setenv bootargs eitri.console=lava"]
        .into_iter()
        .chain(before.iter().map(String::as_str))
        .chain(prompt.before_network.iter().copied());
    let first: String = first
        .map(|line| format!("          - {}\n", quoted(line)))
        .collect();
    let drivers = format!(
        "      SerialDriver:
        txdelay: {}
      TFTPProviderDriver: {{}}
      UBootDriver:
        prompt: {}
        autoboot: 'stop autoboot'
        interrupt: ' '
        init_commands:
{first}        boot_command: {}
        bootstring: 'EITRI-START'
        boot_timeout: 20
      EitriStrategy:
        load_address: '{:#x}'
",
        f64::from(prompt.character_ms) / 1000.0,
        quoted(prompt.text),
        quoted(boot),
        board.memory.image.base,
    );
    ("", drivers)
}

/// UEFI firmware starts what it finds by itself, and nothing is typed: the image gets there before the power does.
fn by_uefi() -> (&'static str, String) {
    let note = " UEFI starts the image by itself: it is on a USB stick that the lab
# writes, as EFI/BOOT/BOOTAA64.EFI of a FAT file system.";
    let drivers = "      SerialDriver: {}
      USBSDMuxDriver: {}
      USBStorageDriver: {}
      EitriStrategy: {}
";
    (note, drivers.to_owned())
}

/// Depthcharge is told by its one command; labgrid has no driver for it, so that the strategy types.
fn by_depthcharge(depthcharge: &Depthcharge) -> (&'static str, String) {
    let note = " The machine has a battery: its power port is a servo board's.
# SERVER is the TFTP server's address, CMDLINE what the image is told.";
    let drivers = format!(
        "      SerialDriver: {{}}
      TFTPProviderDriver: {{}}
      EitriStrategy:
        prompt: {}
        load: 'tftpboot SERVER {{}} CMDLINE'
",
        quoted(depthcharge.prompt)
    );
    (note, drivers)
}

fn in_qemu(image: &str) -> String {
    format!(
        "# QEMU is power and console at once. Without Eitri's monitor it has no GPU: this tries the lab, not a GPU.
targets:
  main:
    drivers:
      QEMUDriver:
        qemu_bin: 'qemu'
        machine: 'virt,gic-version=3'
        cpu: 'cortex-a57'
        memory: '1024M'
        kernel: 'eitri'
        extra_args: '-semihosting-config enable=on,target=native,arg=eitri,arg=eitri.console=lava'
      EitriStrategy: {{}}
images:
  eitri: {}
tools:
  qemu: 'qemu-system-aarch64'
imports:
  - eitri_strategy.py
",
        quoted(image)
    )
}

/// A strategy of three states: there is no shell on the board, so labgrid's own for U-Boot does not fit.
const STRATEGY: &str = r#""""off, boot loader, running: how labgrid brings a board to Eitri's image."""

import enum
import re
from pathlib import PurePath

import attr
from labgrid.factory import target_factory
from labgrid.strategy.common import Strategy, StrategyError


class Status(enum.Enum):
    unknown = 0
    off = 1
    uboot = 2
    running = 3


@target_factory.reg_driver
@attr.s(eq=False)
class EitriStrategy(Strategy):
    """Powers the board, loads the image by TFTP at U-Boot's prompt, and starts it."""

    bindings = {
        "power": "PowerProtocol",
        "console": "ConsoleProtocol",
        "uboot": {"UBootDriver", None},
        "tftp": {"TFTPProviderDriver", None},
        "mux": {"USBSDMuxDriver", None},
        "stick": {"USBStorageDriver", None},
    }

    load_address = attr.ib(default=None)
    prompt = attr.ib(default=None)
    load = attr.ib(default=None)
    status = attr.ib(default=Status.unknown)

    def transition(self, status):
        if not isinstance(status, Status):
            status = Status[status]
        if status == self.status:
            return
        if status == Status.off:
            self.target.deactivate(self.console)
            self.target.activate(self.power)
            self.power.off()
        elif status == Status.uboot:
            self.transition(Status.off)
            if self.stick is not None:
                self.target.activate(self.mux)
                self.mux.set_mode("host")
                self.target.activate(self.stick)
                image = self.target.env.config.get_image_path("eitri")
                self.stick.write_files([image], PurePath("EFI/BOOT/BOOTAA64.EFI"), 1, False)
                self.target.deactivate(self.stick)
                self.mux.set_mode("dut")
            self.target.activate(self.console)
            self.power.cycle()
            if self.uboot is not None:
                self.target.activate(self.uboot)
        elif status == Status.running:
            self.transition(Status.uboot)
            if self.uboot is not None:
                self.target.activate(self.tftp)
                name = self.tftp.stage(self.target.env.config.get_image_path("eitri"))
                self.uboot.run_check("dhcp")
                self.uboot.run_check(f"tftpboot {self.load_address} {name}")
                self.uboot.boot("")
            elif self.prompt is not None:
                self.target.activate(self.tftp)
                name = self.tftp.stage(self.target.env.config.get_image_path("eitri"))
                self.console.expect(re.escape(self.prompt), timeout=60)
                self.console.sendline(self.load.format(name))
        else:
            raise StrategyError(f"no way from {self.status} to {status}")
        self.status = status
"#;

/// Tests, one for each of the suite's: a fixture runs the image once, keeps the console's log, and lets `eitri console` judge it.
const TESTS: &str = r#""""Runs Eitri's validation suite on a board once, and has a test for each of the suite's own:

    pytest --lg-env eitri-BOARD.labgrid.yaml --junitxml results.xml
    pytest --lg-env eitri-BOARD.labgrid.yaml -k mmu

The console's log and the results are kept in the folder that EITRI_RESULTS names, or `eitri-results`.
"""

import json
import os
import pathlib
import subprocess

import pytest

RESULT = r'@R \S+ (?:pass|fail|skip)\s|(?:not )?ok \d+ [^\r\n]*\s'
END = r'# done: [^\r\n]*\s|EITRI-CRASH [^\r\n]*\s'


@pytest.fixture(scope="session")
def cases(strategy, target):
    """What became of each test, by its name."""
    folder = pathlib.Path(os.environ.get("EITRI_RESULTS", "eitri-results"))
    folder.mkdir(parents=True, exist_ok=True)
    log, results = folder / "console.log", folder / "results.json"
    strategy.transition("running")
    console = target.get_driver("ConsoleProtocol")
    try:
        with log.open("wb") as out:
            while True:
                index, before, match, after = console.expect([RESULT, END], timeout=120)
                out.write(before + after)
                if index == 1:
                    break
    except Exception as error:
        # A board that says nothing any more has a log too, which tells the test that hung.
        print(f"the console: {error}")
    finally:
        strategy.transition("off")
    results.unlink(missing_ok=True)
    # Exit status 1: a test failed, or the log is not whole: each case says so itself.
    subprocess.run(["eitri", "console", str(log), "--results", str(results)], check=False)
    if not results.exists():
        pytest.fail(f"nothing of Eitri's is in {log}", pytrace=False)
    return {case["name"]: case for case in json.loads(results.read_text())["cases"]}


def judge(case):
    if case["status"] == "skip":
        pytest.skip(case.get("why", ""))
    if case["status"] != "pass":
        pytest.fail("\n".join([case.get("why", case["status"]), case.get("output", "")]), pytrace=False)


@pytest.mark.parametrize("name", NAMES)
def test_validation(name, cases, record_property):
    case = cases.get(name)
    if case is None:
        pytest.skip("not in the image's plan, or the board did not come so far: see test_log")
    for number in case.get("numbers", []):
        record_property(number["name"], f'{number["value"]} {number["unit"]}')
    judge(case)


def test_log(cases):
    """Everything else that is wrong with the log: a crash, lost lines, tests that did not run."""
    others = [case for name, case in cases.items() if name not in NAMES and case["status"] != "pass"]
    assert not others, "\n".join(f'{case["name"]}: {case.get("why", case["status"])}' for case in others)
"#;

/// The file of tests: the names of the suite's tests, which a case each needs before anything has run, behind the imports.
fn tests() -> String {
    let mut names = String::from("NAMES = [\n");
    for name in known() {
        names.push_str(&format!("    \"{name}\",\n"));
    }
    names.push_str("]\n");
    let (imports, rest) = TESTS.split_once("\nRESULT = ").unwrap_or((TESTS, ""));
    format!("{imports}\n{names}RESULT = {rest}")
}
