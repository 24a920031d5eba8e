import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { LOG_TOOL_NAMES, LOG_TOOLS, type LogAbilities } from '../../src/tools/index.js'

const PAGE = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'LOGS.md')
const HEADS: Record<keyof LogAbilities, string> = {
  append: 'read on',
  branches: 'branches',
  usage: 'usage',
  durations: 'durations',
  origin: 'fork origin',
  sub_agents: 'sub-agents',
  cwd: 'directory',
  git_branch: 'git branch',
  aborted: 'aborted',
  failed: 'failed',
  compacted: 'compacted',
}

function table(): string {
  const keys = Object.keys(HEADS) as (keyof LogAbilities)[]
  const reasons: string[] = []
  const rows = LOG_TOOLS.map((tool) => {
    const cells = keys.map((key) => {
      const can = tool.can[key]
      if (can.yes) return 'yes'
      const known = reasons.indexOf(can.because)
      return `[${known >= 0 ? known + 1 : reasons.push(can.because)}]`
    })
    return `| ${tool.name} | ${cells.join(' | ')} |`
  })
  const head = `| | ${keys.map((key) => HEADS[key]).join(' | ')} |\n|---|${keys.map(() => '---').join('|')}|`
  const notes = reasons.map((because, index) => `${index + 1}. ${because}`).join('\n')
  return `${head}\n${rows.join('\n')}\n\nNo, because:\n\n${notes}`
}

it('the page about logs has the table that the tools themselves give', () => {
  const page = readFileSync(PAGE, 'utf8')
  const printed = /<!-- abilities -->\n([\s\S]*?)\n?<!-- \/abilities -->/.exec(page)?.[1]
  expect(printed?.trim()).toBe(table())
})

it('the names that a configuration is checked against are those of the readers', () => {
  expect(LOG_TOOL_NAMES).toEqual(LOG_TOOLS.map(({ name }) => name))
})
