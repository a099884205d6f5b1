#!/bin/bash
# node: objects, buffers outside its heap, compression and hashing in its pool of threads, workers, a
# child process and streams; a promise rejected at the end.

. "${INK_SRCDIR:?}/tests/lib.sh"
need node

cat >"$scratch/script.js" <<'END'
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
const { execFile } = require("child_process");
const { promisify } = require("util");
const crypto = require("crypto");
const zlib = require("zlib");

let seed = isMainThread ? 42 : workerData;
function random(n) {
    seed = seed * 16807 % 2147483647;
    return seed % n;
}

function churn(rounds) {
    const slots = new Array(500).fill(null);
    let total = 0;
    for (let i = 0; i < rounds; i++) {
        const at = random(500);
        total += slots[at] ? slots[at].length : 0;
        slots[at] = i & 1 ? Buffer.alloc(random(20000), 1) : Buffer.allocUnsafeSlow(random(300)).fill(2);
    }
    return total;
}

async function main() {
    const tree = {};
    for (let i = 0; i < 60000; i++) {
        (tree["k" + random(300)] ??= []).push({ id: i, text: "x".repeat(random(200)) });
    }
    const text = JSON.stringify(tree);
    console.log(text.length, Object.keys(JSON.parse(text)).length, churn(20000));

    const packed = await Promise.all([...Array(8).keys()].map((n) =>
        promisify(zlib.gzip)(text.slice(n * 100000, n * 100000 + 1000000), { level: 1 + n % 4 })));
    const back = await Promise.all(packed.map((data) => promisify(zlib.gunzip)(data)));
    console.log(crypto.createHash("sha256").update(Buffer.concat(back)).digest("hex"));
    const small = await promisify(zlib.brotliCompress)(text.slice(0, 300000),
        { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } });
    console.log(zlib.brotliDecompressSync(small).length);
    const keys = await Promise.all([1, 2, 3, 4].map((n) =>
        promisify(crypto.scrypt)("secret" + n, "salt", 32, { N: 4096 })));
    console.log(keys.map((key) => key.toString("hex").slice(0, 8)).join(" "));

    const sums = await Promise.all([11, 22, 33, 44].map((own) => new Promise((resolve, reject) => {
        const worker = new Worker(__filename, { workerData: own });
        worker.on("message", resolve);
        worker.on("error", reject);
    })));
    console.log(sums.join(" "));

    const words = text.slice(0, 2000000).replace(/"id":(\d)(\d*)/g, "$2-$1").split(/[,:]/);
    words.sort();
    console.log(words.length, words[100], crypto.createHash("md5").update(words.join()).digest("hex"));

    const child = await promisify(execFile)(process.execPath, ["-e", "console.log('x'.repeat(70000).length)"]);
    console.log(child.stdout.trim());
    console.error("about to fail");
    process.exitCode = 4;
    await Promise.reject(new RangeError("the end")).catch((error) => console.error(error.message));
}

if (isMainThread) {
    main();
} else {
    parentPort.postMessage(churn(10000));
}
END

work() {
    node "$scratch/script.js"
}

compare 4 work
prove node node -e 'console.log(Buffer.alloc(100000).length)'
