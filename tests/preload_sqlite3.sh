#!/bin/bash
# sqlite3: a database file with indexes, joins, a big sort, and an error.

. "${INK_SRCDIR:?}/tests/lib.sh"
need sqlite3

cat >"$scratch/script" <<'END'
PRAGMA journal_mode = WAL;
PRAGMA cache_size = -2000;
CREATE TABLE item (id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, data BLOB);
CREATE TABLE kind (id INTEGER PRIMARY KEY, label TEXT UNIQUE);
INSERT INTO kind WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 299)
    SELECT i, printf('kind %d', i) FROM n;
BEGIN;
INSERT INTO item WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    SELECT i, i * 7919 % 300, printf('name %d', i * 104729 % 99991), zeroblob(i % 200) FROM n;
COMMIT;
CREATE INDEX by_name ON item (name);
CREATE INDEX by_kind ON item (kind, name);
SELECT count(*), sum(length(data)) FROM item;
SELECT label, count(*), min(name), max(name) FROM item JOIN kind ON kind.id = item.kind
    GROUP BY label ORDER BY count(*) DESC, label LIMIT 5;
SELECT group_concat(name, ',') FROM (SELECT name FROM item ORDER BY random() * 0, name DESC LIMIT 8);
SELECT sum(length(text)) FROM (SELECT group_concat(name) AS text FROM item GROUP BY kind % 7);
DELETE FROM item WHERE id % 3 = 0;
UPDATE item SET name = upper(name) || hex(substr(data, 1, 8)) WHERE kind < 100;
SELECT count(*), max(length(name)) FROM item WHERE name LIKE 'NAME%';
SELECT sum(json_array_length(json_group)) FROM
    (SELECT json_group_array(json_object('id', id, 'name', name)) AS json_group FROM item GROUP BY kind);
VACUUM;
PRAGMA integrity_check;
SELECT * FROM missing_table;
END

work() {
    sqlite3 -batch -bail file.db <"$scratch/script"
}

compare 1 work
prove sqlite3 sqlite3 :memory: 'SELECT 1'
