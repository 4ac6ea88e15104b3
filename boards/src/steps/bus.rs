//! Bus: devices behind I2C or SPI, a regulator or a power controller, by whatever driver an image has for the bus.
//!
//! A step says which device, what is sent, and what the reply must be. The bus is the port's own: anything that is
//! [`I2c`] or [`SpiDevice`] carries a transfer out.
//!
//! ```
//! use eitri_boards::steps::bus::{BusError, Buses, Device, over_spi};
//! use embedded_hal::spi::SpiDevice;
//!
//! /// The one SPI bus that this port drives.
//! struct Spi2<D>(D);
//!
//! impl<D: SpiDevice> Buses for Spi2<D> {
//!     fn transfer(&mut self, to: Device, send: &[u8], reply: &mut [u8]) -> Result<(), BusError> {
//!         match to {
//!             Device::Spi { bus: 2, chip_select: 0, .. } => over_spi(&mut self.0, send, reply),
//!             _ => Err(BusError::NoDriver),
//!         }
//!     }
//! }
//! ```

use core::fmt;
use embedded_hal::i2c::{self, I2c};
use embedded_hal::spi::{self, Operation, SpiDevice};

/// Most bytes of a reply.
pub const REPLY_BYTES: usize = 8;

/// Where a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Device {
    /// Behind an I2C bus.
    I2c {
        /// The bus, as the chip's manual counts them.
        bus: u8,
        /// Its address, of 7 bits.
        address: u8,
    },
    /// Behind an SPI bus.
    Spi {
        /// The bus, as the chip's manual counts them.
        bus: u8,
        /// Its chip select.
        chip_select: u8,
        /// Clock polarity and phase: 0 to 3.
        mode: u8,
        /// Its fastest clock.
        hertz: u32,
    },
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::I2c { bus, address } => write!(f, "I2C{bus}, address {address:#04x}"),
            Device::Spi {
                bus, chip_select, ..
            } => write!(f, "SPI{bus}, chip select {chip_select}"),
        }
    }
}

/// What a byte of a reply must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Within {
    /// Which bits count.
    pub mask: u8,
    /// The least that they may be.
    pub least: u8,
    /// The most.
    pub most: u8,
}

impl Within {
    /// Bits that must be so.
    pub const fn bits(mask: u8, value: u8) -> Within {
        Within {
            mask,
            least: value,
            most: value,
        }
    }

    /// Whether a byte is.
    pub const fn holds(self, byte: u8) -> bool {
        let counted = byte & self.mask;
        self.least <= counted && counted <= self.most
    }
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#04x}", self.least)?;
        if self.least != self.most {
            write!(f, " to {:#04x}", self.most)?;
        }
        write!(f, " in {:#04x}", self.mask)
    }
}

/// Bytes that stay: as [`crate::Text`].
pub type Bytes = &'static [u8];

/// Bytes that are sent, and those that are read after them, in one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Transfer {
    /// With whom.
    pub device: Device,
    /// What is sent.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::list")
    )]
    pub send: Bytes,
    /// What must come back, a byte each.
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::list"
        )
    )]
    pub reply: &'static [Within],
}

/// Why a transfer was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusError {
    /// The image has no driver for that bus.
    NoDriver,
    /// The I2C bus says so.
    I2c(i2c::ErrorKind),
    /// The SPI bus says so.
    Spi(spi::ErrorKind),
    /// A byte of the reply is not what it must be.
    Reply {
        /// Which.
        index: usize,
        /// What it is.
        found: u8,
        /// What it must be.
        wanted: Within,
    },
}

impl fmt::Display for BusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BusError::NoDriver => f.write_str("this image has no driver for the bus"),
            BusError::I2c(kind) => write!(f, "{kind}"),
            BusError::Spi(kind) => write!(f, "{kind}"),
            BusError::Reply {
                index,
                found,
                wanted,
            } => write!(f, "byte {index} is {found:#04x}, wanted {wanted}"),
        }
    }
}

impl core::error::Error for BusError {}

/// The buses that an image drives. `()` is none.
pub trait Buses {
    /// Sends bytes to a device and reads its reply.
    ///
    /// # Errors
    /// [`BusError::NoDriver`] for a bus that is not driven; what the bus says.
    fn transfer(&mut self, to: Device, send: &[u8], reply: &mut [u8]) -> Result<(), BusError>;
}

impl Buses for () {
    fn transfer(&mut self, _: Device, _: &[u8], _: &mut [u8]) -> Result<(), BusError> {
        Err(BusError::NoDriver)
    }
}

impl<B: Buses + ?Sized> Buses for &mut B {
    fn transfer(&mut self, to: Device, send: &[u8], reply: &mut [u8]) -> Result<(), BusError> {
        (**self).transfer(to, send, reply)
    }
}

/// A transfer over an SPI device's driver, which sees to the chip select, the mode and the clock.
///
/// # Errors
/// What the driver says.
pub fn over_spi(
    device: &mut impl SpiDevice,
    send: &[u8],
    reply: &mut [u8],
) -> Result<(), BusError> {
    let mut operations = [Operation::Write(send), Operation::Read(reply)];
    let done = device.transaction(&mut operations);
    done.map_err(|error| BusError::Spi(spi::Error::kind(&error)))
}

/// A transfer over an I2C bus's driver.
///
/// # Errors
/// What the driver says.
pub fn over_i2c(
    bus: &mut impl I2c,
    address: u8,
    send: &[u8],
    reply: &mut [u8],
) -> Result<(), BusError> {
    let done = match reply.is_empty() {
        true => bus.write(address, send),
        false => bus.write_read(address, send, reply),
    };
    done.map_err(|error| BusError::I2c(i2c::Error::kind(&error)))
}

impl Transfer {
    /// Carries it out; gives the reply.
    ///
    /// # Errors
    /// When it was not carried out, or the reply is not what it must be.
    pub(super) fn carry_out(&self, buses: &mut impl Buses) -> Result<[u8; REPLY_BYTES], BusError> {
        let mut bytes = [0; REPLY_BYTES];
        let reply = &mut bytes[..self.reply.len().min(REPLY_BYTES)];
        buses.transfer(self.device, self.send, reply)?;
        for (index, (found, wanted)) in reply.iter().zip(self.reply).enumerate() {
            if !wanted.holds(*found) {
                let (found, wanted) = (*found, *wanted);
                return Err(BusError::Reply {
                    index,
                    found,
                    wanted,
                });
            }
        }
        Ok(bytes)
    }
}
