/* C++ programs: operators, the new_handler loop, bad_alloc, containers. Built with -static as
 * well (cxx_static.sh). */
#include "cxx_operators.h"

#include <map>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

enum { ROOM_BYTES = 64 << 20, RESERVE_BYTES = 40 << 20 };

static void *reserve;

static void handler_that_frees_the_reserve()
{
    ++handler_calls;
    check(reserve != nullptr);
    free(reserve);
    reserve = nullptr;
}

static void new_that_fails_succeeds_after_the_handler_has_freed_memory()
{
    int status = 0;
    pid_t const pid = fork();

    check(pid >= 0);
    if (pid == 0) {
        struct rlimit const r = {mapped_bytes() + ROOM_BYTES, RLIM_INFINITY};

        check_eq(setrlimit(RLIMIT_AS, &r), 0);
        reserve = malloc(RESERVE_BYTES);
        check(reserve != nullptr);
        handler_calls = 0;
        std::set_new_handler(handler_that_frees_the_reserve);
        char *const p = static_cast<char *>(::operator new(RESERVE_BYTES));
        p[0] = p[RESERVE_BYTES - 1] = 1;
        check_eq(handler_calls, 1);
        ::operator delete(p);
        _exit(0);
    }
    check_eq(waitpid(pid, &status, 0), pid);
    check_eq(status, 0);
}

struct alignas(256) wide_object {
    int value;
    explicit wide_object(int v) : value(v)
    {
    }
};

static void containers_hold_what_was_put_in()
{
    std::map<std::string, std::vector<int>> m;

    for (int i = 0; i < 3000; ++i)
        for (int k = 0; k < 20; ++k)
            m["a key that does not fit in the string itself " + std::to_string(i)].push_back(i + k);
    for (auto const &[key, v] : m) {
        int const i = std::stoi(key.substr(key.rfind(' ')));
        check_eq(v.size(), 20);
        for (int k = 0; k < 20; ++k)
            check_eq(v[static_cast<size_t>(k)], i + k);
    }
    std::vector<std::unique_ptr<wide_object>> w;
    for (int i = 0; i < 500; ++i)
        w.push_back(std::make_unique<wide_object>(i));
    for (int i = 0; i < 500; ++i) {
        check_eq(w[static_cast<size_t>(i)]->value, i);
        check_eq(reinterpret_cast<uintptr_t>(w[static_cast<size_t>(i)].get()) % 256, 0);
    }
}

/* Destroyed at thread end, by libc's own list, after and before other thread-local things. */
struct of_thread {
    std::vector<std::string> v = std::vector<std::string>(100, std::string(100, 'x'));
    ~of_thread()
    {
        check_eq(v[99].size() + std::string(200, 'y').size(), 300);
    }
};
thread_local of_thread local_object;

static void thread_local_objects_are_destroyed_at_thread_end()
{
    std::vector<std::thread> t;

    for (int i = 0; i < 20; ++i)
        t.emplace_back([] { check_eq(local_object.v.size(), 100); });
    for (auto &one : t)
        one.join();
}

int main()
{
    check_start();
    run_operator_facts();
    new_that_fails_succeeds_after_the_handler_has_freed_memory();
    containers_hold_what_was_put_in();
    thread_local_objects_are_destroyed_at_thread_end();
    return check_end();
}
