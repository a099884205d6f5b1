/*
 * What does it cost to start a program with a library preloaded? Used by limit_startup.sh:
 *
 *     startup_probe RUNS LIBRARY PROGRAM [ARGUMENT...]
 *
 * traces PROGRAM from its exec to its exit and prints three medians over RUNS runs: system calls,
 * page faults without i/o, and KiB of private dirty memory. The last two are read while PROGRAM
 * is stopped in its exit, before its memory is taken down, so that any program can be measured
 * as it is.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RUNS = 101 };

struct cost {
    long calls;
    long faults;
    long dirty_kib;
};

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void start(const char *library, char **command)
{
    if (setenv("LD_PRELOAD", library, 1) || ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
        die("startup_probe: cannot trace");
    }
    execvp(command[0], command);
    die(command[0]);
}

static FILE *open_proc(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "r");
    if (!file) {
        die(path);
    }
    return file;
}

/* The field minflt is the tenth; the second, the name, has no blanks in the programs used here. */
static long read_faults(pid_t pid)
{
    long faults = -1;
    FILE *file = open_proc(pid, "stat");
    if (fscanf(file, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %ld", &faults) != 1) {
        die("stat");
    }
    fclose(file);
    return faults;
}

static long read_dirty_kib(pid_t pid)
{
    char line[256];
    long kib = -1;
    FILE *file = open_proc(pid, "smaps_rollup");
    while (kib < 0 && fgets(line, sizeof line, file)) {
        sscanf(line, "Private_Dirty: %ld kB", &kib);
    }
    fclose(file);
    if (kib < 0) {
        die("smaps_rollup");
    }
    return kib;
}

static struct cost trace(const char *library, char **command)
{
    const int system_call = SIGTRAP | 0x80;
    const int at_exit = SIGTRAP | PTRACE_EVENT_EXIT << 8;
    struct cost cost = {0, 0, 0};
    long stops = 0;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        start(library, command);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
        die("startup_probe: the program did not start");
    }
    if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
               PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL)) {
        die("ptrace");
    }
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid) {
            die("ptrace");
        }
        if (!WIFSTOPPED(status)) {
            break;
        }
        if (status >> 8 == at_exit) {
            cost.faults = read_faults(pid);
            cost.dirty_kib = read_dirty_kib(pid);
        } else if (WSTOPSIG(status) == system_call) {
            stops++;
        }
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "startup_probe: %s failed under %s\n", command[0], library);
        exit(2);
    }
    /* Two stops for each call, but one for exit_group and one for the end of exec. */
    cost.calls = (stops + 1) / 2;
    return cost;
}

static int compare(const void *a, const void *b)
{
    long x = *(const long *)a;
    long y = *(const long *)b;
    return (x > y) - (x < y);
}

static long median(long *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

int main(int argc, char **argv)
{
    long calls[MAX_RUNS];
    long faults[MAX_RUNS];
    long dirty[MAX_RUNS];
    int runs = argc > 3 ? atoi(argv[1]) : 0;

    if (runs < 1 || runs > MAX_RUNS) {
        fprintf(stderr, "usage: startup_probe RUNS LIBRARY PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    for (int i = 0; i < runs; i++) {
        struct cost cost = trace(argv[2], argv + 3);
        calls[i] = cost.calls;
        faults[i] = cost.faults;
        dirty[i] = cost.dirty_kib;
    }
    printf("%ld %ld %ld\n", median(calls, runs), median(faults, runs), median(dirty, runs));
    return 0;
}
