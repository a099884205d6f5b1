/* The counters of the build that counts: cc.h's seams end here when the library is compiled with
 * INK_COUNTING.  An operation is a block asked for or given back; a realloc that stays where it is,
 * or moves a large block, is none.
 *
 * Each thread counts in a cell of its own, so that counting adds no shared write to those it
 * counts.  When the process ends, the sums are appended to the file that INK_COUNTS names, as one
 * line "operations N rmw N retries N". */
#include "cc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Threads beyond these share cells, and may then lose counts to each other. */
enum { CELLS = 65536 };

static struct {
    _Alignas(INK_LINE_BYTES) uint64_t calls, rmw, retries;
} cells[CELLS];

static _Atomic uint32_t cells_taken;
static __thread uint32_t own_cell; /* its number and one; 0: none yet */

static uint32_t cell(void)
{
    if (own_cell == 0)
        own_cell = 1 + atomic_fetch_add(&cells_taken, 1) % CELLS;
    return own_cell - 1;
}

void ink_count_call(void)
{
    cells[cell()].calls++;
}

void ink_count_rmw(void)
{
    cells[cell()].rmw++;
}

bool ink_count_cas(bool succeeded)
{
    cells[cell()].rmw++;
    cells[cell()].retries += !succeeded;
    return succeeded;
}

static __attribute__((destructor)) void report(void)
{
    const char *path = getenv("INK_COUNTS");
    unsigned long long calls = 0, rmw = 0, retries = 0;
    char line[128];
    int fd, length;

    if (path == NULL || (fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) < 0)
        return;
    for (size_t i = 0; i < CELLS && i < atomic_load(&cells_taken); i++) {
        calls += cells[i].calls;
        rmw += cells[i].rmw;
        retries += cells[i].retries;
    }
    length =
        snprintf(line, sizeof line, "operations %llu rmw %llu retries %llu\n", calls, rmw, retries);
    if (write(fd, line, (size_t)length) != length)
        _exit(1);
    close(fd);
}
