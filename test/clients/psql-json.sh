#!/usr/bin/env bash
# JSON through psql, in the statements that PostgREST makes of a request: the body by
# json_to_recordset, the conditions as untyped strings, the answer by json_agg. The token of a
# transaction comes in a header, which a function set as db-pre-request presents.
set -euo pipefail
big=9007199254740993
none='{}'

# request STATEMENT [HEADERS]: one transaction for one request; prints the answer, or the error's fields.
request() {
    psql -XAtq -v ON_ERROR_STOP=1 -v VERBOSITY=verbose -v headers="${2:-$none}" 2>&1 <<SQL || true
BEGIN;
SELECT set_config('request.headers', :'headers', true) \g /dev/null
SELECT pre_request() \g /dev/null
WITH source AS ($1) SELECT coalesce(json_agg(answer), '[]') FROM (SELECT * FROM source) answer;
COMMIT;
SQL
}

# patch TABLE CONDITIONS BODY [HEADERS]
patch() {
    local columns
    columns=$(sed -E 's/"([a-z]+)":("[^"]*"|[^,}]*)/\1 = body.\1/g; s/[{}]//g' <<<"$3")
    request "UPDATE $1 SET $columns FROM (SELECT * FROM json_to_recordset(json_build_array('$3'::json))
        AS body (id integer, v text, fence fencing.fence)) body WHERE $2 RETURNING $1.*" "${4-}"
}

get() { request "SELECT ${3-*} FROM $1 WHERE $2"; }
fence() { psql -XAtc "SELECT fence::text FROM job WHERE id = $1"; }
sql() { psql -XAtq -v VERBOSITY=verbose "$@" 2>&1; }

same() { [ "$1" = "$2" ] || { why="got $1, wanted $2" && return 1; }; }
like() { [[ $1 == *"$2"* ]] || { why="got $1, wanted $2" && return 1; }; }

# The conditional UPDATE: row, token as JSON.
update() {
    like "$(patch job "job.id = '$1' AND job.fence <= '${2//\"/}'" "{\"v\":\"x\",\"fence\":$2}")" '"x"' &&
        same "$(fence "$1")" "${2//\"/}"
}

write_back() {
    local row
    row=$(get "$1" "id = '$2'" | sed 's/^\[//; s/\]$//')
    patch "$1" "$1.id = '$2'" "$row" "${3-}"
}

array() {
    same "$(get job "id = '10' AND fence = ANY ('{\"101\",\"$big\"}')" id)" '[{"id":10}]' &&
        same "$(get job "id = '10' AND fence = ANY ('{\"101\",\"2147483647\"}')" id)" '[]'
}

assignment() {
    like "$(patch job "job.id = '5'" "{\"fence\":$big}")" $big && same "$(fence 5)" $big
}

stale() {
    local error
    error=$(patch job "job.id = '10'" '{"fence":101}')
    like "$error" 'ERROR:  LF001: ' &&
        like "$error" "DETAIL:  The write carries token 101, but token $big has been committed to the row." &&
        like "$error" 'HINT:  Another holder' && like "$error" 'SCHEMA NAME:  public' &&
        like "$error" 'TABLE NAME:  job' && like "$error" 'COLUMN NAME:  fence'
}

refused() {
    same "$(request "SELECT granted, token FROM fencing.acquire('taken', '1 min', 'me')")" \
        '[{"granted":false,"token":null}]' &&
        like "$(patch job "job.id = '10'" '{"fence":null}')" 'ERROR:  22004: ' &&
        like "$(sql -c 'SELECT fencing.present(NULL)')" 'ERROR:  22004: '
}

present() {
    like "$(patch job "job.id = '6'" '{"v":"x"}' "{\"fencing-token\":\"$big\"}")" '"x"' && same "$(fence 6)" $big
}

lost() {
    local acquire="SELECT token FROM fencing.acquire('work', '1 min', 'me')" token said
    token=$(sql -c "$acquire")
    ((token > big)) || { why="token $token" && return 1; }
    said=$(sql -v token="$token" -v acquire="$acquire" <<'SQL'
BEGIN;
SELECT fencing.hold('work', :'token') \g /dev/null
UPDATE job SET v = 'x' WHERE id = 7;
\setenv acquire :acquire
\! psql -XAtqc "$acquire" >/dev/null
COMMIT;
SQL
    )
    like "$said" 'ERROR:  LF004: ' && same "$(fence 7)" 0
}

leak() {
    patch job "job.id = '10'" '{"v":"x"}' "{\"fencing-token\":\"$big\"}" >/dev/null
    like "$(request 'SELECT 1 / 0' "{\"fencing-token\":\"$big\"}")" 22012
    for _ in 1 2; do
        same "$(request 'SELECT fencing.presented()')" '[{"presented":null}]' || return 1
    done
}

current() { like "$(write_back job 11)" '"id":11'; }

whole_stale() {
    local row
    row=$(get job "id = '12'" | sed 's/^\[//; s/\]$//')
    update 12 $((big + 1)) && like "$(patch job "job.id = '12'" "$row")" 'ERROR:  LF001: '
}

presented() { like "$(write_back job 13 '{"fencing-token":"101"}')" 'ERROR:  LF001: '; }

required() {
    like "$(write_back strict_job 1)" 'ERROR:  LF002: ' &&
        like "$(write_back strict_job 1 "{\"fencing-token\":\"$((big + 1))\"}")" $((big + 1))
}

tests() {
    local name=$1
    why=''
    if "${@:2}"; then echo "ok $name"; else echo "not ok $name: ${why//$'\n'/ }"; fi
}

echo 'is integer: untyped'
echo 'is string: untyped'
echo 'is fence: JSON string'
echo 'is bigint: JSON number'
echo 'is commit: an ERROR'
echo 'is error: nothing'
echo 'is pooler: nothing'
tests 'small integer' update 1 101
tests '32-bit integer' update 2 2147483647
tests '64-bit integer' update 3 $big
tests string update 4 "\"$big\""
tests array array
tests 'assignment alone' assignment
tests 'lower token' same "$(patch job "job.id = '10' AND job.fence <= '101'" '{"fence":101}')" '[]'
tests read like "$(get job "id = '10'")" "\"fence\":\"$big\""
tests 'read as bigint' same "$(get job "id = '10'" 'fence::bigint')" "[{\"fence\":$big}]"
tests 'stale token' stale
tests 'refused grant' refused
tests present present
tests 'lost at commit' lost
tests 'no leak' leak
tests 'whole row, current' current
tests 'whole row, stale' whole_stale
tests 'whole row, presented' presented
tests 'whole row, required' required
