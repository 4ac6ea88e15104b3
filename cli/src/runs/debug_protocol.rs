//! The Debug Adapter Protocol on a stream: standard input and output, or a connection.
//!
//! Guarantees: a client that goes away ends its session; bytes that are no messages end it too, with a sentence on standard error.

use crate::commands::debug;
use crate::outcome::{Failure, Status};
use crate::output::streams::talk;
use crate::runs::debug_source;
use crate::runs::debug_subject::{Subject, UseSession};
use eitri_debugger::dap::framing::{Decoder, Received, encode};
use eitri_debugger::dap::{Handshake, Launch, Server, Step};
use eitri_debugger::execution::Execution;
use eitri_debugger::session::Session;
use miette::Diagnostic;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use thiserror::Error;

/// An address that can't be listened on.
#[derive(Debug, Error, Diagnostic)]
#[error("can't listen on {address}: {cause}")]
struct NotListening {
    address: SocketAddr,
    cause: std::io::Error,
}

/// `--listen`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListenArgument(SocketAddr);

impl std::str::FromStr for ListenArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<ListenArgument, String> {
        if let Ok(port) = text.parse::<u16>() {
            return Ok(ListenArgument(SocketAddr::from(([127, 0, 0, 1], port))));
        }
        let named = text.replace("localhost", "127.0.0.1");
        let address = named.parse().map(ListenArgument);
        address.map_err(|_| format!("`{text}` is neither a port nor ADDRESS:PORT"))
    }
}

/// Serves one client on standard input and output.
pub(crate) fn on_stdio(given: &debug::Args) -> Result<Status, Failure> {
    serve(given, std::io::stdin(), &mut std::io::stdout());
    Ok(Status::Good)
}

/// Serves clients that connect, one after the other, until somebody ends the process.
pub(crate) fn listen(given: &debug::Args, at: ListenArgument) -> Result<Status, Failure> {
    let failed = |cause| {
        Failure::missing(NotListening {
            address: at.0,
            cause,
        })
    };
    let listener = TcpListener::bind(at.0).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    talk!("listening on {address}");
    loop {
        let (mut stream, _) = listener.accept().map_err(failed)?;
        match stream.try_clone() {
            Ok(input) => serve(given, input, &mut stream),
            Err(cause) => talk!("a client could not be served: {cause}"),
        }
        // The thread that reads ends with the connection.
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
}

/// Messages as they arrive, read by a thread of their own so that a running shader can be paused.
fn receive(mut input: impl Read + Send + 'static) -> Receiver<Received> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut decoder = Decoder::default();
        let mut bytes = [0; 4096];
        loop {
            match decoder.next_message() {
                Ok(Some(message)) => {
                    if sender.send(message).is_err() {
                        return;
                    }
                    continue;
                }
                Ok(None) => {}
                Err(error) => {
                    talk!("{error}");
                    return;
                }
            }
            match input.read(&mut bytes) {
                Ok(0) | Err(_) => return,
                Ok(count) => decoder.feed(&bytes[..count]),
            }
        }
    });
    receiver
}

/// A client: where its messages come from, and where answers go.
struct Client<'c> {
    receiver: Receiver<Received>,
    output: &'c mut dyn Write,
}

/// The client has gone away.
struct Gone;

impl Client<'_> {
    fn send(&mut self, messages: &[Value]) -> Result<(), Gone> {
        for message in messages {
            let written = self.output.write_all(&encode(message));
            written.map_err(|_| Gone)?;
        }
        self.output.flush().map_err(|_| Gone)
    }

    /// The next message.
    fn next(&self) -> Result<Value, Gone> {
        loop {
            match self.receiver.recv() {
                Ok(Ok(message)) => return Ok(message),
                Ok(Err(why)) => talk!("a message is no JSON: {why}"),
                Err(_) => return Err(Gone),
            }
        }
    }

    /// The next message, if there is one already.
    fn waiting(&self) -> Result<Option<Value>, Gone> {
        match self.receiver.try_recv() {
            Ok(Ok(message)) => Ok(Some(message)),
            Ok(Err(why)) => {
                talk!("a message is no JSON: {why}");
                Ok(None)
            }
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Gone),
        }
    }
}

fn serve(given: &debug::Args, input: impl Read + Send + 'static, output: &mut dyn Write) {
    let mut client = Client {
        receiver: receive(input),
        output,
    };
    // A client that goes away has ended its session.
    let _ = converse(given, &mut client);
}

/// A session from its start to its end.
fn converse(given: &debug::Args, client: &mut Client<'_>) -> Result<(), Gone> {
    let mut handshake = Handshake::default();
    loop {
        match handshake.handle(&client.next()?) {
            Step::Answer(messages) => client.send(&messages)?,
            Step::End(messages) => return client.send(&messages),
            Step::Launch(launch) => {
                let begun = prepare(given, &launch).and_then(|subject| {
                    subject.debug(ByClient {
                        handshake: handshake.clone(),
                        launch: launch.clone(),
                        path: subject.path(),
                        client,
                    })
                });
                match begun {
                    Ok(ended) => return ended,
                    Err(failure) => {
                        let why = failure.to_string();
                        client.send(&handshake.refuse(&launch, &why))?;
                    }
                }
            }
        }
    }
}

/// What a client launches, or what the command line names.
fn prepare(given: &debug::Args, launch: &Launch) -> Result<Subject, Failure> {
    if let Some(folder) = &launch.cwd {
        let moved = std::env::set_current_dir(folder);
        moved.map_err(|cause| Failure::unreadable(folder, cause))?;
    }
    match &launch.program {
        Some(program) => debug::prepare_launched(program, &launch.args),
        None => given.prepare(),
    }
}

/// The path of a source file for the client: absolute, where the file is found.
fn find_source(subject: &str, file: &str) -> String {
    let found = debug_source::places(subject, file).find_map(|path| path.canonicalize().ok());
    found.map_or(file.to_owned(), |path| path.display().to_string())
}

/// A session that a client drives.
struct ByClient<'c, 'o> {
    handshake: Handshake,
    launch: Launch,
    /// The subject's file.
    path: &'c str,
    client: &'c mut Client<'o>,
}

impl UseSession for ByClient<'_, '_> {
    type Done = Result<(), Gone>;

    fn run<E: Execution>(self, session: Session<E>) -> Result<(), Gone> {
        let ByClient {
            handshake,
            launch,
            path,
            client,
        } = self;
        let server = Server::new(session, handshake, launch, |file| find_source(path, file));
        let mut server = server.saving(debug::save_picture);
        let launched = server.launched();
        client.send(&launched)?;
        while !server.has_ended() {
            let message = match server.is_running() {
                true => client.waiting()?,
                false => Some(client.next()?),
            };
            let messages = match message {
                Some(message) => server.handle(&message),
                None => server.advance(),
            };
            client.send(&messages)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_on_loopback() {
        let of = |text: &str| text.parse::<ListenArgument>();
        let at = of("4711").unwrap().0;
        assert!(at.ip().is_loopback(), "{at}");
        assert_eq!(of("localhost:1").unwrap().0.to_string(), "127.0.0.1:1");
        assert_eq!(of("0.0.0.0:1").unwrap().0.to_string(), "0.0.0.0:1");
        assert_eq!(of("[::1]:1").unwrap().0.to_string(), "[::1]:1");
        for bad in ["", "70000", "host", "1.2.3.4"] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
