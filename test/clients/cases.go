// The cases of README.md for the programs in Go, each of which brings a driver.
package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"
)

const (
	small int   = 101
	wide  int   = 1<<31 - 1
	big   int64 = 1<<53 + 1
	stale       = "The write carries token 101, but token 9007199254740993 has been committed to the row."
)

var pooled = os.Getenv("POOLED") != ""

type conn interface {
	exec(sql string, args ...interface{}) (int64, error)
	// row reads the first row into what dest points to.
	row(sql string, args []interface{}, dest ...interface{}) error
	// fence is a pointer to what a fence is read into: an int64 where the driver can.
	fence() interface{}
}

type fields struct{ sqlstate, detail, hint, schema, table, column string }

type driver interface {
	own() conn
	// transaction runs work on a connection out of the pool, and commits.
	transaction(work func(on conn) error) error
	fields(err error) fields
	array(numbers ...int64) interface{}
}

// must stops a case.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func same(got, wanted interface{}) {
	if got != wanted {
		panic(fmt.Errorf("got %#v, wanted %#v", got, wanted))
	}
}

func number(on conn, sql string, args ...interface{}) (value int64) {
	must(on.row(sql, args, &value))
	return
}

func text(on conn, sql string, args ...interface{}) (value string) {
	must(on.row(sql, args, &value))
	return
}

func fact(name, value string) { fmt.Printf("is %s: %s\n", name, value) }

func kind(value interface{}) string { return "`" + reflect.TypeOf(value).String() + "`" }

func types(on conn, values ...interface{}) string {
	var found []string
	for _, value := range values {
		var name string
		if on.row("SELECT pg_typeof($1)::text", []interface{}{value}, &name) != nil || name == "unknown" {
			name = "untyped"
		}
		if len(found) == 0 || found[len(found)-1] != name {
			found = append(found, name)
		}
	}
	return strings.Join(found, ", ")
}

// assign is the assignment that must do where the column alone tells the type.
func run(d driver, assign, pooler string) {
	own := d.own()
	fence := func(id int) string { return text(own, "SELECT fence::text FROM job WHERE id = $1", id) }
	update := func(id int, token interface{}) int64 {
		rows, err := own.exec("UPDATE job SET v = 'x', fence = $1 WHERE id = $2 AND fence <= $1", token, id)
		must(err)
		return rows
	}
	fails := func(sqlstate string, err error) fields {
		if err == nil {
			panic(fmt.Errorf("no error"))
		}
		if got := d.fields(err); got.sqlstate == sqlstate {
			return got
		}
		panic(err)
	}
	present := func(on conn, token interface{}) error {
		var value int64
		return on.row("SELECT fencing.present($1)", []interface{}{token}, &value)
	}
	grant := func(resource string) (granted bool, token *int64) {
		must(own.row("SELECT granted, token FROM fencing.acquire($1, '1 min', 'me')",
			[]interface{}{resource}, &granted, &token))
		return
	}
	read := func(on conn, table string, id int) (v string, fence interface{}) {
		dest := on.fence()
		must(on.row("SELECT v, fence FROM "+table+" WHERE id = $1", []interface{}{id}, &v, dest))
		return v, reflect.ValueOf(dest).Elem().Interface()
	}
	writeBack := func(on conn, table string, id int, v string, fence interface{}) error {
		rows, err := on.exec("UPDATE "+table+" SET v = $1, fence = $2 WHERE id = $3", v, fence, id)
		if err == nil {
			same(rows, int64(1))
		}
		return err
	}
	test := func(name string, test func()) {
		defer func() {
			if failure := recover(); failure == nil {
				fmt.Println("ok", name)
			} else {
				fmt.Printf("not ok %s: %v\n", name, failure)
			}
		}()
		test()
	}

	fact("integer", types(own, small, wide, big))
	fact("string", types(own, fmt.Sprint(big)))
	fact("pooler", pooler)
	test("small integer", func() { same(update(1, small), int64(1)); same(fence(1), "101") })
	test("32-bit integer", func() { same(update(2, wide), int64(1)); same(fence(2), "2147483647") })
	test("64-bit integer", func() { same(update(3, big), int64(1)); same(fence(3), "9007199254740993") })
	test("string", func() {
		same(update(4, "9007199254740993"), int64(1))
		same(fence(4), "9007199254740993")
	})
	test("array", func() {
		count := "SELECT count(*) FROM job WHERE id = 10 AND fence = ANY($1)"
		same(number(own, count, d.array(101, big)), int64(1))
		same(number(own, count, d.array(101, int64(wide))), int64(0))
	})
	test("assignment alone", func() {
		rows, err := own.exec(assign, big)
		must(err)
		same(rows, int64(1))
		same(fence(5), "9007199254740993")
	})
	test("lower token", func() { same(update(10, small), int64(0)) })
	test("read", func() {
		_, got := read(own, "job", 10)
		fact("fence", kind(got))
		same(fmt.Sprint(got), "9007199254740993")
	})
	test("read as bigint", func() {
		var got interface{}
		must(own.row("SELECT fence::bigint FROM job WHERE id = 10", nil, &got))
		fact("bigint", kind(got))
		same(got, big)
	})
	test("stale token", func() {
		_, err := own.exec("UPDATE job SET fence = 101 WHERE id = 10")
		got := fails("LF001", err)
		same(got.detail, stale)
		same(strings.HasPrefix(got.hint, "Another holder"), true)
		same(got.schema+got.table+got.column, "publicjobfence")
		fact("error", "nothing")
	})
	test("refused grant", func() {
		granted, token := grant("taken")
		same(granted, false)
		same(token, (*int64)(nil))
		same(update(10, token), int64(0))
		fails("22004", present(own, token))
	})
	test("present", func() {
		must(d.transaction(func(on conn) error {
			must(present(on, big))
			_, err := on.exec("UPDATE job SET v = 'x' WHERE id = 6")
			return err
		}))
		same(fence(6), "9007199254740993")
	})
	test("lost at commit", func() {
		_, token := grant("work")
		same(*token > big, true)
		lost := d.transaction(func(on conn) error {
			same(number(on, "SELECT fencing.hold('work', $1)", *token), *token)
			_, err := on.exec("UPDATE job SET v = 'x' WHERE id = 7")
			grant("work")
			return err
		})
		fails("LF004", lost)
		same(fence(7), "0")
		fact("commit", kind(lost))
	})
	test("no leak", func() {
		must(d.transaction(func(on conn) error { return present(on, big) }))
		fails("22012", d.transaction(func(on conn) error {
			must(present(on, big))
			_, err := on.exec("SELECT 1 / 0")
			return err
		}))
		for i := 0; i < 2; i++ {
			must(d.transaction(func(on conn) error {
				var token *int64
				must(on.row("SELECT fencing.presented()", nil, &token))
				same(token, (*int64)(nil))
				return nil
			}))
		}
	})
	test("whole row, current", func() {
		v, fence := read(own, "job", 11)
		must(writeBack(own, "job", 11, v, fence))
	})
	test("whole row, stale", func() {
		v, fence := read(own, "job", 12)
		same(update(12, big+1), int64(1))
		fails("LF001", writeBack(own, "job", 12, v, fence))
	})
	test("whole row, presented", func() {
		fails("LF001", d.transaction(func(on conn) error {
			must(present(on, small))
			v, fence := read(on, "job", 13)
			return writeBack(on, "job", 13, v, fence)
		}))
	})
	test("whole row, required", func() {
		v, fence := read(own, "strict_job", 1)
		fails("LF002", writeBack(own, "strict_job", 1, v, fence))
		must(d.transaction(func(on conn) error {
			must(present(on, big+1))
			v, fence := read(on, "strict_job", 1)
			return writeBack(on, "strict_job", 1, v, fence)
		}))
		same(text(own, "SELECT fence::text FROM strict_job"), "9007199254740994")
	})
}
