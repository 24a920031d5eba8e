import { setFlagsFromString } from 'node:v8'

/**
 * For commands that read logs for a second or so and end: V8 would spend more on optimizing their code than the optimized code saves.
 * With a larger budget only what is really hot is optimized, so that long runs still are. Measured: 100 MB of logs take a quarter less
 * CPU, 1 GB the same. Only where the flag is known to mean this.
 */
export function expectShortRun(): void {
  if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=3000000')
}
