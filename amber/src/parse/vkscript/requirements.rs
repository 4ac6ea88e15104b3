//! `[require]`.

use super::{Section, Setup};
use crate::parse::{Parsed, Parser, duplicate, unknown};
use crate::script::{Feature, Requirement};
use std::time::Duration;

impl<'s> Parser<'s> {
    pub(super) fn require_section(
        &mut self,
        section: &Section<'s>,
        setup: &mut Setup,
    ) -> Parsed<()> {
        self.cursor = self.cursor.on(section.span.clone());
        self.cursor.skip_lines()?;
        while !self.cursor.at_end()? {
            self.require_line(setup)?;
            self.cursor.end_of_statement()?;
            self.cursor.skip_lines()?;
        }
        Ok(())
    }

    fn require_line(&mut self, setup: &mut Setup) -> Parsed<()> {
        let (word, span) = self.cursor.identifier("a feature or an extension")?;
        match word {
            "framebuffer" => setup.framebuffer_format = self.cursor.format()?,
            "depthstencil" => {
                if setup.depth_format.is_some() {
                    return Err(duplicate("a", "depthstencil", span));
                }
                setup.depth_format = Some(self.cursor.format()?);
            }
            "fbsize" => {
                setup.size = (
                    self.cursor.positive("a width")?,
                    self.cursor.positive("a height")?,
                )
            }
            "fence_timeout" => {
                let limit = self.cursor.u32("fence_timeout")?;
                self.script.fence_timeout = Some(Duration::from_millis(limit.into()));
            }
            name => {
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let requirement = match Feature::named(name) {
                    Some(feature) => Requirement::Feature(feature),
                    None if name == "VK_KHR_get_physical_device_properties2" => {
                        Requirement::InstanceExtension(name.to_owned())
                    }
                    None if name.chars().all(is_word) => {
                        Requirement::DeviceExtension(name.to_owned())
                    }
                    None => return Err(unknown("feature or extension", name, span)),
                };
                self.script.requirements.push(requirement);
            }
        }
        Ok(())
    }
}
