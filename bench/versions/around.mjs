/** The part of a line where it begins to differ from another. */
export function around(line = '', other = '') {
  let at = 0
  while (at < line.length && line[at] === other[at]) at += 1
  return JSON.stringify(line.slice(Math.max(0, at - 60), at + 100))
}
