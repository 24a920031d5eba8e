import { expect, it } from 'vitest'
import { OPERATION_NAMES } from '../../src/operations/index.js'
import { alike } from './alike.js'
import { STEPS } from './steps.js'
import { worlds } from './worlds.js'

it('every operation has a step in which it answers', () => {
  const answered = new Set(STEPS.filter(({ fails }) => fails === undefined).map(({ operation }) => operation))
  expect(OPERATION_NAMES.filter((name) => !answered.has(name))).toEqual([])
})

it('the command line, with a daemon and without, HTTP and the client give the same results and the same errors', async () => {
  const all = await worlds()
  for (const { operation, words, input, before = [], fails, printed = (result: unknown) => result } of STEPS) {
    const answers = []
    for (const world of all) {
      for (const command of before) await world.skein(...command)
      const answer = await world.run(operation, input, words)
      const isCommand = world.face.startsWith('command')
      answers.push([
        world.face,
        alike('result' in answer && !isCommand ? { result: printed(answer.result) } : answer, world.root),
      ])
    }
    const [, expected] = answers[0] ?? []
    const name = `${operation}: skein ${words.join(' ')}`
    for (const [face, answer] of answers) expect([name, face, answer]).toEqual([name, face, expected])
    expect([name, expected]).toEqual([
      name,
      fails === undefined ? { result: expect.anything() } : { error: expect.objectContaining({ code: fails }) },
    ])
  }
  const failing = new Set(STEPS.filter(({ fails }) => fails !== undefined).map(({ operation }) => operation))
  console.info(
    `${OPERATION_NAMES.length} operations, ${STEPS.length} steps on ${all.length} faces: the same results; ${failing.size} of them with the same errors`,
  )
})
