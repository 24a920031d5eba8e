import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from './skein.js'
import { REAL_TOOLS } from './tools/index.js'
import type { RealTool } from './tools/real-tool.js'
import { User } from './user.js'

/** Claude Code refuses its dangerous mode to root. */
const isRefused = ({ name }: RealTool): boolean => name === 'claude' && process.getuid?.() === 0
/** Gemini CLI draws another sign before its input line in each mode; the others are run by whoever asks for all. */
const tools = REAL_TOOLS.filter(({ name }) => name === 'gemini' || process.env.SKEIN_ALL_TOOLS === '1')

describe.each(tools)('an agent that runs $name $version', (tool) => {
  let user: User
  beforeAll(async () => {
    user = await User.of([tool])
  })
  afterAll(async () => user?.[Symbol.asyncDispose]())

  it('in the mode that asks nothing takes prompts, and shows what is typed and not sent', async () => {
    const { skein } = user
    await user.agentAtWork('modes', tool, isRefused(tool) ? {} : { options: ['--dangerous'] })
    for (const key of 'draft') await skein.run('keys', 'modes', key)
    await until('the draft is seen', async () => (await skein.failing('send', 'modes', 'more')) !== undefined)
    expect(JSON.stringify(await skein.failing('send', 'modes', 'more'))).toContain('contains unsent text')
    expect(await skein.run('send', 'modes', 'again', '--replace-draft', '--wait', '--timeout', '110s')).toMatchObject({
      delivery: 'received',
      reply: 'Gladly.',
    })
    expect(user.server.requests.at(-1)?.prompts.at(-1)).toBe('again')
  })

  it('in its shell mode is typed nothing', async () => {
    const { skein, server } = user
    const before = server.requests.length
    await skein.run('keys', 'modes', '!')
    await until('the mode is seen', async () =>
      /"!|shell mode|unsent/.test(JSON.stringify(await skein.failing('send', 'modes', 'touch run-by-a-shell'))),
    )
    expect(server.requests.length).toBe(before)
    await skein.run('keys', 'modes', tool.name === 'pi' ? 'BSpace' : 'Escape')
    const isSent = async (): Promise<boolean> => {
      const sent = await skein.run('send', 'modes', 'back', '--wait', '--timeout', '110s').catch(() => undefined)
      return sent?.delivery === 'received'
    }
    await until('it takes prompts again', isSent, 60_000)
    expect(server.requests.at(-1)?.prompts.at(-1)).toBe('back')
  })
})
