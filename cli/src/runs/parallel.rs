//! Work on many things at once, with results in the order of the things.
//!
//! Guarantees: what is printed does not depend on which thread was faster; the first error of the receiver stops the rest.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Stack of a worker: what the main thread has on most systems.
const STACK_BYTES: usize = 8 << 20;

/// Threads that this machine runs at once.
pub(crate) fn available() -> NonZero<usize> {
    std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

/// Applies `work` to every item on at most `jobs` threads, and gives `receive` each item with its result, in order.
///
/// # Errors
/// The first error of `receive`; items that nobody has begun by then stay undone.
pub(crate) fn in_order<T: Sync, R: Send, E>(
    items: &[T],
    jobs: NonZero<usize>,
    work: impl Fn(&T) -> R + Sync,
    mut receive: impl FnMut(&T, R) -> Result<(), E>,
) -> Result<(), E> {
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let take = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let item = items.get(index)?;
        (!stopped.load(Ordering::Relaxed)).then_some((index, item))
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 1..jobs.get().min(items.len()) {
            let (sender, take, work) = (sender.clone(), &take, &work);
            let worker = move || {
                while let Some((index, item)) = take() {
                    // With nobody to receive it, a result is of no use.
                    if sender.send((index, work(item))).is_err() {
                        return;
                    }
                }
            };
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            if builder.spawn_scoped(scope, worker).is_err() {
                // No more threads on this system: those that there are do the work.
                break;
            }
        }
        let mut early = BTreeMap::new();
        let mut wanted = 0;
        let mut deliver = |early: &mut BTreeMap<usize, R>| {
            while let Some(result) = early.remove(&wanted) {
                if let Some(item) = items.get(wanted) {
                    receive(item, result)
                        .inspect_err(|_| stopped.store(true, Ordering::Relaxed))?;
                }
                wanted += 1;
            }
            Ok(())
        };
        // This thread works too, and looks after results between two items.
        while let Some((index, item)) = take() {
            early.insert(index, work(item));
            early.extend(receiver.try_iter());
            deliver(&mut early)?;
        }
        drop(sender);
        for (index, result) in receiver {
            early.insert(index, result);
            deliver(&mut early)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_number_of_threads() {
        let items: Vec<u64> = (0..100).collect();
        for jobs in [1, 3, 200] {
            let mut seen = Vec::new();
            let done: Result<(), ()> = in_order(
                &items,
                NonZero::new(jobs).unwrap(),
                |item| {
                    std::thread::sleep(std::time::Duration::from_micros(item * 7 % 13 * 20));
                    item * 2
                },
                |item, double| {
                    assert_eq!(double, item * 2);
                    seen.push(*item);
                    Ok(())
                },
            );
            assert_eq!(done, Ok(()));
            assert_eq!(seen, items);
        }
    }

    #[test]
    fn an_error_of_the_receiver_stops_the_rest() {
        let items: Vec<u32> = (0..1000).collect();
        let done = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let receiver = std::thread::current().id();
        let stopped = in_order(
            &items,
            NonZero::new(2).unwrap(),
            |item| {
                // However long the receiver sleeps on a busy machine, the others are not done with everything before it has failed.
                while *item > 10
                    && std::thread::current().id() != receiver
                    && !failed.load(Ordering::Acquire)
                {
                    std::thread::yield_now();
                }
                done.fetch_add(1, Ordering::Relaxed)
            },
            |item, _| match *item == 3 {
                true => {
                    failed.store(true, Ordering::Release);
                    Err("full")
                }
                false => Ok(()),
            },
        );
        assert_eq!(stopped, Err("full"));
        assert!(done.into_inner() < items.len());
    }
}
