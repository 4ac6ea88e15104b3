/* Frames: lets a program that moves what it draws draw the same frames on every driver, and keeps one of them of OpenGL.
 *
 * A library for LD_PRELOAD. The program's clock stands still while it draws and goes on by STEP with each frame that it shows, by
 * OpenGL or Vulkan; the clock of all libraries, drivers among them, is the true one. An OpenGL program writes frame FRAMES_LAST,
 * counted from 1, to the file FRAMES_FILE as rows of RGBA bytes, the uppermost first, and ends.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds from one frame to the next. */
#define STEP 250000000ull
/* What the program's clock begins with, in nanoseconds: not 0, which programs take for no time. */
#define BEGIN 1000000000000ull
/* Names of OpenGL's and EGL's headers. */
#define EGL_HEIGHT 0x3056
#define EGL_WIDTH 0x3057
#define GL_RGBA 0x1908
#define GL_UNSIGNED_BYTE 0x1401
#define GL_PACK_ALIGNMENT 0x0D05
#define GL_FRAMEBUFFER 0x8D40

typedef void *(*Lookup)(const char *name);

static unsigned frames;
static Lookup real_get_proc_address;

static void fail(const char *what)
{
	fprintf(stderr, "frames: %s\n", what);
	_exit(2);
}

/* Finds the function that one of ours stands before. */
static void *real(const char *name)
{
	static void *(*real_dlsym)(void *, const char *);
	/* Every glibc for arm64 has this version of it. */
	if (!real_dlsym)
		real_dlsym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
	void *found = real_dlsym(RTLD_NEXT, name);
	if (!found)
		fail(name);
	return found;
}

/* Finds where the program itself lies: the first object that the linker lists. */
static int first_object(struct dl_phdr_info *object, size_t size, void *range)
{
	uintptr_t *ends = range;
	for (int at = 0; at < object->dlpi_phnum; at++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[at];
		uintptr_t begin = object->dlpi_addr + part->p_vaddr;
		if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
			ends[0] = begin;
			ends[1] = begin + part->p_memsz;
		}
	}
	return 1;
}

static int of_program(const void *caller)
{
	static uintptr_t ends[2];
	if (!ends[1])
		dl_iterate_phdr(first_object, ends);
	return (uintptr_t)caller >= ends[0] && (uintptr_t)caller < ends[1];
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	static int (*real_one)(clockid_t, struct timespec *);
	if (of_program(__builtin_return_address(0))) {
		uint64_t now = BEGIN + STEP * frames;
		time->tv_sec = now / 1000000000;
		time->tv_nsec = now % 1000000000;
		return 0;
	}
	if (!real_one)
		real_one = real("clock_gettime");
	return real_one(clock, time);
}

/* Number of the frame that is kept. */
static unsigned last(void)
{
	const char *text = getenv("FRAMES_LAST");
	return text ? atoi(text) : 1;
}

/* Writes the frame that is to be shown, and ends the program. */
static void keep(void *display, void *surface)
{
	unsigned (*query)(void *, void *, int, int *) = real_get_proc_address("eglQuerySurface");
	void (*bind)(unsigned, unsigned) = real_get_proc_address("glBindFramebuffer");
	void (*store)(unsigned, int) = real_get_proc_address("glPixelStorei");
	void (*read)(int, int, int, int, unsigned, unsigned, void *) = real_get_proc_address("glReadPixels");
	unsigned (*error)(void) = real_get_proc_address("glGetError");
	int width = 0, height = 0;
	if (!query || !bind || !store || !read || !error)
		fail("functions of OpenGL are missing");
	query(display, surface, EGL_WIDTH, &width);
	query(display, surface, EGL_HEIGHT, &height);
	uint8_t *pixels = malloc((size_t)width * height * 4);
	const char *path = getenv("FRAMES_FILE");
	FILE *file = path ? fopen(path, "wb") : NULL;
	if (!pixels || !file)
		fail("FRAMES_FILE can't be written");
	bind(GL_FRAMEBUFFER, 0);
	store(GL_PACK_ALIGNMENT, 1);
	read(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	if (error())
		fail("the frame can't be read");
	for (int row = height - 1; row >= 0; row--)
		fwrite(pixels + (size_t)row * width * 4, 4, width, file);
	if (fclose(file))
		fail("FRAMES_FILE can't be written");
	printf("frames: %u of %d x %d\n", frames, width, height);
	fflush(stdout);
	_exit(0);
}

unsigned eglSwapBuffers(void *display, void *surface)
{
	static unsigned (*real_one)(void *, void *);
	frames++;
	if (frames == last())
		keep(display, surface);
	if (!real_one)
		real_one = (void *)real_get_proc_address("eglSwapBuffers");
	return real_one(display, surface);
}

void *eglGetProcAddress(const char *name)
{
	if (!strcmp(name, "eglSwapBuffers"))
		return eglSwapBuffers;
	return real_get_proc_address(name);
}

/* Programs look for EGL's functions when they run. */
void *dlsym(void *handle, const char *name)
{
	static void *(*real_one)(void *, const char *);
	if (!real_one)
		real_one = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
	void *found = real_one(handle, name);
	if (!of_program(__builtin_return_address(0)) || !found)
		return found;
	if (!strcmp(name, "eglGetProcAddress")) {
		real_get_proc_address = found;
		return eglGetProcAddress;
	}
	return strcmp(name, "eglSwapBuffers") ? found : eglSwapBuffers;
}

/* Programs write what the next frame reads while the GPU may still draw this one, so it ends first. */
int vkQueuePresentKHR(void *queue, const void *what)
{
	static int (*real_one)(void *, const void *);
	static int (*wait_idle)(void *);
	if (!real_one) {
		wait_idle = real("vkQueueWaitIdle");
		real_one = real("vkQueuePresentKHR");
	}
	if (wait_idle(queue))
		fail("the queue does not become idle");
	frames++;
	return real_one(queue, what);
}
