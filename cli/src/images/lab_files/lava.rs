//! LAVA: a job that starts the image and reads its lines, a device dictionary to fill in, and the device type where LAVA has
//! none.
//!
//! Facts: hardware/boards-labs.md 3.1 to 3.3, 3.5 and 6.

use super::{LabFile, quoted};
use crate::images::boot_file::{self, Format};
use eitri_boards::device_tree::INFERRED;
use eitri_boards::{Board, DeviceType, Lab, Loader, Prompt, Target};

pub(super) fn files(board: Target, image: &str) -> Vec<LabFile> {
    let name = |ending: &str| format!("eitri-{}.lava.{ending}", board.name());
    let Some(lab) = board.lab() else {
        return vec![LabFile {
            name: name("yaml"),
            text: in_qemu(image),
        }];
    };
    let mut files = vec![
        LabFile {
            name: name("yaml"),
            text: on_board(board, &lab, image),
        },
        LabFile {
            name: name("jinja2"),
            text: dictionary(&lab),
        },
    ];
    if let DeviceType::Own(own) = lab.lava {
        files.push(LabFile {
            name: format!("{own}.jinja2"),
            text: match (board.loader(), board.board()) {
                (Loader::UBoot(prompt), Some(board)) => u_boot_type(board, &lab, &prompt),
                _ => UEFI_TYPE.to_owned(),
            },
        });
    }
    files
}

/// What every job begins with: its title, and how long each part may take.
fn head(device_type: &str, title: &str, context: &str) -> String {
    format!(
        "device_type: {device_type}
job_name: {}
visibility: public
priority: medium
{context}timeouts:
  job: {{minutes: 20}}
  action: {{minutes: 10}}
  connection: {{minutes: 2}}
",
        quoted(title)
    )
}

/// What a monitor looks for in TAP, which is what an image says that nobody has told anything: a skip counts as a pass.
const TAP_MONITORS: &str = "- test:
    timeout: {minutes: 10}
    monitors:
    - name: eitri
      start: 'EITRI-START'
      end: '# done: '
      pattern: '(?P<result>not ok|ok) \\d+ (- )?(?P<test_case_id>[A-Za-z0-9_.-]+)[^\\r\\n]*\\r'
      fixupdict: {'ok': pass, 'not ok': fail}
";

/// The patterns of two monitors, one after the other: results, then measured numbers, which count as passes. They must not match half a
/// line, so each pattern ends with the line's own end.
const MONITORS: &str = "- test:
    timeout: {minutes: 10}
    monitors:
    - name: eitri
      start: 'EITRI-START'
      end: 'EITRI-END \\d+ \\d+ \\d+'
      pattern: '@R (?P<test_case_id>[A-Za-z0-9_.-]+) (?P<result>pass|fail|skip)\\r'
    - name: eitri-numbers
      start: 'EITRI-NUMBERS'
      end: '# done: '
      pattern: '@N (?P<test_case_id>[A-Za-z0-9_.-]+) (?P<measurement>\\d+) (?P<units>[A-Za-z]+)\\r'
";

fn on_board(board: Target, lab: &Lab, image: &str) -> String {
    let title = format!("Eitri's validation suite on {}", board.title());
    let head = head(lab.lava.name(), &title, "");
    match (board.loader(), board.board()) {
        (Loader::UBoot(prompt), Some(board)) => format!(
            "{head}actions:
- deploy:
    to: tftp
    timeout: {{minutes: 3}}
    kernel:
      url: https://SERVER/{image}
      type: image
- boot:
    method: bootloader
    bootloader: u-boot
    prompts: [{}]
    timeout: {{minutes: 3}}
    commands:
{}{MONITORS}",
            quoted(prompt.text.trim_end()),
            typed(board, &prompt)
        ),
        // LAVA makes the image tree of the image and of a device tree, and types the command itself.
        (Loader::Depthcharge(_), _) => format!(
            "# {image} is the image itself (--format image); MACHINE.dtb is the machine's device tree.
{head}actions:
- deploy:
    to: tftp
    timeout: {{minutes: 3}}
    kernel:
      url: https://SERVER/{image}
      type: image
    dtb:
      url: https://SERVER/MACHINE.dtb
- boot:
    method: depthcharge
    commands: ramdisk
    extra_kernel_args: '{INFERRED}'
    timeout: {{minutes: 3}}
{TAP_MONITORS}"
        ),
        // The image is where the firmware looks: LAVA switches the power on and listens.
        (Loader::Uefi | Loader::UBoot(_), _) => format!(
            "# {image} is EFI/BOOT/BOOTAA64.EFI on a USB stick in the board.
{head}actions:
- boot:
    method: minimal
    reset: true
    timeout: {{minutes: 5}}
{TAP_MONITORS}"
        ),
    }
}

/// What is typed at U-Boot's prompt. The tree is U-Boot's own: the image needs no other.
fn typed(board: &Board, prompt: &Prompt) -> String {
    let at = board.memory.image.base;
    let boot = boot_file::u_boot_lines(board, Format::Image, None);
    let before = prompt.before_network.iter().map(|line| (*line).to_owned());
    let load = [
        "setenv autoload no".to_owned(),
        "dhcp".to_owned(),
        "setenv serverip {SERVER_IP}".to_owned(),
        format!("tftp {at:#x} {{KERNEL}}"),
        "setenv bootargs eitri.console=lava".to_owned(),
    ];
    let lines = before.chain(load).chain(boot);
    lines
        .map(|line| format!("    - {}\n", quoted(&line)))
        .collect()
}

fn dictionary(lab: &Lab) -> String {
    let (lava, name) = (lab.lava.name(), lab.name);
    format!(
        "{{% extends '{lava}.jinja2' %}}
{{% set connection_list = ['uart0'] %}}
{{% set connection_commands = {{'uart0': 'telnet WORKER PORT'}} %}}
{{% set connection_tags = {{'uart0': ['primary', 'telnet']}} %}}
{{% set power_on_command = 'POWER {name} on' %}}
{{% set power_off_command = 'POWER {name} off' %}}
{{% set hard_reset_command = 'POWER {name} off && sleep {} && POWER {name} on' %}}
",
        lab.off_seconds
    )
}

/// A device type over LAVA's own for U-Boot.
fn u_boot_type(board: &Board, lab: &Lab, prompt: &Prompt) -> String {
    format!(
        "{{% extends 'base-uboot.jinja2' %}}
{{% set baud_rate = {} %}}
{{% set bootloader_prompt = {} %}}
{{% set booti_kernel_addr = '{:#x}' %}}
{{% set boot_character_delay = {} %}}
",
        lab.baud,
        quoted(prompt.text.trim_end()),
        board.memory.image.base,
        prompt.character_ms
    )
}

/// A device type of a board that starts its image by itself.
const UEFI_TYPE: &str = "{% extends 'base.jinja2' %}
{% block body %}
actions:
  deploy:
    methods: {}
  boot:
    connections:
      serial:
    methods:
      minimal:
{% endblock body %}
";

fn in_qemu(image: &str) -> String {
    let context =
        "context: {arch: arm64, machine: 'virt,gic-version=3', cpu: cortex-a57, memory: 1024}\n";
    let head = head("qemu", "Eitri in QEMU", context);
    format!(
        "# Without Eitri's monitor QEMU has no GPU: this tries the lab, not a GPU.
{head}actions:
- deploy:
    to: tmpfs
    timeout: {{minutes: 3}}
    images:
      kernel:
        image_arg: '-kernel {{kernel}} -semihosting-config enable=on,target=native,arg=eitri,arg=eitri.console=lava'
        url: https://SERVER/{image}
- boot:
    method: qemu
    media: tmpfs
    timeout: {{minutes: 3}}
{MONITORS}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_validation::{
        Console, Form, Listener, Measurement, Status, Summary, TestResult, Unit,
    };
    use regex::Regex;

    /// What the image prints in LAVA's form for one test with a number.
    fn printed() -> String {
        let mut text = String::new();
        let mut console = Console::new(Form::Lava, "0.1 board build", |line: &str| {
            text += &format!("{line}\r\n");
        });
        console.plan(1);
        console.result(&TestResult {
            number: 1,
            name: "power.l2".into(),
            status: Status::Passed,
            why: String::new(),
            measured: vec![Measurement {
                name: "power.l2.on".into(),
                value: 20,
                unit: Unit::Microseconds,
            }],
        });
        console.done(Summary {
            passed: 1,
            failed: 0,
            skipped: 0,
        });
        drop(console);
        text
    }

    /// A monitor waits for its start, takes what its pattern matches up to its end, and leaves the rest to the next one.
    #[test]
    fn monitors_take_what_the_image_prints() {
        let values = |key: &str| {
            let lines = MONITORS.lines().filter_map(move |line| {
                let value = line.trim_start().strip_prefix(key)?;
                value.strip_prefix(" '")?.strip_suffix('\'')
            });
            lines.map(|it| Regex::new(it).unwrap()).collect::<Vec<_>>()
        };
        let (starts, ends, patterns) = (values("start:"), values("end:"), values("pattern:"));
        assert_eq!([starts.len(), ends.len(), patterns.len()], [2; 3]);
        let text = printed();
        let mut at = 0;
        let mut taken = Vec::new();
        for ((start, end), pattern) in starts.iter().zip(&ends).zip(&patterns) {
            let begin = start.find_at(&text, at).expect("it begins").end();
            let stop = end.find_at(&text, begin).expect("it ends");
            for found in pattern.captures_iter(&text[begin..stop.start()]) {
                let group = |name: &str| found.name(name).map_or("", |it| it.as_str()).to_owned();
                taken.push(["test_case_id", "result", "measurement", "units"].map(group));
            }
            at = stop.end();
        }
        assert_eq!(
            taken,
            [
                ["power.l2", "pass", "", ""],
                ["power.l2.on", "", "20", "us"]
            ]
        );
    }
}
