import { readdirSync } from 'node:fs'

export const numberedPrompt = (turn: number): string => `do number ${turn}`

/** Each of these turns writes a file of its own. */
export const writingTurns = (turns: readonly number[]) =>
  turns.map((turn) => ({
    when: new RegExp(`^${numberedPrompt(turn)}$`),
    steps: [
      { text: `I write file ${turn}.`, do: [{ write: { path: `file-${turn}.txt`, content: `content ${turn}\n` } }] },
      { text: `File ${turn} is written.` },
    ],
  }))

export const textFiles = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.txt'))
    .sort()
