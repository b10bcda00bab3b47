// What figures of traces show, as JSON: the command line's figures on paper (src/report/figure) read it, too.
const SHOWN = {
  "quantities": {
    "congestion_window": { "label": "congestion window", "unit": "kB", "scale": 1e-3, "digits": 1 },
    "ssthresh": { "label": "slow start threshold", "unit": "kB", "scale": 1e-3, "digits": 1 },
    "bytes_in_flight": { "label": "bytes in flight", "unit": "kB", "scale": 1e-3, "digits": 1 },
    "latest_rtt": { "label": "latest", "unit": "ms", "scale": 1e-6, "digits": 3 },
    "smoothed_rtt": { "label": "smoothed", "unit": "ms", "scale": 1e-6, "digits": 3 },
    "min_rtt": { "label": "minimum", "unit": "ms", "scale": 1e-6, "digits": 3 },
    "pacing_rate": { "label": "pacing rate", "unit": "Mbit/s", "scale": 1e-6, "digits": 2 },
    "sent": { "label": "sent", "unit": "MB", "scale": 1e-6, "digits": 3 },
    "delivered": { "label": "acknowledged", "unit": "MB", "scale": 1e-6, "digits": 3 },
    "received": { "label": "received", "unit": "MB", "scale": 1e-6, "digits": 3 },
    "max_data": { "label": "connection's limit", "unit": "MB", "scale": 1e-6, "digits": 3 },
    "data_sent": { "label": "data of all streams", "unit": "MB", "scale": 1e-6, "digits": 3 },
    "local_max_data": { "label": "connection's limit", "unit": "MB", "scale": 1e-6, "digits": 3 },
    "data_received": { "label": "data of all streams", "unit": "MB", "scale": 1e-6, "digits": 3 },
    "max_stream_data": { "label": "limit of the largest stream", "unit": "MB", "scale": 1e-6, "digits": 3 },
    "stream_data_sent": { "label": "data of the largest stream", "unit": "MB", "scale": 1e-6, "digits": 3 }
  },
  "panels": [
    { "title": "Window, kB", "unit": "kB", "digits": 1, "zero": true, "marked": true, "paper": true, "lines": [
      { "of": "ssthresh", "colour": "line-8", "dash": "dash", "width": 1.2 },
      { "of": "bytes_in_flight", "colour": "line-7", "width": 1.2 },
      { "of": "congestion_window", "colour": "line-1", "width": 1.8 }
    ] },
    { "title": "Round-trip time, ms", "unit": "ms", "digits": 2, "zero": "auto", "paper": true, "lines": [
      { "of": "latest_rtt", "kind": "samples", "colour": "line-5" },
      { "of": "min_rtt", "colour": "line-8", "dash": "dash", "width": 1.2 },
      { "of": "smoothed_rtt", "colour": "line-6", "width": 1.8 }
    ] },
    { "title": "Rate, Mbit/s", "unit": "Mbit/s", "digits": 2, "zero": true, "paper": true, "lines": [
      { "of": "pacing_rate", "colour": "line-4", "dash": "dash", "width": 1.2 },
      { "of": "sent", "as": "throughput", "colour": "line-2", "width": 1.4 },
      { "of": "received", "as": "received goodput", "colour": "line-6", "width": 1.8 },
      { "of": "delivered", "as": "goodput", "colour": "line-3", "width": 1.8 }
    ] },
    { "title": "Flow control of what is sent, MB", "unit": "MB", "digits": 3, "height": 110, "zero": "auto", "lines": [
      { "of": "max_data", "colour": "line-8", "dash": "dash", "width": 1.2 },
      { "of": "data_sent", "colour": "line-2", "width": 1.6 },
      { "of": "max_stream_data", "colour": "line-4", "dash": "dash", "width": 1.2 },
      { "of": "stream_data_sent", "colour": "line-3", "width": 1.2 }
    ] },
    { "title": "Flow control of what is received, MB", "unit": "MB", "digits": 3, "height": 110, "zero": "auto", "lines": [
      { "of": "local_max_data", "colour": "line-8", "dash": "dash", "width": 1.2 },
      { "of": "data_received", "colour": "line-6", "width": 1.6 }
    ] },
    { "title": "Data in all, MB", "unit": "MB", "digits": 3, "height": 110, "zero": "auto", "lines": [
      { "of": "sent", "colour": "line-2", "width": 1.2 },
      { "of": "received", "colour": "line-6", "width": 1.6 },
      { "of": "delivered", "colour": "line-3", "width": 1.6 }
    ] }
  ],
  "lanes": [
    { "of": "state", "name": "state", "kind": "spans" },
    { "of": "lost", "name": "lost", "kind": "ticks", "colour": "loss", "always": true },
    { "of": "marked", "name": "CE marks", "kind": "ticks", "colour": "line-4", "always": true },
    { "of": "app_limited", "name": "app-limited", "kind": "spans", "colours": [null, "line-8"], "names": ["", "app-limited"], "always": true },
    { "of": "limited_by", "name": "limited by", "kind": "spans", "colours": ["line-3", "line-8", "line-5", "line-6"] },
    { "of": "blocked", "name": "blocked", "kind": "ticks", "colour": "line-2" }
  ],
  "states": { "slow_start": "line-1", "congestion_avoidance": "ink-faint", "recovery": "line-2", "application_limited": "line-5" },
  "other_states": ["line-6", "line-7", "line-4", "line-3"],
  "untinted": "congestion_avoidance"
};
