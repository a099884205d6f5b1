/* What the signal tests share: signals for one thread, and whether it was the allocator that one
 * has interrupted. */
#ifndef INK_TESTS_INTERRUPT_H
#define INK_TESTS_INTERRUPT_H

#include "check.h"

#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

static uintptr_t library_low,
    library_high; /* the executable segments of the object that holds malloc */

static int find_text(struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t const wanted = (uintptr_t)arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        ElfW(Phdr) const *const ph = &info->dlpi_phdr[i];
        uintptr_t const low = info->dlpi_addr + ph->p_vaddr;

        if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X) != 0 && wanted >= low &&
            wanted < low + ph->p_memsz) {
            library_low = low;
            library_high = low + ph->p_memsz;
            return 1;
        }
    }
    return 0;
}

static inline void interrupt_init(void)
{
    /* Through dlsym: the address in a program may be that of a jump of its own. */
    check(dl_iterate_phdr(find_text, dlsym(RTLD_DEFAULT, "malloc")) == 1);
}

static inline int interrupted_allocator(void *context)
{
    ucontext_t const *const u = context;

#if defined(__x86_64__)
    uintptr_t const pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    uintptr_t const pc = (uintptr_t)u->uc_mcontext.pc;
#else
    uintptr_t const pc = 0;
    (void)u;
#endif
    return pc >= library_low && pc < library_high;
}

/* A timer whose signals reach the calling thread only. */
static inline timer_t timer_start(int signal_number, long period_ns)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal_number};
    struct itimerspec const every = {{0, period_ns}, {0, period_ns}};
    timer_t timer;

#ifdef sigev_notify_thread_id
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
#else
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
#endif
    check_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    check_eq(timer_settime(timer, 0, &every, NULL), 0);
    return timer;
}

#endif
