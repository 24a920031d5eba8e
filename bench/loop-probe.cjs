// Loaded before a program: writes to LOOP_PROBE, twice a second, how its event loop fared after its first five seconds, which load the program.
// On a busy machine a loop is late because its thread waits for a processor, which the system counts apart. The rest is its own doing:
// processor time of the thread, and time in which a call waited for a disk or a lock.
const { readFileSync, writeFileSync } = require('node:fs')

const EVERY_MS = 10
const LOADED_MS = 5_000
const THREAD = `/proc/self/task/${process.pid}/schedstat`
const began = performance.now()
let last = began
let [cpu, queued] = spent()
const most = { has_begun: false, delay_ms: 0, cpu_ms: 0, own_ms: 0 }

/** Milliseconds on a processor, and in the queue for one. */
function spent() {
  return readFileSync(THREAD, 'utf8')
    .split(' ', 2)
    .map((nanoseconds) => Number(nanoseconds) / 1e6)
}

setInterval(() => {
  const now = performance.now()
  const [cpuNow, queuedNow] = spent()
  if (now - began > LOADED_MS) {
    most.has_begun = true
    const delay = now - last - EVERY_MS
    most.delay_ms = Math.max(most.delay_ms, delay)
    most.cpu_ms = Math.max(most.cpu_ms, cpuNow - cpu)
    most.own_ms = Math.max(most.own_ms, Math.min(delay, delay - (queuedNow - queued)))
  }
  last = now
  cpu = cpuNow
  queued = queuedNow
}, EVERY_MS).unref()
setInterval(() => writeFileSync(process.env.LOOP_PROBE, JSON.stringify(most)), 500).unref()
