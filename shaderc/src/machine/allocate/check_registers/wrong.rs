//! What is wrong with an allocation, in words.

use std::fmt;

use crate::machine::{BlockId, Machine, Value};

/// What is wrong with an allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wrong<M: Machine> {
    /// The use of `value` at `text` reads a register that holds something else on some path.
    Holds {
        block: BlockId,
        text: String,
        value: Value,
        register: Option<M::Register>,
        holds: Vec<Value>,
    },
    /// The words of a group are not consecutive, or begin where no group may.
    Group { block: BlockId, text: String },
    /// A value lies where none of its class can, or not where this instruction wants it.
    Misplaced { block: BlockId, text: String },
    /// A word written and the one that it is tied to are different registers.
    Untied { block: BlockId, text: String },
    /// A value that was made again was made differently.
    Remade {
        block: BlockId,
        text: String,
        value: Value,
    },
    /// A written register is also read after it was written.
    Early { block: BlockId, text: String },
    /// What was spilled is not the same program any more.
    Spilled(String),
}

impl<M: Machine> fmt::Display for Wrong<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Holds {
                block,
                text,
                value,
                register,
                holds,
            } => {
                let place =
                    register.map_or("no register".to_owned(), |register| register.to_string());
                write!(
                    f,
                    "{block}: `{text}` wants {value} from {place}, which holds {holds:?}"
                )
            }
            Wrong::Group { block, text } => write!(
                f,
                "{block}: `{text}` has a group that is not consecutive or begins where none may"
            ),
            Wrong::Misplaced { block, text } => write!(
                f,
                "{block}: `{text}` has a word in a register that can't hold it"
            ),
            Wrong::Untied { block, text } => write!(
                f,
                "{block}: `{text}` writes another register than the one it is tied to"
            ),
            Wrong::Remade { block, text, value } => {
                write!(f, "{block}: `{text}` does not make {value}")
            }
            Wrong::Early { block, text } => write!(
                f,
                "{block}: `{text}` overwrites a source between its cycles"
            ),
            Wrong::Spilled(what) => write!(f, "spilled: {what}"),
        }
    }
}
