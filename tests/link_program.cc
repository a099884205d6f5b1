// A C++ program that is linked with inkalloc (link_cxx.sh): containers in threads, every kind of
// new, and a new that fails; prints "served by <version>", and malloc_stats writes to stderr.
#include <inkalloc.h>

#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace
{

struct alignas(128) Wide {
    char data[128];
};

// The compiler may remove a new whose result it can follow.
char *keep(char *block)
{
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

int handler_calls;

void handler()
{
    if (++handler_calls == 3) {
        std::set_new_handler(nullptr);
    }
}

bool fails_well()
{
    std::size_t volatile huge = SIZE_MAX / 4;
    if (keep(new (std::nothrow) char[huge])) {
        return false;
    }
    std::set_new_handler(handler);
    try {
        std::unique_ptr<char[]> block(keep(new char[huge]));
    } catch (const std::bad_alloc &) {
        return handler_calls == 3;
    }
    return false;
}

void churn(std::size_t &sum)
{
    std::map<std::string, std::vector<std::unique_ptr<Wide>>> tree;
    for (int i = 0; i < 20000; i++) {
        tree["key " + std::to_string(i * 7919 % 499)].push_back(std::make_unique<Wide>());
        if (i % 50 == 0) {
            tree.erase(tree.begin());
        }
    }
    for (const auto &entry : tree) {
        for (const auto &wide : entry.second) {
            sum += reinterpret_cast<std::uintptr_t>(wide.get()) % 128 == 0;
        }
    }
}

} // namespace

int main()
{
    std::size_t sums[4] = {0, 0, 0, 0};
    std::vector<std::thread> threads;
    for (auto &sum : sums) {
        threads.emplace_back(churn, std::ref(sum));
    }
    for (auto &thread : threads) {
        thread.join();
    }
    if (sums[0] == 0 || sums[1] != sums[0] || sums[2] != sums[0] || sums[3] != sums[0]) {
        std::fprintf(stderr, "the threads differ\n");
        return 1;
    }
    if (!fails_well()) {
        std::fprintf(stderr,
                     "a failing new does not throw std::bad_alloc after the handler gave up\n");
        return 1;
    }
    std::printf("served by %s\n", inkalloc_version());
    malloc_stats();
    return 0;
}
