//! QMP: QEMU's own protocol, by which a running machine is asked for what its screen shows, and ended.
//!
//! A line is a JSON value: a greeting, answers to commands, and events, which are left unread here.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use thiserror::Error;

/// Longest that QEMU may take for an answer.
const LIMIT: Duration = Duration::from_secs(20);

/// Why QEMU does not do what it was asked for.
#[derive(Debug, Error)]
pub(crate) enum QmpError {
    #[error("QEMU's socket can't be used")]
    Socket(#[from] std::io::Error),
    #[error("QEMU closed its socket during `{command}`")]
    Closed { command: &'static str },
    #[error("QEMU answers `{command}` with what is no JSON")]
    Text {
        command: &'static str,
        #[source]
        cause: serde_json::Error,
    },
    #[error("QEMU refuses `{command}`: {why}")]
    Refused { command: &'static str, why: String },
}

/// A connection.
pub(crate) struct Qmp {
    lines: BufReader<UnixStream>,
}

impl Qmp {
    /// Connects to the socket that QEMU listens at.
    pub(crate) fn connect(socket: &Path) -> Result<Qmp, QmpError> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.set_write_timeout(Some(LIMIT))?;
        let mut connection = Qmp {
            lines: BufReader::new(stream),
        };
        let command = "qmp_capabilities";
        // The greeting.
        connection.next(command)?;
        connection.ask(command, &json!({}))?;
        Ok(connection)
    }

    /// Writes what the screen shows into a file, as a portable pixmap.
    pub(crate) fn screendump(&mut self, file: &Path) -> Result<(), QmpError> {
        self.ask("screendump", &json!({ "filename": file }))
    }

    /// Ends QEMU.
    pub(crate) fn quit(&mut self) -> Result<(), QmpError> {
        self.ask("quit", &json!({}))
    }

    fn ask(&mut self, command: &'static str, arguments: &Value) -> Result<(), QmpError> {
        let line = json!({ "execute": command, "arguments": arguments });
        let stream = self.lines.get_mut();
        stream.write_all(format!("{line}\n").as_bytes())?;
        loop {
            let answer = self.next(command)?;
            if let Some(error) = answer.get("error") {
                let why = error.get("desc").and_then(Value::as_str);
                let why = why.map_or_else(|| error.to_string(), str::to_owned);
                return Err(QmpError::Refused { command, why });
            }
            if answer.get("return").is_some() {
                return Ok(());
            }
        }
    }

    fn next(&mut self, command: &'static str) -> Result<Value, QmpError> {
        let mut line = String::new();
        match self.lines.read_line(&mut line)? {
            0 => Err(QmpError::Closed { command }),
            _ => serde_json::from_str(&line).map_err(|cause| QmpError::Text { command, cause }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// What a QEMU that says these lines makes of a screendump; and the commands that it got.
    fn dumped(says: &'static [&'static str]) -> (Result<(), QmpError>, String) {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("qmp");
        let listener = UnixListener::bind(&socket).unwrap();
        let qemu = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut got = String::new();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            for (number, line) in says.iter().enumerate() {
                // The greeting comes by itself.
                if number > 0 && !line.contains("event") {
                    lines.read_line(&mut got).unwrap();
                }
                // Who was told nonsense has hung up.
                if stream.write_all(format!("{line}\n").as_bytes()).is_err() {
                    break;
                }
            }
            got
        });
        let dumped = Qmp::connect(&socket).and_then(|mut qmp| qmp.screendump(Path::new("/s.ppm")));
        (dumped, qemu.join().unwrap())
    }

    #[test]
    fn answers_are_told_from_events() {
        let (dumped, got) = dumped(&[
            r#"{"QMP": {}}"#,
            r#"{"return": {}}"#,
            r#"{"event": "RESUME"}"#,
            r#"{"return": {}}"#,
        ]);
        assert!(dumped.is_ok(), "{dumped:?}");
        let commands: Vec<Value> = got
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(
            commands,
            [
                json!({ "execute": "qmp_capabilities", "arguments": {} }),
                json!({ "execute": "screendump", "arguments": { "filename": "/s.ppm" } }),
            ]
        );
    }

    #[test]
    fn a_refusal_is_told_in_qemus_words() {
        let (dumped, _) = dumped(&[
            r#"{"QMP": {}}"#,
            r#"{"return": {}}"#,
            r#"{"error": {"class": "GenericError", "desc": "no graphical console"}}"#,
        ]);
        let text = dumped.unwrap_err().to_string();
        assert_eq!(text, "QEMU refuses `screendump`: no graphical console");
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        let (closed, _) = dumped(&[r#"{"QMP": {}}"#, r#"{"return": {}}"#]);
        assert!(matches!(
            closed,
            Err(QmpError::Closed { .. } | QmpError::Socket(_))
        ));
        let (other, _) = dumped(&["QEMU", r#"{"return": {}}"#]);
        assert!(matches!(other, Err(QmpError::Text { .. })), "{other:?}");
    }
}
