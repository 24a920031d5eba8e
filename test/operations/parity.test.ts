import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import { OPERATION_NAMES } from '../../src/operations/index.js'
import { alike } from './alike.js'
import { STEPS, type Step, WITHOUT_ERROR } from './steps.js'
import { type Answer, type World, worlds } from './worlds.js'

it('every operation has a step in which it answers', () => {
  const answered = new Set(STEPS.filter(({ fails }) => fails === undefined).map(({ operation }) => operation))
  expect(OPERATION_NAMES.filter((name) => !answered.has(name))).toEqual([])
})

it('every operation that can fail has a step in which it does', () => {
  const failed = new Set(STEPS.filter(({ fails }) => fails !== undefined).map(({ operation }) => operation))
  expect(OPERATION_NAMES.filter((name) => !failed.has(name)).sort()).toEqual([...WITHOUT_ERROR].sort())
})

it('the command line, with a daemon and without, HTTP and the client give the same results and the same errors', async () => {
  const all = await worlds()
  const differences: unknown[] = []
  for (const [at, step] of STEPS.entries()) {
    const name = `step ${at}, ${step.operation}: skein ${step.words.join(' ')}`
    const answers = await Promise.all(
      all.map(async (world) => ({ face: world.face, answer: await answerIn(world, step) })),
    )
    const expected = answers[0]?.answer as Answer
    const code = 'error' in expected ? expected.error.code : undefined
    if (code !== step.fails) differences.push({ name, expected, fails: step.fails })
    for (const { face, answer } of answers) {
      if (!isDeepStrictEqual(answer, expected)) differences.push({ name, face, answer, expected })
    }
  }
  expect(differences).toEqual([])
  const failing = new Set(STEPS.filter(({ fails }) => fails !== undefined).map(({ operation }) => operation))
  console.info(
    `${OPERATION_NAMES.length} operations, ${STEPS.length} steps on ${all.length} faces: the same results, and for ${failing.size} operations the same errors`,
  )
})

async function answerIn(world: World, step: Step): Promise<unknown> {
  for (const command of step.before ?? []) await world.skein(...command)
  const { broken } = step
  if (!broken) return answered(world, step)
  const path = join(world.root, broken.file)
  const before = existsSync(path) ? readFileSync(path) : undefined
  writeFileSync(path, broken.text)
  try {
    return await answered(world, step)
  } finally {
    if (before) writeFileSync(path, before)
    else rmSync(path)
  }
}

async function answered(world: World, { operation, words, input, printed }: Step): Promise<unknown> {
  const answer = await world.run(operation, inWorld(input, world.root), words)
  const isWhole = 'error' in answer || printed === undefined || world.face.startsWith('command')
  return alike(isWhole ? answer : { result: printed(answer.result) }, world.root)
}

const paneOf = (root: string): string => readFileSync(join(root, 'pane.txt'), 'utf8')

const inWorld = (input: Readonly<Record<string, unknown>>, root: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replace('<root>', root).replace('<pane>', () => paneOf(root)) : value,
    ]),
  )
