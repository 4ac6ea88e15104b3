//! A client of `eitri debug --dap`: requests and what comes back.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// An adapter that was started, and has been told nothing yet.
pub(crate) struct Client {
    adapter: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    seq: u64,
}

impl Client {
    /// Starts an adapter in a folder.
    pub(crate) fn start(folder: &Path) -> Client {
        let mut adapter = Command::new(env!("CARGO_BIN_EXE_eitri"))
            .args(["debug", "--dap"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = adapter.stdin.take().unwrap();
        let from = BufReader::new(adapter.stdout.take().unwrap());
        Client {
            adapter,
            to,
            from,
            seq: 0,
        }
    }

    /// Sends a request, and waits for its response.
    pub(crate) fn ask(&mut self, command: &str, arguments: Value) -> Value {
        self.ask_for(command, arguments, ("response", command))
    }

    /// Sends a request, and waits for a message of this type and name.
    pub(crate) fn ask_for(
        &mut self,
        command: &str,
        arguments: Value,
        (kind, name): (&str, &str),
    ) -> Value {
        self.seq += 1;
        let request = json!({
            "seq": self.seq, "type": "request", "command": command, "arguments": arguments,
        });
        let text = request.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.to.flush().unwrap();
        loop {
            let message = self.message();
            let own = message["command"].as_str().or(message["event"].as_str());
            if message["type"] == kind && own == Some(name) {
                return message;
            }
        }
    }

    /// Ends the session, and waits until the adapter has ended.
    pub(crate) fn end(mut self) {
        self.ask("disconnect", json!({}));
        drop(self.to);
        self.adapter.wait().unwrap();
    }

    /// The next message of the adapter.
    fn message(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            let read = self.from.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "the adapter has ended");
            match line.trim().split_once(": ") {
                Some((_, value)) => length = value.parse().unwrap(),
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }
}
