#!/bin/bash
# php: once with its own pools, which take large aligned pieces, once with malloc for everything;
# arrays, strings, generators, objects in cycles, serialisation, its memory limit, and a fatal error.

. "${INK_SRCDIR:?}/tests/lib.sh"
need php

cat >"$scratch/script" <<'END'
<?php
$seed = 42;
function random($n) {
    global $seed;
    $seed = $seed * 16807 % 2147483647;
    return $seed % $n;
}

class Node {
    public $links = [];
    public function __construct(public string $name) {}
}

$tree = [];
for ($i = 0; $i < 60000; $i++) {
    $tree[random(300)]["k" . random(50)][] = ["id" => $i, "text" => str_repeat("x", random(200))];
}
$text = json_encode($tree);
$back = json_decode($text, true);
foreach (array_keys($back) as $key) {
    if ($key % 3) {
        unset($back[$key]);
    }
}
echo strlen($text), " ", count($back), " ", md5(serialize($back)), "\n";
echo md5(serialize(unserialize(serialize($tree)))), "\n";

$words = [];
for ($i = 0; $i < 60000; $i++) {
    $words[] = "word" . random(9999);
}
sort($words);
$line = implode(" ", $words);
echo md5(preg_replace_callback('/word(\d)(\d*)/', fn($m) => $m[2] . $m[1], $line)), " ",
    preg_match_all('/(\d)\1/', $line), " ", count(array_unique(explode(" ", $line))), "\n";

for ($round = 0; $round < 20; $round++) {
    $nodes = [];
    for ($i = 0; $i < 2000; $i++) {
        $nodes[] = new Node("node $i");
    }
    foreach ($nodes as $i => $node) {
        $node->links = [$nodes[($i * 7) % 2000], $nodes[($i * 13) % 2000]];
    }
}
unset($nodes, $node);
echo gc_collect_cycles() > 0 ? "collected" : "none", "\n";

function numbers($n) {
    for ($i = 0; $i < $n; $i++) {
        yield $i => "value $i";
    }
}
$length = 0;
foreach (numbers(50000) as $key => $value) {
    $length += strlen($value) + $key;
}
echo $length, "\n";
echo strlen(gzuncompress(gzcompress($text, 6))), " ", hash("sha256", $text), "\n";
fwrite(STDERR, "about to fail\n");
undefined_function();
END

options=(-n -d display_errors=stderr -d html_errors=0 -d memory_limit=512M)

work_with_pools() {
    php "${options[@]}" "$scratch/script"
}

work_without_pools() {
    USE_ZEND_ALLOC=0 php "${options[@]}" "$scratch/script"
}

# More than the limit allows: php refuses, and says how much it was.
over_the_limit() {
    php "${options[@]}" -d memory_limit=64M -r 'echo "start\n"; $a = []; while (true) { $a[] = str_repeat("x", 100000); }'
}

compare 255 work_with_pools
compare 255 work_without_pools
compare 255 over_the_limit
prove 'php[0-9.]*' php -n -r 'echo strlen(str_repeat("x", 3000000)), "\n";'
