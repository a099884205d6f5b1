/* Runs one program and says what it used: measure [-l LIBRARY] FD -- PROGRAM [ARGUMENT]...
 *
 * Writes "name value" lines to the file descriptor FD: user_ns and sys_ns of the program and all of
 * its children that it waited for, wall_ns, rss_bytes (the largest of these processes), faults
 * (without I/O), status (as in $?).  LIBRARY is preloaded into the program, not into this process.
 *
 * A process of its own, and a small one, because the kernel counts towards a program's peak the
 * memory of the process that forked it, up to exec: measured from Python, no program would take
 * less than Python does.  SIGTERM and SIGINT are handed on, so that a server can be ended and still
 * be accounted for. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t child;

static void hand_on(int sig)
{
    if (child > 0)
        kill((pid_t)child, sig);
}

static long long now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long timeval_ns(struct timeval t)
{
    return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL;
}

static int usage(void)
{
    fputs("usage: measure [-l LIBRARY] FD -- PROGRAM [ARGUMENT]...\n", stderr);
    return 2;
}

static void become(const char *library, char **argv)
{
    if (library != NULL && *library != '\0')
        setenv("LD_PRELOAD", library, 1);
    execvp(argv[0], argv);
    fprintf(stderr, "measure: %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

int main(int argc, char **argv)
{
    const char *library = NULL;
    struct sigaction forward = {.sa_handler = hand_on};
    struct rusage used;
    long long start;
    int option, status, fd;
    sigset_t held, before;

    while ((option = getopt(argc, argv, "+l:")) != -1) {
        if (option != 'l')
            return usage();
        library = optarg;
    }
    if (argc - optind < 3 || strcmp(argv[optind + 1], "--") != 0)
        return usage();
    fd = atoi(argv[optind]);

    /* Held until the child's number is known: a signal that came before would be lost. */
    sigemptyset(&held);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGINT);
    sigprocmask(SIG_BLOCK, &held, &before);
    start = now_ns();
    child = fork();
    if (child == 0) {
        close(fd);
        sigprocmask(SIG_SETMASK, &before, NULL);
        become(library, argv + optind + 2);
    }
    if (child < 0) {
        perror("measure: fork");
        return 1;
    }
    sigaction(SIGTERM, &forward, NULL);
    sigaction(SIGINT, &forward, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    while (wait4((pid_t)child, &status, 0, &used) < 0 && errno == EINTR)
        ;
    dprintf(fd, "wall_ns %lld\nuser_ns %lld\nsys_ns %lld\nrss_bytes %lld\nfaults %ld\nstatus %d\n",
            now_ns() - start, timeval_ns(used.ru_utime), timeval_ns(used.ru_stime),
            used.ru_maxrss * 1024LL, used.ru_minflt,
            WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    return 0;
}
