// Loaded before a program: writes to LOOP_PROBE, twice a second, how its event loop fared after its first five seconds, which load the program.
// On a busy machine a loop is late because it waits for a processor; the processor time between two turns is its own doing.
const { writeFileSync } = require('node:fs')

const EVERY_MS = 10
const LOADED_MS = 5_000
const began = performance.now()
let last = began
let cpu = process.cpuUsage()
const most = { delay_ms: 0, cpu_ms: 0 }

setInterval(() => {
  const now = performance.now()
  const { user, system } = process.cpuUsage(cpu)
  if (now - began > LOADED_MS) {
    most.delay_ms = Math.max(most.delay_ms, now - last - EVERY_MS)
    most.cpu_ms = Math.max(most.cpu_ms, (user + system) / 1_000)
  }
  last = now
  cpu = process.cpuUsage()
}, EVERY_MS).unref()
setInterval(() => writeFileSync(process.env.LOOP_PROBE, JSON.stringify(most)), 500).unref()
