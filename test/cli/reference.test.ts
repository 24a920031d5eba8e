import { expect, it } from 'vitest'
import { COMMANDS, isNoun } from '../../src/cli/command-table.js'
import { helpFor } from '../../src/cli/help.js'
import { PLAIN_PAINT } from '../../src/cli/screen/paint.js'

const SCREEN = { width: Number.POSITIVE_INFINITY, paint: PLAIN_PAINT, nowMs: 0 }
const INTRO = `# Commands

Every page of help there is, as \`skein help <command>\` prints it. Written by \`npm run docs\`; a test fails when it is out of date.
What \`--json\` prints is in [JSON.md](JSON.md).`

async function fenced(words: readonly string[]): Promise<string> {
  return `\`\`\`text\n${await helpFor(words, COMMANDS, SCREEN)}\n\`\`\``
}

async function referencePage(): Promise<string> {
  const parts = [INTRO, await fenced([])]
  for (const [noun, entry] of Object.entries(COMMANDS.entries)) {
    parts.push(`## skein ${noun}`)
    if (!isNoun(entry)) {
      parts.push(await fenced([noun]))
      continue
    }
    parts.push(entry.otherwise ? await fenced([noun]) : entry.summary)
    for (const verb of Object.keys(entry.entries)) parts.push(`### skein ${noun} ${verb}`, await fenced([noun, verb]))
  }
  return `${parts.join('\n\n')}\n`
}

it('docs/CLI.md says what help says', async () => {
  await expect(await referencePage()).toMatchFileSnapshot('../../docs/CLI.md')
})
