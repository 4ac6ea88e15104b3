//! Counters of the memory system: the MMU and a slice of the L2.
//!
//! Facts: hardware/csf-perfcnt.md sections 4 and 5, data/perfcnt.json.

use super::BlockKind::MemorySystem;
use super::Unit::{Beats, Cycles, Requests, Transactions};
use super::on::{ALL, TO_V13};
use super::{Counter, row};

#[rustfmt::skip]
pub(super) const MEMORY_SYSTEM: &[Counter] = &[
//  block            index name                       where   unit          shift counts
    row(MemorySystem,   4, "MMU_REQUESTS",            ALL,    Requests,     0, "MMU lookup requests"),
    row(MemorySystem,   5, "MMU_TABLE_READS_L3",      ALL,    Requests,     0, "MMU L3 table read requests"),
    row(MemorySystem,   6, "MMU_TABLE_READS_L2",      ALL,    Requests,     0, "MMU L2 table read requests"),
    row(MemorySystem,   7, "MMU_HIT_L3",              ALL,    Requests,     0, "MMU L3 lookup TLB hits"),
    row(MemorySystem,   8, "MMU_HIT_L2",              ALL,    Requests,     0, "MMU L2 lookup TLB hits"),
    row(MemorySystem,  12, "L2_RD_MSG_IN_EVICT",      ALL,    Requests,     0, "Input internal evict requests"),
    row(MemorySystem,  13, "L2_RD_MSG_IN_CU",         ALL,    Requests,     0, "Input internal clean unique requests"),
    row(MemorySystem,  16, "L2_RD_MSG_IN",            ALL,    Requests,     0, "Input internal read requests"),
    row(MemorySystem,  17, "L2_RD_MSG_IN_STALL",      ALL,    Cycles,       0, "Input internal read stall cycles"),
    row(MemorySystem,  18, "L2_WR_MSG_IN",            ALL,    Requests,     0, "Input internal write requests"),
    row(MemorySystem,  19, "L2_WR_MSG_IN_STALL",      ALL,    Cycles,       0, "Input internal write stall cycles"),
    row(MemorySystem,  20, "L2_SNP_MSG_IN",           ALL,    Requests,     0, "Input internal snoop requests"),
    row(MemorySystem,  21, "L2_SNP_MSG_IN_STALL",     ALL,    Cycles,       0, "Input internal snoop stall cycles"),
    row(MemorySystem,  22, "L2_RD_MSG_OUT",           ALL,    Requests,     0, "Output internal read requests"),
    row(MemorySystem,  23, "L2_RD_MSG_OUT_STALL",     ALL,    Cycles,       0, "Output internal read stall cycles"),
    row(MemorySystem,  24, "L2_WR_MSG_OUT",           ALL,    Requests,     0, "Output internal write requests"),
    row(MemorySystem,  25, "L2_ANY_LOOKUP",           ALL,    Requests,     0, "Any lookup requests"),
    row(MemorySystem,  26, "L2_READ_LOOKUP",          ALL,    Requests,     0, "Read lookup requests"),
    row(MemorySystem,  27, "L2_WRITE_LOOKUP",         ALL,    Requests,     0, "Write lookup requests"),
    row(MemorySystem,  28, "L2_EXT_SNOOP_LOOKUP",     TO_V13, Requests,     0, "Input external snoop lookup requests"),
    row(MemorySystem,  29, "L2_EXT_READ",             ALL,    Transactions, 0, "Output external read transactions"),
    row(MemorySystem,  30, "L2_EXT_READ_NOSNP",       ALL,    Transactions, 0, "Output external ReadNoSnoop transactions"),
    row(MemorySystem,  31, "L2_EXT_READ_UNIQUE",      ALL,    Transactions, 0, "Output external ReadUnique transactions"),
    row(MemorySystem,  32, "L2_EXT_READ_BEATS",       ALL,    Beats,        0, "Output external read beats"),
    row(MemorySystem,  33, "L2_EXT_AR_STALL",         ALL,    Cycles,       0, "Output external read stall cycles"),
    row(MemorySystem,  34, "L2_EXT_AR_CNT_Q1",        ALL,    Transactions, 0, "Output external outstanding reads 0-25%"),
    row(MemorySystem,  35, "L2_EXT_AR_CNT_Q2",        ALL,    Transactions, 0, "Output external outstanding reads 25-50%"),
    row(MemorySystem,  36, "L2_EXT_AR_CNT_Q3",        ALL,    Transactions, 0, "Output external outstanding reads 50-75%"),
    row(MemorySystem,  37, "L2_EXT_RRESP_0_127",      ALL,    Beats,        0, "Output external read latency 0-127 cycles"),
    row(MemorySystem,  38, "L2_EXT_RRESP_128_191",    ALL,    Beats,        0, "Output external read latency 128-191 cycles"),
    row(MemorySystem,  39, "L2_EXT_RRESP_192_255",    ALL,    Beats,        0, "Output external read latency 192-255 cycles"),
    row(MemorySystem,  40, "L2_EXT_RRESP_256_319",    ALL,    Beats,        0, "Output external read latency 256-319 cycles"),
    row(MemorySystem,  41, "L2_EXT_RRESP_320_383",    ALL,    Beats,        0, "Output external read latency 320-383 cycles"),
    row(MemorySystem,  42, "L2_EXT_WRITE",            ALL,    Transactions, 0, "Output external write transactions"),
    row(MemorySystem,  43, "L2_EXT_WRITE_NOSNP_FULL", ALL,    Transactions, 0, "Output external WriteNoSnoopFull transactions"),
    row(MemorySystem,  44, "L2_EXT_WRITE_NOSNP_PTL",  ALL,    Transactions, 0, "Output external WriteNoSnoopPartial transactions"),
    row(MemorySystem,  45, "L2_EXT_WRITE_SNP_FULL",   ALL,    Transactions, 0, "Output external WriteSnoopFull transactions"),
    row(MemorySystem,  46, "L2_EXT_WRITE_SNP_PTL",    ALL,    Transactions, 0, "Output external WriteSnoopPartial transactions"),
    row(MemorySystem,  47, "L2_EXT_WRITE_BEATS",      ALL,    Beats,        0, "Output external write beats"),
    row(MemorySystem,  48, "L2_EXT_W_STALL",          ALL,    Cycles,       0, "Output external write stall cycles"),
    row(MemorySystem,  49, "L2_EXT_AW_CNT_Q1",        ALL,    Transactions, 0, "Output external outstanding writes 0-25%"),
    row(MemorySystem,  50, "L2_EXT_AW_CNT_Q2",        ALL,    Transactions, 0, "Output external outstanding writes 25-50%"),
    row(MemorySystem,  51, "L2_EXT_AW_CNT_Q3",        ALL,    Transactions, 0, "Output external outstanding writes 50-75%"),
    row(MemorySystem,  52, "L2_EXT_SNOOP",            TO_V13, Transactions, 0, "Input external snoop transactions"),
    row(MemorySystem,  53, "L2_EXT_SNOOP_STALL",      TO_V13, Cycles,       0, "Input external snoop stall cycles"),
];
