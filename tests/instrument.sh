#!/bin/bash
# The instrument's own tests: verdicts, rows, failures of programs, the command, and the report.
. "${INK_SRCDIR:?}/tests/lib.sh"
need python3
export PYTHONDONTWRITEBYTECODE=1 INK_BUILDDIR
for file in test_compare.py test_report.py; do
    # Debian's Python: matplotlib is Debian's.
    PATH=/usr/bin:$PATH python3 -m unittest discover -s "$INK_SRCDIR/bench/instrument" -t "$INK_SRCDIR/bench" -p $file ||
        fail "$file"
done
"$INK_SRCDIR/bench/compare" --list | grep -q larson || fail "compare --list shows no rows"
