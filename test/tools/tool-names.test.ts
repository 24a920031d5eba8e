import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { LOG_TOOL_NAMES, LOG_TOOLS, RUNNERS } from '../../src/tools/index.js'

const SRC = join(import.meta.dirname, '..', '..', 'src')
// "plain" is a word of its own as well.
const NAMES = [...new Set([...LOG_TOOL_NAMES, ...RUNNERS.map(({ name }) => name)])].filter((name) => name !== 'plain')
const NAME = `['"\`](?:${NAMES.join('|')})['"\`]`
const COMPARISONS = [
  new RegExp(`[=!]==?\\s*${NAME}`),
  new RegExp(`${NAME}\\s*[=!]==?`),
  new RegExp(`case\\s+${NAME}`),
  new RegExp(`(?:includes|has|get|startsWith)\\(${NAME}`),
  new RegExp(`\\[${NAME}\\]`),
  /\btool\w*\s*[=!]==?\s*['"]plain['"]/,
]

/** Lines of a text that decide by the name of a tool. */
const deciding = (text: string): string[] =>
  text.split('\n').filter((line) => COMPARISONS.some((comparison) => comparison.test(line)))

it('nothing outside of src/tools decides by the name of a tool', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const outside = files.filter((name) => !name.startsWith('tools/'))
  expect(outside.length).toBeGreaterThan(300)
  const found = outside.flatMap((name) =>
    deciding(readFileSync(join(SRC, name), 'utf8')).map((line) => `${name}: ${line.trim()}`),
  )
  // The one format of conversations that is imported and exported, offered as a choice.
  expect(found.filter((line) => !line.includes("choice('program', ['openclaw'])"))).toEqual([])
})

it('this file finds such lines where they are', () => {
  for (const line of [
    "a.tool === 'claude'",
    "case 'codex':",
    "'pi' !== tool",
    "x.includes('qwen')",
    "tool === 'plain'",
  ])
    expect(deciding(line)).toEqual([line])
  expect(deciding("const NAME = 'claude'")).toEqual([])
})

it('every log tool is on the list of names', () => {
  expect(LOG_TOOLS.map(({ name }) => name)).toEqual(LOG_TOOL_NAMES)
})
