#!/bin/bash
# perl: hashes, closures, sorting, regular expressions, interpreter threads, forks, and a die.

. "${INK_SRCDIR:?}/tests/lib.sh"
need perl
perl -MData::Dumper -Mthreads -e 1 2>/dev/null || need perl-with-its-modules

export PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0

cat >"$scratch/script" <<'END'
use strict;
use warnings;
use threads;
use Data::Dumper;

my $seed = 42;
sub random { return ($seed = $seed * 16807 % 2147483647) % $_[0] }

for my $child (1 .. 8) {
    my $pid = open(my $pipe, "-|") // die;
    if ($pid == 0) {
        my @mine = map { "$child-$_" } 1 .. 2000;
        print scalar(@mine), " $mine[-1]\n";
        exit 0;
    }
    print <$pipe>;
}

my %tree;
push @{$tree{random(300)}{"k" . random(50)}}, {id => $_, text => "x" x random(200)} for 1 .. 60000;
my $length = 0;
for my $key (sort { $a <=> $b } keys %tree) {
    $length += length($_->{text}) for map { @$_ } values %{$tree{$key}};
    delete $tree{$key} if $key % 3;
}
print "length $length, ", scalar(keys %tree), " left\n";

my @sorted = sort { $a->[1] cmp $b->[1] or $a->[0] <=> $b->[0] } map { [$_, "s" . random(9999)] } 1 .. 50000;
print join(",", map { $_->[1] } @sorted[0 .. 5]), "\n";

my $text = join " ", map { "word" . random(1000) } 1 .. 60000;
my $hits = () = $text =~ /\bword(\d)\1\b/g;
(my $changed = $text) =~ s/word(\d+)/sprintf "%04x", $1/ge;
print "$hits hits, ", length($changed), ", ", unpack("%32C*", $changed), "\n";

undef %tree;
undef @sorted;

my @counters = map { my $n = $_; sub { $n += shift } } 1 .. 1000;
$_->(5) for @counters;
print $counters[-1]->(1), "\n";

my @threads = map {
    my $number = $_;
    threads->create(sub {
        my %own = map { $_ => "value $_ of $number" } 1 .. 5000;
        my @part = sort values %own;
        return scalar(@part) . " " . $part[42];
    });
} 1 .. 4;
print $_->join, "\n" for @threads;

{
    package Held;
    our $freed = 0;
    sub new { return bless {data => "y" x 100}, shift }
    sub DESTROY { $freed++ }
}
my @held = map { Held->new } 1 .. 20000;
@held = ();
print "freed $Held::freed\n";
$Data::Dumper::Sortkeys = 1;
print substr(Dumper([map { {a => $_, b => [($_) x 3]} } 1 .. 2000]), -120);
print STDERR "about to die\n";
$! = 7;
die "the end\n";
END

work() {
    perl "$scratch/script"
}

compare 7 work
prove perl perl -e 'print join ",", sort map { "s$_" } 1 .. 1000'
