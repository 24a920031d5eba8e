import { setFlagsFromString } from 'node:v8'

/**
 * For commands that read logs for a second or so and end: V8 would spend more on optimizing their code than the optimized code saves.
 * With a larger budget only what is really hot is optimized, so that long runs still are. Measured, CPU seconds for 100 MB and 1 GB of
 * logs: usual budget 2.7 and 16.0, this one 2.0 and 15.7, three times as much 2.15 and 17. Only where the flag is known to mean this.
 */
export function expectShortRun(): void {
  if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=1000000')
}
