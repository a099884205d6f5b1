-- Builds tables of strings and tables, then throws them away, several times.
local file = assert(io.open(arg[1]))
local lines = {}
for line in file:lines() do
    lines[#lines + 1] = line
    if #lines == 12000 then break end
end
for round = 1, 2 do
    local count, order = {}, {}
    for number, line in ipairs(lines) do
        for word in line:gmatch("%a+") do
            local entry = count[word]
            if not entry then
                entry = { word = word, n = 0, seen = {} }
                count[word] = entry
                order[#order + 1] = entry
            end
            entry.n = entry.n + 1
            entry.seen[#entry.seen + 1] = number .. ":" .. word:sub(1, 3)
        end
    end
    table.sort(order, function(a, b) return a.n > b.n or a.n == b.n and a.word < b.word end)
    print(order[1].word, order[1].n, #order)
end
