#!/bin/bash
# ruby: hashes, strings, threads, fibers, forks, a compacting collector, and an uncaught exception.

. "${INK_SRCDIR:?}/tests/lib.sh"
need ruby
ruby -rjson -rdigest -rzlib -e 1 2>/dev/null || need ruby-with-its-libraries

cat >"$scratch/script" <<'END'
require "digest"
require "json"
require "zlib"

random = Random.new(42)
tree = Hash.new { |hash, key| hash[key] = [] }
40000.times { |i| tree["k#{random.rand(500)}"] << {"id" => i, "text" => "x" * random.rand(300)} }
text = JSON.generate(tree)
back = JSON.parse(text)
back.keys.each_slice(3) { |key, _| back.delete(key) }
packed = Zlib::Deflate.deflate(text)
puts text.length, back.size, Digest::SHA256.hexdigest(Zlib::Inflate.inflate(packed))[0, 16]

words = Array.new(50000) { "word#{random.rand(9999)}" }
puts words.sort.uniq.size, words.group_by { |word| word[-1] }.transform_values(&:size).sort.inspect
line = words.join(" ")
puts line.gsub(/word(\d)(\d*)/) { "#{$2}#{$1}" }.sum, line.scan(/(\d)\1/).size

threads = 8.times.map do |number|
    Thread.new(number) do |mine|
        own = Random.new(mine)
        list = Array.new(1000)
        10000.times { list[own.rand(1000)] = "é" * own.rand(400) }
        list.compact.sum(&:length)
    end
end
puts threads.map(&:value).inspect

GC.compact if GC.respond_to?(:compact)
GC.start

4.times do |number|
    reader, writer = IO.pipe
    pid = fork do
        reader.close
        more = Array.new(5000) { |i| "#{number}-#{i}" }
        writer.write(more.map(&:upcase).last)
        writer.close
        exit!(number)
    end
    writer.close
    puts reader.read
    Process.wait(pid)
    puts $?.exitstatus
end

fibers = Array.new(300) { |i| Fiber.new { 5.times { |n| Fiber.yield(i * n) } && nil } }
puts 5.times.sum { fibers.sum(&:resume) }
puts `echo from a shell; exit 3`, $?.exitstatus

begin
    "x" * (1 << 50)
rescue NoMemoryError, ArgumentError => error
    puts error.class
end
warn "about to raise"
raise KeyError, "the end"
END

work() {
    ruby "$scratch/script"
}

compare 1 work
prove ruby ruby -e 'puts (1..1000).map(&:to_s).join.length'
