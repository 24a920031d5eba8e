import { nearest, type SessionId, SkeinError } from '../../model/index.js'
import type { Account, Environment, ToolRunner } from '../../tools/index.js'
import type { Recipe } from '../agent-run.js'
import { type Parts, runnerOf } from '../parts.js'

/** The account of that name, for a tool that has such. */
export function accountOf(
  { accounts = {} }: Environment,
  runner: Pick<ToolRunner, 'name' | 'account'>,
  name: string,
): Account & { variable: string } {
  const found = Object.hasOwn(accounts, name) ? accounts[name] : undefined
  if (!found) {
    const meant = nearest(name, Object.keys(accounts))
    const next = meant ? `Did you mean ${meant} ?` : 'Describe it in config.toml: [accounts.<name>] config_dir = "…"'
    throw new SkeinError('bad-input', `There is no account named ${JSON.stringify(name.slice(0, 80))}`, next)
  }
  if (!runner.account) throw new SkeinError('bad-input', `${runner.name} has no accounts`, 'Leave out --account')
  if (found.tool === runner.name) return { ...found, variable: runner.account.variable }
  const next = `Use it with --tool ${found.tool}, or choose another account`
  throw new SkeinError('bad-input', `The account ${name} is one of ${found.tool}, not of ${runner.name}`, next)
}

/** Where the program of an agent keeps its things: with an account, in that account's directory. */
export function environmentFor(parts: Pick<Parts, 'environment' | 'runners'>, { tool, account }: Recipe): Environment {
  const { environment } = parts
  if (account === undefined) return environment
  const { variable, directory } = accountOf(environment, runnerOf(parts, tool), account)
  return { ...environment, env: { ...environment.env, [variable]: directory } }
}

/** Where a conversation is. */
export interface ConversationPlace {
  /** Absent where the tool is without a named account. */
  account?: string
  environment: Environment
}

/** Looks for a conversation under one account, or without one and then under each. Undefined when it is nowhere. */
export async function placeOfConversation(
  parts: Pick<Parts, 'environment' | 'runners'>,
  { tool, cwd, account }: Pick<Recipe, 'tool' | 'cwd' | 'account'>,
  session: SessionId,
): Promise<ConversationPlace | undefined> {
  const { hasConversation } = runnerOf(parts, tool)
  const known = Object.entries(parts.environment.accounts ?? {}).filter(([, one]) => one.tool === tool)
  for (const name of account === undefined ? [undefined, ...known.map(([one]) => one)] : [account]) {
    const named = name === undefined ? {} : { account: name }
    const environment = environmentFor(parts, { tool, cwd, ...named })
    const found = await hasConversation?.(session, withoutAccounts(environment, tool))
    if (found !== false) return { ...named, environment }
  }
  return undefined
}

/** Logs of every account are read; the program itself finds a conversation under its own alone. */
function withoutAccounts(environment: Environment, tool: string): Environment {
  const { accounts = {}, extraRoots = {} } = environment
  const others = new Set(Object.values(accounts).map(({ logs }) => logs))
  const roots = (extraRoots[tool] ?? []).filter((root) => !others.has(root))
  return { ...environment, extraRoots: { ...extraRoots, [tool]: roots } }
}
