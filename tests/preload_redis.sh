#!/bin/bash
# redis-server under redis-benchmark, then with data of every kind, scripts in it, a copy saved by a forked child, and
# a second server that reads the copy back; Debian's links jemalloc, in whose place inkalloc steps.

. "${INK_SRCDIR:?}/tests/lib.sh"
need redis-cli redis-benchmark redis-check-rdb awk setpriv python3

# The server is the same file under another name; this package has no service that would start.
ln -s /usr/bin/redis-check-rdb "$scratch/redis-server"

awk 'BEGIN {
    for (i = 0; i < 20000; i++) {
        k = i * 7919 % 1009
        print "SET string:" i, sprintf("%" (i % 300 + 1) "s", "v" i) ".end"
        print "HSET hash:" k, "f" i % 97, "value" i
        print "RPUSH list:" k % 50, "item" i
        print "ZADD zset:" k % 40, i * 31 % 1000, "m" i
        print "SADD set:" k % 30, i
        if (i % 5 == 0) print "DEL string:" i - 50
        if (i % 7 == 0) print "APPEND string:" k, "more"
        if (i % 11 == 0) print "LPOP list:" k % 50
        if (i % 100 == 0) print "XADD stream:" i % 3, i + 1 "-1", "a", i, "b", "text"
    }
}' | sed 's/  */ /g' >"$scratch/commands"

ask() {
    redis-cli -s socket "$@"
}

start() {
    serve socket "$scratch/redis-server" --port 0 --unixsocket socket --save '' --dir . --logfile log \
        --enable-debug-command yes --io-threads 2 --activedefrag no --lazyfree-lazy-user-del yes
}

questions() {
    ask debug digest
    ask dbsize
    ask hgetall hash:17
    ask lrange list:3 0 -1
    ask zrange zset:7 0 20 withscores
    ask sort set:5 limit 0 10 desc
    ask xlen stream:1
    ask strlen string:42
}

work() {
    start
    redis-benchmark -s socket -n $(($1 / 4)) -c 20 -P 8 -r 5000 -d 300 -q -t set,get,incr,lpush,rpop,sadd,hset,zadd,mset >benchmark
    grep -c 'requests per second' benchmark
    ask flushall
    head -n "$1" "$scratch/commands" | ask >answers
    sort answers | uniq -c | sort -k1,1nr -k2 | head -n 5
    ask eval 'local n = 0
        for i = 1, 2000 do
            redis.call("SET", "script:" .. i, string.rep("x", i) .. cjson.encode({i, {a = i}}))
            n = n + redis.call("STRLEN", "script:" .. i)
        end
        return n' 0
    questions
    ask bgsave
    until ask info persistence | grep -q rdb_bgsave_in_progress:0; do
        ask set while saving >/dev/null
        sleep 0.05
    done
    ask info persistence | grep rdb_last_bgsave_status
    ask del while >/dev/null
    ask debug digest
    ask bgrewriteaof >/dev/null
    ask memory doctor >/dev/null
    ask save
    served_well
    rm -f socket
    start
    questions
    ask set
    served_well
}

compare 0 work 20000
prove redis-server work 200
