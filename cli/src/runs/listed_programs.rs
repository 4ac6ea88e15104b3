//! Listings of the programs that a driver started, found by their words in memory: where a program lies is the driver's choice.

use eitri_debugger::driver::ListedProgram;
use eitri_debugger::machine::Listed;
use eitri_isa::{Arch, Instr, Syntax};
use eitri_on_model::StartedProgram;
use eitri_shaderc::{Compiled, CompiledGraphics, CompiledStage, Listing};

/// The instructions of a program that was compiled here.
pub(crate) struct KnownListing {
    name: String,
    rows: Vec<Listed>,
}

/// The instructions of a listing.
pub(crate) fn rows(listing: &Listing) -> impl Iterator<Item = Listed> {
    listing.rows().map(|row| Listed {
        word: row.word,
        text: row.text,
        source: row.source.map(|(file, line)| (file.to_owned(), line)),
    })
}

impl KnownListing {
    /// That of a compute program.
    pub(crate) fn of_compute(name: &str, compiled: &Compiled) -> KnownListing {
        KnownListing {
            name: name.to_owned(),
            rows: rows(&compiled.listing).collect(),
        }
    }

    /// Those of the programs of a pipeline; `names` are its shaders', the vertex shader's first.
    pub(crate) fn of_graphics(names: &[String], compiled: &CompiledGraphics) -> Vec<KnownListing> {
        let stages = [Some(&compiled.vertex), compiled.fragment.as_ref()];
        let stages = stages.into_iter().flatten().zip(names);
        let of_stage = |(stage, name): (&CompiledStage, &String)| -> Vec<KnownListing> {
            let entries = stage.entry_points.iter();
            entries
                .map(|entry| KnownListing {
                    name: name.clone(),
                    rows: rows(&entry.listing).collect(),
                })
                .collect()
        };
        stages.flat_map(of_stage).collect()
    }

    /// Whether a program has these instructions.
    fn is(&self, words: &[u64]) -> bool {
        let rows = self.rows.iter().map(|row| row.word);
        !self.rows.is_empty() && rows.eq(words.iter().copied().take(self.rows.len()))
    }
}

/// The started programs with their instructions. One that was not compiled here is listed as far as a word of zeros.
pub(crate) fn listed(
    started: Vec<StartedProgram>,
    known: &[KnownListing],
    arch: Arch,
) -> Vec<ListedProgram> {
    let list = |program: StartedProgram| {
        let words = program.bytes.as_chunks().0.iter();
        let words: Vec<u64> = words.map(|word| u64::from_le_bytes(*word)).collect();
        let found = known.iter().find(|own| own.is(&words));
        let (function, listing) = match found {
            Some(own) => (own.name.clone(), own.rows.clone()),
            None => {
                let words = words.into_iter().take_while(|word| *word != 0);
                let name = format!("program at {:#x}", program.entry);
                (name, words.map(|word| decoded(word, arch)).collect())
            }
        };
        ListedProgram {
            entry: program.entry,
            function,
            listing,
        }
    };
    started.into_iter().map(list).collect()
}

/// An instruction without a line.
pub(crate) fn decoded(word: u64, arch: Arch) -> Listed {
    Listed {
        word,
        text: match Instr::decode_text(word, arch) {
            Ok(instr) => instr.display(arch, Syntax::Mesa24).to_string(),
            Err(error) => format!("error: {error}"),
        },
        source: None,
    }
}
