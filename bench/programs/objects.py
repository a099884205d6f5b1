"""A program of many small objects: documents as JSON, words counted, a graph walked."""
import json
import random
from collections import Counter, deque

rng = random.Random(7)
words = ["".join(rng.choices("abcdefghij", k=rng.randint(3, 9))) for _ in range(3000)]
counts, links = Counter(), {}
for number in range(1200):
    text = [words[int(rng.random() ** 2 * len(words))] for _ in range(50)]
    document = json.loads(json.dumps({"id": number, "text": " ".join(text), "tags": sorted(set(text[:9]))}))
    counts.update(document["text"].split())
    for first, second in zip(text, text[1:]):
        links.setdefault(first, set()).add(second)
for start in words[:8]:
    seen, queue = {start: 0}, deque([start])
    while queue:
        word = queue.popleft()
        for follower in links.get(word, ()):
            if follower not in seen:
                seen[follower] = seen[word] + 1
                queue.append(follower)
    print(start, len(seen), max(seen.values()))
print(counts.most_common(5))
