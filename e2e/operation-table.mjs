/** The lines of a table of tools and operations, from the tests that vitest's report says were run; none without such tests. */
export function operationTable(report) {
  const cells = report.testResults
    .flatMap((file) => file.assertionResults)
    .flatMap(({ meta, status }) => [
      ...(meta?.operation ? [{ ...meta.operation, isPassed: status === 'passed' }] : []),
      ...(meta?.cells ?? []),
    ])
  if (cells.length === 0) return []
  const tools = [...new Set(cells.map((cell) => cell.tool))]
  const operations = [...new Set(cells.map((cell) => cell.name))]
  const mark = (tool, name) => {
    const found = cells.filter((cell) => cell.tool === tool && cell.name === name)
    return found.length === 0 ? '-' : found.every((cell) => cell.isPassed) ? (found[0].note ?? 'yes') : 'NO'
  }
  const rows = [['', ...tools], ...operations.map((name) => [name, ...tools.map((tool) => mark(tool, name))])]
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  )
  const passed = cells.filter((cell) => cell.isPassed).length
  return ['', ...lines, `${passed} of ${tools.length * operations.length} cells`, '']
}
