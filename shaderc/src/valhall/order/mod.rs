//! Order: passes that move instructions inside a block, and what limits them.

pub(super) mod graph;

pub(super) mod issue_early;

pub(super) mod reuse_places;

pub(super) mod schedule;
