/* Fork, of every kind, while other threads are inside malloc: the children allocate, free what
 * they inherited, resize, start threads, fork again, and end with a status that is looked at. A
 * child that hangs is ended by its alarm. */
#include "check.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

enum {
    PARTS = 6, /* facts that take a share of the program's time */
    LOADERS = 3,
    KEPT = 300,
    CHILD_SECONDS = 60,
    CHILD_STATUS = 42
};

extern char **environ;

/* ---- load: threads that allocate and free all the time --------------------------------------- */

struct kept {
    void *p;
    size_t n;
    uint32_t seed;
};

static int load_stop;
static struct kept inherited[KEPT]; /* of the main thread; a child checks and frees them too */

static void kept_renew(struct kept *k, uint32_t *rng)
{
    if (k->p != NULL)
        check_pattern(k->p, k->n, k->seed);
    free(k->p);
    k->n = random_size(rng) % (4 << 20);
    k->seed = rng_next(rng);
    k->p = malloc(k->n);
    check_at(k->p != NULL, k->n);
    pattern_fill(k->p, k->n < 70000 ? k->n : 70000, k->seed);
    k->n = k->n < 70000 ? k->n : 70000; /* what is marked */
}

static void kept_drop(struct kept *k)
{
    if (k->p != NULL)
        check_pattern(k->p, k->n, k->seed);
    free(k->p);
    k->p = NULL;
}

static void *load(void *arg)
{
    struct kept own[100] = {{0}};
    uint32_t rng = (uint32_t)(uintptr_t)arg;

    while (!__atomic_load_n(&load_stop, __ATOMIC_RELAXED))
        kept_renew(&own[rng_next(&rng) % 100], &rng);
    for (int i = 0; i < 100; ++i)
        kept_drop(&own[i]);
    return NULL;
}

static void load_start(pthread_t *id, void *(*work)(void *))
{
    __atomic_store_n(&load_stop, 0, __ATOMIC_RELAXED);
    for (uintptr_t i = 0; i < LOADERS; ++i)
        check_eq(pthread_create(&id[i], NULL, work, (void *)(i + 31)), 0);
}

static void load_end(pthread_t *id)
{
    __atomic_store_n(&load_stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < LOADERS; ++i)
        check_eq(pthread_join(id[i], NULL), 0);
}

/* ---- what children do ------------------------------------------------------------------------ */

/* Safe after any kind of fork: nothing but malloc, free and realloc. */
static void child_allocates(uint32_t seed)
{
    struct kept own[40] = {{0}};
    uint32_t rng = seed | 1;

    for (int i = 0; i < 600; ++i)
        kept_renew(&own[rng_next(&rng) % 40], &rng);
    for (int i = 0; i < KEPT; ++i)
        kept_drop(&inherited[i]);
    for (int i = 0; i < 40; ++i) {
        size_t const n = own[i].n;

        if (own[i].p == NULL)
            continue;
        own[i].p = realloc(own[i].p, n * 2 + 1);
        check_at(own[i].p != NULL, n);
        check_pattern(own[i].p, n, own[i].seed);
        free(own[i].p);
    }
}

static void *child_thread(void *arg)
{
    uint32_t const seed = (uint32_t)(uintptr_t)arg;
    struct kept own[20] = {{0}};
    uint32_t rng = seed | 1;

    for (int i = 0; i < 300; ++i)
        kept_renew(&own[rng_next(&rng) % 20], &rng);
    for (int i = 0; i < 20; ++i)
        kept_drop(&own[i]);
    return malloc(100);
}

static void child_starts_threads(uint32_t seed)
{
    pthread_t id[3];

    for (uint32_t i = 0; i < 3; ++i)
        check_eq(pthread_create(&id[i], NULL, child_thread, (void *)(uintptr_t)(seed + i)), 0);
    for (int i = 0; i < 3; ++i) {
        void *left = NULL;
        check_eq(pthread_join(id[i], &left), 0);
        check(left != NULL);
        free(left);
    }
}

/* Children do not inherit the alarm. */
static void child_begins(void)
{
    alarm(CHILD_SECONDS);
}

static void wait_for(pid_t pid, const char *kind)
{
    int status = 0;

    check(pid > 0);
    __atomic_fetch_add(&check_forks, 1, __ATOMIC_RELAXED);
    check_eq(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != CHILD_STATUS)
        check_fail("%s: child ended with status 0x%x", kind, (unsigned)status);
}

static void renew_inherited(uint32_t *rng)
{
    for (int i = 0; i < 30; ++i)
        kept_renew(&inherited[rng_next(rng) % KEPT], rng);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void fork_under_load_gives_children_that_do_everything(void)
{
    double const end = box_end(PARTS / 2);
    uint32_t rng = 41;
    pthread_t id[LOADERS];

    load_start(id, load);
    while (now_seconds() < end) {
        renew_inherited(&rng);
        pid_t const pid = fork();
        if (pid == 0) {
            child_begins();
            child_allocates(rng);
            child_starts_threads(rng);
            pid_t const inner = fork();
            if (inner == 0) {
                child_begins();
                child_starts_threads(rng + 9);
                child_allocates(rng + 7);
                malloc_trim(0);
                child_allocates(rng + 8);
                _exit(CHILD_STATUS);
            }
            child_allocates(rng + 3);
            wait_for(inner, "fork in a child");
            _exit(CHILD_STATUS);
        }
        wait_for(pid, "fork");
    }
    load_end(id);
}

/* A child whose first act is to start threads: none of them is the one that forked. */
static void fork_whose_child_only_starts_threads_works(void)
{
    double const end = box_end(PARTS);
    uint32_t rng = 42;
    pthread_t id[LOADERS];

    load_start(id, load);
    while (now_seconds() < end) {
        renew_inherited(&rng);
        pid_t const pid = fork();
        if (pid == 0) {
            child_begins();
            child_starts_threads(rng);
            _exit(CHILD_STATUS);
        }
        wait_for(pid, "fork, then threads");
    }
    load_end(id);
}

static pid_t raw_fork(void)
{
#ifdef SYS_fork
    return (pid_t)syscall(SYS_fork);
#else
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

/* libc's handlers do not run: the allocator has to notice by itself. */
static void fork_that_runs_no_handlers_gives_children_that_allocate(void)
{
    pid_t (*const bare_fork)(void) = (pid_t(*)(void))dlsym(RTLD_DEFAULT, "_Fork");
    double const end = box_end(PARTS);
    uint32_t rng = 43;
    pthread_t id[LOADERS];

    load_start(id, load);
    for (int i = 0; i < 2 || now_seconds() < end; ++i) {
        bool const raw = i % 2 == 0 || bare_fork == NULL;

        renew_inherited(&rng);
        pid_t const pid = raw ? raw_fork() : bare_fork();
        if (pid == 0) {
            child_begins();
            child_allocates(rng);
            pid_t const inner = raw_fork();
            if (inner == 0) {
                child_begins();
                child_allocates(rng + 5);
                _exit(CHILD_STATUS);
            }
            wait_for(inner, "raw fork in a raw child");
            _exit(CHILD_STATUS);
        }
        wait_for(pid, raw ? "raw fork" : "_Fork");
    }
    load_end(id);
}

static void vfork_whose_child_allocates_leaves_the_parent_whole(void)
{
    static void *volatile from_child;
    uint32_t rng = 44;

    for (int i = 0; i < 200; ++i) {
        renew_inherited(&rng);
        pid_t const pid = vfork();
        if (pid == 0) {
            free(malloc(1000 + (size_t)rng % 100000));
            from_child = malloc(77);
            _exit(from_child != NULL ? CHILD_STATUS : 1);
        }
        wait_for(pid, "vfork");
        free(from_child);
    }
}

static void posix_spawn_under_load_works(void)
{
    double const end = box_end(PARTS);
    uint32_t rng = 45;
    pthread_t id[LOADERS];

    load_start(id, load);
    while (now_seconds() < end) {
        char sh[] = "/bin/sh", c[] = "-c", script[] = "exit 42";
        char *argv[] = {sh, c, script, NULL};
        pid_t pid = 0;

        renew_inherited(&rng);
        check_eq(posix_spawn(&pid, sh, NULL, NULL, argv, environ), 0);
        wait_for(pid, "posix_spawn");
    }
    load_end(id);
}

/* Takes stdio's list of files, then every file. */
static void *flush_everything(void *arg)
{
    uint32_t rng = (uint32_t)(uintptr_t)arg;

    while (!__atomic_load_n(&load_stop, __ATOMIC_RELAXED)) {
        fflush(NULL);
        free(malloc(random_size(&rng)));
    }
    return NULL;
}

/* Holds a file while it allocates. */
static void *read_lines(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&load_stop, __ATOMIC_RELAXED)) {
        FILE *f = fopen("/proc/self/maps", "r");
        char *line = NULL;
        size_t room = 0;

        check(f != NULL);
        while (getline(&line, &room, f) > 0) {
            free(line);
            line = NULL;
            room = 0;
        }
        free(line);
        fclose(f);
    }
    return NULL;
}

/* The lock order that once deadlocked glibc itself (its bug 19431): stdio against a fork handler
 * of the allocator. */
static void fork_beside_fflush_and_getline_does_not_deadlock(void)
{
    double const end = box_end(PARTS);
    pthread_t flusher[2], reader[2];

    __atomic_store_n(&load_stop, 0, __ATOMIC_RELAXED);
    for (uintptr_t i = 0; i < 2; ++i) {
        check_eq(pthread_create(&flusher[i], NULL, flush_everything, (void *)(i + 51)), 0);
        check_eq(pthread_create(&reader[i], NULL, read_lines, NULL), 0);
    }
    while (now_seconds() < end) {
        pid_t const pid = fork();
        if (pid == 0) {
            char *line = NULL;
            size_t room = 0;

            child_begins();
            FILE *const f = fopen("/proc/self/status", "r");
            check(f != NULL && getline(&line, &room, f) > 0);
            free(line);
            fclose(f);
            _exit(CHILD_STATUS);
        }
        wait_for(pid, "fork beside stdio");
    }
    __atomic_store_n(&load_stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; ++i) {
        check_eq(pthread_join(flusher[i], NULL), 0);
        check_eq(pthread_join(reader[i], NULL), 0);
    }
}

static volatile sig_atomic_t forks_made, in_child;

/* Odd forks end in the handler, even ones return into what was interrupted. */
static void fork_in_handler(int signal_number)
{
    (void)signal_number;
    if (in_child)
        return;
    pid_t const pid = fork();
    if (pid == 0) {
        child_begins();
        in_child = 1;
        void *const p = malloc(500);
        check(p != NULL);
        free(p);
        if (forks_made % 2 == 0)
            return;
        child_allocates((uint32_t)forks_made);
        _exit(CHILD_STATUS);
    }
    check(pid > 0);
    forks_made = forks_made + 1;
    wait_for(pid, "fork in a handler");
}

static void fork_in_a_signal_handler_that_interrupts_malloc_works(void)
{
    struct sigaction action = {.sa_handler = fork_in_handler, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, 4000}, {0, 4000}};
    struct kept own[60] = {{0}};
    double const end = box_end(PARTS);
    uint32_t rng = 46;

    if (!on_inkalloc())
        return; /* malloc in a handler: glibc deadlocks */
    for (int i = 0; i < KEPT; ++i)
        kept_drop(&inherited[i]); /* what is renewed when a fork comes is nobody's */
    sigemptyset(&action.sa_mask);
    check_eq(sigaction(SIGPROF, &action, NULL), 0);
    check_eq(setitimer(ITIMER_PROF, &timer, NULL), 0);
    while ((now_seconds() < end || forks_made < 6) && !in_child)
        for (int i = 0; i < 50 && !in_child; ++i)
            kept_renew(&own[rng_next(&rng) % 60], &rng);
    if (in_child) {
        for (int i = 0; i < 60; ++i)
            kept_drop(&own[i]);
        child_allocates(rng);
        child_starts_threads(rng);
        _exit(CHILD_STATUS);
    }
    timer = (struct itimerval){{0, 0}, {0, 0}};
    check_eq(setitimer(ITIMER_PROF, &timer, NULL), 0);
    for (int i = 0; i < 60; ++i)
        kept_drop(&own[i]);
}

int main(void)
{
    check_start();
    fork_under_load_gives_children_that_do_everything();
    fork_whose_child_only_starts_threads_works();
    fork_that_runs_no_handlers_gives_children_that_allocate();
    vfork_whose_child_allocates_leaves_the_parent_whole();
    posix_spawn_under_load_works();
    fork_beside_fflush_and_getline_does_not_deadlock();
    fork_in_a_signal_handler_that_interrupts_malloc_works();
    for (int i = 0; i < KEPT; ++i)
        kept_drop(&inherited[i]);
    return check_end();
}
