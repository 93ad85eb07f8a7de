\i sql/include/fresh.psql
-- every way in which a driver binds an integer (trap 25)
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, 'new');
PREPARE untyped AS UPDATE t SET v = 'untyped', fence = $1 WHERE id = $2 AND fence <= $1 RETURNING *;
PREPARE bound_unknown(unknown, unknown) AS UPDATE t SET v = 'unknown', fence = $1 WHERE id = $2 AND fence <= $1 RETURNING *;
PREPARE bound_int2(int2, int4) AS UPDATE t SET v = 'int2', fence = $1 WHERE id = $2 AND fence <= $1 RETURNING *;
PREPARE bound_int4(int4, int4) AS UPDATE t SET v = 'int4', fence = $1 WHERE id = $2 AND fence <= $1 RETURNING *;
PREPARE bound_int8(int8, int8) AS UPDATE t SET v = 'int8', fence = $1 WHERE id = $2 AND fence <= $1 RETURNING *;
PREPARE bound_fence(fencing.fence, int4) AS UPDATE t SET v = 'fence', fence = $1 WHERE id = $2 AND fence <= $1 RETURNING *;
PREPARE twice AS UPDATE t SET v = 'twice', fence = $1 WHERE id = $2 AND fence <= $3 RETURNING *;
EXECUTE untyped('1', '1');
EXECUTE bound_unknown('2', '1');
EXECUTE bound_int2(3, 1);
EXECUTE bound_int4(4, 1);
EXECUTE bound_int8(5, 1);
EXECUTE bound_fence(6, 1);
EXECUTE twice('7', '1', '7');
EXECUTE untyped(8, 1);
EXECUTE twice('0x9', '1', '9');
-- stale: the condition leaves the row out by itself
EXECUTE untyped('1', '1');
EXECUTE bound_int2(3, 1);
EXECUTE bound_int8(5, 1);
-- what the planner took the parameters for
SELECT name, parameter_types FROM pg_prepared_statements WHERE name IN ('untyped', 'twice') ORDER BY name;
-- the other places
PREPARE ins_untyped AS INSERT INTO t VALUES ($1, $2, $3) RETURNING fence;
PREPARE ins_int4(int4, text, int4) AS INSERT INTO t VALUES ($1, $2, $3) RETURNING fence;
PREPARE ins_int8(int4, text, int8) AS INSERT INTO t VALUES ($1, $2, $3) RETURNING fence;
PREPARE ins_int2(int4, text, int2) AS INSERT INTO t VALUES ($1, $2, $3) RETURNING fence;
PREPARE ins_numeric(int4, text, numeric) AS INSERT INTO t VALUES ($1, $2, $3) RETURNING fence;
EXECUTE ins_untyped('2', 'x', '10');
EXECUTE ins_int4(3, 'x', 10);
EXECUTE ins_int8(4, 'x', 10);
EXECUTE ins_int2(5, 'x', 10);
EXECUTE ins_numeric(6, 'x', 10);
PREPARE any_untyped AS SELECT count(*) FROM t WHERE fence = ANY ($1);
PREPARE any_int8(int8[]) AS SELECT count(*) FROM t WHERE fence = ANY ($1);
PREPARE any_int4(int4[]) AS SELECT count(*) FROM t WHERE fence = ANY ($1);
PREPARE any_int2(int2[]) AS SELECT count(*) FROM t WHERE fence = ANY ($1);
EXECUTE any_untyped('{9,10}');
EXECUTE any_int8('{9,10}');
EXECUTE any_int4('{9,10}');
EXECUTE any_int2('{9,10}');
PREPARE compare_untyped AS SELECT count(*) FROM t WHERE fence >= $1 AND $2 >= fence AND fence BETWEEN $3 AND $4;
EXECUTE compare_untyped('1', '10', '9', '10');
PREPARE present_untyped AS DELETE FROM t WHERE id = $1 AND fence <= fencing.present($2) RETURNING id;
PREPARE present_int4(int4, int4) AS DELETE FROM t WHERE id = $1 AND fence <= fencing.present($2) RETURNING id;
EXECUTE present_untyped('2', '10');
EXECUTE present_int4(3, 10);
PREPARE greatest_untyped AS UPDATE t SET fence = greatest(fence, $1) WHERE id = 1 RETURNING fence;
EXECUTE greatest_untyped('11');
PREPARE coalesce_untyped AS UPDATE t SET fence = coalesce($1, fence) WHERE id = 1 RETURNING fence;
EXECUTE coalesce_untyped('12');
PREPARE case_int8(int8) AS UPDATE t SET fence = CASE WHEN $1 > fence THEN $1 ELSE fence END WHERE id = 1 RETURNING fence;
EXECUTE case_int8(13);
PREPARE conflict_untyped AS INSERT INTO t VALUES ($1, $2, $3)
	ON CONFLICT (id) DO UPDATE SET v = excluded.v, fence = excluded.fence WHERE t.fence <= excluded.fence RETURNING *;
EXECUTE conflict_untyped('1', 'upsert', '14');
EXECUTE conflict_untyped('1', 'upsert', '13');
PREPARE merge_untyped AS MERGE INTO t USING (VALUES ($1::int, $2::bigint)) s (id, f) ON t.id = s.id
	WHEN MATCHED AND t.fence <= s.f THEN UPDATE SET fence = s.f;
EXECUTE merge_untyped('1', '15');
PREPARE greatest_int8(int8) AS UPDATE t SET fence = greatest(fence, $1) WHERE id = 1 RETURNING fence;
EXECUTE greatest_int8(16);
SELECT * FROM t WHERE id = 1;
-- out of range and NULL
EXECUTE untyped('-1', '1');
EXECUTE bound_int4(-1, 1);
EXECUTE ins_int8(9, 'x', -1);
EXECUTE ins_untyped('9', 'x', NULL);
EXECUTE untyped(NULL, '1');
