// JDBC, with the driver's own pooled connection.
import java.sql.*;
import java.util.*;
import org.postgresql.ds.PGConnectionPoolDataSource;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

class Jdbc {
    static final short SMALL = 101;
    static final int WIDE = Integer.MAX_VALUE;
    static final long BIG = (1L << 53) + 1;
    static final boolean POOLED = !System.getenv("POOLED").isEmpty();
    static PGConnectionPoolDataSource source = new PGConnectionPoolDataSource();
    static javax.sql.PooledConnection pool;
    static Connection own;

    // setString() is sent as varchar, which is no fence, as it is no bigint.
    record Untyped(String value) { }
    interface Case { void run() throws Exception; }
    interface Work { void run(Connection on) throws Exception; }

    static PreparedStatement prepare(Connection on, String sql, Object... values) throws SQLException {
        PreparedStatement statement = on.prepareStatement(sql);
        for (int i = 0; i < values.length; i++) {
            if (values[i] instanceof Untyped)
                statement.setObject(i + 1, ((Untyped) values[i]).value, Types.OTHER);
            else
                statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    static int write(Connection on, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = prepare(on, sql, values)) {
            return statement.executeUpdate();
        }
    }

    static ResultSet row(Connection on, String sql, Object... values) throws SQLException {
        PreparedStatement statement = prepare(on, sql, values);
        statement.closeOnCompletion();
        ResultSet rows = statement.executeQuery();
        rows.next();
        return rows;
    }

    static void transaction(Work work) throws Exception {
        try (Connection on = pool.getConnection()) {
            on.setAutoCommit(false);
            try {
                work.run(on);
                on.commit();
            } catch (Exception failure) {
                on.rollback();
                throw failure;
            }
        }
    }

    static int update(int id, Object token) throws SQLException {
        return write(own, "UPDATE job SET v = 'x', fence = ? WHERE id = ? AND fence <= ?", token, id, token);
    }

    static String fence(int id) throws SQLException {
        return row(own, "SELECT fence::text FROM job WHERE id = ?", id).getString(1);
    }

    static Long present(Connection on, Object token) throws SQLException {
        return row(on, "SELECT fencing.present(?)", token).getLong(1);
    }

    static ResultSet grant(String resource) throws SQLException {
        return row(own, "SELECT granted, token FROM fencing.acquire(?, '1 min', 'me')", resource);
    }

    // The row whole, as it was read.
    static Work writeBack(String table, int id) {
        return on -> {
            ResultSet row = row(on, "SELECT id, v, fence FROM " + table + " WHERE id = ?", id);
            same(write(on, "UPDATE " + table + " SET v = ?, fence = ? WHERE id = ?",
                       row.getObject(2), row.getObject(3), row.getObject(1)), 1);
        };
    }

    static void same(Object got, Object wanted) {
        if (!Objects.equals(got, wanted)) throw new AssertionError("got " + got + ", wanted " + wanted);
    }

    static PSQLException fails(String sqlstate, Case work) throws Exception {
        try {
            work.run();
        } catch (PSQLException failure) {
            same(failure.getSQLState(), sqlstate);
            return failure;
        }
        throw new AssertionError("no error");
    }

    static String types(Object... values) {
        Set<String> types = new LinkedHashSet<>();
        for (Object value : values) {
            try {
                types.add(row(own, "SELECT pg_typeof(?)::text", value).getString(1));
            } catch (SQLException failure) {
                types.add("untyped");
            }
        }
        return String.join(", ", types);
    }

    static void test(String name, Case test) {
        try {
            test.run();
            System.out.println("ok " + name);
        } catch (Throwable failure) {
            System.out.println("not ok " + name + ": " + failure.toString().replace("\n", " "));
        }
    }

    static void fact(String name, String value) {
        System.out.println("is " + name + ": " + value);
    }

    public static void main(String[] arguments) throws Exception {
        source.setServerNames(new String[] {System.getenv("PGHOST")});
        source.setPortNumbers(new int[] {Integer.parseInt(System.getenv("PGPORT"))});
        source.setUser(System.getenv("PGUSER"));
        source.setDatabaseName(System.getenv("PGDATABASE"));
        source.setPrepareThreshold(POOLED ? 0 : 1);
        pool = source.getPooledConnection();
        own = source.getConnection();
        fact("integer", types(SMALL, WIDE, BIG));
        fact("string", types("" + BIG));
        fact("pooler", "`prepareThreshold=0`");

        test("small integer", () -> { same(update(1, SMALL), 1); same(fence(1), "" + SMALL); });
        test("32-bit integer", () -> { same(update(2, WIDE), 1); same(fence(2), "" + WIDE); });
        test("64-bit integer", () -> { same(update(3, BIG), 1); same(fence(3), "" + BIG); });
        test("string", () -> { same(update(4, new Untyped("" + BIG)), 1); same(fence(4), "" + BIG); });
        test("array", () -> {
            String any = "SELECT count(*) FROM job WHERE id = 10 AND fence = ANY(?)";
            same(row(own, any, own.createArrayOf("bigint", new Long[] {101L, BIG})).getInt(1), 1);
            same(row(own, any, own.createArrayOf("integer", new Integer[] {101, WIDE})).getInt(1), 0);
        });
        test("assignment alone", () -> {
            same(write(own, "UPDATE job SET fence = ? WHERE id = 5", BIG), 1);
            same(fence(5), "" + BIG);
        });
        test("lower token", () -> same(update(10, SMALL), 0));
        test("read", () -> {
            ResultSet row = row(own, "SELECT fence FROM job WHERE id = 10");
            fact("fence", "`" + row.getObject(1).getClass().getSimpleName() + "`");
            same(row.getLong(1), BIG);
            same(row.getString(1), "" + BIG);
        });
        test("read as bigint", () -> {
            Object got = row(own, "SELECT fence::bigint FROM job WHERE id = 10").getObject(1);
            fact("bigint", "`" + got.getClass().getSimpleName() + "`");
            same(got, BIG);
        });
        test("stale token", () -> {
            ServerErrorMessage error = fails("LF001", () ->
                write(own, "UPDATE job SET fence = 101 WHERE id = 10")).getServerErrorMessage();
            same(error.getDetail(), "The write carries token 101, but token " + BIG + " has been committed to the row.");
            same(error.getHint().startsWith("Another holder"), true);
            same(error.getSchema() + error.getTable() + error.getColumn(), "publicjobfence");
            fact("error", "nothing");
        });
        test("refused grant", () -> {
            ResultSet grant = grant("taken");
            same(grant.getBoolean(1), false);
            Object token = grant.getObject(2);
            same(token, null);
            same(update(10, token), 0);
            fails("22004", () -> present(own, token));
        });
        test("present", () -> {
            transaction(on -> {
                same(present(on, BIG), BIG);
                write(on, "UPDATE job SET v = 'x' WHERE id = 6");
            });
            same(fence(6), "" + BIG);
        });
        test("lost at commit", () -> {
            long token = grant("work").getLong(2);
            same(token > BIG, true);
            PSQLException lost = fails("LF004", () -> transaction(on -> {
                row(on, "SELECT fencing.hold('work', ?)", token);
                write(on, "UPDATE job SET v = 'x' WHERE id = 7");
                grant("work");
            }));
            same(fence(7), "0");
            fact("commit", "`" + lost.getClass().getSimpleName() + "`");
        });
        test("no leak", () -> {
            transaction(on -> present(on, BIG));
            fails("22012", () -> transaction(on -> { present(on, BIG); row(on, "SELECT 1 / 0"); }));
            for (int i = 0; i < 2; i++)
                transaction(on -> same(row(on, "SELECT fencing.presented()").getObject(1), null));
        });
        test("whole row, current", () -> writeBack("job", 11).run(own));
        test("whole row, stale", () -> {
            Object old = row(own, "SELECT fence FROM job WHERE id = 12").getObject(1);
            same(update(12, BIG + 1), 1);
            fails("LF001", () -> write(own, "UPDATE job SET v = ?, fence = ? WHERE id = ?", "", old, 12));
        });
        test("whole row, presented", () ->
            fails("LF001", () -> transaction(on -> { present(on, SMALL); writeBack("job", 13).run(on); })));
        test("whole row, required", () -> {
            fails("LF002", () -> writeBack("strict_job", 1).run(own));
            transaction(on -> { present(on, BIG + 1); writeBack("strict_job", 1).run(on); });
            same(row(own, "SELECT fence::text FROM strict_job").getString(1), "" + (BIG + 1));
        });
    }
}
