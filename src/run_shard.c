/* Shards: locks, buckets, and their repair. */
#include "run_shard.h"
#include "map.h"
#include "run_bytes.h"

enum { INK_RUN_UNSAID_MAX = 32768 /* bytes that are added to the sum of what is out at once */ };

struct ink_run_class ink_run_classes[INK_CLASS_COUNT];

void ink_run_shard_publish_out(struct ink_run_shard *shard)
{
    ink_run_add_out(shard->out_unsaid);
    shard->out_unsaid = 0;
}

void ink_run_shard_count_out(struct ink_run_shard *shard, ptrdiff_t bytes)
{
    shard->out_unsaid += bytes;
    if (shard->out_unsaid > INK_RUN_UNSAID_MAX || shard->out_unsaid < -INK_RUN_UNSAID_MAX)
        ink_run_shard_publish_out(shard);
}

/* Eighths of its items that are free, by which runs are sorted. */
static unsigned ink_run_bucket(const struct ink_run *run)
{
    unsigned items = ink_load_relaxed(&run->items), free = run->free;

    return free == 0       ? INK_BUCKET_NONE
           : free == items ? INK_BUCKETS - 1u
                           : free * INK_BUCKETS / items;
}

/* The least number of free items that makes up bucket + 1 eighths. */
static uint16_t ink_run_next_step(const struct ink_run *run, unsigned bucket)
{
    unsigned items = ink_load_relaxed(&run->items);

    return (uint16_t)(bucket == INK_BUCKET_NONE
                          ? 1
                          : ((bucket + 1u) * items + INK_BUCKETS - 1) / INK_BUCKETS);
}

void ink_run_rebucket(struct ink_run_shard *shard, struct ink_run *run)
{
    unsigned bucket = ink_run_bucket(run);

    ink_buckets_move(&shard->buckets, &run->node, run->bucket, bucket);
    run->bucket = (uint8_t)bucket;
    run->next_step = ink_run_next_step(run, bucket);
}

unsigned ink_run_count_free(const struct ink_run *run)
{
    _Atomic uint64_t *words = ink_load_relaxed(&run->words);
    unsigned free = 0;

    for (unsigned w = 0; w < ink_run_words(run); w++)
        free += (unsigned)__builtin_popcountll(ink_load_relaxed(&words[w]));
    return free;
}

/* Counts and buckets of a shard, made anew from the bitmaps. */
static void ink_run_repair(unsigned class, unsigned shard_number)
{
    struct ink_run_shard *shard = &ink_run_classes[class].shard[shard_number];

    shard->buckets = (struct ink_buckets){.used = 0};
    for (struct ink_chunk *chunk = ink_chunk_first(); chunk != NULL; chunk = chunk->next)
        for (unsigned i = 0; i < INK_CHUNK_UNITS; i++) {
            struct ink_run *run = &chunk->run[i];

            if (ink_run_state(run) != INK_RUN_CLASS || ink_load_relaxed(&run->class) != class ||
                ink_load_relaxed(&run->shard) != shard_number)
                continue;
            run->free = (uint16_t)ink_run_count_free(run);
            run->bucket = INK_BUCKET_NONE;
            ink_run_rebucket(shard, run);
            ink_window_set_class(run->base, ink_load_relaxed(&run->units), class);
        }
}

static bool ink_run_locked(unsigned class, unsigned shard, enum ink_lock_answer answer)
{
    if (ink_unlikely(answer == INK_LOCK_STALE))
        ink_run_repair(class, shard);
    return answer != INK_LOCK_BUSY;
}

bool ink_run_shard_lock(unsigned class, unsigned number, struct ink_locker me)
{
    struct ink_lock *lock = &ink_run_shard_at(class, number)->lock;

    return ink_run_locked(class, number, ink_lock_take(lock, me));
}

bool ink_run_shard_try(unsigned class, unsigned number, struct ink_locker me)
{
    struct ink_lock *lock = &ink_run_shard_at(class, number)->lock;

    return ink_run_locked(class, number, ink_lock_try(lock, me));
}

int ink_run_shard_lock_any(unsigned class, struct ink_locker me)
{
    struct ink_run_class *all = &ink_run_classes[class];
    unsigned current = ink_load_relaxed(&all->current);

    if (ink_run_locked(class, current, ink_lock_take(&all->shard[current].lock, me)))
        return (int)current;
    for (unsigned i = 1; i < INK_RUN_SHARDS; i++) {
        unsigned next = (current + i) % INK_RUN_SHARDS;

        if (ink_run_locked(class, next, ink_lock_try(&all->shard[next].lock, me))) {
            /* Held by what lies beneath us it is as good as ever for the others. */
            if (!ink_lock_is_beneath(&all->shard[current].lock, me))
                ink_store_relaxed(&all->current, (uint8_t)next);
            return (int)next;
        }
    }
    return -1;
}
