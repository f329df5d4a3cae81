-- shop.sql: a small shop in memory.  @ROWS@ is replaced by the number of orders.
PRAGMA journal_mode = OFF;
CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE product(id INTEGER PRIMARY KEY, name TEXT, price INTEGER);
CREATE TABLE sale(id INTEGER PRIMARY KEY, customer INTEGER, product INTEGER, amount INTEGER,
  day INTEGER, note TEXT);

BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
INSERT INTO customer SELECT i, 'customer ' || (i * 7919 % 5000), 'city ' || (i * 31 % 97) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
INSERT INTO product SELECT i, printf('product %04x', i * 127 % 65536), 100 + i * 37 % 900 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < @ROWS@)
INSERT INTO sale SELECT i, 1 + i * 7919 % 5000, 1 + i * 104729 % 1000, 1 + i % 9, i * 13 % 365,
  CASE WHEN i % 10 = 0 THEN 'gift for ' || (i % 77) END FROM n;
COMMIT;

CREATE INDEX sale_customer ON sale(customer);
CREATE INDEX sale_day ON sale(day, product);

SELECT city, count(*), sum(amount * price) FROM sale
  JOIN customer ON customer.id = sale.customer JOIN product ON product.id = sale.product
  GROUP BY city ORDER BY 3 DESC LIMIT 5;
SELECT day, sum(amount) FROM sale WHERE day BETWEEN 100 AND 200 GROUP BY day ORDER BY day LIMIT 5;
SELECT count(*), min(note), max(note) FROM sale WHERE note LIKE '%for 4%';
SELECT substr(upper(name), 1, 10) AS n, length(group_concat(id)) FROM product
  GROUP BY price % 50 ORDER BY n LIMIT 5;
SELECT max(rank), sum(total) FROM (
  SELECT customer, sum(amount) AS total,
    row_number() OVER (ORDER BY sum(amount) DESC, customer) AS rank
  FROM sale GROUP BY customer);

BEGIN;
UPDATE sale SET amount = amount + 1 WHERE day % 7 = 3;
UPDATE product
  SET price = price + (SELECT count(*) FROM sale WHERE sale.product = product.id AND day = 13);
DELETE FROM sale WHERE customer % 11 = 5;
COMMIT;

SELECT count(*), sum(amount), sum(price) FROM sale JOIN product ON product.id = sale.product;
WITH RECURSIVE path(a, steps) AS (SELECT 27, 0 UNION ALL
  SELECT CASE a % 2 WHEN 0 THEN a / 2 ELSE 3 * a + 1 END, steps + 1 FROM path WHERE a <> 1)
SELECT max(a), max(steps) FROM path;
SELECT p.name, q.name FROM product p JOIN product q ON q.price = p.price AND q.id > p.id
  WHERE p.name < q.name ORDER BY p.name, q.name LIMIT 3;
PRAGMA integrity_check;
