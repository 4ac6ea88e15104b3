//! `STRUCT`.

use super::{Parsed, Parser, duplicate, out_of_range};
use crate::error::Problem;
use crate::lexer::TokenKind;
use crate::types::{Layout, Member, Numeric, Struct, Type, count, nesting};
use std::ops::Range;
use std::sync::Arc;

impl Parser<'_> {
    pub(super) fn structure(&mut self) -> Parsed<()> {
        let (name, name_span) = self.cursor.identifier("a name for the struct")?;
        self.structs.check_new(name, name_span.clone())?;
        let stride = match self.cursor.take_keyword("STRIDE")? {
            true => Some(u64::from(self.cursor.positive("STRIDE")?)),
            false => None,
        };
        self.cursor.end_of_statement()?;
        let mut members = Vec::new();
        loop {
            self.cursor.skip_lines()?;
            let token = self.cursor.peek()?;
            let span = token.span.clone();
            match token.kind {
                TokenKind::EndOfScript => return Err((span, Problem::NoEnd { what: "STRUCT" })),
                TokenKind::Identifier("END") => {
                    self.cursor.next()?;
                    break;
                }
                _ => members.push(self.member(&members)?),
            }
        }
        if members.is_empty() {
            return Err((name_span, Problem::Empty { what: "struct" }));
        }
        let at = |problem| (name_span.clone(), problem);
        let structure = Struct {
            name: name.to_owned(),
            stride,
            components: count(&members).map_err(at)?,
            nesting: nesting(&members).map_err(at)?,
            members,
        };
        // What is wrong in both layouts is wrong in the struct itself.
        if let Err(problem) = structure.element(Layout::Std430) {
            return Err((name_span, problem));
        }
        self.structs.add(name, Arc::new(structure));
        self.cursor.end_of_statement()
    }

    fn member(&mut self, before: &[Member]) -> Parsed<Member> {
        let ty = self.data_type()?;
        let (name, span) = self.cursor.identifier("a name for the member")?;
        if before.iter().any(|member| member.name == name) {
            return Err(duplicate("member", name, span));
        }
        let mut offset = None;
        while !self.cursor.at_end_of_statement()? {
            let (option, span) = self
                .cursor
                .identifier("OFFSET, ARRAY_STRIDE or MATRIX_STRIDE")?;
            match option {
                "OFFSET" => offset = Some(self.cursor.u32("OFFSET")?.into()),
                "ARRAY_STRIDE" => self.stride_option(&ty, span, |numeric| numeric.is_array)?,
                "MATRIX_STRIDE" => self.stride_option(&ty, span, |numeric| numeric.columns > 1)?,
                _ => return Err(super::unknown("option of a struct's member", option, span)),
            }
        }
        self.cursor.end_of_statement()?;
        Ok(Member {
            name: name.to_owned(),
            ty,
            offset,
        })
    }

    /// Strides within a member are read, and of no effect: language reference, section 6.3.
    fn stride_option(
        &mut self,
        ty: &Type,
        span: Range<usize>,
        fits: impl Fn(&Numeric) -> bool,
    ) -> Parsed<()> {
        let number = self.cursor.here()?;
        let stride = self.cursor.u32("the stride")?;
        match ty {
            Type::Numeric(numeric) if fits(numeric) => match stride {
                0 => Err(out_of_range("the stride", "positive", 0, number)),
                _ => Ok(()),
            },
            other => {
                let (what, found) = ("a member with this option", other.to_string());
                Err((span, Problem::WrongType { what, found }))
            }
        }
    }
}
