import { setFlagsFromString } from 'node:v8'

/**
 * For commands that read logs for a second or so and end: V8 would spend more on optimizing their code than the optimized code saves.
 * With a larger budget only what is really hot is optimized, so that long runs still are. Measured on 100 MB of logs, CPU seconds: usual
 * budget 2.76, 600,000 2.34, 3,000,000 2.41; in a later build 500,000 2.10, 1,000,000 2.01, 3,000,000 2.15. On 1 GB anything up to this
 * one is the same within the noise, and 3,000,000 takes a twentieth more. Only where the flag is known to mean this.
 */
export function expectShortRun(): void {
  if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=1000000')
}
