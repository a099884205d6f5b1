/* A C program that loads a C++ plugin with RTLD_LOCAL: in it, new fails, throws, and is caught.
 * The C++ run time is not in the program's scope, so the allocator has to find it where the
 * plugin does. */
#include "check.h"

static void plugin_loaded_locally_throws_and_catches_bad_alloc(const char *path)
{
    check(dlsym(RTLD_DEFAULT, "__cxa_throw") == NULL);
    void *const plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL)
        check_fail("%s", dlerror());
    check(dlsym(RTLD_DEFAULT, "__cxa_throw") == NULL);
    unsigned long (*const run)(void) = (unsigned long (*)(void))dlsym(plugin, "plugin_run");
    check(run != NULL);
    check(run() > 100);
    check_eq(dlclose(plugin), 0);
}

int main(int argc, char **argv)
{
    char path[4096];
    const char *build = getenv("INK_BUILDDIR");

    check_start();
    snprintf(path, sizeof path, "%s/tests/.libs/cxx_plugin.so", build != NULL ? build : ".");
    plugin_loaded_locally_throws_and_catches_bad_alloc(argc > 1 ? argv[1] : path);
    return check_end();
}
