//! Words of memory: one plain load or store each.
//!
//! A compiler may fold the step of a loop into the load, or make a pair of two: then whoever traps the access (a hypervisor,
//! the monitor of `qemu-tests`) can't tell from the syndrome what was accessed. So the instruction is written out.

#[cfg(not(target_arch = "aarch64"))]
use {core::ptr::NonNull, volatile::VolatilePtr};

/// A pointer to memory that is there.
///
/// # Safety
/// It is not null.
#[cfg(not(target_arch = "aarch64"))]
unsafe fn pointer<T>(at: *mut T) -> NonNull<T> {
    // SAFETY: the caller's promise.
    unsafe { NonNull::new_unchecked(at) }
}

macro_rules! words {
    ($load:ident $store:ident $word:ty, $load_asm:literal, $store_asm:literal;) => {
        /// Reads a word.
        ///
        /// # Safety
        /// The pointer is aligned, to memory that is there.
        pub(crate) unsafe fn $load(at: *const $word) -> $word {
            #[cfg(target_arch = "aarch64")]
            {
                let value: $word;
                // SAFETY: the caller's promise.
                unsafe {
                    core::arch::asm!($load_asm, value = out(reg) value, at = in(reg) at, options(nostack, preserves_flags));
                }
                value
            }
            #[cfg(not(target_arch = "aarch64"))]
            // SAFETY: the caller's promise.
            unsafe { VolatilePtr::new(pointer(at.cast_mut())).read() }
        }

        /// Writes a word.
        ///
        /// # Safety
        /// The pointer is aligned, to memory that is there and that no reference refers to.
        pub(crate) unsafe fn $store(at: *mut $word, value: $word) {
            #[cfg(target_arch = "aarch64")]
            // SAFETY: the caller's promise.
            unsafe {
                core::arch::asm!($store_asm, value = in(reg) value, at = in(reg) at, options(nostack, preserves_flags));
            }
            #[cfg(not(target_arch = "aarch64"))]
            // SAFETY: the caller's promise.
            unsafe { VolatilePtr::new(pointer(at)).write(value) }
        }
    };
}

words! { load32 store32 u32, "ldr {value:w}, [{at}]", "str {value:w}, [{at}]"; }
words! { load64 store64 u64, "ldr {value:x}, [{at}]", "str {value:x}, [{at}]"; }

macro_rules! several {
    ($load:ident $store:ident $count:literal, $what:literal, $($word:ident $load_asm:literal $store_asm:literal),*;) => {
        #[doc = concat!("Reads ", $what, " double words.")]
        ///
        /// # Safety
        /// The pointer is aligned, to memory for all of them that is there.
        #[inline(always)]
        pub(crate) unsafe fn $load(at: *const u64) -> [u64; $count] {
            #[cfg(target_arch = "aarch64")]
            {
                $(let $word: u64;)*
                // SAFETY: the caller's promise.
                unsafe {
                    core::arch::asm!(
                        $($load_asm,)*
                        $($word = out(reg) $word,)*
                        at = in(reg) at,
                        options(nostack, preserves_flags),
                    );
                }
                [$($word),*]
            }
            #[cfg(not(target_arch = "aarch64"))]
            // SAFETY: the caller's promise.
            core::array::from_fn(|place| unsafe { load64(at.wrapping_add(place)) })
        }

        #[doc = concat!("Writes ", $what, " double words.")]
        ///
        /// # Safety
        /// The pointer is aligned, to memory for all of them that is there and that no reference refers to.
        #[inline(always)]
        pub(crate) unsafe fn $store(at: *mut u64, [$($word),*]: &[u64; $count]) {
            #[cfg(target_arch = "aarch64")]
            // SAFETY: the caller's promise.
            unsafe {
                core::arch::asm!(
                    $($store_asm,)*
                    $($word = in(reg) *$word,)*
                    at = in(reg) at,
                    options(nostack, preserves_flags),
                );
            }
            #[cfg(not(target_arch = "aarch64"))]
            for (place, word) in [$($word),*].into_iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { store64(at.wrapping_add(place), *word) };
            }
        }
    };
}

several! {
    load_two store_two 2, "two",
    a "ldr {a:x}, [{at}]" "str {a:x}, [{at}]",
    b "ldr {b:x}, [{at}, #8]" "str {b:x}, [{at}, #8]";
}
several! {
    load_four store_four 4, "four",
    a "ldr {a:x}, [{at}]" "str {a:x}, [{at}]",
    b "ldr {b:x}, [{at}, #8]" "str {b:x}, [{at}, #8]",
    c "ldr {c:x}, [{at}, #16]" "str {c:x}, [{at}, #16]",
    d "ldr {d:x}, [{at}, #24]" "str {d:x}, [{at}, #24]";
}
