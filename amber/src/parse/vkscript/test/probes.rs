//! `probe`: what pixels and buffers must hold.

use super::super::FRAMEBUFFER;
use super::{PIPELINE, Standing};
use crate::parse::{Parsed, Parser, expected};
use crate::script::{Action, Comparator, DescriptorKind, Expectation, PixelProbe, Tolerance};
use crate::words::Word;

impl Parser<'_> {
    pub(super) fn test_probe(&mut self, standing: &mut Standing, relative: bool) -> Parsed<Action> {
        if !relative && self.cursor.take_keyword("ssbo")? {
            return self.probe_ssbo(standing);
        }
        let is_rectangle = self.cursor.take_keyword("rect")?;
        let is_all = !is_rectangle && self.cursor.take_keyword("all")?;
        let start = self.cursor.here()?;
        let (word, span) = self.cursor.identifier("rgb or rgba")?;
        let alpha = match word {
            "rgb" => false,
            "rgba" => true,
            _ => return Err(expected("rgb or rgba", format_args!("`{word}`"), span)),
        };
        let (width, height) = self
            .script
            .pipeline(PIPELINE)
            .map_or((0, 0), |pipeline| pipeline.framebuffer);
        let [mut x, mut y, mut w, mut h] = [0.0, 0.0, 1.0, 1.0];
        if is_all {
            (w, h) = (f64::from(width), f64::from(height));
        } else if is_rectangle {
            [x, y, w, h] = self.group()?;
        } else {
            [x, y] = self.group()?;
        }
        if relative {
            (x, w) = (
                x * f64::from(width),
                if is_rectangle {
                    w * f64::from(width)
                } else {
                    w
                },
            );
            (y, h) = (
                y * f64::from(height),
                if is_rectangle {
                    h * f64::from(height)
                } else {
                    h
                },
            );
        }
        let mut color = [0.0; 4];
        if alpha {
            color = self.group()?;
        } else {
            let rgb: [f64; 3] = self.group()?;
            for (to, from) in color.iter_mut().zip(rgb) {
                *to = from;
            }
        }
        let name_span = self.cursor.here()?;
        let buffer = self.buffers.find(FRAMEBUFFER, name_span)?;
        // A float to an integer is cut off and saturates.
        let probe = PixelProbe {
            buffer,
            origin: [x as u32, y as u32],
            size: [w as u32, h as u32],
            color: color.map(|value| f64::from(value as f32)),
            alpha,
            tolerances: standing.tolerances.clone(),
        };
        self.check_probe(&probe, start)?;
        Ok(Action::Expect(Expectation::Pixels(probe)))
    }

    /// Numbers, in parentheses and with commas, or without.
    fn group<const N: usize>(&mut self) -> Parsed<[f64; N]> {
        let mut numbers = [0.0; N];
        let closed = self.cursor.take_keyword("(")?;
        for (index, number) in numbers.iter_mut().enumerate() {
            if index != 0 {
                self.cursor.take_keyword(",")?;
            }
            *number = self.cursor.number("a number")?;
        }
        if closed {
            self.cursor.keyword(")")?;
        }
        Ok(numbers)
    }

    fn probe_ssbo(&mut self, standing: &mut Standing) -> Parsed<Action> {
        let (ty, span) = self.vk_type()?;
        let place = self.cursor.here()?;
        let slot = self.vk_slot()?;
        let buffer = self.slot_buffer(DescriptorKind::Storage, slot, place.clone())?;
        self.set_type(standing, buffer, ty, span)?;
        let offset = self.cursor.u32("an offset")?.into();
        let span = self.cursor.here()?;
        let (sign, _) = self.cursor.identifier("a comparison")?;
        let comparator = Comparator::from_text(sign)
            .filter(|comparator| comparator.text() != sign)
            .ok_or_else(|| {
                expected("==, !=, <, >, <=, >= or ~=", format_args!("`{sign}`"), span)
            })?;
        let tolerance = match sign {
            "~=" => Some(
                standing
                    .tolerances
                    .first()
                    .copied()
                    .unwrap_or(Tolerance::Percent(1e-6)),
            ),
            _ => None,
        };
        let values = self.decimals(buffer)?;
        self.check_values(buffer, offset, &values, place)?;
        Ok(Action::Expect(Expectation::Values {
            buffer,
            offset,
            comparator,
            tolerance,
            values,
        }))
    }
}
