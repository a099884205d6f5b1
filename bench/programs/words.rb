# Counts words, turns them into symbols and structures, and sorts them.
Entry = Struct.new(:word, :count, :lines)
entries = {}
File.foreach(ARGV[0]).first(15000).each_with_index do |line, number|
  line.split[1..].each do |word|
    entry = entries[word] ||= Entry.new(word, 0, [])
    entry.count += 1
    entry.lines << number.to_s
  end
end
entries.values.sort_by { |e| [-e.count, e.word] }.first(10).each { |e| puts "#{e.word} #{e.count} #{e.lines.size}" }
