#!/bin/bash
# mariadbd: tables in two engines, indexes, joins, sorts, JSON, full text, recursion, eight clients at
# once in transactions, an error; then the server is started again on the same files.

. "${INK_SRCDIR:?}/tests/lib.sh"
need mariadbd mariadb python3 setpriv

as=()
[ "$(id -u)" != 0 ] || as=(--user=root)

cat >"$scratch/first" <<'END'
CREATE DATABASE own;
USE own;
CREATE TABLE kind (id INT PRIMARY KEY, label VARCHAR(40) UNIQUE) ENGINE=InnoDB;
INSERT INTO kind SELECT seq, CONCAT('kind ', seq) FROM seq_0_to_299;
CREATE TABLE item (id INT PRIMARY KEY AUTO_INCREMENT, kind INT, name VARCHAR(60), data MEDIUMBLOB,
    KEY (kind, name), KEY (name), FOREIGN KEY (kind) REFERENCES kind (id)) ENGINE=InnoDB;
INSERT INTO item (id, kind, name, data)
    SELECT seq, seq * 7919 % 300, CONCAT('name ', seq * 104729 % 99991), REPEAT('x', seq % 200) FROM seq_1_to_10000;
INSERT INTO item (kind, name, data) SELECT 7, CONCAT('large ', seq), REPEAT(MD5(seq), 20000) FROM seq_1_to_8;
CREATE TABLE page (id INT PRIMARY KEY, body TEXT, FULLTEXT (body)) ENGINE=Aria;
INSERT INTO page SELECT seq, CONCAT_WS(' ', MD5(seq), IF(seq % 17, 'apple', 'cherry'), REPEAT('word ', seq % 9))
    FROM seq_1_to_3000;
CREATE TABLE account (id INT PRIMARY KEY, balance INT) ENGINE=InnoDB;
INSERT INTO account SELECT seq, 1000 FROM seq_0_to_7;
END
cat >"$scratch/questions" <<'END'
USE own;
SELECT COUNT(*), SUM(LENGTH(data)), MD5(GROUP_CONCAT(MD5(data) ORDER BY id LIMIT 25)) FROM item;
SELECT label, COUNT(*), MIN(name), MAX(name) FROM item JOIN kind ON kind.id = item.kind
    GROUP BY label ORDER BY COUNT(*) DESC, label LIMIT 5;
SELECT a.name, b.name FROM item a JOIN item b ON a.kind = b.kind AND a.id < b.id
    WHERE a.kind < 5 ORDER BY b.name DESC, a.name LIMIT 5;
SELECT MD5(JSON_ARRAYAGG(JSON_OBJECT('id', id, 'name', name))) FROM item WHERE kind < 20;
SELECT COUNT(*), MAX(name REGEXP '([0-9])\\1') FROM item WHERE name LIKE '%77%';
SELECT COUNT(*) FROM page WHERE MATCH (body) AGAINST ('cherry');
WITH RECURSIVE n (i, t) AS (SELECT 1, CAST('x' AS CHAR(2000)) UNION ALL SELECT i + 1, CONCAT(t, i) FROM n WHERE i < 500)
    SELECT MAX(LENGTH(t)) FROM n;
SELECT name, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY name, id) r FROM item ORDER BY r DESC, name LIMIT 3;
SELECT SUM(balance) FROM account;
CHECK TABLE item, page, kind;
END

ask() {
    mariadb --no-defaults --socket=socket --batch --skip-column-names "$@"
}

start() {
    serve socket mariadbd --no-defaults "${as[@]}" --datadir="$PWD/data" --socket="$PWD/socket" \
        --skip-networking --skip-grant-tables --log-error="$PWD/log.err" --pid-file="$PWD/pid" --tmpdir="$PWD" \
        --innodb-buffer-pool-size=16M --innodb-log-file-size=8M --innodb-flush-log-at-trx-commit=0 \
        --innodb-use-native-aio=0 --sort-buffer-size=64K \
        --open-files-limit=1000 --table-open-cache=100 --max-connections=20
}

# Each client changes accounts in transactions, works in a temporary table, and adds what it owns.
client() {
    local i
    {
        echo "USE own; CREATE TEMPORARY TABLE mine (n INT, t TEXT);"
        for ((i = 0; i < 20; i++)); do
            echo "BEGIN; UPDATE account SET balance = balance - $i WHERE id = $1;"
            echo "UPDATE account SET balance = balance + $i WHERE id = $1; COMMIT;"
            echo "INSERT INTO mine SELECT seq, REPEAT('$i', seq) FROM seq_1_to_100;"
            echo "INSERT INTO item (id, kind, name, data) VALUES (30000 + $1 * 100 + $i, $i, 'of $1', REPEAT('$1', $i * 500));"
        done
        echo "SELECT $1, COUNT(*), SUM(LENGTH(t)), MD5(GROUP_CONCAT(t ORDER BY n, t LIMIT 50)) FROM mine;"
    } | ask
}

work() {
    local number clients=()
    mkdir data
    start
    ask <"$scratch/first"
    for number in 0 1 2 3 4 5 6 7; do
        client $number >client.$number 2>&1 &
        clients+=($!)
    done
    wait "${clients[@]}"
    cat client.*
    ask <"$scratch/questions"
    ask -e 'UPDATE own.item SET name = CONCAT(UPPER(name), HEX(LEFT(data, 8))) WHERE kind < 100;
        DELETE FROM own.item WHERE id % 3 = 0; ALTER TABLE own.item ADD COLUMN more INT DEFAULT 5;
        OPTIMIZE TABLE own.page'
    served_well || return 1
    start
    ask <"$scratch/questions"
    ask -e 'SELECT * FROM own.missing'
    echo "the client ended with $?"
    served_well
    ! grep -E 'ERROR|signal' log.err
}

compare 0 work
prove mariadbd mariadbd --no-defaults "${as[@]}" --help --verbose
