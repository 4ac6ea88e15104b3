//! List register: one virtual interrupt that the virtual GIC presents to EL1.
//!
//! Facts: `ICH_LR<n>_EL2` of the GICv3 architecture.

use bitfield::bitfield;

bitfield! {
    /// The value of an `ICH_LR<n>_EL2`.
    #[derive(Clone, Copy, PartialEq, Eq, Default)]
    pub struct ListRegister(u64);
    impl Debug;
    /// Number of the virtual interrupt.
    pub u32, virtual_id, set_virtual_id: 31, 0;
    /// Number of the physical interrupt that its end deactivates; only with `hardware`.
    pub u32, physical_id, set_physical_id: 44, 32;
    /// Asks for the maintenance interrupt when it ends; only without `hardware`.
    pub bool, maintenance_at_end, set_maintenance_at_end: 41;
    /// Priority.
    pub u8, priority, set_priority: 55, 48;
    /// Group 1 rather than group 0.
    pub bool, group1, set_group1: 60;
    /// Tied to a physical interrupt.
    pub bool, hardware, set_hardware: 61;
    /// It has come, and EL1 has not taken it.
    pub bool, pending, set_pending: 62;
    /// EL1 has taken it, and not ended it.
    pub bool, active, set_active: 63;
}

impl ListRegister {
    /// One that presents nothing.
    pub const EMPTY: ListRegister = ListRegister(0);

    /// The register's contents.
    pub const fn new(value: u64) -> ListRegister {
        ListRegister(value)
    }

    /// What the register is to hold.
    pub const fn value(self) -> u64 {
        self.0
    }

    /// A pending interrupt of group 1.
    fn pending_interrupt(id: u32, priority: u8) -> ListRegister {
        let mut list = ListRegister::EMPTY;
        list.set_virtual_id(id);
        list.set_priority(priority);
        list.set_group1(true);
        list.set_pending(true);
        list
    }

    /// A pending interrupt that no physical one stands behind; its end asks for the maintenance interrupt.
    pub fn without_physical(id: u32, priority: u8) -> ListRegister {
        let mut list = ListRegister::pending_interrupt(id, priority);
        list.set_maintenance_at_end(true);
        list
    }

    /// A pending interrupt whose end deactivates the physical one of the same number.
    pub fn with_physical(id: u32, priority: u8) -> ListRegister {
        let mut list = ListRegister::pending_interrupt(id, priority);
        list.set_physical_id(id);
        list.set_hardware(true);
        list
    }

    /// Whether it presents nothing.
    pub fn is_free(self) -> bool {
        !self.pending() && !self.active()
    }

    /// Whether it presents that interrupt.
    pub fn is_for(self, id: u32) -> bool {
        !self.is_free() && self.virtual_id() == id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_physical_interrupt_is_named_twice() {
        let list = ListRegister::with_physical(27, 0xA0);
        assert_eq!(list.value(), 0x70A0_001B_0000_001B);
        assert!(list.is_for(27) && !list.is_for(28));
    }

    #[test]
    fn an_interrupt_of_our_own_asks_for_maintenance_at_its_end() {
        let list = ListRegister::without_physical(124, 0xA0);
        assert_eq!(list.value(), 0x50A0_0200_0000_007C);
    }

    #[test]
    fn one_that_is_neither_pending_nor_active_is_free() {
        let mut list = ListRegister::without_physical(124, 0xA0);
        list.set_pending(false);
        assert!(list.is_free() && !list.is_for(124));
        list.set_active(true);
        assert!(!list.is_free() && list.is_for(124));
    }
}
