// C++ maps of strings: work_cxxmap [STEPS].
//
// What a C++ program does to malloc without naming it: nodes of std::unordered_map and std::map,
// strings of 5 to 200 characters of which the short ones need no block, tables that grow.  The mix
// is that of the key-value operations of Cooper et al., "Benchmarking cloud serving systems with
// YCSB" (2010): STEPS times a random key of 20 000 is inserted or overwritten (40 %), erased (20 %)
// or looked up (40 %) in the hashed map, and every fourth time in the ordered one too.
//
// operations counts the calls of the maps: to count malloc's, operators of our own would have to
// hide the allocator's.  Hashing and comparing strings is more than half of the time.
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "work.h"

namespace
{

constexpr size_t steps_default = 180000, keys = 20000, min_chars = 5, max_chars = 200;

size_t draw_length(struct bench_rng *rng)
{
    return min_chars + bench_rng_below(rng, max_chars - min_chars + 1);
}

// The same number gives the same key, whose length and first characters depend on it.
std::string key_of(size_t number)
{
    struct bench_rng rng = bench_rng_seeded(number);
    std::string key = std::to_string(number);

    key.resize(std::max(key.size(), draw_length(&rng)), 'k');
    return key;
}

template <typename Map> size_t step(Map *map, struct bench_rng *rng)
{
    std::string key = key_of(bench_rng_below(rng, keys));
    size_t choice = bench_rng_below(rng, 5);

    if (choice < 2) {
        (*map)[std::move(key)] = std::string(draw_length(rng), 'v');
        return 0;
    }
    if (choice == 2)
        return map->erase(key);
    auto found = map->find(key);
    return found == map->end() ? 0 : found->second.size();
}

} // namespace

int main(int argc, char **argv)
{
    struct work_arguments a = work_begin(argc, argv, "work_cxxmap [STEPS]");
    size_t steps = work_number(&a, steps_default, 1000000000);
    struct bench_rng rng = bench_rng_seeded(1);
    size_t done = 0, seen = 0;

    work_end(&a);
    {
        std::unordered_map<std::string, std::string> hashed;
        std::map<std::string, std::string> ordered;

        for (size_t i = 0; i < steps; i++) {
            seen += step(&hashed, &rng);
            done++;
            if (i % 4 == 0) {
                seen += step(&ordered, &rng);
                done++;
            }
        }
    }
    bench_result("characters_seen", static_cast<double>(seen), "count");
    bench_result("operations", static_cast<double>(done), "count");
    return 0;
}
