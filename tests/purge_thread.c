/* Takes 10 MiB, frees it, and makes no call of the allocator any more.  Says how much of it was
 * resident, how much is after at most 5 seconds, how many threads there are, and what setuid, which
 * asks all threads, answers.  With an argument, a child of fork does all that. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 160, BYTES = 65536, WAITS = 50 };

/* The number behind a name in a file of /proc; -1 if there is none.  Allocates nothing. */
static long number_in(const char *path, const char *name)
{
    static char text[1 << 14];
    int fd = open(path, O_RDONLY);
    ssize_t length = read(fd, text, sizeof text - 1);
    char *found;

    close(fd);
    text[length > 0 ? length : 0] = '\0';
    found = strstr(text, name);
    return found != NULL ? atol(found + strlen(name)) : -1;
}

static long resident_kib(void)
{
    return number_in("/proc/self/smaps_rollup", "Rss:");
}

static int work(void)
{
    static void *p[BLOCKS];
    struct timespec pause = {.tv_nsec = 100000000};
    long start = resident_kib(), full, left;

    for (int i = 0; i < BLOCKS; i++) {
        p[i] = malloc(BYTES);
        if (p[i] == NULL)
            return 1;
        memset(p[i], 1, BYTES);
    }
    full = resident_kib() - start;
    for (int i = 0; i < BLOCKS; i++)
        free(p[i]);
    left = full;
    for (int i = 0; i < WAITS && left > 1024; i++) {
        nanosleep(&pause, NULL);
        left = resident_kib() - start;
    }
    dprintf(1, "%ld %ld %ld %d\n", full, left, number_in("/proc/self/status", "Threads:"),
            setuid(getuid()));
    return 0;
}

int main(int argc, char **argv)
{
    pid_t child;
    int status;

    (void)argv;
    if (argc == 1)
        return work();
    child = fork();
    if (child == 0)
        _exit(work());
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
