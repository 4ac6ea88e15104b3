//! LAVA: a job that loads the image at U-Boot's prompt and reads its lines, and a device dictionary to fill in.
//!
//! Facts: hardware/boards-labs.md 3.2, 3.3 and 3.5.

use super::{LabFile, quoted};
use crate::boot_file::{self, Format};
use eitri_boards::{Board, Lab};

pub(super) fn files(board: &Board, image: &str) -> Vec<LabFile> {
    let name = |ending: &str| format!("eitri-{}.lava.{ending}", board.name);
    match board.lab {
        Some(lab) => vec![
            LabFile {
                name: name("yaml"),
                text: on_board(board, &lab, image),
            },
            LabFile {
                name: name("jinja2"),
                text: dictionary(&lab),
            },
        ],
        None => vec![LabFile {
            name: name("yaml"),
            text: in_qemu(image),
        }],
    }
}

/// What a monitor looks for: it must not match half a line, so each pattern ends with the line's own end.
const MONITORS: &str = "- test:
    timeout: {minutes: 10}
    monitors:
    - name: eitri
      start: 'EITRI-START'
      end: '# done: '
      pattern: '@R (?P<test_case_id>[A-Za-z0-9_.-]+) (?P<result>pass|fail|skip)\\r'
";

fn on_board(board: &Board, lab: &Lab, image: &str) -> String {
    let at = board.memory.image.base;
    // The tree is that of U-Boot: the image needs no other.
    let boot = boot_file::u_boot_lines(board, Format::Image, None);
    let lines = lab
        .before_network
        .iter()
        .map(|line| (*line).to_owned())
        .chain([
            "setenv autoload no".to_owned(),
            "dhcp".to_owned(),
            "setenv serverip {SERVER_IP}".to_owned(),
            format!("tftp {at:#x} {{KERNEL}}"),
            "setenv bootargs eitri.console=lava".to_owned(),
        ])
        .chain(boot)
        .map(|line| format!("    - {}\n", quoted(&line)))
        .collect::<String>();
    format!(
        "device_type: {}
job_name: {}
visibility: public
priority: medium
timeouts:
  job: {{minutes: 20}}
  action: {{minutes: 10}}
  connection: {{minutes: 2}}
actions:
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
{lines}{MONITORS}",
        lab.lava,
        quoted(&format!("Eitri's validation suite on {}", board.title)),
        quoted(lab.prompt.trim_end())
    )
}

fn dictionary(lab: &Lab) -> String {
    let Lab { lava, name, .. } = lab;
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

fn in_qemu(image: &str) -> String {
    format!(
        "# Without Eitri's monitor QEMU has no GPU: this tries the lab, not a GPU.
device_type: qemu
job_name: Eitri in QEMU
visibility: public
priority: medium
context: {{arch: arm64, machine: 'virt,gic-version=3', cpu: cortex-a57, memory: 1024}}
timeouts:
  job: {{minutes: 20}}
  action: {{minutes: 10}}
  connection: {{minutes: 2}}
actions:
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
