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

/// A folder below `folder` in which this command is found as `eitri`.
pub(super) fn named_eitri(folder: &Path) -> Result<PathBuf, Failure> {
    let own = folder.join("command");
    let place = own.join("eitri");
    let failed = |cause| Failure::missing(FileError::at("make", &place, cause));
    std::fs::create_dir_all(&own).map_err(failed)?;
    // One of an earlier run leads to a process that has ended.
    match std::fs::remove_file(&place) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(failed(cause)),
        _ => {}
    }
    std::os::unix::fs::symlink(this_command()?, &place).map_err(failed)?;
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_command_has_a_name_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        // Twice: what an earlier run has left is replaced.
        for _ in 0..2 {
            let own = named_eitri(folder.path()).unwrap();
            let mut command = std::process::Command::new(own.join("eitri"));
            let ran = command.arg("--list").output().unwrap();
            assert!(ran.status.success());
        }
    }

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
