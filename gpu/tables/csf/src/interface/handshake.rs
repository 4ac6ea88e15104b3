//! How a request and acknowledge word shake hands: pure functions over their values, for host and firmware alike.
//!
//! - Toggle: the host makes REQ differ from ACK; done when they agree again.
//! - Level: the host writes the value; done when ACK equals it.
//! - Event: the firmware makes ACK differ from REQ; the host acknowledges by copying ACK into REQ.
//!
//! Nothing is looked at before a doorbell.  Facts: hardware/csf-firmware.md section 11.
//!
//! ```
//! use eitri_csf::interface::{global::glb_req, handshake};
//! let (req, ack) = (0, 0);
//! let req = handshake::request(req, ack, glb_req::PING.mask32());
//! assert!(handshake::pending(req, ack, glb_req::PING.mask32()));
//! let ack = handshake::answer(req, ack, glb_req::PING.mask32());
//! assert!(!handshake::pending(req, ack, glb_req::PING.mask32()));
//! ```

/// Host: REQ with the toggles of `mask` requested, whatever they were.
pub const fn request(req: u32, ack: u32, mask: u32) -> u32 {
    (req & !mask) | (!ack & mask)
}

/// Host or firmware: whether any bit of `mask` still differs.
pub const fn pending(req: u32, ack: u32, mask: u32) -> bool {
    (req ^ ack) & mask != 0
}

/// Firmware: ACK with the requests of `mask` answered.
pub const fn answer(req: u32, ack: u32, mask: u32) -> u32 {
    (ack & !mask) | (req & mask)
}

/// Firmware: ACK with the events of `mask` raised, whatever they were.
pub const fn raise(req: u32, ack: u32, mask: u32) -> u32 {
    request(ack, req, mask)
}

/// Host: REQ with the events of `mask` acknowledged.
pub const fn acknowledge(req: u32, ack: u32, mask: u32) -> u32 {
    answer(ack, req, mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_raised_once_and_acknowledged() {
        let (req, ack) = (0x8000_0000, 0x0000_0001);
        let mask = 0x8000_0000;
        let ack = raise(req, answer(req, ack, mask), mask);
        assert!(pending(req, ack, mask));
        assert_eq!(raise(req, ack, mask), ack, "already raised");
        let req = acknowledge(req, ack, mask);
        assert!(!pending(req, ack, mask));
        assert_eq!(ack & 1, 1, "other bits stay");
    }
}
