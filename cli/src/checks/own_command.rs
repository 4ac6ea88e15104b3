//! The command that runs the checks, for those that run it as users do.

use crate::outcome::{Failure, FileError};
use std::path::{Path, PathBuf};

/// This very command. By its process where the system has a name for that, so that it is found even if a build has put another file in
/// its place since: whoever goes on working while the checks run changes nothing about what is checked.
pub(super) fn this_command() -> Result<PathBuf, Failure> {
    let running = format!("/proc/{}/exe", std::process::id());
    if Path::new(&running).exists() {
        return Ok(running.into());
    }
    std::env::current_exe()
        .map_err(|cause| Failure::missing(FileError::at("find", "this very command", cause)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_command_can_be_run() {
        let ran = std::process::Command::new(this_command().unwrap())
            .args(["--list", "this_command_can_be_run"])
            .output()
            .unwrap();
        let listed = String::from_utf8_lossy(&ran.stdout);
        assert!(listed.contains("this_command_can_be_run: test"), "{listed}");
    }
}
