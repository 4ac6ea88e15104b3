//! Abort: what an operating system gets for an access to nothing, as the bus of a machine would answer it.

use crate::guest::Guest;
use cortex_a::registers::{
    ELR_EL1, ESR_EL1, FAR_EL1, FAR_EL2, Readable, SPSR_EL1, VBAR_EL1, Writeable,
};
use eitri_aarch64::{AbortEntry, Syndrome};

/// Makes the guest take a synchronous external abort for what it has just done.
pub(crate) fn take(guest: &mut Guest, syndrome: Syndrome) {
    let entry = AbortEntry::of(syndrome, guest.spsr);
    ESR_EL1.set(entry.syndrome.0);
    FAR_EL1.set(FAR_EL2.get());
    ELR_EL1.set(guest.elr);
    SPSR_EL1.set(guest.spsr);
    guest.elr = VBAR_EL1.get().wrapping_add(entry.vector);
    guest.spsr = entry.state;
}
