//! Identity: which machine this is, and what has loaded the image.
//!
//! Facts: `model` and `serial-number` of the root are the device tree specification's; `u-boot,version` is what U-Boot writes into
//! `/chosen`.

use super::{DeviceTree, text};
use core::fmt::{self, Write};

/// The machine and its boot loader, as a device tree names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity<'a> {
    /// The machine's name in words.
    pub model: Option<&'a str>,
    /// Its serial number.
    pub serial: Option<&'a str>,
    /// The version of the U-Boot that has handed the tree over.
    pub u_boot: Option<&'a str>,
}

impl<'a> DeviceTree<'a> {
    /// Which machine this is, and what has loaded the image.
    pub fn identity(&self) -> Identity<'a> {
        let root = self.0.root();
        let chosen = self.0.find_node("/chosen");
        Identity {
            model: text(root, "model"),
            serial: text(root, "serial-number"),
            u_boot: chosen.and_then(|node| text(node, "u-boot,version")),
        }
    }
}

/// `model NAME; serial NUMBER; loader U-Boot VERSION`: the parts that there are. Nothing but printable ASCII, and no `;` inside of a part.
impl fmt::Display for Identity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("model ", self.model),
            ("serial ", self.serial),
            ("loader U-Boot ", self.u_boot),
        ];
        let mut between = "";
        for (name, value) in parts {
            let Some(value) = value.filter(|value| !value.is_empty()) else {
                continue;
            };
            write!(f, "{between}{name}")?;
            for character in value.chars() {
                let is_plain = matches!(character, ' '..='~') && character != ';';
                f.write_char(if is_plain { character } else { '?' })?;
            }
            between = "; ";
        }
        Ok(())
    }
}
