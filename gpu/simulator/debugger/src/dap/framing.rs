//! Framing: bytes to messages and back, with the header `Content-Length`.
//!
//! Guarantees: a message is given only when it is whole; a header without a length, or one of more than [`MOST`] bytes, is an error,
//! after which nothing can be read any more.
use serde_json::Value;
use thiserror::Error;

/// Most bytes of a message, and of its header.
pub const MOST: usize = 16 << 20;
const MOST_HEADER: usize = 4096;

/// Why bytes are no messages.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FramingError {
    /// No length.
    #[error("a header has no valid Content-Length")]
    Length,
    /// More than is taken.
    #[error("a message of {0} bytes: at most {MOST} are taken")]
    TooLong(usize),
}

/// Bytes that have arrived and are no whole message yet.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
}

/// A message that has arrived: JSON, or why it is none.
pub type Received = Result<Value, String>;

impl Decoder {
    /// Takes bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message that is whole.
    ///
    /// # Errors
    /// If a header is none.
    pub fn next_message(&mut self) -> Result<Option<Received>, FramingError> {
        let end = self.bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let Some(end) = end else {
            return match self.bytes.len() > MOST_HEADER {
                true => Err(FramingError::Length),
                false => Ok(None),
            };
        };
        let header = String::from_utf8_lossy(&self.bytes[..end]).into_owned();
        let lengths = header.split("\r\n").filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            let is_length = name.trim().eq_ignore_ascii_case("content-length");
            is_length.then(|| value.trim().parse::<usize>().ok())
        });
        let length = lengths.flatten().next().ok_or(FramingError::Length)?;
        if length > MOST {
            return Err(FramingError::TooLong(length));
        }
        let start = end + 4;
        let Some(body) = self.bytes.get(start..start + length) else {
            return Ok(None);
        };
        let message = serde_json::from_slice(body).map_err(|error| error.to_string());
        self.bytes.drain(..start + length);
        Ok(Some(message))
    }
}

/// A message as bytes.
pub fn encode(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
