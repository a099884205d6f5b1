/* The one table of options, read once from INKALLOC_CONF="name:value,..." and immutable afterwards. */
#ifndef INK_OPTIONS_H
#define INK_OPTIONS_H

#include "cc.h"

struct ink_options {
    bool banner; /* print the line that names inkalloc on stderr at start */
};

/* The options in force.  Defaults until ink_options_parse has run; any thread may read. */
extern struct ink_options ink_options;

/* Parses text ("name:value,name:value"; NULL means none) into ink_options.  A wrong name or value is reported on stderr in one
 * sentence and ignored; the others count.  Call once, before a second thread exists; copies what it needs of text. */
void ink_options_parse(const char *text);

#endif
