# Counts words and which word follows which.
use strict;
my (%count, %next);
while (<>) {
    my ($number, @words) = split;
    last if $. > 12000;
    for my $i (0 .. $#words - 1) {
        $count{$words[$i]}++;
        push @{$next{$words[$i]}}, $words[$i + 1] if $number % 3 == 0;
    }
}
my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print "$_ $count{$_} ", scalar(@{$next{$_} || []}), "\n" for @top[0 .. 9];
