//! Nothing: its test `header` writes and checks `eitri.h`.
#![no_std]
