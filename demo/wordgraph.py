"""The demonstration's program: makes documents, writes and reads them as JSON, links words that stand together,
and walks the graph.  Everything it prints is the same on every run; most of its time goes through malloc when
PYTHONMALLOC=malloc is set."""
import hashlib
import json
import os
import random
import sys
from collections import Counter, deque

DOCUMENTS = 3000
WORDS_PER_DOCUMENT = 60
VOCABULARY = 4000
WALKS = 12


def vocabulary(rng):
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    words = set()
    while len(words) < VOCABULARY:
        words.add("".join(syllables[int(rng.random() * len(syllables))] for _ in range(2 + int(rng.random() * 3))))
    return sorted(words)


def documents(rng, words):
    for number in range(DOCUMENTS):
        # Squaring makes some words common and most of them rare.
        text = [words[int(rng.random() ** 2 * VOCABULARY)] for _ in range(WORDS_PER_DOCUMENT)]
        yield {"id": number, "title": " ".join(text[:4]).title(), "text": " ".join(text), "tags": sorted(set(text[:8]))}


def graph(docs):
    links = {}
    for doc in docs:
        text = doc["text"].split()
        for left, right in zip(text, text[1:]):
            links.setdefault(left, {})[right] = links.setdefault(left, {}).get(right, 0) + 1
            links.setdefault(right, {})[left] = links.setdefault(right, {}).get(left, 0) + 1
    return links


def distances(links, start):
    seen = {start: 0}
    queue = deque([start])
    while queue:
        word = queue.popleft()
        for other in links[word]:
            if other not in seen:
                seen[other] = seen[word] + 1
                queue.append(other)
    return seen


def tell_who_served():
    """On stderr: the allocator's library in this process, and the allocator's own first line of statistics."""
    import ctypes

    libraries = {line.split()[-1] for line in open("/proc/self/maps") if "/libinkalloc.so" in line}
    print("library:", *(sorted(libraries) or ["none but libc"]), file=sys.stderr, flush=True)
    ctypes.CDLL(None).malloc_stats()


def main():
    rng = random.Random(20240229)
    words = vocabulary(rng)
    lines = [json.dumps(doc) for doc in documents(rng, words)]
    docs = [json.loads(line) for line in lines]
    links = graph(docs)
    common = Counter(word for doc in docs for word in doc["text"].split()).most_common()
    common.sort(key=lambda pair: (-pair[1], pair[0]))
    report = []
    for word, count in common[:WALKS]:
        reach = Counter(distances(links, word).values())
        report.append(f"{word:>10} {count:5} times, reaches {dict(sorted(reach.items()))}")
    by_weight = sorted(((n, a, b) for a, others in links.items() for b, n in others.items() if a < b),
                       key=lambda edge: (-edge[0], edge[1], edge[2]))
    everything = json.dumps([by_weight, docs], sort_keys=True) + "\n".join(report)
    print("\n".join(report[:3]))
    print(f"{len(lines)} documents, {len(links)} words, {len(by_weight)} links")
    print("digest", hashlib.sha256(everything.encode()).hexdigest())


main()
if os.environ.get("INK_DEMO_PROOF"):
    tell_who_served()
