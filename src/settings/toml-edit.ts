/**
 * Changes one value in a TOML text and leaves every other line, comment and blank as it is: a config file belongs to
 * the person who wrote it. Knows plain `[table]` headers only; the caller parses the result before it is kept.
 */
export function withValue(text: string, tableName: string, key: string, value: string | undefined): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const { from, to } = tableLines(lines, tableName)
  const name = /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key)
  const at = lines.findIndex((line, index) => index > from && index < to && isKey(line, key))
  if (value === undefined) {
    if (at >= 0) lines.splice(at, 1)
  } else {
    const line = `${name} = ${JSON.stringify(value)}`
    if (at >= 0) lines[at] = line
    else if (from >= 0) lines.splice(lastFilled(lines, from, to) + 1, 0, line)
    else lines.push(...(lines.length > 0 ? [''] : []), `[${tableName}]`, line)
  }
  return joined(lines)
}

export function withoutTable(text: string, tableName: string): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const { from, to } = tableLines(lines, tableName)
  if (from >= 0) lines.splice(from, to - from)
  return joined(lines)
}

const joined = (lines: string[]): string => (lines.length > 0 ? `${lines.join('\n')}\n` : '')

function tableLines(lines: string[], tableName: string): { from: number; to: number } {
  const isHeader = (line: string): boolean => /^\s*\[/.test(line)
  const from = lines.findIndex((line) => line.replace(/#.*/, '').replaceAll(' ', '').trim() === `[${tableName}]`)
  if (from < 0) return { from: -1, to: -1 }
  const next = lines.findIndex((line, index) => index > from && isHeader(line))
  return { from, to: next < 0 ? lines.length : next }
}

function isKey(line: string, key: string): boolean {
  const written = /^\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*=/.exec(line)?.[1]
  return written !== undefined && written.replace(/^["']|["']$/g, '') === key
}

function lastFilled(lines: string[], from: number, to: number): number {
  let at = to - 1
  while (at > from && lines[at]?.trim() === '') at -= 1
  return at
}
