"""speed.py [ROUNDS]: what a packet costs with Reno in Python and with the catalogue's, by turns: CPU time of the process."""

import sys
import time

import windlass
from reno import Reno


def cost(controller, scenario):
    """CPU seconds of a run, and its packets."""
    begun = time.process_time()
    flows = windlass.run(scenario, controller=controller, seed=1).flows
    return time.process_time() - begun, sum(flow["packets_sent"] for flow in flows)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    costs = {}
    for _ in range(rounds):
        for name, controller in [("reno in Python", Reno()), ("reno", "reno")]:
            seconds, packets = cost(controller, "clean-link")
            costs.setdefault(name, []).append(seconds / packets)
    print("| | CPU time of a packet | packets a second |\n|---|--:|--:|")
    for name, all_of_it in costs.items():
        least = min(all_of_it)
        print(f"| {name} | {least * 1e6:.2f} µs | {1 / least:,.0f} |")
    print(f"ratio {min(costs['reno in Python']) / min(costs['reno']):.0f}", file=sys.stderr)


main()
