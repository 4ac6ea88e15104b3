//! Text to a script, in one pass: every name is declared before it is used. Language reference, sections 3 to 11, 14, 15.
//!
//! Guarantees: any text gives a script or an error with its place; nothing is read but the text.

mod bind;
mod buffer;
mod command;
mod cursor;
mod expect;
mod pipeline;
mod ray_tracing;
mod sampler;
mod shader;
mod state;
mod structure;
mod vkscript;

pub(crate) use buffer::check_value;

use crate::error::{Located, Position, Problem, SyntaxError};
use crate::script::{
    BufferId, Dialect, Feature, PipelineId, Property, Requirement, SamplerId, Script, ShaderId,
};
use crate::types::{Layout, Struct, Type};
use cursor::Cursor;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// What each parsing step gives.
type Parsed<T> = Result<T, Located>;

/// Reads a script of either dialect.
///
/// # Errors
/// The first [`SyntaxError`] in the text.
pub fn parse(source: &str) -> Result<Script, SyntaxError> {
    let parsed = match source.starts_with("#!amber") {
        true => Parser::new(source, Dialect::AmberScript).amber_script(),
        false => vkscript::parse(source),
    };
    parsed.map_err(|(span, problem)| SyntaxError {
        position: Position::of(source, span.start),
        span,
        problem,
    })
}

/// Things by name.
struct Names<Id> {
    what: &'static str,
    known: BTreeMap<String, Id>,
}

impl<Id: Clone> Names<Id> {
    fn new(what: &'static str) -> Names<Id> {
        Names {
            what,
            known: BTreeMap::new(),
        }
    }

    /// The thing that is called so.
    fn find(&self, name: &str, span: Range<usize>) -> Parsed<Id> {
        self.known.get(name).cloned().ok_or_else(|| {
            let (what, name) = (self.what, name.to_owned());
            (span, Problem::Undeclared { what, name })
        })
    }

    /// Refuses a name that is taken.
    fn check_new(&self, name: &str, span: Range<usize>) -> Parsed<()> {
        match self.known.contains_key(name) {
            false => Ok(()),
            true => {
                let (what, name) = (self.what, name.to_owned());
                Err((span, Problem::Duplicate { what, name }))
            }
        }
    }

    fn add(&mut self, name: &str, id: Id) {
        self.known.insert(name.to_owned(), id);
    }
}

/// The state of reading one script.
struct Parser<'s> {
    cursor: Cursor<'s>,
    script: Script,
    shaders: Names<ShaderId>,
    buffers: Names<BufferId>,
    samplers: Names<SamplerId>,
    pipelines: Names<PipelineId>,
    structs: Names<Arc<Struct>>,
    accelerations: Names<usize>,
    /// Where each pipeline stands, for what is found wrong at the end.
    pipeline_spans: Vec<Range<usize>>,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str, dialect: Dialect) -> Parser<'s> {
        Parser {
            cursor: Cursor::new(source, 0..source.len()),
            script: Script {
                dialect,
                requirements: Vec::new(),
                fence_timeout: None,
                virtual_files: BTreeMap::new(),
                shaders: Vec::new(),
                buffers: Vec::new(),
                samplers: Vec::new(),
                pipelines: Vec::new(),
                acceleration_structures: Vec::new(),
                commands: Vec::new(),
            },
            shaders: Names::new("shader"),
            buffers: Names::new("buffer or image"),
            samplers: Names::new("sampler"),
            pipelines: Names::new("pipeline"),
            structs: Names::new("struct"),
            accelerations: Names::new("acceleration structure"),
            pipeline_spans: Vec::new(),
        }
    }

    fn amber_script(mut self) -> Parsed<Script> {
        self.cursor.skip_lines()?;
        while !self.cursor.at_end()? {
            self.statement()?;
            self.cursor.skip_lines()?;
        }
        self.check_attachments()?;
        Ok(self.script)
    }

    fn statement(&mut self) -> Parsed<()> {
        let (word, span) = self.cursor.identifier("a statement")?;
        match word {
            "SHADER" => self.shader(span),
            "VIRTUAL_FILE" => self.virtual_file(),
            "STRUCT" => self.structure(),
            "BUFFER" => self.buffer(),
            "IMAGE" => self.image(),
            "SAMPLER" => self.sampler(),
            "PIPELINE" => self.pipeline(),
            "DERIVE_PIPELINE" => self.derived_pipeline(),
            "ACCELERATION_STRUCTURE" => self.acceleration_structure(),
            "SET" => self.setting(),
            "REPEAT" => self.repeat(span),
            "DEVICE_FEATURE" => self.requirement(
                |name| Feature::named(name).map(Requirement::Feature),
                "device feature",
            ),
            "DEVICE_PROPERTY" => self.requirement(
                |name| Property::named(name).map(Requirement::Property),
                "device property",
            ),
            "DEVICE_EXTENSION" => self.requirement(
                |name| Some(Requirement::DeviceExtension(name.to_owned())),
                "extension",
            ),
            "INSTANCE_EXTENSION" => self.requirement(
                |name| Some(Requirement::InstanceExtension(name.to_owned())),
                "extension",
            ),
            _ => match self.command(word, span.clone())? {
                Some(command) => {
                    self.script.commands.push(command);
                    Ok(())
                }
                None => Err(unknown("statement", word, span)),
            },
        }
    }

    fn requirement(
        &mut self,
        named: impl Fn(&str) -> Option<Requirement>,
        what: &'static str,
    ) -> Parsed<()> {
        let (name, span) = self.cursor.identifier(what)?;
        let requirement = named(name).ok_or_else(|| unknown(what, name, span))?;
        self.script.requirements.push(requirement);
        self.cursor.end_of_statement()
    }

    fn setting(&mut self) -> Parsed<()> {
        self.cursor.keyword("ENGINE_DATA")?;
        self.cursor.keyword("fence_timeout_ms")?;
        let milliseconds = self.cursor.u32("fence_timeout_ms")?;
        self.script.fence_timeout = Some(Duration::from_millis(milliseconds.into()));
        self.cursor.end_of_statement()
    }

    /// A type by name: a struct, an image format, or a scalar, vector or matrix.
    fn data_type(&mut self) -> Parsed<Type> {
        let (name, span) = self.cursor.identifier("a type")?;
        if let Some(structure) = self.structs.known.get(name) {
            return Ok(Type::Struct(structure.clone()));
        }
        cursor::format(name)
            .or_else(|| crate::types::Numeric::named(name).map(Type::Numeric))
            .ok_or_else(|| unknown("type", name, span))
    }

    /// Whether a requirement that names this feature stands before.
    fn has_feature(&self, name: &str) -> bool {
        let mut requirements = self.script.requirements.iter();
        requirements.any(|requirement| {
            matches!(requirement, Requirement::Feature(feature) if feature.name() == name)
        })
    }

    /// At the end: pipelines that share an attachment agree on the size of the framebuffer.
    fn check_attachments(&self) -> Parsed<()> {
        for (pipeline, span) in self.script.pipelines.iter().zip(&self.pipeline_spans) {
            let colors = pipeline.colors.iter();
            let colors = colors.map(|color| (color.buffer, color.base_mip_level));
            let depth = pipeline.depth_stencil.iter().map(|buffer| (*buffer, 0));
            for (id, level) in colors.chain(depth) {
                let Some(buffer) = self.script.buffer(id) else {
                    continue;
                };
                let wanted = pipeline.framebuffer;
                let found = (buffer.size.0 >> level, buffer.size.1 >> level);
                if found != wanted {
                    let (buffer, name) = (buffer.name.clone(), pipeline.name.clone());
                    let problem = Problem::AttachmentSize {
                        buffer,
                        name,
                        found,
                        wanted,
                    };
                    return Err((span.clone(), problem));
                }
            }
        }
        Ok(())
    }
}

fn unknown(what: &'static str, word: &str, span: Range<usize>) -> Located {
    let word = word.to_owned();
    (span, Problem::Unknown { what, word })
}

fn expected(
    wanted: impl Into<String>,
    found: impl std::fmt::Display,
    span: Range<usize>,
) -> Located {
    let (wanted, found) = (wanted.into(), found.to_string());
    (span, Problem::Expected { wanted, found })
}

fn out_of_range(
    what: &'static str,
    range: &'static str,
    found: impl std::fmt::Display,
    span: Range<usize>,
) -> Located {
    let found = found.to_string();
    (span, Problem::Range { what, range, found })
}

fn duplicate(what: &'static str, name: impl std::fmt::Display, span: Range<usize>) -> Located {
    let name = name.to_string();
    (span, Problem::Duplicate { what, name })
}

/// The layout that buffers have where the script names none.
const DEFAULT_LAYOUT: Layout = Layout::Std430;
