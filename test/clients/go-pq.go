// lib/pq under database/sql, which is a pool.
package main

import (
	"database/sql"

	"github.com/lib/pq"
)

type queryer interface {
	Exec(query string, args ...interface{}) (sql.Result, error)
	QueryRow(query string, args ...interface{}) *sql.Row
}

type pqConn struct{ queryer }

func (on pqConn) exec(query string, args ...interface{}) (int64, error) {
	result, err := on.Exec(query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (on pqConn) row(query string, args []interface{}, dest ...interface{}) error {
	return on.QueryRow(query, args...).Scan(dest...)
}

func (on pqConn) fence() interface{} { return new(int64) }

type pqDriver struct{ pool, other *sql.DB }

func (d pqDriver) own() conn { return pqConn{d.other} }

func (d pqDriver) transaction(work func(on conn) error) error {
	tx, err := d.pool.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := work(pqConn{tx}); err != nil {
		return err
	}
	return tx.Commit()
}

func (d pqDriver) fields(err error) fields {
	e, ok := err.(*pq.Error)
	if !ok {
		return fields{}
	}
	return fields{string(e.Code), e.Detail, e.Hint, e.Schema, e.Table, e.Column}
}

func (d pqDriver) array(numbers ...int64) interface{} { return pq.Array(numbers) }

func connect() *sql.DB {
	settings := ""
	if pooled {
		settings = "binary_parameters=yes"
	}
	db, err := sql.Open("postgres", settings)
	must(err)
	db.SetMaxOpenConns(1)
	return db
}

func main() {
	run(pqDriver{connect(), connect()}, "UPDATE job SET fence = $1 WHERE id = 5", "`binary_parameters=yes`")
}
