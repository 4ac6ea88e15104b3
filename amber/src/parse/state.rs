//! Fixed state of a graphics pipeline: language reference, section 9.2.

use super::{Parsed, Parser, expected, unknown};
use crate::script::{
    Blend, BlendFactor, BlendOperation, DepthBias, Pipeline, StencilFace, Viewport,
};

impl Parser<'_> {
    /// Reads a statement about state up to the end of its line; says whether it was one.
    pub(super) fn state(&mut self, pipeline: &mut Pipeline, word: &str) -> Parsed<bool> {
        match word {
            "VIEWPORT" => pipeline.state.viewport = Some(self.viewport()?),
            "POLYGON_MODE" => pipeline.state.polygon_mode = self.cursor.word()?,
            "PATCH_CONTROL_POINTS" => {
                pipeline.state.patch_control_points =
                    self.cursor.positive("PATCH_CONTROL_POINTS")?;
            }
            "DEPTH" => self.depth_state(pipeline)?,
            "STENCIL" => self.stencil_state(pipeline)?,
            "BLEND" => self.blend_state(pipeline)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn viewport(&mut self) -> Parsed<Viewport> {
        let origin = [self.cursor.number("x")?, self.cursor.number("y")?];
        self.cursor.keyword("SIZE")?;
        let size = [
            self.cursor.number("a width")?,
            self.cursor.number("a height")?,
        ];
        let mut depth = [0.0, 1.0];
        let [near, far] = &mut depth;
        while !self.cursor.at_end_of_statement()? {
            let (option, span) = self.cursor.identifier("MIN_DEPTH or MAX_DEPTH")?;
            match option {
                "MIN_DEPTH" => *near = self.cursor.number("MIN_DEPTH")?,
                "MAX_DEPTH" => *far = self.cursor.number("MAX_DEPTH")?,
                _ => return Err(unknown("option of VIEWPORT", option, span)),
            }
        }
        Ok(Viewport {
            origin,
            size,
            depth,
        })
    }

    fn depth_state(&mut self, pipeline: &mut Pipeline) -> Parsed<()> {
        let state = &mut pipeline.state;
        while let Some((option, span)) = self.cursor.block_word("DEPTH")? {
            let cursor = &mut self.cursor;
            match option {
                "TEST" => state.depth_test = cursor.switch()?,
                "WRITE" => state.depth_write = cursor.switch()?,
                "COMPARE_OP" => state.depth_compare = cursor.word()?,
                "CLAMP" => state.depth_clamp = cursor.switch()?,
                "BOUNDS" => {
                    cursor.keyword("min")?;
                    let min = cursor.number("min")?;
                    cursor.keyword("max")?;
                    state.depth_bounds = Some([min, cursor.number("max")?]);
                }
                "BIAS" => {
                    cursor.keyword("constant")?;
                    let constant = cursor.number("constant")?;
                    cursor.keyword("clamp")?;
                    let clamp = cursor.number("clamp")?;
                    cursor.keyword("slope")?;
                    let slope = cursor.number("slope")?;
                    state.depth_bias = Some(DepthBias {
                        constant,
                        clamp,
                        slope,
                    });
                }
                _ => return Err(unknown("option of DEPTH", option, span)),
            }
        }
        Ok(())
    }

    fn stencil_state(&mut self, pipeline: &mut Pipeline) -> Parsed<()> {
        let (which, span) = self.cursor.identifier("front, back or front_and_back")?;
        let [is_front, is_back] = match which {
            "front" => [true, false],
            "back" => [false, true],
            "front_and_back" => [true, true],
            _ => {
                return Err(expected(
                    "front, back or front_and_back",
                    format_args!("`{which}`"),
                    span,
                ));
            }
        };
        while let Some((option, span)) = self.cursor.block_word("STENCIL")? {
            if option == "TEST" {
                pipeline.state.stencil_test = self.cursor.switch()?;
                continue;
            }
            let mut face = StencilFace::default();
            let set: fn(&mut StencilFace, &StencilFace) = match option {
                "FAIL_OP" => {
                    face.fail = self.cursor.word()?;
                    |to, from| to.fail = from.fail
                }
                "PASS_OP" => {
                    face.pass = self.cursor.word()?;
                    |to, from| to.pass = from.pass
                }
                "DEPTH_FAIL_OP" => {
                    face.depth_fail = self.cursor.word()?;
                    |to, from| to.depth_fail = from.depth_fail
                }
                "COMPARE_OP" => {
                    face.compare = self.cursor.word()?;
                    |to, from| to.compare = from.compare
                }
                "COMPARE_MASK" => {
                    face.compare_mask = self.cursor.u32("COMPARE_MASK")?;
                    |to, from| to.compare_mask = from.compare_mask
                }
                "WRITE_MASK" => {
                    face.write_mask = self.cursor.u32("WRITE_MASK")?;
                    |to, from| to.write_mask = from.write_mask
                }
                "REFERENCE" => {
                    face.reference = self.cursor.u32("REFERENCE")?;
                    |to, from| to.reference = from.reference
                }
                _ => return Err(unknown("option of STENCIL", option, span)),
            };
            let [front, back] = &mut pipeline.state.stencil;
            for (_, to) in [(is_front, front), (is_back, back)]
                .into_iter()
                .filter(|(wanted, _)| *wanted)
            {
                set(to, &face);
            }
        }
        Ok(())
    }

    fn blend_state(&mut self, pipeline: &mut Pipeline) -> Parsed<()> {
        let factors = [BlendFactor::One, BlendFactor::Zero];
        let blend = pipeline.state.blend.get_or_insert(Blend {
            color_factors: factors,
            color: BlendOperation::Add,
            alpha_factors: factors,
            alpha: BlendOperation::Add,
        });
        let [src_color, dst_color] = &mut blend.color_factors;
        let [src_alpha, dst_alpha] = &mut blend.alpha_factors;
        while let Some((option, span)) = self.cursor.block_word("BLEND")? {
            let cursor = &mut self.cursor;
            match option {
                "SRC_COLOR_FACTOR" => *src_color = cursor.word()?,
                "DST_COLOR_FACTOR" => *dst_color = cursor.word()?,
                "COLOR_OP" => blend.color = cursor.word()?,
                "SRC_ALPHA_FACTOR" => *src_alpha = cursor.word()?,
                "DST_ALPHA_FACTOR" => *dst_alpha = cursor.word()?,
                "ALPHA_OP" => blend.alpha = cursor.word()?,
                _ => return Err(unknown("option of BLEND", option, span)),
            }
        }
        Ok(())
    }
}
