//! The shape of a task: how many workgroups are handed to a core in one piece. It changes scheduling, never results.
//!
//! Facts: hardware/command-stream.md section 6.12 (the 24.1 rule) and RUN_COMPUTE in section 3.6.

use eitri_cs::enums::TaskAxis;

/// Most workgroups of a task along its axis.
const MOST: u64 = 16383;

/// All workgroups along the axes below `axis`, `increment` of them along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskShape {
    pub(super) axis: TaskAxis,
    pub(super) increment: u16,
}

/// The shape for a grid of workgroups of `threads` each, on cores that hold `most` threads.
pub(super) fn task_shape(threads: u32, grid: [u32; 3], most: u32) -> TaskShape {
    let most = u64::from(most);
    let mut inside = u64::from(threads.max(1));
    for (axis, count) in [TaskAxis::X, TaskAxis::Y].into_iter().zip(grid) {
        let all = inside.saturating_mul(u64::from(count.max(1)));
        if all >= most {
            let fit = most.checked_div(inside).unwrap_or(1);
            return shape(axis, fit);
        }
        inside = all;
    }
    let [_, _, count] = grid;
    let all = inside.saturating_mul(u64::from(count));
    let fit = most.checked_div(inside).unwrap_or(1);
    shape(
        TaskAxis::Z,
        if all >= most { fit } else { u64::from(count) },
    )
}

/// The shape for a grid that only the GPU will know: along x, as many workgroups as a core holds. (The instruction that leaves the
/// shape to the hardware hangs at times: hardware/command-stream.md 3.6, RUN_COMPUTE_INDIRECT.)
pub(super) fn task_of_unknown_grid(threads: u32, most: u32) -> TaskShape {
    let fit = u64::from(most).checked_div(threads.max(1).into());
    shape(TaskAxis::X, fit.unwrap_or(1))
}

fn shape(axis: TaskAxis, increment: u64) -> TaskShape {
    let increment = u16::try_from(increment.clamp(1, MOST)).unwrap_or(1);
    TaskShape { axis, increment }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(threads: u32, grid: [u32; 3], axis: TaskAxis, increment: u16) {
        assert_eq!(
            task_shape(threads, grid, 2048),
            TaskShape { axis, increment }
        );
    }

    #[test]
    fn tasks_fill_a_core() {
        // The worked dispatch of hardware/command-stream.md section 7.1.
        check(64, [16, 4, 1], TaskAxis::Y, 2);
        check(64, [1000, 1, 1], TaskAxis::X, 32);
        check(1, [1, 1, 1], TaskAxis::Z, 1);
        check(64, [2, 2, 5], TaskAxis::Z, 5);
        check(64, [2, 2, 50], TaskAxis::Z, 8);
        check(1024, [7, 7, 7], TaskAxis::X, 2);
        check(1, [u32::MAX, u32::MAX, u32::MAX], TaskAxis::X, 2048);
        let unknown = task_of_unknown_grid(64, 2048);
        assert_eq!((unknown.axis, unknown.increment), (TaskAxis::X, 32));
        assert_eq!(task_of_unknown_grid(1024, 0).increment, 1);
        assert_eq!(task_shape(1, [1 << 20, 1, 1], 1 << 20).increment, 16383);
        assert_eq!(
            task_shape(1024, [4, 1, 1], 0).increment,
            1,
            "nonsense from the GPU"
        );
    }
}
