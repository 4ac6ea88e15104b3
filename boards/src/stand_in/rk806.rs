//! RK806: the regulator that supplies the RK3588's GPU, behind SPI.
//!
//! Facts: hardware/boards-rk3588.md 11.1 and 11.2.

use super::News;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use embedded_hal::spi::{ErrorType, Operation, SpiDevice};

const IDS: [(u16, u8); 2] = [(0x5A, 0x80), (0x5B, 0x60)];
const POWER_EN0: u16 = 0x00;
const BUCK1_ON_VSEL: u16 = 0x1A;
const SYS_CFG3: u16 = 0x72;
/// Steps of 6.25 mV above 0.5 V that VDD_GPU may have: 0.675 to 0.85 V.
const SAFE: core::ops::RangeInclusive<u8> = 0x1C..=0x38;
/// First byte of a frame: a write.
const WRITE: u8 = 1 << 7;
/// First byte of a frame: a checksum follows, which nobody here asks for.
const CHECKED: u8 = 1 << 6;

/// The regulator.
pub struct Rk806 {
    /// BUCK1 is on.
    pub on: bool,
    /// Its voltage, in steps.
    pub steps: u8,
    news: News,
}

/// On, at 0.75 V.
impl Default for Rk806 {
    fn default() -> Rk806 {
        Rk806::new(true, 0x28)
    }
}

impl Rk806 {
    /// As somebody has left it.
    pub fn new(on: bool, steps: u8) -> Rk806 {
        let news = News::default();
        Rk806 { on, steps, news }
    }

    /// What was wrong since the last call.
    pub fn take_news(&mut self) -> Vec<String> {
        self.news.take()
    }

    fn read(&mut self, register: u16) -> u8 {
        let id = IDS.iter().find(|(at, _)| *at == register);
        match (register, id) {
            (_, Some((_, id))) => *id,
            (POWER_EN0, _) => u8::from(self.on),
            (BUCK1_ON_VSEL, _) => self.steps,
            _ => {
                self.news
                    .tell(format!("RK806: register {register:#x} is read"));
                0
            }
        }
    }

    fn write(&mut self, register: u16, value: u8) {
        match register {
            BUCK1_ON_VSEL if SAFE.contains(&value) => self.steps = value,
            BUCK1_ON_VSEL => self.news.tell(format!(
                "RK806: VDD_GPU is set to {value:#x}, outside of 0.675 to 0.85 V"
            )),
            SYS_CFG3 => self
                .news
                .tell("RK806: SYS_CFG3 is written, which switches the board off".into()),
            _ => self
                .news
                .tell(format!("RK806: register {register:#x} is written")),
        }
    }

    /// A frame: its head and what follows it.
    fn frame(&mut self, head: [u8; 3], data: &[u8], reply: &mut [u8]) {
        let [first, low, high] = head;
        let length = usize::from(first & 0xF) + 1;
        let register = u16::from_le_bytes([low, high]);
        let (writes, moved) = match first & WRITE {
            0 => (false, reply.len()),
            _ => (true, data.len()),
        };
        if first & CHECKED != 0 || moved != length || writes == data.is_empty() {
            let told = format!("RK806: a frame of {length} bytes that has {moved}: {head:02x?}");
            return self.news.tell(told);
        }
        let registers = register..;
        if writes {
            registers
                .zip(data)
                .for_each(|(at, byte)| self.write(at, *byte));
        } else {
            registers
                .zip(reply)
                .for_each(|(at, byte)| *byte = self.read(at));
        }
    }
}

impl ErrorType for Rk806 {
    type Error = Infallible;
}

impl SpiDevice for Rk806 {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Infallible> {
        match operations {
            [Operation::Write([first, low, high, data @ ..])] => {
                self.frame([*first, *low, *high], data, &mut []);
            }
            [
                Operation::Write([first, low, high, data @ ..]),
                Operation::Read(reply),
            ] => self.frame([*first, *low, *high], data, reply),
            _ => self.news.tell("RK806: not a frame".into()),
        }
        Ok(())
    }
}
