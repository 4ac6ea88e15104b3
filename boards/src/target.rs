//! Target: what an image can be built for: a board, or the outline of one.

use crate::board::{Board, Gpu};
use crate::lab::Lab;
use crate::loader::Loader;
use crate::outline::{ANYWHERE, Outline};
use crate::outside::OUTSIDE;
use crate::region::Region;
use crate::{ALL, OUTLINES, is_same};

/// What an image can be built for.
#[derive(Clone, Copy)]
pub enum Target {
    /// A machine that is known.
    Board(&'static Board),
    /// One that is known in part.
    Outline(&'static Outline),
}

impl Target {
    /// The target of that name; one from outside is there where this crate was built for it.
    pub const fn named(name: &str) -> Option<Target> {
        let mut index = 0;
        while index < ALL.len() {
            if is_same(ALL[index].description().name, name) {
                return Some(Target::Board(ALL[index]));
            }
            index += 1;
        }
        let mut index = 0;
        while index < OUTLINES.len() {
            if is_same(OUTLINES[index].name, name) {
                return Some(Target::Outline(OUTLINES[index]));
            }
            index += 1;
        }
        let mut index = 0;
        while index < OUTSIDE.len() {
            if is_same(OUTSIDE[index].name(), name) {
                return Some(OUTSIDE[index]);
            }
            index += 1;
        }
        None
    }

    /// All of this crate's, boards first.
    pub fn all() -> impl Iterator<Item = Target> {
        let boards = ALL.iter().map(|board| Target::Board(board));
        boards.chain(OUTLINES.iter().map(|outline| Target::Outline(outline)))
    }

    /// As people write it.
    pub const fn name(self) -> &'static str {
        match self {
            Target::Board(board) => board.description().name,
            Target::Outline(outline) => outline.name,
        }
    }

    /// The machines, in words.
    pub const fn title(self) -> &'static str {
        match self {
            Target::Board(board) => board.description().title,
            Target::Outline(outline) => outline.title,
        }
    }

    /// The GPU.
    pub const fn gpu(self) -> &'static Gpu {
        match self {
            Target::Board(board) => &board.description().gpu,
            Target::Outline(outline) => &outline.gpu,
        }
    }

    /// What loads the image.
    pub const fn loader(self) -> Loader {
        match self {
            Target::Board(board) => board.description().loader,
            Target::Outline(outline) => outline.loader,
        }
    }

    /// Where it is in labs.
    pub const fn lab(self) -> Option<Lab> {
        match self {
            Target::Board(board) => board.description().lab,
            Target::Outline(outline) => outline.lab,
        }
    }

    /// The memory that the image is linked for.
    pub const fn linked(self) -> Region {
        match self {
            Target::Board(board) => board.description().memory.image,
            Target::Outline(_) => ANYWHERE,
        }
    }

    /// The board, if all of it is known.
    pub const fn board(self) -> Option<&'static Board> {
        match self {
            Target::Board(board) => Some(board),
            Target::Outline(_) => None,
        }
    }
}

impl From<&'static Board> for Target {
    fn from(board: &'static Board) -> Target {
        Target::Board(board)
    }
}
