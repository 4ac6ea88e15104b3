//! The command, run as a person runs it: the one runner of all tests beside this folder.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// The command, without what in the environment would change its messages.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eitri"));
    command
        .args(arguments)
        .env("NO_COLOR", "1")
        .env_remove("RUST_BACKTRACE");
    command
}

/// What the command does with `input` on its standard input.
pub fn eitri(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses early may close its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}
