"""The table and the plots of what bench.py measured.

report.py BENCH.JSON DIRECTORY writes them again.
"""

import json
import os
import sys
from statistics import median

NAMES = {
    'select_1': 'SELECT 1', 'select_key': 'SELECT of one row by a text key',
    'select_hot': 'SELECT of the same columns by the same key',
    'select_each': 'SELECT of the same columns, each its own key',
    'update_logged': 'UPDATE of one logged row', 'update_unlogged': 'UPDATE of one unlogged row',
    'update_select': 'UPDATE of one logged row, then SELECT of one', 'write': 'the same UPDATE without',
    'select_then_write': 'the same transaction with a SELECT instead', 'update_plain': 'the same UPDATE unguarded',
    'danth': 'danth pg_lease', 'pgxn': 'PGXN pg_lease (emulated)', 'golease': 'go-lease', 'advisory': 'advisory lock'}
UNPINNED = 'fencing, not pinned'
EMPTY = 'an empty trigger in C'
INTERPRETED = 'the same trigger in PL/pgSQL'
INK, GRID = '#222222', '#dddddd'
LINES = {
    'renew': ('renew', '#0b6e99', '-'), 'refused_hot': ('acquire, refused', '#d1495b', '-'),
    'acquire': ('acquire, granted', '#66a182', '-'), 'acquire_release': ('acquire + release', '#edae49', '-'),
    'SELECT': ('SELECT of one row by name', '#888888', '--'),
    'select_key': ('floor: SELECT of one row', '#888888', '--'),
    'update_logged': ('floor: UPDATE of one row', '#888888', ':'),
    'Redis everysec': ('Redis everysec, acquire + release', '#8d6a9f', '--'),
    'Redis always': ('Redis always, acquire + release', '#8d6a9f', ':')}


def number(value, digits=3):
    """With so many significant digits, and commas."""
    if value is None:
        return ''
    if value >= 10 ** (digits - 1):
        return f'{value:,.0f}'
    return f'{value:.{digits}g}' if value >= 0.0005 else '0'


def row(*cells):
    return '| ' + ' | '.join(str(cell) for cell in cells) + ' |'


def header(*titles):
    """A leading space marks a column of text."""
    return [row(*(title.strip() for title in titles)),
            row(*('---' if title.startswith(' ') else '---:' for title in titles))]


class Runs:
    """All runs of one group, with medians and their ratios."""

    def __init__(self, runs, title):
        self.runs = [run for run in runs if run['group'] == title]

    def of(self, system, clients):
        return [run for run in self.runs if run['system'] == system and run['clients'] == clients]

    def keys(self):
        return list(dict.fromkeys((run['clients'], run['system']) for run in self.runs))

    def median(self, system, clients, name):
        values = [run[name] for run in self.of(system, clients) if name in run]
        return median(values) if values else None

    def ratio(self, system, other, clients, name='rate'):
        a, b = self.median(system, clients, name), self.median(other, clients, name)
        return a / b if a and b else None


def table(results):
    lines = header(' operation', ' system', 'clients', 'ops/s', 'min to max', 'p50 ms', 'p99 ms', 'WAL bytes', 'xids',
                   'dead rows', 'CPU µs', 'to the floor', 'by CPU', 'must be', 'fencing is')
    for title, must, floor, _, _, _, _ in results['groups']:
        runs = Runs(results['runs'], title)
        for clients, system in runs.keys():
            rates = [run['rate'] for run in runs.of(system, clients)]
            name = NAMES.get(system, system)
            if system == 'floor':
                name = 'floor: ' + NAMES[floor]
            elif system in ('fencing', UNPINNED):
                name = f'**{system}**'
            to_floor = by_cpu = times = None
            if system != 'floor':
                to_floor = runs.ratio(system, 'floor', clients)
                by_cpu = runs.ratio('floor', system, clients, 'cpu')
            if system not in ('floor', 'fencing', UNPINNED):
                times = runs.ratio('fencing' if system in (EMPTY, INTERPRETED) else UNPINNED, system, clients)
            lines.append(row(
                title, name, clients, number(median(rates)), f'{number(min(rates))} to {number(max(rates))}',
                *(number(runs.median(system, clients, fact)) for fact in ('p50', 'p99')),
                *(number(runs.median(system, clients, fact)) for fact in ('wal', 'xids', 'dead', 'cpu')),
                number(to_floor), number(by_cpu), must if system == 'fencing' else '',
                number(times) + ' times' if times else ''))
    return lines


def many_rows(results):
    lines = header(' UPDATE of 300,000 rows', 'ms', 'min to max', 'CPU ms', 'to an empty trigger in C',
                   'to that in PL/pgSQL', 'by CPU to the empty one', 'by CPU to PL/pgSQL')
    runs = results['many']

    def of(system, fact):
        return median(run[fact] for run in runs if run['system'] == system)

    def ratio(system, other, fact):
        return number(of(system, fact) / of(other, fact))

    for system in dict.fromkeys(run['system'] for run in runs):
        ms = [run['ms'] for run in runs if run['system'] == system]
        lines.append(row(system, number(median(ms)), f'{number(min(ms))} to {number(max(ms))}',
                         number(of(system, 'cpu')),
                         ratio(system, EMPTY, 'ms'), ratio(system, INTERPRETED, 'ms'),
                         ratio(system, EMPTY, 'cpu'), ratio(system, INTERPRETED, 'cpu')))
    return lines


def handover(results):
    lines = header(' hand-over to a waiter', 'waiters', 'p50 ms', 'p99 ms', 'one flush p50', 'one flush p99',
                   'p50 beyond it', 'p99 beyond it', 'out of line')
    for run in results['handover']:
        beyond = [number(max(run[fact] - run['flush_' + fact], 0)) for fact in ('p50', 'p99')] \
            if run['system'] == 'fencing' else ['', '']
        lines.append(row(run['system'], run['waiters'], number(run['p50']), number(run['p99']),
                         *(number(run.get('flush_' + fact)) for fact in ('p50', 'p99')), *beyond,
                         run.get('out_of_line', '')))
    return lines


def growth(results):
    lines = header(' operation', ' huge pages', 'clients', 'resources', 'in use', 'ops/s', 'CPU µs', 'to the floor',
                   'cost to that of 10,000', 'by CPU')
    kinds = dict.fromkeys((run['huge_pages'], run['clients'], run['system']) for run in results['growth'])
    for huge_pages, clients, system in sorted(kinds, key=lambda kind: (not kind[0], kind[1])):
        runs = [run for run in results['growth']
                if (run['huge_pages'], run['clients'], run['system']) == (huge_pages, clients, system)]

        def of(size, fact):
            return median(run[fact] for run in runs if (run['resources'], run['in_use']) == size)

        sizes = sorted({(run['resources'], run['in_use']) for run in runs})
        for size in sizes:
            lines.append(row(system, 'yes' if huge_pages else 'no', clients, f'{size[0]:,}', f'{size[1]:,}',
                             number(of(size, 'rate')), number(of(size, 'cpu')), number(of(size, 'ratio')),
                             number(of(sizes[0], 'ratio') / of(size, 'ratio')),
                             number(of(size, 'cpu') / of(sizes[0], 'cpu'))))
    return lines


def axes(title, x_label, y_label):
    import matplotlib
    matplotlib.use('svg')
    matplotlib.rcParams.update({
        'svg.fonttype': 'none', 'svg.hashsalt': 'bench', 'font.family': 'sans-serif', 'font.size': 11,
        'font.sans-serif': ['DejaVu Sans', 'Verdana', 'sans-serif'], 'text.color': INK, 'axes.labelcolor': INK,
        'xtick.color': INK, 'ytick.color': INK, 'axes.edgecolor': INK})
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, NullFormatter
    figure, plot = pyplot.subplots(figsize=(8, 4.8))
    plot.set_title(title, loc='left', fontweight='bold', fontsize=12)
    plot.set_xlabel(x_label)
    plot.set_ylabel(y_label)
    plot.set_xscale('log', base=2 if x_label == 'clients' else 10)
    plot.set_yscale('log')
    for axis in (plot.xaxis, plot.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f'{value:,.0f}'))
        axis.set_minor_formatter(NullFormatter())
    plot.grid(True, which='major', color=GRID, linewidth=0.8)
    plot.set_axisbelow(True)
    for side in ('top', 'right'):
        plot.spines[side].set_visible(False)
    return figure, plot


def save(figure, plot, path):
    plot.legend(loc='center left', bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=10)
    figure.savefig(path, bbox_inches='tight', facecolor='white', metadata={'Date': None})


def plot_throughput(results, path):
    runs = results['sweep'] or [
        dict(run, system=script) for script, title, system in (
            ('select_key', 'renew', 'floor'), ('renew', 'renew', 'fencing'),
            ('refused_hot', 'acquire, refused: all one resource', 'fencing'),
            ('update_logged', 'acquire, granted', 'floor'), ('acquire', 'acquire, granted', 'fencing'),
            ('acquire_release', 'acquire + release', 'fencing'))
        for run in results['runs'] if run['group'] == title and run['system'] == system]
    figure, plot = axes('Throughput by clients', 'clients', 'operations per second')
    for system, (label, colour, style) in LINES.items():
        points = sorted({(run['clients'], run['rate']) for run in runs if run['system'] == system})
        if points:
            plot.plot(*zip(*points), label=label, color=colour, linestyle=style, linewidth=2,
                      marker='o' if style == '-' else None, markersize=4)
    save(figure, plot, path)


def plot_growth(results, path):
    figure, plot = axes('Cost by number of resources', 'resources', 'CPU per operation with 16 clients, µs')
    first = results['growth'][0]['huge_pages']
    runs = [run for run in results['growth']
            if run['clients'] == 16 and run['huge_pages'] == first and run['in_use'] == run['resources']]
    for system in ('SELECT', 'renew', 'acquire'):
        label, colour, style = LINES[system]
        sizes = sorted({run['resources'] for run in runs})
        costs = [median(run['cpu'] for run in runs if run['system'] == system and run['resources'] == size)
                 for size in sizes]
        plot.plot(sizes, costs, label=label, color=colour, linestyle=style, linewidth=2, marker='o', markersize=5)
        for size, cost in zip(sizes, costs):
            if system != 'SELECT':
                plot.annotate(number(cost), (size, cost), textcoords='offset points', ha='center', fontsize=10,
                              xytext=(0, -16 if system == 'renew' else 8), color=colour)
    plot.set_ylim(bottom=5, top=1000)
    save(figure, plot, path)


def page(results):
    old = results['old_snapshot']
    foreign = median(run['foreign'] for run in results['runs'] if 'foreign' in run)
    rate = Runs(results['runs'], 'renew').median('fencing', 16, 'rate')
    return '\n'.join([
        '# Benchmark', '',
        f'`make bench`, {results["rounds"]} rounds of {results["seconds"]} s each on {results["processors"]} '
        f'processors; {results["server"].split(" on ")[0]}, a server, Redis, etcd and ZooKeeper on the same machine '
        f'and disk, over Unix sockets but for etcd and ZooKeeper. Other work took {foreign:.0%} of the machine '
        'meanwhile (median of the runs).', '',
        'In a round, each operation has its floor measured first, then every system once. Figures are medians of the '
        'rounds, and ratios are of these. `to the floor` is the rate by that of the floor, `by CPU` the floor\'s CPU '
        'time of sessions by that of the operation, `fencing is` the rate of fencing by that of the system. WAL, '
        'transaction IDs (xids) and dead row versions are per operation.', '',
        'Floors and what is held against them run for twice as long, and pinned: each processor has one pgbench and '
        'the sessions that it talks to. Left to the kernel, the rate of two clients changes by a factor of two from '
        'second to second. Other systems are left to the kernel, as fencing is where it is held against them; their '
        'rates by that of the floor are a little low for that.', '',
        *(['Not installed, and so not run: ' + ', '.join(results['missing']) + '.', ''] if results['missing'] else []),
        *table(results), '',
        f'Renewals with 16 clients while another session held an old snapshot: {number(old["rate"])}/s '
        f'({number(old["rate"] / rate)} of the rate above); {number(old["wal"])} bytes of WAL, '
        f'{number(old["xids"])} transaction IDs and {number(old["dead"])} dead rows each.', '',
        *many_rows(results), '',
        'From the release sent to the waiter\'s row, which takes one flush. `out of line` is how often another than '
        'the first in line was served.', '', *handover(results), '',
        f'100 waiters on one resource took {results["idle_cpu"] * 1000:.0f} ms of CPU in '
        f'{results["idle_seconds"]} s, all processes of the server together.', '',
        'Names at random among those in use, of so many resources; the floors, on 10,000 rows, beside. `SELECT` reads '
        'one row of `fencing.lease` by its name: what PostgreSQL itself takes to find it among so many. Without huge '
        'pages, which PostgreSQL uses where the system has set them aside, a new session first has to be given every '
        'page of shared memory that it comes to.', '',
        *growth(results), '', '![Throughput by clients](throughput.svg)', '',
        '![Cost by number of resources](growth.svg)', ''])


def write(results, directory):
    text = page(results)
    print(text)
    with open(os.path.join(directory, 'bench.md'), 'w') as file:
        file.write(text)
    try:
        plot_throughput(results, os.path.join(directory, 'throughput.svg'))
        plot_growth(results, os.path.join(directory, 'growth.svg'))
    except ImportError as error:
        print(f'no plots: {error}', file=sys.stderr)


if __name__ == '__main__':
    with open(sys.argv[1]) as source:
        write(json.load(source), sys.argv[2])
