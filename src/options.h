/* The one table of options, read once from INKALLOC_CONF="name:value,..." and immutable
 * afterwards. */
#ifndef INK_OPTIONS_H
#define INK_OPTIONS_H

#include "cc.h"

enum ink_thp {
    INK_THP_AUTO,   /* huge pages where memory is used densely */
    INK_THP_ALWAYS, /* from the first chunk on */
    INK_THP_NEVER,
};

enum ink_purging {
    INK_PURGING_NOW, /* MADV_DONTNEED: the kernel has the pages at once */
    /* MADV_FREE: when it needs them; until then they count as resident, and come back without a
     * fault */
    INK_PURGING_LAZILY,
};

struct ink_options {
    unsigned banner; /* 1: print the line that names inkalloc on stderr at start */
    unsigned thp;    /* enum ink_thp: where transparent huge pages are asked for */
    /* Bytes of free memory that may stay with the process however little is in use. */
    size_t dirty_max;
    /* Bytes of chunks and large blocks; 0: none.  Beyond the soft limit what is free goes back at
     * once; what would pass the hard one is refused. */
    size_t limit_soft;
    size_t limit_hard;
    unsigned purge;   /* enum ink_purging: how free units go back */
    unsigned hugetlb; /* 1: chunks come from the pool of huge pages as long as it has any */
    /* Seconds until free memory that nobody needs goes back; 0: by time it does not. */
    unsigned decay;
    /* 1: a thread of our own sees to that where the program makes no calls */
    unsigned purge_thread;
};

/* The options in force.  Defaults until ink_options_parse has run; any thread may read. */
extern struct ink_options ink_options;

/* Parses text ("name:value,name:value"; NULL means none) into ink_options.  A wrong name or value
 * is reported on stderr in one sentence and ignored; the others count.  Call once, before a second
 * thread exists; copies what it needs of text. */
void ink_options_parse(const char *text);

#endif
