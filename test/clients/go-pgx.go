// pgx 4, with its pool. It asks the server for the type of each parameter.
package main

import (
	"context"
	"errors"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgtype"
	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
)

var ctx = context.Background()

type queryer interface {
	Exec(ctx context.Context, sql string, args ...interface{}) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...interface{}) pgx.Row
}

type pgxConn struct {
	queryer
	registered bool
}

func (on pgxConn) exec(sql string, args ...interface{}) (int64, error) {
	tag, err := on.Exec(ctx, sql, args...)
	return tag.RowsAffected(), err
}

func (on pgxConn) row(sql string, args []interface{}, dest ...interface{}) error {
	return on.QueryRow(ctx, sql, args...).Scan(dest...)
}

func (on pgxConn) fence() interface{} {
	if on.registered {
		return new(int64)
	}
	return new(string)
}

// register makes a fence what its binary format is, that of bigint.
func register(ctx context.Context, on *pgx.Conn) error {
	var oid uint32
	err := on.QueryRow(ctx, "SELECT 'fencing.fence'::regtype::oid").Scan(&oid)
	on.ConnInfo().RegisterDataType(pgtype.DataType{Value: &pgtype.Int8{}, Name: "fence", OID: oid})
	return err
}

type pgxDriver struct{ pool, other *pgxpool.Pool }

func (d pgxDriver) own() conn { return pgxConn{d.other, false} }

func (d pgxDriver) transaction(work func(on conn) error) error {
	return d.pool.BeginFunc(ctx, func(tx pgx.Tx) error { return work(pgxConn{tx, true}) })
}

func (d pgxDriver) fields(err error) fields {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return fields{}
	}
	return fields{e.Code, e.Detail, e.Hint, e.SchemaName, e.TableName, e.ColumnName}
}

func (d pgxDriver) array(numbers ...int64) interface{} { return numbers }

func connect(after func(context.Context, *pgx.Conn) error) *pgxpool.Pool {
	config, err := pgxpool.ParseConfig("pool_max_conns=1")
	must(err)
	config.AfterConnect = after
	config.ConnConfig.PreferSimpleProtocol = pooled
	pool, err := pgxpool.ConnectConfig(ctx, config)
	must(err)
	return pool
}

func main() {
	run(pgxDriver{connect(register), connect(nil)}, "UPDATE job SET fence = $1 WHERE id = 5", "`PreferSimpleProtocol`")
}
