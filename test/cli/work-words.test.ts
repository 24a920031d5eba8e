import { expect, it } from 'vitest'
import { crew } from './crew.js'

it('a reply is given as a word, with -m or on standard input; twice, or not at all, is refused and sends nothing', async () => {
  const { skein } = await crew()
  const { id } = (await skein('mail', 'send', 'web/a', '-s', 'Question', '--json')).document
  const replies = [['by word'], ['-m', 'by option'], ['--message', 'by long option']]
  for (const words of replies)
    expect((await skein('mail', 'reply', id, ...words, '--json')).document).toMatchObject({
      body: words.at(-1),
      reply_to: id,
    })
  const inbox = async () => (await skein('mail', 'inbox', '--all', '--json')).document
  const before = await inbox()
  expect(await skein('mail', 'reply', id, 'a', '-m', 'b')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('The reply is given twice'),
  })
  expect(await skein('mail', 'reply', id)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Missing <body>'),
  })
  expect(await inbox()).toEqual(before)
})

it('step done without a name ends the one open step and says which; with none or several open it is refused', async () => {
  const { skein } = await crew()
  await skein('session', 'start', '--id', 'made')
  const done = (...words: string[]) => skein('step', 'done', ...words, '--session', 'made')
  expect(await done()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('has no open step') })
  await skein('step', 'start', 'plan', '--session', 'made')
  await skein('step', 'start', 'build', '--session', 'made')
  expect(await done()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('has 2 open steps: plan, build'),
  })
  expect((await done('plan')).stdout).toBe('Step plan completed in made\n')
  expect((await done('--failed')).stdout).toBe('Step build failed in made\n')
  const { steps } = (await skein('show', 'made', '--json')).document
  expect(steps).toMatchObject([
    { step_ref: 'plan', success: true },
    { step_ref: 'build', success: false },
  ])
})
