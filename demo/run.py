"""Runs demo/wordgraph.py on the system's malloc and on inkalloc, in turns; compares what was printed and shows
CPU time, peak memory and who served the memory.  run.py LIBRARY [RUNS]"""
import os
import statistics
import subprocess
import sys

SYSTEM, INKALLOC = "system's malloc", "inkalloc"


def run(library):
    """One run: (stdout, lines of stderr, exit status, CPU seconds, peak MiB)."""
    environment = dict(os.environ, PYTHONMALLOC="malloc", PYTHONHASHSEED="0", INK_DEMO_PROOF="1")
    environment.pop("LD_PRELOAD", None)
    if library:
        environment["LD_PRELOAD"] = library
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wordgraph.py")
    with subprocess.Popen([sys.executable, program], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        # Both outputs are a few lines, so reading one after the other cannot block.
        out, err = child.stdout.read().decode(), child.stderr.read().decode()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return out, err.splitlines(), child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    library = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    results = {SYSTEM: [], INKALLOC: []}
    print(f"{runs} runs each of demo/wordgraph.py on {sys.executable}, in turns, with PYTHONMALLOC=malloc\n"
          "(Python's own small-object allocator is off, so every object really comes from malloc):\n", flush=True)
    for _ in range(runs):
        results[SYSTEM].append(run(None))
        results[INKALLOC].append(run(library))

    outputs = {(out, code) for rows in results.values() for out, _, code, _, _ in rows}
    out, _, code, _, _ = results[SYSTEM][0]
    if len(outputs) != 1 or code != 0:
        for name, rows in results.items():
            for row in rows:
                print(f"--- {name}, exit status {row[2]}\n{row[0]}", *row[1], sep="\n")
        sys.exit("demo: the runs did not all print the same and succeed")
    print(out)

    print(f"{'':18}{'CPU s':>8}{'peak MiB':>10}   (medians)")
    for name, rows in results.items():
        cpu, peak = (statistics.median(row[i] for row in rows) for i in (3, 4))
        print(f"{name:18}{cpu:8.2f}{peak:10.1f}")

    print("\nwho served it, as the program says after its work:")
    for name, rows in results.items():
        for line in rows[-1][1][:2]:
            print(f"{name:18}  {line}")
    for _, err, _, _, _ in results[INKALLOC]:
        if not ("libinkalloc" in err[0] and "inkalloc" in err[1]):
            sys.exit("demo: inkalloc did not serve the program: " + " / ".join(err[:2]))
    print("\nsame output from both")


main()
