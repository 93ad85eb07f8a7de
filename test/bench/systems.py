"""What is measured: a PostgreSQL server, Redis, etcd and ZooKeeper, all private and at once."""

from concurrent.futures import ThreadPoolExecutor
import glob
import os
import re
import resource
import shutil
import socket
import subprocess
import time

BENCH = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(BENCH, '..', 'peers')
SCRATCH = os.environ.get('SCRATCH', '/tmp')
PG_CONFIG = os.environ.get('PG_CONFIG', 'pg_config')
TICK = os.sysconf('SC_CLK_TCK')
JARS = ('zookeeper zookeeper-jute slf4j-api slf4j-nop netty-all netty-buffer netty-codec netty-common '
        'netty-handler netty-resolver netty-transport netty-transport-native-epoll '
        'netty-transport-native-unix-common metrics-core snappy-java commons-cli').split()


def run(*command, **options):
    """The output of a program that must not fail."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode:
        raise RuntimeError(f'{" ".join(command)[:300]}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}')
    return done.stdout


def built(source, *libraries, name=None):
    """Compiles a C program into the scratch directory."""
    program = os.path.join(SCRATCH, 'run-' + (name or os.path.basename(source)[:-2]))
    run('gcc', '-O2', '-Wall', '-I' + run(PG_CONFIG, '--includedir').strip(), '-o', program, source,
        *('-l' + name for name in libraries))
    return program


def percentiles(latencies):
    latencies.sort()
    return latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100]


def processors(clients):
    """Those that so many clients, a power of two, are spread over."""
    own = sorted(os.sched_getaffinity(0))
    return own[:2 ** (min(len(own), clients).bit_length() - 1)]


def cpu_of_machine():
    """Seconds in which the processors were busy, those that other machines took included."""
    with open('/proc/stat') as stat:
        user, nice, system, _, _, irq, softirq, steal, *_ = map(int, stat.readline().split()[1:])
    return (user + nice + system + irq + softirq + steal) / TICK


def cpu_of_clients():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Postgres:
    """The server, and what pgbench and others do to it."""

    def __init__(self, shared_buffers):
        data = os.path.join(SCRATCH, 'data')
        os.environ.update(PGHOST=SCRATCH, PGUSER='bench', PGDATABASE='postgres')
        run('initdb', '-D', data, '-A', 'trust', '-U', 'bench', '-E', 'UTF8', '--locale=C')
        with open(os.path.join(data, 'postgresql.conf'), 'a') as conf:
            conf.write(f"""
                listen_addresses = ''
                unix_socket_directories = '{SCRATCH}'
                shared_buffers = {shared_buffers}
                max_connections = 200
                autovacuum = off
                checkpoint_timeout = 1d
                min_wal_size = 4GB
                max_wal_size = 64GB
                log_checkpoints = off
                """)
        self.data = data
        self.start()

    def start(self, huge_pages='try', verb='start'):
        """Whether its shared memory is in huge pages is in self.huge_pages."""
        run('pg_ctl', '-D', self.data, '-l', os.path.join(SCRATCH, 'log', 'server'), '-w', '-t', '600', '-s',
            '-o', f'-c huge_pages={huge_pages}', verb)
        with open(os.path.join(self.data, 'postmaster.pid')) as pid:
            self.pid = int(pid.readline())
        self.own_processes = len(self.children())
        with open(f'/proc/{self.pid}/smaps') as maps:
            self.huge_pages = any(line.startswith('KernelPageSize:') and int(line.split()[1]) > 1000 for line in maps)

    def sql(self, statements, **variables):
        settings = [word for name, value in variables.items() for word in ('-v', f'{name}={value}')]
        return run('psql', '-XAtq', '-F', ' ', '-v', 'ON_ERROR_STOP=1', *settings, input=statements).strip()

    def session(self, statements):
        """Another session, which runs till it is terminated."""
        return subprocess.Popen(['psql', '-Xq', '-c', statements], stdout=subprocess.DEVNULL)

    def children(self):
        found = []
        for stat in glob.glob('/proc/[0-9]*/stat'):
            try:
                with open(stat) as file:
                    fields = file.read().rsplit(')', 1)[1].split()
                if int(fields[1]) == self.pid:
                    found.append((int(fields[11]) + int(fields[12])) / TICK)
            except (OSError, IndexError):
                pass
        return found

    def cpu_of_sessions(self):
        """CPU seconds of all sessions so far, once they have ended."""
        while len(self.children()) > self.own_processes:
            time.sleep(0.01)
        with open(f'/proc/{self.pid}/stat') as stat:
            fields = stat.read().rsplit(')', 1)[1].split()
        return (int(fields[13]) + int(fields[14])) / TICK

    def cpu_of_all(self):
        return sum(self.children())

    def counters(self):
        """WAL written, transaction IDs used, row versions left dead."""
        return [int(value) for value in self.sql("""
            SELECT pg_current_wal_insert_lsn() - '0/0', pg_snapshot_xmax(pg_current_snapshot()),
                sum(n_tup_upd + n_tup_del) FROM pg_stat_all_tables WHERE schemaname !~ '^pg_'""").split()]

    def start_pgbench(self, script, clients, cpus, *options, **environment):
        """One on each of these processors, with a share of the clients; client_id counts through."""
        with open(script) as file:
            text = file.read()
        share = clients // len(cpus)
        started = []
        for number, cpu in enumerate(cpus):
            path = os.path.join(SCRATCH, f'script{number}')
            with open(path, 'w') as file:
                file.write(f'\\set client_id :client_id % {share} + {number * share}\n{text}')
            started.append(subprocess.Popen(
                [*(['taskset', '-c', str(cpu)] if cpu is not None else []), 'pgbench', '-n', '-M', 'prepared',
                 '-c', str(share), '-j', str(min(clients, 2) // len(cpus) or 1), '-f', path,
                 '-l', '--log-prefix', os.path.join(SCRATCH, f'latency{number}'), *options],
                env=dict(os.environ, PGAPPNAME=f'pgbench{number}', **environment),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        return started

    def pin_sessions(self, clients, cpus, started):
        """Puts each session on the processor of its pgbench."""
        sessions = []
        while len(sessions) < clients and all(process.poll() is None for process in started):
            sessions = self.sql("""SELECT pid, substr(application_name, 8) FROM pg_stat_activity
                WHERE application_name ~ '^pgbench[0-9]'""").splitlines()
        for session in sessions:
            pid, number = map(int, session.split())
            try:
                os.sched_setaffinity(pid, {cpus[number]})
            except ProcessLookupError:      # has ended
                pass

    def pgbench(self, script, clients, limit, sampling=1.0, lazy=False, others=0, pin=False, **variables):
        """Runs a script; limit is -T SECONDS or -t TRANSACTIONS. others is how many sessions run beside.

        With pin, clients and their sessions stay on one processor: where the kernel puts them makes a factor
        of two with few clients, and changes from second to second.
        """
        cpus = processors(clients) if pin else [None]
        settings = [word for name, value in dict(variables, n=clients).items() for word in ('-D', f'{name}={value}')]
        before = self.counters()
        self.own_processes += others
        cpu, clients_cpu, machine_cpu = self.cpu_of_sessions(), cpu_of_clients(), cpu_of_machine()
        start = time.monotonic()
        started = self.start_pgbench(script, clients, cpus, *limit.split(), '--sampling-rate', str(sampling),
                                     *settings, PGOPTIONS='-c synchronous_commit=' + ('off' if lazy else 'on'))
        if pin:
            self.pin_sessions(clients, cpus, started)
        outputs = [process.communicate()[0] for process in started]
        seconds = time.monotonic() - start
        cpu, clients_cpu, machine_cpu = (self.cpu_of_sessions() - cpu, cpu_of_clients() - clients_cpu,
                                         cpu_of_machine() - machine_cpu)
        self.own_processes -= others
        after = self.counters()
        rate = done = 0
        for process, out in zip(started, outputs):
            if process.returncode or not re.search('^number of failed transactions: 0 ', out, re.M):
                raise RuntimeError(out)
            rate += float(re.search('^tps = ([0-9.]+)', out, re.M)[1])
            done += int(re.search('^number of transactions actually processed: ([0-9]+)', out, re.M)[1])
        latencies = []
        for file in glob.glob(os.path.join(SCRATCH, 'latency*.*')):
            with open(file) as lines:
                latencies += [int(line.split(' ', 3)[2]) / 1000 for line in lines]
            os.remove(file)
        p50, p99 = percentiles(latencies or [0])
        return dict(rate=rate, p50=p50, p99=p99, cpu=cpu / done * 1e6,
                    foreign=max(0.0, machine_cpu - cpu - clients_cpu) / seconds / os.cpu_count(),
                    **{name: (b - a) / done for name, a, b in zip(('wal', 'xids', 'dead'), before, after)})


class Program:
    """A system with a client of its own, which says: operations a second, p50, p99."""

    def __init__(self, name, client, address):
        self.name, self.client, self.address = name, client, address
        run(client, address, 'setup')

    def measure(self, operation, clients, seconds):
        rate, p50, p99 = map(float, run(self.client, self.address, operation, str(clients), str(seconds)).split())
        return dict(rate=rate, p50=p50, p99=p99)


class Programs:
    """Redis twice, etcd and ZooKeeper, as far as they are installed; missing tells the rest."""

    def __init__(self):
        self.servers, self.programs, self.missing = [], {}, []
        starts = {'Redis always': lambda: self.redis('always'), 'Redis everysec': lambda: self.redis('everysec'),
                  'etcd': self.etcd, 'ZooKeeper': self.zookeeper}
        with ThreadPoolExecutor() as pool:
            started = {name: pool.submit(start) for name, start in starts.items()}
        for name, program in started.items():
            try:
                self.programs[name] = program.result()
            except (OSError, RuntimeError) as error:
                self.missing.append(f'{name} ({" ".join(str(error).split())[-150:]})')

    def launch(self, name, *command):
        directory = os.path.join(SCRATCH, name)
        os.makedirs(directory)
        with open(os.path.join(SCRATCH, 'log', name), 'w') as log:
            self.servers.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=directory))

    def redis(self, fsync):
        name = 'redis-' + fsync
        client = built(os.path.join(PEERS, 'redis.c'), 'hiredis', 'pthread', name=name)
        path = os.path.join(SCRATCH, name + '.sock')
        self.launch(name, 'redis-server', '--port', '0', '--unixsocket', path, '--appendonly', 'yes',
                    '--appendfsync', fsync, '--save', '')
        wait_for(lambda: os.path.exists(path))
        return Program('Redis ' + fsync, client, path)

    def etcd(self):
        client = os.path.join(SCRATCH, 'etcd-client')
        if not shutil.which('etcd'):
            raise OSError('etcd not found')
        run('go', 'build', '-o', client, os.path.join(PEERS, 'etcd.go'),
            env=dict(os.environ, GO111MODULE='off', GOPATH='/usr/share/gocode', GOCACHE=os.path.join(SCRATCH, 'go')))
        port, peer = free_port(), free_port()
        url, peer_url = f'http://127.0.0.1:{port}', f'http://127.0.0.1:{peer}'
        self.launch('etcd', 'etcd', '--name', 'bench', '--data-dir', 'data', '--log-level', 'error',
                    '--listen-client-urls', url, '--advertise-client-urls', url, '--listen-peer-urls', peer_url,
                    '--initial-advertise-peer-urls', peer_url, '--initial-cluster', 'bench=' + peer_url)
        wait_for(lambda: answers(port))
        return Program('etcd', client, url)

    def zookeeper(self):
        client = built(os.path.join(PEERS, 'zookeeper.c'), 'zookeeper_mt', 'pthread')
        jars = [path for name in JARS for path in glob.glob(f'/usr/share/java/{name}.jar')]
        if not jars:
            raise OSError('/usr/share/java/zookeeper.jar not found')
        port = free_port()
        config = os.path.join(SCRATCH, 'zoo.cfg')
        with open(config, 'w') as file:
            file.write(f'tickTime=2000\ndataDir={SCRATCH}/zookeeper\nclientPort={port}\nmaxClientCnxns=0\n'
                       'clientPortAddress=127.0.0.1\nadmin.enableServer=false\n')
        self.launch('zookeeper', 'java', '-Xmx512m', '-cp', ':'.join(jars),
                    'org.apache.zookeeper.server.quorum.QuorumPeerMain', config)
        wait_for(lambda: answers(port))
        return Program('ZooKeeper', client, f'127.0.0.1:{port}')

    def stop(self):
        for server in self.servers:
            server.terminate()
        for server in self.servers:
            server.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(('127.0.0.1', port)) == 0


def wait_for(condition):
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise RuntimeError('does not start')
