// Strings, maps and typed arrays: what of V8 uses malloc is its compiler, its buffers and its metadata.
const fs = require("fs");
const zlib = require("zlib");
const lines = fs.readFileSync(process.argv[2], "latin1").split("\n").slice(0, 20000);
const count = new Map();
let bytes = 0;
for (const line of lines) {
  for (const word of line.split(" ")) count.set(word, (count.get(word) || 0) + 1);
  bytes += Buffer.from(line, "latin1").length;
}
for (let i = 0; i < 200; i++) {
  const part = Buffer.from(lines.slice(i * 100, i * 100 + 100).join("\n"));
  bytes += zlib.inflateSync(zlib.deflateSync(part, { level: 1 })).length;
}
console.log(count.size, bytes);
