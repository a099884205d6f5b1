-- A database in memory: inserts, an index, joins, groups, updates and deletes.
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL, tag TEXT);
CREATE TABLE sale (item INTEGER, day INTEGER, amount INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO item SELECT i, 'name ' || (i * 7919 % 20011), i * 0.37, 'tag' || i % 50 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO sale SELECT i * 31 % 20000 + 1, i % 365, i % 17 FROM n;
CREATE INDEX sale_item ON sale (item);
SELECT tag, count(*), round(sum(price * amount)) FROM item JOIN sale ON item = id GROUP BY tag ORDER BY 3 DESC LIMIT 5;
SELECT group_concat(name) FROM (SELECT name FROM item ORDER BY name LIMIT 5);
UPDATE item SET name = upper(name) || '!' WHERE id % 3 = 0;
DELETE FROM sale WHERE day % 2 = 0;
SELECT count(*), sum(length(name)) FROM item, (SELECT 1);
