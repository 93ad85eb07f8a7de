"""The benchmark: measures in interleaved rounds, and hands over to report.py.

bench.py quick|full [RESOURCES]
"""

import json
import os
import subprocess
import sys
import time

import report
from systems import BENCH, PEERS, PG_CONFIG, SCRATCH, Postgres, Programs, built, run

FLUSHED, FAST = 1.0, 0.05       # how many of the latencies are logged

# title, what must be reached of the floor, floor, ours, operation of the peers, latencies, not flushed?
GROUPS = [
    ('round trip', None, 'select_1', None, None, FAST, False),
    ('unlogged UPDATE', None, 'update_unlogged', None, None, FAST, False),
    ('renew', 0.8, 'select_key', 'renew', 'renew', FAST, False),
    ('acquire, refused: all one resource', 0.75, 'select_hot', 'refused_hot', 'refused', FAST, False),
    ('acquire, refused: each its own', 0.75, 'select_each', 'refused_each', None, FAST, False),
    ('acquire, granted', 0.9, 'update_logged', 'acquire', None, FLUSHED, False),
    ('acquire + release', 0.9, 'update_select', 'acquire_release', 'acquire_release', FLUSHED, False),
    ('hold + bound write, one statement, flushed', 0.9, 'write', 'hold_in_write', None, FLUSHED, False),
    ('hold + bound write, one statement, not flushed', 0.8, 'write', 'hold_in_write', None, FAST, True),
    ('hold, bound write, flushed', 0.9, 'select_then_write', 'hold_then_write', None, FLUSHED, False),
    ('guarded UPDATE by key, flushed', 0.97, 'update_plain', 'update_guarded', None, FLUSHED, False),
    ('guarded UPDATE by key, not flushed', 0.9, 'update_plain', 'update_guarded', None, FAST, True),
]
# Held against the guard, like a peer.
TRIGGERS = {report.EMPTY: 'update_empty', report.INTERPRETED: 'update_interpreted'}
LIBRARIES = ['danth', 'syncguard', 'golease', 'pgxn', 'advisory']
WRITES = sorted({script for group in GROUPS for script in group[2:4] if script} | set(TRIGGERS.values()))

# The plot of throughput by clients.
SWEEP = ['select_key', 'renew', 'refused_hot', 'update_logged', 'acquire', 'acquire_release']
MANY_ROWS = 300000


class Bench:
    def __init__(self, quick, resources):
        self.start = time.monotonic()
        self.quick = quick
        self.seconds = 0.3 if quick else 2      # pgbench counts whole seconds: transactions instead
        self.rounds = 1 if quick else int(os.environ.get('ROUNDS', 5))
        self.clients = [2, 16]
        self.resources = [10000, 100000] if quick else sorted({10000, 100000, 1000000, resources})
        self.results = dict(quick=quick, rounds=self.rounds, seconds=self.seconds, runs=[], many=[], handover=[],
                            sweep=[], growth=[], missing=[])

    def script(self, name):
        return os.path.join(BENCH, 'sql', name + '.sql')

    def say(self, what):
        print(f'{time.monotonic() - self.start:6.1f} s  {what}', file=sys.stderr, flush=True)

    def set_up(self):
        memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
        self.postgres = Postgres(f'{memory // 4 // 2**20}MB')
        module = os.path.join(SCRATCH, 'empty_trigger.so')
        run('gcc', '-O2', '-fPIC', '-shared', '-I' + run(PG_CONFIG, '--includedir-server').strip(), '-o', module,
            os.path.join(BENCH, 'empty_trigger.c'))
        with open(os.path.join(BENCH, 'setup.sql')) as setup:
            self.postgres.sql(setup.read(), empty_trigger=module)
        for table in ('plain', 'empty', 'guarded', 'interpreted'):
            self.postgres.sql(f'UPDATE bench.many_{table} SET n = 1')
        self.say('server')
        self.first = int(self.postgres.sql("SELECT token FROM fencing.leases WHERE resource = 'held/0'"))
        self.programs = Programs()
        self.results['missing'] = self.programs.missing
        self.say('other systems: ' + ', '.join(self.programs.programs))

    def limit(self, clients, flushed, times=1):
        if not self.quick:
            return f'-T {self.seconds * times}'
        return f'-t {(1000 if flushed else 20000) // clients if clients < 16 else 200 if flushed else 1500}'

    def measure(self, script, clients, sampling, lazy, limit=None, pin=False, **variables):
        return self.postgres.pgbench(self.script(script), clients, limit or self.limit(clients, sampling == FLUSHED),
                                     sampling, lazy, pin=pin, first=self.first, **variables)

    def compare(self, script, clients, sampling, lazy, **variables):
        """Where a few percent count: longer, and pinned."""
        return self.measure(script, clients, sampling, lazy, self.limit(clients, sampling == FLUSHED, 2), True,
                            **variables)

    def postgres_peer(self, name, operation, clients, sampling):
        """A peer on this server, from fresh tables, so that what ran before does not count."""
        script = os.path.join(PEERS, name, operation + '.sql')
        if not os.path.exists(script):
            return None
        with open(os.path.join(PEERS, name, 'setup.sql')) as setup:
            self.postgres.sql(setup.read())
        limit = self.limit(clients, True)
        holder = os.path.join(PEERS, name, 'holder.sql')
        if operation != 'refused' or not os.path.exists(holder):
            return self.postgres.pgbench(script, clients, limit, sampling)
        with open(holder) as statements:
            session = self.postgres.session(statements.read())
        time.sleep(0.3)
        try:
            return self.postgres.pgbench(script, clients, limit, sampling, others=1)
        finally:
            self.end_session(session)

    def end_session(self, session):
        self.postgres.sql("""SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'psql' AND pid <> pg_backend_pid()""")
        session.wait()

    def warm_up(self):
        """WAL segments to write to, and no page whose first change is logged as a whole."""
        self.postgres.sql('VACUUM ANALYZE; CHECKPOINT;')
        for script in WRITES:
            self.measure(script, 16, 1.0, True, f'-t {100 if self.quick else 1000}')

    def add(self, number, title, system, clients, measured):
        self.results['runs'].append(dict(measured, round=number, group=title, system=system, clients=clients))
        self.say(f'{number + 1}: {title}, {clients} clients: {system} {measured["rate"]:,.0f}/s')

    def round(self, number):
        self.warm_up()
        for clients in self.clients:
            for title, _, floor, ours, operation, sampling, lazy in GROUPS:
                self.add(number, title, 'floor', clients, self.compare(floor, clients, sampling, lazy))
                if ours:
                    self.add(number, title, 'fencing', clients, self.compare(ours, clients, sampling, lazy))
                if ours == 'update_guarded':
                    for system, script in TRIGGERS.items():
                        self.add(number, title, system, clients, self.compare(script, clients, sampling, lazy))
                if not operation or (self.quick and clients != 16):
                    continue
                self.add(number, title, report.UNPINNED, clients, self.measure(ours, clients, sampling, lazy))
                for name in LIBRARIES:
                    measured = self.postgres_peer(name, operation, clients, sampling)
                    if measured:
                        self.add(number, title, name, clients, measured)
                for name, program in self.programs.programs.items():
                    if name != 'ZooKeeper' or operation != 'renew':
                        self.add(number, title, name, clients, program.measure(operation, clients, self.seconds))
        times = 1 if self.quick else 3
        for token in range(number * times + 1, (number + 1) * times + 1):
            self.many(number, token)
        self.say('many rows')

    def many(self, number, token):
        """One UPDATE of many rows, in ms, and of CPU too."""
        for system, table in (('no trigger', 'plain'), (report.EMPTY, 'empty'), ('fencing', 'guarded'),
                              ('fencing, same token', 'guarded'), (report.INTERPRETED, 'interpreted')):
            self.postgres.sql(f'VACUUM bench.many_{table}')
            cpu = self.postgres.cpu_of_sessions()
            out = self.postgres.sql(f'\\timing on\nUPDATE bench.many_{table} SET n = n + 1, fence = {token}')
            self.results['many'].append(dict(
                system=system, cpu=(self.postgres.cpu_of_sessions() - cpu) * 1000,
                ms=float(out.split('Time: ')[1].split()[0])))

    def renew_under_old_snapshot(self):
        session = self.postgres.session('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM fencing.lease; '
                                        'SELECT pg_sleep(86400)')
        time.sleep(0.3)
        self.postgres.sql('SELECT pg_current_xact_id()')
        self.results['old_snapshot'] = self.postgres.pgbench(
            self.script('renew'), 16, '-t 6250' if self.quick else '-T 60', FAST, others=1, pin=True,
            first=self.first)
        self.end_session(session)

    def handover(self):
        """From the release sent to the waiter's row; the server's advisory locks, and other ways, beside."""
        program = built(os.path.join(BENCH, 'handover.c'), 'pq')
        flush = 'UPDATE bench.logged SET n = n + 1 WHERE id = 1'

        def fencing(waiters):
            """On a resource of its own: whoever is last keeps its lease."""
            return ('fencing', f"SELECT granted, token FROM fencing.acquire('line/{waiters}', wait => '1 min')",
                    f"SELECT fencing.release(resource, token) FROM fencing.leases WHERE resource = 'line/{waiters}'")

        advisory = ('advisory lock', 'SELECT pg_advisory_lock(7002)', 'SELECT pg_advisory_unlock(7002)')
        for waiters in (1, 10, 100):
            for system, acquire, release in [fencing(waiters)] + [advisory] * (not self.quick):
                out = run(program, str(waiters), str(40 if self.quick else 500), acquire, release, flush)
                p50, p99, flush_p50, flush_p99, out_of_line = map(float, out.split())
                self.results['handover'].append(dict(system=system, waiters=waiters, p50=p50, p99=p99,
                                                     flush_p50=flush_p50, flush_p99=flush_p99,
                                                     out_of_line=int(out_of_line)))
        times = str(20 if self.quick else 100)
        others = [(system, (built(os.path.join(PEERS, 'handover.c'), 'pq', 'pthread', name=mode), mode, times))
                  for system, mode in (('LISTEN/NOTIFY and retry', 'notify'), ('polling every 50 ms', 'poll'))]
        with open(os.path.join(PEERS, 'pgxn', 'setup.sql')) as setup:
            self.postgres.sql(setup.read())
        if 'etcd' in self.programs.programs:
            etcd = self.programs.programs['etcd']
            others.append(('etcd mutex', (etcd.client, etcd.address, 'handover', times)))
        for system, command in others:
            p50, p99 = map(float, run(*command).split())
            self.results['handover'].append(dict(system=system, waiters=1, p50=p50, p99=p99))
        self.idle_waiters(program, fencing('idle'), flush)

    def idle_waiters(self, program, kind, flush):
        _, acquire, release = kind
        with subprocess.Popen([program, '100', '0', acquire, release, flush], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as waiting:
            waiting.stdout.readline()
            before = self.postgres.cpu_of_all()
            seconds = 2 if self.quick else 5
            time.sleep(seconds)
            self.results['idle_seconds'] = seconds
            self.results['idle_cpu'] = self.postgres.cpu_of_all() - before
            waiting.stdin.close()

    def sweep(self):
        for clients in (1, 2, 4, 8, 16, 32):
            for script in SWEEP:
                measured = self.measure(script, clients, FAST, False)
                self.results['sweep'].append(dict(measured, system=script, clients=clients))
            for name in ('Redis always', 'Redis everysec'):
                if name in self.programs.programs:
                    program = self.programs.programs[name]
                    self.results['sweep'].append(dict(program.measure('acquire_release', clients, self.seconds),
                                                      system=name, clients=clients))

    def growth(self):
        """More and more resources; then the same without huge pages, if there are any."""
        last = 0
        for resources in self.resources:
            self.postgres.sql(f'CALL bench.grow({last}, {resources - 1}); VACUUM ANALYZE fencing.lease; '
                              'VACUUM ANALYZE fencing.deadline')
            last = resources
            self.grown(resources, resources)
        self.grown(resources, self.resources[0])
        if self.postgres.huge_pages:
            self.postgres.start('off', 'restart')
            self.postgres.sql("""SELECT count(*) FROM fencing.deadline; SELECT count(*) FROM fencing.lease;
                SET enable_seqscan = off; SELECT count(*) FROM fencing.lease WHERE resource > ''""")
            for in_use in (self.resources[0], self.resources[-1]):
                self.grown(resources, in_use)

    def grown(self, resources, in_use):
        """Floors beside, since the machine is not always the same."""
        for number in range(self.rounds):
            for clients in self.clients:
                for system, script, floor in (('SELECT', 'grown_select', 'select_key'),
                                              ('renew', 'grown_renew', 'select_key'),
                                              ('acquire', 'grown_acquire', 'update_logged')):
                    of_floor = self.compare(floor, clients, FAST, False)
                    measured = self.compare(script, clients, FAST, False, resources=in_use)
                    self.results['growth'].append(dict(
                        measured, round=number, system=system, clients=clients, resources=resources, in_use=in_use,
                        huge_pages=self.postgres.huge_pages, ratio=measured['rate'] / of_floor['rate']))

    def run(self):
        self.set_up()
        try:
            for number in range(self.rounds):
                self.round(number)
            self.renew_under_old_snapshot()
            self.say('renewals under an old snapshot')
            self.handover()
            self.say('hand-over')
            if not self.quick:
                self.sweep()
                self.say('throughput by clients')
        finally:
            self.programs.stop()
        self.growth()
        self.say('growth')
        return self.results


def main():
    directory = os.path.join(SCRATCH, 'log', 'bench')
    os.makedirs(directory)
    bench = Bench(sys.argv[1] == 'quick', int(sys.argv[2]) if len(sys.argv) > 2 else 1000000)
    results = bench.run()
    results['server'] = bench.postgres.sql('SELECT version()')
    results['processors'] = os.cpu_count()
    results['groups'] = GROUPS
    with open(os.path.join(directory, 'bench.json'), 'w') as file:
        json.dump(results, file)
    report.write(results, directory)


main()
