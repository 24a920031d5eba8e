import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { HOOK_INPUT, MAYBE_HOOK_INPUT, type Prime, primeFrom, primeText } from '../../lifecycle/index.js'
import { parseSessionId, SkeinError } from '../../model/index.js'
import { agentRef, flag, optional, text, usageError } from '../../operations/index.js'
import { command } from '../command.js'

/** With `--hook` alone, `src/hook-main.ts` answers: it starts sooner and never fails. */
export const prime = command({
  name: 'prime',
  summary: 'Tell an agent who it is and what to do',
  description:
    "Prints who the agent is, what its role says, the handoff it continues, its work and its mail. Agents that Skein starts are given this by their program's hooks; an agent without hooks runs the command itself. The agent is the one that SKEIN_AGENT names, or the one whose directory this is. A handoff is consumed by the first prime of its successor. A hook's message on standard input is read as skein session start reads it.",
  examples: [
    ['skein prime --state', 'Whether it continues a handoff, recovers from a crash, or has work'],
    ['skein prime --agent web/toast --dry-run', 'What this agent would be told; nothing is consumed'],
    ['skein prime --agent web/toast --dry-run --explain', 'And why'],
  ],
  args: {},
  options: {
    agent: optional(agentRef, 'The agent (default: SKEIN_AGENT)'),
    session: optional(
      text('id'),
      'Its session (default: from the hook, the environment, or the last one of the agent)',
    ),
    hook: flag('A hook runs this: wait for its message on standard input, and record the session if nothing else does'),
    state: flag('Print only the state: post-handoff, crash-recovery, autonomous or normal; consumes nothing'),
    'dry-run': flag('Consume and record nothing'),
    explain: flag('Print why'),
  },
  async run({ agent, session, hook, state, 'dry-run': dryRun, explain }, cli) {
    const { out, daemon, profile, input, home, context } = cli
    const isDry = state || dryRun
    if (isDry && !existsSync(join(daemon.root, 'profiles', profile))) {
      const next = 'Start an agent, or run skein prime without --state and --dry-run'
      throw new SkeinError('home-unreadable', `There is no home in ${daemon.root} yet`, next)
    }
    if (hook && session !== undefined) throw usageError('--hook names the session itself', 'Leave one of them out')
    if (agent !== undefined && !hook) await (await home()).roster.agent(agent) // typed by a person: a slip must not read as an answer
    const message = session === undefined ? await input(hook ? HOOK_INPUT : MAYBE_HOOK_INPUT) : undefined
    const primed = await primeFrom(
      { home: await home(), context },
      { env: daemon.env, cwd: () => cli.cwd, message, isHook: hook, isDry },
      { ...(agent ? { agent } : {}), ...(session ? { session: parseSessionId(session) } : {}) },
    )
    const body = (): string => (state ? primed.state : primeText(primed))
    out.result(documentOf(primed), () => (explain ? [body(), '', ...primed.reasons].join('\n') : body()))
  },
})

const documentOf = ({ agent, role, lock, isHeld, isLight, ...prime }: Prime): object => ({
  ...prime,
  ...(agent ? { agent: agent.address, agent_id: agent.id } : {}),
  ...(role ? { role: role.name } : {}),
  ...(lock ? { lock: { pid: lock.pid, at: lock.at } } : {}),
  is_second: isHeld,
  is_light: isLight,
  text: primeText({ agent, role, lock, isHeld, isLight, ...prime } as Prime),
})
