#!/bin/bash
# lua5.4: tables, strings, closures, coroutines, weak tables and both collectors; errors, the last one fatal.

. "${INK_SRCDIR:?}/tests/lib.sh"
need lua5.4

cat >"$scratch/script" <<'END'
local seed = 42
local function random(n)
    seed = seed * 16807 % 2147483647
    return seed % n
end

local function work()
    local tree, length = {}, 0
    for i = 1, 60000 do
        local key = random(500)
        tree[key] = tree[key] or {}
        table.insert(tree[key], {id = i, text = string.rep("x", random(200))})
        if i % 7 == 0 then
            tree[random(500)] = nil
        end
    end
    for _, list in pairs(tree) do
        for _, item in ipairs(list) do
            length = length + #item.text
        end
    end

    local words = {}
    for i = 1, 60000 do
        words[i] = "word" .. random(10000)
    end
    table.sort(words)
    local text = table.concat(words, " ")
    local changed, count = text:gsub("word(%d)(%d*)", function(a, b) return b .. a end)

    local weak = setmetatable({}, {__mode = "v"})
    for i = 1, 20000 do
        weak[i] = {i}
    end
    collectgarbage()

    local sum = 0
    local function numbers(n)
        return coroutine.wrap(function()
            for i = 1, n do
                coroutine.yield(i)
            end
        end)
    end
    for i = 1, 2000 do
        for n in numbers(20) do
            sum = sum + n
        end
    end
    return length, words[1], words[60000], #changed, count, next(weak), sum
end

print(work())
collectgarbage("generational")
print(work())
print(pcall(string.rep, "x", 1 << 62))
print(pcall(error, {code = 1}) and "" or "caught")
io.stderr:write("about to fail\n")
local nothing
nothing.field = 1
END

work() {
    lua5.4 "$scratch/script"
}

# The allocator says no in the middle of the work: lua collects, asks again, and raises an error, here caught.
work_in_little_memory() {
    ulimit -v 200000
    lua5.4 -e 'local held = {}
        print(pcall(function()
            for i = 1, 1000 do held[i] = string.rep("x", 1000000) .. i end
        end))
        held = nil
        collectgarbage()
        print(#string.rep("x", 50000000))'
}

compare 1 work
compare 0 work_in_little_memory
grep -q 'not enough memory' "$scratch/inkalloc.out" || fail "lua was never told that memory is not enough"
prove lua5.4 lua5.4 -e 'print(#string.rep("x", 1000000))'
