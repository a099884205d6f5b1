/* A C++ plugin for a C program: the only object of the process that needs the C++ run time,
 * which is therefore in nobody's reach but its own. Loaded by api_plugin_host.c. */
#include "cxx_operators.h"

extern "C" __attribute__((visibility("default"))) unsigned long plugin_run(void)
{
    run_operator_facts();
    return check_count;
}
