import { nearest, SkeinError } from '../../model/index.js'
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
