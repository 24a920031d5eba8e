export { grouped, money } from '../../model/index.js'

/** 1.2M: for where a line is too short for all digits. */
export function rounded(count: number): string {
  const [unit = '', size = 1] = UNITS.find(([, least]) => count >= least) ?? []
  if (unit === '') return String(count)
  const parts = count / size
  return `${parts >= 100 ? Math.floor(parts) : Math.floor(parts * 10) / 10}${unit}`
}

const UNITS: readonly (readonly [unit: string, size: number])[] = [
  ['T', 1e12],
  ['B', 1e9],
  ['M', 1e6],
  ['k', 1e3],
]
