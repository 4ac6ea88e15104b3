//! `SAMPLER`: language reference, section 8.

use super::{Parsed, Parser, out_of_range, unknown};
use crate::script::{Sampler, SamplerId};
use std::ops::Range;

impl Parser<'_> {
    pub(super) fn sampler(&mut self) -> Parsed<()> {
        let (name, name_span) = self.cursor.identifier("a name for the sampler")?;
        self.samplers.check_new(name, name_span.clone())?;
        let mut sampler = Sampler::new(name);
        while !self.cursor.at_end_of_statement()? {
            let (option, span) = self.cursor.identifier("an option of a sampler")?;
            self.sampler_option(&mut sampler, option, span)?;
        }
        if sampler.min_lod > sampler.max_lod {
            let found = sampler.min_lod;
            return Err(out_of_range("MIN_LOD", "at most MAX_LOD", found, name_span));
        }
        self.samplers
            .add(name, SamplerId(self.script.samplers.len()));
        self.script.samplers.push(sampler);
        self.cursor.end_of_statement()
    }

    fn sampler_option(
        &mut self,
        sampler: &mut Sampler,
        option: &str,
        span: Range<usize>,
    ) -> Parsed<()> {
        let cursor = &mut self.cursor;
        let [u, v, w] = &mut sampler.address;
        match option {
            "MAG_FILTER" => sampler.magnify = cursor.word()?,
            "MIN_FILTER" => sampler.minify = cursor.word()?,
            "ADDRESS_MODE_U" => *u = cursor.word()?,
            "ADDRESS_MODE_V" => *v = cursor.word()?,
            "ADDRESS_MODE_W" => *w = cursor.word()?,
            "BORDER_COLOR" => sampler.border = cursor.word()?,
            "MIN_LOD" => sampler.min_lod = cursor.number("MIN_LOD")?,
            "MAX_LOD" => sampler.max_lod = cursor.number("MAX_LOD")?,
            "NORMALIZED_COORDS" => sampler.normalized = true,
            "UNNORMALIZED_COORDS" => {
                sampler.normalized = false;
                (sampler.min_lod, sampler.max_lod) = (0.0, 0.0);
            }
            "COMPARE" => sampler.compare = cursor.switch()?,
            "COMPARE_OP" => sampler.operation = cursor.word()?,
            _ => return Err(unknown("option of a sampler", option, span)),
        }
        Ok(())
    }
}
