//! Endpoints: which shader cores a group has for its compute jobs.
//!
//! Facts: hardware/csf-firmware.md 9 (EP_REQ, ALLOW_COMPUTE) and 14 (13); csf-scheduling.md 1.

use alloc::vec::Vec;

/// What a group may have of the shader cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Endpoints {
    /// Cores that it may use: allowed to it, allowed to all groups, and there.
    pub(crate) cores: u64,
    /// How many of them it may have.
    pub(crate) most: u32,
    /// Whether it shares them with no other group.
    pub(crate) exclusive: bool,
    /// 15 is the highest.
    pub(crate) priority: u32,
}

impl Endpoints {
    /// How many cores it may have in all.
    pub(crate) fn count(&self) -> u32 {
        self.cores.count_ones().min(self.most)
    }
}

/// The cores of each slot, the highest priority first: those that nobody has before those that are shared.
// FACT: how the firmware shares cores among groups is not published, beyond limits, exclusiveness and that priorities
// order groups (hardware/csf-firmware.md 9). Settled by STATUS_EP_CURRENT of competing groups on any board.
pub(super) fn share(wanted: &[Endpoints], has_jobs: impl Fn(usize) -> bool) -> Vec<u64> {
    let mut grants = alloc::vec![0; wanted.len()];
    let mut order: Vec<usize> = (0..wanted.len()).filter(|&slot| has_jobs(slot)).collect();
    order.sort_by_key(|&slot| core::cmp::Reverse(wanted[slot].priority));
    let (mut shared, mut exclusive) = (0, 0);
    for slot in order {
        let endpoints = wanted[slot];
        let free = endpoints.cores & !(shared | exclusive);
        let mut granted = lowest(free, endpoints.most);
        if endpoints.exclusive {
            exclusive |= granted;
        } else {
            let left = endpoints.most - granted.count_ones();
            granted |= lowest(endpoints.cores & shared & !exclusive, left);
            shared |= granted;
        }
        grants[slot] = granted;
    }
    grants
}

/// The lowest `count` bits of a mask that are set.
fn lowest(mask: u64, count: u32) -> u64 {
    let (mut rest, mut taken) = (mask, 0);
    for _ in 0..count.min(64) {
        let bit = rest & rest.wrapping_neg();
        taken |= bit;
        rest &= !bit;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(cores: u64, most: u32, priority: u32) -> Endpoints {
        Endpoints {
            cores,
            most,
            exclusive: false,
            priority,
        }
    }

    #[test]
    fn a_group_has_no_more_cores_than_it_asked_for() {
        let grants = share(&[group(0x50005, 2, 3)], |_| true);
        assert_eq!(grants, [0x5]);
        let grants = share(&[group(0x50005, 2, 3)], |_| false);
        assert_eq!(grants, [0], "a group without jobs needs none");
    }

    #[test]
    fn free_cores_come_before_shared_ones() {
        let low = group(0xF, 2, 1);
        let high = group(0xF, 3, 9);
        assert_eq!(share(&[low, high], |_| true), [0x9, 0x7]);
    }

    #[test]
    fn exclusive_cores_are_shared_with_nobody() {
        let alone = |most, priority| Endpoints {
            exclusive: true,
            ..group(0xF, most, priority)
        };
        assert_eq!(
            share(&[alone(3, 9), group(0xF, 4, 1)], |_| true),
            [0x7, 0x8]
        );
        assert_eq!(share(&[alone(4, 9), group(0xF, 4, 1)], |_| true), [0xF, 0]);
        // It comes too late for cores that others have.
        assert_eq!(
            share(&[alone(4, 1), group(0xF, 3, 9)], |_| true),
            [0x8, 0x7]
        );
    }
}
