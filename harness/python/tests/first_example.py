"""The example of the README."""

import windlass

results = windlass.run("clean-link", controller=["cubic", "bbr"], seed=1)
for run in results.runs:
    flow = run["flows"][0]
    print(f"{run['controller']:6} {flow['goodput_mbps']:6.2f} Mbit/s, RTT {flow['rtt_mean_ms']:.1f} ms")
