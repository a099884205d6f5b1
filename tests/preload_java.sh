#!/bin/bash
# java: a compiler that is itself a Java program translates a class, which then runs with two different collectors;
# the threads of the virtual machine allocate outside its heap, and so does the program itself.

. "${INK_SRCDIR:?}/tests/lib.sh"
need java ecj sha256sum

mkdir "$scratch/src"
cat >"$scratch/src/Program.java" <<'END'
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

public class Program {
    static long churn(int seed) {
        Random random = new Random(seed);
        ByteBuffer[] slots = new ByteBuffer[100];
        long total = 0;
        for (int i = 0; i < 1500; i++) {
            int at = random.nextInt(slots.length);
            total += slots[at] == null ? 0 : slots[at].capacity() + slots[at].get(0);
            slots[at] = ByteBuffer.allocateDirect(1 + random.nextInt(20000));
            slots[at].put(0, (byte) i);
        }
        return total;
    }

    static int packed(String text) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (DeflaterOutputStream deflater = new DeflaterOutputStream(out)) {
            deflater.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return new InflaterInputStream(new ByteArrayInputStream(out.toByteArray())).readAllBytes().length;
    }

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(42);
        TreeMap<Integer, List<String>> tree = new TreeMap<>();
        for (int i = 0; i < 100000; i++) {
            tree.computeIfAbsent(random.nextInt(500), key -> new ArrayList<>()).add("x".repeat(random.nextInt(100)) + i);
        }
        String text = tree.values().stream().flatMap(List::stream).collect(Collectors.joining(","));
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        System.out.println(text.length() + " " + (digest[0] & 255) + " " + packed(text));

        ExecutorService pool = Executors.newFixedThreadPool(8);
        List<Future<Long>> sums = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            int seed = i;
            sums.add(pool.submit(() -> churn(seed)));
        }
        for (Future<Long> sum : sums) {
            System.out.print(sum.get() + " ");
        }
        pool.shutdown();
        System.out.println();
        for (int wave = 0; wave < 10; wave++) {
            List<Thread> threads = IntStream.range(0, 20).mapToObj(n -> new Thread(() -> "x".repeat(n * 1000))).toList();
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        Process child = new ProcessBuilder("echo", "from a child").start();
        System.out.print(new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        System.out.println(child.waitFor());
        throw new IllegalStateException("the end");
    }
}
END

work() {
    local collector
    ecj -17 -proc:none -d . "$scratch/src/Program.java" || return 2
    sha256sum Program.class
    for collector in G1 Serial; do
        java -Xmx256m -XX:+Use${collector}GC -XX:-UsePerfData -cp . Program
        echo "$collector: $?"
    done
    java -cp . NoSuchClass
}

compare 1 work
prove java java -XX:-UsePerfData -version
