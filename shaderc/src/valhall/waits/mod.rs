//! Waits: slots of messages, waits for them, the flow of threads, and the checker of all three.

pub(super) mod scoreboard;

pub(super) mod assign_slots;

pub(super) mod insert_waits;

pub(super) mod insert_flow;

pub(super) mod mark_last_use;

pub(super) mod check_waits;
