# Counts words and pairs of words.
NR <= 25000 {
    for (i = 2; i <= NF; i++) {
        count[$i]++
        if (i > 2)
            pair[$(i - 1), $i]++
    }
}
END {
    for (word in count)
        if (count[word] > most) {
            most = count[word]
            best = word
        }
    print best, most, length(count), length(pair)
}
