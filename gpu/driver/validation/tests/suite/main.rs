//! The suite on good models and on broken ones, and the vectors that it reads.

mod healthy;
mod seeded;
mod user;
mod vectors;
