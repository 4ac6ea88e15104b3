//! Objects with a member that says which of several kinds they are.
//!
//! Serde's own tagged enums keep members in a form of their own, in which numbers are lost where another crate of the build asks
//! serde_json for numbers of any precision. So the members are kept as JSON.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// An object: what its tag says, and its other members.
pub(super) struct Tagged {
    pub(super) kind: String,
    members: Value,
}

impl Tagged {
    /// Reads an object that has the member `op`.
    pub(super) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Tagged, D::Error> {
        let mut members = Map::<String, Value>::deserialize(from)?;
        match members.remove("op") {
            Some(Value::String(kind)) => Ok(Tagged {
                kind,
                members: Value::Object(members),
            }),
            _ => Err(D::Error::custom("an object without a text `op`")),
        }
    }

    /// The other members, as what the tag says.
    pub(super) fn members<T: DeserializeOwned, E: Error>(self) -> Result<T, E> {
        serde_json::from_value(self.members).map_err(E::custom)
    }

    /// The error that no kind is called so.
    pub(super) fn unknown<T, E: Error>(self) -> Result<T, E> {
        Err(E::custom(format!("nothing is called `{}` here", self.kind)))
    }
}
